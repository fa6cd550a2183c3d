#include "vit/api/internal.h"
#include "vit/base/fpmode.h"
#include "vit/train/loader.h"
#include "vit/train/score.h"
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

typedef struct chosen {
    const vit_records *records;
    const uint32_t *numbers; /* NULL: all */
    size_t count;
} chosen;

/* The held-back pictures are those of seed 0: what vit-train holds back unless told otherwise. */
static vit_status choose(chosen *c, vit_loader *loader, const vit_dataset *d, vit_split split,
                         vit_error *error) {
    const vit_recipe recipe = vit_recipe_default();
    *c = (chosen){split == VIT_SPLIT_TEST ? &d->test : &d->train, NULL, 0};
    c->count = c->records->count;
    if (split != VIT_SPLIT_VAL) return VIT_OK;
    const vit_status status = vit_loader_new(loader, d, &recipe, 0, error);
    c->numbers = loader->val;
    c->count = loader->val_count;
    return status;
}

static vit_status score(vit_score *out, double *seconds, const vit_model *m, const vit_dataset *d,
                        const chosen *c, const vit_evaluate_options *o, vit_error *error) {
    const size_t batch = o->batch > 0 ? o->batch : DEFAULT_BATCH;
    const vit_kernels *kernels;
    int threads;
    float table[3][256];
    vit_inference *inference;
    vit_status status = vit_choose(&kernels, &threads, o->cpu, o->threads, error);
    if (status == VIT_OK)
        status = vit_inference_new(&inference, &m->network, kernels, threads, error);
    if (status != VIT_OK) return status;
    vit_normalize_table(table, &m->file.preprocessing, m->file.config.channels);
    const double start = vit_clock();
    status = vit_score_records(out, inference, &m->file.config, d, c->records, c->numbers, c->count,
                               table, batch < c->count ? batch : c->count, error);
    *seconds = vit_clock() - start;
    vit_inference_free(inference);
    return status;
}

static vit_status evaluate(const vit_model *m, const vit_dataset *d, const vit_evaluate_options *o,
                           vit_evaluation *result, vit_error *error) {
    const size_t classes = m->file.config.classes;
    chosen c;
    vit_loader loader = {0};
    vit_score s = {.confusion = result->confusion};
    vit_status status = check_data(m, d, error);
    if (status == VIT_OK) status = choose(&c, &loader, d, o->split, error);
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
    return VIT_OK;
}

vit_status vit_evaluate(const vit_model *m, const vit_evaluate_options *options,
                        vit_evaluation *result, vit_error *error) {
    const size_t classes = m->file.config.classes;
    const unsigned part = options->split == VIT_SPLIT_TEST ? VIT_PART_TEST : VIT_PART_TRAIN;
    const vit_dataset_options parts = {.need = part, .want = part};
    vit_dataset data;
    *result = (vit_evaluation){0};
    const vit_fpmode host = vit_fpmode_enter();
    vit_status status = vit_dataset_open(&data, options->data, &parts, error);
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
