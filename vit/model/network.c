#include "vit/model/network.h"
#include "vit/ops/embed.h"
#include "vit/ops/pool.h"
#include <string.h>

/* ---- memory ---- */

/* Of longer sequences, attention weights would be most of what is kept: making them again costs a
 * fifth of attention's arithmetic. */
#define MOST_KEPT_KEYS 256

static vit_norm_state carve_stats(vit_arena *arena, size_t rows) {
    float *mean = vit_arena_floats(arena, rows), *rstd = vit_arena_floats(arena, rows);
    return (vit_norm_state){mean, rstd};
}

/* Tokens of a picture that are wanted of a block: only the class token is read of the last. */
static size_t outputs_of(const vit_config *c, size_t block) {
    return block + 1 == c->depth && c->pool == VIT_POOL_CLASS ? 1 : vit_config_tokens(c);
}

static vit_block_state carve_block(vit_arena *arena, const vit_config *c, size_t capacity,
                                   size_t outputs, bool training) {
    const size_t tokens = vit_config_tokens(c), d = c->dim, rows = capacity * outputs;
    const size_t rows_in = capacity * tokens, rows1 = c->norm == VIT_NORM_PRE ? rows_in : rows;
    vit_block_state b = {.z = vit_arena_floats(arena, rows_in * d)};
    b.stats1 = carve_stats(arena, rows1);
    b.norm1 = vit_arena_floats(arena, rows1 * d);
    b.qkv = vit_arena_floats(arena, rows_in * 3 * d);
    if (training && tokens <= MOST_KEPT_KEYS)
        b.p = vit_arena_floats(arena, rows * c->heads * vit_padded(tokens));
    b.o = vit_arena_floats(arena, rows * d);
    b.mid = vit_arena_floats(arena, rows * d); /* not z: a residual may not be its own output */
    b.stats2 = carve_stats(arena, rows);
    float *second = training ? vit_arena_floats(arena, rows * d) : NULL;
    if (c->norm == VIT_NORM_PRE)
        b.norm2 = training ? second : b.norm1;
    else
        b.sum = training ? second : b.mid;
    b.hidden = vit_arena_floats(arena, rows * c->mlp);
    b.active = training ? vit_arena_floats(arena, rows * c->mlp) : b.hidden;
    return b;
}

static void carve_blocks(vit_state *s, vit_arena *arena, const vit_config *c, bool training) {
    s->blocks = vit_arena_take(arena, c->depth * sizeof *s->blocks);
    vit_block_state block = {0};
    for (size_t i = 0; i < c->depth; i++) {
        const size_t outputs = outputs_of(c, i);
        if (i == 0 || training) block = carve_block(arena, c, s->capacity, outputs, training);
        if (outputs < vit_config_tokens(c)) {
            block.first_z = vit_arena_floats(arena, s->capacity * c->dim);
            block.first_x = vit_arena_floats(arena, s->capacity * c->dim);
            block.first_q = vit_arena_floats(arena, s->capacity * c->dim);
        }
        if (s->blocks) s->blocks[i] = block;
    }
}

static void carve_backward(vit_state *s, vit_arena *arena, const vit_config *c) {
    const size_t rows = s->capacity * vit_config_tokens(c), d = c->dim;
    s->d_logits = vit_arena_floats(arena, s->capacity * c->classes);
    s->d_z = vit_arena_floats(arena, rows * d);
    s->d_narrow = vit_arena_floats(arena, rows * d);
    s->d_branch = vit_arena_floats(arena, rows * d);
    s->d_wide = vit_arena_floats(arena, rows * (3 * d > c->mlp ? 3 * d : c->mlp));
}

static size_t scratch_size(const vit_config *c, bool training) {
    const size_t tokens = vit_config_tokens(c);
    const vit_attention_shape shape = {
        .head_dim = c->dim / c->heads, .queries = tokens, .keys = tokens};
    return vit_attention_scratch(&shape, training);
}

void vit_state_carve(vit_state *s, vit_arena *arena, const vit_config *c, size_t capacity,
                     int threads, bool training) {
    const size_t d = c->dim, patches = capacity * vit_config_patches(c);
    *s = (vit_state){.capacity = capacity};
    vit_stem_carve(s, arena, c, training);
    s->embedded = vit_arena_floats(arena, patches * d);
    carve_blocks(s, arena, c, training);
    if (c->pool == VIT_POOL_MEAN)
        s->z = vit_arena_floats(arena, capacity * vit_config_tokens(c) * d);
    s->pooled = vit_arena_floats(arena, capacity * d);
    s->stats = carve_stats(arena, capacity);
    s->features = vit_arena_floats(arena, capacity * d);
    if (c->head == VIT_HEAD_MLP) {
        s->head_hidden = vit_arena_floats(arena, capacity * c->mlp);
        s->head_active = vit_arena_floats(arena, capacity * c->mlp);
    }
    s->logits = vit_arena_floats(arena, capacity * c->classes);
    s->scratch = vit_arena_floats(arena, (size_t)threads * scratch_size(c, training));
    if (training) carve_backward(s, arena, c);
}

/* ---- embedding ---- */

static void embed_forward(const vit_network *n, const vit_exec *exec, vit_state *s,
                          const float *images) {
    vit_stem_forward(n, exec, s, images);
    vit_embed_forward(s->blocks[0].z, s->embedded, n->weights.class_token, n->weights.positions,
                      s->batch, vit_config_patches(&n->config), n->config.dim);
}

static void embed_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                           const vit_gradients *g) {
    const vit_config *c = &n->config;
    vit_embed_backward(exec, s->d_narrow, g->class_token, g->positions, s->d_z, s->batch,
                       vit_config_tokens(c), vit_config_patches(c), c->dim);
    vit_stem_backward(n, exec, s, g, s->d_narrow);
}

/* ---- head ---- */

static void head_forward(const vit_network *n, const vit_exec *exec, vit_state *s) {
    const size_t d = n->config.dim;
    const vit_linear *head = n->weights.head;
    if (n->config.pool == VIT_POOL_MEAN) /* of class tokens, the last block made them */
        vit_mean_forward(exec, s->pooled, s->z, s->batch, vit_config_tokens(&n->config), d);
    if (n->config.final_norm)
        vit_layernorm_forward(exec, s->features, &s->stats, s->pooled, &n->weights.norm, s->batch);
    else
        memcpy(s->features, s->pooled, s->batch * d * sizeof(float));
    if (n->config.head == VIT_HEAD_LINEAR) {
        vit_linear_forward(exec, s->logits, s->features, &head[0], NULL, s->batch);
        return;
    }
    vit_linear_forward(exec, s->head_hidden, s->features, &head[0], NULL, s->batch);
    vit_activation_forward(exec, VIT_GELU, s->head_active, s->head_hidden,
                           s->batch * n->config.mlp);
    vit_linear_forward(exec, s->logits, s->head_active, &head[1], NULL, s->batch);
}

/* Gradient of the features into d_features, [batch][D]. */
static void head_layers_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                                 const vit_gradients *g, float *d_features) {
    const vit_linear *head = n->weights.head;
    if (n->config.head == VIT_HEAD_LINEAR) {
        vit_linear_backward(exec, d_features, &g->head[0], s->d_logits, s->features, &head[0],
                            s->batch);
        return;
    }
    float *d_hidden = s->d_wide;
    vit_linear_backward(exec, d_hidden, &g->head[1], s->d_logits, s->head_active, &head[1],
                        s->batch);
    vit_activation_backward(exec, VIT_GELU, d_hidden, d_hidden, s->head_hidden,
                            s->batch * n->config.mlp);
    vit_linear_backward(exec, d_features, &g->head[0], d_hidden, s->features, &head[0], s->batch);
}

/* d_z = gradient of the last block's output. */
static void head_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                          const vit_gradients *g) {
    const bool mean = n->config.pool == VIT_POOL_MEAN, norm = n->config.final_norm;
    float *d_pooled = mean ? s->d_branch : s->d_z, *d_features = norm ? s->d_narrow : d_pooled;
    head_layers_backward(n, exec, s, g, d_features);
    if (norm) {
        memset(d_pooled, 0, s->batch * n->config.dim * sizeof(float));
        vit_layernorm_backward(exec, d_pooled, &g->norm, d_features, s->pooled, &s->stats,
                               &n->weights.norm, s->batch);
    }
    if (mean)
        vit_mean_backward(exec, s->d_z, d_pooled, s->batch, vit_config_tokens(&n->config),
                          n->config.dim);
}

/* ---- the whole ---- */

static vit_block_call block_call(const vit_network *n, const vit_exec *exec, const vit_state *s,
                                 size_t i) {
    return (vit_block_call){.exec = exec,
                            .config = &n->config,
                            .weights = &n->weights.blocks[i],
                            .batch = s->batch,
                            .outputs = outputs_of(&n->config, i),
                            .keep = s->keep ? s->keep + i * 2 * s->batch : NULL,
                            .scratch = s->scratch};
}

void vit_network_forward(const vit_network *n, const vit_exec *exec, vit_state *s,
                         const float *images, size_t batch) {
    const size_t depth = n->config.depth;
    s->batch = batch;
    embed_forward(n, exec, s, images);
    for (size_t i = 0; i < depth; i++) {
        const vit_block_call call = block_call(n, exec, s, i);
        float *last = n->config.pool == VIT_POOL_MEAN ? s->z : s->pooled;
        vit_block_forward(&call, i + 1 < depth ? s->blocks[i + 1].z : last, &s->blocks[i]);
    }
    head_forward(n, exec, s);
}

void vit_network_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                          const vit_gradients *g) {
    head_backward(n, exec, s, g);
    for (size_t i = n->config.depth; i-- > 0;) {
        const vit_block_call call = block_call(n, exec, s, i);
        vit_block_backward(&call, s, &s->blocks[i], &g->blocks[i]);
    }
    embed_backward(n, exec, s, g);
}
