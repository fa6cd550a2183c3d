/* Cross-attention of a decoder's block, CA, to the encoder's last states m:
 *     CA(x, m) = softmax(Q K^T / sqrt(d)) V W^O,
 * Q = x W^Q of the decoder's tokens, K = m W^K and V = m W^V of the encoder's. d = A / heads. */
#ifndef VIT_MODEL_PARTS_CROSS_H
#define VIT_MODEL_PARTS_CROSS_H

#include "vit/model/parts/block_call.h"

typedef struct vit_cross_state {
    float *q;             /* [R][A] */
    float *kv;            /* [rows of m][2][A] */
    float *p;             /* [batch][heads][T][padded rows of m] or NULL: not kept */
    float *o;             /* [R][A] p V, the heads side by side */
    float *sum;           /* [R][D] z''; post-norm: h + CA(h, m) */
    vit_norm_state stats; /* [R] each, of cross-attention's norm */
    float *d_kv;          /* as kv; scratch memory that all blocks share */
} vit_cross_state;

/* What all blocks share, then what is one block's; nothing where the config has no
 * cross-attention. */
void vit_cross_carve_shared(vit_cross_state *s, const vit_carving *k);
void vit_cross_carve(vit_cross_state *s, const vit_carving *k);

/* Pre-norm: z'' = CA(LN(z'), m) + z'; returns z'': [R][D]. norm: [R][D] of scratch memory. */
float *vit_cross_pre_norm_forward(const vit_block_call *c, const vit_cross_state *s, float *norm,
                                  const float *z_prime);

/* back->d_z: d_z'' -> d_z'; adds to the gradient of m. Overwrites norm, back->d_narrow and d_wide.
 */
void vit_cross_pre_norm_backward(const vit_block_call *c, const vit_backward *back,
                                 const vit_cross_state *s, const vit_block_gradients *g,
                                 float *norm, const float *z_prime);

/* Post-norm, in place: h' = LN(h + CA(h, m)), [R][D]. */
void vit_cross_post_norm_forward(const vit_block_call *c, const vit_cross_state *s, float *h);

/* d_h: the gradient of h' -> that of h. Overwrites back->d_z, too. */
void vit_cross_post_norm_backward(const vit_block_call *c, const vit_backward *back,
                                  const vit_cross_state *s, const vit_block_gradients *g,
                                  const float *h, float *d_h);

/* The shape of cross-attention: of a call, or without spans, for its scratch memory. */
vit_attention_shape vit_cross_shape(const vit_config *c, size_t batch, size_t queries, size_t keys,
                                    const vit_attention_span *spans);

#endif
