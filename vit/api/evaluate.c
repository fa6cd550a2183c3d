#include "vit/api/evaluate_text.h"
#include "vit/base/fpmode.h"
#include "vit/base/json.h"
#include "vit/base/text.h"
#include "vit/image/prepare/preprocess.h"
#include "vit/train/measure/score.h"
#include "vit/train/step/loader.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_BATCH 512

static vit_status check_data(const vit_model *m, const vit_dataset *d, vit_error *error) {
    const vit_config *c = &m->file.config;
    if (c->stem == VIT_STEM_NONE) return VIT_OK; /* it is given nothing */
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
        relabel(&d->val, to);
        if (!d->test_is_val) relabel(&d->test, to);
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

/* What the model's recipe says of its training, where it has one. */
typedef struct training {
    uint64_t seed;
    double val;      /* of the recipe: how many it held back */
    char *checksums; /* of its data, a space before each; "" where it does not say */
} training;

static vit_status training_of(training *t, const vit_model *m, vit_error *error) {
    json_t *recipe;
    vit_text checksums = {0};
    *t = (training){.val = vit_recipe_default().val};
    vit_text_add(&checksums, "%s", "");
    if (vit_json_parse(&recipe, m->file.recipe, strlen(m->file.recipe), "", NULL) == VIT_OK) {
        static const char *const keys[] = {"data_sha256", "joined_sha256"};
        const json_t *val = json_object_get(json_object_get(recipe, "train"), "val");
        if (json_is_number(val)) t->val = json_number_value(val);
        t->seed = (uint64_t)json_integer_value(json_object_get(recipe, "seed"));
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            const char *value = json_string_value(json_object_get(recipe, keys[i]));
            if (value) vit_text_add(&checksums, " %s", value);
        }
        json_decref(recipe);
    }
    t->checksums = checksums.text;
    return checksums.failed ? vit_fail_memory(error, "a recipe", checksums.length) : VIT_OK;
}

typedef struct chosen {
    const vit_records *records;
    const uint32_t *numbers; /* NULL: all */
    size_t count;
    const char *which;
} chosen;

/* The held-back pictures are those that the model's own training held back, or the set's own. */
static vit_status choose(chosen *c, vit_loader *loader, const training *t, const vit_dataset *d,
                         vit_split split, vit_error *error) {
    vit_recipe recipe = vit_recipe_default();
    recipe.val = t->val;
    vit_status status = VIT_OK;
    *c = (chosen){.which = "its training part"};
    switch (split) {
    case VIT_SPLIT_TEST:
        c->records = &d->test;
        c->which = d->test_is       ? d->test_is
                   : d->test_is_val ? "its val part, as it has no test part"
                                    : "its test part";
        break;
    case VIT_SPLIT_TRAIN:
        c->records = &d->train;
        break;
    case VIT_SPLIT_VAL:
        status = vit_loader_new(loader, d, &recipe, t->seed, error);
        if (status != VIT_OK) return status;
        c->records = vit_loader_val_records(loader);
        c->numbers = loader->val;
        c->which = loader->val ? "those that a training with the model's seed holds back of its "
                                 "training part"
                               : "its val part";
        c->count = loader->val_count;
        return VIT_OK;
    }
    c->count = c->records->count;
    return VIT_OK;
}

/* The share of signs that are wrong, in what is written. */
static vit_status judge(vit_evaluation *result, const vit_score *s, const vit_network *network,
                        const vit_dataset *d, const chosen *c, float table[3][256],
                        const vit_exec *exec, vit_error *error) {
    const vit_text_data texts = {network, d, c->records, c->numbers, c->count, table};
    result->sequences_right = (double)s->correct / (double)s->images;
    result->tokens_right = (double)s->tokens_right / (double)s->tokens;
    result->entropy = c->numbers ? 0 : c->records->entropy;
    return vit_judge_texts(&result->edit_distance, &texts, s->right, exec, error);
}

static vit_status score(vit_score *out, vit_evaluation *result, const vit_model *m,
                        const vit_dataset *d, const chosen *c, const vit_evaluate_options *o,
                        vit_error *error) {
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
        if (m->file.config.channels > 0)
            vit_normalize_table(table, &m->file.preprocessing, m->file.config.channels);
        const double start = vit_clock();
        status = vit_score_records(out, inference, &m->file.config, d, c->records, c->numbers,
                                   c->count, table, batch < c->count ? batch : c->count, error);
        if (status == VIT_OK && vit_config_has_decoder(&m->file.config))
            status = judge(result, out, network, d, c, table, &exec, error);
        result->seconds = vit_clock() - start;
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

typedef struct telling {
    const vit_evaluate_options *options;
    const vit_records *records;
} telling;

static void tell_picture(size_t record, size_t label, size_t answer, const float *logits,
                         const float *probabilities, void *context) {
    const telling *t = context;
    const vit_evaluated picture = {
        vit_record_file(t->records, record), record, label, answer, logits, probabilities};
    t->options->picture(&picture, t->options->user);
}

/* Who wants to see the answers. */
typedef struct onlooker {
    vit_answers_seen *seen; /* NULL: nobody */
    void *context;
} onlooker;

static vit_status show(const onlooker *who, const vit_model *m, const vit_dataset *d,
                       const chosen *c, const vit_score *s, vit_error *error) {
    char which[400];
    const vit_answers answers = {
        which,         d, c->records, c->numbers, c->count, m->file.config.classes, s->logits,
        s->temperature};
    if (!who->seen) return VIT_OK;
    snprintf(which, sizeof which, "%s, %s,", d->name, c->which);
    return who->seen(&answers, who->context, error);
}

static vit_status evaluate(const vit_model *m, vit_dataset *d, const training *t,
                           const vit_evaluate_options *o, vit_evaluation *result,
                           const onlooker *who, vit_error *error) {
    const size_t classes = m->file.config.classes;
    chosen c = {0};
    vit_loader loader = {0};
    vit_calibration calibration = {0};
    vit_score s = {.confusion = result->confusion,
                   .calibration = &calibration,
                   .temperature = vit_model_temperature(m),
                   .threshold = m->file.threshold,
                   .only_numbers = true};
    const bool writes = vit_config_has_decoder(&m->file.config);
    vit_status status = check_data(m, d, error);
    if (status == VIT_OK && writes) status = vit_check_text_data(m, d, error);
    if (status == VIT_OK) status = match_labels(d, m, o, error);
    if (status == VIT_OK) status = choose(&c, &loader, t, d, o->split, error);
    if (status == VIT_OK && c.count == 0)
        status = vit_fail(error, VIT_ERROR_ARGUMENT, "%s has no pictures to evaluate", d->name);
    telling each = {o, c.records};
    if (o->picture) {
        s.each = tell_picture;
        s.context = &each;
    }
    if (status == VIT_OK && who->seen && !writes) {
        s.logits = vit_alloc(c.count, classes * sizeof *s.logits);
        if (!s.logits) status = vit_fail_memory(error, "logits", c.count * classes * sizeof(float));
    }
    if (status == VIT_OK && writes) {
        s.right = vit_alloc(c.count, sizeof *s.right);
        if (!s.right) status = vit_fail_memory(error, "answers", c.count);
    }
    if (status == VIT_OK) status = score(&s, result, m, d, &c, o, error);
    if (status == VIT_OK && !writes) status = show(who, m, d, &c, &s, error);
    vit_free(s.right);
    vit_free(s.logits);
    vit_loader_free(&loader);
    if (status != VIT_OK) return status;
    result->images = s.images;
    result->correct = s.correct;
    result->top1 = (double)s.correct / (double)s.images;
    result->top5 = writes ? NAN : (double)s.correct5 / (double)s.images;
    result->loss = s.loss;
    result->classes = classes;
    result->temperature = s.temperature;
    result->unsure = s.unsure;
    result->unsure_wrong = s.unsure_wrong;
    if (!writes) set_calibration(result, &calibration);
    result->which = c.which;
    snprintf(result->data, sizeof result->data, "%s", d->name);
    return VIT_OK;
}

/* Pictures as people have them go through the model's own preprocessing. */
static vit_status open_data(vit_dataset *d, const vit_model *m, unsigned part,
                            const vit_evaluate_options *o, const char *trained_on,
                            vit_error *error) {
    const vit_config *c = &m->file.config;
    const vit_preparation preparation = {c->height, c->width, c->channels, m->file.preprocessing};
    vit_dataset_options options = {.arrays = o->arrays,
                                   .need = part,
                                   .want = part,
                                   .preparation = &preparation,
                                   .trained_on = trained_on};
    vit_status status =
        vit_choose(&options.kernels, &options.threads, o->cpu, o->threads, o->precision, error);
    if (status == VIT_OK) status = vit_dataset_open(d, o->data, &options, error);
    if (status == VIT_OK && !vit_config_has_decoder(c)) status = vit_dataset_need_classes(d, error);
    for (size_t i = 0; status == VIT_OK && o->note && i < d->note_count; i++)
        o->note(d->notes[i], o->user);
    for (size_t i = VIT_UNREADABLE_NAMED;
         status == VIT_OK && o->note && o->list_unreadable && i < d->unreadable_count; i++)
        o->note(d->unreadable[i], o->user);
    return status;
}

vit_status vit_evaluate(const vit_model *m, const vit_evaluate_options *options,
                        vit_evaluation *result, vit_error *error) {
    return vit_evaluate_seen(m, options, result, NULL, NULL, error);
}

vit_status vit_evaluate_seen(const vit_model *m, const vit_evaluate_options *options,
                             vit_evaluation *result, vit_answers_seen *seen, void *context,
                             vit_error *error) {
    const onlooker who = {seen, context};
    const size_t classes = m->file.config.classes;
    static const unsigned parts[] = {[VIT_SPLIT_TEST] = VIT_PART_TEST,
                                     [VIT_SPLIT_TRAIN] = VIT_PART_TRAIN,
                                     [VIT_SPLIT_VAL] = VIT_PART_VAL};
    const vit_evaluate_options none = {0}, *o = options ? options : &none;
    vit_dataset data;
    training before;
    *result = (vit_evaluation){0};
    if (!o->data && !o->arrays) return vit_fail(error, VIT_ERROR_ARGUMENT, "no data was named");
    if ((size_t)o->split >= sizeof parts / sizeof *parts)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "split %d, expected test, train or val",
                        (int)o->split);
    if (m->file.config.head == VIT_HEAD_NONE && !vit_config_has_decoder(&m->file.config))
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "the model is a backbone without a head, nothing in it knows the classes "
                        "of %s: vit-train --init gives it a head",
                        o->data ? o->data : "the pictures");
    const vit_fpmode host = vit_fpmode_enter();
    vit_status status = training_of(&before, m, error);
    if (status == VIT_OK) status = open_data(&data, m, parts[o->split], o, before.checksums, error);
    if (status == VIT_OK) {
        result->confusion = vit_alloc(classes, classes * sizeof *result->confusion);
        status = result->confusion
                     ? evaluate(m, &data, &before, o, result, &who, error)
                     : vit_fail_memory(error, "the confusion matrix", classes * classes);
        vit_dataset_close(&data);
    }
    vit_free(before.checksums);
    vit_fpmode_leave(host);
    if (status != VIT_OK) vit_evaluation_clear(result);
    return status;
}

void vit_evaluation_clear(vit_evaluation *result) {
    vit_free(result->confusion);
    *result = (vit_evaluation){0};
}
