/* vit_evaluate: how good a model's answers to labelled data are. */
#include "vit/api/evaluate.h"
#include "datasets/duplicates.h"
#include "vit/base/fpmode.h"
#include "vit/base/guests.h"
#include "vit/base/order.h"
#include "vit/base/size.h"
#include "vit/base/text.h"
#include "vit/formats/json.h"
#include "vit/image/prepare/preprocess.h"
#include "vit/train/measure/edit_distance.h"
#include "vit/train/measure/score.h"
#include "vit/train/step/loader.h"
#include "vit/weights/file/labels.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_BATCH 512

vit_preparation vit_model_preparation(const vit_model_file *f) {
    const vit_config *c = &f->config;
    return (vit_preparation){c->height, c->width, c->channels, f->preprocessing,
                             .unrounded = vit_preprocessing_has_floats(&f->preprocessing)};
}

vit_status vit_model_takes(const vit_model_file *f, const vit_dataset *d, vit_error *error) {
    const vit_config *c = &f->config;
    if (d->height == c->height && d->width == c->width && d->channels == c->channels) return VIT_OK;
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "the pictures of %s are %zu x %zu x %zu, the model takes %zu x %zu x %zu",
                    d->name, d->height, d->width, d->channels, c->height, c->width, c->channels);
}

/* MISMATCH unless the texts are such as a model that writes was trained on. */
static vit_status check_text_data(const vit_model *m, const vit_dataset *d, vit_error *error) {
    const vit_model_file *f = &m->file;
    const vit_config *c = &f->config;
    char guest[VIT_GUEST_TEXT];
    if (d->target_vocabulary.count == 0)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "the model writes texts, but the answers of %s are classes", d->name);
    if (!vit_text_distances)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED, "texts are not measured%s",
                        vit_guests_for(guest, "vit_text_distances"));
    if (f->tokenizer)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "the model has a tokenizer of its own, which the texts of %s cannot be "
                        "turned into ids with",
                        d->name);
    if (!vit_vocabulary_equal(&f->vocabulary, &d->target_vocabulary) ||
        (vit_config_takes_texts(c) &&
         !vit_vocabulary_equal(&f->source_vocabulary, &d->source_vocabulary)))
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "the texts of %s have other signs than those that the model was trained on",
                        d->name);
    if (d->most_target + 1 > c->decoder.length)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "the longest text of %s has %zu signs, the model writes %zu at most",
                        d->name, d->most_target, c->decoder.length - 1);
    if (vit_config_takes_texts(c) && d->most_source > c->length)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "the longest source of %s has %zu signs, the model reads %zu at most",
                        d->name, d->most_source, c->length);
    return VIT_OK;
}

/* ---- what is scored ---- */

vit_status vit_model_training(vit_training *t, const vit_model *m, vit_error *error) {
    json_t *recipe;
    vit_string checksums = {0};
    *t = (vit_training){.val = vit_recipe_default().val};
    vit_string_add(&checksums, "%s", "");
    if (vit_json_parse(&recipe, m->file.recipe, strlen(m->file.recipe), "", NULL) == VIT_OK) {
        static const char *const keys[] = {"data_sha256", "joined_sha256"};
        const json_t *val = json_object_get(json_object_get(recipe, "train"), "val");
        if (json_is_number(val)) t->val = json_number_value(val);
        t->seed = (uint64_t)json_integer_value(json_object_get(recipe, "seed"));
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            const char *value = json_string_value(json_object_get(recipe, keys[i]));
            if (value) vit_string_add(&checksums, " %s", value);
        }
        const char *taught = json_string_value(json_object_get(recipe, "taught_sha256"));
        if (taught) snprintf(t->taught, sizeof t->taught, "%s", taught);
        json_decref(recipe);
    }
    t->checksums = checksums.text;
    return checksums.failed ? vit_fail_memory(error, "a recipe", checksums.length) : VIT_OK;
}

vit_status vit_choose_records(vit_chosen *c, vit_loader *loader, const vit_training *t,
                              const vit_dataset *d, vit_split split, vit_error *error) {
    vit_recipe recipe = vit_recipe_default();
    recipe.val = t->val;
    vit_status status = VIT_OK;
    *c = (vit_chosen){.which = "its training part", .seen = split == VIT_SPLIT_TRAIN};
    switch (split) {
    case VIT_SPLIT_TEST:
        c->records = &d->test;
        c->seen = d->test_is && strcmp(t->taught, d->checksum) == 0;
        c->which = c->seen          ? "all of them, which the head was computed from"
                   : d->test_is     ? d->test_is
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

/* ---- the data's classes and the model's ---- */

/* Says why no picture, or one of a number beyond the model's classes, can be scored. */
static vit_status fail_strange(const vit_dataset *d, const vit_model *m, const vit_match *match,
                               vit_error *error) {
    const vit_classes data = {d->labels, d->classes},
                      model = {(const char *const *)m->file.labels, m->file.config.classes};
    char ours[256], theirs[256], number[32];
    const char *name = vit_class_name(&data, match->first_lost, number);
    if (match->by == VIT_BY_ORDER)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "the model's %zu classes have no names to find the %zu of %s by: name them "
                        "(--labels FILE)",
                        model.count, data.count, d->name);
    if (match->by == VIT_BY_NUMBER)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "the classes of %s are numbers, indices from 0 on of the model's classes, "
                        "but %s is beyond its %zu: name the classes as the model does",
                        d->name, name, model.count);
    vit_classes_shown(ours, &data);
    vit_classes_shown(theirs, &model);
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "the data's class %s is none of the model's %zu classes, nor is any other: %s "
                    "has %s, the model %s; name the model's classes with --labels FILE, or the "
                    "folders as the model does",
                    name, model.count, d->name, ours, theirs);
}

/* Numbers of pictures of classes that the model does not know: [classes of the data]. */
static vit_status list_unknown(vit_evaluation *result, const vit_dataset *d, const size_t *images,
                               vit_error *error) {
    const vit_classes data = {d->labels, d->classes};
    size_t count = 0, bytes = 0;
    char number[32];
    for (size_t i = 0; i < d->classes; i++) {
        count += images[i] > 0;
        if (images[i] > 0) bytes += strlen(vit_class_name(&data, i, number)) + 1;
    }
    if (count == 0) return VIT_OK;
    result->unknown = vit_alloc(1, count * sizeof *result->unknown + bytes);
    if (!result->unknown) return vit_fail_memory(error, "names of classes", bytes);
    char *text = (char *)(result->unknown + count);
    for (size_t i = 0; i < d->classes; i++) {
        if (images[i] == 0) continue;
        const char *name = vit_class_name(&data, i, number);
        const size_t size = strlen(name) + 1;
        result->unknown[result->unknown_classes++] =
            (vit_unknown_class){memcpy(text, name, size), images[i]};
        result->unknown_images += images[i];
        text += size;
    }
    return VIT_OK;
}

static void note_match(const vit_evaluate_options *o, const vit_evaluation *r, const vit_dataset *d,
                       const vit_match *match) {
    char text[600];
    if (!o->note) return;
    if (vit_match_said(text, match, "the data", "the model")) o->note(text, o->user);
    if (o->picture && match->moved)
        o->note(
            "logits are in the order of the model's classes, which is not the data's: a training "
            "on these data takes the model as its teacher, not its logits",
            o->user);
    if (r->unknown_images == 0) return;
    snprintf(text, sizeof text,
             "%s: %zu pictures are of %zu class%s that the model does not know, %.200s%s: they are "
             "counted apart",
             d->name, r->unknown_images, r->unknown_classes, r->unknown_classes == 1 ? "" : "es",
             r->unknown[0].label, r->unknown_classes > 1 ? " among them" : "");
    o->note(text, o->user);
}

/* The same for records that list their classes: all are kept, and classes that the model does not
 * know are left out of their lists. Returns whether there is one that it knows. */
static bool keep_known_in_lists(const vit_chosen *c, const vit_match *match, size_t *unknown) {
    const vit_texts *t = &c->records->target;
    bool knows = false;
    for (size_t i = 0; i < c->count; i++) {
        const size_t number = c->numbers ? c->numbers[i] : i;
        uint32_t *ids = t->ids + t->at[number];
        const size_t count = t->at[number + 1] - t->at[number];
        size_t kept = 0;
        for (size_t k = 0; k < count; k++) {
            const size_t to = match->to[ids[k]];
            if (to > UINT16_MAX)
                unknown[ids[k]]++;
            else
                ids[kept++] = (uint32_t)to;
        }
        for (size_t k = kept; k < count; k++) ids[k] = UINT32_MAX; /* is none */
        if (count > 0) qsort(ids, count, sizeof *ids, vit_compare_ids);
        knows = knows || kept > 0;
    }
    return knows;
}

/* Keeps of the chosen records those of classes that the model knows, and gives them the numbers
 * that these have there. */
static vit_status keep_known(vit_chosen *c, const vit_match *match, size_t *unknown,
                             vit_error *error) {
    uint16_t *labels = c->records->labels;
    c->known = vit_alloc(c->count, sizeof *c->known);
    if (!c->known) return vit_fail_memory(error, "pictures", c->count * sizeof *c->known);
    size_t kept = 0;
    for (size_t i = 0; i < c->count; i++) {
        const uint32_t number = c->numbers ? c->numbers[i] : (uint32_t)i;
        const size_t to = match->to[labels[number]];
        if (to > UINT16_MAX) {
            unknown[labels[number]]++;
            continue;
        }
        labels[number] = (uint16_t)to;
        c->known[kept++] = number;
    }
    if (kept < c->count) c->numbers = c->known;
    c->count = kept;
    return VIT_OK;
}

static vit_status match_classes(vit_chosen *c, vit_evaluation *result, vit_dataset *d,
                                const vit_model *m, const vit_evaluate_options *o,
                                vit_error *error) {
    static const char *const ways[] = {"name", "number", "order"};
    VIT_CHECK_ROWS(ways, VIT_BY_COUNT);
    const vit_classes data = {d->labels, d->classes};
    vit_match match;
    vit_status status = vit_labels_match(&match, &data, &m->file, error);
    if (status != VIT_OK) return status;
    size_t *unknown = vit_alloc(d->classes, sizeof *unknown);
    bool knows = true;
    if (!unknown)
        status = vit_fail_memory(error, "classes", d->classes * sizeof *unknown);
    else if (vit_records_list_classes(c->records))
        knows = keep_known_in_lists(c, &match, unknown);
    else
        status = keep_known(c, &match, unknown, error);
    if (status == VIT_OK) status = list_unknown(result, d, unknown, error);
    result->matched_by = ways[match.by];
    if (status == VIT_OK && result->unknown_images > 0 &&
        (c->count == 0 || !knows || match.by == VIT_BY_NUMBER))
        status = fail_strange(d, m, &match, error);
    if (status == VIT_OK) note_match(o, result, d, &match);
    vit_free(unknown);
    vit_match_free(&match);
    return status;
}

static vit_status score(vit_score *out, vit_evaluation *result, const vit_model *m,
                        const vit_dataset *d, const vit_chosen *c, const vit_evaluate_options *o,
                        vit_error *error) {
    const size_t batch = o->batch > 0 ? o->batch : DEFAULT_BATCH;
    float table[3][256];
    vit_inference *inference = NULL;
    const vit_network *network;
    vit_exec exec;
    vit_status status =
        vit_model_exec(&exec, &network, m, o->cpu, o->threads, o->precision, o->bf16, error);
    if (status == VIT_OK)
        status = vit_inference_new(&inference, network, exec.kernels, exec.threads, error);
    if (status == VIT_OK) {
        if (m->file.config.channels > 0)
            vit_normalize_table(table, &m->file.preprocessing, m->file.config.channels);
        const double start = vit_clock();
        status = vit_score_records(out, inference, &m->file.config, d, c->records, c->numbers,
                                   c->count, table, batch < c->count ? batch : c->count, error);
        if (status == VIT_OK && vit_config_has_decoder(&m->file.config)) {
            const vit_answered_records texts = {network,    d,        c->records,
                                                c->numbers, c->count, table};
            result->sequences_right = (double)out->correct / (double)out->images;
            result->tokens_right = (double)out->tokens_right / (double)out->tokens;
            result->entropy = c->numbers ? 0 : c->records->entropy;
            status = vit_text_distances->measure(&result->edit_distance, &texts, out->right, &exec,
                                                 error);
        }
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
        const double images = (double)c->images[i]; /* 0: the shares are NaN */
        result->bins[i] = (vit_reliability){c->images[i], c->confidence[i] / images,
                                            (double)c->right[i] / images};
    }
}

/* Calls the callback of the options for each picture. */
typedef struct each_picture {
    const vit_evaluate_options *options;
    const vit_records *records;
} each_picture;

static void call_picture(size_t record, size_t label, size_t answer, const float *logits,
                         const float *probabilities, void *context) {
    const each_picture *e = context;
    const vit_evaluated picture = {
        vit_record_file(e->records, record), record, label, answer, logits, probabilities};
    e->options->picture(&picture, e->options->user);
}

/* What vit_evaluate_with calls with all answers. */
typedef struct all_answers {
    vit_answers_callback *callback; /* or NULL */
    void *context;
} all_answers;

static vit_status call_all(const all_answers *a, const vit_model *m, const vit_dataset *d,
                           const vit_chosen *c, const vit_score *s, vit_error *error) {
    char which[400];
    const vit_answers answers = {
        which,          d,   c->records, c->numbers, c->count, m->file.config.classes, s->logits,
        s->temperature, NULL};
    snprintf(which, sizeof which, "%s, %s,", d->name, c->which);
    return a->callback(&answers, a->context, error);
}

/* MISMATCH if another rank than rank 0 has other pictures, or another network. */
static vit_status compare_ranks(vit_cluster *cluster, const vit_dataset *d, const vit_model *m,
                                vit_error *error) {
    char own[sizeof d->checksum], first[sizeof d->checksum];
    uint64_t weights = m->file.table.parameters, theirs = weights;
    vit_status status = VIT_OK;
    memcpy(own, d->checksum, sizeof own);
    memcpy(first, d->checksum, sizeof first);
    if (!cluster) return VIT_OK;
    status = vit_cluster_broadcast(cluster, first, sizeof first, error);
    if (status == VIT_OK) status = vit_cluster_broadcast(cluster, &theirs, sizeof theirs, error);
    if (status != VIT_OK) return status;
    if (strcmp(own, first) != 0)
        status =
            vit_fail(error, VIT_ERROR_MISMATCH,
                     "its data (checksum) differ from rank 0's: %s here, %s there", own, first);
    else if (weights != theirs)
        status = vit_fail(error, VIT_ERROR_MISMATCH, "its model is another one than rank 0's");
    return vit_cluster_agree(cluster, status, error);
}

static void set_result(vit_evaluation *result, const vit_model *m, const vit_dataset *d,
                       const vit_chosen *c, const vit_score *s) {
    const bool writes = vit_config_has_decoder(&m->file.config);
    result->images = s->images;
    result->correct = s->correct;
    result->top1 = (double)s->correct / (double)s->images;
    result->top5 = writes ? NAN : (double)s->correct5 / (double)s->images;
    result->loss = s->loss;
    result->classes = m->file.config.classes;
    result->temperature = s->temperature;
    result->below_threshold = s->below_threshold;
    result->below_threshold_wrong = s->below_threshold_wrong;
    if (!writes && m->file.scoring == VIT_SCORING_SOFTMAX) set_calibration(result, s->calibration);
    result->which = c->which;
    result->seen = c->seen;
    snprintf(result->data, sizeof result->data, "%s", d->name);
}

/* What measures a model of this scoring. */
static const char *const measured[] = {
    "vit-evaluate measures it",
    "vit_evaluate_labels measures it, with a table of pictures and their classes",
    ("vit-classify --format csv writes its numbers for many pictures, and their mean squared "
     "difference from your table's measures it"),
};
VIT_CHECK_ROWS(measured, VIT_SCORING_COUNT);

static vit_status evaluate(const vit_model *m, vit_dataset *d, const vit_training *t,
                           const vit_evaluate_options *o, vit_evaluation *result,
                           const all_answers *all, vit_error *error) {
    const size_t classes = m->file.config.classes;
    vit_chosen c = {0};
    vit_loader loader = {0};
    vit_calibration calibration = {0};
    vit_score s = {.confusion = result->confusion,
                   .calibration = &calibration,
                   .temperature = vit_model_temperature(m),
                   .threshold = m->file.threshold,
                   .only_numbers = true,
                   .cluster = o->cluster};
    const bool writes = vit_config_has_decoder(&m->file.config);
    const bool has_input = vit_config_has_encoder(&m->file.config); /* a language model has none */
    vit_status status = has_input ? vit_model_takes(&m->file, d, error) : VIT_OK;
    const bool lists = m->file.scoring == VIT_SCORING_SIGMOID && all->callback;
    if (status == VIT_OK && m->file.scoring != VIT_SCORING_SOFTMAX && !lists)
        status =
            vit_fail(error, VIT_ERROR_UNSUPPORTED,
                     "the model's scores are no probabilities of one class a picture (\"%s\"): "
                     "it has no accuracy; %s",
                     vit_scoring_name(m->file.scoring), measured[m->file.scoring]);
    if (status == VIT_OK && writes) status = check_text_data(m, d, error);
    if (status == VIT_OK) status = vit_choose_records(&c, &loader, t, d, o->split, error);
    if (status == VIT_OK && c.count == 0)
        status = vit_fail(error, VIT_ERROR_ARGUMENT, "%s has no pictures to evaluate", d->name);
    if (status == VIT_OK && !writes) status = match_classes(&c, result, d, m, o, error);
    each_picture each = {o, c.records};
    if (o->picture) {
        s.each = call_picture;
        s.context = &each;
    }
    if (status == VIT_OK && all->callback && !writes) {
        s.logits = vit_alloc(c.count, classes * sizeof *s.logits);
        if (!s.logits) status = vit_fail_memory(error, "logits", c.count * classes * sizeof(float));
    }
    if (status == VIT_OK && writes) {
        s.right = vit_alloc(c.count, sizeof *s.right);
        if (!s.right) status = vit_fail_memory(error, "answers", c.count);
    }
    status = vit_cluster_agree(o->cluster, status, error);
    if (status == VIT_OK) status = compare_ranks(o->cluster, d, m, error);
    if (status == VIT_OK) status = score(&s, result, m, d, &c, o, error);
    if (status == VIT_OK) set_result(result, m, d, &c, &s);
    if (status == VIT_OK && s.logits) status = call_all(all, m, d, &c, &s, error);
    vit_free(s.right);
    vit_free(s.logits);
    vit_free(c.known);
    vit_loader_free(&loader);
    return status;
}

/* A file that the data's notes do not name. */
static void note_unreadable(const char *problem, void *user) {
    const vit_evaluate_options *o = user;
    char text[1500];
    snprintf(text, sizeof text, "left out: %s", problem);
    o->note(text, o->user);
}

static const unsigned parts[] = {[VIT_SPLIT_TEST] = VIT_PART_TEST,
                                 [VIT_SPLIT_TRAIN] = VIT_PART_TRAIN,
                                 [VIT_SPLIT_VAL] = VIT_PART_VAL};

vit_status vit_evaluate_open(vit_dataset *d, const vit_model *m, const vit_evaluate_options *o,
                             const char *trained_on, vit_error *error) {
    if (!o->data && !o->arrays) return vit_fail(error, VIT_ERROR_ARGUMENT, "no data was named");
    if ((size_t)o->split >= sizeof parts / sizeof *parts)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "split %d, expected test, train or val",
                        (int)o->split);
    const unsigned part = parts[o->split];
    const vit_config *c = &m->file.config;
    const vit_preparation preparation = vit_model_preparation(&m->file);
    /* What a training held back depends on copies, and those of the test were left out of it. */
    const unsigned beside = part & VIT_PART_VAL ? VIT_PART_TEST : 0;
    vit_dataset_options options = {.arrays = o->arrays,
                                   .need = part,
                                   .want = part | beside,
                                   .finds_copies = part & VIT_PART_VAL,
                                   .preparation = &preparation,
                                   .trained_on = trained_on,
                                   .class_column = o->class_column,
                                   .exclude = o->exclude,
                                   .relabel = o->relabel,
                                   .tag_branch = o->tag_branch,
                                   .multi_label = m->file.scoring == VIT_SCORING_SIGMOID,
                                   .unreadable =
                                       o->note && o->list_unreadable ? note_unreadable : NULL,
                                   .user = (void *)o};
    vit_status status = vit_choose(&options.kernels, &options.threads, o->cpu, o->threads,
                                   o->precision, o->bf16, error);
    if (status == VIT_OK) status = vit_dataset_open(d, o->data, &options, error);
    if (status == VIT_OK && !vit_config_has_decoder(c)) status = vit_dataset_need_classes(d, error);
    for (size_t i = 0; status == VIT_OK && o->note && i < d->note_count; i++)
        o->note(d->notes[i], o->user);
    return status;
}

/* answered->copies = copies among the answered pictures, and of them in the training part, for a
 * table or a page. They are looked for in pictures as the data would be prepared for a training:
 * all models find the same ones. */
static vit_status list_copies(vit_dataset *answered, unsigned part, const vit_evaluate_options *o,
                              const char *trained_on, vit_error *error) {
    vit_dataset set;
    vit_dataset_options options = {.need = part,
                                   .want = answered->test_is ? part : part | VIT_PART_TRAIN,
                                   .trained_on = trained_on,
                                   .class_column = o->class_column,
                                   .exclude = o->exclude,
                                   .relabel = o->relabel,
                                   .tag_branch = o->tag_branch,
                                   .finds_copies = part & VIT_PART_TRAIN,
                                   .empty_classes = true,
                                   .splits_are_classes = true};
    const bool are_files = !o->arrays && answered->class_source;
    if (!are_files && !o->near_duplicates) return VIT_OK;
    if (!are_files)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "%s: copies are looked for in pictures that are files of their own: leave "
                        "the table of near-duplicates out",
                        answered->name);
    vit_status status = vit_choose(&options.kernels, &options.threads, o->cpu, o->threads,
                                   VIT_PRECISION_F32, VIT_BF16_ANY, error);
    if (status == VIT_OK) status = vit_dataset_open(&set, o->data, &options, error);
    if (status != VIT_OK) return status;
    status = o->near_duplicates
                 ? vit_duplicates_save(o->near_duplicates, &set, options.threads, error)
                 : vit_duplicates_list(&set, options.threads, error);
    if (status == VIT_OK && o->near_duplicates && o->note)
        o->note(set.notes[set.note_count - 1], o->user);
    const vit_copy_list found = set.copies;
    set.copies = answered->copies;
    answered->copies = found;
    vit_dataset_close(&set);
    return status;
}

vit_status vit_evaluate(const vit_model *m, const vit_evaluate_options *options,
                        vit_evaluation *result, vit_error *error) {
    VIT_ENTRY;
    return vit_evaluate_with(m, options, result, NULL, NULL, error);
}

vit_status vit_evaluate_with(const vit_model *m, const vit_evaluate_options *options,
                             vit_evaluation *result, vit_answers_callback *callback, void *context,
                             vit_error *error) {
    const all_answers all = {callback, context};
    const size_t classes = m->file.config.classes;
    const vit_evaluate_options none = {0}, *o = options ? options : &none;
    vit_dataset data;
    vit_training before;
    *result = (vit_evaluation){0};
    if (!vit_config_has_head(&m->file.config) && !vit_config_has_decoder(&m->file.config))
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "the model is a backbone without a head, nothing in it knows the classes "
                        "of %s: vit-train --init gives it a head, labels in words one to a "
                        "CLIP or SigLIP model",
                        o->data ? o->data : "the pictures");
    vit_status status = vit_model_training(&before, m, error);
    if (status == VIT_OK) status = vit_evaluate_open(&data, m, o, before.checksums, error);
    if (status == VIT_OK && (o->near_duplicates || callback) && vit_cluster_rank(o->cluster) == 0 &&
        m->file.scoring == VIT_SCORING_SOFTMAX)
        status = list_copies(&data, parts[o->split], o, before.checksums, error);
    status = vit_cluster_agree(o->cluster, status, error);
    if (status == VIT_OK) {
        result->confusion = vit_alloc(classes, classes * sizeof *result->confusion);
        status = result->confusion
                     ? evaluate(m, &data, &before, o, result, &all, error)
                     : vit_fail_memory(error, "the confusion matrix", classes * classes);
        vit_dataset_close(&data);
    }
    vit_free(before.checksums);
    if (status != VIT_OK) vit_evaluation_clear(result);
    return status;
}

void vit_evaluation_clear(vit_evaluation *result) {
    if (!result) return;
    vit_free(result->confusion);
    vit_free(result->unknown);
    *result = (vit_evaluation){0};
}
