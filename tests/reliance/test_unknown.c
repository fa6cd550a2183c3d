/* Out-of-distribution scores against NumPy's (tests/fixtures/make_unknown.py), and the rule. */
#include "tests/support/fixture.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/random.h"
#include "vit/base/sys.h"
#include "vit/reliance/conformal.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- against NumPy ---- */

static void read_numbers(double *out, const json_t *list) {
    for (size_t i = 0; i < json_array_size(list); i++)
        out[i] = json_number_value(json_array_get(list, i));
}

/* The rows of a list, one after the other; freed by free. */
static float *read_rows(const json_t *rows, size_t width) {
    float *out = calloc(json_array_size(rows) * width, sizeof *out);
    double row[64];
    for (size_t i = 0; i < json_array_size(rows); i++) {
        read_numbers(row, json_array_get(rows, i));
        for (size_t j = 0; j < width; j++) out[i * width + j] = (float)row[j];
    }
    return out;
}

static void check_figures(const json_t *json, const char *key, const double *values, size_t inside,
                          size_t count) {
    char name[40];
    double want[2];
    snprintf(name, sizeof name, "%s_figures", key);
    read_numbers(want, json_object_get(json, name));
    const vit_ood_figures f = vit_ood_measure(values, inside, values + inside, count - inside);
    assert_true(fabs(f.auroc - want[0]) < 1e-12);
    assert_true(fabs(f.fpr95 - want[1]) < 1e-12);
}

static vit_typical *typical_of(const json_t *json, size_t width) {
    const json_t *rows = json_object_get(json, "train"), *labels = json_object_get(json, "labels");
    float *train = read_rows(rows, width);
    vit_error error;
    vit_typical_sample sample = {.width = width, .error = &error};
    vit_typical *t;
    for (size_t i = 0; i < json_array_size(rows); i++)
        vit_typical_add(&sample, train + i * width,
                        (size_t)json_integer_value(json_array_get(labels, i)));
    assert_int_equal(vit_typical_new(&t, &sample, "train", &error), VIT_OK);
    vit_typical_sample_free(&sample);
    free(train);
    return t;
}

static void check_case(const json_t *json) {
    const json_t *inside = json_object_get(json, "inside"),
                 *outliers = json_object_get(json, "outliers");
    const size_t width = json_array_size(json_array_get(inside, 0));
    const size_t n = json_array_size(inside), all = n + json_array_size(outliers);
    float *features[2] = {read_rows(inside, width), read_rows(outliers, width)};
    double knn[64], mahalanobis[64], want[64], scratch[128];
    vit_typical *t = typical_of(json, width);
    assert_int_equal(t->neighbours, json_integer_value(json_object_get(json, "neighbours")));
    assert_true(vit_typical_scratch(t) <= 128 && all <= 64);
    for (size_t i = 0; i < all; i++) {
        const float *x = i < n ? features[0] + i * width : features[1] + (i - n) * width;
        knn[i] = vit_typical_knn(t, x, scratch);
        mahalanobis[i] = vit_typical_mahalanobis(t, x, scratch);
    }
    read_numbers(want, json_object_get(json, "knn"));
    for (size_t i = 0; i < all; i++) assert_true(fabs(knn[i] - want[i]) < 1e-12);
    check_figures(json, "knn", knn, n, all);
    read_numbers(want, json_object_get(json, "mahalanobis"));
    for (size_t i = 0; i < all; i++)
        assert_true(fabs(mahalanobis[i] - want[i]) < 1e-6 * (1 + want[i]));
    check_figures(json, "mahalanobis", mahalanobis, n, all);
    read_numbers(want, json_object_get(json, "ties"));
    check_figures(json, "ties", want, n, all);
    vit_typical_free(t);
    free(features[0]);
    free(features[1]);
}

static void test_scores_are_those_of_numpy(void **state) {
    json_t *file = read_json("tests/fixtures/unknown.json");
    const json_t *cases = json_object_get(file, "cases");
    assert_int_equal(json_array_size(cases), 3);
    for (size_t i = 0; i < 3; i++) check_case(json_array_get(cases, i));
    json_decref(file);
}

/* A sample of more pictures than are kept is even, and the same each time. */
static void test_large_data_are_sampled(void **state) {
    enum { SEEN = 3 * VIT_TYPICAL_MOST };
    vit_error error;
    vit_typical_sample s = {.width = 1, .error = &error}, again = {.width = 1, .error = &error};
    size_t late = 0;
    for (size_t i = 0; i < SEEN; i++) {
        const float number = (float)i;
        vit_typical_add(&s, &number, 0);
        vit_typical_add(&again, &number, 0);
    }
    assert_in_range(s.count, VIT_TYPICAL_MOST / 2, VIT_TYPICAL_MOST);
    for (size_t i = 0; i < s.count; i++) late += s.features[i] >= SEEN / 2;
    assert_in_range(late, s.count * 45 / 100, s.count * 55 / 100);
    assert_int_equal(again.count, s.count);
    assert_memory_equal(again.features, s.features, s.count * sizeof *s.features);
    vit_typical_sample_free(&s);
    vit_typical_sample_free(&again);
}

/* ---- a model ---- */

enum { PICTURES = 40, SIDE = 28 };
static uint8_t images[3 * PICTURES][SIDE * SIDE];

/* Drawn digits, and noise as outliers. */
static vit_calibration *make(vit_model **model, vit_session **session) {
    static int64_t labels[3 * PICTURES];
    vit_error error;
    vit_calibration *c;
    for (uint32_t i = 0; i < 2 * PICTURES; i++) labels[i] = vit_draw_digit(images[i], 1, i);
    for (size_t i = 0; i < PICTURES * SIDE * SIDE; i++)
        images[2 * PICTURES + i / (SIDE * SIDE)][i % (SIDE * SIDE)] =
            (uint8_t)(i * 2654435761U >> 16);
    const vit_array_part train = {images[0], labels, PICTURES},
                         test = {images[PICTURES], labels + PICTURES, PICTURES},
                         noise = {images[2 * PICTURES], labels + 2 * PICTURES, PICTURES};
    const vit_arrays data = {
        .height = SIDE, .width = SIDE, .channels = 1, .classes = 10, .train = train, .test = test};
    vit_arrays strange = data;
    strange.test = noise;
    strange.train.count = 0;
    const vit_train_options training = {
        .arrays = &data, .data = "drawn", .preset = "digits", .steps = 1, .out = "m.safetensors"};
    const vit_evaluate_options pictures = {.arrays = &data, .data = "drawn"},
                               outliers = {.arrays = &strange, .data = "noise"};
    assert_int_equal(vit_train(model, &training, &error), VIT_OK);
    assert_int_equal(vit_session_new(session, *model, NULL, &error), VIT_OK);
    assert_int_equal(vit_calibration_new(&c, *model, &pictures, &error), VIT_OK);
    assert_int_equal(vit_calibration_ood(c).chosen, VIT_OOD_ENERGY);
    assert_true(isnan(vit_calibration_ood(c).figures[VIT_OOD_ENERGY].auroc));
    assert_int_equal(vit_calibration_compare(c, *model, &pictures, &pictures, &outliers, &error),
                     VIT_OK);
    return c;
}

static vit_unknown test(const vit_calibration *c, const vit_model *model, vit_session *session,
                        double rate, const uint8_t *pixels) {
    const vit_unknown_options options = {.rate = rate, .score = vit_given(VIT_OOD_KNN)};
    float logits[10], *features = calloc(vit_model_describe(model).features, sizeof *features);
    vit_unknown_rule *rule;
    vit_unknown answer;
    vit_error error;
    assert_int_equal(vit_unknown_rule_new(&rule, c, &options, &error), VIT_OK);
    assert_int_equal(vit_unknown_rule_score(rule), VIT_OOD_KNN);
    assert_int_equal(vit_embed_prepared(session, pixels, 1, logits, features, &error), VIT_OK);
    assert_int_equal(vit_unknown_test(rule, model, logits, features, &answer, &error), VIT_OK);
    vit_unknown_rule_free(rule);
    free(features);
    return answer;
}

/* A calibration picture has the rank of its own score; the file gives the same answers. */
static void test_p_values_are_ranks(void **state) {
    vit_model *model;
    vit_session *session;
    vit_calibration *c = make(&model, &session), *read;
    const vit_ood_info info = vit_calibration_ood(c);
    vit_error error;
    size_t unknown = 0;
    assert_int_equal(info.images, PICTURES);
    assert_int_equal(info.training_images, PICTURES);
    assert_string_equal(info.outliers, "noise");
    assert_true(info.figures[VIT_OOD_KNN].auroc > .9);
    for (vit_ood_score s = 0; s < VIT_OOD_COUNT; s++)
        assert_true(info.figures[info.chosen].auroc >= info.figures[s].auroc);
    assert_int_equal(vit_calibration_save(c, "c", &error), VIT_OK);
    assert_int_equal(vit_calibration_load(&read, "c", model, session, &error), VIT_OK);
    for (size_t i = PICTURES; i < 2 * PICTURES; i++) {
        const vit_unknown a = test(c, model, session, .1, images[i]),
                          b = test(read, model, session, .1, images[i]);
        assert_memory_equal(&a, &b, sizeof a);
        assert_true(fabs(a.p_value * 41 - rint(a.p_value * 41)) < 1e-9);
        assert_true(a.unknown == (a.p_value <= .1 + 1e-12));
        unknown += a.unknown;
    }
    assert_in_range(unknown, 1, 4); /* ranks 2 to 4 of 41; it counts itself */
    assert_true(test(c, model, session, .1, images[2 * PICTURES]).unknown);
    vit_calibration_free(read);
    vit_calibration_free(c);
    vit_session_free(session);
    vit_model_free(model);
}

static void test_what_cannot_be_had_is_refused(void **state) {
    vit_model *model;
    vit_session *session;
    vit_calibration *c = make(&model, &session);
    vit_unknown_rule *rule;
    vit_error error;
    vit_ood_clear(c);
    c->ood_images = PICTURES;
    const vit_unknown_options few = {.rate = .01}, none = {0},
                              absent = {.rate = .1, .score = vit_given(VIT_OOD_KNN)};
    assert_int_equal(vit_unknown_rule_new(&rule, c, &few, &error), VIT_ERROR_ARGUMENT);
    assert_says(&error, VIT_ERROR_ARGUMENT, "at least 99 calibration pictures", "there are 40");
    assert_int_equal(vit_unknown_rule_new(&rule, c, &none, &error), VIT_ERROR_ARGUMENT);
    assert_int_equal(vit_unknown_rule_new(&rule, c, &absent, &error), VIT_ERROR_ARGUMENT);
    assert_says(&error, VIT_ERROR_ARGUMENT, "score knn", "--training");
    vit_calibration_free(c);
    vit_session_free(session);
    vit_model_free(model);
}

/* ---- drift ---- */

/* While scores are drawn alike the martingale stays below 100, nearly always; of another
 * distribution it passes 100 soon, after many pictures as after few. */
static void test_drift_is_found(void **state) {
    enum { CALIBRATION = 2000, RUNS = 20, ALIKE = 3000 };
    static double scores[CALIBRATION];
    vit_error error;
    size_t alarms = 0;
    for (uint32_t run = 0; run < RUNS; run++) {
        vit_random random = vit_random_start(65, VIT_RANDOM_TEST, 0, run);
        vit_drift *d;
        size_t delay = 0;
        double most = 0;
        for (size_t i = 0; i < CALIBRATION; i++)
            scores[i] = floor(50 * vit_random_uniform(&random));
        assert_int_equal(vit_drift_new(&d, scores, CALIBRATION, &error), VIT_OK);
        assert_true(vit_drift_value(d) == 1);
        for (size_t i = 0; i < ALIKE; i++)
            most = fmax(most, vit_drift_add(d, floor(50 * vit_random_uniform(&random))));
        alarms += most >= 100;
        while (vit_drift_value(d) < 100 && delay < 1000) {
            vit_drift_add(d, floor(50 * sqrt(vit_random_uniform(&random))));
            delay++;
        }
        assert_in_range(delay, 5, 500);
        vit_drift_free(d);
    }
    assert_in_range(alarms, 0, 1);
    assert_int_equal(vit_drift_new(&(vit_drift *){NULL}, scores, 0, &error), VIT_ERROR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scores_are_those_of_numpy),
        cmocka_unit_test(test_large_data_are_sampled),
        IN_MEMORY(test_p_values_are_ranks),
        cmocka_unit_test(test_drift_is_found),
        IN_MEMORY(test_what_cannot_be_had_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
