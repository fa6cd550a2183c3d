#include "vit/model/parts/mlp.h"

void vit_mlp_carve_shared(vit_mlp_state *s, const vit_carving *k) {
    const vit_config *c = k->config;
    const bool training = vit_kept_trains(k->kept);
    const size_t floats = vit_carving_rows(k) * c->mlp;
    /* The backward pass computes it again before it reads it. */
    if (c->gated || training) s->active = vit_arena_floats(k->arena, floats);
    if (c->gated && training) s->d_gated = vit_arena_floats(k->arena, floats);
}

void vit_mlp_carve(vit_mlp_state *s, const vit_carving *k) {
    const size_t width = vit_config_hidden(k->config);
    s->hidden = vit_arena_floats(k->arena, vit_carving_rows_out(k) * width);
    if (!s->active) s->active = s->hidden;
}

void vit_mlp_forward(const vit_block_call *c, const vit_mlp_state *s, float *y, const float *x,
                     const float *residual, const vit_branch *branch) {
    const size_t rows = vit_rows_out(c), mlp = c->config->mlp;
    const vit_activation f = c->config->activation;
    vit_linear_forward(c->exec, s->hidden, x, &c->weights->fc1, NULL, rows);
    if (!y && !vit_keeps_unscaled(branch)) return;
    if (c->config->gated)
        vit_gate_forward(c->exec, f, s->active, s->hidden, rows, mlp);
    else
        vit_activation_forward(c->exec, f, s->active, s->hidden, rows * mlp);
    vit_branch_forward(c, y, s->active, &c->weights->fc2, residual, branch);
}

void vit_mlp_backward(const vit_block_call *c, const vit_backward *back, const vit_mlp_state *s,
                      const vit_block_gradients *g, const float *x, const float *d_sum,
                      const vit_branch *branch, float *scratch) {
    const size_t rows = vit_rows_out(c), mlp = c->config->mlp;
    const vit_activation f = c->config->activation;
    const vit_linear *fc2 = &c->weights->fc2;
    const float *dy = vit_branch_backward(c, scratch, d_sum, branch);
    float *d_hidden = back->d_wide, *d_active = c->config->gated ? s->d_gated : d_hidden;
    vit_linear_input_gradient(c->exec, d_active, false, dy, fc2->out, fc2, rows);
    if (c->config->gated)
        vit_gate_backward(c->exec, f, d_hidden, s->active, d_active, s->hidden, rows, mlp);
    else
        vit_activation_backward(c->exec, f, d_hidden, s->active, d_active, s->hidden, rows * mlp);
    /* Only now: the line above has made s->active again. */
    vit_linear_weight_gradient(c->exec, &g->fc2, dy, fc2->out, s->active, fc2, rows);
    vit_linear_backward(c->exec, back->d_narrow, &g->fc1, d_hidden, x, &c->weights->fc1, rows);
}
