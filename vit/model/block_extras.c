/* What few blocks have: norms of queries and keys, layer scale, drop path. See block_parts.h. */
#include "vit/model/block_parts.h"
#include <string.h>

/* ---- qk norm ---- */

/* With qk norm every token's output is wanted: queries (part 0) and keys (part 1) of qkv, the heads
 * of a row. */
static vit_parts_shape heads_shape(const vit_block_call *c) {
    const size_t row = 3 * vit_config_attention_dim(c->config);
    return (vit_parts_shape){vit_rows_in(c), c->config->heads, row, row};
}

void vit_qk_norm_forward(const vit_block_call *c, vit_block_state *s) {
    const vit_norm *const norms[2] = {&c->weights->q_norm, &c->weights->k_norm};
    const size_t attention = vit_config_attention_dim(c->config);
    const vit_parts_shape shape = heads_shape(c);
    if (s->raw_qkv) memcpy(s->raw_qkv, s->qkv, vit_rows_in(c) * 3 * attention * sizeof(float));
    for (size_t i = 0; i < 2; i++)
        vit_layernorm_parts_forward(c->exec, s->qkv + i * attention, &s->qk_stats[i],
                                    s->qkv + i * attention, norms[i], &shape);
}

void vit_qk_norm_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                          const vit_block_gradients *g, float *d_qkv) {
    const vit_norm *const norms[2] = {&c->weights->q_norm, &c->weights->k_norm};
    const vit_norm_gradient *const gradients[2] = {&g->q_norm, &g->k_norm};
    const size_t attention = vit_config_attention_dim(c->config);
    const vit_parts_shape shape = heads_shape(c);
    for (size_t i = 0; i < 2; i++)
        vit_layernorm_parts_backward(c->exec, d_qkv + i * attention, gradients[i],
                                     b->raw_qkv + i * attention, &b->qk_stats[i], norms[i], &shape,
                                     s->d_heads);
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

bool vit_keeps_unscaled(const vit_branch *scale) {
    return scale->gamma && scale->unscaled;
}

void vit_branch_forward(const vit_block_call *c, float *y, const float *x, const vit_linear *w,
                        const float *residual, const vit_branch *scale) {
    const vit_kernels *k = c->exec->kernels;
    const size_t rows = vit_rows_out(c), tokens = rows / c->batch, picture = tokens * w->out;
    const vit_residual_sum sum = {scale->gamma, scale->keep, tokens, residual};
    const bool kept = vit_keeps_unscaled(scale);
    vit_linear_forward(c->exec, kept ? scale->unscaled : y, x, w, kept ? NULL : &sum, rows);
    if (!y || !kept) return;
    for (size_t i = 0; i < rows; i++)
        k->multiply(y + i * w->out, scale->unscaled + i * w->out, scale->gamma, w->out);
    for (size_t i = 0; i < c->batch && scale->keep; i++)
        k->scale(y + i * picture, y + i * picture, scale->keep[i], picture);
    k->add(y, residual, rows * w->out);
}

const float *vit_branch_backward(const vit_block_call *c, float *scratch, const float *d_sum,
                                 const vit_branch *scale) {
    const vit_kernels *k = c->exec->kernels;
    const size_t d = c->config->dim, rows = vit_rows_out(c), picture = rows / c->batch * d;
    if (!scale->keep && !scale->gamma) return d_sum;
    for (size_t i = 0; i < c->batch && scale->keep; i++)
        k->scale(scratch + i * picture, d_sum + i * picture, scale->keep[i], picture);
    const float *d_scaled = scale->keep ? scratch : d_sum;
    for (size_t i = 0; i < rows && scale->gamma; i++) {
        if (scale->d_gamma)
            k->multiply_add(scale->d_gamma, scale->unscaled + i * d, d_scaled + i * d, d);
        k->multiply(scratch + i * d, d_scaled + i * d, scale->gamma, d);
    }
    return scratch;
}
