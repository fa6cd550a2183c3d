/* Rotary positions: queries and keys of patches are turned by the angles of their place, before the
 * scores Q K^T. The angles are a fixed table, or learned frequencies make them; those of the class
 * token may be learned. */
#ifndef VIT_MODEL_PARTS_ROPE_H
#define VIT_MODEL_PARTS_ROPE_H

#include "vit/model/parts/block_call.h"

/* Cosines and sines that are computed whenever they are needed, for which all blocks share the
 * memory: of learned frequencies [heads][N][2][d / 2], or of the class token's angles [2][d / 2].
 * NULL: there are none. */
float *vit_rope_carve(const vit_carving *k);

/* Turns queries and keys, each [R] rows `row` floats apart. Where the block computes only first
 * tokens, q is [batch][A]. */
void vit_rope_forward(const vit_block_call *c, float *angles, float *q, float *k, size_t row);

/* The gradients d_q and d_k of turned queries and keys -> those before. q, k: after
 * vit_rope_forward. Adds to g. */
void vit_rope_backward(const vit_block_call *c, float *angles, const vit_block_gradients *g,
                       float *d_q, float *d_k, const float *q, const float *k, size_t row);

#endif
