#include "vit/model/parts/map_pool.h"
#include <math.h>
#include <string.h>

void vit_map_carve(vit_map_state *m, const vit_carving *k) {
    const vit_config *c = k->config;
    const size_t capacity = k->capacity;
    const size_t d = c->dim, rows = capacity * vit_config_tokens(c), narrow = capacity * d;
    m->query = vit_arena_floats(k->arena, narrow);
    m->kv = vit_arena_floats(k->arena, rows * 2 * d);
    m->p = vit_arena_floats(k->arena,
                            capacity * vit_config_pool_heads(c) * vit_padded(vit_config_tokens(c)));
    m->o = vit_arena_floats(k->arena, narrow);
    m->y = vit_arena_floats(k->arena, narrow);
    m->norm = vit_arena_floats(k->arena, narrow);
    m->stats = vit_carve_stats(k->arena, capacity);
    m->hidden = vit_arena_floats(k->arena, capacity * vit_config_pool_mlp(c));
    m->active = vit_arena_floats(k->arena, capacity * vit_config_pool_mlp(c));
    if (!vit_kept_trains(k->kept)) return;
    m->d_query = vit_arena_floats(k->arena, narrow);
    m->d_o = vit_arena_floats(k->arena, narrow);
    m->d_y = vit_arena_floats(k->arena, narrow);
    m->d_hidden = vit_arena_floats(k->arena, capacity * vit_config_pool_mlp(c));
}

vit_attention_shape vit_map_attention_shape(const vit_config *c, size_t batch) {
    const size_t head_dim = c->dim / vit_config_pool_heads(c),
                 skip = c->pool_prefix ? 0 : vit_config_prefix(c);
    return (vit_attention_shape){.batch = batch,
                                 .heads = vit_config_pool_heads(c),
                                 .head_dim = head_dim,
                                 .queries = 1,
                                 .keys = vit_config_tokens(c) - skip,
                                 .skip = skip,
                                 .q_row = c->dim,
                                 .k_row = 2 * c->dim,
                                 .v_row = 2 * c->dim,
                                 .o_row = c->dim,
                                 .scale = (float)(1 / sqrt((double)head_dim))};
}

void vit_map_forward(const vit_call *call, const vit_map_state *m, float *pooled, const float *x) {
    const vit_config *c = call->config;
    const vit_map_weights *w = &call->weights->map;
    const size_t d = c->dim, batch = call->batch;
    const vit_attention_shape shape = vit_map_attention_shape(c, batch);
    if (c->pool_plain)
        memcpy(m->query, w->latent, d * sizeof *m->query);
    else
        vit_linear_forward(call->exec, m->query, w->latent, &w->q, NULL, 1);
    for (size_t b = 1; b < batch; b++) memcpy(m->query + b * d, m->query, d * sizeof *m->query);
    vit_linear_forward(call->exec, m->kv, x, &w->kv, NULL, batch * vit_config_tokens(c));
    vit_attention_forward(call->exec, m->o, m->p, m->query, m->kv, m->kv + d, &shape,
                          call->scratch);
    vit_linear_forward(call->exec, c->pool_plain ? pooled : m->y, m->o, &w->proj, NULL, batch);
    if (c->pool_plain) return;
    vit_layernorm_forward(call->exec, m->norm, &m->stats, m->y, &w->norm, batch);
    vit_linear_forward(call->exec, m->hidden, m->norm, &w->fc1, NULL, batch);
    vit_activation_forward(call->exec, c->activation, m->active, m->hidden,
                           batch * vit_config_pool_mlp(c));
    vit_linear_forward(call->exec, pooled, m->active, &w->fc2,
                       &(vit_residual_sum){.residual = m->y}, batch);
}

/* Through y and the MLP: m->d_o = d_o, given d_pooled: [batch][D]. */
static void after_attention_backward(const vit_call *call, const vit_map_state *m,
                                     const vit_map_gradients *g, const float *d_pooled) {
    const vit_config *c = call->config;
    const vit_map_weights *w = &call->weights->map;
    const size_t batch = call->batch;
    if (c->pool_plain) {
        vit_linear_backward(call->exec, m->d_o, &g->proj, d_pooled, m->o, &w->proj, batch);
        return;
    }
    vit_linear_backward(call->exec, m->d_hidden, &g->fc2, d_pooled, m->active, &w->fc2, batch);
    vit_activation_backward(call->exec, c->activation, m->d_hidden, NULL, m->d_hidden, m->hidden,
                            batch * vit_config_pool_mlp(c));
    vit_linear_backward(call->exec, m->d_o, &g->fc1, m->d_hidden, m->norm, &w->fc1, batch);
    memcpy(m->d_y, d_pooled, batch * c->dim * sizeof *m->d_y);
    vit_layernorm_backward(call->exec, m->d_y, &g->norm, m->d_o, m->y, &m->stats, &w->norm, batch);
    vit_linear_backward(call->exec, m->d_o, &g->proj, m->d_y, m->o, &w->proj, batch);
}

void vit_map_backward(const vit_call *call, const vit_backward *back, const vit_map_state *m,
                      const vit_gradients *g, float *dx, const float *d_pooled, const float *x) {
    const vit_config *c = call->config;
    const vit_map_weights *w = &call->weights->map;
    const size_t d = c->dim, tokens = vit_config_tokens(c);
    const vit_attention_shape shape = vit_map_attention_shape(c, call->batch);
    float *d_kv = back->d_wide;
    after_attention_backward(call, m, &g->map, d_pooled);
    for (size_t b = 0; b < call->batch; b++)
        memset(d_kv + b * tokens * shape.k_row, 0, shape.skip * shape.k_row * sizeof *d_kv);
    vit_attention_backward(call->exec, m->d_query, d_kv, d_kv + d, m->d_o, m->p, m->query, m->kv,
                           m->kv + d, &shape, call->scratch, m->d_p);
    vit_linear_gradient g_q = g->map.q;
    /* One picture after the other: the order of the sums does not depend on the slice's size. */
    for (size_t b = 0; b < call->batch; b++, g_q.begins = false) {
        const float *d_latent = m->d_y;
        if (c->pool_plain)
            d_latent = m->d_query + b * d;
        else
            vit_linear_backward(call->exec, m->d_y, &g_q, m->d_query + b * d, w->latent, &w->q, 1);
        if (g->map.latent) call->exec->kernels->add(g->map.latent, d_latent, d);
    }
    vit_linear_backward(call->exec, dx, &g->map.kv, d_kv, x, &w->kv, call->batch * tokens);
}
