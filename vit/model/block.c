#include "vit/model/network.h"
#include <math.h>
#include <string.h>

/* ---- rows ---- */

/* Of the last block only the class token may be read: queries, and all that follows the attention,
 * are then one row per picture instead of all tokens. */
static size_t rows_out(const vit_block_call *c) {
    return c->batch * c->outputs;
}

static size_t rows_in(const vit_block_call *c) {
    return c->batch * vit_config_tokens(c->config);
}

static bool first_only(const vit_block_call *c) {
    return c->outputs < vit_config_tokens(c->config);
}

/* first: [batch][D] = the first token of each picture of x: [batch][T][D]. */
static void gather_first(const vit_block_call *c, float *first, const float *x) {
    const size_t d = c->config->dim, picture = vit_config_tokens(c->config) * d;
    for (size_t b = 0; b < c->batch; b++) memcpy(first + b * d, x + b * picture, d * sizeof *x);
}

/* The other way round, in place: x: [batch][D] -> [batch][T][D], the other tokens +0. */
static void spread_first(const vit_block_call *c, float *x) {
    const size_t d = c->config->dim, picture = vit_config_tokens(c->config) * d;
    for (size_t b = c->batch; b-- > 0;) {
        memmove(x + b * picture, x + b * d, d * sizeof *x);
        memset(x + b * picture + d, 0, (picture - d) * sizeof *x);
    }
}

/* ---- queries, keys and values ---- */

/* Of a block that reads first tokens only, queries lie apart, in [batch][A], and the array of the
 * others begins with this column of qkv: a panel's first, so at or somewhat before the keys'. */
static size_t first_column(const vit_block_call *c) {
    return first_only(c) ? vit_config_attention(c->config) / VIT_PANEL * VIT_PANEL : 0;
}

/* Where queries, keys and values, or their gradients, lie. */
typedef struct projected {
    float *q, *k, *v;
} projected;

static projected projected_of(const vit_block_call *c, float *qkv, float *first_q) {
    const size_t a = vit_config_attention(c->config), first = first_column(c);
    return (projected){first_only(c) ? first_q : qkv, qkv + a - first, qkv + 2 * a - first};
}

static vit_attention_shape attention_shape(const vit_block_call *call) {
    const vit_config *c = call->config;
    const size_t head_dim = vit_config_head_dim(c), attention = vit_config_attention(c);
    const size_t row = 3 * attention - first_column(call);
    const size_t scaled_by = c->attention_scale == VIT_SCALE_DIM ? c->dim : head_dim;
    return (vit_attention_shape){.batch = call->batch,
                                 .heads = c->heads,
                                 .head_dim = head_dim,
                                 .queries = call->outputs,
                                 .keys = vit_config_tokens(c),
                                 .q_row = first_only(call) ? attention : row,
                                 .k_row = row,
                                 .v_row = row,
                                 .o_row = attention,
                                 .scale = (float)(1 / sqrt((double)scaled_by))};
}

/* With qk norm every token's output is wanted: queries (part 0) and keys (part 1) of qkv, the heads
 * of a row. */
static vit_parts_shape heads_shape(const vit_block_call *c) {
    const size_t row = 3 * vit_config_attention(c->config);
    return (vit_parts_shape){rows_in(c), c->config->heads, row, row};
}

static void qk_norm_forward(const vit_block_call *c, vit_block_state *s) {
    const vit_norm *const norms[2] = {&c->weights->q_norm, &c->weights->k_norm};
    const size_t attention = vit_config_attention(c->config);
    const vit_parts_shape shape = heads_shape(c);
    if (s->raw_qkv) memcpy(s->raw_qkv, s->qkv, rows_in(c) * 3 * attention * sizeof(float));
    for (size_t i = 0; i < 2; i++)
        vit_layernorm_parts_forward(c->exec, s->qkv + i * attention, &s->qk_stats[i],
                                    s->qkv + i * attention, norms[i], &shape);
}

/* d_qkv: of the attention's queries, keys, values -> of the linear layer's output. */
static void qk_norm_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                             const vit_block_gradients *g, float *d_qkv) {
    const vit_norm *const norms[2] = {&c->weights->q_norm, &c->weights->k_norm};
    const vit_norm_gradient *const gradients[2] = {&g->q_norm, &g->k_norm};
    const size_t attention = vit_config_attention(c->config);
    const vit_parts_shape shape = heads_shape(c);
    for (size_t i = 0; i < 2; i++)
        vit_layernorm_parts_backward(c->exec, d_qkv + i * attention, gradients[i],
                                     b->raw_qkv + i * attention, &b->qk_stats[i], norms[i], &shape,
                                     s->d_heads);
}

/* Queries, keys and values of x. */
static void project(const vit_block_call *c, vit_block_state *s, const float *x) {
    const size_t a = vit_config_attention(c->config), first = first_column(c);
    const vit_linear *qkv = &c->weights->qkv;
    const vit_linear rest = vit_linear_part(c->exec, qkv, first, 3 * a - first);
    vit_linear_forward(c->exec, s->qkv, x, &rest, NULL, rows_in(c));
    if (c->config->qk_norm) qk_norm_forward(c, s);
    if (!first_only(c)) return;
    const vit_linear q = vit_linear_part(c->exec, qkv, 0, a);
    gather_first(c, s->first_x, x);
    vit_linear_forward(c->exec, s->first_q, s->first_x, &q, NULL, c->batch);
}

/* dx: [R][D], given the gradients of q, k and v. Where queries lie apart, the chain of a first
 * token runs over its query and goes on over keys and values; other tokens have no query. */
static void project_backward(const vit_block_call *c, float *dx, const vit_linear_gradient *g,
                             const projected *dy, const float *x, const float *first_x) {
    const size_t a = vit_config_attention(c->config), row = 3 * a - first_column(c);
    const size_t rows = rows_in(c);
    const vit_linear *qkv = &c->weights->qkv;
    if (!first_only(c)) {
        vit_linear_backward(c->exec, dx, g, dy->q, x, qkv, rows);
        return;
    }
    const vit_linear q = vit_linear_part(c->exec, qkv, 0, a);
    const vit_linear kv = vit_linear_part(c->exec, qkv, a, 2 * a);
    const vit_linear_gradient g_kv = vit_linear_gradient_part(g, qkv, a);
    vit_linear_backward(c->exec, dx, g, dy->q, first_x, &q, c->batch);
    spread_first(c, dx);
    vit_linear_weight_gradient(c->exec, &g_kv, dy->k, row, x, &kv, rows);
    vit_linear_input_gradient(c->exec, dx, true, dy->k, row, &kv, rows);
}

/* ---- the two residual branches ---- */

/* What a branch's last layer gives is multiplied by, before the sum. */
typedef struct branch_scale {
    const float *gamma; /* [D], layer scale, or NULL */
    float *d_gamma;
    const float *keep; /* a factor per picture, or NULL */
    float *unscaled;   /* [R][D] what the layer gave, kept for d_gamma */
} branch_scale;

static branch_scale attention_scale(const vit_block_call *c, const vit_block_state *s,
                                    const vit_block_gradients *g) {
    return (branch_scale){c->weights->ls1, g ? g->ls1 : NULL, c->keep, s->unscaled1};
}

static branch_scale mlp_scale(const vit_block_call *c, const vit_block_state *s,
                              const vit_block_gradients *g) {
    return (branch_scale){c->weights->ls2, g ? g->ls2 : NULL, c->keep ? c->keep + c->batch : NULL,
                          s->unscaled2};
}

static bool keeps_unscaled(const branch_scale *scale) {
    return scale->gamma && scale->unscaled;
}

/* y = keep * gamma * (x W^T + b) + residual; in two steps where what gamma multiplies is kept, and
 * then only the first of them where y is NULL. */
static void residual_linear(const vit_block_call *c, float *y, const float *x, const vit_linear *w,
                            const float *residual, const branch_scale *scale) {
    const vit_kernels *k = c->exec->kernels;
    const size_t rows = rows_out(c), tokens = rows / c->batch, picture = tokens * w->out;
    const vit_residual_sum sum = {scale->gamma, scale->keep, tokens, residual};
    const bool kept = keeps_unscaled(scale);
    vit_linear_forward(c->exec, kept ? scale->unscaled : y, x, w, kept ? NULL : &sum, rows);
    if (!y || !kept) return;
    for (size_t i = 0; i < rows; i++)
        k->multiply(y + i * w->out, scale->unscaled + i * w->out, scale->gamma, w->out);
    for (size_t i = 0; i < c->batch && scale->keep; i++)
        k->scale(y + i * picture, y + i * picture, scale->keep[i], picture);
    k->add(y, residual, rows * w->out);
}

/* out = MSA(x) + z */
static void attention_forward(const vit_block_call *c, vit_block_state *s, float *out,
                              const float *x) {
    const projected p = projected_of(c, s->qkv, s->first_q);
    const vit_attention_shape shape = attention_shape(c);
    const branch_scale scale = attention_scale(c, s, NULL);
    project(c, s, x);
    vit_attention_forward(c->exec, s->o, s->p, p.q, p.k, p.v, &shape, c->scratch);
    if (first_only(c)) gather_first(c, s->first_z, s->z);
    residual_linear(c, out, s->o, &c->weights->proj, first_only(c) ? s->first_z : s->z, &scale);
}

/* out = MLP(x) + residual; NULL: not wanted */
static void mlp_forward(const vit_block_call *c, vit_block_state *s, float *out, const float *x,
                        const float *residual) {
    const size_t rows = rows_out(c), mlp = c->config->mlp;
    const vit_activation f = c->config->activation;
    const branch_scale scale = mlp_scale(c, s, NULL);
    vit_linear_forward(c->exec, s->hidden, x, &c->weights->fc1, NULL, rows);
    if (!out && !keeps_unscaled(&scale)) return; /* the backward pass makes `active` itself */
    if (c->config->gated)
        vit_gate_forward(c->exec, f, s->active, s->hidden, rows, mlp);
    else
        vit_activation_forward(c->exec, f, s->active, s->hidden, rows * mlp);
    residual_linear(c, out, s->active, &c->weights->fc2, residual, &scale);
}

/* The gradient of a branch's last layer, given that of the sum it is added to: itself, or in
 * `room` times the factors. */
static const float *branch_gradient(const vit_block_call *c, float *room, const float *d_sum,
                                    const branch_scale *scale) {
    const vit_kernels *k = c->exec->kernels;
    const size_t d = c->config->dim, rows = rows_out(c), picture = rows / c->batch * d;
    if (!scale->keep && !scale->gamma) return d_sum;
    for (size_t i = 0; i < c->batch && scale->keep; i++)
        k->scale(room + i * picture, d_sum + i * picture, scale->keep[i], picture);
    const float *d_scaled = scale->keep ? room : d_sum;
    for (size_t i = 0; i < rows && scale->gamma; i++) {
        k->multiply_add(scale->d_gamma, scale->unscaled + i * d, d_scaled + i * d, d);
        k->multiply(room + i * d, d_scaled + i * d, scale->gamma, d);
    }
    return room;
}

/* s->d_narrow = gradient of the branch's input x, [R][D], given that of its sum, d_sum, which is
 * not changed; room: [R][D], may be needed. d_branch is overwritten. */
static void attention_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                               const vit_block_gradients *g, const float *x, const float *d_sum,
                               float *room) {
    const vit_attention_shape shape = attention_shape(c);
    const projected p = projected_of(c, b->qkv, b->first_q);
    const projected d = projected_of(c, s->d_wide, s->d_branch);
    const branch_scale scale = attention_scale(c, b, g);
    const float *dy = branch_gradient(c, room, d_sum, &scale);
    vit_linear_backward(c->exec, s->d_narrow, &g->proj, dy, b->o, &c->weights->proj, rows_out(c));
    vit_attention_backward(c->exec, d.q, d.k, d.v, s->d_narrow, b->p, p.q, p.k, p.v, &shape,
                           c->scratch);
    if (c->config->qk_norm) qk_norm_backward(c, s, b, g, s->d_wide);
    project_backward(c, s->d_narrow, &g->qkv, &d, x, b->first_x);
}

static void mlp_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                         const vit_block_gradients *g, const float *x, const float *d_sum,
                         float *room) {
    const size_t rows = rows_out(c), mlp = c->config->mlp;
    const vit_activation f = c->config->activation;
    const vit_linear *fc2 = &c->weights->fc2;
    const branch_scale scale = mlp_scale(c, b, g);
    const float *dy = branch_gradient(c, room, d_sum, &scale);
    float *d_hidden = s->d_wide, *d_active = c->config->gated ? s->d_gated : d_hidden;
    vit_linear_input_gradient(c->exec, d_active, false, dy, fc2->out, fc2, rows);
    if (c->config->gated)
        vit_gate_backward(c->exec, f, d_hidden, b->active, d_active, b->hidden, rows, mlp);
    else
        vit_activation_backward(c->exec, f, d_hidden, b->active, d_active, b->hidden, rows * mlp);
    vit_linear_weight_gradient(c->exec, &g->fc2, dy, fc2->out, b->active, fc2, rows);
    vit_linear_backward(c->exec, s->d_narrow, &g->fc1, d_hidden, x, &c->weights->fc1, rows);
}

/* ---- norms around them ---- */

/* z' = MSA(LN(z)) + z; z_next = MLP(LN(z')) + z'; NULL: not wanted */
static void pre_norm_forward(const vit_block_call *c, float *z_next, vit_block_state *s) {
    const vit_block_weights *w = c->weights;
    vit_layernorm_forward(c->exec, s->norm, &s->stats1, s->z, &w->norm1, rows_in(c));
    attention_forward(c, s, s->mid, s->norm);
    vit_layernorm_forward(c->exec, s->norm, &s->stats2, s->mid, &w->norm2, rows_out(c));
    mlp_forward(c, s, z_next, s->norm, s->mid);
}

/* h = LN(z + MSA(z)); z_next = LN(h + MLP(h)) */
static void post_norm_forward(const vit_block_call *c, float *z_next, vit_block_state *s) {
    const vit_block_weights *w = c->weights;
    const size_t rows = rows_out(c);
    attention_forward(c, s, s->mid, s->z);
    vit_layernorm_forward(c->exec, s->norm, &s->stats1, s->mid, &w->norm1, rows);
    mlp_forward(c, s, s->sum, s->norm, s->norm);
    vit_layernorm_forward(c->exec, z_next, &s->stats2, s->sum, &w->norm2, rows);
}

void vit_block_forward(const vit_block_call *c, float *z_next, vit_block_state *s) {
    if (c->config->norm == VIT_NORM_PRE)
        pre_norm_forward(c, z_next, s);
    else
        post_norm_forward(c, z_next, s);
}

void vit_block_forward_again(const vit_block_call *c, float *z_next, vit_block_state *s) {
    if (c->config->norm == VIT_NORM_PRE)
        pre_norm_forward(c, NULL, s);
    else
        post_norm_forward(c, z_next, s);
}

static void pre_norm_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                              const vit_block_gradients *g) {
    const vit_block_weights *w = c->weights;
    const size_t rows = rows_out(c);
    vit_layernorm_again(c->exec, b->norm, &b->stats2, b->mid, &w->norm2, rows);
    /* d_z is the gradient of both paths; the norm adds the branch's to it. */
    mlp_backward(c, s, b, g, b->norm, s->d_z, s->d_branch);
    vit_layernorm_backward(c->exec, s->d_z, &g->norm2, s->d_narrow, b->mid, &b->stats2, &w->norm2,
                           rows);
    vit_layernorm_again(c->exec, b->norm, &b->stats1, b->z, &w->norm1, rows_in(c));
    attention_backward(c, s, b, g, b->norm, s->d_z, s->d_branch);
    if (first_only(c)) spread_first(c, s->d_z);
    vit_layernorm_backward(c->exec, s->d_z, &g->norm1, s->d_narrow, b->z, &b->stats1, &w->norm1,
                           rows_in(c));
}

static void post_norm_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                               const vit_block_gradients *g) {
    const size_t rows = rows_out(c), count = rows * c->config->dim;
    float *d_h = s->d_branch;
    /* z_next = LN(h + MLP(h)) */
    memset(d_h, 0, count * sizeof *d_h);
    vit_layernorm_backward(c->exec, d_h, &g->norm2, s->d_z, b->sum, &b->stats2, &c->weights->norm2,
                           rows);
    vit_layernorm_again(c->exec, b->norm, &b->stats1, b->mid, &c->weights->norm1, rows);
    mlp_backward(c, s, b, g, b->norm, d_h, s->d_z);
    c->exec->kernels->add(d_h, s->d_narrow, count);
    /* h = LN(z + MSA(z)) */
    memset(s->d_z, 0, count * sizeof *s->d_z);
    vit_layernorm_backward(c->exec, s->d_z, &g->norm1, d_h, b->mid, &b->stats1, &c->weights->norm1,
                           rows);
    attention_backward(c, s, b, g, b->z, s->d_z, s->d_branch);
    if (first_only(c)) spread_first(c, s->d_z);
    c->exec->kernels->add(s->d_z, s->d_narrow, rows_in(c) * c->config->dim);
}

void vit_block_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                        const vit_block_gradients *g) {
    if (c->config->norm == VIT_NORM_PRE)
        pre_norm_backward(c, s, b, g);
    else
        post_norm_backward(c, s, b, g);
}
