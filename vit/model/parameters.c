#include "vit/model/parameters.h"
#include "vit/base/sys.h"
#include <stdio.h>
#include <string.h>

#define ROWS_PER_BLOCK 12
#define ROWS_BESIDE (10 + 2 * VIT_MOST_CONVS)

typedef struct builder {
    vit_table *table;
    char prefix[32]; /* of the names that follow: "", "blocks.3." */
} builder;

static vit_parameter *add(builder *b, vit_parameter_kind kind, const char *name, size_t dims,
                          const size_t shape[4]) {
    vit_table *t = b->table;
    vit_parameter *p = &t->rows[t->count++];
    snprintf(p->name, sizeof p->name, "%s%s", b->prefix, name);
    p->kind = kind;
    p->dims = dims;
    p->count = 1;
    for (size_t i = 0; i < dims; i++) {
        p->shape[i] = shape[i];
        p->count *= shape[i];
    }
    p->offset = t->size;
    t->size += vit_padded(p->count);
    t->parameters += p->count;
    return p;
}

/* A linear layer: weight, first dimension `out`, and bias. */
static void add_linear_shaped(builder *b, const char *layer, size_t dims, const size_t shape[4],
                              bool bias) {
    char name[40];
    snprintf(name, sizeof name, "%s.weight", layer);
    vit_parameter *w = add(b, VIT_PARAMETER_WEIGHT, name, dims, shape);
    const size_t out = shape[0], in = w->count / out;
    w->fan_in = in;
    w->packed_offset = b->table->packed_size;
    b->table->packed_size += vit_packed_size(out, in);
    if (!bias) return;
    snprintf(name, sizeof name, "%s.bias", layer);
    add(b, VIT_PARAMETER_BIAS, name, 1, (size_t[4]){out})->fan_in = in;
}

static void add_linear(builder *b, const char *layer, size_t in, size_t out, bool bias) {
    add_linear_shaped(b, layer, 2, (size_t[4]){out, in}, bias);
}

static void add_norm(builder *b, const char *layer, size_t dim) {
    char name[40];
    snprintf(name, sizeof name, "%s.weight", layer);
    add(b, VIT_PARAMETER_GAMMA, name, 1, (size_t[4]){dim});
    snprintf(name, sizeof name, "%s.bias", layer);
    add(b, VIT_PARAMETER_BETA, name, 1, (size_t[4]){dim});
}

const char *vit_stem_name(char name[VIT_STEM_NAME], size_t i) {
    snprintf(name, VIT_STEM_NAME, "stem.%zu", 2 * i);
    return name;
}

/* Named as the modules of an nn.Sequential(Conv2d, GELU, ..., Conv2d). */
static void add_convs(builder *b, const vit_config *c) {
    const size_t convs = vit_config_convs(c), first = b->table->count;
    size_t channels = c->channels;
    char name[VIT_STEM_NAME];
    for (size_t i = 0; i < convs; i++) {
        const size_t width = vit_config_conv_width(c, i);
        add_linear_shaped(b, vit_stem_name(name, i), 4, (size_t[4]){width, channels, 3, 3}, true);
        channels = width;
    }
    add_linear_shaped(b, vit_stem_name(name, convs), 4, (size_t[4]){c->dim, c->dim, 1, 1}, true);
    for (size_t i = first; i < b->table->count; i++) b->table->rows[i].convolves = true;
}

static void add_embedding(builder *b, const vit_config *c) {
    const size_t d = c->dim, p = c->patch;
    if (c->pool == VIT_POOL_CLASS)
        add(b, VIT_PARAMETER_CLASS_TOKEN, "cls_token", 3, (size_t[4]){1, 1, d});
    if (c->positions == VIT_POSITIONS_LEARNED)
        add(b, VIT_PARAMETER_POSITIONS, "pos_embed", 3, (size_t[4]){1, vit_config_tokens(c), d});
    if (c->stem == VIT_STEM_CONV)
        add_convs(b, c);
    else if (c->patch_order == VIT_PATCH_CONV)
        add_linear_shaped(b, "patch_embed.proj", 4, (size_t[4]){d, c->channels, p, p}, true);
    else
        add_linear(b, "patch_embed.proj", p * p * c->channels, d, true);
}

static void add_block(builder *b, const vit_config *c) {
    add_norm(b, "norm1", c->dim);
    add_linear(b, "attn.qkv", c->dim, 3 * c->dim, c->qkv_bias);
    add_linear(b, "attn.proj", c->dim, c->dim, true);
    add_norm(b, "norm2", c->dim);
    add_linear(b, "mlp.fc1", c->dim, c->mlp, true);
    add_linear(b, "mlp.fc2", c->mlp, c->dim, true);
}

const char *vit_final_norm_name(const vit_config *c) {
    return c->pool == VIT_POOL_MEAN ? "fc_norm" : "norm";
}

static void add_head(builder *b, const vit_config *c) {
    if (c->final_norm) add_norm(b, vit_final_norm_name(c), c->dim);
    if (c->head == VIT_HEAD_LINEAR) {
        add_linear(b, "head", c->dim, c->classes, true);
    } else { /* named as the modules of an nn.Sequential(Linear, GELU, Linear) */
        add_linear(b, "head.0", c->dim, c->mlp, true);
        add_linear(b, "head.2", c->mlp, c->classes, true);
    }
}

vit_status vit_table_new(vit_table *out, const vit_config *config, vit_error *error) {
    *out = (vit_table){0};
    const vit_status status = vit_config_check(config, error);
    if (status != VIT_OK) return status;
    const size_t most = config->depth * ROWS_PER_BLOCK + ROWS_BESIDE;
    out->rows = vit_alloc(most, sizeof *out->rows);
    if (!out->rows) return vit_fail_memory(error, "the parameter table", most * sizeof *out->rows);
    builder b = {out, ""};
    add_embedding(&b, config);
    for (size_t i = 0; i < config->depth; i++) {
        snprintf(b.prefix, sizeof b.prefix, "blocks.%zu.", i);
        add_block(&b, config);
    }
    b.prefix[0] = '\0';
    add_head(&b, config);
    return VIT_OK;
}

void vit_table_free(vit_table *table) {
    vit_free(table->rows);
    *table = (vit_table){0};
}

const vit_parameter *vit_table_find(const vit_table *table, const char *name) {
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].name, name) == 0) return &table->rows[i];
    return NULL;
}

typedef struct packing {
    float *packed;
    const float *values;
    const vit_table *table;
} packing;

static void pack_task(size_t index, int thread, void *context) {
    (void)thread;
    const packing *p = context;
    const vit_parameter *row = &p->table->rows[index];
    if (row->kind != VIT_PARAMETER_WEIGHT) return;
    const size_t out = row->shape[0], in = row->count / out;
    vit_pack_transposed(p->packed + row->packed_offset, p->values + row->offset, out, in, in);
}

void vit_table_pack(int threads, float *packed, const float *values, const vit_table *table) {
    packing p = {packed, values, table};
    vit_parallel(threads, table->count, pack_task, &p);
}
