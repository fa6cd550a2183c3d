/* The whole network and the memory it works in. This file leads; its parts are stem.c, block.c and
 * head.c with map_pool.c. */
#include "vit/model/network.h"
#include "vit/base/size.h"
#include "vit/ops/embed.h"
#include <string.h>

/* ---- memory ---- */

size_t vit_block_outputs(const vit_config *c, size_t block) {
    const bool first = block + 1 == c->depth && c->pool == VIT_POOL_CLASS && !c->qk_norm;
    return first ? 1 : vit_config_tokens(c);
}

static vit_carving carving_of(const vit_state *s, vit_arena *arena, const vit_config *c) {
    return (vit_carving){.arena = arena,
                         .config = c,
                         .capacity = s->capacity,
                         .encoder_tokens = s->encoder_tokens,
                         .kept = s->kept};
}

/* Tokens of a picture that block i computes in this state. */
static size_t outputs_of(const vit_state *s, const vit_config *c, size_t i) {
    return s->kept == VIT_KEPT_TOKENS ? vit_config_tokens(c) : vit_block_outputs(c, i);
}

static void carve_blocks(vit_state *s, vit_arena *arena, const vit_config *c) {
    vit_carving k = carving_of(s, arena, c);
    vit_block_state block = {0};
    vit_block_carve_shared(&block, &k);
    s->blocks = vit_arena_take(arena, c->depth * sizeof *s->blocks);
    for (size_t i = 0; i < c->depth; i++) {
        k.outputs = outputs_of(s, c, i);
        k.kept = i < s->frozen ? VIT_KEPT_NOTHING : s->kept;
        switch (i == 0 || i == s->frozen ? VIT_KEPT_ALL : k.kept) {
        case VIT_KEPT_ALL:
            vit_block_carve(&block, &k);
            break;
        case VIT_KEPT_INPUTS:
        case VIT_KEPT_TOKENS:
            block.z = vit_arena_floats(arena, vit_carving_rows(&k) * c->dim);
            break;
        case VIT_KEPT_NOTHING:
            break; /* it shares the memory of the block before it */
        }
        vit_qkv_carve_first(&block.qkv, &k);
        if (s->blocks) s->blocks[i] = block;
    }
}

static void carve_backward(vit_state *s, vit_arena *arena, const vit_config *c) {
    const size_t rows = s->capacity * vit_config_tokens(c), d = c->dim;
    const size_t attention = vit_config_attention_dim(c), hidden = vit_config_hidden(c);
    const bool tokens = c->pool == VIT_POOL_TOKENS;
    if (c->head != VIT_HEAD_NONE || !tokens)
        s->d_logits = vit_arena_floats(arena, (tokens ? rows : s->capacity) * c->classes);
    if (c->head == VIT_HEAD_NONE && tokens) {
        s->d_features = vit_arena_floats(arena, rows * d);
        s->d_memory =
            c->decoder.memory_proj ? vit_arena_floats(arena, rows * c->decoder.dim) : s->d_features;
    }
    s->back.d_z = vit_arena_floats(arena, rows * d);
    s->back.d_narrow = vit_arena_floats(arena, rows * vit_max(d, attention));
    s->back.d_branch = vit_arena_floats(arena, rows * vit_max(d, attention));
    s->back.d_wide = vit_arena_floats(arena, rows * vit_max(3 * attention, vit_max(hidden, 2 * d)));
}

/* Floats that one thread's attention needs, be it self-attention, cross-attention or map pooling.
 */
static size_t scratch_size(const vit_config *c, size_t encoder_tokens, bool training) {
    const size_t tokens = vit_config_tokens(c);
    const vit_attention_shape blocks = {.heads = c->heads,
                                        .head_dim = vit_config_head_dim(c),
                                        .queries = tokens,
                                        .keys = tokens,
                                        .causal = c->causal};
    const vit_attention_shape cross =
        vit_cross_shape(c, 1, tokens, vit_max(1, encoder_tokens), NULL);
    const vit_attention_shape map = vit_map_attention_shape(c, 1);
    const size_t most =
        vit_max(vit_attention_scratch(&blocks, training), vit_attention_scratch(&cross, training));
    return vit_max(most, vit_attention_scratch(&map, training));
}

/* One stack: encoder or decoder. */
static void carve_stack(vit_state *s, vit_arena *arena, const vit_config *c, int threads) {
    const bool training = s->kept != VIT_KEPT_NOTHING, trains_stem = training && s->frozen == 0;
    const size_t rows = s->capacity * vit_config_tokens(c);
    if (c->stem == VIT_STEM_TOKENS) {
        vit_text_carve(s, arena, c);
    } else {
        vit_stem_carve(s, arena, c, trains_stem);
        s->embedded = c->stem == VIT_STEM_CCT
                          ? s->patches
                          : vit_arena_floats(arena, s->capacity * vit_config_patches(c) * c->dim);
    }
    carve_blocks(s, arena, c);
    s->tokens = s->blocks ? s->blocks[0].z : NULL;
    if (c->norm_pre) {
        s->pre_stats = vit_carve_stats(arena, rows);
        if (trains_stem) s->tokens = vit_arena_floats(arena, rows * c->dim);
    }
    s->outputs = outputs_of(s, c, c->depth - 1);
    s->z = vit_arena_floats(arena, s->capacity * s->outputs * c->dim);
    vit_head_carve(s, arena, c, training);
    s->memory =
        c->decoder.memory_proj ? vit_arena_floats(arena, rows * c->decoder.dim) : s->features;
    s->scratch =
        vit_arena_floats(arena, (size_t)threads * scratch_size(c, s->encoder_tokens, training));
    if (training) carve_backward(s, arena, c);
    if (s->kept == VIT_KEPT_TOKENS)
        s->d_images = vit_arena_floats(arena, s->capacity * c->height * c->width * c->channels);
}

void vit_state_carve(vit_state *s, vit_arena *arena, const vit_config *c, size_t capacity,
                     int threads, vit_kept kept, size_t frozen) {
    const vit_config second = vit_config_decoder(c);
    vit_state decoder = {
        .capacity = capacity, .kept = kept, .encoder_tokens = vit_config_tokens(c)};
    *s = (vit_state){.capacity = capacity, .kept = kept, .frozen = frozen};
    if (c->stem != VIT_STEM_NONE) carve_stack(s, arena, c, threads);
    s->room = decoder.room = vit_arena_floats(arena, (size_t)threads * VIT_GEMM_ROOM);
    if (!vit_config_has_decoder(c)) return;
    s->decoder = vit_arena_take(arena, sizeof *s->decoder);
    carve_stack(&decoder, arena, &second, threads);
    if (s->decoder) *s->decoder = decoder;
}

void vit_state_carve_writer(vit_state *s, vit_arena *arena, const vit_config *c, size_t samples,
                            size_t rows, size_t length, int threads) {
    vit_config token = vit_config_decoder(c), text = token;
    vit_state decoder = {.capacity = rows, .kept = VIT_KEPT_NOTHING};
    token.length = 1;
    text.length = length;
    *s = (vit_state){.capacity = samples, .kept = VIT_KEPT_NOTHING};
    if (c->stem != VIT_STEM_NONE) carve_stack(s, arena, c, threads);
    s->room = decoder.room = vit_arena_floats(arena, (size_t)threads * VIT_GEMM_ROOM);
    s->decoder = vit_arena_take(arena, sizeof *s->decoder);
    carve_stack(&decoder, arena, &token, threads);
    decoder.scratch =
        vit_arena_floats(arena, (size_t)threads * scratch_size(&text, vit_config_tokens(c), false));
    if (s->decoder) *s->decoder = decoder;
}

/* ---- tokens: z_0 = [x_class; x_p E] + E_pos ---- */

static vit_embed_shape embed_shape(const vit_config *c, size_t batch) {
    vit_embed_shape shape = {.batch = batch,
                             .dim = c->dim,
                             .patches = vit_config_patches(c),
                             .prefix_positions = c->prefix_positions};
    for (size_t i = 0; i < VIT_PREFIX_KINDS; i++) shape.prefix[i] = vit_prefix_count(c, i);
    return shape;
}

void vit_tokens_forward(const vit_network *n, const vit_exec *exec, vit_state *s,
                        const float *images) {
    const vit_embed_shape shape = embed_shape(&n->config, s->batch);
    if (n->config.stem == VIT_STEM_TOKENS) {
        vit_text_forward(n, exec, s);
    } else {
        vit_stem_forward(n, exec, s, images);
        vit_embed_forward(s->tokens, s->embedded, n->weights.prefix, n->weights.positions, &shape);
    }
    if (n->config.norm_pre)
        vit_layernorm_forward(exec, s->blocks[0].z, &s->pre_stats, s->tokens, &n->weights.norm_pre,
                              s->rows);
}

void vit_tokens_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                         const vit_gradients *g) {
    const vit_config *c = &n->config;
    const vit_embed_shape shape = embed_shape(c, s->batch);
    const size_t rows = s->rows;
    float *d_tokens = s->back.d_z;
    if (c->norm_pre) {
        d_tokens = s->back.d_branch;
        memset(d_tokens, 0, rows * c->dim * sizeof *d_tokens);
        vit_layernorm_backward(exec, d_tokens, &g->norm_pre, s->back.d_z, s->tokens, &s->pre_stats,
                               &n->weights.norm_pre, rows);
    }
    if (c->stem == VIT_STEM_TOKENS) {
        vit_text_backward(n, exec, s, g, d_tokens);
        return;
    }
    vit_embed_backward(exec, s->back.d_narrow, g->prefix, g->positions, d_tokens, &shape);
    vit_stem_backward(n, exec, s, g, s->back.d_narrow);
}

/* ---- a stack ---- */

vit_block_call vit_network_block(const vit_network *n, const vit_exec *exec, const vit_state *s,
                                 const vit_encoder_states *m, size_t i) {
    return (vit_block_call){.exec = exec,
                            .config = &n->config,
                            .weights = &n->weights.blocks[i],
                            .batch = s->batch,
                            .rows = s->rows,
                            .outputs = outputs_of(s, &n->config, i),
                            .keep = s->keep ? s->keep + i * 2 * s->batch : NULL,
                            .scratch = s->scratch,
                            .spans = s->spans,
                            .encoder = n->config.memory > 0 ? m : NULL};
}

/* z_0 -> z_1 -> ... -> logits. m: NULL of an encoder. */
static void stack_forward(const vit_network *n, const vit_exec *exec, vit_state *s,
                          const float *images, const vit_encoder_states *m) {
    const size_t depth = n->config.depth;
    vit_tokens_forward(n, exec, s, images);
    for (size_t i = 0; i < depth; i++) {
        const vit_block_call call = vit_network_block(n, exec, s, m, i);
        vit_block_forward(&call, i + 1 < depth ? s->blocks[i + 1].z : s->z, &s->blocks[i]);
    }
    vit_head_forward(n, exec, s);
}

/* The same steps from the last to the first, down to the first block that is trained. */
static void stack_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                           const vit_gradients *g, const vit_encoder_states *m) {
    vit_head_backward(n, exec, s, g);
    for (size_t i = n->config.depth; i-- > s->frozen;) {
        const vit_block_call call = vit_network_block(n, exec, s, m, i);
        if (s->kept == VIT_KEPT_INPUTS && i + 1 < n->config.depth)
            vit_block_recompute(&call, s->blocks[i + 1].z, &s->blocks[i]);
        vit_block_backward(&call, &s->back, &s->blocks[i], &g->blocks[i]);
    }
    if (s->frozen == 0) vit_tokens_backward(n, exec, s, g);
}

/* ---- the whole ---- */

vit_exec vit_network_exec(const vit_network *n, const vit_state *s, const vit_kernels *kernels,
                          int threads) {
    const vit_precision precision = n->weights.precision;
    return (vit_exec){kernels, threads, s->room, precision, vit_precisions[precision].attention};
}

vit_network vit_network_decoder(const vit_network *n) {
    return (vit_network){vit_config_decoder(&n->config), *n->weights.decoder};
}

/* What the decoder's cross-attention reads: each sample's rows of s->memory. */
static vit_encoder_states encoder_states(const vit_network *n, vit_state *s) {
    const size_t tokens = vit_config_tokens(&n->config);
    vit_state *d = s->decoder;
    for (size_t b = 0; b < s->batch; b++) {
        d->cross_spans[b] = d->spans[b];
        d->cross_spans[b].key = s->spans ? s->spans[b].query : b * tokens;
        d->cross_spans[b].keys = s->spans ? s->spans[b].queries : tokens;
    }
    return (vit_encoder_states){s->memory, s->d_memory, s->rows, d->cross_spans};
}

void vit_decoder_step(const vit_network *n, const vit_exec *exec, vit_state *s,
                      const vit_block_cache *caches) {
    const vit_encoder_states m = {.rows = 0, .spans = s->cross_spans};
    const size_t depth = n->config.depth;
    s->rows = s->batch;
    vit_tokens_forward(n, exec, s, NULL);
    for (size_t i = 0; i < depth; i++) {
        vit_block_call call = vit_network_block(n, exec, s, &m, i);
        call.cache = &caches[i];
        vit_block_forward(&call, i + 1 < depth ? s->blocks[i + 1].z : s->z, &s->blocks[i]);
    }
    vit_head_forward(n, exec, s);
}

void vit_network_encode(const vit_network *n, const vit_exec *exec, vit_state *s,
                        const float *images, size_t batch) {
    s->batch = batch;
    if (n->config.stem == VIT_STEM_TOKENS)
        vit_text_rows(s, &n->config);
    else
        s->rows = batch * vit_config_tokens(&n->config);
    if (n->config.stem != VIT_STEM_NONE) stack_forward(n, exec, s, images, NULL);
    if (n->config.decoder.memory_proj)
        vit_linear_forward(exec, s->memory, s->features, &n->weights.decoder->memory_proj, NULL,
                           s->rows);
}

void vit_network_forward(const vit_network *n, const vit_exec *exec, vit_state *s,
                         const float *images, size_t batch) {
    vit_network_encode(n, exec, s, images, batch);
    if (!s->decoder) return;
    const vit_network decoder = vit_network_decoder(n);
    s->decoder->batch = batch;
    vit_text_rows(s->decoder, &decoder.config);
    const vit_encoder_states m = encoder_states(n, s);
    stack_forward(&decoder, exec, s->decoder, NULL, &m);
}

void vit_network_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                          const vit_gradients *g) {
    if (s->decoder) {
        const vit_network decoder = vit_network_decoder(n);
        const vit_encoder_states m = encoder_states(n, s);
        const size_t count = s->rows * decoder.config.memory;
        if (m.d_values) memset(m.d_values, 0, count * sizeof *m.d_values);
        stack_backward(&decoder, exec, s->decoder, g->decoder, &m);
        if (n->config.decoder.memory_proj)
            vit_linear_backward(exec, s->d_features, &g->decoder->memory_proj, s->d_memory,
                                s->features, &decoder.weights.memory_proj, s->rows);
    }
    if (n->config.stem != VIT_STEM_NONE) stack_backward(n, exec, s, g, NULL);
}
