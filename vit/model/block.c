/* One block, forward and backward, each in the order of its formula. What only few networks or
 * calls have (norms of queries and keys, layer scale, drop path, first tokens only,
 * cross-attention) stands in files of its own, see block_parts.h.
 *
 * R rows: the tokens of all samples; D = dim; d = D / heads; M = width of the MLP. d_x stands for
 * the gradient of the loss with respect to x. */
#include "vit/model/block_parts.h"
#include <string.h>

/* ---- forward ---- */

/* s->active = f(s->hidden), f being the activation; gated: f(first half) * second half. */
static void activate(const vit_block_call *c, vit_block_state *s) {
    const size_t rows = vit_rows_out(c), mlp = c->config->mlp;
    if (c->config->gated)
        vit_gate_forward(c->exec, c->config->activation, s->active, s->hidden, rows, mlp);
    else
        vit_activation_forward(c->exec, c->config->activation, s->active, s->hidden, rows * mlp);
}

/* z' = MSA(LN(z)) + z; z_next = MLP(LN(z')) + z' (Dosovitskiy et al., eq. 2 and 3). z_next NULL:
 * only what the backward pass needs is computed, which makes s->active itself. */
static void pre_norm_forward(const vit_block_call *c, float *z_next, vit_block_state *s) {
    const vit_block_weights *w = c->weights;
    const vit_attention_shape shape = vit_block_attention_shape(c);
    const vit_branch msa = vit_attention_branch(c, s, NULL), mlp = vit_mlp_branch(c, s, NULL);
    const size_t rows = vit_rows_out(c);
    float *x = s->norm, *z_prime = s->mid;
    /* x = LN(z) */
    vit_layernorm_forward(c->exec, x, &s->stats1, s->z, &w->norm1, vit_rows_in(c));
    /* Q = x W^Q, K = x W^K, V = x W^V, of every head */
    const vit_qkv p = vit_qkv_forward(c, s, x);
    /* o = softmax(Q K^T / sqrt(d)) V, the heads side by side */
    vit_attention_forward(c->exec, s->o, s->p, p.q, p.k, p.v, &shape, c->scratch);
    /* z' = o W^O + z */
    vit_branch_forward(c, z_prime, s->o, &w->proj, vit_attention_residual(c, s), &msa);
    if (c->memory) z_prime = vit_cross_pre_norm_forward(c, s, z_prime);
    /* x = LN(z') */
    vit_layernorm_forward(c->exec, x, &s->stats2, z_prime, &w->norm2, rows);
    /* z_next = MLP(x) + z', MLP: Linear, GELU, Linear */
    vit_linear_forward(c->exec, s->hidden, x, &w->fc1, NULL, rows);
    if (!z_next && !vit_keeps_unscaled(&mlp)) return;
    activate(c, s);
    vit_branch_forward(c, z_next, s->active, &w->fc2, z_prime, &mlp);
}

/* h = LN(z + MSA(z)); z_next = LN(h + MLP(h)) (Vaswani et al., section 3.1): the same steps, the
 * norms after the sums. */
static void post_norm_forward(const vit_block_call *c, float *z_next, vit_block_state *s) {
    const vit_block_weights *w = c->weights;
    const vit_attention_shape shape = vit_block_attention_shape(c);
    const vit_branch msa = vit_attention_branch(c, s, NULL), mlp = vit_mlp_branch(c, s, NULL);
    const size_t rows = vit_rows_out(c);
    float *h = s->norm;
    /* h = LN(z + MSA(z)) */
    const vit_qkv p = vit_qkv_forward(c, s, s->z);
    vit_attention_forward(c->exec, s->o, s->p, p.q, p.k, p.v, &shape, c->scratch);
    vit_branch_forward(c, s->mid, s->o, &w->proj, vit_attention_residual(c, s), &msa);
    vit_layernorm_forward(c->exec, h, &s->stats1, s->mid, &w->norm1, rows);
    if (c->memory) vit_cross_post_norm_forward(c, s, h);
    /* z_next = LN(h + FFN(h)), FFN: Linear, ReLU or GELU, Linear */
    vit_linear_forward(c->exec, s->hidden, h, &w->fc1, NULL, rows);
    activate(c, s);
    vit_branch_forward(c, s->sum, s->active, &w->fc2, h, &mlp);
    vit_layernorm_forward(c->exec, z_next, &s->stats2, s->sum, &w->norm2, rows);
}

void vit_block_forward(const vit_block_call *c, float *z_next, vit_block_state *s) {
    if (c->config->norm == VIT_NORM_PRE)
        pre_norm_forward(c, z_next, s);
    else
        post_norm_forward(c, z_next, s);
}

void vit_block_recompute(const vit_block_call *c, float *z_next, vit_block_state *s) {
    vit_block_forward(c, c->config->norm == VIT_NORM_PRE ? NULL : z_next, s);
}

/* ---- backward ---- */

/* s->d_narrow = d_x, [R][D], of MSA's input x, given d_sum, the gradient of the sum that MSA's
 * output is part of, which is not changed. Overwrites s->d_wide and s->d_branch. */
static void attention_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                               const vit_block_gradients *g, const float *x, const float *d_sum) {
    const vit_attention_shape shape = vit_block_attention_shape(c);
    const vit_qkv p = vit_qkv_of(c, b->qkv, b->first_q);
    const vit_qkv d = vit_qkv_of(c, s->d_wide, s->d_branch);
    const vit_branch msa = vit_attention_branch(c, b, g);
    float *d_o = s->d_narrow;
    /* through W^O */
    const float *dy = vit_branch_backward(c, s->d_branch, d_sum, &msa);
    vit_linear_backward(c->exec, d_o, &g->proj, dy, b->o, &c->weights->proj, vit_rows_out(c));
    /* through softmax(Q K^T / sqrt(d)) V */
    vit_attention_backward(c->exec, d.q, d.k, d.v, d_o, b->p, p.q, p.k, p.v, &shape, c->scratch,
                           c->d_p);
    /* through W^Q, W^K, W^V */
    vit_qkv_backward(c, s, b, g, &d, x);
}

/* The same of the MLP: s->d_narrow = d_x. Overwrites s->d_wide and `scratch`, [R][D]. */
static void mlp_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                         const vit_block_gradients *g, const float *x, const float *d_sum,
                         float *scratch) {
    const size_t rows = vit_rows_out(c), mlp = c->config->mlp;
    const vit_activation f = c->config->activation;
    const vit_linear *fc2 = &c->weights->fc2;
    const vit_branch branch = vit_mlp_branch(c, b, g);
    const float *dy = vit_branch_backward(c, scratch, d_sum, &branch);
    float *d_hidden = s->d_wide, *d_active = c->config->gated ? s->d_gated : d_hidden;
    vit_linear_input_gradient(c->exec, d_active, false, dy, fc2->out, fc2, rows);
    if (c->config->gated)
        vit_gate_backward(c->exec, f, d_hidden, b->active, d_active, b->hidden, rows, mlp);
    else
        vit_activation_backward(c->exec, f, d_hidden, b->active, d_active, b->hidden, rows * mlp);
    /* Only now: the line above has made b->active again. */
    vit_linear_weight_gradient(c->exec, &g->fc2, dy, fc2->out, b->active, fc2, rows);
    vit_linear_backward(c->exec, s->d_narrow, &g->fc1, d_hidden, x, &c->weights->fc1, rows);
}

/* Hands the gradient of the first norm's output to the caller, where maps want it. */
static void keep_gradient(const vit_block_call *c, const float *d_norm1) {
    if (c->d_norm1) memcpy(c->d_norm1, d_norm1, vit_rows_out(c) * c->config->dim * sizeof *d_norm1);
}

static void pre_norm_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                              const vit_block_gradients *g) {
    const vit_block_weights *w = c->weights;
    const size_t rows = vit_rows_out(c);
    const float *z_prime = c->memory ? b->cross_mid : b->mid;
    vit_layernorm_recompute(c->exec, b->norm, &b->stats2, z_prime, &w->norm2, rows);
    /* s->d_z is the gradient of the residual path; each norm adds its branch's to it. */
    mlp_backward(c, s, b, g, b->norm, s->d_z, s->d_branch);
    vit_layernorm_backward(c->exec, s->d_z, &g->norm2, s->d_narrow, z_prime, &b->stats2, &w->norm2,
                           rows);
    if (c->memory) vit_cross_pre_norm_backward(c, s, b, g);
    vit_layernorm_recompute(c->exec, b->norm, &b->stats1, b->z, &w->norm1, vit_rows_in(c));
    attention_backward(c, s, b, g, b->norm, s->d_z);
    keep_gradient(c, s->d_narrow);
    if (vit_first_only(c)) vit_spread_first(c, s->d_z);
    vit_layernorm_backward(c->exec, s->d_z, &g->norm1, s->d_narrow, b->z, &b->stats1, &w->norm1,
                           vit_rows_in(c));
}

static void post_norm_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                               const vit_block_gradients *g) {
    const size_t rows = vit_rows_out(c), count = rows * c->config->dim;
    const vit_block_weights *w = c->weights;
    float *d_h = s->d_branch;
    /* z_next = LN(h + MLP(h)) */
    memset(d_h, 0, count * sizeof *d_h);
    vit_layernorm_backward(c->exec, d_h, &g->norm2, s->d_z, b->sum, &b->stats2, &w->norm2, rows);
    if (c->memory)
        vit_layernorm_recompute(c->exec, b->norm, &b->cross_stats, b->cross_mid, &w->cross_norm,
                                rows);
    else
        vit_layernorm_recompute(c->exec, b->norm, &b->stats1, b->mid, &w->norm1, rows);
    mlp_backward(c, s, b, g, b->norm, d_h, s->d_z);
    c->exec->kernels->add(d_h, s->d_narrow, count);
    if (c->memory) vit_cross_post_norm_backward(c, s, b, g, d_h);
    keep_gradient(c, d_h);
    /* h = LN(z + MSA(z)) */
    memset(s->d_z, 0, count * sizeof *s->d_z);
    vit_layernorm_backward(c->exec, s->d_z, &g->norm1, d_h, b->mid, &b->stats1, &w->norm1, rows);
    attention_backward(c, s, b, g, b->z, s->d_z);
    if (vit_first_only(c)) vit_spread_first(c, s->d_z);
    c->exec->kernels->add(s->d_z, s->d_narrow, vit_rows_in(c) * c->config->dim);
}

void vit_block_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                        const vit_block_gradients *g) {
    if (c->config->norm == VIT_NORM_PRE)
        pre_norm_backward(c, s, b, g);
    else
        post_norm_backward(c, s, b, g);
}
