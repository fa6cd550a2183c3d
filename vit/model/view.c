/* Views: the arrays of a parameter table under the names of the network. Weights and gradients are
 * bound by the same walk, so they cannot disagree. */
#include "vit/base/sys.h"
#include "vit/model/parameters.h"
#include "vit/model/positions.h"
#include <stdio.h>
#include <string.h>

typedef struct binder {
    const vit_table *table;
    const float *values;
    vit_packed_weights packed;
    vit_gradient_arrays gradients;
    double norm_eps;
} binder;

static const vit_parameter *find(const binder *b, const char *layer, const char *part) {
    char name[64];
    snprintf(name, sizeof name, "%s%s", layer, part);
    return vit_table_find(b->table, name);
}

static const float *value(const binder *b, const vit_parameter *p) {
    return p && b->values && p->offset != VIT_ONLY_PACKED ? b->values + p->offset : NULL;
}

static float *gradient(const binder *b, const vit_parameter *p) {
    const vit_gradient_arrays *g = &b->gradients;
    float *array = p && p->kind == VIT_PARAMETER_WEIGHT ? g->weights : g->others;
    return p && array ? array + p->offset : NULL;
}

static const float *packed_transposed(const binder *b, const vit_parameter *weight) {
    const vit_packed_weights *p = &b->packed;
    return p->transposed ? p->transposed + vit_words(p->precision, weight->packed_offset) : NULL;
}

/* Of layer 0, only convolutions are asked for dx. */
static vit_right packed_rows(const binder *b, const vit_parameter *weight) {
    const vit_packed_weights *p = &b->packed;
    if (!p->rows || weight->layer == 0) return (vit_right){0};
    return vit_right_packed(p->rows + vit_words(p->precision, weight->packed_offset),
                            vit_words(p->precision, weight->shape[0]));
}

static void bind_linear(const binder *b, const char *layer, vit_linear *w, vit_linear_gradient *g) {
    const vit_parameter *weight = find(b, layer, ".weight"), *bias = find(b, layer, ".bias");
    if (w && weight)
        *w = (vit_linear){weight->fan_in,
                          weight->shape[0],
                          value(b, weight),
                          value(b, bias),
                          packed_transposed(b, weight),
                          packed_rows(b, weight)};
    if (g) *g = (vit_linear_gradient){gradient(b, weight), gradient(b, bias), b->gradients.sum};
}

static void bind_norm(const binder *b, const char *layer, vit_norm *w, vit_norm_gradient *g) {
    const vit_parameter *gamma = find(b, layer, ".weight"), *beta = find(b, layer, ".bias");
    if (w && gamma)
        *w = (vit_norm){gamma->count, (float)b->norm_eps, value(b, gamma), value(b, beta)};
    if (g) *g = (vit_norm_gradient){gradient(b, gamma), gradient(b, beta)};
}

/* The parts of a block or of the map pooling, by their names there; NULL where a view has none. */
typedef struct norm_part {
    const char *layer;
    vit_norm *w;
    vit_norm_gradient *g;
} norm_part;

typedef struct linear_part {
    const char *layer;
    vit_linear *w;
    vit_linear_gradient *g;
} linear_part;

static void bind_norms(const binder *b, const char *prefix, const norm_part *parts, size_t count) {
    char name[64];
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%s%s", prefix, parts[i].layer);
        bind_norm(b, name, parts[i].w, parts[i].g);
    }
}

static void bind_linears(const binder *b, const char *prefix, const linear_part *parts,
                         size_t count) {
    char name[64];
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%s%s", prefix, parts[i].layer);
        bind_linear(b, name, parts[i].w, parts[i].g);
    }
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void bind_block(const binder *b, size_t i, vit_block_weights *w, vit_block_gradients *g) {
    char prefix[32];
    const norm_part norms[] = {{"norm1", w ? &w->norm1 : NULL, g ? &g->norm1 : NULL},
                               {"norm2", w ? &w->norm2 : NULL, g ? &g->norm2 : NULL},
                               {"attn.q_norm", w ? &w->q_norm : NULL, g ? &g->q_norm : NULL},
                               {"attn.k_norm", w ? &w->k_norm : NULL, g ? &g->k_norm : NULL}};
    const linear_part linears[] = {{"attn.qkv", w ? &w->qkv : NULL, g ? &g->qkv : NULL},
                                   {"attn.proj", w ? &w->proj : NULL, g ? &g->proj : NULL},
                                   {"mlp.fc1", w ? &w->fc1 : NULL, g ? &g->fc1 : NULL},
                                   {"mlp.fc2", w ? &w->fc2 : NULL, g ? &g->fc2 : NULL}};
    snprintf(prefix, sizeof prefix, "blocks.%zu.", i);
    bind_norms(b, prefix, norms, COUNT(norms));
    bind_linears(b, prefix, linears, COUNT(linears));
    const vit_parameter *ls1 = find(b, prefix, "ls1.gamma"), *ls2 = find(b, prefix, "ls2.gamma");
    if (w) {
        w->ls1 = value(b, ls1);
        w->ls2 = value(b, ls2);
    }
    if (g) {
        g->ls1 = gradient(b, ls1);
        g->ls2 = gradient(b, ls2);
    }
}

static void bind_map(const binder *b, vit_map_weights *w, vit_map_gradients *g) {
    const norm_part norm = {"norm", w ? &w->norm : NULL, g ? &g->norm : NULL};
    const linear_part linears[] = {{"q", w ? &w->q : NULL, g ? &g->q : NULL},
                                   {"kv", w ? &w->kv : NULL, g ? &g->kv : NULL},
                                   {"proj", w ? &w->proj : NULL, g ? &g->proj : NULL},
                                   {"mlp.fc1", w ? &w->fc1 : NULL, g ? &g->fc1 : NULL},
                                   {"mlp.fc2", w ? &w->fc2 : NULL, g ? &g->fc2 : NULL}};
    const vit_parameter *latent = find(b, "attn_pool.latent", "");
    bind_norms(b, "attn_pool.", &norm, 1);
    bind_linears(b, "attn_pool.", linears, COUNT(linears));
    if (w) w->latent = value(b, latent);
    if (g) g->latent = gradient(b, latent);
}

/* A linear head is one layer, "head"; an MLP head two, "head.0" and "head.2"; or there is none. */
static void bind_head(const binder *b, bool mlp, vit_linear *w, vit_linear_gradient *g) {
    bind_linear(b, mlp ? "head.0" : "head", w, g);
    if (mlp) bind_linear(b, "head.2", w ? w + 1 : NULL, g ? g + 1 : NULL);
}

/* The linear layer that makes tokens. */
static const char *projection_name(char name[VIT_STEM_NAME], const vit_config *c) {
    return c->stem == VIT_STEM_CONV ? vit_stem_name(name, c, vit_config_convs(c))
                                    : "patch_embed.proj";
}

vit_status vit_weights_view(vit_weights *out, const vit_config *config, const vit_table *table,
                            const float *values, const vit_packed_weights *packed,
                            vit_error *error) {
    *out = (vit_weights){.precision = packed->precision};
    const vit_status status = vit_positions_new(&out->fixed_positions, config, error);
    if (status != VIT_OK) return status;
    out->blocks = vit_alloc(config->depth, sizeof *out->blocks);
    if (!out->blocks) {
        vit_weights_free(out);
        return vit_fail_memory(error, "the network's view", config->depth * sizeof *out->blocks);
    }
    const binder b = {table, values, *packed, {0}, config->norm_eps};
    char name[VIT_STEM_NAME];
    for (size_t i = 0; i < VIT_PREFIX_KINDS; i++)
        out->prefix[i] = value(&b, find(&b, vit_prefix_name(i), ""));
    out->positions = out->fixed_positions;
    if (!out->positions) out->positions = value(&b, find(&b, "pos_embed", ""));
    for (size_t i = 0; i < vit_config_convs(config); i++)
        bind_linear(&b, vit_stem_name(name, config, i), &out->convs[i], NULL);
    bind_linear(&b, projection_name(name, config), &out->patch_embed, NULL);
    bind_norm(&b, "patch_embed.norm", &out->patch_norms[0], NULL);
    bind_norm(&b, "patch_embed.norm_after", &out->patch_norms[1], NULL);
    bind_norm(&b, "norm_pre", &out->norm_pre, NULL);
    for (size_t i = 0; i < config->depth; i++) bind_block(&b, i, &out->blocks[i], NULL);
    bind_norm(&b, vit_final_norm_name(config), &out->norm, NULL);
    bind_map(&b, &out->map, NULL);
    bind_linear(&b, "attention_pool", &out->attention_pool, NULL);
    bind_head(&b, config->head == VIT_HEAD_MLP, out->head, NULL);
    return VIT_OK;
}

void vit_weights_free(vit_weights *view) {
    vit_free(view->fixed_positions);
    vit_free(view->blocks);
    *view = (vit_weights){0};
}

vit_status vit_gradients_view(vit_gradients *out, const vit_config *config, const vit_table *table,
                              const vit_gradient_arrays *arrays, vit_error *error) {
    *out = (vit_gradients){0};
    out->blocks = vit_alloc(config->depth, sizeof *out->blocks);
    if (!out->blocks)
        return vit_fail_memory(error, "the gradients' view", config->depth * sizeof *out->blocks);
    const binder b = {table, NULL, {0}, *arrays, config->norm_eps};
    char name[VIT_STEM_NAME];
    for (size_t i = 0; i < VIT_PREFIX_KINDS; i++)
        out->prefix[i] = gradient(&b, find(&b, vit_prefix_name(i), ""));
    out->positions = gradient(&b, find(&b, "pos_embed", ""));
    for (size_t i = 0; i < vit_config_convs(config); i++)
        bind_linear(&b, vit_stem_name(name, config, i), NULL, &out->convs[i]);
    bind_linear(&b, projection_name(name, config), NULL, &out->patch_embed);
    bind_norm(&b, "patch_embed.norm", NULL, &out->patch_norms[0]);
    bind_norm(&b, "patch_embed.norm_after", NULL, &out->patch_norms[1]);
    bind_norm(&b, "norm_pre", NULL, &out->norm_pre);
    for (size_t i = 0; i < config->depth; i++) bind_block(&b, i, NULL, &out->blocks[i]);
    bind_norm(&b, vit_final_norm_name(config), NULL, &out->norm);
    bind_map(&b, NULL, &out->map);
    bind_linear(&b, "attention_pool", NULL, &out->attention_pool);
    bind_head(&b, config->head == VIT_HEAD_MLP, NULL, out->head);
    return VIT_OK;
}

void vit_gradients_free(vit_gradients *view) {
    vit_free(view->blocks);
    *view = (vit_gradients){0};
}

void vit_gradients_clear(float *others, const vit_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        const vit_parameter *p = &table->rows[i];
        if (p->kind != VIT_PARAMETER_WEIGHT)
            memset(others + p->offset, 0, p->count * sizeof *others);
    }
}

void vit_gradients_add(const vit_kernels *kernels, float *sums, const float *others,
                       const vit_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        const vit_parameter *p = &table->rows[i];
        if (p->kind != VIT_PARAMETER_WEIGHT)
            kernels->add(sums + p->offset, others + p->offset, p->count);
    }
}
