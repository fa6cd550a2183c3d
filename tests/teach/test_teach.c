/* Few-shot heads against scikit-learn (tests/fixtures/make_heads.py), and what they are made of
 * against its definition. */
#include "tests/support/check.h"
#include "tests/support/fixture.h"
#include "tests/support/unit.h"
#include "vit/base/math.h"
#include "vit/few_shot/numbers.h"
#include "vit/few_shot/vote.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- heads ---- */

typedef struct head_case {
    json_t *json;
    vit_samples samples;
    float *features;
    size_t *labels;
} head_case;

static double number(const json_t *list, size_t i) {
    return json_number_value(json_array_get(list, i));
}

static head_case case_of(json_t *json) {
    const json_t *features = json_object_get(json, "features");
    head_case c = {.json = json};
    vit_samples *s = &c.samples;
    s->pictures = (size_t)json_integer_value(json_object_get(json, "pictures"));
    s->width = (size_t)json_integer_value(json_object_get(json, "width"));
    s->classes = (size_t)json_integer_value(json_object_get(json, "classes"));
    s->views = (size_t)json_integer_value(json_object_get(json, "views"));
    s->balance = json_is_true(json_object_get(json, "balance"));
    c.features = check_floats(s->pictures * s->views * s->width);
    c.labels = calloc(s->pictures, sizeof *c.labels);
    for (size_t i = 0; i < s->pictures * s->views; i++)
        for (size_t j = 0; j < s->width; j++)
            c.features[i * s->width + j] = (float)number(json_array_get(features, i), j);
    for (size_t i = 0; i < s->pictures; i++)
        c.labels[i] = (size_t)number(json_object_get(json, "labels"), i);
    s->features = c.features;
    s->labels = c.labels;
    return c;
}

static void free_case(head_case *c) {
    free(c->features);
    free(c->labels);
}

static vit_solution solve(const vit_samples *s, vit_solver_function *solver, int threads) {
    vit_solution out;
    vit_error error = {0};
    if (vit_solve(&out, solver, s, vit_kernels_choose(VIT_CPU_AVX512BF16), threads, &error) !=
        VIT_OK)
        fail_msg("%s", error.message);
    return out;
}

/* The largest difference of the head's logits, or with `mean` of what they are more than their
 * mean, from a list of lists. */
static double difference(const head_case *c, const vit_linear_head *head, const json_t *want,
                         bool mean) {
    const vit_samples *s = &c->samples;
    double worst = 0, z[16];
    for (size_t i = 0; i < s->pictures; i++) {
        double sum = 0;
        for (size_t k = 0; k < s->classes; k++) {
            z[k] = head->bias[k];
            for (size_t j = 0; j < s->width; j++)
                z[k] += head->weights[k * s->width + j] *
                        (double)s->features[i * s->views * s->width + j];
            sum += z[k] / (double)s->classes;
        }
        for (size_t k = 0; k < s->classes; k++)
            worst = fmax(worst, fabs(z[k] - (mean ? sum : 0) - number(json_array_get(want, i), k)));
    }
    return worst;
}

static void ridge_is_scikit_learns(void **unused) {
    json_t *file = read_json("tests/fixtures/heads.json");
    json_t *cases = json_object_get(file, "cases");
    for (size_t n = 0; n < json_array_size(cases); n++) {
        head_case c = case_of(json_array_get(cases, n));
        const json_t *want = json_object_get(c.json, "left_out");
        vit_solution s = solve(&c.samples, vit_solve_ridge, 2);
        const double strength = json_number_value(json_object_get(c.json, "strength"));
        assert_true(fabs(s.strength / strength - 1) < 1e-9);
        assert_true(difference(&c, &s.head, json_object_get(c.json, "ridge"), false) < 1e-5);
        for (size_t i = 0; i < c.samples.pictures; i++)
            for (size_t k = 0; k < c.samples.classes; k++)
                assert_true(fabs((double)s.without[i * c.samples.classes + k] -
                                 number(json_array_get(want, i), k)) < 1e-5);
        vit_solution_free(&s);
        free_case(&c);
    }
    json_decref(file);
}

static void logistic_is_scikit_learns(void **unused) {
    json_t *file = read_json("tests/fixtures/heads.json");
    json_t *cases = json_object_get(file, "cases");
    for (size_t n = 0; n < json_array_size(cases); n++) {
        char name[32];
        head_case c = case_of(json_array_get(cases, n));
        vit_solution s = solve(&c.samples, vit_solve_logistic, 2);
        snprintf(name, sizeof name, "%g", s.strength);
        const json_t *want = json_object_get(json_object_get(c.json, "logistic"), name);
        assert_non_null(want);
        assert_true(difference(&c, &s.head, want, true) < 1e-5);
        vit_solution_free(&s);
        free_case(&c);
    }
    json_decref(file);
}

/* Random features of `pictures`, whose labels they have something to do with. */
static head_case drawn(size_t pictures, size_t views, size_t width, size_t classes) {
    head_case c = {0};
    vit_random r = check_random(11);
    c.features = check_floats(pictures * views * width);
    c.labels = calloc(pictures, sizeof *c.labels);
    check_fill(c.features, pictures * views * width, 1, &r);
    for (size_t i = 0; i < pictures; i++) {
        c.labels[i] = i % classes;
        for (size_t v = 0; v < views; v++) c.features[(i * views + v) * width + i % classes] += .7f;
    }
    c.samples = (vit_samples){.features = c.features,
                              .labels = c.labels,
                              .pictures = pictures,
                              .views = views,
                              .width = width,
                              .classes = classes};
    return c;
}

/* The picture that is left out has no part in its own answer, nor have its copies: nothing changes
 * in that when its features, all views of them, are others. Only the standard deviations and the
 * choice of the strength see it; so the definition is computed for the strength that was chosen. */
static void compare_left_out(const uint32_t *groups) {
    head_case c = drawn(30, 3, 8, 3);
    c.samples.groups = groups;
    vit_solution all = solve(&c.samples, vit_solve_ridge, 2);
    vit_spectrum s;
    vit_error error;
    assert_int_equal(
        vit_spectrum_new(&s, &c.samples, vit_kernels_choose(VIT_CPU_SCALAR), 1, &error), VIT_OK);
    for (size_t out = 0; out < 30; out += 7) { /* normal equations without the picture */
        double a[9 * 9] = {0}, b[9 * 3] = {0};
        for (size_t row = 0; row < 90; row++) {
            if (groups ? groups[row / 3] == groups[out] : row / 3 == out) continue;
            double x[9];
            for (size_t j = 0; j < 8; j++) x[j] = (double)s.standard[row * 8 + j];
            x[8] = 1;
            for (size_t i = 0; i < 9; i++) {
                for (size_t j = 0; j < 9; j++) a[i * 9 + j] += x[i] * x[j] / 3;
                for (size_t k = 0; k < 3; k++)
                    b[i * 3 + k] += x[i] * (c.labels[row / 3] == k ? 1 : -1) / 3;
            }
        }
        for (size_t i = 0; i < 8; i++) a[i * 9 + i] += all.strength;
        assert_true(vit_matrix_solve(a, 9, b, 3));
        for (size_t k = 0; k < 3; k++) {
            double z = b[8 * 3 + k];
            for (size_t j = 0; j < 8; j++) z += b[j * 3 + k] * (double)s.standard[out * 3 * 8 + j];
            assert_true(fabs(z - (double)all.without[out * 3 + k]) < 1e-6);
        }
    }
    vit_spectrum_free(&s);
    vit_solution_free(&all);
    free_case(&c);
}

static void a_picture_is_left_out_with_its_views(void **unused) {
    uint32_t groups[30];
    compare_left_out(NULL);
    for (uint32_t i = 0; i < 30; i++) groups[i] = i < 24 ? i % 6 + i / 12 * 12 : i;
    compare_left_out(groups);
}

/* A fold is answered as a head of the other pictures answers, and a copy is in that of the first.
 */
static void a_fold_is_answered_by_the_others(void **unused) {
    enum { PICTURES = 12, WIDTH = 5, FOLDS = 3 };
    head_case c = drawn(PICTURES, 1, WIDTH, 2);
    uint32_t groups[PICTURES], at = 0;
    uint8_t folds[PICTURES];
    float without[PICTURES * 2];
    vit_error error;
    for (uint32_t i = 0; i < PICTURES; i++) groups[i] = i == PICTURES - 1 ? 2 : i;
    c.samples.groups = groups;
    assert_int_equal(vit_deal_folds(folds, &c.samples, FOLDS, &error), VIT_OK);
    assert_int_equal(folds[PICTURES - 1], folds[2]);
    assert_int_equal(vit_solve_folds(without, vit_solve_ridge, &c.samples, FOLDS,
                                     vit_kernels_choose(VIT_CPU_AVX512BF16), 2, &error),
                     VIT_OK);
    head_case rest = drawn(PICTURES, 1, WIDTH, 2); /* those of the folds other than the first's */
    uint32_t places[PICTURES] = {0}, others[PICTURES];
    for (uint32_t i = 0; i < PICTURES; i++) {
        if (folds[i] == folds[0]) continue;
        memcpy(rest.features + at * WIDTH, c.features + i * WIDTH, WIDTH * sizeof(float));
        rest.labels[at] = c.labels[i];
        places[i] = at;
        others[at++] = places[groups[i]];
    }
    rest.samples.pictures = at;
    rest.samples.groups = others;
    vit_solution s = solve(&rest.samples, vit_solve_ridge, 1);
    for (size_t i = 0; i < PICTURES; i++)
        for (size_t k = 0; k < 2 && folds[i] == folds[0]; k++) {
            double z = s.head.bias[k];
            for (size_t j = 0; j < WIDTH; j++)
                z += s.head.weights[k * WIDTH + j] * (double)c.features[i * WIDTH + j];
            assert_true(fabs(z - (double)without[i * 2 + k]) < 1e-6);
        }
    vit_solution_free(&s);
    free_case(&rest);
    free_case(&c);
}

/* Copies are in one fold, so that none is answered by a head that knows the other. */
static void copies_are_in_one_fold(void **unused) {
    enum { EACH = 40 };
    head_case c = drawn(2 * EACH, 1, 8, 2);
    uint32_t groups[2 * EACH];
    vit_random r = check_random(3);
    check_fill(c.features, EACH * 8, 1, &r); /* nothing to learn, but each picture twice */
    memcpy(c.features + EACH * 8, c.features, EACH * 8 * sizeof(float));
    for (uint32_t i = 0; i < 2 * EACH; i++) groups[i] = i % EACH;
    for (size_t i = 0; i < 2 * EACH; i++) c.labels[i] = i % EACH * 7 / 3 % 2;
    c.samples.groups = groups;
    vit_solution s = solve(&c.samples, vit_solve_logistic, 2);
    for (size_t i = 0; i < EACH; i++)
        assert_memory_equal(s.without + 2 * i, s.without + 2 * (i + EACH), 2 * sizeof(float));
    vit_solution_free(&s);
    free_case(&c);
}

/* Few rows, some more than features, and so many that Z is in float. */
static void threads_change_no_byte(void **unused) {
    static const size_t rows[] = {20, 200, 700};
    vit_solver_function *const solvers[] = {vit_solve_ridge, vit_solve_logistic};
    for (size_t n = 0; n < 6; n++) {
        head_case c = drawn(rows[n / 2], 1, 70, 3);
        c.samples.most_double = 1;
        vit_solution one = solve(&c.samples, solvers[n % 2], 1);
        for (int threads = 2; threads <= 3; threads++) {
            vit_solution more = solve(&c.samples, solvers[n % 2], threads);
            assert_memory_equal(one.head.weights, more.head.weights, 3 * 70 * sizeof(double));
            assert_memory_equal(one.head.bias, more.head.bias, 3 * sizeof(double));
            assert_memory_equal(one.without, more.without, rows[n / 2] * 3 * sizeof(float));
            vit_solution_free(&more);
        }
        vit_solution_free(&one);
        free_case(&c);
    }
}

/* Where Z is in float, the head is that of Z in double to rounding. */
static void many_pictures_have_the_same_head(void **unused) {
    head_case c = drawn(700, 1, 70, 3);
    vit_solution exact = solve(&c.samples, vit_solve_ridge, 2);
    c.samples.most_double = 1;
    vit_solution many = solve(&c.samples, vit_solve_ridge, 2);
    assert_true(exact.strength == many.strength);
    assert_memory_equal(exact.head.weights, many.head.weights, 3 * 70 * sizeof(double));
    assert_true(check_difference(many.without, exact.without, 700 * 3) < 1e-5);
    vit_solution_free(&exact);
    vit_solution_free(&many);
    free_case(&c);
}

static void features_that_are_no_numbers_are_refused(void **unused) {
    head_case c = drawn(20, 1, 5, 2);
    vit_solution out;
    vit_error error;
    c.features[37] = NAN;
    assert_int_equal(
        vit_solve(&out, vit_solve_ridge, &c.samples, vit_kernels_choose(VIT_CPU_SCALAR), 1, &error),
        VIT_ERROR_ARGUMENT);
    assert_string_equal(error.message, "feature 2 of picture 7 is not a finite number");
    vit_solution_free(&out);
    free_case(&c);
}

/* ---- matrices ---- */

static void eigenvectors_are_what_they_are_called(void **unused) {
    static const size_t sizes[] = {1, 2, 3, 17, 300};
    for (size_t n = 0; n < 5; n++) {
        const size_t size = sizes[n], rank = size / 2 + 1;
        vit_random r = check_random((uint32_t)n);
        double *half = check_doubles(rank * size), *a = check_doubles(size * size);
        double *q = check_doubles(size * size), *values = check_doubles(size), worst = 0;
        vit_error error;
        check_fill_double(half, rank * size, 1, &r);
        const vit_matrix m = vit_matrix_of(half, size); /* so that some values are 0 */
        assert_int_equal(vit_matrix_gram(a, rank, size, &m, false, 2, &error), VIT_OK);
        memcpy(q, a, size * size * sizeof *a);
        assert_int_equal(vit_matrix_eigen(q, values, size, 2, &error), VIT_OK);
        for (size_t i = 0; i < size; i++) {
            assert_true(i == 0 || values[i] <= values[i - 1]);
            for (size_t j = 0; j < size; j++) {
                double image = 0, dot = 0;
                for (size_t k = 0; k < size; k++) {
                    image += a[j * size + k] * q[i * size + k];
                    dot += q[i * size + k] * q[j * size + k];
                }
                worst = fmax(worst, fabs(image - values[i] * q[i * size + j]) / values[0]);
                worst = fmax(worst, fabs(dot - (i == j)));
            }
        }
        assert_true(worst < 1e-13 * (double)(size + 10));
        free(half);
        free(a);
        free(q);
        free(values);
    }
}

/* ---- neighbours ---- */

static void neighbours_are_the_nearest(void **unused) {
    enum { TRAINED = 150, TEST = 70, WIDTH = 19, K = 6 };
    vit_random r = check_random(5);
    float *train = check_floats(TRAINED * WIDTH), *test = check_floats(TEST * WIDTH);
    vit_near near[TEST * K];
    vit_error error;
    check_fill(train, TRAINED * WIDTH, 1, &r);
    check_fill(test, TEST * WIDTH, 1, &r);
    memcpy(train + 9 * WIDTH, train + 3 * WIDTH, WIDTH * sizeof *train); /* a tie */
    vit_unit_rows(train, train, TRAINED, WIDTH, 2);
    vit_unit_rows(test, test, TEST, WIDTH, 2);
    assert_int_equal(vit_find_nearest(near, K, test, TEST, train, TRAINED, WIDTH,
                                      vit_kernels_choose(VIT_CPU_AVX512BF16), 2, &error),
                     VIT_OK);
    for (size_t i = 0; i < TEST; i++) {
        size_t nearer = 0;
        for (size_t t = 0; t < TRAINED; t++) {
            double cosine = 0;
            for (size_t j = 0; j < WIDTH; j++)
                cosine += (double)train[t * WIDTH + j] * (double)test[i * WIDTH + j];
            nearer += cosine > (double)near[i * K + K - 1].cosine + 1e-6;
        }
        assert_true(nearer <= K - 1);
        for (size_t k = 1; k < K; k++) {
            const vit_near *a = &near[i * K + k - 1], *b = a + 1;
            assert_true(a->cosine > b->cosine || (a->cosine == b->cosine && a->index < b->index));
        }
    }
    free(train);
    free(test);
}

static void votes_are_weighted_as_dino_weighs_them(void **unused) {
    const vit_near near[] = {{2, 1}, {0, .5f}, {1, .5f}};
    const size_t labels[] = {1, 1, 0};
    double votes[3];
    vit_vote(votes, 3, near, 3, labels);
    assert_true(fabs(votes[0] / vit_exp(1 / .07) - 1) < 1e-12);
    assert_true(fabs(votes[1] / (2 * vit_exp(.5 / .07)) - 1) < 1e-6);
    assert_true(votes[2] == 0);
}

/* ---- figures ---- */

static void wilsons_interval_is_wilsons(void **unused) {
    double low, high; /* statsmodels' proportion_confint(8, 10, method="wilson") */
    vit_wilson(&low, &high, 8, 10);
    assert_true(fabs(low - .4901624715366418) < 1e-12 && fabs(high - .9433178485456247) < 1e-12);
    vit_wilson(&low, &high, 10, 10);
    assert_true(fabs(low - .7224672001371107) < 1e-9 && fabs(high - 1) < 1e-12);
}

static void figures_count_left_out_answers(void **unused) {
    const float without[] = {2, 0, 0, 1, 0, 0, 0, 3, 0, 0, 2, 0, 0, 0, 1, 0, 4, 0};
    const size_t labels[] = {0, 0, 1, 1, 2, 2};
    const vit_samples samples = {
        .labels = labels, .pictures = 6, .views = 1, .width = 1, .classes = 3};
    vit_few_shot_result l = {.temperature = 1};
    vit_error error;
    assert_int_equal(vit_count_answers(&l, without, &samples, &error), VIT_OK);
    assert_int_equal(l.right, 5);
    assert_int_equal(l.suspects, 1);
    assert_int_equal(l.suspect[0].index, 5);
    assert_int_equal(l.suspect[0].answer, 1);
    assert_int_equal(l.confusions, 1);
    assert_int_equal(l.confused[0], 1);
    assert_int_equal(l.confused[1], 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ridge_is_scikit_learns),
        cmocka_unit_test(logistic_is_scikit_learns),
        cmocka_unit_test(a_picture_is_left_out_with_its_views),
        cmocka_unit_test(a_fold_is_answered_by_the_others),
        cmocka_unit_test(copies_are_in_one_fold),
        cmocka_unit_test(threads_change_no_byte),
        cmocka_unit_test(many_pictures_have_the_same_head),
        cmocka_unit_test(features_that_are_no_numbers_are_refused),
        cmocka_unit_test(eigenvectors_are_what_they_are_called),
        cmocka_unit_test(neighbours_are_the_nearest),
        cmocka_unit_test(votes_are_weighted_as_dino_weighs_them),
        cmocka_unit_test(wilsons_interval_is_wilsons),
        cmocka_unit_test(figures_count_left_out_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
