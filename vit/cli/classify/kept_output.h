/* Standard output of several processes, which rank 0 writes in the order of the input. While they
 * work it is a temporary file on each, in parts as vit/cluster/deal.h deals them out. */
#ifndef VIT_CLI_CLASSIFY_KEPT_OUTPUT_H
#define VIT_CLI_CLASSIFY_KEPT_OUTPUT_H

#include <stdio.h>

#include "vit/cluster/deal.h"

typedef struct vit_output_part {
    uint64_t end;      /* in the file */
    uint64_t pictures; /* that it answers */
} vit_output_part;

typedef struct vit_kept_output {
    FILE *file;
    int standard; /* a descriptor of what was standard output before; 0: there is none */
    vit_output_part *parts;
    size_t count, room, given;
} vit_kept_output;

/* From now on standard output is a temporary file. */
vit_status vit_output_keep(vit_kept_output *kept, vit_error *error);

/* What was written since the last part is a part, with the answers to as many pictures. */
vit_status vit_output_end_part(vit_kept_output *kept, uint64_t pictures, vit_error *error);

/* Standard output is what it was before; the file is read from its first part on. */
void vit_output_restore(vit_kept_output *kept);

/* On all ranks, after vit_deal_end: rank 0 writes the parts of all to standard output, in the order
 * of the input. rows: a matrix, owned, with a row of `width` numbers for each picture that this
 * rank has answered; on rank 0 it becomes that of all `total` pictures. NULL: there is none. */
vit_status vit_output_join(vit_kept_output *kept, vit_cluster *cluster, const vit_deal *deal,
                           uint64_t total, float **rows, size_t width, vit_error *error);

/* Takes what is all zeros, too. */
void vit_output_close(vit_kept_output *kept);

#endif
