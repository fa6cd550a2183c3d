/* Temperature and calibration, against their definitions. */
#include "tests/support/check.h"
#include "tests/support/unit.h"
#include "vit/ops/loss.h"
#include "vit/train/measure/calibration.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 4000
#define CLASSES 4

typedef struct answers {
    float *logits;
    uint16_t labels[COUNT];
    uint32_t numbers[COUNT];
} answers;

/* Labels are drawn from softmax(logits / truth). */
static answers answers_of(double truth) {
    answers a = {.logits = check_floats(COUNT * CLASSES)};
    vit_random r = check_random(4);
    check_fill(a.logits, COUNT * CLASSES, 3, &r);
    for (uint32_t i = 0; i < COUNT; i++) {
        float p[CLASSES];
        double left = vit_random_uniform(&r);
        uint16_t label = 0;
        vit_softmax_at(p, a.logits + i * CLASSES, CLASSES, truth);
        while (label + 1 < CLASSES && left >= p[label]) left -= p[label++];
        a.numbers[i] = COUNT - 1 - i; /* labels are looked up */
        a.labels[COUNT - 1 - i] = label;
    }
    return a;
}

static double loss_at(const answers *a, double temperature) {
    double sum = 0;
    for (size_t i = 0; i < COUNT; i++) {
        float z[CLASSES];
        for (size_t j = 0; j < CLASSES; j++)
            z[j] = (float)(a->logits[i * CLASSES + j] / temperature);
        sum += vit_cross_entropy(NULL, z, CLASSES, a->labels[a->numbers[i]], 0, 1);
    }
    return sum;
}

static void the_temperature_is_found_again(void **unused) {
    static const double truths[] = {.5, 1, 2.5};
    for (size_t i = 0; i < 3; i++) {
        answers a = answers_of(truths[i]);
        const double t = vit_temperature_fit(a.logits, a.labels, a.numbers, COUNT, CLASSES);
        assert_true(fabs(t / truths[i] - 1) < .1);
        assert_true(loss_at(&a, t) < loss_at(&a, 1.03 * t));
        assert_true(loss_at(&a, t) < loss_at(&a, t / 1.03));
        free(a.logits);
    }
}

static void few_or_broken_answers_have_none(void **unused) {
    answers a = answers_of(.5);
    assert_true(vit_temperature_fit(a.logits, a.labels, a.numbers, 49, CLASSES) == 1);
    assert_true(vit_temperature_fit(a.logits, a.labels, a.numbers, 50, CLASSES) != 1);
    a.logits[7] = NAN;
    assert_true(vit_temperature_fit(a.logits, a.labels, a.numbers, 50, CLASSES) == 1);
    free(a.logits);
}

/* All right, by a little: certain, but not of everything. */
static void a_few_right_answers_are_not_certainty(void **unused) {
    float logits[60 * 2];
    uint16_t labels[60];
    uint32_t numbers[60];
    for (uint32_t i = 0; i < 60; i++) {
        logits[2 * i] = 1;
        logits[2 * i + 1] = 0;
        labels[i] = 0;
        numbers[i] = i;
    }
    const double t = vit_temperature_fit(logits, labels, numbers, 60, 2);
    assert_true(fabs(1 / (1 + exp(-1 / t)) - (1 - 1. / 62)) < 1e-3);
}

/* Four answers, by hand. */
static void errors_are_those_of_the_definition(void **unused) {
    static const float p[4][3] = {{.9f, .1f, 0}, {.92f, .05f, .03f}, {.2f, .4f, .4f}, {0, 0, 1}};
    static const size_t labels[4] = {0, 1, 1, 2};
    vit_calibration c = {0};
    for (size_t i = 0; i < 4; i++) vit_calibration_add(&c, p[i], 3, labels[i]);
    /* .9 and .92 are in bin 13 of 15, (.8667, .9333]; .4 is the upper end of bin 5; 1 of bin 14 */
    assert_true(c.images[13] == 2 && c.right[13] == 1 && c.images[5] + c.images[6] == 1);
    assert_true(c.images[14] == 1 && c.right[14] == 1);
    const double gap = fabs(1 - 1.82) + fabs(1 - .4);
    assert_true(fabs(vit_calibration_error(&c) - gap / 4) < 1e-7);
    const double squares = .01 + .01 + (.92 * .92 + .95 * .95 + .03 * .03) + (.04 + .36 + .16);
    assert_true(fabs(vit_calibration_brier(&c) - squares / 4) < 1e-7);
    vit_calibration_add(&c, (float[]){NAN, 0, 0}, 3, 0);
    assert_true(fabs(vit_calibration_error(&c) - gap / 4) < 1e-7);
}

/* Of 200 pictures two are below the threshold. */
static void one_in_a_hundred_is_below(void **unused) {
    float logits[2 * 200], confidences[200];
    for (size_t i = 0; i < 200; i++) {
        logits[2 * i] = (float)((i * 77) % 200) / 100; /* each number once, in some order */
        logits[2 * i + 1] = 0;
    }
    const double t = vit_threshold_fit(confidences, logits, 200, 2, .5);
    assert_true(fabs(t - 1 / (1 + exp(-.02 / .5))) < 1e-6);
    assert_true(vit_threshold_fit(confidences, logits, 99, 2, 1) == 0);
    logits[3] = NAN;
    assert_true(vit_threshold_fit(confidences, logits, 200, 2, 1) == 0);
}

static void divided_logits_give_the_same(void **unused) {
    static const float z[3] = {4, -2, 1}, half[3] = {8, -4, 2};
    float p[3], q[3];
    vit_softmax(p, z, 3);
    vit_softmax_at(q, half, 3, 2);
    assert_memory_equal(p, q, sizeof p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_temperature_is_found_again),
        cmocka_unit_test(few_or_broken_answers_have_none),
        cmocka_unit_test(a_few_right_answers_are_not_certainty),
        cmocka_unit_test(errors_are_those_of_the_definition),
        cmocka_unit_test(one_in_a_hundred_is_below),
        cmocka_unit_test(divided_logits_give_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
