#include "vit/model/parts/relative.h"
#include <string.h>

void vit_relative_carve(vit_relative_state *s, const vit_carving *k) {
    const vit_config *c = k->config;
    const vit_relative_row *row = &vit_relatives[c->relative];
    const vit_relative_shape shape = vit_config_relative(c);
    const size_t tokens = vit_config_tokens(c), padded = vit_padded(tokens);
    const bool training = vit_kept_trains(k->kept);
    if (!row->blocks && !row->shared) return;
    s->bias = vit_arena_floats(k->arena, c->heads * tokens * padded);
    if (training) s->d_scores = vit_arena_floats(k->arena, vit_carving_rows(k) * c->heads * padded);
    if (c->relative_mlp == 0) return;
    const size_t table = vit_relative_rows(&shape) * c->heads,
                 rows = vit_relative_distances(&shape);
    s->table = vit_arena_floats(k->arena, table);
    s->places = vit_arena_floats(k->arena, rows * 2);
    s->hidden = vit_arena_floats(k->arena, rows * c->relative_mlp);
    s->active = training ? vit_arena_floats(k->arena, rows * c->relative_mlp) : s->hidden;
    if (!training) return;
    s->d_table = vit_arena_floats(k->arena, table);
    s->d_mlp = vit_arena_floats(k->arena, rows * c->relative_mlp);
}

static const float *table_forward(const vit_block_call *c, const vit_relative_state *s) {
    const vit_relative_weights *w = &c->weights->relative;
    const vit_relative_shape shape = vit_config_relative(c->config);
    const size_t rows = vit_relative_distances(&shape);
    if (!s->table) return w->table;
    vit_relative_places(s->places, &shape);
    vit_linear_forward(c->exec, s->hidden, s->places, &w->fc1, NULL, rows);
    vit_activation_forward(c->exec, VIT_RELU, s->active, s->hidden, rows * w->fc1.out);
    vit_linear_forward(c->exec, s->table, s->active, &w->fc2, NULL, rows);
    memset(s->table + rows * shape.heads, 0,
           (vit_relative_rows(&shape) - rows) * shape.heads * sizeof *s->table);
    return s->table;
}

void vit_relative_bias_forward(const vit_block_call *c, const vit_relative_state *s) {
    const vit_relative_shape shape = vit_config_relative(c->config);
    vit_relative_forward(c->exec, s->bias, table_forward(c, s), &shape);
}

void vit_relative_bias_backward(const vit_block_call *c, const vit_relative_state *s,
                                const vit_block_gradients *g, float factor, size_t queries) {
    const vit_relative_weights *w = &c->weights->relative;
    const vit_relative_gradients *d = &g->relative;
    const vit_relative_shape shape = vit_config_relative(c->config);
    const size_t rows = vit_relative_distances(&shape);
    float *d_table = s->table ? s->d_table : d->table;
    if (!d->table && !d->fc1.weight) return;
    if (s->table) memset(d_table, 0, vit_relative_rows(&shape) * shape.heads * sizeof *d_table);
    vit_relative_backward(c->exec, d_table, s->d_scores, factor, c->batch, queries, &shape);
    if (!s->table) return;
    table_forward(c, s); /* another block may have overwritten what it keeps */
    vit_linear_backward(c->exec, s->d_mlp, &d->fc2, d_table, s->active, &w->fc2, rows);
    vit_activation_backward(c->exec, VIT_RELU, s->d_mlp, NULL, s->d_mlp, s->hidden,
                            rows * w->fc1.out);
    vit_linear_backward(c->exec, NULL, &d->fc1, s->d_mlp, s->places, &w->fc1, rows);
}
