/* The optimiser's state divided among ranks: each has the moments of some tensors that follow each
 * other, updates these tensors, and gives their new weights to all. Moments of other tensors are
 * memory that is never touched, which the system does not provide. */
#ifndef VIT_TRAIN_STEP_SHARD_H
#define VIT_TRAIN_STEP_SHARD_H

#include "vit/cluster/cluster.h"
#include "vit/model/parameters.h"

typedef struct vit_shard {
    vit_cluster *cluster; /* NULL: the state is not divided */
    size_t from, to;      /* the floats of this rank, in an array of the table */
    size_t end;           /* floats of such an array */
    size_t *at;           /* [ranks + 1] in bytes: where each rank's begin; owned */
} vit_shard;

/* trained: the rows that are updated. Freed by vit_shard_free. */
vit_status vit_shard_new(vit_shard *out, const vit_table *trained, vit_cluster *cluster,
                         vit_error *error);
void vit_shard_free(vit_shard *shard);

/* Zeroes all but this rank's part, and gives its memory back. */
void vit_shard_drop(const vit_shard *shard, float *array);

/* All ranks' parts for all; for rank 0; rank 0's for those whose they are. */
vit_status vit_shard_share(const vit_shard *shard, float *array, vit_error *error);
vit_status vit_shard_gather(const vit_shard *shard, float *array, vit_error *error);
vit_status vit_shard_deal(const vit_shard *shard, float *array, vit_error *error);

#endif
