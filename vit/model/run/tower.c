#include "vit/model/run/tower.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include <string.h>

/* Tokens that are computed together: as SLICE_ROWS of infer.c. */
#define SLICE_ROWS 192

typedef struct worker {
    const vit_tower_run *of;
    vit_arena arena;
    vit_state state;
    vit_ids *ids; /* [rows] */
} worker;

struct vit_tower_run {
    const vit_network *network;
    const vit_kernels *kernels;
    int threads;
    size_t rows; /* tokens of a slice, at most */
    /* of the run in progress: */
    float *embeddings;
    const vit_tower_text *texts;
    size_t *starts; /* [slices + 1] the first text of each slice */
    size_t slices;
    int inner_threads;
    worker workers[]; /* [threads], their arenas made when first needed */
};

vit_status vit_tower_run_new(vit_tower_run **out, const vit_network *network,
                             const vit_kernels *kernels, int threads, vit_error *error) {
    const size_t size = sizeof(vit_tower_run) + (size_t)threads * sizeof(worker);
    vit_tower_run *r = *out = vit_alloc(1, size);
    if (!r) return vit_fail_memory(error, "a session", size);
    *r = (vit_tower_run){.network = network,
                         .kernels = kernels,
                         .threads = threads,
                         .rows = vit_max(SLICE_ROWS, network->config.length)};
    return VIT_OK;
}

void vit_tower_run_free(vit_tower_run *r) {
    if (!r) return;
    for (int i = 0; i < r->threads; i++) vit_arena_free(&r->workers[i].arena);
    vit_free(r);
}

/* Worker 0 has scratch memory for all threads, so that it can also compute with all of them. */
static void carve_worker(vit_arena *arena, void *context) {
    worker *w = context;
    const vit_tower_run *of = w->of;
    vit_state_carve_texts(&w->state, arena, &of->network->config, of->rows,
                          w == of->workers ? of->threads : 1);
    w->ids = vit_arena_take(arena, of->rows * sizeof *w->ids);
}

static void slice_task(size_t index, int thread, void *context) {
    vit_tower_run *r = context;
    worker *w = &r->workers[thread];
    const size_t width = r->network->config.classes, first = r->starts[index];
    const size_t count = r->starts[index + 1] - first;
    const vit_exec exec = vit_network_exec(r->network, &w->state, r->kernels, r->inner_threads);
    for (size_t i = 0; i < count; i++) w->ids[i] = r->texts[first + i].ids;
    w->state.texts = w->ids;
    vit_network_forward(r->network, &exec, &w->state, NULL, count);
    for (size_t i = 0; i < count; i++) {
        const size_t row = w->state.text.spans[i].query + r->texts[first + i].token;
        memcpy(r->embeddings + (first + i) * width, w->state.head.logits + row * width,
               width * sizeof(float));
    }
}

static void run_slices(void *context) {
    vit_tower_run *r = context;
    vit_parallel(r->inner_threads > 1 ? 1 : r->threads, r->slices, slice_task, r);
}

/* Puts texts into slices of at most `rows` tokens, in order. */
static void cut(vit_tower_run *r, size_t count, size_t rows) {
    size_t held = 0;
    r->slices = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t tokens = r->texts[i].ids.count;
        if (i == 0 || held + tokens > rows) {
            r->starts[r->slices++] = i;
            held = 0;
        }
        held += tokens;
    }
    r->starts[r->slices] = count;
}

vit_status vit_tower_embed(vit_tower_run *r, float *embeddings, const vit_tower_text *texts,
                           size_t count, vit_error *error) {
    const size_t threads = (size_t)r->threads;
    size_t tokens = 0, longest = 1;
    if (count == 0) return VIT_OK;
    r->starts = vit_alloc(count + 1, sizeof *r->starts);
    if (!r->starts) return vit_fail_memory(error, "a list of texts", count * sizeof *r->starts);
    for (size_t i = 0; i < count; i++) {
        tokens += texts[i].ids.count;
        longest = vit_max(longest, texts[i].ids.count);
    }
    r->embeddings = embeddings;
    r->texts = texts;
    cut(r, count, vit_min(r->rows, vit_max(longest, vit_ceil_div(tokens, threads))));
    const bool spread = r->slices >= threads;
    r->inner_threads = spread ? 1 : r->threads;
    vit_status status = VIT_OK;
    for (int i = 0; i < (spread ? r->threads : 1) && status == VIT_OK; i++) {
        worker *w = &r->workers[i];
        w->of = r;
        if (!w->arena.base) status = vit_arena_fit(&w->arena, carve_worker, w, "a session", error);
    }
    if (status == VIT_OK) vit_with_team(r->inner_threads, run_slices, r);
    vit_free(r->starts);
    r->starts = NULL;
    return status;
}
