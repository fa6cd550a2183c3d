/* A block of the encoder, in the order of the formula. What few networks or calls have, norms of
 * queries and keys, layer scale, drop path, first tokens only: block_parts.h. */
#include "vit/model/block_parts.h"
#include <string.h>

/* ---- forward ---- */

/* out = MSA(x) + z */
static void attention_forward(const vit_block_call *c, vit_block_state *s, float *out,
                              const float *x) {
    const vit_block_weights *w = c->weights;
    const vit_attention_shape shape = vit_block_attention_shape(c);
    const vit_branch branch = vit_attention_branch(c, s, NULL);
    vit_qkv p = vit_qkv_of(c, s->qkv, s->first_q);
    const float *z = s->z;
    /* Q, K, V = x W^T + b */
    if (vit_first_only(c))
        z = vit_first_project(c, s, x);
    else
        vit_linear_forward(c->exec, s->qkv, x, &w->qkv, NULL, vit_rows_in(c));
    if (c->config->qk_norm) vit_qk_norm_forward(c, s);
    if (c->cache) p = vit_cache_add(c, &p);
    /* o = softmax(Q K^T / sqrt(d)) V of every head, the heads side by side */
    vit_attention_forward(c->exec, s->o, s->p, p.q, p.k, p.v, &shape, c->scratch);
    /* out = o W^O + b + z */
    vit_branch_forward(c, out, s->o, &w->proj, z, &branch);
}

/* out = MLP(x) + residual; NULL: not wanted */
static void mlp_forward(const vit_block_call *c, vit_block_state *s, float *out, const float *x,
                        const float *residual) {
    const size_t rows = vit_rows_out(c), mlp = c->config->mlp;
    const vit_activation f = c->config->activation;
    const vit_branch branch = vit_mlp_branch(c, s, NULL);
    vit_linear_forward(c->exec, s->hidden, x, &c->weights->fc1, NULL, rows);
    if (!out && !vit_keeps_unscaled(&branch)) return; /* the backward pass makes `active` itself */
    if (c->config->gated)
        vit_gate_forward(c->exec, f, s->active, s->hidden, rows, mlp);
    else
        vit_activation_forward(c->exec, f, s->active, s->hidden, rows * mlp);
    vit_branch_forward(c, out, s->active, &c->weights->fc2, residual, &branch);
}

/* z' = MSA(LN(z)) + z; z'' = CA(LN(z'), m) + z'; z_next = MLP(LN(z'')) + z''; NULL: not wanted */
static void pre_norm_forward(const vit_block_call *c, float *z_next, vit_block_state *s) {
    const vit_block_weights *w = c->weights;
    float *z_prime = s->mid;
    vit_layernorm_forward(c->exec, s->norm, &s->stats1, s->z, &w->norm1, vit_rows_in(c));
    attention_forward(c, s, z_prime, s->norm);
    if (c->memory) {
        vit_layernorm_forward(c->exec, s->norm, &s->cross_stats, z_prime, &w->cross_norm, c->rows);
        vit_cross_forward(c, s, s->cross_mid, s->norm, z_prime);
        z_prime = s->cross_mid;
    }
    vit_layernorm_forward(c->exec, s->norm, &s->stats2, z_prime, &w->norm2, vit_rows_out(c));
    mlp_forward(c, s, z_next, s->norm, z_prime);
}

/* h = LN(z + MSA(z)); h' = LN(h + CA(h, m)); z_next = LN(h' + MLP(h')) */
static void post_norm_forward(const vit_block_call *c, float *z_next, vit_block_state *s) {
    const vit_block_weights *w = c->weights;
    const size_t rows = vit_rows_out(c);
    attention_forward(c, s, s->mid, s->z);
    vit_layernorm_forward(c->exec, s->norm, &s->stats1, s->mid, &w->norm1, rows);
    if (c->memory) {
        vit_cross_forward(c, s, s->cross_mid, s->norm, s->norm);
        vit_layernorm_forward(c->exec, s->norm, &s->cross_stats, s->cross_mid, &w->cross_norm,
                              rows);
    }
    mlp_forward(c, s, s->sum, s->norm, s->norm);
    vit_layernorm_forward(c->exec, z_next, &s->stats2, s->sum, &w->norm2, rows);
}

void vit_block_forward(const vit_block_call *c, float *z_next, vit_block_state *s) {
    if (c->config->norm == VIT_NORM_PRE)
        pre_norm_forward(c, z_next, s);
    else
        post_norm_forward(c, z_next, s);
}

void vit_block_recompute(const vit_block_call *c, float *z_next, vit_block_state *s) {
    if (c->config->norm == VIT_NORM_PRE)
        pre_norm_forward(c, NULL, s);
    else
        post_norm_forward(c, z_next, s);
}

/* ---- backward ---- */

/* s->d_narrow = gradient of the branch's input x, [R][D], given that of its sum, d_sum, which is
 * not changed; scratch: [R][D], may be needed. d_branch is overwritten. */
static void attention_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                               const vit_block_gradients *g, const float *x, const float *d_sum,
                               float *scratch) {
    const vit_attention_shape shape = vit_block_attention_shape(c);
    const vit_qkv p = vit_qkv_of(c, b->qkv, b->first_q);
    const vit_qkv d = vit_qkv_of(c, s->d_wide, s->d_branch);
    const vit_branch scale = vit_attention_branch(c, b, g);
    const float *dy = vit_branch_backward(c, scratch, d_sum, &scale);
    vit_linear_backward(c->exec, s->d_narrow, &g->proj, dy, b->o, &c->weights->proj,
                        vit_rows_out(c));
    vit_attention_backward(c->exec, d.q, d.k, d.v, s->d_narrow, b->p, p.q, p.k, p.v, &shape,
                           c->scratch, c->d_p);
    if (c->config->qk_norm) vit_qk_norm_backward(c, s, b, g, s->d_wide);
    if (vit_first_only(c))
        vit_first_project_backward(c, s->d_narrow, &g->qkv, &d, x, b->first_x);
    else
        vit_linear_backward(c->exec, s->d_narrow, &g->qkv, d.q, x, &c->weights->qkv,
                            vit_rows_in(c));
}

static void mlp_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                         const vit_block_gradients *g, const float *x, const float *d_sum,
                         float *scratch) {
    const size_t rows = vit_rows_out(c), mlp = c->config->mlp;
    const vit_activation f = c->config->activation;
    const vit_linear *fc2 = &c->weights->fc2;
    const vit_branch scale = vit_mlp_branch(c, b, g);
    const float *dy = vit_branch_backward(c, scratch, d_sum, &scale);
    float *d_hidden = s->d_wide, *d_active = c->config->gated ? s->d_gated : d_hidden;
    vit_linear_input_gradient(c->exec, d_active, false, dy, fc2->out, fc2, rows);
    if (c->config->gated)
        vit_gate_backward(c->exec, f, d_hidden, b->active, d_active, b->hidden, rows, mlp);
    else
        vit_activation_backward(c->exec, f, d_hidden, b->active, d_active, b->hidden, rows * mlp);
    vit_linear_weight_gradient(c->exec, &g->fc2, dy, fc2->out, b->active, fc2, rows);
    vit_linear_backward(c->exec, s->d_narrow, &g->fc1, d_hidden, x, &c->weights->fc1, rows);
}

/* Of the first norm's output. */
static void keep_gradient(const vit_block_call *c, const float *d_norm1) {
    if (c->d_norm1) memcpy(c->d_norm1, d_norm1, vit_rows_out(c) * c->config->dim * sizeof *d_norm1);
}

static void pre_norm_backward(const vit_block_call *c, vit_state *s, const vit_block_state *b,
                              const vit_block_gradients *g) {
    const vit_block_weights *w = c->weights;
    const size_t rows = vit_rows_out(c);
    const float *z_prime = c->memory ? b->cross_mid : b->mid;
    vit_layernorm_recompute(c->exec, b->norm, &b->stats2, z_prime, &w->norm2, rows);
    /* d_z is the gradient of both paths; the norm adds the branch's to it. */
    mlp_backward(c, s, b, g, b->norm, s->d_z, s->d_branch);
    vit_layernorm_backward(c->exec, s->d_z, &g->norm2, s->d_narrow, z_prime, &b->stats2, &w->norm2,
                           rows);
    if (c->memory) {
        vit_layernorm_recompute(c->exec, b->norm, &b->cross_stats, b->mid, &w->cross_norm, rows);
        vit_cross_backward(c, s, b, g, b->norm, s->d_z);
        vit_layernorm_backward(c->exec, s->d_z, &g->cross_norm, s->d_narrow, b->mid,
                               &b->cross_stats, &w->cross_norm, rows);
    }
    vit_layernorm_recompute(c->exec, b->norm, &b->stats1, b->z, &w->norm1, vit_rows_in(c));
    attention_backward(c, s, b, g, b->norm, s->d_z, s->d_branch);
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
    if (c->memory) {
        /* h' = LN(h + CA(h, m)) */
        memset(s->d_z, 0, count * sizeof *s->d_z);
        vit_layernorm_backward(c->exec, s->d_z, &g->cross_norm, d_h, b->cross_mid, &b->cross_stats,
                               &w->cross_norm, rows);
        vit_layernorm_recompute(c->exec, b->norm, &b->stats1, b->mid, &w->norm1, rows);
        vit_cross_backward(c, s, b, g, b->norm, s->d_z);
        memcpy(d_h, s->d_z, count * sizeof *d_h);
        c->exec->kernels->add(d_h, s->d_narrow, count);
    }
    keep_gradient(c, d_h);
    /* h = LN(z + MSA(z)) */
    memset(s->d_z, 0, count * sizeof *s->d_z);
    vit_layernorm_backward(c->exec, s->d_z, &g->norm1, d_h, b->mid, &b->stats1, &w->norm1, rows);
    attention_backward(c, s, b, g, b->z, s->d_z, s->d_branch);
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
