#include "vit/model/network.h"
#include <math.h>
#include <string.h>

static vit_attention_shape attention_shape(const vit_config *c, size_t batch) {
    const size_t head_dim = vit_config_head_dim(c), tokens = vit_config_tokens(c);
    const size_t attention = vit_config_attention(c);
    const size_t scaled_by = c->attention_scale == VIT_SCALE_DIM ? c->dim : head_dim;
    return (vit_attention_shape){.batch = batch,
                                 .heads = c->heads,
                                 .head_dim = head_dim,
                                 .queries = tokens,
                                 .keys = tokens,
                                 .q_row = 3 * attention,
                                 .k_row = 3 * attention,
                                 .v_row = 3 * attention,
                                 .o_row = attention,
                                 .scale = (float)(1 / sqrt((double)scaled_by))};
}

static size_t rows_of(const vit_block_call *c) {
    return c->batch * vit_config_tokens(c->config);
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

/* y = keep * gamma * (x W^T + b) + residual */
static void residual_linear(const vit_block_call *c, float *y, const float *x, const vit_linear *w,
                            const float *residual, const branch_scale *scale) {
    const vit_kernels *k = c->exec->kernels;
    const size_t rows = rows_of(c), picture = rows / c->batch * w->out;
    float *product = scale->gamma && scale->unscaled ? scale->unscaled : y;
    if (!scale->keep && !scale->gamma) {
        vit_linear_forward(c->exec, y, x, w, residual, rows);
        return;
    }
    vit_linear_forward(c->exec, product, x, w, NULL, rows);
    for (size_t i = 0; i < rows && scale->gamma; i++)
        k->multiply(y + i * w->out, product + i * w->out, scale->gamma, w->out);
    for (size_t i = 0; i < c->batch && scale->keep; i++)
        k->scale(y + i * picture, y + i * picture, scale->keep[i], picture);
    k->add(y, residual, rows * w->out);
}

/* Queries (part 0) and keys (part 1) of qkv: the heads of a row. */
static vit_parts_shape heads_shape(const vit_block_call *c) {
    const size_t row = 3 * vit_config_attention(c->config);
    return (vit_parts_shape){rows_of(c), c->config->heads, row, row};
}

/* s->qkv = x W^T + b, queries and keys normalised with qk norm. */
static void qkv_forward(const vit_block_call *c, vit_block_state *s, const float *x) {
    const vit_norm *const norms[2] = {&c->weights->q_norm, &c->weights->k_norm};
    const size_t attention = vit_config_attention(c->config), rows = rows_of(c);
    const vit_parts_shape shape = heads_shape(c);
    vit_linear_forward(c->exec, s->qkv, x, &c->weights->qkv, NULL, rows);
    if (!c->config->qk_norm) return;
    if (s->raw_qkv) memcpy(s->raw_qkv, s->qkv, rows * 3 * attention * sizeof(float));
    for (size_t i = 0; i < 2; i++)
        vit_layernorm_parts_forward(c->exec, s->qkv + i * attention, &s->qk_stats[i],
                                    s->qkv + i * attention, norms[i], &shape);
}

/* out = MSA(x) + z */
static void attention_forward(const vit_block_call *c, vit_block_state *s, float *out,
                              const float *x) {
    const size_t a = vit_config_attention(c->config);
    const vit_attention_shape shape = attention_shape(c->config, c->batch);
    const branch_scale scale = attention_scale(c, s, NULL);
    qkv_forward(c, s, x);
    vit_attention_forward(c->exec, s->o, s->p, s->qkv, s->qkv + a, s->qkv + 2 * a, &shape,
                          c->scratch);
    residual_linear(c, out, s->o, &c->weights->proj, s->z, &scale);
}

/* out = MLP(x) + residual */
static void mlp_forward(const vit_block_call *c, vit_block_state *s, float *out, const float *x,
                        const float *residual) {
    const size_t rows = rows_of(c), mlp = c->config->mlp;
    const vit_activation f = c->config->activation;
    const branch_scale scale = mlp_scale(c, s, NULL);
    vit_linear_forward(c->exec, s->hidden, x, &c->weights->fc1, NULL, rows);
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
    const size_t d = c->config->dim, rows = rows_of(c), picture = rows / c->batch * d;
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

/* s->d_narrow = gradient of the branch's input x, given that of its sum, d_sum, which is not
 * changed; room: [R][D], may be needed. */
static void attention_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                               const vit_block_gradients *g, const float *x, const float *d_sum,
                               float *room) {
    const size_t rows = rows_of(c), a = vit_config_attention(c->config);
    const vit_attention_shape shape = attention_shape(c->config, c->batch);
    const branch_scale scale = attention_scale(c, b, g);
    const float *dy = branch_gradient(c, room, d_sum, &scale);
    float *d_qkv = s->d_wide;
    vit_linear_backward(c->exec, s->d_narrow, &g->proj, dy, b->o, &c->weights->proj, rows);
    vit_attention_backward(c->exec, d_qkv, d_qkv + a, d_qkv + 2 * a, s->d_narrow, b->p, b->qkv,
                           b->qkv + a, b->qkv + 2 * a, &shape, c->scratch);
    if (c->config->qk_norm) qk_norm_backward(c, s, b, g, d_qkv);
    vit_linear_backward(c->exec, s->d_narrow, &g->qkv, d_qkv, x, &c->weights->qkv, rows);
}

static void mlp_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                         const vit_block_gradients *g, const float *x, const float *d_sum,
                         float *room) {
    const size_t rows = rows_of(c), mlp = c->config->mlp;
    const vit_activation f = c->config->activation;
    const branch_scale scale = mlp_scale(c, b, g);
    const float *dy = branch_gradient(c, room, d_sum, &scale);
    float *d_hidden = s->d_wide, *d_active = c->config->gated ? s->d_gated : d_hidden;
    vit_linear_backward(c->exec, d_active, &g->fc2, dy, b->active, &c->weights->fc2, rows);
    if (c->config->gated)
        vit_gate_backward(c->exec, f, d_hidden, d_active, b->hidden, rows, mlp);
    else
        vit_activation_backward(c->exec, f, d_hidden, d_hidden, b->hidden, rows * mlp);
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
    /* d_z is the gradient of both paths; the norm adds the branch's to it. */
    mlp_backward(c, s, b, g, b->norm2, s->d_z, s->d_branch);
    vit_layernorm_backward(c->exec, s->d_z, &g->norm2, s->d_narrow, b->mid, &b->stats2,
                           &c->weights->norm2, rows);
    attention_backward(c, s, b, g, b->norm1, s->d_z, s->d_branch);
    vit_layernorm_backward(c->exec, s->d_z, &g->norm1, s->d_narrow, b->z, &b->stats1,
                           &c->weights->norm1, rows);
}

static void post_norm_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                               const vit_block_gradients *g) {
    const size_t rows = rows_of(c), count = rows * c->config->dim;
    float *d_h = s->d_branch;
    /* z_next = LN(h + MLP(h)) */
    memset(d_h, 0, count * sizeof *d_h);
    vit_layernorm_backward(c->exec, d_h, &g->norm2, s->d_z, b->sum, &b->stats2, &c->weights->norm2,
                           rows);
    mlp_backward(c, s, b, g, b->norm1, d_h, s->d_z);
    c->exec->kernels->add(d_h, s->d_narrow, count);
    /* h = LN(z + MSA(z)) */
    memset(s->d_z, 0, count * sizeof *s->d_z);
    vit_layernorm_backward(c->exec, s->d_z, &g->norm1, d_h, b->mid, &b->stats1, &c->weights->norm1,
                           rows);
    attention_backward(c, s, b, g, b->z, s->d_z, s->d_branch);
    c->exec->kernels->add(s->d_z, s->d_narrow, count);
}

void vit_block_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                        const vit_block_gradients *g) {
    if (c->config->norm == VIT_NORM_PRE)
        pre_norm_backward(c, s, b, g);
    else
        post_norm_backward(c, s, b, g);
}
