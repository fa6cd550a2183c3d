/* The MLP of a block: MLP(x) = fc2(f(fc1(x))), f being the activation; gated: fc2(f(first half of
 * fc1(x)) * second half). With mlp_norm there is a layer norm before fc2. */
#ifndef VIT_MODEL_PARTS_MLP_H
#define VIT_MODEL_PARTS_MLP_H

#include "vit/model/parts/branch.h"

typedef struct vit_mlp_state {
    float *hidden;        /* [R][M] before the activation; gated: [R][2 M] */
    float *active;        /* [R][M] after it; shared by all blocks, or in inference `hidden` */
    float *d_gated;       /* [R][M], gated or normed; scratch memory that all blocks share */
    float *normed;        /* [R][M] what fc2 reads: active, or its norm; shared as active is */
    vit_norm_state stats; /* [R] each, of that norm */
} vit_mlp_state;

/* What all blocks share, then what is one block's. hidden: in inference, memory for it. */
void vit_mlp_carve_shared(vit_mlp_state *s, const vit_carving *k);
void vit_mlp_carve(vit_mlp_state *s, const vit_carving *k, float *hidden);

/* y = MLP(x) + residual, the branch multiplied by its factors. y NULL: only what the backward pass
 * needs is computed, which makes s->active itself. */
void vit_mlp_forward(const vit_block_call *c, const vit_mlp_state *s, float *y, const float *x,
                     const float *residual, const vit_branch *branch);

/* back->d_narrow = d_x, [R][D], given d_sum, the gradient of y, which is not changed. Overwrites
 * back->d_wide and `scratch`, [R][D]. */
void vit_mlp_backward(const vit_block_call *c, const vit_backward *back, const vit_mlp_state *s,
                      const vit_block_gradients *g, const float *x, const float *d_sum,
                      const vit_branch *branch, float *scratch);

#endif
