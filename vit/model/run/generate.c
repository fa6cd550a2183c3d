#include "vit/model/run/generate.h"
#include "vit/base/sys.h"
#include "vit/model/run/search.h"
#include <string.h>

struct vit_generator {
    const vit_network *network;
    vit_network decoder; /* its second stack */
    vit_generation how;
    const vit_kernels *kernels;
    int threads;
    size_t samples, rows; /* texts at most; rows: with all their beams */
    vit_arena arena;
    vit_state state;
    vit_search *searches;    /* [samples] */
    vit_block_cache *caches; /* [depth] */
    vit_block_cache *spare;  /* the same, with beams: for putting caches in another order */
};

/* ---- options ---- */

static vit_status check(const vit_generation *w, const vit_config *c, vit_error *error) {
    if (w->beams < 1 || w->beams > 64)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "%zu beams, expected 1 to 64", w->beams);
    if (w->length < 2 || w->length > c->decoder.length + 1)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "texts of at most %zu tokens, START included: expected 2 to %zu", w->length,
                        c->decoder.length + 1);
    if (!(w->length_penalty >= -100 && w->length_penalty <= 100))
        return vit_fail(error, VIT_ERROR_ARGUMENT, "a length penalty of %g, expected -100 to 100",
                        w->length_penalty);
    if (!(w->temperature >= 1e-3 && w->temperature <= 1e3))
        return vit_fail(error, VIT_ERROR_ARGUMENT, "a temperature of %g, expected 0.001 to 1000",
                        w->temperature);
    if (w->sample && w->beams > 1)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "sampling writes one text, not several beams: leave out beams or sampling");
    return VIT_OK;
}

/* ---- memory ---- */

static vit_block_cache *carve_caches(vit_arena *arena, const vit_generator *w) {
    const vit_config *c = &w->decoder.config;
    const size_t floats = w->rows * w->how.length * 2 * vit_config_attention_dim(c);
    vit_block_cache *caches = vit_arena_take(arena, c->depth * sizeof *caches);
    for (size_t i = 0; i < c->depth; i++) {
        float *kv = vit_arena_floats(arena, floats);
        if (caches) caches[i] = (vit_block_cache){kv, w->how.length};
    }
    return caches;
}

static void carve(vit_arena *arena, void *context) {
    vit_generator *w = context;
    const vit_config *c = &w->network->config, *d = &w->decoder.config;
    const size_t cross = w->samples * vit_config_tokens(c) * 2 * vit_config_attention_dim(d);
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
        float *kv = vit_arena_floats(arena, cross);
        if (w->state.decoder) w->state.decoder->blocks[i].cross.kv = kv;
    }
}

vit_status vit_generator_new(vit_generator **out, const vit_network *network,
                             const vit_generation *writing, const vit_kernels *kernels, int threads,
                             size_t samples, vit_error *error) {
    *out = NULL;
    vit_status status = check(writing, &network->config, error);
    if (status != VIT_OK) return status;
    vit_generator *w = vit_alloc(1, sizeof *w);
    if (!w) return vit_fail_memory(error, "a writer", sizeof *w);
    *w = (vit_generator){.network = network,
                         .decoder = vit_network_decoder(network),
                         .how = *writing,
                         .kernels = kernels,
                         .threads = threads,
                         .samples = samples,
                         .rows = samples * writing->beams};
    status = vit_arena_fit(&w->arena, carve, w, "writing texts", error);
    if (status == VIT_OK)
        *out = w;
    else
        vit_free(w);
    return status;
}

void vit_generator_free(vit_generator *w) {
    if (!w) return;
    vit_arena_free(&w->arena);
    vit_free(w);
}

/* ---- writing ---- */

/* The decoder's next batch: a row for each running beam, its last token. Beam b of sample i has
 * slot i * beams + b in the caches. */
static void list_rows(vit_generator *w, size_t count) {
    vit_state *d = w->state.decoder;
    const vit_config *c = &w->decoder.config;
    const size_t tokens = vit_config_tokens(&w->network->config);
    const vit_attention_span *sources = w->state.text.spans;
    d->batch = 0;
    for (size_t i = 0; i < count; i++) {
        const vit_search *s = &w->searches[i];
        for (size_t b = 0; b < s->runs && !s->done; b++) {
            const size_t row = d->batch++, slot = i * w->how.beams + b;
            d->text.ids[row] = s->running[b].ids[s->length - 1];
            d->text.positions[row] =
                vit_token_embedding_position(c, d->text.ids[row], s->length - 1);
            d->text.spans[row] = (vit_attention_span){row, 1, slot * w->how.length, s->length};
            d->text.cross_spans[row] =
                (vit_attention_span){row, 1, sources ? sources[i].query : i * tokens,
                                     sources ? sources[i].queries : tokens};
        }
    }
}

/* Each beam of the sample gets the keys and values of the beam that it continues. */
static void move_beams(vit_generator *w, size_t sample) {
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

/* Chooses the next token of every text that is not done. */
static void take_step(vit_generator *w, size_t count) {
    const float *logits = w->state.decoder->head.logits;
    for (size_t i = 0; i < count; i++) {
        vit_search *s = &w->searches[i];
        const size_t runs = s->runs;
        bool in_place = true;
        if (s->done) continue;
        vit_search_step(s, logits);
        logits += runs * w->decoder.config.vocabulary;
        for (size_t b = 0; b < s->runs; b++) in_place = in_place && s->running[b].from == b;
        if (!s->done && w->how.beams > 1 && !in_place) move_beams(w, i);
    }
}

typedef struct job {
    vit_generator *writer;
    const float *images;
    size_t count;
} job;

static void run(void *context) {
    const job *j = context;
    vit_generator *w = j->writer;
    vit_state *s = &w->state;
    const vit_exec exec = vit_network_exec(w->network, s, w->kernels, w->threads);
    vit_network_encode(w->network, &exec, s, j->images, j->count);
    /* keys and values of the encoder's output, computed once for all tokens */
    for (size_t i = 0; w->decoder.config.memory > 0 && i < w->decoder.config.depth; i++)
        vit_linear_forward(&exec, s->decoder->blocks[i].cross.kv, vit_encoder_output(s),
                           &w->decoder.weights.blocks[i].cross_kv, NULL, s->rows);
    for (;;) {
        list_rows(w, j->count);
        if (s->decoder->batch == 0) return;
        vit_decoder_step(&w->decoder, &exec, s->decoder, w->caches);
        take_step(w, j->count);
    }
}

void vit_generate(vit_generator *w, vit_generated *out, const float *images, const vit_ids *sources,
                  size_t count, uint32_t number) {
    job j = {w, images, count};
    w->state.texts = sources;
    for (size_t i = 0; i < count; i++)
        vit_search_start(&w->searches[i], (uint32_t)w->network->config.decoder.start,
                         number + (uint32_t)i);
    vit_with_team(w->threads, run, &j);
    for (size_t i = 0; i < count; i++) out[i] = vit_search_result(&w->searches[i]);
}
