/* What the blocks of a decoder have besides: attention to the memory, whose keys and values are
 * made once for all that is written, and a cache of their own. See block_parts.h. */
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

static vit_attention_shape shape_of(const vit_block_call *c) {
    const vit_attention_span *spans = c->memory->spans;
    size_t queries = 0, keys = 0;
    for (size_t b = 0; b < c->batch; b++) {
        queries = queries > spans[b].queries ? queries : spans[b].queries;
        keys = keys > spans[b].keys ? keys : spans[b].keys;
    }
    return vit_cross_shape(c->config, c->batch, queries, keys, spans);
}

void vit_cross_forward(const vit_block_call *c, vit_block_state *s, float *out, const float *x,
                       const float *residual) {
    const vit_block_weights *w = c->weights;
    const vit_memory *m = c->memory;
    const vit_attention_shape shape = shape_of(c);
    const vit_residual_sum sum = {.residual = residual};
    /* Q = x W^Q, K, V = m W */
    vit_linear_forward(c->exec, s->cross_q, x, &w->cross_q, NULL, c->rows);
    if (m->states) vit_linear_forward(c->exec, s->cross_kv, m->states, &w->cross_kv, NULL, m->rows);
    const float *k = s->cross_kv, *v = k + vit_config_attention_dim(c->config);
    vit_attention_forward(c->exec, s->cross_o, s->cross_p, s->cross_q, k, v, &shape, c->scratch);
    /* out = o W^O + b + residual */
    vit_linear_forward(c->exec, out, s->cross_o, &w->cross_proj, &sum, c->rows);
}

void vit_cross_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
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
