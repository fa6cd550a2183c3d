#include "vit/model/run/infer.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Tokens of a slice: enough to fill the tiles of matrix products, few enough for the activations to
 * stay in the cache. */
#define SLICE_ROWS 192

/* Products of a block: queries, keys and values; scores; weighted sum; projection; two of the MLP.
 */
#define BLOCK_PRODUCTS 6

typedef struct worker {
    const vit_inference *of;
    vit_arena arena;
    vit_state state;
    float *images;
    vit_ids *texts[2]; /* sources, targets */
    vit_status status; /* of the source, in the run in progress */
    vit_error error;
} worker;

struct vit_inference {
    const vit_network *network;
    const vit_kernels *kernels;
    int threads;
    size_t capacity; /* pictures of a worker's slice, at most; of an encoder of texts, tokens */
    size_t width;    /* vit_inference_width */
    /* of the run in progress: */
    float *logits, *features;
    vit_image_source *source; /* NULL: the samples come from text_source */
    vit_sample_source *text_source;
    vit_visit *visit; /* NULL: the answers are copied to logits and features */
    void *context;
    size_t count, slice;
    const size_t *starts; /* the first sample of each slice; NULL: all have `slice` */
    size_t slices;
    int inner_threads;
    worker workers[]; /* [threads], their arenas made when first needed */
};

vit_status vit_inference_new(vit_inference **out, const vit_network *network,
                             const vit_kernels *kernels, int threads, vit_error *error) {
    const vit_config *c = &network->config;
    const size_t tokens = vit_config_rows(c);
    const size_t size = sizeof(vit_inference) + (size_t)threads * sizeof(worker);
    *out = vit_alloc(1, size);
    if (!*out) return vit_fail_memory(error, "a session", size);
    **out = (vit_inference){.network = network,
                            .kernels = kernels,
                            .threads = threads,
                            .width = vit_inference_width(c),
                            .capacity = c->tower ? vit_max(SLICE_ROWS, c->length)
                                                 : vit_ceil_div(SLICE_ROWS, tokens)};
    return VIT_OK;
}

void vit_inference_free(vit_inference *inference) {
    if (!inference) return;
    for (int i = 0; i < inference->threads; i++) vit_arena_free(&inference->workers[i].arena);
    vit_free(inference);
}

/* Worker 0 has scratch memory for all threads, so that it can also compute with all of them. */
static void carve_worker(vit_arena *arena, void *context) {
    worker *w = context;
    const vit_inference *of = w->of;
    const vit_config *c = &of->network->config;
    const int threads = w == of->workers ? of->threads : 1;
    if (c->tower) {
        vit_state_carve_texts(&w->state, arena, c, of->capacity, threads);
    } else {
        vit_state_carve(&w->state, arena, c, of->capacity, threads, VIT_KEPT_NOTHING, 0);
        w->images = vit_arena_floats(arena, of->capacity * c->height * c->width * c->channels);
    }
    for (size_t i = 0; i < 2; i++)
        w->texts[i] = vit_arena_take(arena, of->capacity * sizeof **w->texts);
}

size_t vit_inference_width(const vit_config *c) {
    return vit_config_embedding(c) * (vit_pools[c->pool].tokens ? vit_config_tokens(c) : 1);
}

static void slice_task(size_t index, int thread, void *context) {
    vit_inference *i = context;
    const vit_config *c = &i->network->config;
    worker *w = &i->workers[thread];
    const vit_exec exec = vit_network_exec(i->network, &w->state, i->kernels, i->inner_threads);
    const size_t first = i->starts ? i->starts[index] : index * i->slice;
    const size_t end = i->starts ? i->starts[index + 1] : vit_min(first + i->slice, i->count);
    const size_t count = end - first;
    if (w->status == VIT_OK && i->source)
        w->status = i->source(w->images, first, count, i->context, &w->error);
    else if (w->status == VIT_OK)
        w->status = i->text_source(w->images, w->texts[0], w->texts[1], first, count, i->context,
                                   &w->error);
    if (w->status != VIT_OK) return;
    w->state.texts = w->texts[0];
    if (w->state.decoder) w->state.decoder->texts = w->texts[1];
    vit_network_forward(i->network, &exec, &w->state, w->images, count);
    if (i->visit) {
        i->visit(&w->state, first, count, i->context);
        return;
    }
    if (w->state.head.logits)
        memcpy(i->logits + first * c->classes, w->state.head.logits,
               count * c->classes * sizeof(float));
    const float *features = vit_heads[c->head].projects ? w->state.head.logits
                            : vit_heads[c->head].unit   ? w->state.head.hidden
                                                        : w->state.pool.features;
    if (i->features)
        memcpy(i->features + first * i->width, features, count * i->width * sizeof(float));
}

static void run_slices(void *context) {
    vit_inference *i = context;
    vit_parallel(i->inner_threads > 1 ? 1 : i->threads, i->slices, slice_task, i);
}

/* Whether the network's products, one with another, are too small to be divided among threads. */
static bool has_small_products(const vit_inference *i) {
    const vit_config *c = &i->network->config;
    const vit_exec exec = {.threads = i->threads};
    const size_t products = BLOCK_PRODUCTS * (c->depth + 1);
    return vit_exec_threads(&exec, vit_config_multiply_adds(c) / products) == 1;
}

/* `count` samples, or if i->starts is set, slices: each thread takes some, or if there are fewer
 * than threads, all compute the same one. */
static vit_status run(vit_inference *i, void *context, size_t count, vit_error *error) {
    const size_t threads = (size_t)i->threads;
    const bool spread = count >= threads || (!i->starts && has_small_products(i));
    const size_t workers = spread ? vit_min(count, threads) : 1;
    if (count == 0) return VIT_OK;
    i->count = count;
    i->slice = vit_min(vit_ceil_div(count, threads), i->capacity);
    i->slices = i->starts ? count : vit_ceil_div(count, i->slice);
    i->context = context;
    i->inner_threads = spread ? 1 : i->threads;
    for (size_t n = 0; n < workers; n++) {
        worker *w = &i->workers[n];
        w->of = i;
        w->status = VIT_OK;
        if (w->arena.base) continue;
        const vit_status status = vit_arena_fit(&w->arena, carve_worker, w, "a session", error);
        if (status != VIT_OK) return status;
    }
    vit_with_team(i->inner_threads, run_slices, i);
    for (size_t w = 0; w < workers; w++)
        if (i->workers[w].status != VIT_OK)
            return vit_fail(error, i->workers[w].status, "%s", i->workers[w].error.message);
    return VIT_OK;
}

vit_status vit_inference_run(vit_inference *i, float *logits, float *features,
                             vit_image_source *source, void *context, size_t count,
                             vit_error *error) {
    i->logits = logits;
    i->features = features;
    i->source = source;
    i->visit = NULL;
    i->starts = NULL;
    return run(i, context, count, error);
}

vit_status vit_inference_visit(vit_inference *i, vit_sample_source *source, vit_visit *visit,
                               void *context, size_t count, vit_error *error) {
    return vit_inference_visit_slices(i, source, visit, context, NULL, count, error);
}

vit_status vit_inference_visit_slices(vit_inference *i, vit_sample_source *source, vit_visit *visit,
                                      void *context, const size_t *starts, size_t slices,
                                      vit_error *error) {
    i->source = NULL;
    i->text_source = source;
    i->visit = visit;
    i->starts = starts;
    return run(i, context, slices, error);
}

int vit_inference_threads(const vit_inference *i) {
    return i->threads;
}

size_t vit_inference_capacity(const vit_inference *i) {
    return i->capacity;
}

vit_status vit_fail_answer(vit_error *error, const char *where) {
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "the model's answer is not finite%s: what it computes is beyond the largest "
                    "float32, so its weights are damaged or of a training that failed; use another "
                    "model, or an earlier checkpoint of this one",
                    where);
}

vit_status vit_check_answer(const float *logits, size_t classes, const float *features,
                            size_t width, vit_error *error) {
    const float *const values[] = {logits, features};
    const size_t counts[] = {classes, features ? width : 0};
    static const char *const names[] = {"logit", "feature"};
    for (size_t k = 0; k < 2; k++) {
        size_t i = 0;
        while (i < counts[k] && isfinite(values[k][i])) i++;
        if (i == counts[k]) continue;
        char where[64];
        snprintf(where, sizeof where, " (%s %zu is %s)", names[k], i,
                 isnan(values[k][i]) ? "NaN" : "infinite");
        return vit_fail_answer(error, where);
    }
    return VIT_OK;
}
