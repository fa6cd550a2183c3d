#include "vit/model/parts/positions.h"
#include "vit/ops/embed.h"
#include <string.h>

void vit_positions_carve(vit_positions_state *s, const vit_carving *k, float *z0) {
    const size_t rows = vit_carving_rows(k);
    s->tokens = z0;
    if (!k->config->norm_pre) return;
    s->stats = vit_carve_stats(k->arena, rows);
    if (vit_kept_trains(k->kept)) s->tokens = vit_arena_floats(k->arena, rows * k->config->dim);
}

static vit_embed_shape embed_shape(const vit_config *c, size_t batch) {
    vit_embed_shape shape = {.batch = batch,
                             .dim = c->dim,
                             .patches = vit_config_patches(c),
                             .prefix_positions = c->prefix_positions};
    for (size_t i = 0; i < VIT_PREFIX_KINDS; i++) shape.prefix[i] = vit_prefix_count(c, i);
    return shape;
}

void vit_positions_forward(const vit_call *c, const vit_positions_state *s, const float *embedded) {
    const vit_embed_shape shape = embed_shape(c->config, c->batch);
    vit_embed_forward(s->tokens, embedded, c->weights->prefix, c->weights->positions, &shape);
}

void vit_positions_backward(const vit_call *c, const vit_gradients *g, float *d_embedded,
                            const float *d_tokens) {
    const vit_embed_shape shape = embed_shape(c->config, c->batch);
    vit_embed_backward(c->exec, d_embedded, g->prefix, g->positions, d_tokens, &shape);
}

/* ---- norm_pre ---- */

void vit_norm_pre_forward(const vit_call *c, const vit_positions_state *s, float *z0) {
    if (c->config->norm_pre)
        vit_layernorm_forward(c->exec, z0, &s->stats, s->tokens, &c->weights->norm_pre, c->rows);
}

float *vit_norm_pre_backward(const vit_call *c, const vit_backward *back,
                             const vit_positions_state *s, const vit_gradients *g) {
    float *d_tokens = back->d_branch;
    if (!c->config->norm_pre) return back->d_z;
    memset(d_tokens, 0, c->rows * c->config->dim * sizeof *d_tokens);
    vit_layernorm_backward(c->exec, d_tokens, &g->norm_pre, back->d_z, s->tokens, &s->stats,
                           &c->weights->norm_pre, c->rows);
    return d_tokens;
}
