/* Drop path (Huang et al.: Deep Networks with Stochastic Depth; per picture as in timm): each
 * branch of a block, MSA or MLP, is left out with the block's rate p, or divided by 1 - p. The rate
 * rises linearly from 0 in the first block to `rate` in the last. */
#ifndef VIT_TRAIN_STEP_DROP_PATH_H
#define VIT_TRAIN_STEP_DROP_PATH_H

#include "vit/train/step/batch.h"

/* keep: [depth][2][count], vit_state.keep for pictures with these keys; rate < 1. */
void vit_drop_path(float *keep, double rate, size_t depth, uint64_t seed,
                   const vit_sample_key *keys, size_t count);

#endif
