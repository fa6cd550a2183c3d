/* The parameter table and its views. One walk over the network, `network` below, names every
 * tensor, gives its shape, and says to which pointer of the views it belongs. The same functions
 * make the table's rows and bind the pointers to them, so they cannot disagree. */
#include "vit/model/parameters.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/model/fixed_positions.h"
#include "vit/model/rope_table.h"
#include "vit/ops/int8.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

/* A walk has one of three purposes: to count rows (making->rows is NULL), to make them
 * (making->rows is there), or to bind pointers to those of a finished table (making is NULL). */
typedef struct walk {
    const vit_config *config;
    vit_table *making;
    const vit_table *made;
    size_t next;           /* the row of `made` that the next tensor is */
    vit_parameter counted; /* stands for every row while they are counted */
    const char *stack;     /* what names begin with: "", "decoder." */
    char prefix[32];       /* what follows that: "", "blocks.3." */
    size_t layer;          /* of the tensors that follow, as in vit_parameter */
    bool convolves;        /* they belong to a convolutional stem */
    /* what pointers are bound to: */
    const float *values;
    vit_packed_weights packed;
    float *gradients;
    bool begins; /* vit_linear_gradient.begins */
} walk;

typedef struct shape {
    size_t dims, sizes[4];
} shape;

/* ---- one tensor ---- */

/* What is done with tensors of a kind, by the enum's value. */
static const struct {
    bool weight, resamples;
} kinds[] = {
    [VIT_PARAMETER_WEIGHT] = {.weight = true},
    [VIT_PARAMETER_POSITIONS] = {.resamples = true},
    [VIT_PARAMETER_FREQUENCIES] = {false, false},
};
VIT_CHECK_ROWS(kinds, VIT_PARAMETER_COUNT);

bool vit_is_weight(const vit_parameter *p) {
    return kinds[p->kind].weight;
}

bool vit_resamples(const vit_parameter *p) {
    return kinds[p->kind].resamples;
}

static const vit_parameter *make_row(walk *w, vit_parameter_kind kind, const char *layer,
                                     const char *part, shape s, size_t fan_in) {
    const bool tied = kind == VIT_PARAMETER_EMBEDDING && w->config->tied;
    vit_table *t = w->making;
    vit_parameter *p = t->rows ? &t->rows[t->count] : &w->counted;
    *p = (vit_parameter){.kind = kind,
                         .dims = s.dims,
                         .count = 1,
                         .offset = t->size,
                         .fan_in = fan_in,
                         .convolves = w->convolves,
                         .packed_offset = t->packed_size,
                         .stored_offset = t->packed_size,
                         .int8_offset = t->int8_size,
                         .scale_offset = t->scale_size,
                         .layer = w->layer,
                         .of_block = w->prefix[0] != '\0',
                         .base = w->config->rope_base};
    p->packs = vit_is_weight(p) || tied;
    p->rounds = vit_is_weight(p) && p->of_block;
    snprintf(p->name, sizeof p->name, "%s%s%s%s", w->stack, w->prefix, layer, part);
    for (size_t i = 0; i < s.dims; i++) {
        p->shape[i] = s.sizes[i];
        p->count *= s.sizes[i];
    }
    t->count++;
    t->size += vit_padded(p->count);
    t->parameters += p->count;
    if (p->packs) {
        const size_t out = s.sizes[0], in = p->count / out;
        t->packed_size += vit_max(vit_packed_size(out, in), vit_packed_size(in, out));
        t->stored_size = t->packed_size;
        t->scale_size += p->rounds ? out : 0;
        t->int8_size += p->rounds ? vit_int8_words(out, in) : vit_packed_size(out, in);
    }
    return p;
}

/* The next tensor's row, made or found. Its name is layer + part; fan_in: of linear layers, else 0.
 */
static const vit_parameter *tensor(walk *w, vit_parameter_kind kind, const char *layer,
                                   const char *part, shape s, size_t fan_in) {
    if (w->making) return make_row(w, kind, layer, part, s, fan_in);
    assert(w->next < w->made->count);
    return &w->made->rows[w->next++];
}

static const float *value(const walk *w, const vit_parameter *p) {
    return w->values && p->offset != VIT_ONLY_PACKED ? w->values + p->offset : NULL;
}

static float *gradient(const walk *w, const vit_parameter *p) {
    return w->gradients ? w->gradients + p->offset : NULL;
}

/* Layer 0 has none: of it only convolutions need dx. */
static vit_operand_b packed_rows(const walk *w, const vit_parameter *weight) {
    const vit_packed_weights *p = &w->packed;
    if (!p->rows || weight->layer == 0) return (vit_operand_b){0};
    return vit_b_packed(p->rows + vit_words(p->precision, weight->packed_offset),
                        vit_words(p->precision, weight->shape[0]));
}

/* A tensor of its own: tokens, positions, a layer scale. */
static void alone(walk *w, vit_parameter_kind kind, const char *name, shape s, const float **v,
                  float **g) {
    const vit_parameter *p = tensor(w, kind, name, "", s, 0);
    *v = value(w, p);
    *g = gradient(w, p);
}

/* A linear layer whose weight has the shape s, [out][in...]. */
static void linear_shaped(walk *w, const char *layer, shape s, bool bias, vit_linear *v,
                          vit_linear_gradient *g) {
    const size_t out = s.sizes[0], in = s.sizes[1] * (s.dims == 4 ? s.sizes[2] * s.sizes[3] : 1);
    const vit_parameter *p = tensor(w, VIT_PARAMETER_WEIGHT, layer, ".weight", s, in);
    *v = (vit_linear){.in = in,
                      .out = out,
                      .weight = value(w, p),
                      .packed = vit_packed_of(&w->packed, p),
                      .stored = vit_packed_as(p, w->packed.precision),
                      .packed_rows = packed_rows(w, p)};
    if (v->packed && p->rounds && vit_precisions[w->packed.precision].scales) {
        v->scales = vit_int8_scales(v->packed, out, in);
        v->starts = vit_int8_starts(v->packed, out, in);
    }
    *g = (vit_linear_gradient){.weight = gradient(w, p), .begins = w->begins};
    if (!bias) return;
    p = tensor(w, VIT_PARAMETER_BIAS, layer, ".bias", (shape){1, {out}}, in);
    v->bias = value(w, p);
    g->bias = gradient(w, p);
}

static void linear(walk *w, const char *layer, size_t in, size_t out, bool bias, vit_linear *v,
                   vit_linear_gradient *g) {
    linear_shaped(w, layer, (shape){2, {out, in}}, bias, v, g);
}

static void norm(walk *w, const char *layer, size_t dim, vit_norm *v, vit_norm_gradient *g) {
    const shape s = {1, {dim}};
    const vit_parameter *p = tensor(w, VIT_PARAMETER_GAMMA, layer, ".weight", s, 0);
    *v = (vit_norm){.dim = dim,
                    .eps = (float)w->config->norm_eps,
                    .rms = w->config->rms_norm,
                    .gamma = value(w, p)};
    *g = (vit_norm_gradient){.gamma = gradient(w, p)};
    if (v->rms) return;
    p = tensor(w, VIT_PARAMETER_BETA, layer, ".bias", s, 0);
    v->beta = value(w, p);
    g->beta = gradient(w, p);
}

/* ---- the network, in the order of the table ---- */

/* Their names are those of the modules of an nn.Sequential(Conv2d, GELU, ..., Conv2d). */
static void convolutions(walk *w, vit_weights *v, vit_gradients *g) {
    const vit_config *c = w->config;
    const bool cct = vit_stems[c->stem].pools;
    const size_t convs = vit_config_convs(c);
    size_t channels = c->channels;
    char name[VIT_STEM_NAME];
    w->convolves = true;
    for (size_t i = 0; i < convs; i++) {
        const size_t width = vit_config_conv_width(c, i);
        const shape stem = {4, {width, channels, 3, 3}}, tokenizer = {4, {width, 3, 3, channels}};
        linear_shaped(w, vit_stem_name(name, c, i), cct ? tokenizer : stem, !cct, &v->convs[i],
                      &g->convs[i]);
        channels = width;
    }
    if (!cct)
        linear_shaped(w, vit_stem_name(name, c, convs), (shape){4, {c->dim, c->dim, 1, 1}}, true,
                      &v->patch_embed, &g->patch_embed);
    w->convolves = false;
}

static shape patch_shape(const vit_config *c) {
    switch (c->patch_order) {
    case VIT_PATCH_CONV:
        return (shape){4, {c->dim, c->channels, c->patch, c->patch}};
    case VIT_PATCH_PIXEL:
    case VIT_PATCH_COUNT:
        break;
    }
    return (shape){2, {c->dim, c->patch * c->patch * c->channels}};
}

static void patch_embedding(walk *w, vit_weights *v, vit_gradients *g) {
    const vit_config *c = w->config;
    const size_t inputs = c->patch * c->patch * c->channels;
    if (c->patch_norm) norm(w, "patch_embed.norm", inputs, &v->patch_norms[0], &g->patch_norms[0]);
    linear_shaped(w, "patch_embed.proj", patch_shape(c), c->patch_bias, &v->patch_embed,
                  &g->patch_embed);
    if (vit_config_norms_embedding(c))
        norm(w, "patch_embed.norm_after", c->dim, &v->patch_norms[1], &g->patch_norms[1]);
}

/* The table of ids, [ids][D], which may be the head's weight, too. */
static void text_embedding(walk *w, vit_weights *v, vit_gradients *g) {
    const vit_config *c = w->config;
    const vit_parameter *p = tensor(w, VIT_PARAMETER_EMBEDDING, "embed", ".weight",
                                    (shape){2, {c->vocabulary, c->dim}}, 0);
    v->embedding = value(w, p);
    g->embedding = gradient(w, p);
    if (!c->tied) return;
    v->head[0] = (vit_linear){.in = c->dim,
                              .out = c->vocabulary,
                              .weight = value(w, p),
                              .packed = vit_packed_of(&w->packed, p),
                              .stored = vit_packed_as(p, w->packed.precision),
                              .packed_rows = packed_rows(w, p)};
    /* adds to the gradient that the table's rows have as the embedding */
    g->head[0] = (vit_linear_gradient){.weight = gradient(w, p)};
}

static shape relative_shape(const vit_config *c) {
    const vit_relative_shape s = vit_config_relative(c);
    return (shape){2, {vit_relative_rows(&s), c->heads}};
}

/* The table of relative positions, or the MLP that makes it: layers "NAME.mlp.fc1" and fc2. */
static void relative(walk *w, const char *table, const char *name, vit_relative_weights *v,
                     vit_relative_gradients *g) {
    const vit_config *c = w->config;
    char layer[48];
    if (c->relative_mlp == 0) {
        alone(w, VIT_PARAMETER_RELATIVE, table, relative_shape(c), &v->table, &g->table);
        return;
    }
    snprintf(layer, sizeof layer, "%s.mlp.fc1", name);
    linear(w, layer, 2, c->relative_mlp, true, &v->fc1, &g->fc1);
    snprintf(layer, sizeof layer, "%s.mlp.fc2", name);
    linear(w, layer, c->relative_mlp, c->heads, true, &v->fc2, &g->fc2);
}

static void embedding(walk *w, vit_weights *v, vit_gradients *g) {
    const vit_config *c = w->config;
    if (vit_stems[c->stem].texts) text_embedding(w, v, g);
    for (size_t kind = 0; kind < VIT_PREFIX_KINDS; kind++) {
        const size_t count = vit_prefix_count(c, kind);
        if (count > 0)
            alone(w, VIT_PARAMETER_CLASS_TOKEN, vit_prefix_name(kind),
                  (shape){3, {1, count, c->dim}}, &v->prefix[kind], &g->prefix[kind]);
    }
    if (vit_positions[c->positions].learned)
        alone(w, VIT_PARAMETER_POSITIONS, "pos_embed",
              (shape){3, {1, vit_config_positions(c), c->dim}}, &v->positions, &g->positions);
    if (vit_relatives[c->relative].shared)
        relative(w, "rel_pos_bias.relative_position_bias_table", "shared_rel_pos", &v->relative,
                 &g->relative);
    if (vit_ropes[c->rope].learned)
        alone(w, VIT_PARAMETER_FREQUENCIES, "rope.freqs",
              (shape){4, {2, c->depth, c->heads, vit_config_head_dim(c) / 2}}, &v->rope_freqs,
              &g->rope_freqs);
    if (c->rope_class)
        alone(w, VIT_PARAMETER_CLASS_TOKEN, "rope.class",
              (shape){2, {1, vit_config_head_dim(c) / 2}}, &v->rope_class, &g->rope_class);
    switch (c->stem) {
    case VIT_STEM_LINEAR:
        patch_embedding(w, v, g);
        break;
    case VIT_STEM_CONV:
    case VIT_STEM_CCT:
        convolutions(w, v, g);
        break;
    case VIT_STEM_TOKENS:
    case VIT_STEM_NONE:
    case VIT_STEM_COUNT:
        break;
    }
    if (c->norm_pre) norm(w, "norm_pre", c->dim, &v->norm_pre, &g->norm_pre);
}

static void cross_attention(walk *w, vit_block_weights *v, vit_block_gradients *g) {
    const vit_config *c = w->config;
    const size_t d = c->dim, a = vit_config_attention_dim(c);
    norm(w, "cross_norm", d, &v->cross_norm, &g->cross_norm);
    linear(w, "cross_attn.q", d, a, c->qkv_bias, &v->cross_q, &g->cross_q);
    linear(w, "cross_attn.kv", c->memory, 2 * a, c->qkv_bias, &v->cross_kv, &g->cross_kv);
    linear(w, "cross_attn.proj", a, d, true, &v->cross_proj, &g->cross_proj);
}

/* The tensor that was made last is the bias of queries, keys and values, and keys have none. */
static void take_key_bias(walk *w, size_t a) {
    vit_table *t = w->making;
    if (!t) return;
    t->parameters -= a;
    if (t->rows) t->rows[t->count - 1].zeros[0] = t->rows[t->count - 1].zeros[1] = a;
}

static void block(walk *w, vit_block_weights *v, vit_block_gradients *g) {
    const vit_config *c = w->config;
    const size_t d = c->dim, a = vit_config_attention_dim(c), head = vit_config_head_dim(c);
    const vit_norm_row *row = &vit_norms[c->norm];
    const shape scale = {1, {d}};
    norm(w, "norm1", d, &v->norm1, &g->norm1);
    linear(w, "attn.qkv", d, 3 * a, c->qkv_bias, &v->qkv, &g->qkv);
    if (c->qkv_bias && !c->key_bias) take_key_bias(w, a);
    if (vit_relatives[c->relative].blocks)
        relative(w, "attn.relative_position_bias_table", "attn.rel_pos", &v->relative,
                 &g->relative);
    if (c->qk_norm) norm(w, "attn.q_norm", head, &v->q_norm, &g->q_norm);
    if (c->qk_norm) norm(w, "attn.k_norm", head, &v->k_norm, &g->k_norm);
    if (c->attention_norm) norm(w, "attn.norm", a, &v->attention_norm, &g->attention_norm);
    linear(w, "attn.proj", a, d, c->proj_bias, &v->proj, &g->proj);
    if (c->layer_scale) alone(w, VIT_PARAMETER_GAMMA, "ls1.gamma", scale, &v->ls1, &g->ls1);
    if (c->memory > 0) cross_attention(w, v, g);
    if (!row->one) norm(w, "norm2", d, &v->norm2, &g->norm2);
    linear(w, "mlp.fc1", d, vit_config_hidden(c), c->proj_bias, &v->fc1, &g->fc1);
    if (c->mlp_norm) norm(w, "mlp.norm", c->mlp, &v->mlp_norm, &g->mlp_norm);
    linear(w, "mlp.fc2", c->mlp, d, c->proj_bias, &v->fc2, &g->fc2);
    if (!c->layer_scale) return;
    if (!row->one) {
        alone(w, VIT_PARAMETER_GAMMA, "ls2.gamma", scale, &v->ls2, &g->ls2);
        return;
    }
    v->ls2 = v->ls1;
    g->ls2 = g->ls1;
}

/* What block i has of tensors that all blocks share. */
static void block_positions(const vit_config *c, size_t i, const vit_weights *v,
                            const vit_gradients *g) {
    const size_t count = vit_config_attention_dim(c) / 2;
    for (size_t axis = 0; axis < 2; axis++) {
        const size_t at = (axis * c->depth + i) * count;
        if (v->blocks && v->rope_freqs) v->blocks[i].rope_freqs[axis] = v->rope_freqs + at;
        if (g->blocks && g->rope_freqs) g->blocks[i].rope_freqs[axis] = g->rope_freqs + at;
    }
    if (v->blocks) v->blocks[i].rope = v->fixed_rope;
    if (v->blocks) v->blocks[i].rope_class = v->rope_class;
    if (g->blocks) g->blocks[i].rope_class = g->rope_class;
    if (!vit_relatives[c->relative].shared) return;
    if (v->blocks) v->blocks[i].relative = v->relative;
    if (!g->blocks) return;
    g->blocks[i].relative = g->relative;
    if (i + 1 == c->depth) return; /* whose backward pass is the first */
    g->blocks[i].relative.fc1.begins = g->blocks[i].relative.fc2.begins = false;
}

static void map_pool(walk *w, vit_map_weights *v, vit_map_gradients *g) {
    const size_t d = w->config->dim, mlp = vit_config_pool_mlp(w->config);
    alone(w, VIT_PARAMETER_CLASS_TOKEN, "attn_pool.latent", (shape){3, {1, 1, d}}, &v->latent,
          &g->latent);
    const bool plain = w->config->pool_plain;
    if (!plain) linear(w, "attn_pool.q", d, d, true, &v->q, &g->q);
    linear(w, "attn_pool.kv", d, 2 * d, !plain || w->config->qkv_bias, &v->kv, &g->kv);
    linear(w, "attn_pool.proj", d, d, true, &v->proj, &g->proj);
    if (plain) return;
    norm(w, "attn_pool.norm", d, &v->norm, &g->norm);
    linear(w, "attn_pool.mlp.fc1", d, mlp, true, &v->fc1, &g->fc1);
    linear(w, "attn_pool.mlp.fc2", mlp, d, true, &v->fc2, &g->fc2);
}

static void head(walk *w, vit_weights *v, vit_gradients *g) {
    const vit_config *c = w->config;
    const size_t d = c->dim, features = vit_config_features(c), classes = c->classes;
    const vit_pool_row *pool = &vit_pools[c->pool];
    if (pool->attends) map_pool(w, &v->map, &g->map);
    if (c->final_norm) norm(w, vit_final_norm_name(c), d, &v->norm, &g->norm);
    if (pool->weighs && !pool->attends)
        linear(w, "attention_pool", d, 1, false, &v->attention_pool, &g->attention_pool);
    if (vit_heads[c->head].squashes)
        linear(w, "pre_logits", features, features, true, &v->pre_logits, &g->pre_logits);
    switch (c->head) {
    case VIT_HEAD_NONE:
    case VIT_HEAD_COUNT:
        break;
    case VIT_HEAD_LINEAR:
    case VIT_HEAD_PROJECTION:
    case VIT_HEAD_TANH:
        if (!c->tied) {
            linear(w, "head", features, classes, c->head_bias, &v->head[0], &g->head[0]);
        } else if (c->head_bias) {
            const vit_parameter *p =
                tensor(w, VIT_PARAMETER_BIAS, "head", ".bias", (shape){1, {classes}}, d);
            v->head[0].bias = value(w, p);
            g->head[0].bias = gradient(w, p);
        }
        break;
    case VIT_HEAD_COSINE:
        if (c->projection > 0)
            linear(w, "head_proj", features, c->projection, false, &v->head[0], &g->head[0]);
        linear(w, "head", vit_config_head_inputs(c), classes, c->head_bias, &v->head[1],
               &g->head[1]);
        break;
    case VIT_HEAD_MLP: /* named as the modules of an nn.Sequential(Linear, GELU, Linear) */
        linear(w, "head.0", features, c->mlp, true, &v->head[0], &g->head[0]);
        linear(w, "head.2", c->mlp, classes, c->head_bias, &v->head[1], &g->head[1]);
        break;
    }
}

/* One stack: what embeds its tokens, its blocks, its head. Tensors that the network lacks stay zero
 * in v and g. A walk that does not bind weights, or gradients, gets an empty view instead, without
 * blocks. The encoder's layers are numbered; all of the decoder belongs to the one that w->layer
 * is. */
static void stack(walk *w, vit_weights *v, vit_gradients *g) {
    vit_block_weights no_weights;
    vit_block_gradients no_gradients;
    const size_t first = w->layer, numbered = w->stack[0] == '\0';
    w->prefix[0] = '\0';
    embedding(w, v, g);
    for (size_t i = 0; i < w->config->depth; i++) {
        snprintf(w->prefix, sizeof w->prefix, "blocks.%zu.", i);
        w->layer = first + numbered * (i + 1);
        block(w, v->blocks ? &v->blocks[i] : &no_weights,
              g->blocks ? &g->blocks[i] : &no_gradients);
        block_positions(w->config, i, v, g);
    }
    w->prefix[0] = '\0';
    w->layer = first + numbered * (w->config->depth + 1);
    head(w, v, g);
}

/* The encoder, then the decoder, which counts to the layer after the encoder's blocks. */
static void network(walk *w, vit_weights *v, vit_gradients *g) {
    const vit_config *encoder = w->config, decoder = vit_config_decoder(encoder);
    vit_weights no_weights = {0};
    vit_gradients no_gradients = {0};
    w->stack = "";
    if (vit_config_has_encoder(encoder)) stack(w, v, g);
    if (!vit_config_has_decoder(encoder)) return;
    w->stack = "decoder.";
    w->layer = encoder->depth + 1;
    w->config = &decoder;
    v = v->decoder ? v->decoder : &no_weights;
    g = g->decoder ? g->decoder : &no_gradients;
    w->prefix[0] = '\0';
    if (encoder->decoder.memory_proj)
        linear(w, "memory_proj", encoder->dim, decoder.dim, true, &v->memory_proj, &g->memory_proj);
    stack(w, v, g);
    w->config = encoder;
}

/* ---- the table ---- */

/* Makes the network's rows, or, while table->rows is NULL, only counts them and their sizes. */
static void add_rows(vit_table *table, const vit_config *config) {
    walk w = {.config = config, .making = table};
    network(&w, &(vit_weights){0}, &(vit_gradients){0});
}

vit_status vit_table_new(vit_table *out, const vit_config *config, vit_error *error) {
    vit_table counted = {0};
    *out = (vit_table){0};
    const vit_status status = vit_config_check(config, error);
    if (status != VIT_OK) return status;
    add_rows(&counted, config);
    out->rows = vit_alloc(counted.count, sizeof *out->rows);
    if (!out->rows)
        return vit_fail_memory(error, "the parameter table", counted.count * sizeof *out->rows);
    add_rows(out, config);
    return VIT_OK;
}

/* ---- views ---- */

static vit_status make_weights(vit_weights *out, const vit_config *config, vit_precision precision,
                               vit_error *error) {
    const size_t bytes = config->depth * sizeof *out->blocks;
    *out = (vit_weights){.precision = precision};
    vit_status status = vit_positions_new(&out->fixed_positions, config, error);
    if (status == VIT_OK) status = vit_rope_new(&out->fixed_rope, config, error);
    if (status != VIT_OK) return status;
    out->positions = out->fixed_positions;
    out->blocks = vit_alloc(1, bytes);
    return out->blocks ? VIT_OK : vit_fail_memory(error, "the network's view", bytes);
}

vit_status vit_weights_view(vit_weights *out, const vit_config *config, const vit_table *table,
                            const float *values, const vit_packed_weights *packed,
                            vit_error *error) {
    const vit_config decoder = vit_config_decoder(config);
    walk w = {.config = config, .made = table, .values = values, .packed = *packed};
    vit_status status = make_weights(out, config, packed->precision, error);
    if (status == VIT_OK && vit_config_has_decoder(config)) {
        out->decoder = vit_alloc(1, sizeof *out->decoder);
        status = out->decoder ? make_weights(out->decoder, &decoder, packed->precision, error)
                              : vit_fail_memory(error, "the decoder's view", sizeof *out->decoder);
    }
    if (status == VIT_OK)
        network(&w, out, &(vit_gradients){0});
    else
        vit_weights_free(out);
    return status;
}

void vit_weights_free(vit_weights *view) {
    if (view->decoder) vit_weights_free(view->decoder);
    vit_free(view->decoder);
    vit_free(view->fixed_positions);
    vit_free(view->fixed_rope);
    vit_free(view->blocks);
    *view = (vit_weights){0};
}

vit_status vit_gradients_view(vit_gradients *out, const vit_config *config, const vit_table *table,
                              float *gradients, bool begins, vit_error *error) {
    walk w = {.config = config, .made = table, .gradients = gradients, .begins = begins};
    const size_t decoder_depth = config->decoder.depth;
    *out = (vit_gradients){0};
    out->blocks = vit_alloc(config->depth, sizeof *out->blocks);
    out->decoder = vit_config_has_decoder(config) ? vit_alloc(1, sizeof *out->decoder) : NULL;
    if (out->decoder) out->decoder->blocks = vit_alloc(decoder_depth, sizeof *out->decoder->blocks);
    if (!out->blocks ||
        (vit_config_has_decoder(config) && (!out->decoder || !out->decoder->blocks))) {
        vit_gradients_free(out);
        return vit_fail_memory(error, "the gradients' view",
                               (config->depth + decoder_depth) * sizeof *out->blocks);
    }
    network(&w, &(vit_weights){0}, out);
    return VIT_OK;
}

void vit_gradients_free(vit_gradients *view) {
    if (view->decoder) vit_free(view->decoder->blocks);
    vit_free(view->decoder);
    vit_free(view->blocks);
    *view = (vit_gradients){0};
}
