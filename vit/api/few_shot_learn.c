/* A head for the pictures of a teaching, what is known of it, and its answers. */
#include "vit/api/few_shot.h"
#include "vit/base/fpmode.h"
#include "vit/base/sys.h"
#include "vit/few_shot/numbers.h"
#include "vit/few_shot/vote.h"
#include "vit/formats/json_out.h"
#include "vit/ops/loss.h"
#include <math.h>
#include <string.h>

static vit_samples samples_of(const vit_few_shot *t) {
    return (vit_samples){.features = t->features,
                         .labels = t->labels,
                         .pictures = t->count,
                         .views = t->views,
                         .width = t->width,
                         .classes = t->class_count,
                         .groups = t->copies.extra > 0 ? t->copies.group : NULL,
                         .balance = t->balance,
                         .goes_on = t->goes_on,
                         .user = t->user};
}

vit_status vit_few_shot_needs_head(const vit_few_shot *t, vit_error *error) {
    if (t->has_learnt) return VIT_OK;
    return vit_fail(error, VIT_ERROR_ARGUMENT, "nothing was learnt yet: vit_few_shot_learn first");
}

/* ---- learning ---- */

static vit_status check_classes(const vit_few_shot *t, vit_error *error) {
    size_t present = 0;
    for (size_t k = 0; k < t->class_count && (present < 2 || k < t->taken); k++) {
        size_t i = 0;
        while (i < t->count && t->labels[i] != k) i++;
        present += i < t->count;
        if (i == t->count && k < t->taken)
            return vit_fail(error, VIT_ERROR_ARGUMENT,
                            "no pictures of %s: the head that was loaded knows the class, but its "
                            "pictures are in no model file; to learn anew, add some of each class",
                            t->classes[k]);
    }
    if (present >= 2) return VIT_OK;
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    "pictures of %zu class%s, expected two or more to tell apart", present,
                    present == 1 ? "" : "es");
}

static const char *class_name(const vit_few_shot *t, size_t label) {
    return t->classes[label];
}

static void write_suspect(vit_json_out *json, const vit_few_shot *t, const vit_suspect *s) {
    vit_json_open(json, NULL, '{');
    vit_json_count(json, "picture", s->index);
    vit_json_text(json, "file", t->pictures[s->index].name);
    vit_json_text(json, "label", class_name(t, t->labels[s->index]));
    vit_json_text(json, "answer", class_name(t, s->answer));
    vit_json_number(json, "probability", s->probability);
    vit_json_number(json, "label_probability", s->said);
    vit_json_close(json, '}');
}

static void write_copy(vit_json_out *json, const vit_few_shot *t, const vit_copy *copy) {
    const size_t both[] = {copy->first, copy->second};
    vit_json_open(json, NULL, '{');
    vit_json_open(json, "pictures", '[');
    for (size_t i = 0; i < 2; i++) vit_json_count(json, NULL, both[i]);
    vit_json_close(json, ']');
    vit_json_open(json, "files", '[');
    for (size_t i = 0; i < 2; i++) vit_json_text(json, NULL, t->pictures[both[i]].name);
    vit_json_close(json, ']');
    vit_json_open(json, "labels", '[');
    for (size_t i = 0; i < 2; i++) vit_json_text(json, NULL, class_name(t, t->labels[both[i]]));
    vit_json_close(json, ']');
    vit_json_text(json, "alike", vit_alike_name(copy->alike));
    vit_json_close(json, '}');
}

static char *write_json(const vit_few_shot *t, const vit_few_shot_result *l) {
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "head", t->solver->name);
    vit_json_texts(&json, "labels", (const char *const *)t->classes, t->class_count);
    vit_json_count(&json, "pictures", l->pictures);
    vit_json_count(&json, "views", t->views);
    vit_json_text(&json, "left_out", l->left_out);
    vit_json_count(&json, "right", l->right);
    vit_json_number(&json, "accuracy", l->accuracy);
    vit_json_numbers(&json, "interval", (double[]){l->low, l->high}, 2);
    vit_json_number(&json, "strength", l->strength);
    vit_json_number(&json, "temperature", l->temperature);
    vit_json_number(&json, "threshold", l->threshold);
    vit_json_open(&json, "curve", '[');
    for (size_t i = 0; i < l->points; i++) {
        const vit_learning_point *p = &l->curve[i];
        vit_json_open(&json, NULL, '{');
        vit_json_count(&json, "pictures", p->pictures);
        vit_json_number(&json, "accuracy", p->accuracy);
        vit_json_numbers(&json, "range", (double[]){p->lowest, p->highest}, 2);
        vit_json_close(&json, '}');
    }
    vit_json_close(&json, ']');
    vit_json_number(&json, "with_twice_as_many", l->doubled);
    vit_json_open(&json, "suspects", '[');
    for (size_t i = 0; i < l->suspects; i++) write_suspect(&json, t, &l->suspect[i]);
    vit_json_close(&json, ']');
    vit_json_open(&json, "confused", '[');
    for (size_t i = 0; i < 2 && l->confusions > 0; i++)
        vit_json_text(&json, NULL, class_name(t, l->confused[i]));
    vit_json_close(&json, ']');
    vit_json_count(&json, "confusions", l->confusions);
    vit_json_count(&json, "copies", l->copies);
    vit_json_count(&json, "contradictions", l->contradictions);
    vit_json_open(&json, "copy_pairs", '[');
    for (size_t i = 0; i < t->copies.pair_count; i++) write_copy(&json, t, &t->copies.pairs[i]);
    vit_json_close(&json, ']');
    vit_json_close(&json, '}');
    return vit_json_take(&json);
}

/* t->copies = those among the pictures that have a likeness. */
static vit_status find_copies(vit_few_shot *t, vit_error *error) {
    vit_likeness *all = vit_alloc(t->count, sizeof *all);
    size_t compared = 0;
    vit_copies_free(&t->copies);
    if (!all) return vit_fail_memory(error, "copies", t->count * sizeof *all);
    for (size_t i = 0; i < t->count; i++) {
        all[i].is_flat = true; /* not compared */
        if (t->pictures[i].likeness) all[i] = *t->pictures[i].likeness;
        compared += t->pictures[i].likeness != NULL;
    }
    vit_status status = VIT_OK;
    if (compared > 1)
        status = vit_copies_find(&t->copies, all, t->count, t->session->threads, error);
    if (status == VIT_OK && compared > 1) vit_copies_forget_scenes(&t->copies);
    vit_free(all);
    return status;
}

static void count_copies(vit_few_shot_result *l, const vit_few_shot *t) {
    l->copies = t->copies.extra;
    for (size_t i = 0; i < t->copies.pair_count; i++) {
        const vit_copy *c = &t->copies.pairs[i];
        l->contradictions += t->labels[c->first] != t->labels[c->second];
    }
}

static vit_status learn(vit_few_shot *t, vit_solution *solution, vit_few_shot_result *l,
                        vit_error *error) {
    vit_status status = find_copies(t, error);
    if (status != VIT_OK) return status;
    const vit_samples samples = samples_of(t);
    const vit_session *s = t->session;
    status = vit_solve(solution, t->solver->solve, &samples, s->kernels, s->threads, error);
    if (status == VIT_OK && t->folds > 0)
        status = vit_solve_folds(solution->without, t->solver->solve, &samples, t->folds,
                                 s->kernels, s->threads, error);
    *l = (vit_few_shot_result){.classes = t->class_count,
                               .left_out = t->folds > 0 ? "a fold at a time" : t->solver->left_out,
                               .strength = solution->strength,
                               .doubled = NAN};
    count_copies(l, t);
    if (status == VIT_OK)
        status = vit_calibrate(&l->temperature, &l->threshold, solution->without, &samples, error);
    if (status == VIT_OK) status = vit_count_answers(l, solution->without, &samples, error);
    if (status == VIT_OK && !t->no_curve)
        status = vit_measure_curve(l, &samples, s->kernels, s->threads, error);
    return status;
}

vit_status vit_few_shot_know(vit_few_shot *t, const vit_few_shot_result *learnt, vit_error *error) {
    char *json = write_json(t, learnt);
    if (!json) return vit_fail_memory(error, "a description", 0);
    vit_free(t->json);
    t->learnt = *learnt;
    t->json = json;
    t->learnt_classes = t->class_count;
    t->has_learnt = true;
    return VIT_OK;
}

vit_status vit_few_shot_learn(vit_few_shot *t, vit_few_shot_result *out, vit_error *error) {
    VIT_ENTRY;
    vit_solution solution = {0};
    vit_few_shot_result learnt;
    vit_status status = t->keep_lessons ? vit_few_shot_sort(t, error) : VIT_OK;
    if (status == VIT_OK) status = check_classes(t, error);
    if (status == VIT_OK) status = learn(t, &solution, &learnt, error);
    if (status == VIT_OK) status = vit_few_shot_know(t, &learnt, error);
    if (status == VIT_OK) {
        vit_solution_free(&t->solution);
        t->solution = solution;
        if (out) *out = learnt;
    } else {
        vit_solution_free(&solution);
    }
    return status;
}

size_t vit_few_shot_learnt_classes(const vit_few_shot *t) {
    return t->has_learnt ? t->learnt_classes : 0;
}

vit_near_duplicate vit_few_shot_duplicate(const vit_few_shot *t, size_t index) {
    if (index >= t->copies.pair_count) return (vit_near_duplicate){0};
    const vit_copy *c = &t->copies.pairs[index];
    return (vit_near_duplicate){c->first, c->second, vit_alike_name(c->alike)};
}

const char *vit_few_shot_json(const vit_few_shot *t) {
    return t->json;
}

vit_status vit_few_shot_left_out(const vit_few_shot *t, size_t index, float *probabilities,
                                 vit_error *error) {
    VIT_ENTRY;
    const size_t classes = t->learnt_classes;
    const vit_status status = vit_few_shot_needs_head(t, error);
    if (status != VIT_OK) return status;
    if (!t->solution.without || t->learnt.pictures != t->count || index >= t->count)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "picture %zu of %zu was not left out when the head was computed, which was "
                        "from %zu pictures: vit_few_shot_learn again",
                        index, t->count, t->learnt.pictures);
    vit_softmax_at(probabilities, t->solution.without + index * classes, classes,
                   t->learnt.temperature > 0 ? t->learnt.temperature : 1);
    return VIT_OK;
}

/* ---- answers ---- */

void vit_few_shot_logits(const vit_few_shot *t, const float *features, float *logits) {
    const vit_linear_head *head = &t->solution.head;
    for (size_t k = 0; k < t->learnt_classes; k++) {
        double z = head->bias[k];
        for (size_t j = 0; j < t->width; j++)
            z += head->weights[k * t->width + j] * (double)features[j];
        logits[k] = (float)z;
    }
}

vit_status vit_few_shot_units(vit_few_shot *t, vit_error *error) {
    if (t->units) return VIT_OK;
    t->units = vit_alloc_unset(t->count, t->width * sizeof *t->units);
    if (!t->units) return vit_fail_memory(error, "features", t->count * t->width * sizeof(float));
    for (size_t i = 0; i < t->count; i++)
        memcpy(t->units + i * t->width, t->features + i * t->views * t->width,
               t->width * sizeof *t->units);
    vit_unit_rows(t->units, t->units, t->count, t->width, t->session->threads);
    return VIT_OK;
}

static vit_status find(vit_few_shot *t, const float *features, vit_few_shot_neighbour *neighbours,
                       size_t k, vit_error *error) {
    vit_status status = VIT_OK;
    if (k > t->count)
        status = vit_fail(error, VIT_ERROR_ARGUMENT,
                          "%zu neighbours, but there are %zu training pictures", k, t->count);
    if (status == VIT_OK) status = vit_few_shot_units(t, error);
    vit_near *near = vit_alloc(k, sizeof *near);
    float *unit = vit_alloc(t->width, sizeof *unit);
    if (status == VIT_OK && (!near || !unit))
        status = vit_fail_memory(error, "neighbours", k * sizeof *near);
    if (status == VIT_OK && k > 0) {
        vit_unit_rows(unit, features, 1, t->width, 1);
        status = vit_find_nearest(near, k, unit, 1, t->units, t->count, t->width,
                                  t->session->kernels, t->session->threads, error);
        for (size_t i = 0; i < k && status == VIT_OK; i++)
            neighbours[i] = (vit_few_shot_neighbour){near[i].index, (double)near[i].cosine};
    }
    vit_free(near);
    vit_free(unit);
    return status;
}

vit_status vit_few_shot_nearest(vit_few_shot *t, const float *features,
                                vit_few_shot_neighbour *neighbours, size_t k, vit_error *error) {
    VIT_ENTRY;
    if (vit_config_embedding(&t->backbone->file.config) != t->width)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "the backbone projects its features, which a teaching does not");
    return find(t, features, neighbours, k, error);
}

vit_status vit_few_shot_answer(vit_few_shot *t, const vit_picture *picture, float *probabilities,
                               vit_few_shot_neighbour *neighbours, size_t k, const char **warning,
                               vit_error *error) {
    VIT_ENTRY;
    vit_image ready = {0};
    float *features = vit_alloc(t->width, sizeof *features);
    vit_status status =
        features ? vit_few_shot_needs_head(t, error) : vit_fail_memory(error, "features", t->width);
    if (status == VIT_OK)
        status = vit_model_prepare(&ready, t->backbone, t->session->kernels, picture,
                                   picture->bytes ? t->most_pixels : 0, error);
    if (status == VIT_OK) {
        const vit_image *one = &ready;
        status = vit_few_shot_embed(t, &one, 1, 0, 1, features, error);
        if (warning) *warning = ready.warning;
    }
    if (status == VIT_OK) {
        vit_few_shot_logits(t, features, probabilities);
        vit_softmax_at(probabilities, probabilities, t->learnt_classes, t->learnt.temperature);
    }
    if (status == VIT_OK && k > 0) status = find(t, features, neighbours, k, error);
    vit_image_free(&ready);
    vit_free(features);
    return status;
}
