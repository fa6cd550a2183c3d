#include "vit/train/step/lanes.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include <math.h>
#include <string.h>

/* Rows (tokens) of a slice: enough to fill the tiles of a matrix product, few enough that its
 * activations stay in the cache. More if the weights do not fit the cache, since every slice reads
 * them and adds to their gradients; most in a network of one lane, whose activations do not fit
 * either. */
#define SLICE_ROWS 136
#define LONG_SLICE_ROWS 384
#define LARGE_SLICE_ROWS 768
#define LONG_SLICE_FLOATS ((size_t)3 << 19) /* weights from which on a slice is long */

#define LANES_FLOATS ((size_t)32 << 20) /* of all copies of the gradient, at most */

#define CHAINS 2 /* that lanes of one slice each are added in */

#define TAKEN SIZE_MAX /* vit_lanes.next of a lane that a thread works on */

/* ---- plan ---- */

static bool has_one_lane(const vit_table *table) {
    return 2 * table->size > LANES_FLOATS;
}

size_t vit_lanes_slice(const vit_config *config, const vit_table *table, size_t batch) {
    const size_t tokens = vit_config_rows(config);
    if (has_one_lane(table)) return vit_min(vit_ceil_div(LARGE_SLICE_ROWS, tokens), batch);
    const size_t share = vit_ceil_div(batch, VIT_MOST_LANES); /* of a lane */
    if (table->size < LONG_SLICE_FLOATS) return vit_min(vit_ceil_div(SLICE_ROWS, tokens), share);
    return vit_ceil_div(share, vit_max(1, share * tokens / LONG_SLICE_ROWS));
}

void vit_lanes_plan(vit_lanes *l, const vit_config *c, const vit_table *table, size_t batch,
                    int threads) {
    *l = (vit_lanes){.slice = vit_lanes_slice(c, table, batch)};
    l->slices = vit_ceil_div(batch, l->slice);
    l->count = has_one_lane(table) ? 1 : vit_min(VIT_MOST_LANES, l->slices);
    while (l->count > 1 && l->count * table->size > LANES_FLOATS) l->count /= 2;
    /* With fewer lanes than threads, some threads would wait: all of them work inside one slice. */
    const bool inside = l->count < vit_min(VIT_MOST_LANES, l->slices) && l->count < (size_t)threads;
    l->chains = l->count == l->slices && l->count > CHAINS ? CHAINS : 1;
    l->workers = inside ? 1 : vit_min(l->count, (size_t)threads);
    l->inner_threads = l->workers == 1 ? threads : 1;
}

/* ---- memory ---- */

vit_status vit_lanes_new(vit_lanes *l, const vit_config *c, const vit_table *table,
                         const vit_table *trained, vit_error *error) {
    const size_t n = table->size, first = trained->count > 0 ? trained->rows->offset : n;
    l->trained = trained;
    l->gradients = vit_alloc_unset(l->count * n, sizeof(float));
    l->views = vit_alloc(2 * l->count, sizeof *l->views);
    if (!l->gradients || !l->views)
        return vit_fail_memory(error, "the gradients of a step", l->count * n * sizeof(float));
    for (size_t i = 0; i < l->count; i++) {
        float *copy = l->gradients + i * n;
        vit_discard(copy, first * sizeof *copy); /* frozen rows come first and take no memory */
        memset(copy + first, 0, (n - first) * sizeof *copy);
    }
    vit_status status = VIT_OK;
    for (size_t i = 0; i < l->count && status == VIT_OK; i++) {
        float *sum = l->gradients + i * n;
        status = vit_gradients_view(&l->views[2 * i], c, table, sum, true, error);
        if (status == VIT_OK)
            status = vit_gradients_view(&l->views[2 * i + 1], c, table, sum, false, error);
    }
    return status;
}

void vit_lanes_free(vit_lanes *l) {
    for (size_t i = 0; l->views && i < 2 * l->count; i++) vit_gradients_free(&l->views[i]);
    vit_free(l->views);
    vit_free(l->gradients);
}

/* ---- slices ---- */

typedef struct running {
    vit_lanes *lanes;
    vit_run_slice *run;
    void *context;
} running;

/* Chooses the next slice for a thread, and marks its lane as taken. `follows` is the slice that
 * comes next in the lane that the thread worked on before.
 *
 * While there are as many untouched lanes as threads, a thread stays in its lane, because that
 * lane's sum is in its cache. After that it takes the first free slice of any lane. Otherwise, with
 * 8 lanes and 3 or 6 threads, the last threads would each work through a whole lane while the
 * others wait.
 *
 * False: every lane is finished or taken, and this thread has nothing left to do. */
static bool take_slice(vit_lanes *l, size_t follows, size_t *slice) {
    for (;;) {
        size_t first = l->slices, fresh = 0;
        bool goes_on = false;
        for (size_t i = 0; i < l->count; i++) {
            const size_t next = atomic_load_explicit(&l->next[i], memory_order_relaxed);
            first = vit_min(first, next);
            fresh += next < l->count;
            goes_on |= next == follows && next < l->slices;
        }
        size_t next = *slice = goes_on && fresh >= l->workers ? follows : first;
        if (next == l->slices) return false;
        if (atomic_compare_exchange_strong_explicit(&l->next[next % l->count], &next, TAKEN,
                                                    memory_order_acquire, memory_order_relaxed))
            return true;
    }
}

/* Computes the slice and adds its gradient to its lane. */
static void add_slice(const running *r, size_t slice, size_t worker) {
    const vit_lanes *l = r->lanes;
    const size_t lane = slice % l->count;
    const bool is_first = slice == lane;
    if (is_first) vit_gradients_clear(l->gradients + lane * l->trained->size, l->trained);
    r->run(slice, worker, &l->views[2 * lane + !is_first], r->context);
}

static void worker_task(size_t index, int thread, void *context) {
    (void)index;
    const running *r = context;
    vit_lanes *l = r->lanes;
    for (size_t slice, follows = l->slices; take_slice(l, follows, &slice);) {
        add_slice(r, slice, (size_t)thread);
        follows = slice + l->count;
        atomic_store_explicit(&l->next[slice % l->count], follows, memory_order_release);
    }
}

void vit_lanes_run(vit_lanes *l, vit_run_slice *run, void *context) {
    running r = {l, run, context};
    for (size_t i = 0; i < l->count; i++) atomic_init(&l->next[i], i);
    vit_parallel((int)l->workers, l->workers, worker_task, &r);
}

/* ---- their sum ---- */

typedef struct sum {
    vit_chunks *chunks;
    const vit_kernels *kernels;
    float *gradients;
    size_t lanes, chains;
} sum;

static void sum_task(size_t index, int thread, void *context) {
    (void)thread;
    const sum *s = context;
    const vit_chunk *c = &s->chunks->list[index];
    const size_t lane = s->chunks->lane_size, next = s->chains * lane;
    float *first = s->gradients + c->offset;
    for (size_t i = 0; i < s->chains; i++)
        s->kernels->column_sums(first + i * lane, first + i * lane + next,
                                (s->lanes - 1 - i) / s->chains, c->count, next);
    s->kernels->column_sums(first, first + lane, s->chains - 1, c->count, lane);
    s->chunks->squares[index] = s->kernels->square_sum(first, c->count);
}

double vit_sum_lanes(vit_chunks *chunks, const vit_kernels *kernels, int threads, float *gradients,
                     size_t lanes, size_t chains) {
    sum s = {chunks, kernels, gradients, lanes, chains};
    vit_parallel(threads, chunks->count, sum_task, &s);
    double total = 0;
    for (size_t i = 0; i < chunks->count; i++) total += chunks->squares[i];
    return sqrt(total);
}
