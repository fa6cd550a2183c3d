#include "vit/model/parts/branch.h"

void vit_branch_carve(vit_branch_state *s, const vit_carving *k) {
    if (k->config->layer_scale && vit_kept_trains(k->kept))
        s->unscaled = vit_arena_floats(k->arena, vit_carving_rows_out(k) * k->config->dim);
}

vit_branch vit_attention_branch(const vit_block_call *c, const vit_branch_state *s,
                                const vit_block_gradients *g) {
    return (vit_branch){c->weights->ls1, g ? g->ls1 : NULL, c->keep, s->unscaled};
}

vit_branch vit_mlp_branch(const vit_block_call *c, const vit_branch_state *s,
                          const vit_block_gradients *g) {
    const size_t own = vit_norms[c->config->norm].one ? 0 : c->batch; /* else the same factors */
    return (vit_branch){c->weights->ls2, g ? g->ls2 : NULL, c->keep ? c->keep + own : NULL,
                        s->unscaled};
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
