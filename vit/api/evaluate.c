#include "vit/api/internal.h"
#include "vit/base/fpmode.h"
#include "vit/base/json.h"
#include "vit/image/prepare/preprocess.h"
#include "vit/train/loader.h"
#include "vit/train/score.h"
#include <assert.h>
#include <string.h>

#define DEFAULT_BATCH 512

static vit_status check_data(const vit_model *m, const vit_dataset *d, vit_error *error) {
    const vit_config *c = &m->file.config;
    if (d->height != c->height || d->width != c->width || d->channels != c->channels)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "the pictures of %s are %zu x %zu x %zu, the model takes %zu x %zu x %zu",
                        d->name, d->height, d->width, d->channels, c->height, c->width,
                        c->channels);
    if (d->classes <= c->classes) return VIT_OK;
    return vit_fail(error, VIT_ERROR_MISMATCH, "%s has %zu classes, the model knows %zu", d->name,
                    d->classes, c->classes);
}

/* ---- the data's classes and the model's ---- */

static size_t index_of(const char *label, char *const *labels, size_t count) {
    size_t i = 0;
    while (i < count && strcmp(label, labels[i]) != 0) i++;
    return i;
}

static void relabel(vit_records *records, const uint16_t *to) {
    for (size_t i = 0; i < records->count; i++) records->labels[i] = to[records->labels[i]];
}

/* Classes have the numbers of their names in the model. Where not all names are known to it, the
 * order alone can tell, and only if there are as many. */
static vit_status match_labels(vit_dataset *d, const vit_model *m, const vit_evaluate_options *o,
                               vit_error *error) {
    const size_t classes = m->file.config.classes;
    const char *unknown = NULL;
    if (!d->labels || !m->file.labels) return VIT_OK;
    uint16_t *to = vit_alloc(d->classes, sizeof *to);
    if (!to) return vit_fail_memory(error, "labels", d->classes * sizeof *to);
    for (size_t i = 0; i < d->classes && !unknown; i++) {
        const size_t found = index_of(d->labels[i], m->file.labels, classes);
        if (found == classes || found > UINT16_MAX) unknown = d->labels[i];
        to[i] = (uint16_t)found;
    }
    if (!unknown) {
        relabel(&d->train, to);
        relabel(&d->test, to);
    }
    vit_free(to);
    if (!unknown) return VIT_OK;
    if (d->classes != classes)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "the data's class %s is none of the model's %zu classes", unknown, classes);
    if (o->note)
        o->note("the data's classes have other names than the model's: they are taken in order",
                o->user);
    return VIT_OK;
}

/* ---- what is scored ---- */

typedef struct chosen {
    const vit_records *records;
    const uint32_t *numbers; /* NULL: all */
    size_t count;
} chosen;

/* The seed of the model's training, and what it held back; 0 where its recipe does not say. */
static uint64_t split_of(const vit_model *m, vit_recipe *recipe) {
    json_t *object;
    uint64_t seed = 0;
    if (vit_json_parse(&object, m->file.recipe, strlen(m->file.recipe), "", NULL) == VIT_OK) {
        const json_t *val = json_object_get(json_object_get(object, "train"), "val");
        seed = (uint64_t)json_integer_value(json_object_get(object, "seed"));
        if (json_is_number(val)) recipe->val = json_number_value(val);
        json_decref(object);
    }
    return seed;
}

/* The held-back pictures are those that the model's own training held back. */
static vit_status choose(chosen *c, vit_loader *loader, const vit_model *m, const vit_dataset *d,
                         vit_split split, vit_error *error) {
    vit_recipe recipe = vit_recipe_default();
    const uint64_t seed = split_of(m, &recipe);
    vit_status status = VIT_OK;
    *c = (chosen){0};
    switch (split) {
    case VIT_SPLIT_TEST:
        *c = (chosen){&d->test, NULL, d->test.count};
        break;
    case VIT_SPLIT_TRAIN:
        *c = (chosen){&d->train, NULL, d->train.count};
        break;
    case VIT_SPLIT_VAL:
        status = vit_loader_new(loader, d, &recipe, seed, error);
        *c = (chosen){&d->train, loader->val, loader->val_count};
        break;
    }
    return status;
}

static vit_status score(vit_score *out, double *seconds, const vit_model *m, const vit_dataset *d,
                        const chosen *c, const vit_evaluate_options *o, vit_error *error) {
    const size_t batch = o->batch > 0 ? o->batch : DEFAULT_BATCH;
    const vit_kernels *kernels;
    int threads;
    float table[3][256];
    vit_inference *inference = NULL;
    const vit_network *network;
    vit_status status = vit_choose(&kernels, &threads, o->cpu, o->threads, o->precision, error);
    if (status != VIT_OK) return status;
    const vit_exec exec = {.kernels = kernels, .threads = threads, .precision = o->precision};
    status = vit_model_network(&network, m, &exec, error);
    if (status == VIT_OK) status = vit_inference_new(&inference, network, kernels, threads, error);
    if (status == VIT_OK) {
        vit_normalize_table(table, &m->file.preprocessing, m->file.config.channels);
        const double start = vit_clock();
        status = vit_score_records(out, inference, &m->file.config, d, c->records, c->numbers,
                                   c->count, table, batch < c->count ? batch : c->count, error);
        *seconds = vit_clock() - start;
    }
    vit_inference_free(inference);
    return status;
}

static void set_calibration(vit_evaluation *result, const vit_calibration *c) {
    static_assert(VIT_BINS == VIT_CALIBRATION_BINS, "the same bins");
    result->ece = vit_calibration_error(c);
    result->brier = vit_calibration_brier(c);
    for (size_t i = 0; i < VIT_BINS; i++) {
        const double images = (double)c->images[i]; /* of none, all are NaN */
        result->bins[i] = (vit_reliability){c->images[i], c->confidence[i] / images,
                                            (double)c->right[i] / images};
    }
}

static vit_status evaluate(const vit_model *m, vit_dataset *d, const vit_evaluate_options *o,
                           vit_evaluation *result, vit_error *error) {
    const size_t classes = m->file.config.classes;
    chosen c;
    vit_loader loader = {0};
    vit_calibration calibration = {0};
    vit_score s = {.confusion = result->confusion,
                   .calibration = &calibration,
                   .temperature = vit_model_temperature(m)};
    vit_status status = check_data(m, d, error);
    if (status == VIT_OK) status = match_labels(d, m, o, error);
    if (status == VIT_OK) status = choose(&c, &loader, m, d, o->split, error);
    if (status == VIT_OK && c.count == 0)
        status = vit_fail(error, VIT_ERROR_ARGUMENT, "%s has no pictures to evaluate", d->name);
    if (status == VIT_OK) status = score(&s, &result->seconds, m, d, &c, o, error);
    vit_loader_free(&loader);
    if (status != VIT_OK) return status;
    result->images = s.images;
    result->correct = s.correct;
    result->top1 = (double)s.correct / (double)s.images;
    result->top5 = (double)s.correct5 / (double)s.images;
    result->loss = s.loss;
    result->classes = classes;
    set_calibration(result, &calibration);
    result->temperature = s.temperature;
    return VIT_OK;
}

/* Pictures as people have them go through the model's own preprocessing. */
static vit_status open_data(vit_dataset *d, const vit_model *m, unsigned part,
                            const vit_evaluate_options *o, vit_error *error) {
    const vit_config *c = &m->file.config;
    const vit_preparation preparation = {c->height, c->width, c->channels, m->file.preprocessing};
    vit_dataset_options options = {.need = part, .want = part, .preparation = &preparation};
    vit_status status =
        vit_choose(&options.kernels, &options.threads, o->cpu, o->threads, o->precision, error);
    if (status == VIT_OK) status = vit_dataset_open(d, o->data, &options, error);
    for (size_t i = 0; status == VIT_OK && o->note && i < d->note_count; i++)
        o->note(d->notes[i], o->user);
    return status;
}

vit_status vit_evaluate(const vit_model *m, const vit_evaluate_options *options,
                        vit_evaluation *result, vit_error *error) {
    const size_t classes = m->file.config.classes;
    const unsigned part = options->split == VIT_SPLIT_TEST ? VIT_PART_TEST : VIT_PART_TRAIN;
    vit_dataset data;
    *result = (vit_evaluation){0};
    if (m->file.config.head == VIT_HEAD_NONE)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "the model is a backbone without a head, nothing in it knows the classes "
                        "of %s: vit-train --init gives it a head",
                        options->data);
    const vit_fpmode host = vit_fpmode_enter();
    vit_status status = open_data(&data, m, part, options, error);
    if (status == VIT_OK) {
        result->confusion = vit_alloc(classes, classes * sizeof *result->confusion);
        status = result->confusion
                     ? evaluate(m, &data, options, result, error)
                     : vit_fail_memory(error, "the confusion matrix", classes * classes);
        vit_dataset_close(&data);
    }
    vit_fpmode_leave(host);
    if (status != VIT_OK) vit_evaluation_clear(result);
    return status;
}

void vit_evaluation_clear(vit_evaluation *result) {
    vit_free(result->confusion);
    *result = (vit_evaluation){0};
}
