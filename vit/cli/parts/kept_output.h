/* Standard output of several processes that rank 0 writes in the order of the ranks. */
#ifndef VIT_CLI_PARTS_KEPT_OUTPUT_H
#define VIT_CLI_PARTS_KEPT_OUTPUT_H

#include <stdio.h>

#include "vit/cluster/cluster.h"

/* From now on standard output is a temporary file, which is returned; NULL: there is none. */
FILE *vit_output_keep(void);

/* Sends what was written into it to rank 0, which calls vit_output_take with this rank: that writes
 * it to standard output. */
vit_status vit_output_send(vit_cluster *cluster, FILE *kept, vit_error *error);
vit_status vit_output_take(vit_cluster *cluster, int rank, vit_error *error);

#endif
