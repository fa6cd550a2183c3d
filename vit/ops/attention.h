/* Multi-head scaled dot-product attention (Vaswani et al.: Attention Is All You Need, eq. 1):
 * head_i = softmax(Q_i K_i^T scale) V_i, heads side by side in the output.
 *
 * q, k, v have strides of their own and query and key lengths may differ; in a ViT all three lie
 * in one array qkv: [batch][tokens][3][heads][head_dim]. Heads of a batch are the tasks that
 * vit_parallel spreads.
 *
 * Masks say what is not looked at, and that is not computed either:
 *   - Samples of different lengths (spans): each has its own rows, and none that are padding.
 *   - A decoder's query must not see the tokens that come after it (causal): its scores, its
 *     softmax and its sum end with the last key that it sees. So the output of a token is to the
 *     bit what it was before the others came, and keys and values of tokens that were there before
 *     can be kept.
 */
#ifndef VIT_OPS_ATTENTION_H
#define VIT_OPS_ATTENTION_H

#include "vit/ops/exec.h"
#include <stdbool.h>

/* The rows of a sample: of q and o, of k and v. */
typedef struct vit_attention_span {
    size_t query, queries; /* the first, and how many */
    size_t key, keys;
} vit_attention_span;

typedef struct vit_attention_shape {
    size_t batch, heads, head_dim;
    size_t queries, keys;              /* tokens of q and o, of k and v; with spans, at most */
    size_t skip;                       /* of k and v, before those: not looked at */
    size_t q_row, k_row, v_row, o_row; /* floats from token to token; the next sample follows
                                          after its tokens */
    float scale;
    const vit_attention_span *spans; /* [batch]; NULL: sample after sample, all of one length. Those
                                        of the queries follow each other; `skip` is 0 */
    bool causal; /* query i of n sees the first keys - n + 1 + i keys: the last sees all */
} vit_attention_shape;

/* Floats of scratch memory that one thread needs, for the forward pass or for both. */
size_t vit_attention_scratch(const vit_attention_shape *s, bool backward);

/* o: [batch][queries] rows of heads * head_dim. p: [batch][heads][queries][vit_padded(keys)], the
 * attention weights, kept for the backward pass; NULL where there will be none, or it is to make
 * them again. Those of a sample begin where they would if it and all before it had the most keys,
 * and have rows of its own length; what is masked is 0. scratch:
 * [exec->threads][vit_attention_scratch]. */
void vit_attention_forward(const vit_exec *exec, float *o, float *p, const float *q, const float *k,
                           const float *v, const vit_attention_shape *s, float *scratch);

/* dq, dk, dv (strides as q, k, v) = gradients, given d_o (strides as o) and p; p NULL: it is made
 * again, block by block of queries. Rows of dk and dv that are skipped stay as they are. dp: as p,
 * its gradient d_o v^T, where somebody wants it; or NULL. */
void vit_attention_backward(const vit_exec *exec, float *dq, float *dk, float *dv, const float *d_o,
                            const float *p, const float *q, const float *k, const float *v,
                            const vit_attention_shape *s, float *scratch, float *dp);

#endif
