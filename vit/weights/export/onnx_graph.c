/* The network in ONNX's operators. A function corresponds to the one of its name in vit/model. */
#include "vit/weights/export/onnx_graph.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/model/fixed_positions.h"
#include "vit/model/parts/qkv.h"
#include "vit/weights/export/onnx_parts.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef vit_onnx_value value;
typedef vit_onnx_builder network;

/* ---- layers ---- */

value vit_onnx_weight(const network *n, const char *layer, const char *part) {
    value v;
    snprintf(v.name, sizeof v.name, "%s%s%s", n->scope, layer, part);
    return v;
}

value vit_onnx_linear(network *n, value x, const char *layer, bool bias) {
    const value y = vit_onnx_two(n->nodes, "MatMul", x, vit_onnx_weight(n, layer, ".weight"));
    return bias ? vit_onnx_two(n->nodes, "Add", y, vit_onnx_weight(n, layer, ".bias")) : y;
}

/* An operator of one input, with attributes. */
static value one_with(network *n, const char *op, value x, const vit_onnx_attribute *attributes,
                      size_t count) {
    vit_onnx_call call = {.op = op, .inputs = {x}, .inputs_count = 1, .attributes_count = count};
    memcpy(call.attributes, attributes, count * sizeof *attributes);
    return vit_onnx_add(n->nodes, &call);
}

/* x / sqrt(mean(x^2) + eps) gamma */
static value rms_norm(network *n, value x, const char *layer) {
    const vit_onnx_attribute axes = {"axes", VIT_ONNX_LIST, .list = {-1}, .count = 1};
    const value square = vit_onnx_two(n->nodes, "Mul", x, x);
    const value mean = one_with(n, "ReduceMean", square, &axes, 1);
    const value eps = vit_onnx_number(n->nodes, (float)n->config->norm_eps);
    const value sum = vit_onnx_two(n->nodes, "Add", mean, eps);
    x = vit_onnx_two(n->nodes, "Div", x, vit_onnx_one(n->nodes, "Sqrt", sum));
    return vit_onnx_two(n->nodes, "Mul", x, vit_onnx_weight(n, layer, ".weight"));
}

static value layernorm(network *n, value x, const char *layer) {
    if (n->config->rms_norm) return rms_norm(n, x, layer);
    return vit_onnx_add(
        n->nodes,
        &(vit_onnx_call){
            .op = "LayerNormalization",
            .inputs = {x, vit_onnx_weight(n, layer, ".weight"), vit_onnx_weight(n, layer, ".bias")},
            .inputs_count = 3,
            .attributes = {{"axis", VIT_ONNX_ONE, .one = -1},
                           {"epsilon", VIT_ONNX_REAL, .real = (float)n->config->norm_eps}},
            .attributes_count = 2});
}

static value times(network *n, value x, float factor) {
    return vit_onnx_two(n->nodes, "Mul", x, vit_onnx_number(n->nodes, factor));
}

/* x (1 + f) / 2 */
static value half_of(network *n, value x, value f) {
    const value sum = vit_onnx_two(n->nodes, "Add", f, vit_onnx_number(n->nodes, 1));
    return times(n, vit_onnx_two(n->nodes, "Mul", x, sum), 0.5f);
}

static value gelu(network *n, value x) {
    const value root = vit_onnx_number(n->nodes, (float)sqrt(2));
    const value scaled = vit_onnx_two(n->nodes, "Div", x, root);
    return half_of(n, x, vit_onnx_one(n->nodes, "Erf", scaled));
}

/* x sigma(factor x) */
static value sigmoid_gate(network *n, value x, float factor) {
    const value scaled = factor == 1 ? x : times(n, x, factor);
    return vit_onnx_two(n->nodes, "Mul", x, vit_onnx_one(n->nodes, "Sigmoid", scaled));
}

static value activation(network *n, value x, vit_activation f) {
    switch (f) {
    case VIT_RELU:
        return vit_onnx_one(n->nodes, "Relu", x);
    case VIT_GELU_TANH: {
        const value square = vit_onnx_two(n->nodes, "Mul", x, x);
        const value cube = vit_onnx_two(n->nodes, "Mul", square, x);
        const value sum = vit_onnx_two(n->nodes, "Add", x, times(n, cube, 0.044715f));
        const value scaled = times(n, sum, (float)sqrt(2 / 3.14159265358979323846));
        return half_of(n, x, vit_onnx_one(n->nodes, "Tanh", scaled));
    }
    case VIT_GELU_QUICK:
        return sigmoid_gate(n, x, 1.702f);
    case VIT_SILU:
        return sigmoid_gate(n, x, 1);
    case VIT_GELU:
    case VIT_ACTIVATION_COUNT:
        break;
    }
    return gelu(n, x);
}

/* Equal parts of the last dimension. */
void vit_onnx_split(network *n, value x, value *parts, size_t count) {
    const vit_onnx_call call = {.op = "Split",
                                .inputs = {x},
                                .inputs_count = 1,
                                .attributes = {{"axis", VIT_ONNX_ONE, .one = -1}},
                                .attributes_count = 1};
    vit_onnx_add_split(n->nodes, &call, parts, count);
}

value vit_onnx_concat(network *n, const value *parts, size_t count, int64_t axis) {
    vit_onnx_call call = {.op = "Concat",
                          .inputs_count = count,
                          .attributes = {{"axis", VIT_ONNX_ONE, .one = axis}},
                          .attributes_count = 1};
    for (size_t i = 0; i < count; i++) call.inputs[i] = parts[i];
    return count == 1 ? parts[0] : vit_onnx_add(n->nodes, &call);
}

/* Tokens first .. first + count - 1 of [batch][T][D]. */
static value tokens(network *n, value x, size_t first, size_t count) {
    if (count == vit_config_tokens(n->config)) return x;
    const int64_t begin = (int64_t)first, end = (int64_t)(first + count), axis = 1;
    return vit_onnx_add(n->nodes, &(vit_onnx_call){.op = "Slice",
                                                   .inputs = {x, vit_onnx_list(n->nodes, 1, &begin),
                                                              vit_onnx_list(n->nodes, 1, &end),
                                                              vit_onnx_list(n->nodes, 1, &axis)},
                                                   .inputs_count = 4});
}

/* ---- stem: [batch][C][H][W] -> [batch][N][D] ---- */

typedef struct kernel {
    int64_t side, stride, pad;
    bool bias;
} kernel;

static value convolve(network *n, value x, value w, value bias, kernel k) {
    return vit_onnx_add(
        n->nodes,
        &(vit_onnx_call){
            .op = "Conv",
            .inputs = {x, w, bias},
            .inputs_count = k.bias ? 3 : 2,
            .attributes = {{"kernel_shape", VIT_ONNX_LIST, .list = {k.side, k.side}, .count = 2},
                           {"strides", VIT_ONNX_LIST, .list = {k.stride, k.stride}, .count = 2},
                           {"pads", VIT_ONNX_LIST, .list = {k.pad, k.pad, k.pad, k.pad},
                            .count = 4}},
            .attributes_count = 3});
}

static value convolution(network *n, value x, const char *layer, kernel k) {
    return convolve(n, x, vit_onnx_weight(n, layer, ".weight"), vit_onnx_weight(n, layer, ".bias"),
                    k);
}

/* Convolutions whose kernels are [out][3][3][in], each with ReLU and max pooling. */
static value tokenizer(network *n, value x) {
    const kernel keeps = {3, 1, 1, false};
    const vit_onnx_attribute sides[] = {{"kernel_shape", VIT_ONNX_LIST, .list = {3, 3}, .count = 2},
                                        {"strides", VIT_ONNX_LIST, .list = {2, 2}, .count = 2},
                                        {"pads", VIT_ONNX_LIST, .list = {1, 1, 1, 1}, .count = 4}};
    char name[VIT_STEM_NAME];
    for (size_t i = 0; i < vit_config_convs(n->config); i++) {
        value w = vit_onnx_weight(n, vit_stem_name(name, n->config, i), ".weight");
        w = vit_onnx_transpose(n->nodes, w, 4, (int64_t[]){0, 3, 1, 2});
        x = vit_onnx_one(n->nodes, "Relu", convolve(n, x, w, w, keeps));
        x = one_with(n, "MaxPool", x, sides, VIT_COUNT(sides));
    }
    return x;
}

/* [batch][D][rows][columns] -> [batch][N][D] */
static value to_tokens(network *n, value x) {
    const int64_t d = (int64_t)n->config->dim;
    const value flat = vit_onnx_reshape(n->nodes, x, 3, (int64_t[]){0, d, -1});
    return vit_onnx_transpose(n->nodes, flat, 3, (int64_t[]){0, 2, 1});
}

/* Patches in the order (row, column, channel) and one linear layer, with patch norms if any. */
static value pixel_stem(network *n, value x) {
    const vit_config *c = n->config;
    const int64_t p = (int64_t)c->patch, channels = (int64_t)c->channels;
    const int64_t rows = (int64_t)(c->height / c->patch), columns = (int64_t)(c->width / c->patch);
    x = vit_onnx_reshape(n->nodes, x, 6, (int64_t[]){0, channels, rows, p, columns, p});
    x = vit_onnx_transpose(n->nodes, x, 6, (int64_t[]){0, 2, 4, 3, 5, 1});
    x = vit_onnx_reshape(n->nodes, x, 3, (int64_t[]){0, rows * columns, p * p * channels});
    if (c->patch_norm) x = layernorm(n, x, "patch_embed.norm");
    x = vit_onnx_linear(n, x, "patch_embed.proj", c->patch_bias);
    return vit_config_norms_embedding(c) ? layernorm(n, x, "patch_embed.norm_after") : x;
}

static value linear_stem(network *n, value x) {
    const vit_config *c = n->config;
    const kernel patch = {(int64_t)c->patch, (int64_t)c->patch, 0, c->patch_bias};
    switch (c->patch_order) {
    case VIT_PATCH_CONV:
        x = to_tokens(n, convolution(n, x, "patch_embed.proj", patch));
        return c->embed_norm ? layernorm(n, x, "patch_embed.norm_after") : x;
    case VIT_PATCH_PIXEL:
        return pixel_stem(n, x);
    case VIT_PATCH_COUNT:
        break;
    }
    return x;
}

static value conv_stem(network *n, value x) {
    const vit_config *c = n->config;
    const kernel halves = {3, 2, 1, true}, projects = {1, 1, 0, true};
    const size_t convs = vit_config_convs(c);
    char name[VIT_STEM_NAME];
    for (size_t i = 0; i < convs; i++)
        x = gelu(n, convolution(n, x, vit_stem_name(name, c, i), halves));
    return to_tokens(n, convolution(n, x, vit_stem_name(name, c, convs), projects));
}

static value stem(network *n, value x) {
    switch (n->config->stem) {
    case VIT_STEM_LINEAR:
        return linear_stem(n, x);
    case VIT_STEM_CONV:
        return conv_stem(n, x);
    case VIT_STEM_CCT:
        return to_tokens(n, tokenizer(n, x));
    case VIT_STEM_TOKENS: /* such networks are not exported to ONNX */
    case VIT_STEM_NONE:
    case VIT_STEM_COUNT:
        break;
    }
    return x;
}

/* ---- tokens before the patches, and positions ---- */

/* The tokens before the patches, repeated for each picture: [batch][prefix][D]. */
static value prefix(network *n, value patches) {
    const vit_config *c = n->config;
    value kinds[VIT_PREFIX_KINDS];
    size_t count = 0;
    for (size_t k = 0; k < VIT_PREFIX_KINDS; k++)
        if (vit_prefix_count(c, k) > 0) kinds[count++] = vit_onnx_named(vit_prefix_name(k));
    const value all = vit_onnx_concat(n, kinds, count, 1);
    const vit_onnx_attribute first[] = {{"start", VIT_ONNX_ONE, .one = 0},
                                        {"end", VIT_ONNX_ONE, .one = 1}};
    const value batch = one_with(n, "Shape", patches, first, VIT_COUNT(first));
    const int64_t size[] = {(int64_t)vit_config_prefix(c), (int64_t)c->dim};
    const value shape =
        vit_onnx_concat(n, (value[]){batch, vit_onnx_list(n->nodes, 2, size)}, 2, 0);
    return vit_onnx_two(n->nodes, "Expand", all, shape);
}

static vit_status positions(network *n, value *out, vit_error *error) {
    const vit_config *c = n->config;
    float *table;
    const vit_status status = vit_positions_new(&table, c, error);
    *out = vit_onnx_named("pos_embed");
    if (status == VIT_OK && table)
        *out = vit_onnx_table(n->nodes, "positions", table, vit_config_positions(c), c->dim);
    vit_free(table);
    return status;
}

static vit_status embed(network *n, value *x, vit_error *error) {
    const vit_config *c = n->config;
    const vit_position_row *kind = &vit_positions[c->positions];
    const bool added = kind->learned || kind->fixed;
    value table;
    const vit_status status = positions(n, &table, error);
    if (status != VIT_OK) return status;
    *x = stem(n, *x);
    if (added && !c->prefix_positions) *x = vit_onnx_two(n->nodes, "Add", *x, table);
    if (vit_config_prefix(c) > 0) *x = vit_onnx_concat(n, (value[]){prefix(n, *x), *x}, 2, 1);
    if (added && c->prefix_positions) *x = vit_onnx_two(n->nodes, "Add", *x, table);
    if (c->norm_pre) *x = layernorm(n, *x, "norm_pre");
    return VIT_OK;
}

/* ---- blocks ---- */

/* [batch][rows][heads * head_dim] -> [batch][rows][heads][head_dim] */
static value split_heads(network *n, value x, size_t heads, size_t head_dim) {
    const int64_t shape[] = {0, -1, (int64_t)heads, (int64_t)head_dim};
    return vit_onnx_reshape(n->nodes, x, 4, shape);
}

/* The same -> the dimensions in `order`. */
static value heads_of(network *n, value x, size_t heads, size_t head_dim, const int64_t order[4]) {
    return vit_onnx_transpose(n->nodes, split_heads(n, x, heads, head_dim), 4, order);
}

static const int64_t by_head[] = {0, 2, 1, 3}, transposed[] = {0, 2, 3, 1};

/* softmax(Q K^T scale + bias) V, the heads side by side: [batch][rows][width]. bias:
 * [1][heads][T][T], or NULL. */
static value attend(network *n, value q, value k, value v, const value *bias, double scale,
                    size_t width) {
    const value scaled = times(n, q, (float)scale);
    value scores = vit_onnx_two(n->nodes, "MatMul", scaled, k);
    if (bias) scores = vit_onnx_two(n->nodes, "Add", scores, *bias);
    const value p = vit_onnx_axis(n->nodes, "Softmax", scores, -1);
    value o = vit_onnx_two(n->nodes, "MatMul", p, v);
    o = vit_onnx_transpose(n->nodes, o, 4, by_head);
    return vit_onnx_reshape(n->nodes, o, 3, (int64_t[]){0, -1, (int64_t)width});
}

/* Queries or keys, normed and turned where the network does so -> the dimensions in `order`. */
static value queries_of(network *n, value x, const char *norm, const int64_t order[4]) {
    x = split_heads(n, x, n->config->heads, vit_config_head_dim(n->config));
    if (n->config->qk_norm) x = layernorm(n, x, norm);
    if (vit_ropes[n->config->rope].turns) x = vit_onnx_turn(n, x);
    return vit_onnx_transpose(n->nodes, x, 4, order);
}

static value attention(network *n, value x) {
    const vit_config *c = n->config;
    const size_t head_dim = vit_config_head_dim(c);
    const double scale = vit_qkv_scale(c);
    value qkv[3];
    vit_onnx_split(n, vit_onnx_linear(n, x, "attn.qkv", c->qkv_bias), qkv, 3);
    const value q = queries_of(n, qkv[0], "attn.q_norm", by_head);
    const value k = queries_of(n, qkv[1], "attn.k_norm", transposed);
    const value v = heads_of(n, qkv[2], c->heads, head_dim, by_head);
    const bool biased = vit_relatives[c->relative].blocks || vit_relatives[c->relative].shared;
    value bias = {0};
    if (biased) bias = vit_onnx_relative_bias(n);
    const value o = attend(n, q, k, v, biased ? &bias : NULL, scale, vit_config_attention_dim(c));
    const value read = c->attention_norm ? layernorm(n, o, "attn.norm") : o;
    const value y = vit_onnx_linear(n, read, "attn.proj", c->proj_bias);
    return c->layer_scale ? vit_onnx_two(n->nodes, "Mul", y, vit_onnx_weight(n, "ls1", ".gamma"))
                          : y;
}

static value mlp(network *n, value x) {
    const vit_config *c = n->config;
    value hidden = vit_onnx_linear(n, x, "mlp.fc1", c->proj_bias), parts[2];
    if (c->gated) {
        vit_onnx_split(n, hidden, parts, 2);
        hidden = activation(n, parts[0], c->activation);
        hidden = vit_onnx_two(n->nodes, "Mul", hidden, parts[1]);
    } else {
        hidden = activation(n, hidden, c->activation);
    }
    if (c->mlp_norm) hidden = layernorm(n, hidden, "mlp.norm");
    const value y = vit_onnx_linear(n, hidden, "mlp.fc2", c->proj_bias);
    const char *scale = vit_norms[c->norm].one ? "ls1" : "ls2";
    return c->layer_scale ? vit_onnx_two(n->nodes, "Mul", y, vit_onnx_weight(n, scale, ".gamma"))
                          : y;
}

static value block(network *n, value z, size_t i) {
    snprintf(n->scope, sizeof n->scope, "blocks.%zu.", i);
    switch (n->config->norm) {
    case VIT_NORM_PRE:
        z = vit_onnx_two(n->nodes, "Add", z, attention(n, layernorm(n, z, "norm1")));
        z = vit_onnx_two(n->nodes, "Add", z, mlp(n, layernorm(n, z, "norm2")));
        break;
    case VIT_NORM_POST:
        z = layernorm(n, vit_onnx_two(n->nodes, "Add", z, attention(n, z)), "norm1");
        z = layernorm(n, vit_onnx_two(n->nodes, "Add", z, mlp(n, z)), "norm2");
        break;
    case VIT_NORM_RES_POST:
        z = vit_onnx_two(n->nodes, "Add", z, layernorm(n, attention(n, z), "norm1"));
        z = vit_onnx_two(n->nodes, "Add", z, layernorm(n, mlp(n, z), "norm2"));
        break;
    case VIT_NORM_PARALLEL: {
        const value x = layernorm(n, z, "norm1");
        z = vit_onnx_two(n->nodes, "Add", z, attention(n, x));
        z = vit_onnx_two(n->nodes, "Add", z, mlp(n, x));
        break;
    }
    case VIT_NORM_COUNT:
        break;
    }
    n->scope[0] = '\0';
    return z;
}

/* ---- pooling and head ---- */

static value first_of(network *n, value x) {
    const int64_t axis = 1;
    return vit_onnx_two(n->nodes, "Squeeze", x, vit_onnx_list(n->nodes, 1, &axis));
}

/* The ReduceMean or ReduceMax of all tokens. */
static value reduce(network *n, const char *op, value x) {
    const vit_onnx_attribute rows[] = {{"axes", VIT_ONNX_LIST, .list = {1}, .count = 1},
                                       {"keepdims", VIT_ONNX_ONE, .one = 0}};
    return one_with(n, op, x, rows, VIT_COUNT(rows));
}

/* Pooling by attention, vit/model/parts/map_pool.c. */
static value map_pool(network *n, value x) {
    const vit_config *c = n->config;
    const size_t heads = vit_config_pool_heads(c), head_dim = c->dim / heads;
    value kv[2];
    const bool plain = c->pool_plain;
    const value latent = vit_onnx_named("attn_pool.latent");
    const value query = plain ? latent : vit_onnx_linear(n, latent, "attn_pool.q", true);
    vit_onnx_split(n, vit_onnx_linear(n, x, "attn_pool.kv", !plain || c->qkv_bias), kv, 2);
    const value q = heads_of(n, query, heads, head_dim, by_head);
    const value k = heads_of(n, kv[0], heads, head_dim, transposed);
    const value v = heads_of(n, kv[1], heads, head_dim, by_head);
    const value o = attend(n, q, k, v, NULL, 1 / sqrt((double)head_dim), c->dim);
    const value y = vit_onnx_linear(n, o, "attn_pool.proj", true);
    if (plain) return first_of(n, y);
    value hidden = vit_onnx_linear(n, layernorm(n, y, "attn_pool.norm"), "attn_pool.mlp.fc1", true);
    hidden = vit_onnx_linear(n, activation(n, hidden, c->activation), "attn_pool.mlp.fc2", true);
    return first_of(n, vit_onnx_two(n->nodes, "Add", hidden, y));
}

/* vit/model/parts/prr_pool.c */
static value prr_pool(network *n, value x) {
    const vit_config *c = n->config;
    const size_t heads = vit_config_pool_heads(c), head_dim = c->dim / heads;
    const value q = heads_of(n, c->class_token ? tokens(n, x, 0, 1) : x, heads, head_dim, by_head);
    const value k = heads_of(n, x, heads, head_dim, transposed);
    const value v = heads_of(n, x, heads, head_dim, by_head);
    const value o = attend(n, q, k, v, NULL, 1 / sqrt((double)head_dim), c->dim);
    return c->class_token ? first_of(n, o) : reduce(n, "ReduceMean", o);
}

/* Sequence pooling: the mean of the tokens, weighted by a softmax over one linear output. */
static value sequence_pool(network *n, value x) {
    const value scores = vit_onnx_linear(n, x, "attention_pool", false);
    value p = vit_onnx_axis(n->nodes, "Softmax", scores, 1);
    p = vit_onnx_transpose(n->nodes, p, 3, (int64_t[]){0, 2, 1});
    return first_of(n, vit_onnx_two(n->nodes, "MatMul", p, x));
}

static value pool(network *n, value x) {
    const vit_config *c = n->config;
    const size_t skip = c->pool_prefix ? 0 : vit_config_prefix(c);
    const size_t count = vit_config_tokens(c) - skip;
    value both[2];
    switch (c->pool) {
    case VIT_POOL_CLASS:
        return first_of(n, tokens(n, x, 0, 1));
    case VIT_POOL_MEAN:
        return reduce(n, "ReduceMean", tokens(n, x, skip, count));
    case VIT_POOL_MAP:
        return map_pool(n, tokens(n, x, skip, count));
    case VIT_POOL_SEQ:
        return sequence_pool(n, tokens(n, x, skip, count));
    case VIT_POOL_CLASS_MEAN:
        both[0] = first_of(n, tokens(n, x, 0, 1));
        both[1] = reduce(n, "ReduceMean", tokens(n, x, skip, count));
        return vit_onnx_concat(n, both, 2, 1);
    case VIT_POOL_CLASS_DIST:
        both[0] = first_of(n, tokens(n, x, 0, 1));
        both[1] = first_of(n, tokens(n, x, 1, 1));
        return vit_onnx_concat(n, both, 2, 1);
    case VIT_POOL_MAX:
        return reduce(n, "ReduceMax", tokens(n, x, skip, count));
    case VIT_POOL_MEAN_MAX:
        both[0] = reduce(n, "ReduceMean", tokens(n, x, skip, count));
        both[1] = reduce(n, "ReduceMax", tokens(n, x, skip, count));
        return times(n, vit_onnx_two(n->nodes, "Add", both[0], both[1]), .5f);
    case VIT_POOL_PRR:
        return prr_pool(n, x);
    case VIT_POOL_PREFIX_MEAN:
        return reduce(n, "ReduceMean", tokens(n, x, 0, vit_config_prefix(c)));
    case VIT_POOL_TOKENS: /* such networks are not exported to ONNX */
    case VIT_POOL_COUNT:
        break;
    }
    return x;
}

/* x / |x|, of the last dimension. */
static value unit(network *n, value x) {
    const vit_onnx_attribute length[] = {{"axis", VIT_ONNX_ONE, .one = -1},
                                         {"p", VIT_ONNX_ONE, .one = 2}};
    return one_with(n, "LpNormalization", x, length, VIT_COUNT(length));
}

static value head(network *n, value x) {
    const vit_config *c = n->config;
    const bool norms_tokens = vit_config_norms_tokens(c);
    if (norms_tokens) x = layernorm(n, x, vit_final_norm_name(c));
    x = pool(n, x);
    if (c->final_norm && !norms_tokens) x = layernorm(n, x, vit_final_norm_name(c));
    switch (c->head) {
    case VIT_HEAD_TANH:
        x = vit_onnx_one(n->nodes, "Tanh", vit_onnx_linear(n, x, "pre_logits", true));
        return vit_onnx_linear(n, x, "head", c->head_bias);
    case VIT_HEAD_LINEAR:
    case VIT_HEAD_PROJECTION:
        return vit_onnx_linear(n, x, "head", c->head_bias);
    case VIT_HEAD_COSINE:
        if (c->projection > 0) x = vit_onnx_linear(n, x, "head_proj", false);
        return vit_onnx_linear(n, unit(n, x), "head", c->head_bias);
    case VIT_HEAD_MLP:
        return vit_onnx_linear(n, gelu(n, vit_onnx_linear(n, x, "head.0", true)), "head.2",
                               c->head_bias);
    case VIT_HEAD_NONE:
    case VIT_HEAD_COUNT:
        break;
    }
    return x;
}

/* ---- the whole ---- */

vit_status vit_onnx_network(vit_onnx_nodes *g, const vit_config *c, vit_error *error) {
    network n = {.nodes = g, .config = c};
    value x = vit_onnx_named(VIT_ONNX_INPUT);
    g->scope = n.scope;
    const bool mixed = vit_ropes[c->rope].learned;
    value grid = {0};
    vit_status status = embed(&n, &x, error);
    if (status == VIT_OK)
        status = mixed ? vit_onnx_rope_grid(&n, &grid, error) : vit_onnx_fixed_rope(&n, error);
    if (status == VIT_OK &&
        (vit_relatives[c->relative].blocks || vit_relatives[c->relative].shared))
        status = vit_onnx_relative_index(&n, error);
    for (size_t i = 0; i < c->depth && status == VIT_OK; i++) {
        if (mixed) vit_onnx_mixed_rope(&n, grid, i);
        x = block(&n, x, i);
    }
    if (status == VIT_OK) vit_onnx_cast(g, head(&n, x), VIT_ONNX_FLOAT, VIT_ONNX_OUTPUT);
    g->scope = "";
    if (status != VIT_OK) return status;
    return g->nodes.failed || g->constants.failed ? vit_fail_memory(error, "an ONNX graph", 0)
                                                  : VIT_OK;
}
