#include "vit/model/parts/qkv.h"
#include "vit/model/parts/rope.h"
#include <assert.h>
#include <math.h>
#include <string.h>

void vit_qkv_carve_shared(vit_qkv_state *s, const vit_carving *k) {
    s->angles = vit_rope_carve(k);
    vit_relative_carve(&s->relative, k);
}

void vit_qkv_carve(vit_qkv_state *s, const vit_carving *k, float *values) {
    const vit_config *c = k->config;
    const size_t rows = vit_carving_rows(k), attention = vit_config_attention_dim(c);
    s->values =
        vit_kept_trains(k->kept) ? vit_arena_floats(k->arena, rows * 3 * attention) : values;
    for (size_t i = 0; i < 2 && c->qk_norm; i++)
        s->qk[i] = vit_carve_stats(k->arena, rows * c->heads);
    if (!c->qk_norm || !vit_kept_trains(k->kept)) return;
    s->raw = vit_arena_floats(k->arena, rows * 3 * attention);
    s->d_heads = vit_arena_floats(k->arena, attention);
}

void vit_qkv_carve_first(vit_qkv_state *s, const vit_carving *k) {
    if (k->outputs == vit_config_tokens(k->config)) return;
    s->first_z = vit_arena_floats(k->arena, k->capacity * k->config->dim);
    s->first_x = vit_arena_floats(k->arena, k->capacity * k->config->dim);
    s->first_q = vit_arena_floats(k->arena, k->capacity * vit_config_attention_dim(k->config));
}

/* ---- where they are ---- */

bool vit_first_only(const vit_block_call *c) {
    return c->outputs < vit_config_tokens(c->config);
}

/* Where only first tokens are wanted, queries have an array of their own, [batch][A], and the array
 * of keys and values begins in the middle of [Q K V]: with this column, the last one before the
 * keys at which a panel of the packed weights begins (vit_panel() columns). Else 0: Q, K and V are
 * in one array. */
static size_t first_column(const vit_block_call *c) {
    return vit_first_only(c) ? vit_config_attention_dim(c->config) / vit_panel() * vit_panel() : 0;
}

vit_qkv vit_qkv_of(const vit_block_call *c, float *values, float *first_q) {
    const size_t a = vit_config_attention_dim(c->config), first = first_column(c);
    return (vit_qkv){vit_first_only(c) ? first_q : values, values + a - first,
                     values + 2 * a - first};
}

/* Floats from one row of keys, and of values, to the next. */
static size_t row_of(const vit_block_call *c) {
    return 3 * vit_config_attention_dim(c->config) - first_column(c);
}

static bool has_rope(const vit_block_call *c) {
    return c->weights->rope || c->weights->rope_freqs[0];
}

double vit_qkv_scale(const vit_config *c) {
    size_t width = 1;
    switch (c->attention_scale) {
    case VIT_SCALE_HEAD_DIM:
        width = vit_config_head_dim(c);
        break;
    case VIT_SCALE_DIM:
        width = c->dim;
        break;
    case VIT_SCALE_COUNT:
        break;
    }
    return 1 / sqrt((double)width);
}

static vit_attention_shape shape_of(const vit_block_call *call) {
    const vit_config *c = call->config;
    const size_t attention = vit_config_attention_dim(c), row = row_of(call);
    const size_t key_row = call->cache ? 2 * attention : row;
    return (vit_attention_shape){.batch = call->batch,
                                 .heads = c->heads,
                                 .head_dim = vit_config_head_dim(c),
                                 .queries = call->outputs,
                                 .keys = call->cache ? call->cache->length : vit_config_tokens(c),
                                 .q_row = vit_first_only(call) ? attention : row,
                                 .k_row = key_row,
                                 .v_row = key_row,
                                 .o_row = attention,
                                 .scale = (float)vit_qkv_scale(c),
                                 .spans = call->spans,
                                 .causal = c->causal};
}

/* ---- relative position bias ---- */

vit_attention_shape vit_qkv_biased_shape(const vit_block_call *c, const vit_qkv_state *s,
                                         bool computes) {
    vit_attention_shape shape = shape_of(c);
    if (!s->relative.bias) return shape;
    const size_t tokens = vit_config_tokens(c->config);
    if (computes) vit_relative_bias_forward(c, &s->relative);
    shape.bias = s->relative.bias;
    shape.bias_head = tokens * vit_padded(tokens);
    shape.d_scores = s->relative.d_scores;
    return shape;
}

void vit_qkv_bias_backward(const vit_block_call *c, const vit_qkv_state *s,
                           const vit_attention_shape *shape, const vit_block_gradients *g) {
    if (s->relative.bias)
        vit_relative_bias_backward(c, &s->relative, g, 1 / shape->scale, shape->queries);
}

/* ---- first tokens only ---- */

/* first: [batch][D] = the first token of each picture of x: [batch][T][D]. */
static void gather_first(const vit_block_call *c, float *first, const float *x) {
    const size_t d = c->config->dim, picture = vit_config_tokens(c->config) * d;
    for (size_t b = 0; b < c->batch; b++) memcpy(first + b * d, x + b * picture, d * sizeof *x);
}

const float *vit_first_residual(const vit_block_call *c, const vit_qkv_state *s, const float *z) {
    if (!vit_first_only(c)) return z;
    gather_first(c, s->first_z, z);
    return s->first_z;
}

void vit_first_spread(const vit_block_call *c, float *x) {
    const size_t d = c->config->dim, picture = vit_config_tokens(c->config) * d;
    for (size_t b = c->batch; b-- > 0;) {
        memmove(x + b * picture, x + b * d, d * sizeof *x);
        memset(x + b * picture + d, 0, (picture - d) * sizeof *x);
    }
}

/* K and V of all tokens of x: [R][D] into s->values, Q of first tokens into s->first_q; keeps the
 * first tokens' rows of x. */
static void first_forward(const vit_block_call *c, const vit_qkv_state *s, const float *x) {
    const size_t a = vit_config_attention_dim(c->config), first = first_column(c);
    const vit_linear *qkv = &c->weights->qkv;
    const vit_linear rest = vit_linear_part(c->exec, qkv, first, 3 * a - first);
    const vit_linear q = vit_linear_part(c->exec, qkv, 0, a);
    vit_linear_forward(c->exec, s->values, x, &rest, NULL, vit_rows_in(c));
    gather_first(c, s->first_x, x);
    vit_linear_forward(c->exec, s->first_q, s->first_x, &q, NULL, c->batch);
}

/* dx: [R][D] and the weight's gradient, given those of Q, K and V. In both, the chain of sums of a
 * first token runs over its query and goes on over keys and values; other tokens have no query. */
static void first_backward(const vit_block_call *c, float *dx, const vit_linear_gradient *g,
                           const vit_qkv *dy, const float *x, const float *first_x) {
    const size_t a = vit_config_attention_dim(c->config), row = row_of(c);
    const size_t rows = vit_rows_in(c);
    const vit_linear *qkv = &c->weights->qkv;
    const vit_linear q = vit_linear_part(c->exec, qkv, 0, a);
    const vit_linear kv = vit_linear_part(c->exec, qkv, a, 2 * a);
    const vit_linear_gradient g_kv = vit_linear_gradient_part(g, qkv, a);
    vit_linear_backward(c->exec, dx, g, dy->q, first_x, &q, c->batch);
    vit_first_spread(c, dx);
    vit_linear_weight_gradient(c->exec, &g_kv, dy->k, row, x, &kv, rows);
    vit_linear_input_gradient(c->exec, dx, true, dy->k, row, &kv, rows);
}

/* ---- qk norm ---- */

/* The queries, or the keys, of one row of [R][3][A]: [heads][d], each head normed by itself. A
 * block with qk norm computes every token, see vit_block_outputs. */
static vit_parts_shape heads_shape(const vit_block_call *c) {
    assert(!vit_first_only(c));
    const size_t row = 3 * vit_config_attention_dim(c->config);
    return (vit_parts_shape){vit_rows_in(c), c->config->heads, row, row};
}

/* Norms queries and keys of s->values in place, and keeps what was there for the backward pass. */
static void norm_forward(const vit_block_call *c, const vit_qkv_state *s) {
    const vit_norm *const norms[2] = {&c->weights->q_norm, &c->weights->k_norm};
    const size_t attention = vit_config_attention_dim(c->config);
    const vit_parts_shape shape = heads_shape(c);
    if (s->raw) memcpy(s->raw, s->values, vit_rows_in(c) * 3 * attention * sizeof(float));
    for (size_t i = 0; i < 2; i++)
        vit_layernorm_parts_forward(c->exec, s->values + i * attention, &s->qk[i],
                                    s->values + i * attention, norms[i], &shape);
}

/* back->d_wide: the gradients of queries and keys after their norms -> before them. */
static void norm_backward(const vit_block_call *c, const vit_backward *back, const vit_qkv_state *s,
                          const vit_block_gradients *g) {
    const vit_norm *const norms[2] = {&c->weights->q_norm, &c->weights->k_norm};
    const vit_norm_gradient *const gradients[2] = {&g->q_norm, &g->k_norm};
    const size_t attention = vit_config_attention_dim(c->config);
    const vit_parts_shape shape = heads_shape(c);
    for (size_t i = 0; i < 2; i++)
        vit_layernorm_parts_backward(c->exec, back->d_wide + i * attention, gradients[i],
                                     s->raw + i * attention, &s->qk[i], norms[i], &shape,
                                     s->d_heads);
}

/* ---- the cache ---- */

/* Copies the new tokens' keys and values into the cache; returns where the attention finds them. */
static vit_qkv add_to_cache(const vit_block_call *c, const vit_qkv *new) {
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

/* ---- all of it ---- */

vit_qkv vit_qkv_forward(const vit_block_call *c, const vit_qkv_state *s, const float *x) {
    const vit_qkv p = vit_qkv_of(c, s->values, s->first_q);
    if (vit_first_only(c))
        first_forward(c, s, x);
    else
        vit_linear_forward(c->exec, s->values, x, &c->weights->qkv, NULL, vit_rows_in(c));
    if (c->config->qk_norm) norm_forward(c, s);
    if (has_rope(c)) vit_rope_forward(c, s->angles, p.q, p.k, row_of(c));
    return c->cache ? add_to_cache(c, &p) : p;
}

void vit_qkv_backward(const vit_block_call *c, const vit_backward *back, const vit_qkv_state *s,
                      const vit_block_gradients *g, const vit_qkv *d, const float *x) {
    const vit_qkv p = vit_qkv_of(c, s->values, s->first_q);
    if (has_rope(c)) vit_rope_backward(c, s->angles, g, d->q, d->k, p.q, p.k, row_of(c));
    if (c->config->qk_norm) norm_backward(c, back, s, g);
    if (vit_first_only(c))
        first_backward(c, back->d_narrow, &g->qkv, d, x, s->first_x);
    else
        vit_linear_backward(c->exec, back->d_narrow, &g->qkv, d->q, x, &c->weights->qkv,
                            vit_rows_in(c));
    const size_t a = vit_config_attention_dim(c->config);
    if (!c->config->key_bias && g->qkv.bias) memset(g->qkv.bias + a, 0, a * sizeof *g->qkv.bias);
}
