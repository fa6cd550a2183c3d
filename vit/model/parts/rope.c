#include "vit/model/parts/rope.h"
#include "vit/model/rope_table.h"

float *vit_rope_carve(const vit_carving *k) {
    const vit_config *c = k->config;
    if (!vit_ropes[c->rope].learned) return NULL;
    return vit_arena_floats(k->arena, vit_config_patches(c) * vit_config_attention_dim(c));
}

static vit_rope_shape shape_of(const vit_block_call *call, size_t row) {
    const vit_config *c = call->config;
    return (vit_rope_shape){.rows = call->rows,
                            .tokens = vit_config_tokens(c),
                            .skip = vit_config_prefix(c),
                            .heads = c->heads,
                            .head_dim = vit_config_head_dim(c),
                            .row = row,
                            .halves = c->rope_halves,
                            .by_head = vit_ropes[c->rope].learned};
}

/* The block's table. */
static const float *table_of(const vit_block_call *c, float *angles) {
    const vit_rope_grid grid = vit_rope_grid_of(c->config);
    if (!angles) return c->weights->rope;
    vit_rope_mixed_forward(c->exec, angles, c->weights->rope_freqs, &grid, c->config->heads,
                           vit_config_head_dim(c->config) / 2);
    return angles;
}

void vit_rope_forward(const vit_block_call *c, float *angles, float *q, float *k, size_t row) {
    const vit_rope_shape shape = shape_of(c, row);
    const float *table = table_of(c, angles);
    if (q) vit_rope_turn(c->exec, q, table, &shape, false);
    vit_rope_turn(c->exec, k, table, &shape, false);
}

void vit_rope_backward(const vit_block_call *c, float *angles, const vit_block_gradients *g,
                       float *d_q, float *d_k, const float *q, const float *k, size_t row) {
    const vit_rope_shape shape = shape_of(c, row);
    const vit_rope_grid grid = vit_rope_grid_of(c->config);
    const float *table = table_of(c, angles);
    if (g->rope_freqs[0])
        vit_rope_mixed_backward(c->exec, g->rope_freqs, (const float *const[2]){d_q, d_k},
                                (const float *const[2]){d_q ? q : NULL, k}, &grid, &shape);
    if (d_q) vit_rope_turn(c->exec, d_q, table, &shape, true);
    vit_rope_turn(c->exec, d_k, table, &shape, true);
}
