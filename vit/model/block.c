#include "vit/model/network.h"
#include <math.h>
#include <string.h>

/* ---- rows ---- */

/* Of the last block only the class token is read: queries, and all that follows the attention, are
 * then one row per picture instead of all tokens. */
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

/* Of a block that reads first tokens only, queries lie apart, in [batch][D], and the array of the
 * others begins with this column of qkv: a panel's first, so at or somewhat before the keys'. */
static size_t first_column(const vit_block_call *c) {
    return first_only(c) ? c->config->dim / VIT_PANEL * VIT_PANEL : 0;
}

/* Where queries, keys and values, or their gradients, lie. */
typedef struct projected {
    float *q, *k, *v;
} projected;

static projected projected_of(const vit_block_call *c, float *qkv, float *first_q) {
    const size_t d = c->config->dim, first = first_column(c);
    return (projected){first_only(c) ? first_q : qkv, qkv + d - first, qkv + 2 * d - first};
}

static vit_attention_shape attention_shape(const vit_block_call *call) {
    const vit_config *c = call->config;
    const size_t head_dim = c->dim / c->heads, row = 3 * c->dim - first_column(call);
    const size_t scaled_by = c->attention_scale == VIT_SCALE_DIM ? c->dim : head_dim;
    return (vit_attention_shape){.batch = call->batch,
                                 .heads = c->heads,
                                 .head_dim = head_dim,
                                 .queries = call->outputs,
                                 .keys = vit_config_tokens(c),
                                 .q_row = first_only(call) ? c->dim : row,
                                 .k_row = row,
                                 .v_row = row,
                                 .o_row = c->dim,
                                 .scale = (float)(1 / sqrt((double)scaled_by))};
}

static void project(const vit_block_call *c, vit_block_state *s, const float *x) {
    const size_t d = c->config->dim, first = first_column(c);
    const vit_linear *qkv = &c->weights->qkv;
    const vit_linear rest = vit_linear_part(qkv, first, 3 * d - first);
    vit_linear_forward(c->exec, s->qkv, x, &rest, NULL, rows_in(c));
    if (!first_only(c)) return;
    const vit_linear q = vit_linear_part(qkv, 0, d);
    gather_first(c, s->first_x, x);
    vit_linear_forward(c->exec, s->first_q, s->first_x, &q, NULL, c->batch);
}

/* dx: [R][D], given the gradients of q, k and v. Where queries lie apart, the chain of a first
 * token runs over its query and goes on over keys and values; other tokens have no query. */
static void project_backward(const vit_block_call *c, float *dx, const vit_linear_gradient *g,
                             const projected *dy, const float *x, const float *first_x) {
    const size_t d = c->config->dim, row = 3 * d - first_column(c), rows = rows_in(c);
    const vit_linear *qkv = &c->weights->qkv;
    if (!first_only(c)) {
        vit_linear_backward(c->exec, dx, g, dy->q, x, qkv, rows);
        return;
    }
    const vit_linear q = vit_linear_part(qkv, 0, d), kv = vit_linear_part(qkv, d, 2 * d);
    const vit_linear_gradient g_kv = vit_linear_gradient_part(g, qkv, d);
    vit_linear_backward(c->exec, dx, g, dy->q, first_x, &q, c->batch);
    spread_first(c, dx);
    vit_linear_weight_gradient(c->exec, &g_kv, dy->k, row, x, &kv, rows);
    vit_linear_input_gradient(c->exec, dx, true, dy->k, row, &kv, rows);
}

/* ---- the two residual branches ---- */

/* y = keep * (x W^T + b) + residual; keep: a factor per picture, NULL: 1. */
static void residual_linear(const vit_block_call *c, float *y, const float *x, const vit_linear *w,
                            const float *residual, const float *keep) {
    const size_t rows = rows_out(c), picture = c->outputs * w->out;
    if (!keep) {
        vit_linear_forward(c->exec, y, x, w, residual, rows);
        return;
    }
    vit_linear_forward(c->exec, y, x, w, NULL, rows);
    for (size_t i = 0; i < c->batch; i++)
        c->exec->kernels->scale(y + i * picture, y + i * picture, keep[i], picture);
    c->exec->kernels->add(y, residual, rows * w->out);
}

/* out = MSA(x) + z */
static void attention_forward(const vit_block_call *c, vit_block_state *s, float *out,
                              const float *x) {
    const projected p = projected_of(c, s->qkv, s->first_q);
    const vit_attention_shape shape = attention_shape(c);
    project(c, s, x);
    vit_attention_forward(c->exec, s->o, s->p, p.q, p.k, p.v, &shape, c->scratch);
    if (first_only(c)) gather_first(c, s->first_z, s->z);
    residual_linear(c, out, s->o, &c->weights->proj, first_only(c) ? s->first_z : s->z, c->keep);
}

/* out = MLP(x) + residual */
static void mlp_forward(const vit_block_call *c, vit_block_state *s, float *out, const float *x,
                        const float *residual) {
    const size_t rows = rows_out(c);
    vit_linear_forward(c->exec, s->hidden, x, &c->weights->fc1, NULL, rows);
    vit_activation_forward(c->exec, c->config->activation, s->active, s->hidden,
                           rows * c->config->mlp);
    residual_linear(c, out, s->active, &c->weights->fc2, residual,
                    c->keep ? c->keep + c->batch : NULL);
}

/* The gradient of a branch's output, given that of the sum it is added to: itself, or in `room`
 * times each picture's factor. */
static const float *branch_gradient(const vit_block_call *c, float *room, const float *d_sum,
                                    const float *keep) {
    const size_t picture = c->outputs * c->config->dim;
    if (!keep) return d_sum;
    for (size_t i = 0; i < c->batch; i++)
        c->exec->kernels->scale(room + i * picture, d_sum + i * picture, keep[i], picture);
    return room;
}

/* s->d_narrow = gradient of the branch's input x, [R][D], given that of its output; dy is d_z or
 * d_branch, and may then be overwritten in d_branch. */
static void attention_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                               const vit_block_gradients *g, const float *x, const float *dy) {
    const vit_attention_shape shape = attention_shape(c);
    const projected p = projected_of(c, b->qkv, b->first_q);
    const projected d = projected_of(c, s->d_wide, s->d_branch);
    vit_linear_backward(c->exec, s->d_narrow, &g->proj, dy, b->o, &c->weights->proj, rows_out(c));
    vit_attention_backward(c->exec, d.q, d.k, d.v, s->d_narrow, b->p, p.q, p.k, p.v, &shape,
                           c->scratch);
    project_backward(c, s->d_narrow, &g->qkv, &d, x, b->first_x);
}

/* s->d_narrow = gradient of the MLP's input x, given that of its output. */
static void mlp_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                         const vit_block_gradients *g, const float *x, const float *dy) {
    const size_t rows = rows_out(c);
    float *d_hidden = s->d_wide;
    vit_linear_backward(c->exec, d_hidden, &g->fc2, dy, b->active, &c->weights->fc2, rows);
    vit_activation_backward(c->exec, c->config->activation, d_hidden, d_hidden, b->hidden,
                            rows * c->config->mlp);
    vit_linear_backward(c->exec, s->d_narrow, &g->fc1, d_hidden, x, &c->weights->fc1, rows);
}

/* ---- norms around them ---- */

void vit_block_forward(const vit_block_call *c, float *z_next, vit_block_state *s) {
    const size_t rows = rows_out(c);
    const vit_block_weights *w = c->weights;
    if (c->config->norm == VIT_NORM_PRE) {
        /* z' = MSA(LN(z)) + z; z_next = MLP(LN(z')) + z' */
        vit_layernorm_forward(c->exec, s->norm1, &s->stats1, s->z, &w->norm1, rows_in(c));
        attention_forward(c, s, s->mid, s->norm1);
        vit_layernorm_forward(c->exec, s->norm2, &s->stats2, s->mid, &w->norm2, rows);
        mlp_forward(c, s, z_next, s->norm2, s->mid);
    } else {
        /* h = LN(z + MSA(z)); z_next = LN(h + MLP(h)) */
        attention_forward(c, s, s->mid, s->z);
        vit_layernorm_forward(c->exec, s->norm1, &s->stats1, s->mid, &w->norm1, rows);
        mlp_forward(c, s, s->sum, s->norm1, s->norm1);
        vit_layernorm_forward(c->exec, z_next, &s->stats2, s->sum, &w->norm2, rows);
    }
}

static void pre_norm_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                              const vit_block_gradients *g) {
    const float *keep = c->keep, *keep_mlp = keep ? keep + c->batch : NULL;
    /* d_z is the gradient of both paths; the norm adds the branch's to it. */
    mlp_backward(c, s, b, g, b->norm2, branch_gradient(c, s->d_branch, s->d_z, keep_mlp));
    vit_layernorm_backward(c->exec, s->d_z, &g->norm2, s->d_narrow, b->mid, &b->stats2,
                           &c->weights->norm2, rows_out(c));
    attention_backward(c, s, b, g, b->norm1, branch_gradient(c, s->d_branch, s->d_z, keep));
    if (first_only(c)) spread_first(c, s->d_z);
    vit_layernorm_backward(c->exec, s->d_z, &g->norm1, s->d_narrow, b->z, &b->stats1,
                           &c->weights->norm1, rows_in(c));
}

static void post_norm_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                               const vit_block_gradients *g) {
    const size_t rows = rows_out(c), count = rows * c->config->dim;
    const float *keep = c->keep, *keep_mlp = keep ? keep + c->batch : NULL;
    float *d_h = s->d_branch;
    /* z_next = LN(h + MLP(h)) */
    memset(d_h, 0, count * sizeof *d_h);
    vit_layernorm_backward(c->exec, d_h, &g->norm2, s->d_z, b->sum, &b->stats2, &c->weights->norm2,
                           rows);
    mlp_backward(c, s, b, g, b->norm1, branch_gradient(c, s->d_z, d_h, keep_mlp));
    c->exec->kernels->add(d_h, s->d_narrow, count);
    /* h = LN(z + MSA(z)) */
    memset(s->d_z, 0, count * sizeof *s->d_z);
    vit_layernorm_backward(c->exec, s->d_z, &g->norm1, d_h, b->mid, &b->stats1, &c->weights->norm1,
                           rows);
    attention_backward(c, s, b, g, b->z, branch_gradient(c, s->d_branch, s->d_z, keep));
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
