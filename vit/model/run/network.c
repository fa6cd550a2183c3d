/* The whole network and the memory it works in. This file leads; its parts are, in this order,
 * vit/model/parts: the stem or the tokens' embedding, positions, blocks, pooling and head. */
#include "vit/model/run/network.h"
#include "vit/base/size.h"
#include <string.h>

const vit_kept_row vit_kepts[] = {
    [VIT_KEPT_NOTHING] = {.trains = false},
    [VIT_KEPT_INPUTS] = {.trains = true, .inputs_alone = true},
    [VIT_KEPT_ALL] = {.trains = true},
    [VIT_KEPT_TOKENS] = {.trains = true, .inputs_alone = true, .tokens = true},
};
VIT_CHECK_ROWS(vit_kepts, VIT_KEPT_COUNT);

/* ---- memory ---- */

size_t vit_block_outputs(const vit_config *c, vit_kept kept, size_t block) {
    const bool first = vit_pools[c->pool].first && !c->qk_norm && !vit_kepts[kept].tokens;
    return first && block + 1 == c->depth ? 1 : vit_config_tokens(c);
}

static vit_carving carving_of(const vit_state *s, vit_arena *arena, const vit_config *c) {
    return (vit_carving){.arena = arena,
                         .config = c,
                         .capacity = s->capacity,
                         .encoder_tokens = s->encoder_tokens,
                         .kept = s->kept};
}

static void carve_blocks(vit_state *s, vit_arena *arena, const vit_config *c) {
    vit_carving k = carving_of(s, arena, c);
    vit_block_state block = {0};
    vit_block_carve_shared(&block, &k);
    s->blocks = vit_arena_take(arena, c->depth * sizeof *s->blocks);
    for (size_t i = 0; i < c->depth; i++) {
        k.outputs = vit_block_outputs(c, s->kept, i);
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
        case VIT_KEPT_COUNT:
            break; /* it shares the memory of the block before it */
        }
        vit_qkv_carve_first(&block.qkv, &k);
        if (s->blocks) s->blocks[i] = block;
    }
}

static void carve_backward(vit_backward *back, vit_arena *arena, const vit_config *c, size_t rows) {
    const size_t d = c->dim, a = vit_config_attention_dim(c), hidden = vit_config_hidden(c);
    back->d_z = vit_arena_floats(arena, rows * d);
    back->d_narrow = vit_arena_floats(arena, rows * vit_max(d, a));
    back->d_branch = vit_arena_floats(arena, rows * vit_max(d, a));
    const size_t wide = vit_max(vit_max(3 * a, c->projection), vit_max(hidden, 2 * d));
    back->d_wide = vit_arena_floats(arena, rows * wide);
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
    const vit_attention_shape prr = vit_prr_attention_shape(c, 1);
    return vit_max(most,
                   vit_max(vit_attention_scratch(&map, training),
                           vit_pools[c->pool].refines ? vit_attention_scratch(&prr, training) : 0));
}

/* One stack: encoder or decoder. */
static void carve_stack(vit_state *s, vit_arena *arena, const vit_config *c, int threads) {
    const bool training = vit_kept_trains(s->kept);
    vit_carving k = carving_of(s, arena, c);
    const size_t rows = vit_carving_rows(&k);
    k.kept = s->frozen > 0 ? VIT_KEPT_NOTHING : s->kept;
    vit_stem_carve(&s->stem, &k);
    if (vit_stems[c->stem].texts) vit_token_embedding_carve(&s->text, &k);
    carve_blocks(s, arena, c);
    vit_positions_carve(&s->positions, &k, s->blocks ? s->blocks[0].z : NULL);
    k.kept = s->kept;
    k.outputs = vit_block_outputs(c, s->kept, c->depth - 1);
    s->z = vit_arena_floats(arena, vit_carving_rows_out(&k) * c->dim);
    vit_pool_carve(&s->pool, &k, s->z);
    vit_head_carve(&s->head, &k);
    if (c->decoder.memory_proj) {
        s->projected = vit_arena_floats(arena, rows * c->decoder.dim);
        s->d_projected = training ? vit_arena_floats(arena, rows * c->decoder.dim) : NULL;
    }
    s->scratch =
        vit_arena_floats(arena, (size_t)threads * scratch_size(c, s->encoder_tokens, training));
    if (training) carve_backward(&s->back, arena, c, rows);
}

void vit_state_carve(vit_state *s, vit_arena *arena, const vit_config *c, size_t capacity,
                     int threads, vit_kept kept, size_t frozen) {
    const vit_config second = vit_config_decoder(c);
    vit_state decoder = {
        .capacity = capacity, .kept = kept, .encoder_tokens = vit_config_tokens(c)};
    *s = (vit_state){.capacity = capacity, .kept = kept, .frozen = frozen};
    if (vit_config_has_encoder(c)) carve_stack(s, arena, c, threads);
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
    if (vit_config_has_encoder(c)) carve_stack(s, arena, c, threads);
    s->room = decoder.room = vit_arena_floats(arena, (size_t)threads * VIT_GEMM_ROOM);
    s->decoder = vit_arena_take(arena, sizeof *s->decoder);
    carve_stack(&decoder, arena, &token, threads);
    decoder.scratch =
        vit_arena_floats(arena, (size_t)threads * scratch_size(&text, vit_config_tokens(c), false));
    if (s->decoder) *s->decoder = decoder;
}

void vit_state_carve_texts(vit_state *s, vit_arena *arena, const vit_config *c, size_t rows,
                           int threads) {
    vit_config token = *c;
    token.length = 1;
    *s = (vit_state){.capacity = rows, .kept = VIT_KEPT_NOTHING};
    carve_stack(s, arena, &token, threads);
    s->room = vit_arena_floats(arena, (size_t)threads * VIT_GEMM_ROOM);
    s->scratch = vit_arena_floats(arena, (size_t)threads * scratch_size(c, 0, false));
}

/* ---- a stack ---- */

static vit_call call_of(const vit_network *n, const vit_exec *exec, const vit_state *s) {
    return (vit_call){exec, &n->config, &n->weights, s->batch, s->rows, s->scratch};
}

void vit_tokens_forward(const vit_network *n, const vit_exec *exec, vit_state *s,
                        const float *images) {
    const vit_call call = call_of(n, exec, s);
    if (vit_stems[n->config.stem].texts) {
        vit_token_embedding_forward(&call, &s->text, s->positions.tokens);
    } else {
        vit_stem_forward(&call, &s->stem, images);
        vit_positions_forward(&call, &s->positions, s->stem.embedded);
    }
    vit_norm_pre_forward(&call, &s->positions, s->blocks[0].z);
}

void vit_tokens_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                         const vit_gradients *g) {
    const vit_call call = call_of(n, exec, s);
    float *d_tokens = vit_norm_pre_backward(&call, &s->back, &s->positions, g);
    if (vit_stems[n->config.stem].texts) {
        vit_token_embedding_backward(&call, &s->text, g, d_tokens);
    } else {
        vit_positions_backward(&call, g, s->back.d_narrow, d_tokens);
        vit_stem_backward(&call, &s->stem, g, s->back.d_narrow);
    }
}

void vit_logits_forward(const vit_network *n, const vit_exec *exec, vit_state *s) {
    const vit_call call = call_of(n, exec, s);
    vit_pool_forward(&call, &s->pool, s->z);
    vit_head_forward(&call, &s->head, s->pool.features);
}

void vit_logits_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                         const vit_gradients *g) {
    const vit_call call = call_of(n, exec, s);
    vit_head_backward(&call, &s->back, &s->head, g, s->pool.features);
    vit_pool_backward(&call, &s->back, &s->pool, g, s->z);
}

vit_block_call vit_network_block(const vit_network *n, const vit_exec *exec, const vit_state *s,
                                 const vit_encoder_states *m, size_t i) {
    return (vit_block_call){.exec = exec,
                            .config = &n->config,
                            .weights = &n->weights.blocks[i],
                            .batch = s->batch,
                            .rows = s->rows,
                            .outputs = vit_block_outputs(&n->config, s->kept, i),
                            .keep = s->keep ? s->keep + i * 2 * s->batch : NULL,
                            .scratch = s->scratch,
                            .spans = s->text.spans,
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
    vit_logits_forward(n, exec, s);
}

/* The same steps from the last to the first, down to the first block that is trained. */
static void stack_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                           const vit_gradients *g, const vit_encoder_states *m) {
    vit_logits_backward(n, exec, s, g);
    if (s->passed) s->passed(n->config.depth + 1, s->passed_by);
    for (size_t i = n->config.depth; i-- > s->frozen;) {
        const vit_block_call call = vit_network_block(n, exec, s, m, i);
        if (vit_kepts[s->kept].inputs_alone && i + 1 < n->config.depth)
            vit_block_recompute(&call, s->blocks[i + 1].z, &s->blocks[i]);
        vit_block_backward(&call, &s->back, &s->blocks[i], &g->blocks[i]);
        if (s->passed) s->passed(i + 1, s->passed_by);
    }
    if (s->frozen == 0) vit_tokens_backward(n, exec, s, g);
}

/* ---- the whole ---- */

vit_exec vit_network_exec(const vit_network *n, const vit_state *s, const vit_kernels *kernels,
                          int threads) {
    const vit_precision_row *row = &vit_precisions[n->weights.precision];
    return (vit_exec){kernels, threads, s->room, row->outside, row->attention};
}

vit_network vit_network_decoder(const vit_network *n) {
    return (vit_network){vit_config_decoder(&n->config), *n->weights.decoder};
}

const float *vit_encoder_output(const vit_state *s) {
    return s->projected ? s->projected : s->pool.features;
}

/* What the decoder's cross-attention reads: each sample's rows of the encoder's output. Where that
 * is not projected, its gradient is that of the encoder's features, which is handed over in
 * d_branch. */
static vit_encoder_states encoder_states(const vit_network *n, vit_state *s) {
    const size_t tokens = vit_config_tokens(&n->config);
    vit_token_embedding_state *d = &s->decoder->text;
    for (size_t b = 0; b < s->batch; b++) {
        d->cross_spans[b] = d->spans[b];
        d->cross_spans[b].key = s->text.spans ? s->text.spans[b].query : b * tokens;
        d->cross_spans[b].keys = s->text.spans ? s->text.spans[b].queries : tokens;
    }
    return (vit_encoder_states){vit_encoder_output(s),
                                s->projected ? s->d_projected : s->back.d_branch, s->rows,
                                d->cross_spans};
}

void vit_decoder_step(const vit_network *n, const vit_exec *exec, vit_state *s,
                      const vit_block_cache *caches) {
    const vit_encoder_states m = {.rows = 0, .spans = s->text.cross_spans};
    const size_t depth = n->config.depth;
    s->rows = s->batch;
    vit_tokens_forward(n, exec, s, NULL);
    for (size_t i = 0; i < depth; i++) {
        vit_block_call call = vit_network_block(n, exec, s, &m, i);
        call.cache = &caches[i];
        vit_block_forward(&call, i + 1 < depth ? s->blocks[i + 1].z : s->z, &s->blocks[i]);
    }
    vit_logits_forward(n, exec, s);
}

void vit_network_encode(const vit_network *n, const vit_exec *exec, vit_state *s,
                        const float *images, size_t batch) {
    const vit_config *c = &n->config;
    s->batch = batch;
    s->rows = vit_stems[c->stem].texts ? vit_token_embedding_rows(&s->text, c, s->texts, batch)
                                       : batch * vit_config_tokens(c);
    if (vit_config_has_encoder(c)) stack_forward(n, exec, s, images, NULL);
    if (s->projected)
        vit_linear_forward(exec, s->projected, s->pool.features, &n->weights.decoder->memory_proj,
                           NULL, s->rows);
}

void vit_network_forward(const vit_network *n, const vit_exec *exec, vit_state *s,
                         const float *images, size_t batch) {
    vit_network_encode(n, exec, s, images, batch);
    if (!s->decoder) return;
    const vit_network decoder = vit_network_decoder(n);
    vit_state *d = s->decoder;
    d->batch = batch;
    d->rows = vit_token_embedding_rows(&d->text, &decoder.config, d->texts, batch);
    const vit_encoder_states m = encoder_states(n, s);
    stack_forward(&decoder, exec, d, NULL, &m);
}

void vit_network_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                          const vit_gradients *g) {
    if (s->decoder) {
        const vit_network decoder = vit_network_decoder(n);
        const vit_encoder_states m = encoder_states(n, s);
        const size_t count = s->rows * decoder.config.memory;
        if (m.d_values) memset(m.d_values, 0, count * sizeof *m.d_values);
        stack_backward(&decoder, exec, s->decoder, g->decoder, &m);
        if (s->projected)
            vit_linear_backward(exec, s->back.d_branch, &g->decoder->memory_proj, s->d_projected,
                                s->pool.features, &decoder.weights.memory_proj, s->rows);
    }
    if (vit_config_has_encoder(&n->config)) stack_backward(n, exec, s, g, NULL);
}
