/* Training steps through the trainer and its loader; batches through a session of a model that was
 * read from a file. */
#include "vit/api/internal.h"
#include "vit/base/random.h"
#include "vit/base/sys.h"
#include "vit/cli/bench/bench.h"
#include "vit/cli/models/models.h"
#include "vit/cli/parts/out_files.h"
#include "vit/image/prepare/preprocess.h"
#include "vit/train/step/loader.h"
#include "vit/train/step/trainer.h"
#include <stdio.h>
#include <stdlib.h>

/* A data set of noise, of several batches, so that the loader has something to choose from. */
static vit_status make_noise(vit_dataset *d, const vit_config *c, size_t batch, vit_error *error) {
    const size_t count = 4 * batch + 40, bytes = c->height * c->width * c->channels;
    *d = (vit_dataset){.name = "noise",
                       .height = c->height,
                       .width = c->width,
                       .channels = c->channels,
                       .classes = c->classes,
                       .mean = {.5f, .5f, .5f},
                       .std = {.5f, .5f, .5f},
                       .train = {.count = count}};
    d->train.pixels = vit_alloc(count, bytes);
    d->train.labels = vit_alloc(count, sizeof *d->train.labels);
    if (!d->train.pixels || !d->train.labels)
        return vit_fail_memory(error, "pictures of noise", count * bytes);
    vit_random r = vit_random_start(0, VIT_RANDOM_TEST, 0, 0);
    for (size_t i = 0; i < count * bytes; i++) d->train.pixels[i] = (uint8_t)vit_random_u32(&r);
    const uint32_t labels = c->classes < 65536 ? (uint32_t)c->classes : 65536;
    for (size_t i = 0; i < count; i++) d->train.labels[i] = (uint16_t)vit_random_below(&r, labels);
    return VIT_OK;
}

static void free_noise(vit_dataset *d) {
    vit_free(d->train.pixels);
    vit_free(d->train.labels);
}

typedef struct training {
    vit_loader loader;
    vit_trainer *trainer;
    uint64_t step;
    float *images; /* a batch, to measure the loader alone */
    size_t *labels;
    vit_sample_key *keys;
    vit_batch_room room;
} training;

static void load_batch(void *context) {
    training *t = context;
    vit_loader_prepare(&t->loader, t->step++);
    vit_loader_source(t->images, t->labels, t->keys, 0, t->loader.recipe->batch, &t->room,
                      &t->loader, NULL);
}

static void train_step(void *context) {
    training *t = context;
    double loss;
    vit_loader_prepare(&t->loader, t->step++);
    vit_trainer_step(t->trainer, &loss, 1e-4, vit_loader_source, &t->loader, NULL);
}

/* *seconds: what a step spends loading, measured alone, on one thread. */
static vit_status measure_loader(double *seconds, const bench *b, training *t, vit_error *error) {
    const vit_config *c = &b->preset.config;
    const size_t values = c->height * c->width * c->channels;
    t->images = vit_alloc(b->batch, values * sizeof *t->images);
    t->labels = vit_alloc(b->batch, sizeof *t->labels);
    t->keys = vit_alloc(b->batch, sizeof *t->keys);
    if (!t->images || !t->labels || !t->keys)
        return vit_fail_memory(error, "a batch", b->batch * values * sizeof *t->images);
    const vit_status status =
        vit_batch_room_new(&t->room, &b->preset.recipe, c->height, c->width, c->channels, error);
    if (status == VIT_OK) *seconds = bench_median(load_batch, t);
    return status;
}

vit_status bench_train(const bench *b, vit_error *error) {
    vit_recipe recipe = b->preset.recipe;
    vit_dataset noise;
    training t = {0};
    recipe.batch = b->batch;
    vit_status status = make_noise(&noise, &b->preset.config, b->batch, error);
    if (status == VIT_OK) status = vit_loader_new(&t.loader, &noise, &recipe, 0, error);
    if (status == VIT_OK)
        status = vit_trainer_new(
            &t.trainer, &b->preset.config, &recipe,
            &(vit_trainer_options){b->kernels, b->threads,
                                   .activation_checkpointing = b->activation_checkpointing},
            0, error);
    if (status == VIT_OK) {
        const double forward = 2 * (double)vit_config_multiply_adds(&b->preset.config);
        bench_line line = {
            .what = "train", .images = b->batch, .flop = 3 * forward * (double)b->batch};
        snprintf(line.detail, sizeof line.detail, "batch %zu", b->batch);
        line.seconds = bench_median(train_step, &t);
        status = measure_loader(&line.loader, b, &t, error);
        if (status == VIT_OK) bench_print(b, &line);
    }
    vit_trainer_free(t.trainer);
    vit_loader_free(&t.loader);
    vit_free(t.images);
    vit_free(t.labels);
    vit_free(t.keys);
    vit_batch_room_free(&t.room);
    free_noise(&noise);
    return status;
}

typedef struct answering {
    vit_session *session;
    const uint8_t *images;
    size_t batch;
    float *logits;
} answering;

static void answer(void *context) {
    answering *a = context;
    vit_classify_prepared(a->session, a->images, a->batch, a->logits, NULL);
}

/* Writes a model file of the network with random weights. */
static vit_status write_model(const char *path, const bench *b, vit_error *error) {
    vit_model_file f = {.config = b->preset.config, .recipe = vit_strdup("{}")};
    vit_store store = {0};
    vit_status status = vit_table_new(&f.table, &f.config, error);
    f.preprocessing.count = 1;
    f.preprocessing.operations[0] =
        (vit_operation){.kind = VIT_OP_NORMALIZE, .mean = {.5f, .5f, .5f}, .std = {.5f, .5f, .5f}};
    if (status == VIT_OK && !f.recipe) status = vit_fail_memory(error, "the recipe", 0);
    if (status == VIT_OK) status = vit_store_open(&store, &f, NULL, 0, error);
    for (size_t i = 0; i < f.table.count && status == VIT_OK; i++) {
        const vit_parameter *p = &f.table.rows[i];
        vit_table_init_row(vit_store_place(&store, p), &f.table, i, f.config.init, 0);
        vit_store_keep(&store, p);
    }
    vit_store_close(&store);
    if (status == VIT_OK) status = vit_model_file_save(path, &f, error);
    vit_model_file_clear(&f);
    return status;
}

vit_status bench_model(const bench *b, vit_error *error) {
    return write_model(b->model, b, error);
}

vit_status bench_load_model(vit_model **out, const bench *b, vit_error *error) {
    const vit_model_options options = {.precision = b->precision,
                                       .cpu = vit_cpu_name(b->kernels->cpu)};
    char path[VIT_OWN_PATH];
    if (b->model) return vit_load_named_model(out, b->model, &options, error);
    vit_status status = vit_own_file(path, "vit-bench", error);
    if (status != VIT_OK) return status;
    status = write_model(path, b, error);
    if (status == VIT_OK) status = vit_model_load_with(out, path, &options, error);
    vit_own_file_remove(path);
    return status;
}

vit_status bench_infer(const bench *b, vit_error *error) {
    const vit_session_options options = {b->threads, vit_cpu_name(b->kernels->cpu), b->precision,
                                         VIT_BF16_ANY};
    vit_model *model = NULL;
    vit_dataset noise = {0};
    answering a = {.batch = b->batch};
    vit_status status = bench_load_model(&model, b, error);
    if (status != VIT_OK) return status;
    const vit_model_info info = vit_model_describe(model);
    const vit_config shape = {.height = info.height,
                              .width = info.width,
                              .channels = info.channels,
                              .classes = info.classes};
    status = make_noise(&noise, &shape, b->batch, error);
    if (status == VIT_OK) status = vit_session_new(&a.session, model, &options, error);
    a.images = noise.train.pixels;
    a.logits = vit_alloc(b->batch, info.classes * sizeof(float));
    if (status == VIT_OK && !a.logits) status = vit_fail_memory(error, "logits", b->batch);
    if (status == VIT_OK) {
        bench_line line = {.what = "infer",
                           .images = b->batch,
                           .flop = 2 * (double)info.multiply_adds * (double)b->batch};
        snprintf(line.detail, sizeof line.detail, "batch %zu", b->batch);
        line.seconds = bench_median(answer, &a);
        bench_print(b, &line);
    }
    vit_free(a.logits);
    vit_session_free(a.session);
    vit_model_free(model);
    free_noise(&noise);
    return status;
}
