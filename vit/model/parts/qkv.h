/* Queries, keys and values of a block's self-attention: x W^Q, x W^K, x W^V of every head; then
 * whatever is done to them before the scores Q K^T: a layer norm of each head's queries and keys
 * (qk norm), rotary positions (rope.h), and for texts that are written token by token a cache.
 *
 * Of the last block, where the head reads the class token alone, only that first token needs a
 * query, and all that follows the attention has one row per picture instead of T. Keys and values
 * are those of all tokens as ever. d = A / heads. */
#ifndef VIT_MODEL_PARTS_QKV_H
#define VIT_MODEL_PARTS_QKV_H

#include "vit/model/parts/relative.h"

typedef struct vit_qkv_state {
    float *values;        /* [R][3][heads][d] Q, K, V */
    float *raw;           /* the same before qk norm; NULL without it and in inference */
    vit_norm_state qk[2]; /* [R][heads] each: statistics of the norms of queries and of keys */
    float *d_heads;       /* [A], qk norm; scratch memory */
    vit_relative_state relative;
    float *angles; /* of rotary positions with learned frequencies, vit_rope_carve */
    /* Where only first tokens are wanted: their rows of the block's input z and of x, [batch][D]
     * each, and their queries, [batch][A]. */
    float *first_z, *first_x, *first_q;
} vit_qkv_state;

/* What all blocks share, then what is one block's. values: in inference, memory for them, [R][3 A].
 */
void vit_qkv_carve_shared(vit_qkv_state *s, const vit_carving *k);
void vit_qkv_carve(vit_qkv_state *s, const vit_carving *k, float *values);

/* What only the block has that computes first tokens alone; after vit_qkv_carve. */
void vit_qkv_carve_first(vit_qkv_state *s, const vit_carving *k);

/* Where Q, K and V, or their gradients, are: each [rows][heads][d], rows as far apart as
 * vit_qkv_shape says. */
typedef struct vit_qkv {
    float *q, *k, *v;
} vit_qkv;

/* Those in the array values: [R][3][A]; of first tokens the queries in first_q: [batch][A]. */
vit_qkv vit_qkv_of(const vit_block_call *c, float *values, float *first_q);

/* What Q K^T is multiplied by: 1 / sqrt of the width of a head, or of a token. */
double vit_qkv_scale(const vit_config *config);

/* The shape of the block's self-attention, with the relative position bias, which it computes, if
 * `computes`; else it is there from the forward pass, or not needed. */
vit_attention_shape vit_qkv_biased_shape(const vit_block_call *c, const vit_qkv_state *s,
                                         bool computes);

/* Adds to the gradient of the bias, after vit_attention_backward with that shape. */
void vit_qkv_bias_backward(const vit_block_call *c, const vit_qkv_state *s,
                           const vit_attention_shape *shape, const vit_block_gradients *g);

/* Q, K and V of x: [R][D]. */
vit_qkv vit_qkv_forward(const vit_block_call *c, const vit_qkv_state *s, const float *x);

/* back->d_narrow = d_x, given d: the gradients of Q, K and V, in back->d_wide, which is
 * overwritten. */
void vit_qkv_backward(const vit_block_call *c, const vit_backward *back, const vit_qkv_state *s,
                      const vit_block_gradients *g, const vit_qkv *d, const float *x);

/* ---- first tokens only ---- */

/* Whether only first tokens are wanted. */
bool vit_first_only(const vit_block_call *c);

/* What the attention's output is added to: z, [R][D], or its first tokens' rows, [batch][D]. */
const float *vit_first_residual(const vit_block_call *c, const vit_qkv_state *s, const float *z);

/* In place: x: [batch][D], rows of first tokens -> [batch][T][D], the other tokens' rows being +0.
 */
void vit_first_spread(const vit_block_call *c, float *x);

#endif
