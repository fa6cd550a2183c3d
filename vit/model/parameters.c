#include "vit/model/parameters.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include <stdio.h>
#include <string.h>

#define ROWS_PER_BLOCK 18
#define ROWS_BESIDE (34 + 2 * VIT_MOST_CONVS)

typedef struct builder {
    vit_table *table;
    char prefix[32]; /* of the names that follow: "", "blocks.3." */
    size_t layer;    /* that they belong to */
} builder;

static vit_parameter *add(builder *b, vit_parameter_kind kind, const char *name, size_t dims,
                          const size_t shape[4]) {
    vit_table *t = b->table;
    vit_parameter *p = &t->rows[t->count++];
    snprintf(p->name, sizeof p->name, "%s%s", b->prefix, name);
    p->kind = kind;
    p->layer = b->layer;
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
    b->table->packed_size += vit_max(vit_packed_size(out, in), vit_packed_size(in, out));
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

const char *vit_stem_name(char name[VIT_STEM_NAME], const vit_config *c, size_t i) {
    const bool cct = c->stem == VIT_STEM_CCT;
    snprintf(name, VIT_STEM_NAME, cct ? "tokenizer.%zu" : "stem.%zu", cct ? i : 2 * i);
    return name;
}

/* Those of a stem are named as the modules of an nn.Sequential(Conv2d, GELU, ..., Conv2d). */
static void add_convs(builder *b, const vit_config *c) {
    const bool cct = c->stem == VIT_STEM_CCT;
    const size_t convs = vit_config_convs(c), first = b->table->count;
    size_t channels = c->channels;
    char name[VIT_STEM_NAME];
    for (size_t i = 0; i < convs; i++) {
        const size_t width = vit_config_conv_width(c, i);
        const size_t stem[4] = {width, channels, 3, 3}, tokenizer[4] = {width, 3, 3, channels};
        add_linear_shaped(b, vit_stem_name(name, c, i), 4, cct ? tokenizer : stem, !cct);
        channels = width;
    }
    if (!cct)
        add_linear_shaped(b, vit_stem_name(name, c, convs), 4, (size_t[4]){c->dim, c->dim, 1, 1},
                          true);
    for (size_t i = first; i < b->table->count; i++) b->table->rows[i].convolves = true;
}

const char *vit_prefix_name(size_t kind) {
    static const char *const names[VIT_PREFIX_KINDS] = {"cls_token", "dist_token", "reg_token"};
    return names[kind];
}

size_t vit_prefix_count(const vit_config *c, size_t kind) {
    const size_t counts[VIT_PREFIX_KINDS] = {c->class_token, c->pool == VIT_POOL_CLASS_DIST,
                                             c->registers};
    return counts[kind];
}

static void add_linear_stem(builder *b, const vit_config *c) {
    const size_t d = c->dim, p = c->patch, inputs = p * p * c->channels;
    if (c->patch_norm) add_norm(b, "patch_embed.norm", inputs);
    if (c->patch_order == VIT_PATCH_CONV)
        add_linear_shaped(b, "patch_embed.proj", 4, (size_t[4]){d, c->channels, p, p},
                          c->patch_bias);
    else
        add_linear(b, "patch_embed.proj", inputs, d, c->patch_bias);
    if (c->patch_norm) add_norm(b, "patch_embed.norm_after", d);
}

static void add_embedding(builder *b, const vit_config *c) {
    for (size_t kind = 0; kind < VIT_PREFIX_KINDS; kind++) {
        const size_t count = vit_prefix_count(c, kind);
        if (count > 0)
            add(b, VIT_PARAMETER_CLASS_TOKEN, vit_prefix_name(kind), 3,
                (size_t[4]){1, count, c->dim});
    }
    if (c->positions == VIT_POSITIONS_LEARNED)
        add(b, VIT_PARAMETER_POSITIONS, "pos_embed", 3,
            (size_t[4]){1, vit_config_positions(c), c->dim});
    if (c->stem != VIT_STEM_LINEAR)
        add_convs(b, c);
    else
        add_linear_stem(b, c);
    if (c->norm_pre) add_norm(b, "norm_pre", c->dim);
}

static void add_block(builder *b, const vit_config *c) {
    const size_t d = c->dim, attention = vit_config_attention(c);
    add_norm(b, "norm1", d);
    add_linear(b, "attn.qkv", d, 3 * attention, c->qkv_bias);
    if (c->qk_norm) {
        add_norm(b, "attn.q_norm", vit_config_head_dim(c));
        add_norm(b, "attn.k_norm", vit_config_head_dim(c));
    }
    add_linear(b, "attn.proj", attention, d, true);
    if (c->layer_scale) add(b, VIT_PARAMETER_GAMMA, "ls1.gamma", 1, (size_t[4]){d});
    add_norm(b, "norm2", d);
    add_linear(b, "mlp.fc1", d, vit_config_hidden(c), true);
    add_linear(b, "mlp.fc2", c->mlp, d, true);
    if (c->layer_scale) add(b, VIT_PARAMETER_GAMMA, "ls2.gamma", 1, (size_t[4]){d});
}

const char *vit_final_norm_name(const vit_config *c) {
    return vit_config_pools_patches(c) && !vit_config_norms_tokens(c) ? "fc_norm" : "norm";
}

static void add_map(builder *b, const vit_config *c) {
    const size_t d = c->dim;
    add(b, VIT_PARAMETER_CLASS_TOKEN, "attn_pool.latent", 3, (size_t[4]){1, 1, d});
    add_linear(b, "attn_pool.q", d, d, true);
    add_linear(b, "attn_pool.kv", d, 2 * d, true);
    add_linear(b, "attn_pool.proj", d, d, true);
    add_norm(b, "attn_pool.norm", d);
    add_linear(b, "attn_pool.mlp.fc1", d, c->mlp, true);
    add_linear(b, "attn_pool.mlp.fc2", c->mlp, d, true);
}

static void add_head(builder *b, const vit_config *c) {
    const size_t features = vit_config_features(c);
    if (c->pool == VIT_POOL_MAP) add_map(b, c);
    if (c->final_norm) add_norm(b, vit_final_norm_name(c), c->dim);
    if (c->pool == VIT_POOL_SEQ) add_linear(b, "attention_pool", c->dim, 1, false);
    if (c->head == VIT_HEAD_LINEAR) add_linear(b, "head", features, c->classes, c->head_bias);
    if (c->head != VIT_HEAD_MLP) return;
    add_linear(b, "head.0", features, c->mlp, true); /* of an nn.Sequential(Linear, GELU, Linear) */
    add_linear(b, "head.2", c->mlp, c->classes, c->head_bias);
}

vit_status vit_table_new(vit_table *out, const vit_config *config, vit_error *error) {
    *out = (vit_table){0};
    const vit_status status = vit_config_check(config, error);
    if (status != VIT_OK) return status;
    const size_t most = config->depth * ROWS_PER_BLOCK + ROWS_BESIDE;
    out->rows = vit_alloc(most, sizeof *out->rows);
    if (!out->rows) return vit_fail_memory(error, "the parameter table", most * sizeof *out->rows);
    builder b = {out, "", 0};
    add_embedding(&b, config);
    for (size_t i = 0; i < config->depth; i++) {
        snprintf(b.prefix, sizeof b.prefix, "blocks.%zu.", i);
        b.layer = i + 1;
        add_block(&b, config);
    }
    b.prefix[0] = '\0';
    b.layer = config->depth + 1;
    add_head(&b, config);
    return VIT_OK;
}

void vit_table_leave_weights(vit_table *table) {
    table->size = 0;
    for (size_t i = 0; i < table->count; i++) {
        vit_parameter *p = &table->rows[i];
        const bool stays = p->kind != VIT_PARAMETER_WEIGHT;
        p->offset = stays ? table->size : VIT_ONLY_PACKED;
        if (stays) table->size += vit_padded(p->count);
    }
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
    vit_exec exec;
    const vit_packed_weights *packed;
    const float *values;
    const vit_table *table;
} packing;

static void pack_task(size_t index, int thread, void *context) {
    (void)thread;
    const packing *p = context;
    const vit_parameter *row = &p->table->rows[index];
    if (row->kind != VIT_PARAMETER_WEIGHT) return;
    const size_t out = row->shape[0], in = row->count / out;
    const size_t at = vit_words(p->exec.precision, row->packed_offset);
    const float *w = p->values + row->offset;
    vit_pack_transposed(&p->exec, p->packed->transposed + at, w, out, in, in);
    if (p->packed->rows && row->layer > 0)
        vit_pack_rows(&p->exec, p->packed->rows + at, w, in, out, in);
}

void vit_table_pack(const vit_exec *exec, const vit_packed_weights *packed, const float *values,
                    const vit_table *table) {
    packing p = {*exec, packed, values, table};
    p.exec.precision = packed->precision;
    vit_parallel(exec->threads, table->count, pack_task, &p);
}

typedef struct rounding {
    vit_exec exec;
    float *to;
    const float *from;
    const vit_table *table;
} rounding;

static void round_task(size_t index, int thread, void *context) {
    (void)thread;
    const rounding *r = context;
    const vit_parameter *row = &r->table->rows[index];
    if (row->kind != VIT_PARAMETER_WEIGHT) return;
    vit_pack_again(&r->exec, r->to + vit_words(r->exec.precision, row->packed_offset),
                   r->from + row->packed_offset, row->shape[0], row->count / row->shape[0]);
}

void vit_table_round(const vit_exec *exec, const vit_packed_weights *rounded,
                     const vit_packed_weights *packed, const vit_table *table) {
    rounding r = {*exec, rounded->transposed, packed->transposed, table};
    r.exec.precision = rounded->precision;
    vit_parallel(exec->threads, table->count, round_task, &r);
}
