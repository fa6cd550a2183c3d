/* vit_evaluate_labels: how good a model's scores of several classes a picture are. */
#include "vit/api/internal.h"
#include "vit/base/fpmode.h"
#include "vit/base/sys.h"
#include "vit/labels.h"
#include "vit/train/measure/labels.h"

#include <stdio.h>

#define THRESHOLD .5

/* The scores of one class, and which pictures are of it. */
static void score_class(vit_label_score *out, vit_scored *scored, const vit_answers *a,
                        size_t class) {
    const vit_records *r = a->records;
    *out = (vit_label_score){0};
    for (size_t i = 0; i < a->count; i++) {
        const vit_ids list = vit_texts_get(&r->target, a->numbers ? a->numbers[i] : i);
        vit_scored *s = &scored[i];
        s->score = a->logits[i * a->classes + class];
        s->is_positive = false;
        for (size_t k = 0; k < list.count; k++) s->is_positive |= list.ids[k] == class;
        /* the sigmoid is above a half */
        const bool is_answer = s->score > 0;
        out->images += s->is_positive;
        out->answered += is_answer;
        out->right += is_answer && s->is_positive;
    }
    out->average_precision = vit_average_precision(scored, a->count);
}

/* A vit_answers_callback; context: the evaluation. */
static vit_status score_classes(const vit_answers *a, void *context, vit_error *error) {
    vit_label_evaluation *result = context;
    size_t with_pictures = 0, images = 0, answered = 0, right = 0;
    vit_scored *scored = vit_alloc(a->count, sizeof *scored);
    result->scores = vit_alloc(a->classes, sizeof *result->scores);
    if (!scored || !result->scores) {
        vit_free(scored);
        return vit_fail_memory(error, "scores", a->count * sizeof *scored);
    }
    for (size_t i = 0; i < a->classes; i++) {
        vit_label_score *s = &result->scores[i];
        score_class(s, scored, a, i);
        images += s->images;
        answered += s->answered;
        right += s->right;
        result->macro_f1 += vit_f1(s->right, s->answered, s->images) / (double)a->classes;
        if (s->images == 0) continue;
        with_pictures++;
        result->mean_average_precision += s->average_precision;
    }
    vit_free(scored);
    result->classes = a->classes;
    result->micro_f1 = vit_f1(right, answered, images);
    result->mean_average_precision /= (double)with_pictures;
    return VIT_OK;
}

vit_status vit_evaluate_labels(const vit_model *m, const vit_evaluate_options *options,
                               vit_label_evaluation *result, vit_error *error) {
    VIT_ENTRY;
    vit_evaluate_options own = options ? *options : (vit_evaluate_options){0};
    vit_evaluation whole;
    own.picture = NULL;
    own.cluster = NULL; /* every rank answers all pictures */
    *result = (vit_label_evaluation){.threshold = THRESHOLD};
    if (m->file.scoring != VIT_SCORING_SIGMOID)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "the model's scores are \"%s\", not those of any number of classes a "
                        "picture (sigmoid)",
                        vit_scoring_name(m->file.scoring));
    const vit_status status = vit_evaluate_with(m, &own, &whole, score_classes, result, error);
    if (status != VIT_OK) {
        vit_label_evaluation_clear(result);
        return status;
    }
    snprintf(result->data, sizeof result->data, "%s", whole.data);
    result->which = whole.which;
    result->images = whole.images;
    result->exact = whole.correct;
    result->loss = whole.loss;
    result->unknown_images = whole.unknown_images;
    result->seconds = whole.seconds;
    vit_evaluation_clear(&whole);
    return VIT_OK;
}

void vit_label_evaluation_clear(vit_label_evaluation *result) {
    if (!result) return;
    vit_free(result->scores);
    *result = (vit_label_evaluation){0};
}
