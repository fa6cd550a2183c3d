#include "vit/model/write.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/model/search.h"
#include <string.h>

struct vit_text_writer {
    const vit_network *network;
    vit_network decoder; /* its second stack */
    vit_writing how;
    const vit_kernels *kernels;
    int threads;
    size_t samples, rows; /* there is room for; rows: of all beams */
    vit_arena arena;
    vit_state state;
    vit_search *searches;            /* [samples] */
    vit_block_cache *caches, *spare; /* [depth] each: beams go from one to the other */
};

/* ---- how ---- */

vit_writing vit_writing_default(const vit_config *c) {
    return (vit_writing){.beams = 1,
                         .length = c->decoder.length + 1,
                         .length_penalty = 1,
                         .end = c->decoder.end,
                         .temperature = 1};
}

vit_status vit_writing_check(const vit_writing *w, const vit_config *c, vit_error *error) {
    if (w->beams < 1 || w->beams > 64)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "%zu beams, expected 1 to 64", w->beams);
    if (w->length < 2 || w->length > c->decoder.length + 1)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "texts of %zu tokens at most, the first being that they start with: "
                        "expected 2 to %zu",
                        w->length, c->decoder.length + 1);
    if (!(w->length_penalty >= -100 && w->length_penalty <= 100))
        return vit_fail(error, VIT_ERROR_ARGUMENT, "a length penalty of %g, expected -100 to 100",
                        w->length_penalty);
    if (!(w->temperature >= 1e-3 && w->temperature <= 1e3))
        return vit_fail(error, VIT_ERROR_ARGUMENT, "a temperature of %g, expected 0.001 to 1000",
                        w->temperature);
    if (w->sample && w->beams > 1)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "beams are searched, not drawn by chance: leave out beams or sampling");
    return VIT_OK;
}

/* ---- memory ---- */

static vit_block_cache *carve_caches(vit_arena *arena, const vit_text_writer *w) {
    const vit_config *c = &w->decoder.config;
    const size_t floats = w->rows * w->how.length * 2 * vit_config_attention_dim(c);
    vit_block_cache *caches = vit_arena_take(arena, c->depth * sizeof *caches);
    for (size_t i = 0; i < c->depth; i++) {
        float *kv = vit_arena_floats(arena, floats);
        if (caches) caches[i] = (vit_block_cache){kv, w->how.length};
    }
    return caches;
}

static void carve(vit_text_writer *w) {
    const vit_config *c = &w->network->config, *d = &w->decoder.config;
    const size_t memory = w->samples * vit_config_tokens(c) * 2 * vit_config_attention_dim(d);
    vit_arena *arena = &w->arena;
    vit_state_carve_writer(&w->state, arena, c, w->samples, w->rows, w->how.length, w->threads);
    w->searches = vit_arena_take(arena, w->samples * sizeof *w->searches);
    for (size_t i = 0; i < w->samples; i++) {
        vit_search search;
        vit_search_carve(&search, arena, &w->how, d->vocabulary);
        if (w->searches) w->searches[i] = search;
    }
    w->caches = carve_caches(arena, w);
    w->spare = w->how.beams > 1 ? carve_caches(arena, w) : NULL;
    for (size_t i = 0; i < d->depth; i++) {
        float *kv = vit_arena_floats(arena, memory);
        if (w->state.decoder) w->state.decoder->blocks[i].cross_kv = kv;
    }
}

vit_status vit_text_writer_new(vit_text_writer **out, const vit_network *network,
                               const vit_writing *writing, const vit_kernels *kernels, int threads,
                               size_t samples, vit_error *error) {
    *out = NULL;
    vit_status status = vit_writing_check(writing, &network->config, error);
    if (status != VIT_OK) return status;
    vit_text_writer *w = vit_alloc(1, sizeof *w);
    if (!w) return vit_fail_memory(error, "a writer", sizeof *w);
    *w = (vit_text_writer){.network = network,
                           .decoder = vit_network_decoder(network),
                           .how = *writing,
                           .kernels = kernels,
                           .threads = threads,
                           .samples = samples,
                           .rows = samples * writing->beams,
                           .arena = vit_arena_count()};
    carve(w);
    status = vit_arena_init(&w->arena, w->arena.peak, "writing texts", error);
    if (status == VIT_OK) {
        carve(w);
        *out = w;
    } else {
        vit_free(w);
    }
    return status;
}

void vit_text_writer_free(vit_text_writer *w) {
    if (!w) return;
    vit_arena_free(&w->arena);
    vit_free(w);
}

/* ---- writing ---- */

/* Keys and values of the memory, for all that will be written. */
static void make_memory(vit_text_writer *w, const vit_exec *exec) {
    vit_state *s = &w->state;
    for (size_t i = 0; i < w->decoder.config.depth; i++)
        vit_linear_forward(exec, s->decoder->blocks[i].cross_kv, s->memory,
                           &w->decoder.weights.blocks[i].cross_kv, NULL, s->rows);
}

/* A row for each running beam: its last token. Beam b of sample i has place i * beams + b in the
 * caches. */
static void list_rows(vit_text_writer *w, size_t count) {
    vit_state *d = w->state.decoder;
    const vit_config *c = &w->decoder.config;
    const size_t tokens = vit_config_tokens(&w->network->config);
    const vit_attention_span *memory = w->state.spans;
    d->batch = 0;
    for (size_t i = 0; i < count; i++) {
        const vit_search *s = &w->searches[i];
        for (size_t b = 0; b < s->runs && !s->done; b++) {
            const size_t row = d->batch++, place = i * w->how.beams + b;
            d->ids[row] = s->running[b].ids[s->length - 1];
            d->places[row] = vit_text_place(c, d->ids[row], s->length - 1);
            d->spans[row] = (vit_attention_span){row, 1, place * w->how.length, s->length};
            d->cross_spans[row] = (vit_attention_span){
                row, 1, memory ? memory[i].query : i * tokens, memory ? memory[i].queries : tokens};
        }
    }
}

/* The beams of a sample that go on from others get their keys and values. */
static void move_beams(vit_text_writer *w, size_t sample) {
    const vit_search *s = &w->searches[sample];
    const size_t row = 2 * vit_config_attention_dim(&w->decoder.config), text = w->how.length * row;
    for (size_t i = 0; i < w->decoder.config.depth; i++) {
        float *to = w->spare[i].kv + sample * w->how.beams * text;
        float *from = w->caches[i].kv + sample * w->how.beams * text;
        const size_t bytes = (s->length - 1) * row * sizeof *to;
        for (size_t b = 0; b < s->runs; b++)
            memcpy(to + b * text, from + s->running[b].from * text, bytes);
        for (size_t b = 0; b < s->runs; b++) memcpy(from + b * text, to + b * text, bytes);
    }
}

static bool stays(const vit_search *s) {
    for (size_t b = 0; b < s->runs; b++)
        if (s->running[b].from != b) return false;
    return true;
}

static void take_step(vit_text_writer *w, size_t count) {
    const float *logits = w->state.decoder->logits;
    for (size_t i = 0; i < count; i++) {
        vit_search *s = &w->searches[i];
        const size_t runs = s->runs;
        if (s->done) continue;
        vit_search_step(s, logits);
        logits += runs * w->decoder.config.vocabulary;
        if (!s->done && w->how.beams > 1 && !stays(s)) move_beams(w, i);
    }
}

typedef struct job {
    vit_text_writer *writer;
    const float *images;
    size_t count;
} job;

static void run(void *context) {
    const job *j = context;
    vit_text_writer *w = j->writer;
    const vit_exec exec = vit_network_exec(w->network, &w->state, w->kernels, w->threads);
    vit_network_encode(w->network, &exec, &w->state, j->images, j->count);
    if (w->decoder.config.memory > 0) make_memory(w, &exec);
    for (;;) {
        list_rows(w, j->count);
        if (w->state.decoder->batch == 0) return;
        vit_decoder_step(&w->decoder, &exec, w->state.decoder, w->caches);
        take_step(w, j->count);
    }
}

void vit_write(vit_text_writer *w, vit_written *out, const float *images, const vit_ids *sources,
               size_t count, uint32_t number) {
    job j = {w, images, count};
    w->state.texts = sources;
    for (size_t i = 0; i < count; i++)
        vit_search_start(&w->searches[i], (uint32_t)w->network->config.decoder.start,
                         number + (uint32_t)i);
    vit_with_team(w->threads, run, &j);
    for (size_t i = 0; i < count; i++) out[i] = vit_search_result(&w->searches[i]);
}
