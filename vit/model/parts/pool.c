#include "vit/model/parts/pool.h"
#include "vit/ops/pool.h"
#include <string.h>

/* ---- memory ---- */

static void sequence_carve(vit_pool_state *s, const vit_carving *k) {
    const size_t tokens = vit_config_tokens(k->config), weights = k->capacity * vit_padded(tokens);
    s->scores = vit_arena_floats(k->arena, vit_carving_rows(k));
    s->p = vit_arena_floats(k->arena, weights);
    if (!vit_kept_trains(k->kept)) return;
    s->d_scores = vit_arena_floats(k->arena, vit_carving_rows(k));
    s->d_p = vit_arena_floats(k->arena, weights);
}

void vit_pool_carve(vit_pool_state *s, const vit_carving *k, float *z) {
    const vit_config *c = k->config;
    const size_t rows = vit_carving_rows(k), features = k->capacity * vit_config_features(c);
    const bool norms_tokens = vit_config_norms_tokens(c);
    s->outputs = k->outputs;
    s->normed = z;
    if (norms_tokens && vit_kept_trains(k->kept))
        s->normed = vit_arena_floats(k->arena, rows * c->dim);
    s->stats = vit_carve_stats(k->arena, norms_tokens ? rows : k->capacity);
    switch (c->pool) {
    case VIT_POOL_TOKENS:
        s->features = s->normed;
        return;
    case VIT_POOL_MAP:
        vit_map_carve(&s->map, k);
        break;
    case VIT_POOL_SEQ:
        sequence_carve(s, k);
        break;
    case VIT_POOL_PRR:
        vit_prr_carve(&s->prr, k);
        break;
    case VIT_POOL_CLASS:
    case VIT_POOL_MEAN:
    case VIT_POOL_MAX:
    case VIT_POOL_MEAN_MAX:
    case VIT_POOL_CLASS_MEAN:
    case VIT_POOL_CLASS_DIST:
    case VIT_POOL_PREFIX_MEAN:
    case VIT_POOL_COUNT:
        break;
    }
    s->pooled = vit_arena_floats(k->arena, features);
    s->features = vit_arena_floats(k->arena, features);
}

/* ---- pooling: x: [batch][outputs][D] -> pooled: [batch][F] ---- */

/* The tokens that the mean is taken of: the patches, all, or those before the patches. */
static vit_mean_shape mean_shape(const vit_config *c, size_t batch) {
    const size_t prefix = vit_config_prefix(c), tokens = vit_config_tokens(c);
    const size_t skip = c->pool_prefix || vit_pools[c->pool].prefix ? 0 : prefix;
    const size_t count = vit_pools[c->pool].prefix ? prefix : tokens - skip;
    return (vit_mean_shape){batch, tokens, skip, count, c->dim, vit_config_features(c)};
}

/* pooled: rows of F = the rows of one token of x; that token is computed by the last block. */
static void copy_token(const vit_call *c, const vit_pool_state *s, float *pooled, const float *x,
                       size_t token) {
    const size_t d = c->config->dim, row = vit_config_features(c->config), picture = s->outputs * d;
    for (size_t b = 0; b < c->batch; b++)
        memcpy(pooled + b * row, x + b * picture + token * d, d * sizeof *x);
}

/* The backward pass of copy_token: dx += d_pooled in that token's rows. */
static void add_token(const vit_call *c, const vit_pool_state *s, float *dx, const float *d_pooled,
                      size_t token) {
    const size_t d = c->config->dim, row = vit_config_features(c->config), picture = s->outputs * d;
    for (size_t b = 0; b < c->batch; b++)
        c->exec->kernels->add(dx + b * picture + token * d, d_pooled + b * row, d);
}

static void pool(const vit_call *c, const vit_pool_state *s) {
    const vit_mean_shape mean = mean_shape(c->config, c->batch);
    const float *x = s->normed;
    float *second = s->pooled + c->config->dim; /* of two side by side */
    switch (c->config->pool) {
    case VIT_POOL_CLASS:
        copy_token(c, s, s->pooled, x, 0);
        break;
    case VIT_POOL_MEAN:
    case VIT_POOL_PREFIX_MEAN:
        vit_mean_forward(c->exec, s->pooled, x, &mean);
        break;
    case VIT_POOL_MAP:
        vit_map_forward(c, &s->map, s->pooled, x);
        break;
    case VIT_POOL_CLASS_MEAN:
        copy_token(c, s, s->pooled, x, 0);
        vit_mean_forward(c->exec, second, x, &mean);
        break;
    case VIT_POOL_CLASS_DIST:
        copy_token(c, s, s->pooled, x, 0);
        copy_token(c, s, second, x, 1);
        break;
    case VIT_POOL_SEQ:
        vit_sequence_forward(c->exec, s->pooled, s->p, s->scores, x, &c->weights->attention_pool,
                             &mean);
        break;
    case VIT_POOL_MAX:
        vit_largest_forward(s->pooled, x, &mean);
        break;
    case VIT_POOL_MEAN_MAX: /* s->features is free until then */
        vit_mean_forward(c->exec, s->features, x, &mean);
        vit_largest_forward(s->pooled, x, &mean);
        c->exec->kernels->add(s->pooled, s->features, c->batch * c->config->dim);
        c->exec->kernels->scale(s->pooled, s->pooled, .5f, c->batch * c->config->dim);
        break;
    case VIT_POOL_PRR:
        vit_prr_forward(c, &s->prr, s->pooled, x);
        break;
    case VIT_POOL_TOKENS:
    case VIT_POOL_COUNT:
        break;
    }
}

/* dx = d_x: [batch][outputs][D], given d_pooled: [batch][F]. */
static void pool_backward(const vit_call *c, const vit_backward *back, const vit_pool_state *s,
                          const vit_gradients *g, float *dx, const float *d_pooled) {
    const vit_mean_shape mean = mean_shape(c->config, c->batch);
    const size_t bytes = c->batch * s->outputs * c->config->dim * sizeof *dx;
    const float *x = s->normed, *second = d_pooled + c->config->dim;
    switch (c->config->pool) {
    case VIT_POOL_CLASS:
        memset(dx, 0, bytes);
        add_token(c, s, dx, d_pooled, 0);
        break;
    case VIT_POOL_MEAN:
    case VIT_POOL_PREFIX_MEAN:
        vit_mean_backward(c->exec, dx, d_pooled, &mean);
        break;
    case VIT_POOL_MAP:
        vit_map_backward(c, back, &s->map, g, dx, d_pooled, x);
        break;
    case VIT_POOL_CLASS_MEAN:
        vit_mean_backward(c->exec, dx, second, &mean);
        add_token(c, s, dx, d_pooled, 0);
        break;
    case VIT_POOL_CLASS_DIST:
        memset(dx, 0, bytes);
        add_token(c, s, dx, d_pooled, 0);
        add_token(c, s, dx, second, 1);
        break;
    case VIT_POOL_SEQ:
        vit_sequence_backward(c->exec, dx, &g->attention_pool, s->d_p, s->d_scores, d_pooled, s->p,
                              x, &c->weights->attention_pool, &mean);
        break;
    case VIT_POOL_MAX:
        memset(dx, 0, bytes);
        vit_largest_backward(dx, d_pooled, 1, x, &mean);
        break;
    case VIT_POOL_MEAN_MAX:
        vit_mean_backward(c->exec, dx, d_pooled, &mean);
        c->exec->kernels->scale(dx, dx, .5f, bytes / sizeof *dx);
        vit_largest_backward(dx, d_pooled, .5f, x, &mean);
        break;
    case VIT_POOL_PRR:
        vit_prr_backward(c, &s->prr, dx, d_pooled, x);
        break;
    case VIT_POOL_TOKENS:
        memcpy(dx, d_pooled, c->rows * c->config->dim * sizeof *dx);
        break;
    case VIT_POOL_COUNT:
        break;
    }
}

/* ---- with the final norm, which stands before the pooling or after it ---- */

void vit_pool_forward(const vit_call *call, const vit_pool_state *s, const float *z) {
    const vit_config *c = call->config;
    const vit_norm *norm = &call->weights->norm;
    const bool norms_tokens = vit_config_norms_tokens(c);
    if (norms_tokens) vit_layernorm_forward(call->exec, s->normed, &s->stats, z, norm, call->rows);
    pool(call, s);
    if (vit_pools[c->pool].tokens) return; /* they are the features */
    if (c->final_norm && !norms_tokens)
        vit_layernorm_forward(call->exec, s->features, &s->stats, s->pooled, norm, call->batch);
    else
        memcpy(s->features, s->pooled, call->batch * vit_config_features(c) * sizeof(float));
}

void vit_pool_backward(const vit_call *call, const vit_backward *back, vit_pool_state *s,
                       const vit_gradients *g, const float *z) {
    const vit_config *c = call->config;
    const vit_norm *norm = &call->weights->norm;
    const float *d_features = back->d_branch;
    s->d_pooled = d_features;
    if (vit_config_norms_tokens(c)) {
        pool_backward(call, back, s, g, back->d_narrow, d_features);
        memset(back->d_z, 0, call->rows * c->dim * sizeof *back->d_z);
        vit_layernorm_backward(call->exec, back->d_z, &g->norm, back->d_narrow, z, &s->stats, norm,
                               call->rows);
        return;
    }
    if (c->final_norm) {
        float *d_pooled = back->d_wide;
        s->d_pooled = d_pooled;
        memset(d_pooled, 0, call->batch * c->dim * sizeof *d_pooled);
        vit_layernorm_backward(call->exec, d_pooled, &g->norm, d_features, s->pooled, &s->stats,
                               norm, call->batch);
    }
    pool_backward(call, back, s, g, back->d_z, s->d_pooled);
}
