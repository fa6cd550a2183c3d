/* What only a decoder's blocks have: cross-attention, CA, to the memory m, the encoder's output;
 * and a cache of the keys and values of tokens that were computed before. See block_parts.h.
 *
 * CA(x, m) = softmax(Q K^T / sqrt(d)) V W^O, Q = x W^Q of the decoder's tokens, K = m W^K and V = m
 * W^V of the encoder's. */
#include "vit/model/block_parts.h"
#include <math.h>
#include <string.h>

vit_attention_shape vit_cross_shape(const vit_config *c, size_t batch, size_t queries, size_t keys,
                                    const vit_attention_span *spans) {
    const size_t head_dim = vit_config_head_dim(c), a = vit_config_attention_dim(c);
    return (vit_attention_shape){.batch = batch,
                                 .heads = c->heads,
                                 .head_dim = head_dim,
                                 .queries = queries,
                                 .keys = keys,
                                 .q_row = a,
                                 .k_row = 2 * a,
                                 .v_row = 2 * a,
                                 .o_row = a,
                                 .scale = (float)(1 / sqrt((double)head_dim)),
                                 .spans = spans};
}

/* The shape that this call's samples need: the most queries and keys of any. */
static vit_attention_shape shape_of(const vit_block_call *c) {
    const vit_attention_span *spans = c->memory->spans;
    size_t queries = 0, keys = 0;
    for (size_t b = 0; b < c->batch; b++) {
        queries = queries > spans[b].queries ? queries : spans[b].queries;
        keys = keys > spans[b].keys ? keys : spans[b].keys;
    }
    return vit_cross_shape(c->config, c->batch, queries, keys, spans);
}

/* out = CA(x, m) + residual, [R][D] each */
static void cross_forward(const vit_block_call *c, vit_block_state *s, float *out, const float *x,
                          const float *residual) {
    const vit_block_weights *w = c->weights;
    const vit_memory *m = c->memory;
    const vit_attention_shape shape = shape_of(c);
    const vit_residual_sum sum = {.residual = residual};
    /* Q = x W^Q; K = m W^K and V = m W^V side by side, unless they are there already */
    vit_linear_forward(c->exec, s->cross_q, x, &w->cross_q, NULL, c->rows);
    if (m->states) vit_linear_forward(c->exec, s->cross_kv, m->states, &w->cross_kv, NULL, m->rows);
    const float *k = s->cross_kv, *v = k + vit_config_attention_dim(c->config);
    vit_attention_forward(c->exec, s->cross_o, s->cross_p, s->cross_q, k, v, &shape, c->scratch);
    /* out = o W^O + residual */
    vit_linear_forward(c->exec, out, s->cross_o, &w->cross_proj, &sum, c->rows);
}

/* s->d_narrow = d_x and m->d_states += d_m, given d_out. Overwrites s->d_wide. */
static void cross_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                           const vit_block_gradients *g, const float *x, const float *d_out) {
    const vit_block_weights *w = c->weights;
    const vit_memory *m = c->memory;
    const size_t a = vit_config_attention_dim(c->config);
    const vit_attention_shape shape = shape_of(c);
    const float *k = b->cross_kv, *v = k + a;
    float *d_q = s->d_wide, *d_k = s->d_cross_kv, *d_v = d_k + a;
    vit_linear_backward(c->exec, s->d_narrow, &g->cross_proj, d_out, b->cross_o, &w->cross_proj,
                        c->rows);
    vit_attention_backward(c->exec, d_q, d_k, d_v, s->d_narrow, b->cross_p, b->cross_q, k, v,
                           &shape, c->scratch, NULL);
    vit_linear_backward(c->exec, s->d_narrow, &g->cross_q, d_q, x, &w->cross_q, c->rows);
    vit_linear_weight_gradient(c->exec, &g->cross_kv, d_k, 2 * a, m->states, &w->cross_kv, m->rows);
    vit_linear_input_gradient(c->exec, m->d_states, true, d_k, 2 * a, &w->cross_kv, m->rows);
}

/* ---- where it stands in a block ---- */

float *vit_cross_pre_norm_forward(const vit_block_call *c, vit_block_state *s,
                                  const float *z_prime) {
    vit_layernorm_forward(c->exec, s->norm, &s->cross_stats, z_prime, &c->weights->cross_norm,
                          c->rows);
    cross_forward(c, s, s->cross_mid, s->norm, z_prime);
    return s->cross_mid;
}

void vit_cross_post_norm_forward(const vit_block_call *c, vit_block_state *s, float *h) {
    cross_forward(c, s, s->cross_mid, h, h);
    vit_layernorm_forward(c->exec, h, &s->cross_stats, s->cross_mid, &c->weights->cross_norm,
                          c->rows);
}

void vit_cross_pre_norm_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                                 const vit_block_gradients *g) {
    const vit_norm *norm = &c->weights->cross_norm;
    vit_layernorm_recompute(c->exec, b->norm, &b->cross_stats, b->mid, norm, c->rows);
    cross_backward(c, s, b, g, b->norm, s->d_z);
    vit_layernorm_backward(c->exec, s->d_z, &g->cross_norm, s->d_narrow, b->mid, &b->cross_stats,
                           norm, c->rows);
}

void vit_cross_post_norm_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                                  const vit_block_gradients *g, float *d_h) {
    const vit_block_weights *w = c->weights;
    const size_t count = c->rows * c->config->dim;
    memset(s->d_z, 0, count * sizeof *s->d_z);
    vit_layernorm_backward(c->exec, s->d_z, &g->cross_norm, d_h, b->cross_mid, &b->cross_stats,
                           &w->cross_norm, c->rows);
    vit_layernorm_recompute(c->exec, b->norm, &b->stats1, b->mid, &w->norm1, c->rows);
    cross_backward(c, s, b, g, b->norm, s->d_z);
    memcpy(d_h, s->d_z, count * sizeof *d_h);
    c->exec->kernels->add(d_h, s->d_narrow, count);
}

/* ---- tokens that were computed before ---- */

vit_qkv vit_cache_add(const vit_block_call *c, const vit_qkv *new) {
    const size_t a = vit_config_attention_dim(c->config), row = 3 * a;
    for (size_t b = 0; b < c->batch; b++) {
        const vit_attention_span *span = &c->spans[b];
        const size_t first = span->key + span->keys - span->queries;
        for (size_t i = 0; i < span->queries; i++) {
            float *to = c->cache->kv + (first + i) * 2 * a;
            memcpy(to, new->k + (span->query + i) * row, a * sizeof *to);
            memcpy(to + a, new->v + (span->query + i) * row, a * sizeof *to);
        }
    }
    return (vit_qkv){new->q, c->cache->kv, c->cache->kv + a};
}
