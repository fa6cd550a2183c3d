/* What block.c takes for granted, beside the formula: which rows a call computes, where queries,
 * keys and values lie, and what few networks have. */
#ifndef VIT_MODEL_BLOCK_PARTS_H
#define VIT_MODEL_BLOCK_PARTS_H

#include "vit/model/network.h"

/* R rows that come in, and those that are wanted: fewer where only first tokens are. */
static inline size_t vit_rows_in(const vit_block_call *c) {
    return c->rows;
}

static inline size_t vit_rows_out(const vit_block_call *c) {
    return c->outputs < vit_config_tokens(c->config) ? c->batch * c->outputs : c->rows;
}

/* ---- block_first.c: the last block, of which only the class token may be read ---- */

/* Then the queries, and all that follows the attention, are one row per picture. */
bool vit_first_only(const vit_block_call *c);

/* Where queries, keys and values, or their gradients, lie: in qkv; first tokens' queries apart. */
typedef struct vit_qkv {
    float *q, *k, *v;
} vit_qkv;
vit_qkv vit_qkv_of(const vit_block_call *c, float *qkv, float *first_q);

vit_attention_shape vit_block_attention_shape(const vit_block_call *c);

/* Keys and values of x, the queries of first tokens; returns these tokens' z: [batch][D]. */
const float *vit_first_project(const vit_block_call *c, vit_block_state *s, const float *x);

/* dx: [R][D], given the gradients of q, k and v. The chain of a first token runs over its query
 * and goes on over keys and values; other tokens have no query. */
void vit_first_project_backward(const vit_block_call *c, float *dx, const vit_linear_gradient *g,
                                const vit_qkv *dy, const float *x, const float *first_x);

/* In place: x: [batch][D] -> [batch][T][D], the other tokens +0. */
void vit_spread_first(const vit_block_call *c, float *x);

/* ---- block_cross.c: attention to the memory, and to tokens that were there before ---- */

/* out = CA(x, m) + residual */
void vit_cross_forward(const vit_block_call *c, vit_block_state *s, float *out, const float *x,
                       const float *residual);

/* s->d_narrow = gradient of x, given that of out, d_out; d_wide is overwritten. */
void vit_cross_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                        const vit_block_gradients *g, const float *x, const float *d_out);

/* Of cross-attention, for a call or, without spans, for its scratch memory. */
vit_attention_shape vit_cross_shape(const vit_config *c, size_t batch, size_t queries, size_t keys,
                                    const vit_attention_span *spans);

/* Puts the new tokens' keys and values into the cache; returns where the attention finds them. */
vit_qkv vit_cache_add(const vit_block_call *c, const vit_qkv *new);

/* ---- block_extras.c: norms of queries and keys, layer scale, drop path ---- */

/* Queries and keys of s->qkv, head by head. */
void vit_qk_norm_forward(const vit_block_call *c, vit_block_state *s);

/* d_qkv: of the attention's queries, keys, values -> of the linear layer's output. */
void vit_qk_norm_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                          const vit_block_gradients *g, float *d_qkv);

/* What the last layer of a branch, MSA or MLP, gives is multiplied by, before the sum. */
typedef struct vit_branch {
    const float *gamma; /* [D], layer scale, or NULL */
    float *d_gamma;
    const float *keep; /* drop path: a factor per picture, or NULL */
    float *unscaled;   /* [R][D] what the layer gave, kept for d_gamma */
} vit_branch;

vit_branch vit_attention_branch(const vit_block_call *c, const vit_block_state *s,
                                const vit_block_gradients *g);
vit_branch vit_mlp_branch(const vit_block_call *c, const vit_block_state *s,
                          const vit_block_gradients *g);

/* Whether the branch's last layer is wanted apart from the sum. */
bool vit_keeps_unscaled(const vit_branch *branch);

/* y = keep * gamma * (x W^T + b) + residual; in two steps where what gamma multiplies is kept, and
 * then only the first of them where y is NULL. */
void vit_branch_forward(const vit_block_call *c, float *y, const float *x, const vit_linear *w,
                        const float *residual, const vit_branch *branch);

/* The gradient of a branch's last layer, given that of the sum it is added to: itself, or in
 * `scratch` times the factors. */
const float *vit_branch_backward(const vit_block_call *c, float *scratch, const float *d_sum,
                                 const vit_branch *branch);

#endif
