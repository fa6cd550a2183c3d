#include "vit/model/parts/rope.h"
#include "vit/base/math.h"
#include "vit/model/parts/qkv.h"
#include "vit/model/rope_table.h"

float *vit_rope_carve(const vit_carving *k) {
    const vit_config *c = k->config;
    if (c->rope_class) return vit_arena_floats(k->arena, vit_config_head_dim(c));
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
    if (!vit_ropes[c->config->rope].learned) return c->weights->rope;
    vit_rope_mixed_forward(c->exec, angles, c->weights->rope_freqs, &grid, c->config->heads,
                           vit_config_head_dim(c->config) / 2);
    return angles;
}

/* ---- the class token ---- */

/* The first token of each sample; its table has one row. */
static vit_rope_shape class_shape(const vit_block_call *c, size_t row, bool first_only) {
    vit_rope_shape s = shape_of(c, first_only ? vit_config_attention_dim(c->config)
                                              : row * vit_config_tokens(c->config));
    s.rows = c->batch;
    s.tokens = 1;
    s.skip = 0;
    return s;
}

static void turn_class(const vit_block_call *c, float *table, float *q, float *k, size_t row,
                       bool back) {
    const vit_rope_shape of_q = class_shape(c, row, vit_first_only(c));
    const vit_rope_shape of_k = class_shape(c, row, false);
    const size_t half = of_k.head_dim / 2;
    for (size_t j = 0; j < half; j++) {
        table[j] = (float)vit_cos((double)c->weights->rope_class[j]);
        table[half + j] = (float)vit_sin((double)c->weights->rope_class[j]);
    }
    vit_rope_turn(c->exec, q, table, &of_q, back);
    vit_rope_turn(c->exec, k, table, &of_k, back);
}

/* d += the gradient of the angles: a pair (a, b) that was turned by an angle has the derivative
 * (-b, a) with respect to it. One chain over the samples, ascending, of each over the heads. */
static void class_gradient(float *d, const float *dx, const float *x, const vit_rope_shape *s) {
    const size_t half = s->head_dim / 2, apart = s->halves ? half : 1, step = s->halves ? 1 : 2;
    for (size_t i = 0; i < s->rows; i++)
        for (size_t h = 0; h < s->heads; h++)
            for (size_t j = 0; j < half; j++) {
                const size_t a = i * s->row + h * s->head_dim + j * step, b = a + apart;
                d[j] += dx[b] * x[a] - dx[a] * x[b];
            }
}

/* ---- all of it ---- */

void vit_rope_forward(const vit_block_call *c, float *angles, float *q, float *k, size_t row) {
    const vit_rope_shape shape = shape_of(c, row);
    const float *table = table_of(c, angles);
    if (!vit_first_only(c)) vit_rope_turn(c->exec, q, table, &shape, false);
    vit_rope_turn(c->exec, k, table, &shape, false);
    if (c->config->rope_class) turn_class(c, angles, q, k, row, false);
}

void vit_rope_backward(const vit_block_call *c, float *angles, const vit_block_gradients *g,
                       float *d_q, float *d_k, const float *q, const float *k, size_t row) {
    const vit_rope_shape shape = shape_of(c, row);
    const vit_rope_grid grid = vit_rope_grid_of(c->config);
    const bool first_only = vit_first_only(c);
    const float *table = table_of(c, angles);
    if (g->rope_freqs[0])
        vit_rope_mixed_backward(c->exec, g->rope_freqs, (const float *const[2]){d_q, d_k},
                                (const float *const[2]){first_only ? NULL : q, k}, &grid, &shape);
    if (g->rope_class) {
        const vit_rope_shape of_q = class_shape(c, row, first_only);
        const vit_rope_shape of_k = class_shape(c, row, false);
        class_gradient(g->rope_class, d_q, q, &of_q);
        class_gradient(g->rope_class, d_k, k, &of_k);
    }
    if (!first_only) vit_rope_turn(c->exec, d_q, table, &shape, true);
    vit_rope_turn(c->exec, d_k, table, &shape, true);
    if (c->config->rope_class) turn_class(c, angles, d_q, d_k, row, true);
}
