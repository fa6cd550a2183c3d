#include "vit/train/trainer.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/ops/loss.h"
#include "vit/train/adamw.h"
#include "vit/train/drop_path.h"
#include <stdatomic.h>
#include <string.h>

/* Rows (tokens) of a slice that fill the matrix product's tiles and leave its activations in the
 * cache; or, of a network whose weights do not stay there, so many that reading these and adding to
 * their gradients for every slice costs little, at least, in equal parts of a lane; or, of one with
 * one lane, whose activations do not stay there either; and copies of the gradient that are worth
 * their memory. */
#define SLICE_ROWS 136
#define LONG_SLICE_ROWS 384
#define LARGE_SLICE_ROWS 768
#define LONG_SLICE_FLOATS ((size_t)3 << 19)
#define MOST_LANES 8
#define LANES_FLOATS ((size_t)32 << 20)

/* Chains that lanes of one slice are summed in. */
#define CHAINS 2

/* What a lane's next slice is while a thread has the lane. */
#define TAKEN SIZE_MAX

/* What the source said of a picture. */
typedef struct loaded {
    vit_status status;
    vit_error error;
} loaded;

typedef struct worker {
    vit_arena arena;
    vit_state state;
    float *images;  /* [slice][height][width][channels] */
    size_t *labels; /* [slice] */
    vit_sample_key *keys;
    float *keep;       /* [depth][2][slice]; NULL without drop path */
    loaded *loads;     /* [slice] */
    vit_status status; /* of the source, in this step */
    vit_error error;
} worker;

struct vit_trainer {
    vit_network network, averaged;
    vit_table table;
    vit_table frozen, trained; /* its first rows, those of frozen layers, and all others */
    vit_recipe recipe;
    vit_trainer_options options;
    size_t slice, slices, lanes, chains;
    bool adds; /* two lanes, to which what a slice gives is added at once: see `adds_slices` */
    atomic_size_t next[MOST_LANES]; /* of each lane: the slice to run, or TAKEN */
    float *values, *m, *v;
    float *average; /* NULL where there is none */
    vit_packed_weights packed, average_packed;
    float *gradients; /* [lanes][table.size]; and as many again for what is no weight, if it adds */
    vit_gradients *lane_views; /* [lanes][2]: for the lane's first slice, for the others */
    vit_chunks chunks;
    worker *workers; /* [threads], or one that uses all threads when there is one lane */
    size_t worker_count;
    double *losses; /* [batch] */
    uint64_t seed, step;
    vit_batch_source *source;
    void *context;
};

/* ---- memory ---- */

static bool has_one_lane(const vit_table *table) {
    return 2 * table->size > LANES_FLOATS;
}

size_t vit_trainer_slice(const vit_config *config, const vit_table *table, size_t batch) {
    const size_t tokens = vit_config_tokens(config);
    if (has_one_lane(table)) return vit_min(vit_ceil_div(LARGE_SLICE_ROWS, tokens), batch);
    const size_t share = vit_ceil_div(batch, MOST_LANES); /* of a lane */
    if (table->size < LONG_SLICE_FLOATS) return vit_min(vit_ceil_div(SLICE_ROWS, tokens), share);
    return vit_ceil_div(share, vit_max(1, share * tokens / LONG_SLICE_ROWS));
}

/* Many copies of the gradient would crowd the weights out of the third-level cache. Where every
 * lane is one slice, up to two threads need only a copy for each chain, which the slice's products
 * add to. That takes one product a weight, of one block of rows: not one a picture, as a latent
 * query has, nor a convolution's of pixels, which are more than the tokens. */
static bool adds_slices(const vit_trainer *t) {
    const vit_config *c = &t->network.config;
    return t->options.threads <= CHAINS && t->chains == CHAINS && c->stem == VIT_STEM_LINEAR &&
           c->pool != VIT_POOL_MAP && t->slice * vit_config_tokens(c) <= VIT_ONE_BLOCK;
}

/* Layers are in order, so the frozen ones are first. */
static void divide_table(vit_trainer *t) {
    const size_t freeze = t->recipe.freeze;
    size_t n = 0;
    while (freeze > 0 && n < t->table.count && t->table.rows[n].layer <= freeze) n++;
    t->frozen = t->trained = t->table;
    t->frozen.count = n;
    t->trained.rows += n;
    t->trained.count -= n;
}

static void plan(vit_trainer *t) {
    const size_t batch = t->recipe.batch;
    t->slice = vit_trainer_slice(&t->network.config, &t->table, batch);
    t->slices = vit_ceil_div(batch, t->slice);
    t->lanes = has_one_lane(&t->table) ? 1 : vit_min(MOST_LANES, t->slices);
    while (t->lanes > 1 && t->lanes * t->table.size > LANES_FLOATS) t->lanes /= 2;
    /* A large network has fewer lanes; with more threads than that, one lane after another. */
    const bool inside =
        t->lanes < vit_min(MOST_LANES, t->slices) && t->lanes < (size_t)t->options.threads;
    t->chains = t->lanes == t->slices && t->lanes > CHAINS ? CHAINS : 1;
    t->adds = adds_slices(t);
    if (t->adds) t->lanes = CHAINS;
    t->worker_count = inside ? 1 : vit_min(t->lanes, (size_t)t->options.threads);
}

/* Threads inside an operator of a worker. */
static int inner_threads(const vit_trainer *t) {
    return t->worker_count == 1 ? t->options.threads : 1;
}

static void carve_worker(worker *w, const vit_trainer *t) {
    const vit_config *c = &t->network.config;
    vit_state_carve(&w->state, &w->arena, c, t->slice, inner_threads(t),
                    t->options.recompute ? VIT_KEPT_INPUTS : VIT_KEPT_ALL, t->recipe.freeze);
    w->images = vit_arena_floats(&w->arena, t->slice * c->height * c->width * c->channels);
    w->labels = vit_arena_take(&w->arena, t->slice * sizeof *w->labels);
    w->keys = vit_arena_take(&w->arena, t->slice * sizeof *w->keys);
    w->loads = vit_arena_take(&w->arena, t->slice * sizeof *w->loads);
    if (t->recipe.drop_path > 0) w->keep = vit_arena_floats(&w->arena, c->depth * 2 * t->slice);
}

static vit_status make_workers(vit_trainer *t, vit_error *error) {
    t->workers = vit_alloc(t->worker_count, sizeof *t->workers);
    if (!t->workers) return vit_fail_memory(error, "training threads", t->worker_count);
    for (size_t i = 0; i < t->worker_count; i++) {
        worker *w = &t->workers[i];
        w->arena = vit_arena_count();
        carve_worker(w, t);
        const vit_status status =
            vit_arena_init(&w->arena, w->arena.peak, "the activations of a slice", error);
        if (status != VIT_OK) return status;
        carve_worker(w, t);
    }
    return VIT_OK;
}

/* What is rounded takes half of the memory, and W beside W^T the other half. */
static vit_packed_weights new_packed(const vit_trainer *t, bool backward) {
    const size_t size = t->table.packed_size;
    vit_packed_weights packed = {vit_alloc_unset(size, sizeof(float)), NULL, t->recipe.precision};
    if (packed.transposed && backward && packed.precision == VIT_PRECISION_BF16)
        packed.rows = packed.transposed + size / 2;
    return packed;
}

static size_t gradient_copies(const vit_trainer *t) {
    return t->adds ? 2 * t->lanes : t->lanes;
}

static float *lane_sum(const vit_trainer *t, size_t lane) {
    return t->gradients + lane * t->table.size;
}

/* Where slices but the lane's first put what is no weight. */
static float *lane_others(const vit_trainer *t, size_t lane) {
    return lane_sum(t, t->adds ? t->lanes + lane : lane);
}

/* x = 0, one of the arrays of what is trained: what is frozen takes no memory of them. */
static void clear(const vit_trainer *t, float *x) {
    const size_t first = t->trained.count > 0 ? t->trained.rows->offset : t->table.size;
    vit_discard(x, first * sizeof *x);
    memset(x + first, 0, (t->table.size - first) * sizeof *x);
}

static vit_status make_arrays(vit_trainer *t, vit_error *error) {
    const size_t n = t->table.size;
    t->values = vit_alloc_unset(n, sizeof(float)); /* vit_trainer_reset sets these three */
    t->packed = new_packed(t, true);
    t->m = vit_alloc_unset(n, sizeof(float));
    t->v = vit_alloc_unset(n, sizeof(float));
    t->gradients = vit_alloc_unset(gradient_copies(t) * n, sizeof(float));
    t->lane_views = vit_alloc(2 * t->lanes, sizeof *t->lane_views);
    t->losses = vit_alloc(t->recipe.batch, sizeof *t->losses);
    if (!t->values || !t->packed.transposed || !t->m || !t->v || !t->gradients || !t->lane_views ||
        !t->losses)
        return vit_fail_memory(error, "the network's weights and gradients",
                               (gradient_copies(t) + 4) * n * sizeof(float));
    for (size_t i = 0; i < gradient_copies(t); i++) clear(t, t->gradients + i * n);
    return vit_chunks_new(&t->chunks, &t->trained, &t->recipe, error);
}

static vit_status make_average(vit_trainer *t, vit_error *error) {
    const size_t n = t->table.size, packed = t->table.packed_size;
    if (!(t->recipe.ema > 0)) return VIT_OK;
    t->average = vit_alloc(n, sizeof(float));
    t->average_packed = new_packed(t, false);
    if (!t->average || !t->average_packed.transposed)
        return vit_fail_memory(error, "the average of the weights", (n + packed) * sizeof(float));
    t->averaged.config = t->network.config;
    return vit_weights_view(&t->averaged.weights, &t->network.config, &t->table, t->average,
                            &t->average_packed, error);
}

static vit_status make_views(vit_trainer *t, vit_error *error) {
    const vit_config *c = &t->network.config;
    vit_status status =
        vit_weights_view(&t->network.weights, c, &t->table, t->values, &t->packed, error);
    for (size_t i = 0; i < t->lanes && status == VIT_OK; i++) {
        float *sum = lane_sum(t, i);
        const vit_gradient_arrays first = {sum, sum, VIT_SUM_BEGINS},
                                  others = {sum, lane_others(t, i),
                                            t->adds ? VIT_SUM_ADDS : VIT_SUM_CONTINUES};
        status = vit_gradients_view(&t->lane_views[2 * i], c, &t->table, &first, error);
        if (status == VIT_OK)
            status = vit_gradients_view(&t->lane_views[2 * i + 1], c, &t->table, &others, error);
    }
    return status;
}

vit_status vit_trainer_new(vit_trainer **out, const vit_config *config, const vit_recipe *recipe,
                           const vit_trainer_options *options, uint64_t seed, vit_error *error) {
    *out = NULL;
    vit_status status = vit_recipe_check(recipe, error);
    if (status == VIT_OK) status = vit_recipe_fits(recipe, config->depth, error);
    if (status == VIT_OK) status = vit_precision_check(recipe->precision, options->kernels, error);
    if (status != VIT_OK) return status;
    vit_trainer *t = vit_alloc(1, sizeof *t);
    if (!t) return vit_fail_memory(error, "a trainer", sizeof *t);
    t->network.config = *config;
    t->recipe = *recipe;
    t->options = *options;
    status = vit_table_new(&t->table, config, error);
    if (status == VIT_OK) {
        divide_table(t);
        plan(t);
        status = make_arrays(t, error);
    }
    if (status == VIT_OK) status = make_views(t, error);
    if (status == VIT_OK) status = make_average(t, error);
    if (status == VIT_OK) status = make_workers(t, error);
    if (status != VIT_OK) {
        vit_trainer_free(t);
        return status;
    }
    vit_trainer_reset(t, seed);
    *out = t;
    return VIT_OK;
}

void vit_trainer_free(vit_trainer *t) {
    if (!t) return;
    for (size_t i = 0; t->workers && i < t->worker_count; i++) vit_arena_free(&t->workers[i].arena);
    for (size_t i = 0; t->lane_views && i < 2 * t->lanes; i++)
        vit_gradients_free(&t->lane_views[i]);
    vit_weights_free(&t->network.weights);
    vit_weights_free(&t->averaged.weights);
    vit_chunks_free(&t->chunks);
    vit_table_free(&t->table);
    void *const arrays[] = {t->values,
                            t->packed.transposed,
                            t->m,
                            t->v,
                            t->gradients,
                            t->average,
                            t->lane_views,
                            t->average_packed.transposed,
                            t->losses,
                            t->workers,
                            t};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) vit_free(arrays[i]);
}

void vit_trainer_reset(vit_trainer *t, uint64_t seed) {
    if (t->options.blank)
        memset(t->values, 0, t->table.size * sizeof *t->values);
    else
        vit_table_init(t->options.threads, t->values, &t->table, t->network.config.init, seed);
    clear(t, t->m);
    clear(t, t->v);
    t->seed = seed;
    vit_trainer_changed(t, 0);
}

/* ---- one slice ---- */

typedef struct loading {
    const vit_trainer *trainer;
    worker *worker;
    size_t first; /* of the slice's pictures, in the batch */
} loading;

static void load_task(size_t i, int thread, void *context) {
    (void)thread;
    const loading *l = context;
    const vit_config *c = &l->trainer->network.config;
    worker *w = l->worker;
    w->loads[i].status =
        l->trainer->source(w->images + i * c->height * c->width * c->channels, w->labels + i,
                           w->keys + i, l->first + i, 1, l->trainer->context, &w->loads[i].error);
}

/* The slice's pictures; the threads that share its operators share them, too. */
static void load_slice(const vit_trainer *t, worker *w, size_t first, size_t count) {
    loading l = {t, w, first};
    vit_parallel(inner_threads(t), count, load_task, &l);
    for (size_t i = 0; i < count && w->status == VIT_OK; i++) {
        w->status = w->loads[i].status;
        if (w->status != VIT_OK) w->error = w->loads[i].error;
    }
}

static void run_slice(vit_trainer *t, size_t index, worker *w, const vit_gradients *gradients) {
    const vit_exec exec = {.kernels = t->options.kernels, .threads = inner_threads(t)};
    const size_t first = index * t->slice, classes = t->network.config.classes;
    const size_t count = vit_min(t->slice, t->recipe.batch - first);
    if (w->status == VIT_OK) load_slice(t, w, first, count);
    if (w->status != VIT_OK) return;
    if (w->keep)
        vit_drop_path(w->keep, t->recipe.drop_path, t->network.config.depth, t->seed, w->keys,
                      count);
    w->state.keep = w->keep;
    vit_network_forward(&t->network, &exec, &w->state, w->images, count);
    for (size_t i = 0; i < count; i++) {
        const vit_mixed_label label = {w->labels[i], w->keys[i].other, w->keys[i].share};
        t->losses[first + i] = vit_cross_entropy_mixed(
            w->state.d_logits + i * classes, w->state.logits + i * classes, classes, &label,
            t->recipe.label_smoothing, 1 / (double)t->recipe.batch);
    }
    vit_network_backward(&t->network, &exec, &w->state, gradients);
}

/* ---- lanes ---- */

/* The slice for a thread whose lane goes on with `follows`: that one, since the lane's sum is in
 * the cache, until the lanes not yet begun are fewer than the workers; then the first whose lane
 * nobody has, so that no thread ends with a lane of many slices. Without any, t->slices. */
static size_t choose_slice(const vit_trainer *t, size_t follows) {
    size_t first = t->slices, fresh = 0;
    bool goes_on = false;
    for (size_t i = 0; i < t->lanes; i++) {
        const size_t next = atomic_load_explicit(&t->next[i], memory_order_relaxed);
        first = vit_min(first, next);
        fresh += next < t->lanes;
        goes_on |= next == follows && next < t->slices;
    }
    return goes_on && fresh >= t->worker_count ? follows : first;
}

/* The slice and its lane are the thread's until it gives them back. If all lanes that lack slices
 * are taken, there is none, and those who have them will end them. */
static bool take_slice(vit_trainer *t, size_t follows, size_t *slice) {
    for (;;) {
        size_t next = *slice = choose_slice(t, follows);
        if (next == t->slices) return false;
        if (atomic_compare_exchange_strong_explicit(&t->next[next % t->lanes], &next, TAKEN,
                                                    memory_order_acquire, memory_order_relaxed))
            return true;
    }
}

static void give_back(vit_trainer *t, size_t slice) {
    atomic_store_explicit(&t->next[slice % t->lanes], slice + t->lanes, memory_order_release);
}

/* Adds the slice's gradient to its lane. */
static void add_slice(vit_trainer *t, size_t slice, worker *w) {
    const size_t lane = slice % t->lanes;
    const bool is_first = slice == lane, apart = t->adds && !is_first;
    float *sum = lane_sum(t, lane), *others = lane_others(t, lane);
    if (is_first) vit_gradients_clear(sum, &t->trained);
    if (apart) vit_gradients_clear(others, &t->trained);
    run_slice(t, slice, w, &t->lane_views[2 * lane + !is_first]);
    if (apart) vit_gradients_add(t->options.kernels, sum, others, &t->trained);
}

static void worker_task(size_t index, int thread, void *context) {
    (void)index;
    vit_trainer *t = context;
    for (size_t slice, follows = t->slices; take_slice(t, follows, &slice);) {
        add_slice(t, slice, &t->workers[thread]);
        give_back(t, slice);
        follows = slice + t->lanes;
    }
}

static void run_slices(vit_trainer *t) {
    for (size_t i = 0; i < t->lanes; i++) atomic_init(&t->next[i], i);
    vit_parallel((int)t->worker_count, t->worker_count, worker_task, t);
}

/* ---- one step ---- */

static void pack(const vit_trainer *t, const vit_packed_weights *packed, const float *values,
                 const vit_table *table) {
    const vit_exec exec = {.kernels = t->options.kernels, .threads = t->options.threads};
    vit_table_pack(&exec, packed, values, table);
}

/* What a step is made of. */
typedef struct one_step {
    vit_trainer *trainer;
    double lr;
    vit_status status;
    vit_error *error;
} one_step;

static void run_step(void *context) {
    one_step *s = context;
    vit_trainer *t = s->trainer;
    run_slices(t);
    for (size_t i = 0; i < t->worker_count && s->status == VIT_OK; i++)
        if (t->workers[i].status != VIT_OK)
            s->status = vit_fail(s->error, t->workers[i].status, "%s", t->workers[i].error.message);
    if (s->status != VIT_OK) return;
    const double norm = vit_sum_lanes(&t->chunks, t->options.kernels, t->options.threads,
                                      t->gradients, t->lanes, t->chains);
    const vit_adamw_state state = {t->values, t->m, t->v, t->average, t->gradients};
    vit_adamw_update(&t->chunks, t->options.kernels, t->options.threads, &state, &t->recipe, s->lr,
                     norm, t->step);
    pack(t, &t->packed, t->values, &t->trained);
    t->step++;
}

vit_status vit_trainer_step(vit_trainer *t, double *loss, double lr, vit_batch_source *source,
                            void *context, vit_error *error) {
    one_step s = {t, lr, VIT_OK, error};
    t->source = source;
    t->context = context;
    for (size_t i = 0; i < t->worker_count; i++) t->workers[i].status = VIT_OK;
    vit_with_team(t->options.threads, run_step, &s);
    if (s.status != VIT_OK) return s.status;
    double sum = 0;
    for (size_t i = 0; i < t->recipe.batch; i++) sum += t->losses[i];
    *loss = sum / (double)t->recipe.batch;
    return VIT_OK;
}

vit_trainer_state vit_trainer_get(vit_trainer *t) {
    return (vit_trainer_state){&t->table, &t->trained, t->values, t->m, t->v, t->average, t->step};
}

void vit_trainer_changed(vit_trainer *t, uint64_t step) {
    vit_packed_weights forward = t->packed;
    forward.rows = NULL; /* of what is frozen there is no dx */
    pack(t, &forward, t->values, &t->frozen);
    pack(t, &t->packed, t->values, &t->trained);
    if (t->average && step == 0) memcpy(t->average, t->values, t->table.size * sizeof(float));
    t->step = step;
}

const vit_network *vit_trainer_network(const vit_trainer *t) {
    return t->average ? &t->averaged : &t->network;
}

void vit_trainer_settle(vit_trainer *t) {
    if (t->average) pack(t, &t->average_packed, t->average, &t->table);
}

const float *vit_trainer_gradient(const vit_trainer *t) {
    return t->gradients;
}
