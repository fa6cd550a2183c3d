#include "vit/model/parts/prr_pool.h"
#include "vit/ops/pool.h"
#include <math.h>
#include <string.h>

static size_t queries_of(const vit_config *c) {
    return c->class_token ? 1 : vit_config_tokens(c);
}

void vit_prr_carve(vit_prr_state *s, const vit_carving *k) {
    const vit_config *c = k->config;
    const size_t rows = k->capacity * queries_of(c), tokens = vit_config_tokens(c);
    s->p = vit_arena_floats(k->arena, rows * vit_config_pool_heads(c) * vit_padded(tokens));
    s->o = vit_arena_floats(k->arena, rows * c->dim);
    if (!vit_kept_trains(k->kept)) return;
    s->d_o = vit_arena_floats(k->arena, rows * c->dim);
    s->d_kv = vit_arena_floats(k->arena, 2 * vit_carving_rows(k) * c->dim);
}

/* From one picture's queries to the next's are as many floats as from its tokens to the next's. */
vit_attention_shape vit_prr_attention_shape(const vit_config *c, size_t batch) {
    const size_t tokens = vit_config_tokens(c), head_dim = c->dim / vit_config_pool_heads(c);
    return (vit_attention_shape){.batch = batch,
                                 .heads = vit_config_pool_heads(c),
                                 .head_dim = head_dim,
                                 .queries = queries_of(c),
                                 .keys = tokens,
                                 .q_row = tokens / queries_of(c) * c->dim,
                                 .k_row = c->dim,
                                 .v_row = c->dim,
                                 .o_row = c->dim,
                                 .scale = (float)(1 / sqrt((double)head_dim))};
}

static vit_mean_shape mean_shape(const vit_config *c, size_t batch) {
    return (vit_mean_shape){batch, queries_of(c), 0, queries_of(c), c->dim, c->dim};
}

void vit_prr_forward(const vit_call *call, const vit_prr_state *s, float *pooled, const float *x) {
    const vit_attention_shape shape = vit_prr_attention_shape(call->config, call->batch);
    const vit_mean_shape mean = mean_shape(call->config, call->batch);
    vit_attention_forward(call->exec, s->o, s->p, x, x, x, &shape, call->scratch);
    vit_mean_forward(call->exec, pooled, s->o, &mean);
}

void vit_prr_backward(const vit_call *call, const vit_prr_state *s, float *dx,
                      const float *d_pooled, const float *x) {
    const vit_config *c = call->config;
    const vit_attention_shape shape = vit_prr_attention_shape(c, call->batch);
    const vit_mean_shape mean = mean_shape(c, call->batch);
    const size_t floats = call->batch * vit_config_tokens(c) * c->dim;
    float *d_k = s->d_kv, *d_v = s->d_kv + floats;
    memset(dx, 0, floats * sizeof *dx); /* tokens that are no queries */
    vit_mean_backward(call->exec, s->d_o, d_pooled, &mean);
    vit_attention_backward(call->exec, dx, d_k, d_v, s->d_o, s->p, x, x, x, &shape, call->scratch,
                           NULL);
    call->exec->kernels->add(dx, d_k, floats);
    call->exec->kernels->add(dx, d_v, floats);
}
