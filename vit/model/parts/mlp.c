#include "vit/model/parts/mlp.h"
#include <string.h>

void vit_mlp_carve_shared(vit_mlp_state *s, const vit_carving *k) {
    const vit_config *c = k->config;
    const bool training = vit_kept_trains(k->kept);
    const size_t floats = vit_carving_rows(k) * c->mlp;
    /* The backward pass computes it again before it reads it. */
    if (c->gated || training) s->active = vit_arena_floats(k->arena, floats);
    if (training && (c->gated || c->mlp_norm)) s->d_gated = vit_arena_floats(k->arena, floats);
    s->normed = training && c->mlp_norm ? vit_arena_floats(k->arena, floats) : s->active;
}

void vit_mlp_carve(vit_mlp_state *s, const vit_carving *k, float *hidden) {
    const size_t width = vit_config_hidden(k->config);
    s->hidden = vit_kept_trains(k->kept)
                    ? vit_arena_floats(k->arena, vit_carving_rows_out(k) * width)
                    : hidden;
    if (!s->active) s->active = s->normed = s->hidden;
    if (k->config->mlp_norm) s->stats = vit_carve_stats(k->arena, vit_carving_rows_out(k));
}

/* s->active = f(hidden), or gated. */
static void activate(const vit_block_call *c, const vit_mlp_state *s) {
    const size_t rows = vit_rows_out(c), mlp = c->config->mlp;
    const vit_activation f = c->config->activation;
    if (c->config->gated)
        vit_gate_forward(c->exec, f, s->active, s->hidden, rows, mlp);
    else
        vit_activation_forward(c->exec, f, s->active, s->hidden, rows * mlp);
}

void vit_mlp_forward(const vit_block_call *c, const vit_mlp_state *s, float *y, const float *x,
                     const float *residual, const vit_branch *branch) {
    const size_t rows = vit_rows_out(c);
    vit_linear_forward(c->exec, s->hidden, x, &c->weights->fc1, NULL, rows);
    if (!y && !vit_keeps_unscaled(branch) && !c->config->mlp_norm) return;
    activate(c, s);
    if (c->config->mlp_norm)
        vit_layernorm_forward(c->exec, s->normed, &s->stats, s->active, &c->weights->mlp_norm,
                              rows);
    if (y || vit_keeps_unscaled(branch))
        vit_branch_forward(c, y, s->normed, &c->weights->fc2, residual, branch);
}

/* d_active, [R][M], given that of its norm in s->normed, which is made again. */
static void norm_backward(const vit_block_call *c, const vit_mlp_state *s,
                          const vit_block_gradients *g, float *d_active, const float *d_normed) {
    const size_t rows = vit_rows_out(c);
    memset(d_active, 0, rows * c->config->mlp * sizeof *d_active);
    vit_layernorm_backward(c->exec, d_active, &g->mlp_norm, d_normed, s->active, &s->stats,
                           &c->weights->mlp_norm, rows);
    vit_layernorm_recompute(c->exec, s->normed, &s->stats, s->active, &c->weights->mlp_norm, rows);
}

void vit_mlp_backward(const vit_block_call *c, const vit_backward *back, const vit_mlp_state *s,
                      const vit_block_gradients *g, const float *x, const float *d_sum,
                      const vit_branch *branch, float *scratch) {
    const size_t rows = vit_rows_out(c), mlp = c->config->mlp;
    const vit_activation f = c->config->activation;
    const vit_linear *fc2 = &c->weights->fc2;
    const float *dy = vit_branch_backward(c, scratch, d_sum, branch);
    const bool normed = c->config->mlp_norm;
    float *d_hidden = back->d_wide, *d_active = c->config->gated || normed ? s->d_gated : d_hidden;
    float *d_read = normed ? d_hidden : d_active; /* the gradient of what fc2 reads */
    vit_linear_input_gradient(c->exec, d_read, false, dy, fc2->out, fc2, rows);
    if (normed) activate(c, s);
    if (normed) norm_backward(c, s, g, d_active, d_read);
    if (c->config->gated)
        vit_gate_backward(c->exec, f, d_hidden, s->active, d_active, s->hidden, rows, mlp);
    else
        vit_activation_backward(c->exec, f, d_hidden, s->active, d_active, s->hidden, rows * mlp);
    /* Only now: the line above has made s->active again. */
    vit_linear_weight_gradient(c->exec, &g->fc2, dy, fc2->out, s->normed, fc2, rows);
    vit_linear_backward(c->exec, back->d_narrow, &g->fc1, d_hidden, x, &c->weights->fc1, rows);
}
