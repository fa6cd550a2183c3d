#include "vit/model/network.h"
#include <math.h>
#include <string.h>

static vit_attention_shape attention_shape(const vit_config *c, size_t batch) {
    const size_t head_dim = c->dim / c->heads, tokens = vit_config_tokens(c);
    const size_t scaled_by = c->attention_scale == VIT_SCALE_DIM ? c->dim : head_dim;
    return (vit_attention_shape){.batch = batch,
                                 .heads = c->heads,
                                 .head_dim = head_dim,
                                 .queries = tokens,
                                 .keys = tokens,
                                 .q_row = 3 * c->dim,
                                 .k_row = 3 * c->dim,
                                 .v_row = 3 * c->dim,
                                 .o_row = c->dim,
                                 .scale = (float)(1 / sqrt((double)scaled_by))};
}

static size_t rows_of(const vit_block_call *c) {
    return c->batch * vit_config_tokens(c->config);
}

/* ---- the two residual branches ---- */

/* y = keep * (x W^T + b) + residual; keep: a factor per picture, NULL: 1. */
static void residual_linear(const vit_block_call *c, float *y, const float *x, const vit_linear *w,
                            const float *residual, const float *keep) {
    const size_t rows = rows_of(c), picture = rows / c->batch * w->out;
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
    const size_t d = c->config->dim;
    const vit_attention_shape shape = attention_shape(c->config, c->batch);
    vit_linear_forward(c->exec, s->qkv, x, &c->weights->qkv, NULL, rows_of(c));
    vit_attention_forward(c->exec, s->o, s->p, s->qkv, s->qkv + d, s->qkv + 2 * d, &shape,
                          c->scratch);
    residual_linear(c, out, s->o, &c->weights->proj, s->z, c->keep);
}

/* out = MLP(x) + residual */
static void mlp_forward(const vit_block_call *c, vit_block_state *s, float *out, const float *x,
                        const float *residual) {
    const size_t rows = rows_of(c);
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
    const size_t picture = vit_config_tokens(c->config) * c->config->dim;
    if (!keep) return d_sum;
    for (size_t i = 0; i < c->batch; i++)
        c->exec->kernels->scale(room + i * picture, d_sum + i * picture, keep[i], picture);
    return room;
}

/* s->d_narrow = gradient of the branch's input x, given that of its output; dy is another array. */
static void attention_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                               const vit_block_gradients *g, const float *x, const float *dy) {
    const size_t rows = rows_of(c), d = c->config->dim;
    const vit_attention_shape shape = attention_shape(c->config, c->batch);
    float *d_qkv = s->d_wide;
    vit_linear_backward(c->exec, s->d_narrow, &g->proj, dy, b->o, &c->weights->proj, rows);
    vit_attention_backward(c->exec, d_qkv, d_qkv + d, d_qkv + 2 * d, s->d_narrow, b->p, b->qkv,
                           b->qkv + d, b->qkv + 2 * d, &shape, c->scratch);
    vit_linear_backward(c->exec, s->d_narrow, &g->qkv, d_qkv, x, &c->weights->qkv, rows);
}

static void mlp_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                         const vit_block_gradients *g, const float *x, const float *dy) {
    const size_t rows = rows_of(c);
    float *d_hidden = s->d_wide;
    vit_linear_backward(c->exec, d_hidden, &g->fc2, dy, b->active, &c->weights->fc2, rows);
    vit_activation_backward(c->exec, c->config->activation, d_hidden, d_hidden, b->hidden,
                            rows * c->config->mlp);
    vit_linear_backward(c->exec, s->d_narrow, &g->fc1, d_hidden, x, &c->weights->fc1, rows);
}

/* ---- norms around them ---- */

void vit_block_forward(const vit_block_call *c, float *z_next, vit_block_state *s) {
    const size_t rows = rows_of(c);
    const vit_block_weights *w = c->weights;
    if (c->config->norm == VIT_NORM_PRE) {
        /* z' = MSA(LN(z)) + z; z_next = MLP(LN(z')) + z' */
        vit_layernorm_forward(c->exec, s->norm1, &s->stats1, s->z, &w->norm1, rows);
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
    const size_t rows = rows_of(c);
    const float *keep = c->keep, *keep_mlp = keep ? keep + c->batch : NULL;
    /* d_z is the gradient of both paths; the norm adds the branch's to it. */
    mlp_backward(c, s, b, g, b->norm2, branch_gradient(c, s->d_branch, s->d_z, keep_mlp));
    vit_layernorm_backward(c->exec, s->d_z, &g->norm2, s->d_narrow, b->mid, &b->stats2,
                           &c->weights->norm2, rows);
    attention_backward(c, s, b, g, b->norm1, branch_gradient(c, s->d_branch, s->d_z, keep));
    vit_layernorm_backward(c->exec, s->d_z, &g->norm1, s->d_narrow, b->z, &b->stats1,
                           &c->weights->norm1, rows);
}

static void post_norm_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                               const vit_block_gradients *g) {
    const size_t rows = rows_of(c), count = rows * c->config->dim;
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
    c->exec->kernels->add(s->d_z, s->d_narrow, count);
}

void vit_block_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                        const vit_block_gradients *g) {
    if (c->config->norm == VIT_NORM_PRE)
        pre_norm_backward(c, s, b, g);
    else
        post_norm_backward(c, s, b, g);
}
