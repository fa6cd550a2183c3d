/* Positions inside of attention: rotary ones, and a bias of relative ones. */
#include "vit/base/sys.h"
#include "vit/model/rope_table.h"
#include "vit/weights/export/onnx_parts.h"
#include <stdio.h>

typedef vit_onnx_value value;
typedef vit_onnx_builder network;

/* ---- rotary positions ---- */

/* values: [N][columns], a row for each patch; before them rows of `other` for the tokens before the
 * patches, but none for a class token that is turned. [1][T][columns] */
static vit_status token_table(network *n, value *out, const char *name, const float *values,
                              size_t row, size_t columns, float other, vit_error *error) {
    const size_t first = n->config->rope_class;
    const size_t prefix = vit_config_prefix(n->config) - first;
    const size_t count = vit_config_tokens(n->config) - first;
    float *table = vit_alloc(count * columns, sizeof *table);
    if (!table) return vit_fail_memory(error, "rotary positions", count * columns * sizeof *table);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < columns; j++)
            table[i * columns + j] = i < prefix ? other : values[(i - prefix) * row + j];
    *out = vit_onnx_table(n->nodes, name, table, count, columns);
    vit_free(table);
    return VIT_OK;
}

/* [1][T][columns] -> [T][heads or 1][d / 2] */
static value by_token(network *n, value x) {
    const int64_t count = (int64_t)vit_config_tokens(n->config);
    const int64_t half = (int64_t)vit_config_head_dim(n->config) / 2;
    return vit_onnx_reshape(n->nodes, x, 3, (int64_t[]){count, -1, half});
}

/* x: [1][T - 1][d / 2], and before it the row of the class token, whose angles are learned. */
static value with_class(network *n, const char *op, value x) {
    const int64_t row[] = {1, 1, (int64_t)vit_config_head_dim(n->config) / 2};
    const value angles = vit_onnx_reshape(n->nodes, vit_onnx_named("rope.class"), 3, row);
    const value both[] = {vit_onnx_one(n->nodes, op, angles), x};
    return vit_onnx_concat(n, both, 2, 1);
}

/* Cosines and sines of the angles that are not learned; and of the class token's. */
vit_status vit_onnx_fixed_rope(network *n, vit_error *error) {
    const size_t width = vit_config_head_dim(n->config);
    float *table;
    vit_status status = vit_rope_new(&table, n->config, error);
    if (status != VIT_OK || !table) return status;
    status = token_table(n, &n->cosines, "rope.cosines", table, width, width / 2, 1, error);
    if (status == VIT_OK)
        status =
            token_table(n, &n->sines, "rope.sines", table + width / 2, width, width / 2, 0, error);
    vit_free(table);
    if (n->config->rope_class) {
        n->cosines = with_class(n, "Cos", n->cosines);
        n->sines = with_class(n, "Sin", n->sines);
    }
    n->cosines = by_token(n, n->cosines);
    n->sines = by_token(n, n->sines);
    return status;
}

/* The coordinates of the patches, [1][T][2], which learned frequencies are multiplied by. */
vit_status vit_onnx_rope_grid(network *n, value *out, vit_error *error) {
    const vit_rope_grid grid = vit_rope_grid_of(n->config);
    const size_t patches = grid.rows * grid.columns;
    float *places = vit_alloc(patches * 2, sizeof *places);
    if (!places) return vit_fail_memory(error, "rotary positions", patches * 2 * sizeof *places);
    for (size_t i = 0; i < patches; i++) {
        places[2 * i + grid.columns_first] = (float)(i / grid.columns);
        places[2 * i + !grid.columns_first] = (float)(i % grid.columns);
    }
    const vit_status status = token_table(n, out, "rope.grid", places, 2, 2, 0, error);
    vit_free(places);
    return status;
}

/* Those of block i's learned frequencies: angles are grid [T][2] times frequencies [2][h d / 2]. */
void vit_onnx_mixed_rope(network *n, value grid, size_t i) {
    const vit_config *c = n->config;
    const int64_t first = (int64_t)i, end = first + 1, axis = 1;
    value f = vit_onnx_add(n->nodes, &(vit_onnx_call){.op = "Slice",
                                                      .inputs = {vit_onnx_named("rope.freqs"),
                                                                 vit_onnx_list(n->nodes, 1, &first),
                                                                 vit_onnx_list(n->nodes, 1, &end),
                                                                 vit_onnx_list(n->nodes, 1, &axis)},
                                                      .inputs_count = 4});
    const int64_t shape[] = {2, (int64_t)vit_config_attention_dim(c) / 2};
    f = vit_onnx_reshape(n->nodes, f, 2, shape);
    const value angles = by_token(n, vit_onnx_two(n->nodes, "MatMul", grid, f));
    n->cosines = vit_onnx_one(n->nodes, "Cos", angles);
    n->sines = vit_onnx_one(n->nodes, "Sin", angles);
}

/* x: [batch][rows][heads][d], turned. */
value vit_onnx_turn(network *n, value x) {
    const vit_config *c = n->config;
    const int64_t heads = (int64_t)c->heads, half = (int64_t)vit_config_head_dim(c) / 2;
    const int64_t pairs[] = {0, -1, heads, half, 2}, one[] = {0, -1, heads, half};
    const int64_t apart[] = {0, -1, heads, half, 1}, whole[] = {0, -1, heads, 2 * half};
    value parts[2];
    vit_onnx_split(n, c->rope_halves ? x : vit_onnx_reshape(n->nodes, x, 5, pairs), parts, 2);
    for (size_t i = 0; i < 2 && !c->rope_halves; i++)
        parts[i] = vit_onnx_reshape(n->nodes, parts[i], 4, one);
    const value turned[] = {
        vit_onnx_two(n->nodes, "Sub", vit_onnx_two(n->nodes, "Mul", parts[0], n->cosines),
                     vit_onnx_two(n->nodes, "Mul", parts[1], n->sines)),
        vit_onnx_two(n->nodes, "Add", vit_onnx_two(n->nodes, "Mul", parts[1], n->cosines),
                     vit_onnx_two(n->nodes, "Mul", parts[0], n->sines))};
    for (size_t i = 0; i < 2; i++)
        parts[i] = c->rope_halves ? turned[i] : vit_onnx_reshape(n->nodes, turned[i], 5, apart);
    x = vit_onnx_concat(n, parts, 2, -1);
    return c->rope_halves ? x : vit_onnx_reshape(n->nodes, x, 4, whole);
}

/* ---- relative position bias ---- */

/* The distances, [1][distances][2], that an MLP makes the table of, and the class token's rows of
 * it, which are 0. */
static vit_status relative_places(network *n, vit_error *error) {
    const vit_relative_shape s = vit_config_relative(n->config);
    const size_t count = vit_relative_distances(&s), floats = 2 * count + 3 * s.heads;
    float *places = vit_alloc(floats, sizeof *places);
    if (!places) return vit_fail_memory(error, "relative positions", floats * sizeof *places);
    vit_relative_places(places, &s);
    n->places = vit_onnx_table(n->nodes, "rel_pos_places", places, count, 2);
    n->none = vit_onnx_table(n->nodes, "rel_pos_none", places + 2 * count, 3, s.heads);
    vit_free(places);
    return VIT_OK;
}

vit_status vit_onnx_relative_index(network *n, vit_error *error) {
    const vit_relative_shape s = vit_config_relative(n->config);
    const size_t tokens = vit_relative_tokens(&s), count = tokens * tokens;
    int64_t *index = vit_alloc(count, sizeof *index);
    if (!index) return vit_fail_memory(error, "relative positions", count * sizeof *index);
    for (size_t i = 0; i < count; i++)
        index[i] = (int64_t)vit_relative_index(&s, i / tokens, i % tokens);
    n->index = vit_onnx_indices(n->nodes, "rel_pos_index", count, index);
    vit_free(index);
    return n->config->relative_mlp > 0 ? relative_places(n, error) : VIT_OK;
}

/* The table, [distances][heads], that the MLP called `name` makes. */
static value made_table(network *n, const char *name) {
    const vit_relative_shape s = vit_config_relative(n->config);
    const int64_t shape[] = {-1, (int64_t)n->config->heads};
    char layer[48];
    snprintf(layer, sizeof layer, "%s.mlp.fc1", name);
    value x = vit_onnx_one(n->nodes, "Relu", vit_onnx_linear(n, n->places, layer, true));
    snprintf(layer, sizeof layer, "%s.mlp.fc2", name);
    x = vit_onnx_reshape(n->nodes, vit_onnx_linear(n, x, layer, true), 2, shape);
    if (!s.class_token) return x;
    const value both[] = {x, vit_onnx_reshape(n->nodes, n->none, 2, shape)};
    return vit_onnx_concat(n, both, 2, 0);
}

static value relative_table(network *n) {
    const bool shared = vit_relatives[n->config->relative].shared;
    if (n->config->relative_mlp == 0)
        return shared ? vit_onnx_named("rel_pos_bias.relative_position_bias_table")
                      : vit_onnx_weight(n, "attn", ".relative_position_bias_table");
    if (!shared) return made_table(n, "attn.rel_pos");
    network outside = *n; /* of the blocks */
    outside.scope[0] = '\0';
    return made_table(&outside, "shared_rel_pos");
}

/* The block's: [1][heads][T][T] */
value vit_onnx_relative_bias(network *n) {
    const int64_t tokens = (int64_t)vit_config_tokens(n->config);
    const int64_t shape[] = {1, tokens, tokens, (int64_t)n->config->heads};
    value x = vit_onnx_two(n->nodes, "Gather", relative_table(n), n->index);
    x = vit_onnx_reshape(n->nodes, x, 4, shape);
    return vit_onnx_transpose(n->nodes, x, 4, (int64_t[]){0, 3, 1, 2});
}
