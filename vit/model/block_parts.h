/* What block.c is made of beside the formula: which rows a call computes, where queries, keys and
 * values lie, and what few networks have. The arguments are those of vit_block_forward and
 * vit_block_backward (network.h): the call, the state that activations are in (b in backward
 * functions, whose s is the state with the gradients' memory), the gradients.
 *
 * R, D, A, T and M as in network.h; d = A / heads. d_x: the gradient of the loss with respect to x.
 */
#ifndef VIT_MODEL_BLOCK_PARTS_H
#define VIT_MODEL_BLOCK_PARTS_H

#include "vit/model/network.h"

/* Rows of the block's input. */
static inline size_t vit_rows_in(const vit_block_call *c) {
    return c->rows;
}

/* Rows of its output: as many, or one per picture where only first tokens are wanted. */
static inline size_t vit_rows_out(const vit_block_call *c) {
    return c->outputs < vit_config_tokens(c->config) ? c->batch * c->outputs : c->rows;
}

/* ---- block_first.c: the last block, of which only the class token may be read ---- */

/* Whether only first tokens are wanted. Then queries, and all that follows the attention, have one
 * row per picture. */
bool vit_first_only(const vit_block_call *c);

/* Where Q, K and V, or their gradients, lie: each [rows][heads][d], rows as far apart as the
 * attention's shape says. */
typedef struct vit_qkv {
    float *q, *k, *v;
} vit_qkv;

/* Those in the array qkv: [R][3][A]; of first tokens the queries in first_q: [batch][A]. */
vit_qkv vit_qkv_of(const vit_block_call *c, float *qkv, float *first_q);

/* Of the block's self-attention. */
vit_attention_shape vit_block_attention_shape(const vit_block_call *c);

/* K and V of all tokens of x: [R][D] into s->qkv, Q of first tokens into s->first_q; keeps the
 * first tokens' rows of x in s->first_x, those of s->z in s->first_z, [batch][D] each. */
void vit_first_project(const vit_block_call *c, vit_block_state *s, const float *x);

/* dx: [R][D] and the weight's gradient, given those of Q, K and V. In both, the chain of sums of a
 * first token runs over its query and goes on over keys and values; other tokens have no query. */
void vit_first_project_backward(const vit_block_call *c, float *dx, const vit_linear_gradient *g,
                                const vit_qkv *dy, const float *x, const float *first_x);

/* In place: x: [batch][D], rows of first tokens -> [batch][T][D], the other tokens' rows being +0.
 */
void vit_spread_first(const vit_block_call *c, float *x);

/* The input that the attention's output is added to: z, or its first tokens. */
static inline const float *vit_attention_residual(const vit_block_call *c,
                                                  const vit_block_state *s) {
    return vit_first_only(c) ? s->first_z : s->z;
}

/* ---- block_cross.c: cross-attention to the memory m, and a cache of keys and values ---- */

/* z'' = CA(LN(z'), m) + z'; returns z'': [R][D] */
float *vit_cross_pre_norm_forward(const vit_block_call *c, vit_block_state *s,
                                  const float *z_prime);

/* In place: h' = LN(h + CA(h, m)), [R][D] */
void vit_cross_post_norm_forward(const vit_block_call *c, vit_block_state *s, float *h);

/* s->d_z: d_z'' -> d_z'; adds to the memory's gradient. Overwrites s->d_narrow and s->d_wide. */
void vit_cross_pre_norm_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                                 const vit_block_gradients *g);

/* d_h: the gradient of h' -> that of h. Overwrites s->d_z, too. */
void vit_cross_post_norm_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                                  const vit_block_gradients *g, float *d_h);

/* The shape of cross-attention: of a call, or without spans, for its scratch memory. */
vit_attention_shape vit_cross_shape(const vit_config *c, size_t batch, size_t queries, size_t keys,
                                    const vit_attention_span *spans);

/* Copies the new tokens' keys and values into the cache; returns where the attention finds them. */
vit_qkv vit_cache_add(const vit_block_call *c, const vit_qkv *new);

/* ---- block_extras.c: Q, K, V; norms of queries and keys, layer scale, drop path ---- */

/* Q = x W^Q + b, K = x W^K + b, V = x W^V + b of every head, x: [R][D]; with qk norm Q and K
 * normed. */
vit_qkv vit_qkv_forward(const vit_block_call *c, vit_block_state *s, const float *x);

/* s->d_narrow = d_x, given d: the gradients of Q, K and V, in s->d_wide, which is overwritten. */
void vit_qkv_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                      const vit_block_gradients *g, const vit_qkv *d, const float *x);

/* What a branch, MSA or MLP, is multiplied by before it is added to its input. */
typedef struct vit_branch {
    const float *gamma; /* [D], layer scale, or NULL */
    float *d_gamma;     /* NULL: not wanted */
    const float *keep;  /* [batch], drop path: a factor per picture, or NULL */
    float *unscaled;    /* [R][D] the branch before gamma, kept for d_gamma; or NULL */
} vit_branch;

/* The factors of the two branches; g NULL: forward. */
vit_branch vit_attention_branch(const vit_block_call *c, const vit_block_state *s,
                                const vit_block_gradients *g);
vit_branch vit_mlp_branch(const vit_block_call *c, const vit_block_state *s,
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
