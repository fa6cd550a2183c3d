/* Answers to pictures that a few-shot head has learnt from, each by a head that has not. */
#include "vit/base/error.h"
#include "vit/base/fpmode.h"
#include "vit/base/sys.h"
#include "vit/few_shot.h"
#include "vit/formats/json.h"
#include "vit/reliance.h"
#include <string.h>

/* How the model's head was computed, as its recipe says. */
static vit_few_shot_options options_of(const vit_model *model, size_t folds,
                                       const vit_evaluate_options *o) {
    json_t *recipe = json_loads(vit_model_describe(model).recipe, 0, NULL);
    const char *head = json_string_value(json_object_get(recipe, "head"));
    const json_int_t views = json_integer_value(json_object_get(recipe, "views"));
    const vit_few_shot_options options = {
        .head = head && strcmp(head, "logistic") == 0 ? "logistic" : "ridge",
        .balance = json_is_true(json_object_get(recipe, "balance")),
        .views = views > 0 ? (size_t)views : 1,
        .folds = folds,
        .no_curve = true,
        .class_column = o->class_column,
        .exclude = o->exclude,
        .relabel = o->relabel,
        .tag_branch = o->tag_branch,
        .threads = o->threads,
        .cpu = o->cpu,
        .precision = o->precision,
        .bf16 = o->bf16};
    json_decref(recipe);
    return options;
}

/* Whether the classes are the model's, in the same order. */
static bool has_classes_of(const vit_few_shot *t, const vit_model *model) {
    const size_t classes = vit_model_describe(model).classes;
    if (vit_few_shot_classes(t) != classes) return false;
    for (size_t k = 0; k < classes; k++)
        if (strcmp(vit_few_shot_class(t, k), vit_model_label(model, k)) != 0) return false;
    return true;
}

static vit_status call_back(const vit_few_shot *t, size_t classes, const vit_evaluate_options *o,
                            vit_error *error) {
    float *probabilities = vit_alloc(classes, sizeof *probabilities);
    if (!probabilities) return vit_fail_memory(error, "answers", classes * sizeof *probabilities);
    vit_status status = VIT_OK;
    for (size_t i = 0; i < vit_few_shot_count(t) && status == VIT_OK; i++) {
        const vit_few_shot_picture lesson = vit_few_shot_at(t, i);
        size_t answer;
        status = vit_few_shot_left_out(t, i, probabilities, error);
        if (status != VIT_OK) break;
        vit_top_k(probabilities, classes, 1, &answer);
        const vit_evaluated picture = {.file = lesson.name,
                                       .index = i,
                                       .label = lesson.label,
                                       .answer = answer,
                                       .probabilities = probabilities};
        if (o->picture) o->picture(&picture, o->user);
    }
    vit_free(probabilities);
    return status;
}

vit_status vit_evaluate_left_out(const vit_model *model, const vit_evaluate_options *options,
                                 size_t folds, vit_left_out *out, vit_error *error) {
    VIT_ENTRY;
    static const vit_evaluate_options none;
    const vit_evaluate_options *o = options ? options : &none;
    const vit_few_shot_options how = options_of(model, folds, o);
    vit_few_shot *t = NULL;
    vit_few_shot_result learnt;
    vit_status status = VIT_OK;
    if (!o->data && !o->arrays) return vit_fail(error, VIT_ERROR_ARGUMENT, "no data was named");
    status = vit_few_shot_new(&t, model, &how, error);
    if (status == VIT_OK) status = vit_few_shot_add_data(t, o->data, o->arrays, NULL, NULL, error);
    if (status == VIT_OK && !has_classes_of(t, model))
        status =
            vit_fail(error, VIT_ERROR_MISMATCH,
                     "the classes of %s are not those that the head was computed from: compute "
                     "it again (vit-train --head %s)",
                     o->data ? o->data : "the pictures", how.head);
    if (status == VIT_OK) status = vit_few_shot_learn(t, &learnt, error);
    if (status == VIT_OK) status = call_back(t, vit_model_describe(model).classes, o, error);
    if (status == VIT_OK && out)
        *out = (vit_left_out){.images = vit_few_shot_count(t),
                              .left_out = learnt.left_out,
                              .accuracy = learnt.accuracy,
                              .low = learnt.low,
                              .high = learnt.high};
    vit_few_shot_free(t);
    return status;
}
