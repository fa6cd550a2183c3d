/* What few blocks have: norms of queries and keys, layer scale, drop path. And Q, K, V, whose
 * making depends on what a block has. See block_parts.h. */
#include "vit/model/block_parts.h"
#include <string.h>

/* ---- qk norm ---- */

/* The queries, or the keys, of one row of qkv: [heads][d], each head normed by itself. A block with
 * qk norm computes every token, see vit_block_outputs. */
static vit_parts_shape heads_shape(const vit_block_call *c) {
    const size_t row = 3 * vit_config_attention_dim(c->config);
    return (vit_parts_shape){vit_rows_in(c), c->config->heads, row, row};
}

/* Norms queries and keys of s->qkv in place, and keeps what was there for the backward pass. */
static void qk_norm_forward(const vit_block_call *c, vit_block_state *s) {
    const vit_norm *const norms[2] = {&c->weights->q_norm, &c->weights->k_norm};
    const size_t attention = vit_config_attention_dim(c->config);
    const vit_parts_shape shape = heads_shape(c);
    if (s->raw_qkv) memcpy(s->raw_qkv, s->qkv, vit_rows_in(c) * 3 * attention * sizeof(float));
    for (size_t i = 0; i < 2; i++)
        vit_layernorm_parts_forward(c->exec, s->qkv + i * attention, &s->qk_stats[i],
                                    s->qkv + i * attention, norms[i], &shape);
}

/* s->d_wide: the gradients of queries and keys after their norms -> before them. */
static void qk_norm_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                             const vit_block_gradients *g) {
    const vit_norm *const norms[2] = {&c->weights->q_norm, &c->weights->k_norm};
    const vit_norm_gradient *const gradients[2] = {&g->q_norm, &g->k_norm};
    const size_t attention = vit_config_attention_dim(c->config);
    const vit_parts_shape shape = heads_shape(c);
    for (size_t i = 0; i < 2; i++)
        vit_layernorm_parts_backward(c->exec, s->d_wide + i * attention, gradients[i],
                                     b->raw_qkv + i * attention, &b->qk_stats[i], norms[i], &shape,
                                     s->d_heads);
}

/* ---- Q, K, V ---- */

vit_qkv vit_qkv_forward(const vit_block_call *c, vit_block_state *s, const float *x) {
    const vit_qkv p = vit_qkv_of(c, s->qkv, s->first_q);
    if (vit_first_only(c))
        vit_first_project(c, s, x);
    else
        vit_linear_forward(c->exec, s->qkv, x, &c->weights->qkv, NULL, vit_rows_in(c));
    if (c->config->qk_norm) qk_norm_forward(c, s);
    return c->cache ? vit_cache_add(c, &p) : p;
}

void vit_qkv_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                      const vit_block_gradients *g, const vit_qkv *d, const float *x) {
    if (c->config->qk_norm) qk_norm_backward(c, s, b, g);
    if (vit_first_only(c))
        vit_first_project_backward(c, s->d_narrow, &g->qkv, d, x, b->first_x);
    else
        vit_linear_backward(c->exec, s->d_narrow, &g->qkv, d->q, x, &c->weights->qkv,
                            vit_rows_in(c));
}

/* ---- layer scale and drop path ---- */

vit_branch vit_attention_branch(const vit_block_call *c, const vit_block_state *s,
                                const vit_block_gradients *g) {
    return (vit_branch){c->weights->ls1, g ? g->ls1 : NULL, c->keep, s->unscaled1};
}

vit_branch vit_mlp_branch(const vit_block_call *c, const vit_block_state *s,
                          const vit_block_gradients *g) {
    return (vit_branch){c->weights->ls2, g ? g->ls2 : NULL, c->keep ? c->keep + c->batch : NULL,
                        s->unscaled2};
}

bool vit_keeps_unscaled(const vit_branch *branch) {
    return branch->gamma && branch->unscaled;
}

void vit_branch_forward(const vit_block_call *c, float *y, const float *x, const vit_linear *w,
                        const float *residual, const vit_branch *branch) {
    const vit_kernels *k = c->exec->kernels;
    const size_t rows = vit_rows_out(c), tokens = rows / c->batch, picture = tokens * w->out;
    const vit_residual_sum sum = {branch->gamma, branch->keep, tokens, residual};
    const bool kept = vit_keeps_unscaled(branch);
    vit_linear_forward(c->exec, kept ? branch->unscaled : y, x, w, kept ? NULL : &sum, rows);
    if (!y || !kept) return;
    for (size_t i = 0; i < rows; i++)
        k->multiply(y + i * w->out, branch->unscaled + i * w->out, branch->gamma, w->out);
    for (size_t i = 0; i < c->batch && branch->keep; i++)
        k->scale(y + i * picture, y + i * picture, branch->keep[i], picture);
    k->add(y, residual, rows * w->out);
}

const float *vit_branch_backward(const vit_block_call *c, float *scratch, const float *d_sum,
                                 const vit_branch *branch) {
    const vit_kernels *k = c->exec->kernels;
    const size_t d = c->config->dim, rows = vit_rows_out(c), picture = rows / c->batch * d;
    if (!branch->keep && !branch->gamma) return d_sum;
    for (size_t i = 0; i < c->batch && branch->keep; i++)
        k->scale(scratch + i * picture, d_sum + i * picture, branch->keep[i], picture);
    const float *d_scaled = branch->keep ? scratch : d_sum;
    for (size_t i = 0; i < rows && branch->gamma; i++) {
        if (branch->d_gamma)
            k->multiply_add(branch->d_gamma, branch->unscaled + i * d, d_scaled + i * d, d);
        k->multiply(scratch + i * d, d_scaled + i * d, branch->gamma, d);
    }
    return scratch;
}
