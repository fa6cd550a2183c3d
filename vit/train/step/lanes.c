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

size_t vit_lanes_slice(const vit_config *config, const vit_table *table, size_t batch,
                       size_t lanes) {
    const size_t tokens = vit_config_rows(config);
    const size_t share = vit_ceil_div(batch, lanes > 0 ? lanes : VIT_MOST_LANES); /* of a lane */
    if (has_one_lane(table))
        return vit_min(vit_ceil_div(LARGE_SLICE_ROWS, tokens), lanes > 0 ? share : batch);
    if (table->size < LONG_SLICE_FLOATS) return vit_min(vit_ceil_div(SLICE_ROWS, tokens), share);
    return vit_ceil_div(share, vit_max(1, share * tokens / LONG_SLICE_ROWS));
}

/* Number i in the order of the ranks: the first chain's lanes upwards, the second's downwards. */
static size_t lane_at(const vit_lanes *l, size_t i) {
    const size_t first = vit_ceil_div(l->count, l->chains);
    return i < first ? i * l->chains : 2 * (l->count - 1 - i) + 1;
}

/* Gives this rank the lanes from a up to b in that order. */
static void hold(vit_lanes *l, size_t a, size_t b) {
    l->own = b - a;
    for (size_t i = a; i < b; i++) l->in_chain[lane_at(l, i) % l->chains]++;
    for (size_t i = a, low = 0; i < b; i++) {
        const size_t lane = lane_at(l, i);
        const bool is_second = lane % l->chains == 1;
        l->held[is_second ? l->own - 1 - (i - a - low) : low] = (uint16_t)lane;
        low += !is_second;
    }
}

/* Divides the lanes among the ranks. The sums meet where the first one's last lane is. */
static void divide(vit_lanes *l, size_t rank, size_t size) {
    const size_t last = l->chains == 1 ? l->count : l->count / 2 + 1;
    hold(l, rank * l->count / size, (rank + 1) * l->count / size);
    l->meet = 0;
    while ((size_t)(l->meet + 1) * l->count / size < last) l->meet++;
}

static vit_status fail_few(const vit_lanes *l, int size, vit_error *error) {
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    "%d ranks, but this network and batch have %zu lane%s to divide among them: "
                    "start %zu ranks at most, or change the recipe with --set lanes=N, N from %d "
                    "to %d (another recipe: another model)",
                    size, l->count, l->count == 1 ? "" : "s", l->count, size, VIT_RECIPE_LANES);
}

vit_status vit_lanes_plan(vit_lanes *l, const vit_config *c, const vit_table *table,
                          const vit_recipe *recipe, int threads, vit_cluster *cluster,
                          vit_error *error) {
    const size_t most = recipe->lanes > 0 ? recipe->lanes : VIT_MOST_LANES;
    const int size = vit_cluster_size(cluster);
    *l = (vit_lanes){.slice = vit_lanes_slice(c, table, recipe->batch, recipe->lanes)};
    l->slices = vit_ceil_div(recipe->batch, l->slice);
    l->bf16 = recipe->bf16_gradients;
    l->count = vit_min(most, l->slices);
    if (recipe->lanes == 0) {
        if (has_one_lane(table)) l->count = 1;
        while (l->count > 1 && l->count * table->size > LANES_FLOATS) l->count /= 2;
    }
    if ((size_t)size > l->count) return fail_few(l, size, error);
    l->chains = l->count == l->slices && l->count > CHAINS ? CHAINS : 1;
    divide(l, (size_t)vit_cluster_rank(cluster), (size_t)size);
    l->cluster = cluster;
    /* With fewer lanes than threads, some threads would wait: all of them work inside one slice. */
    const bool few = size > 1 || l->count < vit_min(VIT_MOST_LANES, l->slices);
    const bool inside = few && l->own < (size_t)threads;
    l->workers = inside ? 1 : vit_min(l->own, (size_t)threads);
    l->inner_threads = l->workers == 1 ? threads : 1;
    return VIT_OK;
}

bool vit_lanes_holds(const vit_lanes *l, size_t slice) {
    for (size_t i = 0; i < l->own; i++)
        if (l->held[i] == slice % l->count) return true;
    return false;
}

/* ---- memory ---- */

vit_status vit_lanes_new(vit_lanes *l, const vit_config *c, const vit_table *table,
                         const vit_table *trained, vit_error *error) {
    const size_t n = table->size, first = trained->count > 0 ? trained->rows->offset : n;
    l->trained = trained;
    l->gradients = vit_alloc_unset(l->own * n, sizeof(float));
    l->views = vit_alloc(2 * l->own, sizeof *l->views);
    l->next = vit_alloc(l->own, sizeof *l->next);
    l->complete = vit_alloc(l->own, sizeof *l->complete);
    if (!l->gradients || !l->views || !l->next || !l->complete)
        return vit_fail_memory(error, "the gradients of a step", l->own * n * sizeof(float));
    for (size_t i = 0; i < l->own; i++) {
        float *copy = l->gradients + i * n;
        vit_discard(copy, first * sizeof *copy); /* frozen rows come first and take no memory */
        memset(copy + first, 0, (n - first) * sizeof *copy);
    }
    vit_status status = VIT_OK;
    if (l->cluster && trained->count > 0) {
        pthread_mutex_init(&l->lock, NULL);
        pthread_cond_init(&l->changed, NULL);
        l->has_lock = true;
        status = vit_fold_new(&l->fold, l->cluster, n - first, l->meet, l->bf16, error);
    }
    for (size_t i = 0; i < l->own && status == VIT_OK; i++) {
        float *sum = l->gradients + i * n;
        status = vit_gradients_view(&l->views[2 * i], c, table, sum, true, error);
        if (status == VIT_OK)
            status = vit_gradients_view(&l->views[2 * i + 1], c, table, sum, false, error);
    }
    return status;
}

void vit_lanes_free(vit_lanes *l) {
    for (size_t i = 0; l->views && i < 2 * l->own; i++) vit_gradients_free(&l->views[i]);
    vit_free(l->views);
    vit_fold_free(l->fold);
    if (l->has_lock) {
        pthread_mutex_destroy(&l->lock);
        pthread_cond_destroy(&l->changed);
    }
    vit_free(l->complete);
    vit_free(l->next);
    vit_free(l->gradients);
}

/* ---- slices ---- */

typedef struct running {
    vit_lanes *lanes;
    vit_run_slice *run;
    void *context;
} running;

/* What a thread works on: slice number `slice`, for lane number `lane` of this rank. */
typedef struct taken {
    size_t slice, lane;
} taken;

/* Chooses the next slice for a thread, and marks its lane as taken. `follows` is the slice that
 * comes next in the lane that the thread worked on before.
 *
 * While there are as many untouched lanes as threads, a thread stays in its lane, because that
 * lane's sum is in its cache. After that it takes the first free slice of any lane. Otherwise, with
 * 8 lanes and 3 or 6 threads, the last threads would each work through a whole lane while the
 * others wait.
 *
 * False: every lane is finished or taken, and this thread has nothing left to do. */
static bool take_slice(vit_lanes *l, taken follows, taken *chosen) {
    for (;;) {
        taken first = {l->slices, 0};
        size_t fresh = 0;
        bool goes_on = false;
        for (size_t i = 0; i < l->own; i++) {
            const size_t next = atomic_load_explicit(&l->next[i], memory_order_relaxed);
            if (next < first.slice) first = (taken){next, i};
            fresh += next < l->count;
            goes_on |= next == follows.slice && next < l->slices;
        }
        *chosen = goes_on && fresh >= l->workers ? follows : first;
        if (chosen->slice == l->slices) return false;
        size_t next = chosen->slice;
        if (atomic_compare_exchange_strong_explicit(&l->next[chosen->lane], &next, TAKEN,
                                                    memory_order_acquire, memory_order_relaxed))
            return true;
    }
}

/* Computes the slice and adds its gradient to its lane. */
static void add_slice(const running *r, taken t, size_t worker) {
    const vit_lanes *l = r->lanes;
    const bool is_first = t.slice < l->count;
    if (is_first) vit_gradients_clear(l->gradients + t.lane * l->trained->size, l->trained);
    r->run(t.slice, worker, &l->views[2 * t.lane + !is_first], r->context);
}

static void worker_task(size_t index, int thread, void *context) {
    (void)index;
    const running *r = context;
    vit_lanes *l = r->lanes;
    for (taken t, follows = {l->slices, 0}; take_slice(l, follows, &t);) {
        add_slice(r, t, (size_t)thread);
        follows = (taken){t.slice + l->count, t.lane};
        atomic_store_explicit(&l->next[t.lane], follows.slice, memory_order_release);
    }
}

static void compute(running *r) {
    vit_parallel((int)r->lanes->workers, r->lanes->workers, worker_task, r);
}

/* ---- their sum ---- */

typedef struct sum {
    const vit_lanes *lanes;
    vit_chunks *chunks;
    const vit_kernels *kernels;
    int threads;
    float *low, *high;   /* partial sums that came from other ranks; NULL: none */
    size_t first, count; /* of the numbers that are added, from the first one that is trained */
} sum;

/* sums [n] += the terms, [terms][lane], one after the other. */
static void add(const sum *s, float *sums, const float *terms, size_t count, size_t n) {
    const size_t lane = s->lanes->trained->size;
    if (!s->lanes->bf16) {
        s->kernels->column_sums(sums, terms, count, n, lane);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        s->kernels->column_sums(sums, terms + i * lane, 1, n, lane);
        s->kernels->round_bf16(sums, n);
    }
}

/* What came, or this rank's first lane of that chain, plus its other lanes: n numbers from `at` on.
 * NULL: there is nothing of this chain. */
static float *add_chain(const sum *s, int chain, float *came, size_t at, size_t n) {
    const vit_lanes *l = s->lanes;
    const size_t lane = l->trained->size, terms = l->in_chain[chain];
    float *own = l->gradients + (chain == 1 ? l->in_chain[0] : 0) * lane + at;
    if (came) {
        add(s, came, own, terms, n);
        return came;
    }
    if (terms == 0) return NULL;
    if (l->bf16) s->kernels->round_bf16(own, n);
    add(s, own, own + lane, terms - 1, n);
    return own;
}

/* Both chains' numbers; the place of the sum. */
static float *add_chains(const sum *s, float *low, float *high, size_t at, size_t n) {
    float *first = add_chain(s, 0, low, at, n), *second = add_chain(s, 1, high, at, n);
    if (first && second) add(s, first, second, 1, n);
    return first ? first : second;
}

/* The squares of a chunk. */
static void square_task(size_t index, int thread, void *context) {
    (void)thread;
    const sum *s = context;
    const vit_chunk *c = &s->chunks->list[index];
    s->chunks->squares[index] = s->kernels->square_sum(s->lanes->gradients + c->offset, c->count);
}

/* One process: a chunk, and its squares. */
static void sum_task(size_t index, int thread, void *context) {
    const sum *s = context;
    const vit_chunk *c = &s->chunks->list[index];
    add_chains(s, NULL, NULL, c->offset, c->count);
    square_task(index, thread, context);
}

/* Several ranks: VIT_CHUNK numbers of a piece. */
static void piece_task(size_t index, int thread, void *context) {
    (void)thread;
    const sum *s = context;
    const size_t at = index * VIT_CHUNK, n = vit_min(s->count - at, VIT_CHUNK);
    add_chains(s, s->low ? s->low + at : NULL, s->high ? s->high + at : NULL, s->first + at, n);
}

/* A vit_fold_add. */
static const float *add_piece(float *low, float *high, size_t first, size_t count, void *context) {
    sum *s = context;
    const vit_lanes *l = s->lanes;
    s->low = low;
    s->high = high;
    s->first = l->trained->rows->offset + first;
    s->count = count;
    vit_parallel(s->threads, vit_ceil_div(count, VIT_CHUNK), piece_task, s);
    if (low || l->in_chain[0] > 0) return low ? low : l->gradients + s->first;
    return high ? high : l->gradients + s->first;
}

void vit_lanes_sum(vit_lanes *l, double *norm, vit_chunks *chunks, const vit_kernels *kernels,
                   int threads) {
    sum s = {.lanes = l, .chunks = chunks, .kernels = kernels, .threads = threads};
    vit_parallel(threads, chunks->count, l->cluster ? square_task : sum_task, &s);
    double total = 0;
    for (size_t i = 0; i < chunks->count; i++) total += chunks->squares[i];
    *norm = sqrt(total);
}

/* ---- slices, and beside them the sum over ranks ---- */

static void set_computes(vit_lanes *l, bool computes) {
    pthread_mutex_lock(&l->lock);
    l->computes = computes;
    if (computes)
        for (size_t i = 0; i < l->own; i++) l->complete[i] = l->trained->size;
    pthread_cond_signal(&l->changed);
    pthread_mutex_unlock(&l->lock);
    vit_cluster_computes(l->cluster, computes);
}

void vit_lanes_passed(vit_lanes *l, size_t slice, size_t layer) {
    const vit_table *t = l->trained;
    size_t i = 0, row = t->count;
    if (!l->fold || slice + l->count < l->slices) return; /* more slices of the lane follow */
    while (l->held[i] != slice % l->count) i++;
    while (row > 0 && t->rows[row - 1].layer >= layer) row--;
    pthread_mutex_lock(&l->lock);
    if (row < t->count) l->complete[i] = t->rows[row].offset;
    pthread_cond_signal(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

/* Returns when all lanes are complete from number `at` on; false if nothing is computed any more.
 */
static bool wait_until_complete(vit_lanes *l, size_t at) {
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < l->own && l->computes;)
        if (l->complete[i] <= at)
            i++;
        else
            pthread_cond_wait(&l->changed, &l->lock);
    const bool computes = l->computes;
    pthread_mutex_unlock(&l->lock);
    return computes;
}

/* Arguments and results of vit_lanes_run, for its two sides. */
typedef struct both {
    running running;
    sum sum;
    vit_status status;
    vit_error *error;
} both;

static void compute_side(void *context) {
    both *b = context;
    compute(&b->running);
    set_computes(b->running.lanes, false);
}

static void fold_side(void *context) {
    both *b = context;
    vit_lanes *l = b->running.lanes;
    const size_t trained = l->trained->rows->offset;
    size_t first;
    while (b->status == VIT_OK && vit_fold_next(l->fold, &first) &&
           wait_until_complete(l, trained + first))
        b->status = vit_fold_piece(l->fold, b->error);
}

vit_status vit_lanes_run(vit_lanes *l, vit_run_slice *run, void *context,
                         const vit_kernels *kernels, int threads, vit_error *error) {
    both b = {.running = {l, run, context}, .error = error};
    for (size_t i = 0; i < l->own; i++) atomic_init(&l->next[i], l->held[i]);
    if (!l->fold) {
        compute(&b.running);
        return VIT_OK;
    }
    b.sum = (sum){.lanes = l, .kernels = kernels, .threads = 1};
    b.status =
        vit_fold_begin(l->fold, l->gradients + l->trained->rows->offset, add_piece, &b.sum, error);
    if (b.status != VIT_OK) return b.status;
    set_computes(l, true);
    vit_beside(compute_side, fold_side, &b);
    b.sum.threads = threads;
    return b.status == VIT_OK ? vit_fold_end(l->fold, error) : b.status;
}
