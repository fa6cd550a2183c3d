/* Multi-head scaled dot-product attention (Vaswani et al.: Attention Is All You Need, eq. 1):
 * head_i = softmax(Q_i K_i^T scale) V_i, heads side by side in the output.
 *
 * q, k and v have strides of their own, and there may be more or fewer queries than keys; in a ViT
 * all three are in one array qkv: [batch][tokens][3][heads][head_dim]. The heads of all samples are
 * the tasks that vit_parallel distributes.
 *
 * What a mask excludes is not computed:
 *   - Samples may have different lengths (spans); rows of samples follow each other without
 * padding.
 *   - With a causal mask a query does not see the tokens after it: its scores, its softmax and its
 *     sum end with the last key that it sees. So the output of a token does not change, to the bit,
 *     when tokens are appended, and a decoder can keep the keys and values of earlier tokens.
 */
#ifndef VIT_OPS_ATTENTION_H
#define VIT_OPS_ATTENTION_H

#include "vit/ops/exec.h"
#include <stdbool.h>

/* The rows of one sample: the first and the number of them, in q and o, and in k and v. */
typedef struct vit_attention_span {
    size_t query, queries;
    size_t key, keys;
} vit_attention_span;

typedef struct vit_attention_shape {
    size_t batch, heads, head_dim;
    size_t queries, keys;              /* tokens of a sample in q and o, in k and v; with spans,
                                          those of the longest sample */
    size_t skip;                       /* tokens of k and v before these that are left out */
    size_t q_row, k_row, v_row, o_row; /* floats from token to token, and from the last token of a
                                          sample to the first of the next */
    float scale;
    const vit_attention_span *spans; /* [batch], queries in ascending order without gaps, `skip` is
                                        0; NULL: all samples have the same length */
    /* What is added to the scores of every sample before the softmax: [heads][queries][padded
     * keys], heads bias_head floats apart; NULL: nothing. In the backward pass, unless it is NULL,
     * d_scores = the gradient of Q K^T scale, times the scale, laid out as p. */
    const float *bias;
    size_t bias_head;
    float *d_scores;
    bool causal; /* query i of n sees the first keys - n + 1 + i keys: the last sees all */
} vit_attention_shape;

/* Floats of scratch memory for one thread; `backward`: enough for both passes. */
size_t vit_attention_scratch(const vit_attention_shape *s, bool backward);

/* o: [batch][queries] rows of heads * head_dim. p: [batch][heads][queries][vit_padded(keys)], the
 * attention weights, for the backward pass; NULL if there will be none, or if it is to recompute
 * them. With spans, the weights of a sample begin at [first query of the sample] * heads *
 * vit_padded(s->keys), and have rows of its own padded length. What is masked is 0. scratch:
 * [exec->threads][vit_attention_scratch]. */
void vit_attention_forward(const vit_exec *exec, float *o, float *p, const float *q, const float *k,
                           const float *v, const vit_attention_shape *s, float *scratch);

/* dq, dk, dv (strides as q, k, v) = gradients, given d_o (strides as o) and p; if p is NULL it is
 * recomputed, one block of queries at a time. Rows of dk and dv that are skipped are not written.
 * dp, unless it is NULL: the gradient of p, d_o v^T, laid out as p. */
void vit_attention_backward(const vit_exec *exec, float *dq, float *dk, float *dv, const float *d_o,
                            const float *p, const float *q, const float *k, const float *v,
                            const vit_attention_shape *s, float *scratch, float *dp);

#endif
