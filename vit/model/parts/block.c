/* One block, forward and backward, each in the order of its formula. What differs between networks
 * and calls stands in the parts' files, see block.h.
 *
 * R rows: the tokens of all samples; D = dim; d = D / heads; M = width of the MLP. d_x stands for
 * the gradient of the loss with respect to x. */
#include "vit/model/parts/block.h"
#include "vit/base/size.h"
#include <string.h>

/* ---- forward ---- */

/* o = softmax(Q K^T / sqrt(d)) V, the heads side by side, of p; and its norm, where there is one.
 */
static void attend(const vit_block_call *c, const vit_block_state *s, const vit_qkv *p) {
    const vit_attention_shape shape = vit_qkv_biased_shape(c, &s->qkv, true);
    vit_attention_forward(c->exec, s->o, s->p, p->q, p->k, p->v, &shape, c->scratch);
    if (c->config->attention_norm)
        vit_layernorm_forward(c->exec, s->o_normed, &s->o_stats, s->o, &c->weights->attention_norm,
                              vit_rows_out(c));
}

/* z' = MSA(LN(z)) + z; z_next = MLP(LN(z')) + z' (Dosovitskiy et al., eq. 2 and 3). z_next NULL:
 * only what the backward pass needs is computed. */
static void pre_norm_forward(const vit_block_call *c, float *z_next, const vit_block_state *s) {
    const vit_block_weights *w = c->weights;
    const vit_branch msa = vit_attention_branch(c, &s->branch1, NULL);
    const vit_branch mlp = vit_mlp_branch(c, &s->branch2, NULL);
    float *x = s->norm, *z_prime = s->sum1;
    /* x = LN(z) */
    vit_layernorm_forward(c->exec, x, &s->stats1, s->z, &w->norm1, vit_rows_in(c));
    /* Q = x W^Q, K = x W^K, V = x W^V, of every head */
    const vit_qkv p = vit_qkv_forward(c, &s->qkv, x);
    /* o = softmax(Q K^T / sqrt(d)) V, the heads side by side */
    attend(c, s, &p);
    /* z' = o W^O + z */
    const float *z = vit_first_residual(c, &s->qkv, s->z);
    vit_branch_forward(c, z_prime, s->o_normed, &w->proj, z, &msa);
    if (c->encoder) z_prime = vit_cross_pre_norm_forward(c, &s->cross, s->norm, z_prime);
    /* x = LN(z') */
    vit_layernorm_forward(c->exec, x, &s->stats2, z_prime, &w->norm2, vit_rows_out(c));
    /* z_next = MLP(x) + z', MLP: Linear, GELU, Linear */
    vit_mlp_forward(c, &s->mlp, z_next, x, z_prime, &mlp);
}

/* h = LN(z + MSA(z)); z_next = LN(h + MLP(h)) (Vaswani et al., section 3.1): the same steps, the
 * norms after the sums. */
static void post_norm_forward(const vit_block_call *c, float *z_next, const vit_block_state *s) {
    const vit_block_weights *w = c->weights;
    const vit_branch msa = vit_attention_branch(c, &s->branch1, NULL);
    const vit_branch mlp = vit_mlp_branch(c, &s->branch2, NULL);
    float *h = s->norm;
    /* h = LN(z + MSA(z)) */
    const vit_qkv p = vit_qkv_forward(c, &s->qkv, s->z);
    attend(c, s, &p);
    const float *z = vit_first_residual(c, &s->qkv, s->z);
    vit_branch_forward(c, s->sum1, s->o_normed, &w->proj, z, &msa);
    vit_layernorm_forward(c->exec, h, &s->stats1, s->sum1, &w->norm1, vit_rows_out(c));
    if (c->encoder) vit_cross_post_norm_forward(c, &s->cross, h);
    /* z_next = LN(h + MLP(h)), MLP: Linear, ReLU or GELU, Linear */
    vit_mlp_forward(c, &s->mlp, s->sum2, h, h, &mlp);
    vit_layernorm_forward(c->exec, z_next, &s->stats2, s->sum2, &w->norm2, vit_rows_out(c));
}

/* to = keep * LN(y) + residual; to NULL: only the norm's state is computed, in scratch. */
static void normed_sum(const vit_block_call *c, float *to, float *scratch, const float *y,
                       const vit_norm_state *stats, const vit_norm *norm, const float *residual,
                       const float *keep) {
    const size_t rows = vit_rows_out(c), count = rows * c->config->dim, picture = count / c->batch;
    float *normed = to ? to : scratch;
    vit_layernorm_forward(c->exec, normed, stats, y, norm, rows);
    if (!to) return;
    for (size_t i = 0; i < c->batch && keep; i++)
        c->exec->kernels->scale(to + i * picture, to + i * picture, keep[i], picture);
    c->exec->kernels->add(to, residual, count);
}

/* z' = LN(MSA(z)) + z; z_next = LN(MLP(z')) + z' (Liu et al.: Swin Transformer V2, section 3.2). */
static void res_post_forward(const vit_block_call *c, float *z_next, const vit_block_state *s) {
    const vit_block_weights *w = c->weights;
    const vit_branch plain = {0};
    const vit_qkv p = vit_qkv_forward(c, &s->qkv, s->z);
    attend(c, s, &p);
    const float *z = vit_first_residual(c, &s->qkv, s->z);
    /* z' = LN(o W^O) + z */
    vit_branch_forward(c, s->outputs[0], s->o_normed, &w->proj, NULL, &plain);
    normed_sum(c, s->sum1, NULL, s->outputs[0], &s->stats1, &w->norm1, z, c->keep);
    /* z_next = LN(MLP(z')) + z' */
    vit_mlp_forward(c, &s->mlp, s->outputs[1], s->sum1, NULL, &plain);
    normed_sum(c, z_next, s->norm, s->outputs[1], &s->stats2, &w->norm2, s->sum1,
               c->keep ? c->keep + c->batch : NULL);
}

/* What a parallel block's MLP reads of x: all of it, or the first tokens' rows. */
static const float *parallel_input(const vit_block_call *c, const vit_block_state *s) {
    return vit_first_only(c) ? s->qkv.first_x : s->norm;
}

/* x = LN(z); z_next = MSA(x) + MLP(x) + z (Dehghani et al.: Scaling Vision Transformers to 22
 * Billion Parameters, section 2). */
static void parallel_forward(const vit_block_call *c, float *z_next, const vit_block_state *s) {
    const vit_block_weights *w = c->weights;
    const vit_branch msa = vit_attention_branch(c, &s->branch1, NULL);
    const vit_branch mlp = vit_mlp_branch(c, &s->branch2, NULL);
    vit_layernorm_forward(c->exec, s->norm, &s->stats1, s->z, &w->norm1, vit_rows_in(c));
    const vit_qkv p = vit_qkv_forward(c, &s->qkv, s->norm);
    attend(c, s, &p);
    const float *z = vit_first_residual(c, &s->qkv, s->z);
    vit_branch_forward(c, s->sum1, s->o_normed, &w->proj, z, &msa);
    vit_mlp_forward(c, &s->mlp, z_next, parallel_input(c, s), s->sum1, &mlp);
}

/* ---- backward ---- */

/* d_o, given that of its norm in back->d_narrow. The norm itself is no longer needed, and its place
 * is d_o's. */
static float *heads_norm_backward(const vit_block_call *c, const vit_backward *back,
                                  const vit_block_state *s, const vit_block_gradients *g) {
    const size_t rows = vit_rows_out(c);
    float *d_o = s->o_normed;
    memset(d_o, 0, rows * vit_config_attention_dim(c->config) * sizeof *d_o);
    vit_layernorm_backward(c->exec, d_o, &g->attention_norm, back->d_narrow, s->o, &s->o_stats,
                           &c->weights->attention_norm, rows);
    return d_o;
}

/* back->d_narrow = d_x, [R][D], of MSA's input x, given d_sum, the gradient of the sum that MSA's
 * output is part of, which is not changed. Overwrites back->d_wide and back->d_branch. */
static void attention_backward(const vit_block_call *c, const vit_backward *back,
                               const vit_block_state *s, const vit_block_gradients *g,
                               const float *x, const float *d_sum, const vit_branch *msa) {
    const vit_attention_shape shape = vit_qkv_biased_shape(c, &s->qkv, !s->p);
    const vit_qkv p = vit_qkv_of(c, s->qkv.values, s->qkv.first_q);
    const vit_qkv d = vit_qkv_of(c, back->d_wide, back->d_branch);
    float *d_o = back->d_narrow;
    /* through W^O */
    const float *dy = vit_branch_backward(c, back->d_branch, d_sum, msa);
    if (c->config->attention_norm)
        vit_layernorm_recompute(c->exec, s->o_normed, &s->o_stats, s->o,
                                &c->weights->attention_norm, vit_rows_out(c));
    vit_linear_backward(c->exec, d_o, &g->proj, dy, s->o_normed, &c->weights->proj,
                        vit_rows_out(c));
    if (c->config->attention_norm) d_o = heads_norm_backward(c, back, s, g);
    /* through softmax(Q K^T / sqrt(d)) V */
    vit_attention_backward(c->exec, d.q, d.k, d.v, d_o, s->p, p.q, p.k, p.v, &shape, c->scratch,
                           c->d_p);
    vit_qkv_bias_backward(c, &s->qkv, &shape, g);
    /* through W^Q, W^K, W^V */
    vit_qkv_backward(c, back, &s->qkv, g, &d, x);
}

/* Hands the gradient of the first norm's output to the caller, where maps want it. */
static void keep_gradient(const vit_block_call *c, const float *d_norm1) {
    if (c->d_norm1) memcpy(c->d_norm1, d_norm1, vit_rows_out(c) * c->config->dim * sizeof *d_norm1);
}

static void pre_norm_backward(const vit_block_call *c, const vit_backward *back,
                              const vit_block_state *s, const vit_block_gradients *g) {
    const vit_block_weights *w = c->weights;
    const vit_branch msa = vit_attention_branch(c, &s->branch1, g);
    const vit_branch mlp = vit_mlp_branch(c, &s->branch2, g);
    const size_t rows = vit_rows_out(c), rows_in = vit_rows_in(c);
    const float *z_prime = c->encoder ? s->cross.sum : s->sum1;
    float *x = s->norm, *d_x = back->d_narrow;
    /* back->d_z is the gradient of the residual path; each norm adds its branch's to it. */
    vit_layernorm_recompute(c->exec, x, &s->stats2, z_prime, &w->norm2, rows);
    vit_mlp_backward(c, back, &s->mlp, g, x, back->d_z, &mlp, back->d_branch);
    vit_layernorm_backward(c->exec, back->d_z, &g->norm2, d_x, z_prime, &s->stats2, &w->norm2,
                           rows);
    if (c->encoder) vit_cross_pre_norm_backward(c, back, &s->cross, g, x, s->sum1);
    vit_layernorm_recompute(c->exec, x, &s->stats1, s->z, &w->norm1, rows_in);
    attention_backward(c, back, s, g, x, back->d_z, &msa);
    keep_gradient(c, d_x);
    if (vit_first_only(c)) vit_first_spread(c, back->d_z);
    vit_layernorm_backward(c->exec, back->d_z, &g->norm1, d_x, s->z, &s->stats1, &w->norm1,
                           rows_in);
}

static void post_norm_backward(const vit_block_call *c, const vit_backward *back,
                               const vit_block_state *s, const vit_block_gradients *g) {
    const vit_block_weights *w = c->weights;
    const vit_branch msa = vit_attention_branch(c, &s->branch1, g);
    const vit_branch mlp = vit_mlp_branch(c, &s->branch2, g);
    const size_t rows = vit_rows_out(c), count = rows * c->config->dim;
    float *h = s->norm, *d_h = back->d_branch;
    /* z_next = LN(h + MLP(h)) */
    memset(d_h, 0, count * sizeof *d_h);
    vit_layernorm_backward(c->exec, d_h, &g->norm2, back->d_z, s->sum2, &s->stats2, &w->norm2,
                           rows);
    if (c->encoder)
        vit_layernorm_recompute(c->exec, h, &s->cross.stats, s->cross.sum, &w->cross_norm, rows);
    else
        vit_layernorm_recompute(c->exec, h, &s->stats1, s->sum1, &w->norm1, rows);
    vit_mlp_backward(c, back, &s->mlp, g, h, d_h, &mlp, back->d_z);
    c->exec->kernels->add(d_h, back->d_narrow, count);
    if (c->encoder) {
        vit_layernorm_recompute(c->exec, h, &s->stats1, s->sum1, &w->norm1, rows);
        vit_cross_post_norm_backward(c, back, &s->cross, g, h, d_h);
    }
    keep_gradient(c, d_h);
    /* h = LN(z + MSA(z)) */
    memset(back->d_z, 0, count * sizeof *back->d_z);
    vit_layernorm_backward(c->exec, back->d_z, &g->norm1, d_h, s->sum1, &s->stats1, &w->norm1,
                           rows);
    attention_backward(c, back, s, g, s->z, back->d_z, &msa);
    if (vit_first_only(c)) vit_first_spread(c, back->d_z);
    c->exec->kernels->add(back->d_z, back->d_narrow, vit_rows_in(c) * c->config->dim);
}

/* back->d_branch = d_y, given d_sum, the gradient of keep * LN(y) + residual. Overwrites
 * back->d_narrow. */
static void normed_sum_backward(const vit_block_call *c, const vit_backward *back,
                                const float *d_sum, const float *y, const vit_norm_state *stats,
                                const vit_norm *norm, const vit_norm_gradient *g,
                                const float *keep) {
    const vit_branch branch = {.keep = keep};
    const size_t rows = vit_rows_out(c);
    const float *d_normed = vit_branch_backward(c, back->d_narrow, d_sum, &branch);
    memset(back->d_branch, 0, rows * c->config->dim * sizeof *back->d_branch);
    vit_layernorm_backward(c->exec, back->d_branch, g, d_normed, y, stats, norm, rows);
}

static void res_post_backward(const vit_block_call *c, const vit_backward *back,
                              const vit_block_state *s, const vit_block_gradients *g) {
    const vit_block_weights *w = c->weights;
    const vit_branch plain = {0};
    const size_t count = vit_rows_out(c) * c->config->dim;
    /* z_next = LN(MLP(z')) + z' */
    normed_sum_backward(c, back, back->d_z, s->outputs[1], &s->stats2, &w->norm2, &g->norm2,
                        c->keep ? c->keep + c->batch : NULL);
    vit_mlp_backward(c, back, &s->mlp, g, s->sum1, back->d_branch, &plain, NULL);
    c->exec->kernels->add(back->d_z, back->d_narrow, count);
    /* what maps of this block show is z' */
    if (c->d_norm1) memcpy(s->norm, s->sum1, count * sizeof *s->norm);
    keep_gradient(c, back->d_z);
    /* z' = LN(MSA(z)) + z */
    normed_sum_backward(c, back, back->d_z, s->outputs[0], &s->stats1, &w->norm1, &g->norm1,
                        c->keep);
    attention_backward(c, back, s, g, s->z, back->d_branch, &plain);
    if (vit_first_only(c)) vit_first_spread(c, back->d_z);
    c->exec->kernels->add(back->d_z, back->d_narrow, vit_rows_in(c) * c->config->dim);
}

static void parallel_backward(const vit_block_call *c, const vit_backward *back,
                              const vit_block_state *s, const vit_block_gradients *g) {
    const vit_block_weights *w = c->weights;
    const vit_branch msa = vit_attention_branch(c, &s->branch1, g);
    const vit_branch mlp = vit_mlp_branch(c, &s->branch2, g);
    const size_t dim = c->config->dim, rows_in = vit_rows_in(c);
    vit_layernorm_recompute(c->exec, s->norm, &s->stats1, s->z, &w->norm1, rows_in);
    vit_mlp_backward(c, back, &s->mlp, g, parallel_input(c, s), back->d_z, &mlp, back->d_branch);
    memcpy(s->d_x, back->d_narrow, vit_rows_out(c) * dim * sizeof *s->d_x);
    if (vit_first_only(c)) vit_first_spread(c, s->d_x);
    attention_backward(c, back, s, g, s->norm, back->d_z, &msa);
    c->exec->kernels->add(back->d_narrow, s->d_x, rows_in * dim);
    keep_gradient(c, back->d_narrow);
    if (vit_first_only(c)) vit_first_spread(c, back->d_z);
    vit_layernorm_backward(c->exec, back->d_z, &g->norm1, back->d_narrow, s->z, &s->stats1,
                           &w->norm1, rows_in);
}

/* ---- both ---- */

/* A row for every place of the norms. */
static const struct {
    void (*forward)(const vit_block_call *c, float *z_next, const vit_block_state *s);
    void (*backward)(const vit_block_call *c, const vit_backward *back, const vit_block_state *s,
                     const vit_block_gradients *g);
    bool norms_sum; /* z_next is the norm of a sum, whose state the backward pass needs */
} kinds[] = {
    [VIT_NORM_PRE] = {pre_norm_forward, pre_norm_backward, false},
    [VIT_NORM_POST] = {post_norm_forward, post_norm_backward, true},
    [VIT_NORM_RES_POST] = {res_post_forward, res_post_backward, false},
    [VIT_NORM_PARALLEL] = {parallel_forward, parallel_backward, false},
};
VIT_CHECK_ROWS(kinds, VIT_NORM_COUNT);

void vit_block_forward(const vit_block_call *c, float *z_next, const vit_block_state *s) {
    kinds[c->config->norm].forward(c, z_next, s);
}

void vit_block_recompute(const vit_block_call *c, float *z_next, const vit_block_state *s) {
    vit_block_forward(c, kinds[c->config->norm].norms_sum ? z_next : NULL, s);
}

void vit_block_backward(const vit_block_call *c, const vit_backward *back, const vit_block_state *s,
                        const vit_block_gradients *g) {
    kinds[c->config->norm].backward(c, back, s, g);
}

/* ---- memory ---- */

void vit_block_carve_shared(vit_block_state *s, const vit_carving *k) {
    /* The backward pass computes it again before it reads it. */
    s->norm = vit_arena_floats(k->arena, vit_carving_rows(k) * k->config->dim);
    if (k->config->attention_norm && vit_kept_trains(k->kept))
        s->o_normed =
            vit_arena_floats(k->arena, vit_carving_rows(k) * vit_config_attention_dim(k->config));
    if (vit_norms[k->config->norm].one && vit_kept_trains(k->kept))
        s->d_x = vit_arena_floats(k->arena, vit_carving_rows(k) * k->config->dim);
    vit_qkv_carve_shared(&s->qkv, k);
    vit_cross_carve_shared(&s->cross, k);
    vit_mlp_carve_shared(&s->mlp, k);
}

void vit_block_carve(vit_block_state *s, const vit_carving *k) {
    const vit_config *c = k->config;
    const size_t tokens = vit_config_tokens(c), a = vit_config_attention_dim(c);
    const size_t rows = vit_carving_rows_out(k), floats = rows * c->dim;
    const size_t values = vit_padded(vit_carving_rows(k) * 3 * a);
    const bool trains = vit_kept_trains(k->kept);
    float *wide = NULL; /* of inference: what attention makes, then what the MLP makes */
    s->z = vit_arena_floats(k->arena, vit_carving_rows(k) * c->dim);
    if (!trains)
        wide = vit_arena_floats(k->arena, vit_max(values + rows * a, rows * vit_config_hidden(c)));
    vit_qkv_carve(&s->qkv, k, wide);
    if (vit_keeps_weights(k->kept, tokens))
        s->p = vit_arena_floats(k->arena, rows * c->heads * vit_padded(tokens));
    s->o = trains ? vit_arena_floats(k->arena, rows * a) : wide ? wide + values : NULL;
    if (c->attention_norm) s->o_stats = vit_carve_stats(k->arena, rows);
    if (!c->attention_norm || !vit_kept_trains(k->kept)) s->o_normed = s->o;
    s->sum1 = vit_arena_floats(k->arena, floats); /* not z: a residual may not be its own output */
    vit_branch_carve(&s->branch1, k);
    vit_cross_carve(&s->cross, k);
    vit_mlp_carve(&s->mlp, k, wide);
    vit_branch_carve(&s->branch2, k);
    s->stats2 = vit_carve_stats(k->arena, rows);
    switch (c->norm) {
    case VIT_NORM_PRE:
    case VIT_NORM_PARALLEL:
        s->stats1 = vit_carve_stats(k->arena, vit_carving_rows(k));
        break;
    case VIT_NORM_RES_POST:
        s->stats1 = vit_carve_stats(k->arena, rows);
        s->outputs[0] = vit_arena_floats(k->arena, floats);
        s->outputs[1] =
            vit_kept_trains(k->kept) ? vit_arena_floats(k->arena, floats) : s->outputs[0];
        break;
    case VIT_NORM_POST:
        s->stats1 = vit_carve_stats(k->arena, rows);
        s->sum2 = vit_kept_trains(k->kept) ? vit_arena_floats(k->arena, floats) : s->sum1;
        break;
    case VIT_NORM_COUNT:
        break;
    }
}
