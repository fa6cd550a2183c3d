/* From the last block's output z to logits: final norm, pooling, up to two linear layers (the
 * lecture's MLP head). A part of network.c; pooling by attention is in map_pool.c.
 *
 * F: width of the pooled features, D, or 2 D of two tokens side by side. */
#include "vit/model/network.h"
#include "vit/ops/pool.h"
#include <string.h>

void vit_head_carve(vit_state *s, vit_arena *arena, const vit_config *c, bool training) {
    const size_t rows = s->capacity * vit_config_tokens(c), features = vit_config_features(c);
    const bool norms_tokens = vit_config_norms_tokens(c);
    s->normed = norms_tokens && training ? vit_arena_floats(arena, rows * c->dim) : s->z;
    if (c->pool == VIT_POOL_TOKENS) {
        s->stats = vit_carve_stats(arena, rows);
        s->features = s->normed;
        if (c->head != VIT_HEAD_NONE) s->logits = vit_arena_floats(arena, rows * c->classes);
        return;
    }
    if (c->pool == VIT_POOL_MAP) vit_map_carve(&s->map, arena, c, s->capacity, training);
    if (c->pool == VIT_POOL_SEQ) {
        const size_t weights = s->capacity * vit_padded(vit_config_tokens(c));
        s->pool_scores = vit_arena_floats(arena, rows);
        s->pool_p = vit_arena_floats(arena, weights);
        s->d_scores = training ? vit_arena_floats(arena, rows) : NULL;
        s->d_p = training ? vit_arena_floats(arena, weights) : NULL;
    }
    s->pooled = vit_arena_floats(arena, s->capacity * features);
    s->stats = vit_carve_stats(arena, norms_tokens ? rows : s->capacity);
    s->features = vit_arena_floats(arena, s->capacity * features);
    if (c->head == VIT_HEAD_MLP) {
        s->head_hidden = vit_arena_floats(arena, s->capacity * c->mlp);
        s->head_active = vit_arena_floats(arena, s->capacity * c->mlp);
    }
    s->logits = vit_arena_floats(arena, s->capacity * c->classes);
}

/* ---- pooling: x: [batch][outputs of the last block][D] -> pooled: [batch][F] ---- */

/* The tokens that the mean is taken of: the patches, or all. */
static vit_mean_shape mean_shape(const vit_config *c, size_t batch) {
    const size_t skip = c->pool_prefix ? 0 : vit_config_prefix(c);
    return (vit_mean_shape){batch, skip, vit_config_tokens(c) - skip, c->dim,
                            vit_config_features(c)};
}

/* pooled: rows of F = the rows of one token of x; that token is computed by the last block. */
static void copy_token(const vit_config *c, const vit_state *s, float *pooled, const float *x,
                       size_t token) {
    const size_t d = c->dim, row = vit_config_features(c), picture = s->outputs * d;
    for (size_t b = 0; b < s->batch; b++)
        memcpy(pooled + b * row, x + b * picture + token * d, d * sizeof *x);
}

/* The backward pass of copy_token: dx += d_pooled in that token's rows. */
static void add_token(const vit_config *c, const vit_exec *exec, const vit_state *s, float *dx,
                      const float *d_pooled, size_t token) {
    const size_t d = c->dim, row = vit_config_features(c), picture = s->outputs * d;
    for (size_t b = 0; b < s->batch; b++)
        exec->kernels->add(dx + b * picture + token * d, d_pooled + b * row, d);
}

static void pool_forward(const vit_network *n, const vit_exec *exec, vit_state *s, const float *x) {
    const vit_config *c = &n->config;
    const vit_mean_shape mean = mean_shape(c, s->batch);
    const bool two = vit_config_features(c) > c->dim;
    if (c->pool == VIT_POOL_MAP)
        vit_map_forward(n, exec, s, x);
    else if (c->pool == VIT_POOL_MEAN)
        vit_mean_forward(exec, s->pooled, x, &mean);
    else if (c->pool == VIT_POOL_SEQ)
        vit_sequence_forward(exec, s->pooled, s->pool_p, s->pool_scores, x,
                             &n->weights.attention_pool, &mean);
    else
        copy_token(c, s, s->pooled, x, 0);
    if (two && c->pool == VIT_POOL_CLASS_DIST) copy_token(c, s, s->pooled + c->dim, x, 1);
    if (two && c->pool == VIT_POOL_CLASS_MEAN) vit_mean_forward(exec, s->pooled + c->dim, x, &mean);
}

/* dx = d_x: [batch][outputs][D], given d_pooled: [batch][F]. */
static void pool_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                          const vit_gradients *g, float *dx, const float *d_pooled,
                          const float *x) {
    const vit_config *c = &n->config;
    const vit_mean_shape mean = mean_shape(c, s->batch);
    const float *second = d_pooled + c->dim;
    if (c->pool == VIT_POOL_MAP) {
        vit_map_backward(n, exec, s, g, dx, d_pooled, x);
        return;
    }
    if (c->pool == VIT_POOL_SEQ) {
        vit_sequence_backward(exec, dx, &g->attention_pool, s->d_p, s->d_scores, d_pooled,
                              s->pool_p, x, &n->weights.attention_pool, &mean);
        return;
    }
    if (c->pool == VIT_POOL_MEAN)
        vit_mean_backward(exec, dx, d_pooled, &mean);
    else if (c->pool == VIT_POOL_CLASS_MEAN)
        vit_mean_backward(exec, dx, second, &mean);
    else
        memset(dx, 0, s->batch * s->outputs * c->dim * sizeof *dx);
    if (c->pool != VIT_POOL_MEAN) add_token(c, exec, s, dx, d_pooled, 0);
    if (c->pool == VIT_POOL_CLASS_DIST) add_token(c, exec, s, dx, second, 1);
}

/* ---- forward ---- */

/* s->features: [batch][F], the final norm standing before the pooling or after it. */
static void features_forward(const vit_network *n, const vit_exec *exec, vit_state *s) {
    const vit_config *c = &n->config;
    const bool norms_tokens = vit_config_norms_tokens(c);
    if (norms_tokens)
        vit_layernorm_forward(exec, s->normed, &s->stats, s->z, &n->weights.norm,
                              s->batch * vit_config_tokens(c));
    pool_forward(n, exec, s, s->normed);
    if (c->final_norm && !norms_tokens)
        vit_layernorm_forward(exec, s->features, &s->stats, s->pooled, &n->weights.norm, s->batch);
    else
        memcpy(s->features, s->pooled, s->batch * vit_config_features(c) * sizeof(float));
}

void vit_head_forward(const vit_network *n, const vit_exec *exec, vit_state *s) {
    const vit_config *c = &n->config;
    const vit_linear *head = n->weights.head;
    if (c->pool == VIT_POOL_TOKENS) {
        /* logits of every token; an encoder has no head, and none */
        if (c->final_norm)
            vit_layernorm_forward(exec, s->normed, &s->stats, s->z, &n->weights.norm, s->rows);
        if (c->head != VIT_HEAD_NONE)
            vit_linear_forward(exec, s->logits, s->normed, &head[0], NULL, s->rows);
        return;
    }
    features_forward(n, exec, s);
    switch (c->head) {
    case VIT_HEAD_NONE:
    case VIT_HEAD_COUNT:
        memcpy(s->logits, s->features, s->batch * c->classes * sizeof(float));
        break;
    case VIT_HEAD_LINEAR:
        vit_linear_forward(exec, s->logits, s->features, &head[0], NULL, s->batch);
        break;
    case VIT_HEAD_MLP:
        vit_linear_forward(exec, s->head_hidden, s->features, &head[0], NULL, s->batch);
        vit_activation_forward(exec, VIT_GELU, s->head_active, s->head_hidden, s->batch * c->mlp);
        vit_linear_forward(exec, s->logits, s->head_active, &head[1], NULL, s->batch);
        break;
    }
}

/* ---- backward ---- */

/* s->back.d_z: [R][D], of a stack that keeps all tokens: given d_logits, or of an encoder
 * d_features. */
static void tokens_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                            const vit_gradients *g) {
    const size_t bytes = s->rows * n->config.dim * sizeof *s->back.d_z;
    const float *d_features = s->d_features;
    if (n->config.head != VIT_HEAD_NONE) {
        vit_linear_backward(exec, s->back.d_narrow, &g->head[0], s->d_logits, s->normed,
                            &n->weights.head[0], s->rows);
        d_features = s->back.d_narrow;
    }
    if (!n->config.final_norm) {
        memcpy(s->back.d_z, d_features, bytes);
        return;
    }
    memset(s->back.d_z, 0, bytes);
    vit_layernorm_backward(exec, s->back.d_z, &g->norm, d_features, s->z, &s->stats,
                           &n->weights.norm, s->rows);
}

/* d_features: [batch][F], through the head's linear layers, given s->d_logits. */
static void head_layers_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                                 const vit_gradients *g, float *d_features) {
    const vit_linear *head = n->weights.head;
    float *d_hidden = s->back.d_wide;
    switch (n->config.head) {
    case VIT_HEAD_NONE:
    case VIT_HEAD_COUNT:
        memcpy(d_features, s->d_logits, s->batch * n->config.classes * sizeof(float));
        break;
    case VIT_HEAD_LINEAR:
        vit_linear_backward(exec, d_features, &g->head[0], s->d_logits, s->features, &head[0],
                            s->batch);
        break;
    case VIT_HEAD_MLP:
        vit_linear_backward(exec, d_hidden, &g->head[1], s->d_logits, s->head_active, &head[1],
                            s->batch);
        vit_activation_backward(exec, VIT_GELU, d_hidden, NULL, d_hidden, s->head_hidden,
                                s->batch * n->config.mlp);
        vit_linear_backward(exec, d_features, &g->head[0], d_hidden, s->features, &head[0],
                            s->batch);
        break;
    }
}

void vit_head_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                       const vit_gradients *g) {
    const vit_config *c = &n->config;
    const size_t count = s->batch * vit_config_tokens(c) * c->dim;
    float *d_features = s->back.d_branch, *d_pooled = d_features;
    if (c->pool == VIT_POOL_TOKENS) {
        tokens_backward(n, exec, s, g);
        return;
    }
    head_layers_backward(n, exec, s, g, d_features);
    s->d_pooled = d_pooled;
    if (vit_config_norms_tokens(c)) {
        pool_backward(n, exec, s, g, s->back.d_narrow, d_pooled, s->normed);
        memset(s->back.d_z, 0, count * sizeof *s->back.d_z);
        vit_layernorm_backward(exec, s->back.d_z, &g->norm, s->back.d_narrow, s->z, &s->stats,
                               &n->weights.norm, s->batch * vit_config_tokens(c));
        return;
    }
    if (c->final_norm) {
        s->d_pooled = d_pooled = s->back.d_wide;
        memset(d_pooled, 0, s->batch * c->dim * sizeof *d_pooled);
        vit_layernorm_backward(exec, d_pooled, &g->norm, d_features, s->pooled, &s->stats,
                               &n->weights.norm, s->batch);
    }
    pool_backward(n, exec, s, g, s->back.d_z, d_pooled, s->normed);
}
