/* One block of a stack, of which networks are made. Its parts: qkv.h, cross.h, branch.h, mlp.h.
 *
 * Pre-norm (Dosovitskiy et al., eq. 2 and 3):
 *     z' = MSA(LN(z)) + z; z_next = MLP(LN(z')) + z'.
 * Post-norm (Vaswani et al., section 3.1):
 *     h = LN(z + MSA(z)); z_next = LN(h + MLP(h)).
 * Residual post-norm (Liu et al.: Swin Transformer V2):
 *     z' = LN(MSA(z)) + z; z_next = LN(MLP(z')) + z'.
 * Parallel (Dehghani et al.: Scaling Vision Transformers to 22 Billion Parameters):
 *     x = LN(z); z_next = MSA(x) + MLP(x) + z.
 * A decoder's cross-attention, CA, to the encoder's last states m stands between the two and
 * replaces z' or h:
 *     z'' = CA(LN(z'), m) + z'; h' = LN(h + CA(h, m)). */
#ifndef VIT_MODEL_PARTS_BLOCK_H
#define VIT_MODEL_PARTS_BLOCK_H

#include "vit/model/parts/cross.h"
#include "vit/model/parts/mlp.h"
#include "vit/model/parts/qkv.h"

typedef struct vit_block_state {
    float *z;              /* [R][D] the block's input */
    float *norm;           /* [R][D] LN(z), then LN(z'); post-norm: h; shared by all blocks */
    vit_norm_state stats1; /* [R] each: mean and 1 / sigma of the first norm */
    vit_qkv_state qkv;
    float *p; /* [batch][heads][T][padded T] softmax(Q K^T / sqrt(d)); NULL: not kept */
    float *o; /* [R][A] p V, the heads side by side */
    /* [R][A] what W^O reads: o, or its norm (attention_norm); shared by all blocks */
    float *o_normed;
    vit_norm_state o_stats; /* [R] each, of that norm */
    vit_branch_state branch1;
    float *sum1; /* [R][D] z'; post-norm: z + MSA(z) */
    vit_cross_state cross;
    vit_norm_state stats2; /* [R] each, of the second norm */
    vit_mlp_state mlp;
    vit_branch_state branch2;
    float *sum2;       /* [R][D] h + MLP(h), post-norm */
    float *outputs[2]; /* [R][D] each, MSA(z) and MLP(z') before their norms; res-post-norm */
    float *d_x;        /* [R][D], parallel; scratch memory that all blocks share */
} vit_block_state;

/* What all blocks share, then what is one block's. */
void vit_block_carve_shared(vit_block_state *s, const vit_carving *k);
void vit_block_carve(vit_block_state *s, const vit_carving *k);

/* z_next: [batch][outputs][D], the input of the next block; may be s->z. */
void vit_block_forward(const vit_block_call *c, float *z_next, const vit_block_state *s);

/* Computes again, from s->z, what the backward pass needs. z_next holds what vit_block_forward
 * wrote there and keeps it; what only z_next needs is not computed. */
void vit_block_recompute(const vit_block_call *c, float *z_next, const vit_block_state *s);

/* back->d_z: on entry the gradient of the block's output, [batch][outputs][D], on return that of
 * its input, [R][D]. Adds to g. */
void vit_block_backward(const vit_block_call *c, const vit_backward *back, const vit_block_state *s,
                        const vit_block_gradients *g);

#endif
