#include "vit/model/parts/cross.h"
#include <math.h>
#include <string.h>

void vit_cross_carve_shared(vit_cross_state *s, const vit_carving *k) {
    const size_t rows = k->capacity * k->encoder_tokens, a = vit_config_attention_dim(k->config);
    if (k->config->memory > 0 && vit_kept_trains(k->kept))
        s->d_kv = vit_arena_floats(k->arena, rows * 2 * a);
}

void vit_cross_carve(vit_cross_state *s, const vit_carving *k) {
    const vit_config *c = k->config;
    const size_t rows = vit_carving_rows(k), keys = k->encoder_tokens;
    const size_t attention = vit_config_attention_dim(c);
    if (c->memory == 0) return;
    s->q = vit_arena_floats(k->arena, rows * attention);
    s->kv = vit_arena_floats(k->arena, k->capacity * keys * 2 * attention);
    if (vit_keeps_weights(k->kept, keys))
        s->p = vit_arena_floats(k->arena, rows * c->heads * vit_padded(keys));
    s->o = vit_arena_floats(k->arena, rows * attention);
    s->sum = vit_arena_floats(k->arena, rows * c->dim);
    s->stats = vit_carve_stats(k->arena, rows);
}

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
    const vit_attention_span *spans = c->encoder->spans;
    size_t queries = 0, keys = 0;
    for (size_t b = 0; b < c->batch; b++) {
        queries = queries > spans[b].queries ? queries : spans[b].queries;
        keys = keys > spans[b].keys ? keys : spans[b].keys;
    }
    return vit_cross_shape(c->config, c->batch, queries, keys, spans);
}

/* out = CA(x, m) + residual, [R][D] each */
static void cross_forward(const vit_block_call *c, const vit_cross_state *s, float *out,
                          const float *x, const float *residual) {
    const vit_block_weights *w = c->weights;
    const vit_encoder_states *m = c->encoder;
    const vit_attention_shape shape = shape_of(c);
    const vit_residual_sum sum = {.residual = residual};
    /* Q = x W^Q; K = m W^K and V = m W^V side by side, unless they are there already */
    vit_linear_forward(c->exec, s->q, x, &w->cross_q, NULL, c->rows);
    if (m->values) vit_linear_forward(c->exec, s->kv, m->values, &w->cross_kv, NULL, m->rows);
    const float *k = s->kv, *v = k + vit_config_attention_dim(c->config);
    vit_attention_forward(c->exec, s->o, s->p, s->q, k, v, &shape, c->scratch);
    /* out = o W^O + residual */
    vit_linear_forward(c->exec, out, s->o, &w->cross_proj, &sum, c->rows);
}

/* back->d_narrow = d_x and m->d_values += d_m, given d_out. Overwrites back->d_wide. */
static void cross_backward(const vit_block_call *c, const vit_backward *back,
                           const vit_cross_state *s, const vit_block_gradients *g, const float *x,
                           const float *d_out) {
    const vit_block_weights *w = c->weights;
    const vit_encoder_states *m = c->encoder;
    const size_t a = vit_config_attention_dim(c->config);
    const vit_attention_shape shape = shape_of(c);
    const float *k = s->kv, *v = k + a;
    float *d_q = back->d_wide, *d_k = s->d_kv, *d_v = d_k + a, *d_x = back->d_narrow;
    vit_linear_backward(c->exec, d_x, &g->cross_proj, d_out, s->o, &w->cross_proj, c->rows);
    vit_attention_backward(c->exec, d_q, d_k, d_v, d_x, s->p, s->q, k, v, &shape, c->scratch, NULL);
    vit_linear_backward(c->exec, d_x, &g->cross_q, d_q, x, &w->cross_q, c->rows);
    vit_linear_weight_gradient(c->exec, &g->cross_kv, d_k, 2 * a, m->values, &w->cross_kv, m->rows);
    vit_linear_input_gradient(c->exec, m->d_values, true, d_k, 2 * a, &w->cross_kv, m->rows);
}

/* ---- pre-norm ---- */

float *vit_cross_pre_norm_forward(const vit_block_call *c, const vit_cross_state *s, float *norm,
                                  const float *z_prime) {
    vit_layernorm_forward(c->exec, norm, &s->stats, z_prime, &c->weights->cross_norm, c->rows);
    cross_forward(c, s, s->sum, norm, z_prime);
    return s->sum;
}

void vit_cross_pre_norm_backward(const vit_block_call *c, const vit_backward *back,
                                 const vit_cross_state *s, const vit_block_gradients *g,
                                 float *norm, const float *z_prime) {
    const vit_norm *w = &c->weights->cross_norm;
    vit_layernorm_recompute(c->exec, norm, &s->stats, z_prime, w, c->rows);
    cross_backward(c, back, s, g, norm, back->d_z);
    vit_layernorm_backward(c->exec, back->d_z, &g->cross_norm, back->d_narrow, z_prime, &s->stats,
                           w, c->rows);
}

/* ---- post-norm ---- */

void vit_cross_post_norm_forward(const vit_block_call *c, const vit_cross_state *s, float *h) {
    cross_forward(c, s, s->sum, h, h);
    vit_layernorm_forward(c->exec, h, &s->stats, s->sum, &c->weights->cross_norm, c->rows);
}

void vit_cross_post_norm_backward(const vit_block_call *c, const vit_backward *back,
                                  const vit_cross_state *s, const vit_block_gradients *g,
                                  const float *h, float *d_h) {
    const size_t count = c->rows * c->config->dim;
    memset(back->d_z, 0, count * sizeof *back->d_z);
    vit_layernorm_backward(c->exec, back->d_z, &g->cross_norm, d_h, s->sum, &s->stats,
                           &c->weights->cross_norm, c->rows);
    cross_backward(c, back, s, g, h, back->d_z);
    memcpy(d_h, back->d_z, count * sizeof *d_h);
    c->exec->kernels->add(d_h, back->d_narrow, count);
}
