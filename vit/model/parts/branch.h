/* A branch of a block, MSA or MLP, on its way into the sum: layer scale (Touvron et al.: Going
 * deeper with Image Transformers), drop path (Huang et al.: Deep Networks with Stochastic Depth),
 * and the residual. */
#ifndef VIT_MODEL_PARTS_BRANCH_H
#define VIT_MODEL_PARTS_BRANCH_H

#include "vit/model/parts/block_call.h"

typedef struct vit_branch_state {
    float *unscaled; /* [R][D] the branch before layer scale; NULL without it and in inference */
} vit_branch_state;

void vit_branch_carve(vit_branch_state *s, const vit_carving *k);

/* What a branch is multiplied by before it is added to its residual. */
typedef struct vit_branch {
    const float *gamma; /* [D], layer scale, or NULL */
    float *d_gamma;     /* NULL: not wanted */
    const float *keep;  /* [batch], drop path: a factor per picture, or NULL */
    float *unscaled;    /* as in the state: kept for d_gamma */
} vit_branch;

/* The factors of the two branches; g NULL: forward. */
vit_branch vit_attention_branch(const vit_block_call *c, const vit_branch_state *s,
                                const vit_block_gradients *g);
vit_branch vit_mlp_branch(const vit_block_call *c, const vit_branch_state *s,
                          const vit_block_gradients *g);

/* Whether the branch is kept before gamma, apart from the sum. */
bool vit_keeps_unscaled(const vit_branch *branch);

/* y = keep * gamma * (x W^T + b) + residual, where w is the branch's last layer. Where what gamma
 * multiplies is kept, in two steps, and then only the first of them if y is NULL. */
void vit_branch_forward(const vit_block_call *c, float *y, const float *x, const vit_linear *w,
                        const float *residual, const vit_branch *branch);

/* The gradient of the branch's last layer, given d_sum, that of y: d_sum itself, or, multiplied by
 * the factors, in scratch: [R][D]. Adds to d_gamma. */
const float *vit_branch_backward(const vit_block_call *c, float *scratch, const float *d_sum,
                                 const vit_branch *branch);

#endif
