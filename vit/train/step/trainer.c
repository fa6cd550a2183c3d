#include "vit/train/step/trainer.h"
#include "vit/base/random.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/ops/loss.h"
#include "vit/train/step/adamw.h"
#include "vit/train/step/lanes.h"
#include "vit/train/step/muon.h"
#include "vit/train/step/shard.h"
#include <math.h>
#include <string.h>

/* Whether the source could make a sample. */
typedef struct loaded {
    vit_status status;
    vit_error error;
} loaded;

/* What computes one slice at a time. */
typedef struct worker {
    vit_trainer *of;
    vit_arena arena;
    vit_state state;
    float *images;  /* [slice][height][width][channels] */
    size_t *labels; /* [slice] */
    vit_sample_key *keys;
    vit_ids *texts[2];     /* [slice] each: sources, targets */
    float *keep;           /* [depth][2][slice]; NULL without drop path */
    loaded *loads;         /* [slice] */
    vit_batch_room *rooms; /* [inner threads] */
    vit_state taught;      /* of a teacher that is a model */
    float *shown;          /* the pictures normalised for it; NULL: as for the network */
    size_t slice_number;   /* of the slice that it computes */
    vit_status status;     /* of the source, in this step */
    vit_error error;
} worker;

struct vit_trainer {
    vit_network network, averaged;
    vit_table table;
    vit_table frozen, trained; /* views of its first rows, those of frozen layers, and the others */
    const vit_recipe *recipe;
    vit_trainer_options options;
    vit_lanes lanes;
    float *values, *m, *v;
    float *average; /* NULL where there is none */
    vit_packed_weights packed, average_packed;
    vit_chunks chunks;
    vit_shard shard;
    vit_muon *muon;  /* NULL: AdamW alone */
    worker *workers; /* [lanes.workers] */
    double *losses;  /* [batch], then words for each of VIT_WORDS, and failed ranks */
    unsigned said, heard;
    double *weights; /* [classes], factors of the losses; NULL: all 1 */
    uint64_t seed, step;
    bool skipped; /* the last step's gradients could not be used */
    double norm;  /* of its gradient */
    double limit; /* the largest norm that is used */
    vit_batch_source *source;
    void *context;
};

/* ---- memory ---- */

static void carve_worker(vit_arena *arena, void *context) {
    worker *w = context;
    const vit_trainer *t = w->of;
    const vit_config *c = &t->network.config;
    const size_t slice = t->lanes.slice;
    vit_state_carve(&w->state, arena, c, slice, t->lanes.inner_threads,
                    t->options.activation_checkpointing ? VIT_KEPT_INPUTS : VIT_KEPT_ALL,
                    t->recipe->freeze);
    w->images = vit_arena_floats(arena, slice * c->height * c->width * c->channels);
    w->labels = vit_arena_take(arena, slice * sizeof *w->labels);
    w->keys = vit_arena_take(arena, slice * sizeof *w->keys);
    for (size_t i = 0; i < 2; i++) w->texts[i] = vit_arena_take(arena, slice * sizeof **w->texts);
    w->loads = vit_arena_take(arena, slice * sizeof *w->loads);
    w->rooms = vit_arena_take(arena, (size_t)t->lanes.inner_threads * sizeof *w->rooms);
    const vit_teacher *teacher = t->options.teacher;
    if (teacher && teacher->answers)
        vit_state_carve(&w->taught, arena, &teacher->network.config, slice, t->lanes.inner_threads,
                        VIT_KEPT_NOTHING, 0);
    if (teacher && teacher->normalises)
        w->shown = vit_arena_floats(arena, slice * c->height * c->width * c->channels);
    if (t->recipe->drop_path > 0) w->keep = vit_arena_floats(arena, c->depth * 2 * slice);
}

static vit_status make_rooms(worker *w, vit_error *error) {
    const vit_config *c = &w->of->network.config;
    const int count = w->of->lanes.inner_threads;
    vit_status status = VIT_OK;
    for (int i = 0; i < count; i++) w->rooms[i] = (vit_batch_room){0};
    for (int i = 0; i < count && status == VIT_OK; i++)
        status = vit_batch_room_new(&w->rooms[i], w->of->recipe, c->height, c->width, c->channels,
                                    error);
    return status;
}

static vit_status make_workers(vit_trainer *t, vit_error *error) {
    const size_t count = t->lanes.workers;
    t->workers = vit_alloc(count, sizeof *t->workers);
    if (!t->workers) return vit_fail_memory(error, "training threads", count * sizeof *t->workers);
    for (size_t i = 0; i < count; i++) {
        worker *w = &t->workers[i];
        w->of = t;
        vit_status status =
            vit_arena_fit(&w->arena, carve_worker, w, "the activations of a slice", error);
        if (status == VIT_OK) status = make_rooms(w, error);
        if (status != VIT_OK) return status;
    }
    return VIT_OK;
}

/* Memory for packed weights: W^T and, where operands are converted, W, which dx needs. */
static vit_packed_weights new_packed(const vit_trainer *t, bool backward) {
    const vit_precision precision = t->recipe->precision;
    const size_t words = vit_words(precision, t->table.packed_size);
    const bool rows = backward && vit_precisions[precision].converts;
    vit_packed_weights packed = {.precision = precision};
    packed.transposed = vit_alloc_unset(rows ? 2 * words : words, sizeof(float));
    if (packed.transposed && rows) packed.rows = packed.transposed + words;
    return packed;
}

/* x [table.size] = 0; the pages of frozen rows, which come first, and of other ranks' are given
 * back. */
static void clear(const vit_trainer *t, float *x) {
    const size_t first = t->trained.count > 0 ? t->trained.rows->offset : t->table.size;
    const size_t from = t->shard.cluster ? t->shard.from : first;
    const size_t to = t->shard.cluster ? t->shard.to : t->table.size;
    vit_clear(x, from * sizeof *x);
    memset(x + from, 0, (to - from) * sizeof *x);
    vit_clear(x + to, (t->table.size - to) * sizeof *x);
}

/* Whether each rank updates only its part of the weights: if that is wanted, or faster. Muon makes
 * matrix products for every weight, a machine's memory hands the new ones on in less time. */
static bool is_sharded(const vit_trainer *t) {
    const vit_cluster *cluster = t->options.cluster;
    if (!cluster) return false;
    return t->options.shard || (t->muon && vit_cluster_one_machine(cluster));
}

static vit_status make_arrays(vit_trainer *t, vit_error *error) {
    const size_t n = t->table.size;
    t->values = vit_alloc_unset(n, sizeof(float)); /* vit_trainer_reset sets these three */
    t->packed = new_packed(t, true);
    t->m = vit_alloc_unset(n, sizeof(float));
    t->v = vit_alloc_unset(n, sizeof(float));
    t->losses = vit_alloc(t->recipe->batch + VIT_WORDS + 1, sizeof *t->losses);
    if (!t->values || !t->packed.transposed || !t->m || !t->v || !t->losses)
        return vit_fail_memory(error, "the network's weights", 4 * n * sizeof(float));
    vit_status status = vit_lanes_new(&t->lanes, &t->network.config, &t->table, &t->trained, error);
    if (status == VIT_OK) status = vit_chunks_new(&t->chunks, &t->trained, t->recipe, error);
    if (status == VIT_OK)
        status = vit_muon_new(&t->muon, &t->trained, t->recipe, t->options.threads, error);
    if (status == VIT_OK && is_sharded(t))
        status = vit_shard_new(&t->shard, &t->trained, t->options.cluster, error);
    return status;
}

static vit_status make_average(vit_trainer *t, vit_error *error) {
    const size_t n = t->table.size, packed = t->table.packed_size;
    if (!(t->recipe->ema > 0)) return VIT_OK;
    t->average = vit_alloc(n, sizeof(float));
    t->average_packed = new_packed(t, false);
    if (!t->average || !t->average_packed.transposed)
        return vit_fail_memory(error, "the average of the weights", (n + packed) * sizeof(float));
    t->averaged.config = t->network.config;
    return vit_weights_view(&t->averaged.weights, &t->network.config, &t->table, t->average,
                            &t->average_packed, error);
}

vit_status vit_trainer_new(vit_trainer **out, const vit_config *config, const vit_recipe *recipe,
                           const vit_trainer_options *options, uint64_t seed, vit_error *error) {
    *out = NULL;
    vit_status status = vit_recipe_check(recipe, error);
    if (status == VIT_OK) status = vit_recipe_fits(recipe, config->depth, error);
    if (status == VIT_OK) status = vit_precision_check(recipe->precision, options->kernels, error);
    if (status == VIT_OK && !vit_precisions[recipe->precision].trains)
        status = vit_fail(error, VIT_ERROR_ARGUMENT,
                          "\"precision\" is %s, which has no gradients: train in f32 or bf16, and "
                          "let the model answer in %s",
                          vit_precision_names[recipe->precision],
                          vit_precision_names[recipe->precision]);
    if (status != VIT_OK) return status;
    vit_trainer *t = vit_alloc(1, sizeof *t);
    if (!t) return vit_fail_memory(error, "a trainer", sizeof *t);
    t->network.config = *config;
    t->recipe = recipe;
    t->options = *options;
    t->limit = INFINITY;
    status = vit_table_new(&t->table, config, error);
    if (status == VIT_OK) {
        size_t frozen = 0; /* rows are ordered by layer */
        while (recipe->freeze > 0 && frozen < t->table.count &&
               t->table.rows[frozen].layer <= recipe->freeze)
            frozen++;
        t->frozen = t->trained = t->table;
        t->frozen.count = frozen;
        t->trained.rows += frozen;
        t->trained.count -= frozen;
        status = vit_lanes_plan(&t->lanes, config, &t->table, recipe, options->threads,
                                options->cluster, error);
    }
    if (status == VIT_OK) status = make_arrays(t, error);
    if (status == VIT_OK)
        status =
            vit_weights_view(&t->network.weights, config, &t->table, t->values, &t->packed, error);
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
    for (size_t i = 0; t->workers && i < t->lanes.workers; i++) {
        worker *w = &t->workers[i];
        for (int k = 0; w->rooms && k < t->lanes.inner_threads; k++)
            vit_batch_room_free(&w->rooms[k]);
        vit_arena_free(&w->arena);
    }
    vit_lanes_free(&t->lanes);
    vit_weights_free(&t->network.weights);
    vit_weights_free(&t->averaged.weights);
    vit_chunks_free(&t->chunks);
    vit_shard_free(&t->shard);
    vit_muon_free(t->muon);
    vit_table_free(&t->table);
    void *const arrays[] = {
        t->values, t->packed.transposed, t->m,       t->v, t->average, t->average_packed.transposed,
        t->losses, t->weights,           t->workers, t};
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
    const loading *l = context;
    const vit_config *c = &l->trainer->network.config;
    worker *w = l->worker;
    w->loads[i].status = l->trainer->source(
        w->images + i * c->height * c->width * c->channels, w->labels + i, w->keys + i,
        l->first + i, 1, &w->rooms[thread], l->trainer->context, &w->loads[i].error);
}

/* Makes the slice's samples, on all threads of its worker. */
static void load_slice(const vit_trainer *t, worker *w, size_t first, size_t count) {
    loading l = {t, w, first};
    vit_parallel(t->lanes.inner_threads, count, load_task, &l);
    for (size_t i = 0; i < count && w->status == VIT_OK; i++) {
        w->status = w->loads[i].status;
        if (w->status != VIT_OK) w->error = w->loads[i].error;
    }
}

/* The teacher's logits for the slice's pictures, if it is a model: w->taught.head.logits. */
static void ask_teacher(const vit_trainer *t, worker *w, size_t count) {
    const vit_teacher *teacher = t->options.teacher;
    if (!teacher || !teacher->answers) return;
    const vit_exec exec =
        vit_network_exec(&teacher->network, &w->taught, t->options.kernels, t->lanes.inner_threads);
    if (w->shown) vit_teacher_normalise(teacher, w->shown, w->images, count);
    vit_network_forward(&teacher->network, &exec, &w->taught, w->shown ? w->shown : w->images,
                        count);
    vit_teacher_order(teacher, w->taught.head.logits, w->state.head.d_logits, count);
}

/* Loss of picture i of the slice; its gradient by the logits goes into state.head.d_logits. */
static double picture_loss(const vit_trainer *t, const worker *w, size_t i) {
    const size_t classes = t->network.config.classes;
    const vit_teacher *teacher = t->options.teacher;
    const vit_sample_key *key = &w->keys[i];
    const vit_mixed_label label = {w->labels[i], key->other, key->share};
    float *d_logits = w->state.head.d_logits + i * classes;
    const float *logits = w->state.head.logits + i * classes;
    if (key->classes) {
        const vit_class_lists lists = {key->classes, key->other_classes, key->class_count,
                                       key->other_class_count, key->share};
        return vit_binary_cross_entropy(d_logits, logits, classes, &lists,
                                        t->recipe->label_smoothing, 1 / (double)t->recipe->batch);
    }
    if (key->stranger) /* label smoothing of 1: the target is 1 / classes for each class */
        return vit_cross_entropy(d_logits, logits, classes, 0, 1, 1 / (double)t->recipe->batch);
    double weight = t->weights ? t->weights[label.label] : 1;
    if (t->weights && label.share > 0)
        weight = (1 - label.share) * weight + label.share * t->weights[label.other];
    const double one = weight / (double)t->recipe->batch;
    if (!teacher || !teacher->sha256[0])
        return weight * vit_cross_entropy_mixed(d_logits, logits, classes, &label,
                                                t->recipe->label_smoothing, one);
    const double share = t->recipe->distill;
    const vit_taught answer = teacher->answers
                                  ? (vit_taught){w->taught.head.logits + i * classes, NULL, 0}
                                  : (vit_taught){key->teacher, key->other_teacher, key->share};
    const double labelled = vit_cross_entropy_mixed(d_logits, logits, classes, &label,
                                                    t->recipe->label_smoothing, one * (1 - share));
    const double taught = vit_distillation(d_logits, logits, classes, &answer,
                                           t->recipe->distill_temperature, one * share);
    return weight * ((1 - share) * labelled + share * taught);
}

/* The same for the text of sample i: each token, and END after the last, is predicted from those
 * before it. Scaled so that the sum over the batch divided by its samples is the mean over all
 * tokens of the batch. */
static double text_loss(const vit_trainer *t, const worker *w, size_t i) {
    const vit_stack *c = &t->network.config.decoder;
    const vit_state *d = w->state.decoder;
    const vit_ids *text = &w->texts[1][i];
    const double weight = 1 / (double)w->keys[i].answers;
    double sum = 0;
    for (size_t k = 0; k <= text->count; k++) {
        const size_t at = (d->text.spans[i].query + k) * c->vocabulary;
        const size_t label = k < text->count ? text->ids[k] : c->end;
        sum += vit_cross_entropy(d->head.d_logits + at, d->head.logits + at, c->vocabulary, label,
                                 t->recipe->label_smoothing, weight);
    }
    return sum * weight * (double)t->recipe->batch;
}

void vit_drop_path(float *keep, double rate, size_t depth, uint64_t seed,
                   const vit_sample_key *keys, size_t count) {
    for (size_t i = 0; i < count; i++) {
        vit_random r =
            vit_random_start(seed, VIT_RANDOM_DROP_PATH, keys[i].epoch, keys[i].position);
        for (size_t branch = 0; branch < 2 * depth; branch++) {
            const double share = depth > 1 ? (double)(branch / 2) / (double)(depth - 1) : 0;
            const double p = rate * share;
            keep[branch * count + i] = vit_random_uniform(&r) < p ? 0 : (float)(1 / (1 - p));
        }
    }
}

/* vit_state.passed: the layers from `layer` on have their gradients. */
static void tell_passed(size_t layer, void *context) {
    const worker *w = context;
    vit_lanes_passed(&w->of->lanes, w->slice_number, layer);
}

/* A vit_run_slice: load, forward, loss, backward. */
static void run_slice(size_t index, size_t worker_index, const vit_gradients *gradients,
                      void *context) {
    vit_trainer *t = context;
    worker *w = &t->workers[worker_index];
    const vit_exec exec =
        vit_network_exec(&t->network, &w->state, t->options.kernels, t->lanes.inner_threads);
    const size_t first = index * t->lanes.slice;
    const size_t count = vit_min(t->lanes.slice, t->recipe->batch - first);
    if (w->status == VIT_OK) load_slice(t, w, first, count);
    if (w->status != VIT_OK) return;
    if (w->keep)
        vit_drop_path(w->keep, t->recipe->drop_path, t->network.config.depth, t->seed, w->keys,
                      count);
    w->state.keep = w->keep;
    w->slice_number = index;
    w->state.passed = tell_passed;
    w->state.passed_by = w;
    for (size_t i = 0; i < count; i++) {
        w->texts[0][i] = w->keys[i].source;
        w->texts[1][i] = w->keys[i].target;
    }
    w->state.texts = w->texts[0];
    if (w->state.decoder) w->state.decoder->texts = w->texts[1];
    ask_teacher(t, w, count);
    vit_network_forward(&t->network, &exec, &w->state, w->images, count);
    for (size_t i = 0; i < count; i++)
        t->losses[first + i] = w->state.decoder ? text_loss(t, w, i) : picture_loss(t, w, i);
    vit_network_backward(&t->network, &exec, &w->state, gradients);
}

/* ---- one step ---- */

static void pack(const vit_trainer *t, const vit_packed_weights *packed, const float *values,
                 const vit_table *table) {
    const vit_exec exec = {.kernels = t->options.kernels, .threads = t->options.threads};
    vit_table_pack(&exec, packed, values, table);
}

/* Arguments and results of vit_trainer_step, for run_step on the team of threads. */
typedef struct one_step {
    vit_trainer *trainer;
    double lr, loss;
    vit_status status;
    vit_error *error;
} one_step;

/* The losses of all ranks' pictures, and what they say. A rank whose source failed fails all. */
static vit_status exchange(one_step *s) {
    vit_trainer *t = s->trainer;
    vit_cluster *cluster = t->options.cluster;
    double *words = t->losses + t->recipe->batch;
    t->heard = t->said;
    if (!cluster) return s->status;
    for (size_t i = 0; i < t->recipe->batch; i++)
        if (!vit_lanes_holds(&t->lanes, i / t->lanes.slice)) t->losses[i] = 0;
    for (size_t i = 0; i < VIT_WORDS; i++) words[i] = t->said >> i & 1;
    words[VIT_WORDS] = s->status != VIT_OK;
    const vit_status status =
        vit_cluster_sum(cluster, t->losses, t->recipe->batch + VIT_WORDS + 1, s->error);
    if (status != VIT_OK) return status;
    if (words[VIT_WORDS] > 0) return vit_cluster_agree(cluster, s->status, s->error);
    for (size_t i = 0; i < VIT_WORDS; i++) t->heard |= words[i] > 0 ? 1U << i : 0;
    return VIT_OK;
}

/* The weights that this rank updates, or all; then those that other ranks have updated come, and
 * the average follows. */
static vit_status update(one_step *s) {
    vit_trainer *t = s->trainer;
    const bool shares = t->shard.cluster != NULL;
    vit_adamw_state state = {.values = t->values,
                             .m = t->m,
                             .v = t->v,
                             .average = shares ? NULL : t->average,
                             .gradient = t->lanes.gradients,
                             .from = t->shard.from,
                             .to = t->shard.to};
    if (t->muon)
        vit_muon_update(t->muon, t->options.kernels, t->options.threads, &state, t->recipe, s->lr,
                        t->norm);
    vit_adamw_update(&t->chunks, t->options.kernels, t->options.threads, &state, t->recipe, s->lr,
                     t->norm, t->step - 1);
    const vit_status status = shares ? vit_shard_share(&t->shard, t->values, s->error) : VIT_OK;
    if (shares && t->average) {
        state.m = NULL;
        state.average = t->average;
        vit_adamw_update(&t->chunks, t->options.kernels, t->options.threads, &state, t->recipe,
                         s->lr, t->norm, t->step - 1);
    }
    pack(t, &t->packed, t->values, &t->trained);
    return status;
}

static void run_step(void *context) {
    one_step *s = context;
    vit_trainer *t = s->trainer;
    s->status =
        vit_lanes_run(&t->lanes, run_slice, t, t->options.kernels, t->options.threads, s->error);
    const bool is_lost = s->status != VIT_OK; /* a rank */
    for (size_t i = 0; i < t->lanes.workers && s->status == VIT_OK; i++)
        if (t->workers[i].status != VIT_OK)
            s->status = vit_fail(s->error, t->workers[i].status, "%s", t->workers[i].error.message);
    if (!is_lost) s->status = exchange(s);
    if (s->status != VIT_OK) return;
    vit_lanes_sum(&t->lanes, &t->norm, &t->chunks, t->options.kernels, t->options.threads);
    for (size_t i = 0; i < t->recipe->batch; i++) s->loss += t->losses[i];
    s->loss /= (double)t->recipe->batch;
    t->skipped = !isfinite(t->norm) || t->norm > t->limit || !isfinite(s->loss);
    t->step++;
    if (!t->skipped) s->status = update(s);
}

vit_status vit_trainer_weigh(vit_trainer *t, const double *weights, vit_error *error) {
    const size_t classes = t->network.config.classes;
    if (!t->weights) t->weights = vit_alloc(classes, sizeof *weights);
    if (!t->weights) return vit_fail_memory(error, "class weights", classes * sizeof *weights);
    memcpy(t->weights, weights, classes * sizeof *weights);
    return VIT_OK;
}

vit_status vit_trainer_step(vit_trainer *t, double *loss, double lr, vit_batch_source *source,
                            void *context, vit_error *error) {
    one_step s = {t, lr, 0, VIT_OK, error};
    t->source = source;
    t->context = context;
    for (size_t i = 0; i < t->lanes.workers; i++) t->workers[i].status = VIT_OK;
    vit_with_team(t->options.threads + (t->options.cluster ? 1 : 0), run_step, &s);
    if (s.status == VIT_OK) *loss = s.loss;
    return s.status;
}

void vit_trainer_say(vit_trainer *t, unsigned words) {
    t->said = words;
}

unsigned vit_trainer_heard(const vit_trainer *t) {
    return t->heard;
}

void vit_trainer_limit(vit_trainer *t, double norm) {
    t->limit = norm;
}

vit_trainer_state vit_trainer_get(vit_trainer *t) {
    return (vit_trainer_state){&t->table, &t->trained, t->values, t->m, t->v, t->average, t->step};
}

uint64_t vit_trainer_steps(const vit_trainer *t) {
    return t->step;
}

vit_last_gradient vit_trainer_last(const vit_trainer *t) {
    return (vit_last_gradient){t->skipped, t->norm};
}

vit_status vit_trainer_gather(vit_trainer *t, vit_error *error) {
    if (!t->shard.cluster) return VIT_OK;
    const vit_status status = vit_shard_gather(&t->shard, t->m, error);
    return status == VIT_OK ? vit_shard_gather(&t->shard, t->v, error) : status;
}

void vit_trainer_drop(vit_trainer *t) {
    if (!t->shard.cluster) return;
    vit_shard_drop(&t->shard, t->m);
    vit_shard_drop(&t->shard, t->v);
}

vit_status vit_trainer_spread(vit_trainer *t, uint64_t step, vit_error *error) {
    vit_cluster *cluster = t->options.cluster;
    float *const arrays[] = {t->values, t->average, t->m, t->v};
    vit_status status = VIT_OK;
    if (!cluster) return VIT_OK;
    for (size_t i = 0; i < VIT_COUNT(arrays) && status == VIT_OK; i++)
        if (arrays[i] && i >= 2 && t->shard.cluster)
            status = vit_shard_deal(&t->shard, arrays[i], error);
        else if (arrays[i])
            status =
                vit_cluster_broadcast(cluster, arrays[i], t->table.size * sizeof(float), error);
    vit_trainer_drop(t);
    if (status == VIT_OK && vit_cluster_rank(cluster) > 0) vit_trainer_changed(t, step);
    return status;
}

void vit_trainer_changed(vit_trainer *t, uint64_t step) {
    vit_packed_weights forward = t->packed;
    forward.rows = NULL; /* no gradient goes through frozen layers, so W is not needed */
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
    return t->lanes.gradients;
}
