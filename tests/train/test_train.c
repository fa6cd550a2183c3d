/* Training: ten AdamW steps against PyTorch, the same bytes on any number of threads, schedule,
 * loader. */
#include "tests/support/check.h"
#include "tests/support/fault.h"
#include "tests/support/fixture.h"
#include "tests/support/noise.h"
#include "tests/support/stored_batch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/train/step/lanes.h"
#include "vit/train/step/loader.h"
#include "vit/train/step/trainer.h"
#include "vit/weights/file/model_file.h"
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define STEPS 10

/* ---- fixtures of PyTorch ---- */

typedef struct fixture {
    vit_tensors *file;
    vit_config config;
    vit_recipe recipe;
} fixture;

static fixture open_fixture(const char *name) {
    char path[128];
    fixture f = {.config = vit_config_default(), .recipe = vit_recipe_default()};
    snprintf(path, sizeof path, "tests/fixtures/networks/%s.safetensors", name);
    assert_int_equal(vit_tensors_open(&f.file, path, NULL), VIT_OK);
    const char *config = vit_tensors_metadata(f.file, "config");
    const char *recipe = vit_tensors_metadata(f.file, "recipe");
    assert_int_equal(vit_config_read(&f.config, config, path, NULL), VIT_OK);
    assert_int_equal(vit_recipe_read(&f.recipe, recipe, path, NULL), VIT_OK);
    return f;
}

/* One step, which must succeed; returns its loss. */
static double take_step(vit_trainer *t, double lr, vit_batch_source *source, void *context) {
    vit_error error;
    double loss;
    if (vit_trainer_step(t, &loss, lr, source, context, &error) != VIT_OK)
        fail_msg("%s", error.message);
    return loss;
}

static stored_batch read_batch(const fixture *f, size_t step) {
    char input[32], labels[32];
    snprintf(input, sizeof input, "input.%zu", step);
    snprintf(labels, sizeof labels, "labels.%zu", step);
    const size_t count = fixture_tensor(f->file, labels, "")->count;
    stored_batch b = {fixture_floats(f->file, input, ""),
                      fixture_floats(f->file, labels, ""),
                      f->config.height * f->config.width * f->config.channels,
                      (uint32_t)step,
                      f->recipe.multi_label ? f->config.classes : 0,
                      vit_alloc(count, sizeof *b.lists)};
    assert_non_null(b.lists);
    return b;
}

static double norm(const float *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

static void take_steps(const fixture *f, vit_trainer *t) {
    const double lr = f->recipe.lr;
    float *rates = fixture_floats(f->file, "lr", "");
    float *losses = fixture_floats(f->file, "train.loss", "");
    float *norms = fixture_floats(f->file, "train.norm", "");
    const uint64_t warmup = vit_warmup_steps(&f->recipe, STEPS);
    for (size_t s = 0; s < STEPS; s++) {
        stored_batch b = read_batch(f, s);
        const double rate = vit_learning_rate(lr, warmup, s, STEPS);
        const double loss = take_step(t, rate, stored_batch_source, &b);
        const double found = norm(vit_trainer_gradient(t), vit_trainer_get(t).table->size);
        assert_true(fabs(rate - (double)rates[s]) <= 1e-7 * lr);
        assert_true(fabs(loss - (double)losses[s]) <= 1e-5 * (double)losses[s]);
        assert_true(fabs(found - (double)norms[s]) <= 1e-4 * (double)norms[s]);
        vit_free(b.images);
        vit_free(b.labels);
        vit_free(b.lists);
    }
    vit_free(rates);
    vit_free(losses);
    vit_free(norms);
}

/* Every tensor within 1e-5 of its largest weight; a key's bias, whose gradient is 0 but for
 * rounding, within 2e-5. */
static void compare_weights(const fixture *f, const vit_table *table, const char *group,
                            const float *values) {
    for (size_t i = 0; i < table->count; i++) {
        const vit_parameter *p = &table->rows[i];
        float *after = fixture_floats(f->file, group, p->name);
        const double difference = check_difference(values + p->offset, after, p->count);
        const double bound = strcmp(p->name, "attn_pool.kv.bias") == 0 ? 2e-5 : 1e-5;
        if (!(difference <= bound)) print_error("%s%s: %g\n", group, p->name, difference);
        assert_true(difference <= bound);
        vit_free(after);
    }
}

static void ten_steps(const char *name, const vit_kernels *kernels, int threads) {
    fixture f = open_fixture(name);
    vit_trainer *t;
    assert_int_equal(vit_trainer_new(&t, &f.config, &f.recipe,
                                     &(vit_trainer_options){.kernels = kernels, .threads = threads},
                                     0, NULL),
                     VIT_OK);
    const vit_trainer_state state = vit_trainer_get(t);
    assert_int_equal(vit_table_load(state.values, state.table, f.file, "param.", NULL), VIT_OK);
    vit_trainer_changed(t, 0);
    take_steps(&f, t);
    compare_weights(&f, state.table, "after.", state.values);
    assert_true((f.recipe.ema > 0) == (state.average != NULL));
    if (state.average) compare_weights(&f, state.table, "average.", state.average);
    vit_trainer_free(t);
    vit_tensors_close(f.file);
}

static void compare_trainings(const char *name) {
    ten_steps(name, vit_kernels_choose(VIT_CPU_AVX512), 2);
    ten_steps(name, vit_kernels_scalar(), 1);
}

static void ten_steps_match_pytorch(void **unused) {
    fixture_each("tests/fixtures/networks", compare_trainings);
}

/* ---- the same bytes ---- */

/* Weights after three steps; freed by vit_free. */
static float *trained_from(vit_batch_source *source, const vit_config *config, size_t batch_size,
                           vit_cpu cpu, int threads, size_t *count) {
    vit_config c = *config;
    vit_recipe recipe = vit_recipe_default();
    vit_trainer *t;
    recipe.batch = batch_size;
    assert_int_equal(vit_trainer_new(&t, &c, &recipe,
                                     &(vit_trainer_options){.kernels = vit_kernels_choose(cpu),
                                                            .threads = threads},
                                     7, NULL),
                     VIT_OK);
    for (int i = 0; i < 3; i++) take_step(t, 1e-3, source, &c);
    const vit_trainer_state state = vit_trainer_get(t);
    float *values = check_copy(state.values, state.table->size);
    *count = state.table->size;
    vit_trainer_free(t);
    return values;
}

static float *trained(const vit_config *config, size_t batch_size, vit_cpu cpu, int threads,
                      size_t *count) {
    return trained_from(noise_batch, config, batch_size, cpu, threads, count);
}

static void assert_same_bytes(const vit_config *c, size_t batch_size) {
    static const vit_cpu cpus[] = {VIT_CPU_NEON, VIT_CPU_AVX2, VIT_CPU_AVX512};
    static const int threads[] = {1, 2, 3, 8};
    size_t count;
    float *want = trained(c, batch_size, VIT_CPU_SCALAR, 1, &count);
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 4; j++) {
            float *got = trained(c, batch_size, cpus[i], threads[j], &count);
            assert_memory_equal(got, want, count * sizeof *want);
            vit_free(got);
        }
    }
    vit_free(want);
}

static vit_config small_network(void) {
    vit_config c = vit_config_default();
    c.height = c.width = 9;
    c.channels = 1;
    c.patch = 3;
    c.dim = 20;
    c.depth = 2;
    c.heads = 4;
    c.mlp = 33;
    c.classes = 7;
    return c;
}

static void threads_and_instructions_change_no_byte(void **unused) {
    const vit_config c = small_network();
    assert_same_bytes(&c, 137); /* two slices in some lanes, a ragged last slice */
    assert_same_bytes(&c, 37);  /* eight slices: one or two threads add them to two lanes */
    assert_same_bytes(&c, 1);   /* one lane */
}

/* One thread, two and three; returns the weights' number. */
static size_t assert_same_with_threads(const vit_config *c, size_t batch_size) {
    size_t count;
    float *want = trained(c, batch_size, VIT_CPU_AVX512, 1, &count);
    for (int threads = 2; threads <= 3; threads++) {
        float *got = trained(c, batch_size, VIT_CPU_AVX512, threads, &count);
        assert_memory_equal(got, want, count * sizeof *want);
        vit_free(got);
    }
    vit_free(want);
    return count;
}

/* Now this slice is late and now that, whose lane another thread may go on with. */
static vit_status late_batch(float *images, size_t *labels, vit_sample_key *keys, size_t first,
                             size_t count, const vit_batch_room *room, void *context,
                             vit_error *error) {
    static atomic_size_t pictures;
    if (atomic_fetch_add(&pictures, count) * 7 % 29 == 0) vit_nap(.003);
    return noise_batch(images, labels, keys, first, count, room, context, error);
}

static void late_slices_change_no_byte(void **unused) {
    const vit_config c = small_network();
    static const int threads[] = {2, 3, 4, 8};
    const size_t pictures = 400; /* four slices in some lanes, three in the others */
    size_t count;
    float *want = trained(&c, pictures, VIT_CPU_AVX512, 1, &count);
    for (size_t i = 0; i < 4; i++) {
        float *got = trained_from(late_batch, &c, pictures, VIT_CPU_AVX512, threads[i], &count);
        assert_memory_equal(got, want, count * sizeof *want);
        vit_free(got);
    }
    vit_free(want);
}

/* Eight slices that are not added: a convolution's pixels or the tokens of a picture are more than
 * a block of the product, and a latent query has a product a picture. */
static void eight_slices_are_the_same(void **unused) {
    vit_config networks[3] = {small_network(), small_network(), small_network()};
    networks[0].stem = VIT_STEM_CONV;
    networks[0].patch = 4;
    networks[0].height = networks[0].width = 48;
    networks[1].pool = VIT_POOL_MAP;
    networks[2].height = networks[2].width = 72;
    static const size_t batches[3] = {8, 16, 8};
    for (size_t i = 0; i < 3; i++) assert_same_with_threads(&networks[i], batches[i]);
}

/* Pictures of a slice: of few rows, of more where the weights leave the cache, of most where the
 * activations do, and never more than a lane's share of the batch. */
static void slices_follow_the_network(void **unused) {
    const struct {
        size_t side, channels, patch, dim, depth, mlp, batch, pictures;
    } networks[] = {
        {28, 1, 7, 64, 6, 128, 128, 8},      {28, 1, 14, 128, 6, 256, 128, 16},
        {28, 1, 14, 128, 6, 256, 512, 28},   {32, 3, 4, 192, 9, 384, 128, 8},
        {32, 3, 4, 384, 7, 1536, 100, 7},    {32, 3, 4, 192, 9, 384, 16, 2},
        {224, 3, 16, 384, 12, 1536, 128, 4}, {224, 3, 16, 384, 12, 1536, 3, 3},
    };
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        vit_config c = vit_config_default();
        vit_table table;
        c.height = c.width = networks[i].side;
        c.channels = networks[i].channels;
        c.patch = networks[i].patch;
        c.dim = networks[i].dim;
        c.heads = c.dim / 32;
        c.classes = 10;
        c.depth = networks[i].depth;
        c.mlp = networks[i].mlp;
        assert_int_equal(vit_table_new(&table, &c, NULL), VIT_OK);
        assert_int_equal(vit_lanes_slice(&c, &table, networks[i].batch, 0), networks[i].pictures);
        vit_table_free(&table);
    }
}

/* 9.8 million weights: two lanes, on one thread each or, of three threads, one after the other. */
static void a_large_network_is_the_same(void **unused) {
    vit_config c = small_network();
    c.height = c.width = c.patch = 8;
    c.dim = 640;
    c.heads = 4;
    c.mlp = 2560;
    const size_t count = assert_same_with_threads(&c, 8);
    assert_true(4 * count > (size_t)32 << 20); /* too large for more lanes */
}

static void a_step_allocates_nothing(void **unused) {
    vit_config c = small_network();
    vit_recipe recipe = vit_recipe_default();
    vit_trainer *t;
    recipe.batch = 37;
    assert_int_equal(
        vit_trainer_new(
            &t, &c, &recipe,
            &(vit_trainer_options){.kernels = vit_kernels_choose(VIT_CPU_AVX512), .threads = 3}, 3,
            NULL),
        VIT_OK);
    take_step(t, 1e-3, noise_batch, &c);
    fault_arm(0);
    take_step(t, 1e-3, noise_batch, &c);
    fault_disarm();
    assert_int_equal(fault_count(), 0);
    vit_trainer_free(t);
}

static void reset_starts_again(void **unused) {
    vit_config c = small_network();
    vit_recipe recipe = vit_recipe_default();
    vit_trainer *t;
    assert_int_equal(
        vit_trainer_new(
            &t, &c, &recipe,
            &(vit_trainer_options){.kernels = vit_kernels_choose(VIT_CPU_AVX512), .threads = 2}, 3,
            NULL),
        VIT_OK);
    const double first = take_step(t, 1e-2, noise_batch, &c);
    const double second = take_step(t, 1e-2, noise_batch, &c);
    vit_trainer_reset(t, 3);
    assert_true(take_step(t, 1e-2, noise_batch, &c) == first);
    assert_true(take_step(t, 1e-2, noise_batch, &c) == second);
    assert_true(second < first); /* it learns the batch it sees twice */
    vit_trainer_free(t);
}

/* ---- pictures that vanish ---- */

typedef struct vanishing {
    vit_config config;
    size_t missing; /* of the batch */
} vanishing;

static vit_status vanishing_batch(float *images, size_t *labels, vit_sample_key *keys, size_t first,
                                  size_t count, const vit_batch_room *room, void *context,
                                  vit_error *error) {
    vanishing *v = context;
    if (first <= v->missing && v->missing < first + count)
        return vit_fail(error, VIT_ERROR_IO, "picture %zu is gone", v->missing);
    return noise_batch(images, labels, keys, first, count, room, &v->config, error);
}

static void failed_step_changes_nothing(void **unused) {
    vanishing v = {.config = small_network(), .missing = SIZE_MAX};
    vit_recipe recipe = vit_recipe_default();
    vit_trainer *a, *b;
    vit_error error;
    double loss;
    const vit_kernels *kernels = vit_kernels_choose(VIT_CPU_AVX512);
    recipe.batch = 37;
    assert_int_equal(vit_trainer_new(&a, &v.config, &recipe,
                                     &(vit_trainer_options){.kernels = kernels, .threads = 3}, 5,
                                     NULL),
                     VIT_OK);
    assert_int_equal(vit_trainer_new(&b, &v.config, &recipe,
                                     &(vit_trainer_options){.kernels = kernels, .threads = 3}, 5,
                                     NULL),
                     VIT_OK);
    for (int i = 0; i < 3; i++) {
        take_step(a, 1e-3, vanishing_batch, &v);
        take_step(b, 1e-3, vanishing_batch, &v);
        v.missing = (size_t)(17 * i + 2);
        assert_int_equal(vit_trainer_step(a, &loss, 1e-3, vanishing_batch, &v, &error),
                         VIT_ERROR_IO);
        assert_non_null(strstr(error.message, "is gone"));
        v.missing = SIZE_MAX;
    }
    const vit_trainer_state got = vit_trainer_get(a), want = vit_trainer_get(b);
    assert_int_equal(got.step, 3);
    assert_memory_equal(got.values, want.values, got.table->size * sizeof *got.values);
    assert_memory_equal(got.m, want.m, got.table->size * sizeof *got.m);
    vit_trainer_free(a);
    vit_trainer_free(b);
}

/* ---- schedule ---- */

static void learning_rate_rises_and_falls(void **unused) {
    vit_recipe recipe = vit_recipe_default();
    recipe.warmup = .1;
    assert_int_equal(vit_warmup_steps(&recipe, 100), 10);
    assert_int_equal(vit_warmup_steps(&recipe, 5), 1);
    recipe.warmup = 0;
    assert_int_equal(vit_warmup_steps(&recipe, 100), 0);
    assert_true(fabs(vit_learning_rate(2, 10, 0, 110) - .2) < 1e-15);
    assert_true(fabs(vit_learning_rate(2, 10, 9, 110) - 2) < 1e-15);
    assert_true(fabs(vit_learning_rate(2, 10, 10, 110) - 2) < 1e-15);
    assert_true(fabs(vit_learning_rate(2, 10, 60, 110) - 1) < 1e-15);
    assert_true(fabs(vit_learning_rate(2, 10, 35, 110) - (1 + sqrt(.5))) < 1e-15);
    assert_true(vit_learning_rate(2, 10, 110, 110) == 0);
}

/* ---- loader ---- */

#define RECORDS 205
#define SIDE 4

/* Picture i is of the byte i + 1, so that a pixel tells where it came from. */
static vit_dataset striped(uint8_t *pixels, uint16_t *labels) {
    for (size_t i = 0; i < RECORDS; i++) {
        memset(pixels + i * SIDE * SIDE, (int)i + 1, SIDE * SIDE);
        labels[i] = (uint16_t)(i % 10);
    }
    return (vit_dataset){.height = SIDE,
                         .width = SIDE,
                         .channels = 1,
                         .classes = 10,
                         .mean = {0},
                         .std = {1},
                         .train = {RECORDS, pixels, labels, NULL}};
}

static void every_epoch_shows_each_picture_once(void **unused) {
    uint8_t pixels[RECORDS * SIDE * SIDE];
    uint16_t labels[RECORDS];
    const vit_dataset data = striped(pixels, labels);
    vit_recipe recipe = vit_recipe_default();
    recipe.batch = 37; /* batches straddle epochs: 185 pictures, 5 batches */
    vit_loader l;
    const vit_batch_room room = {0}; /* the records are in memory and stay as they are */
    int seen[RECORDS] = {0}, held[RECORDS] = {0};
    assert_int_equal(vit_loader_new(&l, &data, &recipe, 1, NULL), VIT_OK);
    assert_int_equal(l.val_count, 20);
    assert_int_equal(l.train_count, 185);
    for (size_t i = 0; i < l.val_count; i++) held[l.val[i]]++;
    for (uint64_t step = 0; step < 10; step++) {
        float images[37 * SIDE * SIDE];
        size_t answers[37];
        vit_sample_key keys[37];
        vit_loader_prepare(&l, step);
        assert_int_equal(vit_loader_source(images, answers, keys, 0, 20, &room, &l, NULL), VIT_OK);
        assert_int_equal(vit_loader_source(images + 20 * SIDE * SIDE, answers + 20, keys + 20, 20,
                                           17, &room, &l, NULL),
                         VIT_OK);
        for (size_t i = 0; i < 37; i++) {
            const size_t record = (size_t)lroundf(images[i * SIDE * SIDE] * 255) - 1;
            assert_true(record < RECORDS && answers[i] == record % 10);
            assert_int_equal(keys[i].epoch * 185 + keys[i].position, step * 37 + i);
            seen[record]++;
        }
    }
    for (size_t i = 0; i < RECORDS; i++) assert_int_equal(seen[i], held[i] ? 0 : 2);
    vit_loader_free(&l);
}

static void seeds_hold_back_others(void **unused) {
    uint8_t pixels[RECORDS * SIDE * SIDE];
    uint16_t labels[RECORDS];
    const vit_dataset data = striped(pixels, labels);
    const vit_recipe recipe = vit_recipe_default();
    vit_loader a, b, c;
    assert_int_equal(vit_loader_new(&a, &data, &recipe, 1, NULL), VIT_OK);
    assert_int_equal(vit_loader_new(&b, &data, &recipe, 1, NULL), VIT_OK);
    assert_int_equal(vit_loader_new(&c, &data, &recipe, 2, NULL), VIT_OK);
    assert_memory_equal(a.val, b.val, a.val_count * sizeof *a.val);
    assert_memory_not_equal(a.val, c.val, a.val_count * sizeof *a.val);
    vit_loader_free(&a);
    vit_loader_free(&b);
    vit_loader_free(&c);
}

/* ---- some layers more, some less ---- */

static vit_config three_blocks(void) {
    vit_config c = vit_config_default();
    c.height = c.width = 8;
    c.patch = 4;
    c.channels = 1;
    c.classes = 5;
    c.dim = 16;
    c.depth = 3;
    c.heads = 2;
    c.mlp = 24;
    return c;
}

typedef struct outcome {
    float *before, *after, *average, *gradient; /* [table size], freed by outcome_free */
    vit_table table;
} outcome;

/* One step of a trainer with this recipe. */
static outcome one_step(const vit_recipe *recipe, int threads) {
    vit_config c = three_blocks();
    vit_trainer *t;
    outcome o;
    const vit_kernels *kernels = vit_kernels_choose(VIT_CPU_AVX512);
    assert_int_equal(vit_trainer_new(&t, &c, recipe,
                                     &(vit_trainer_options){.kernels = kernels, .threads = threads},
                                     7, NULL),
                     VIT_OK);
    assert_int_equal(vit_table_new(&o.table, &c, NULL), VIT_OK);
    const vit_trainer_state state = vit_trainer_get(t);
    o.before = check_copy(state.values, o.table.size);
    take_step(t, .01, noise_batch, &c);
    o.after = check_copy(state.values, o.table.size);
    o.average = check_copy(state.average ? state.average : state.values, o.table.size);
    o.gradient = check_copy(vit_trainer_gradient(t), o.table.size);
    vit_trainer_free(t);
    return o;
}

static void outcome_free(outcome *o) {
    float *const arrays[] = {o->before, o->after, o->average, o->gradient};
    for (size_t i = 0; i < 4; i++) vit_free(arrays[i]);
    vit_table_free(&o->table);
}

/* AdamW's first step moves a parameter by lr g / (|g| + eps), after its weight decay. */
static void the_learning_rate_falls_towards_the_input(void **unused) {
    vit_recipe recipe = vit_recipe_default();
    recipe.batch = 16;
    recipe.clip = 0;
    recipe.weight_decay = .5;
    recipe.layer_decay = .25;
    outcome o = one_step(&recipe, 2);
    for (size_t i = 0; i < o.table.count; i++) {
        const vit_parameter *p = &o.table.rows[i];
        const double lr = .01 * pow(.25, (double)(4 - check_layer(p->name, 3)));
        const double decay = p->kind == VIT_PARAMETER_WEIGHT ? 1 - lr * .5 : 1;
        for (size_t j = p->offset; j < p->offset + p->count; j++) {
            const double g = (double)o.gradient[j], x = (double)o.before[j];
            const double want = x * decay - lr * g / (fabs(g) + 1e-8);
            assert_true(fabs((double)o.after[j] - want) <= 1e-4 * lr + 1e-7 * fabs(x));
        }
    }
    outcome_free(&o);
}

static void such_recipes_are_written(void **unused) {
    vit_recipe r = vit_recipe_default(), back = {.layer_decay = 1};
    char *text = vit_recipe_write(&r);
    assert_null(strstr(text, "freeze"));
    assert_null(strstr(text, "layer_decay"));
    vit_free(text);
    r.freeze = 2;
    r.layer_decay = .75;
    text = vit_recipe_write(&r);
    assert_non_null(strstr(text, "\"freeze\": 2, \"layer_decay\": 0.75}"));
    assert_int_equal(vit_recipe_read(&back, text, "x.json", NULL), VIT_OK);
    assert_true(back.freeze == 2 && back.layer_decay == .75);
    vit_free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_steps_match_pytorch),
        cmocka_unit_test(threads_and_instructions_change_no_byte),
        cmocka_unit_test(late_slices_change_no_byte),
        cmocka_unit_test(eight_slices_are_the_same),
        cmocka_unit_test(slices_follow_the_network),
        cmocka_unit_test(a_large_network_is_the_same),
        cmocka_unit_test(a_step_allocates_nothing),
        cmocka_unit_test(reset_starts_again),
        cmocka_unit_test(failed_step_changes_nothing),
        cmocka_unit_test(learning_rate_rises_and_falls),
        cmocka_unit_test(every_epoch_shows_each_picture_once),
        cmocka_unit_test(seeds_hold_back_others),
        cmocka_unit_test(the_learning_rate_falls_towards_the_input),
        cmocka_unit_test(such_recipes_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
