/* Average precision and F1 against scikit-learn, and the loss of several classes a picture. */
#include "tests/support/unit.h"
#include "vit/ops/loss.h"
#include "vit/train/measure/labels.h"

#include <math.h>
#include <string.h>

/* sklearn.metrics.average_precision_score(y, scores), scikit-learn 1.9. */
static void average_precision_is_scikit_learns(void **state) {
    static const struct {
        size_t count;
        float scores[10];
        const char *is_positive;
        double expected;
    } cases[] = {
        {4, {.1F, .4F, .35F, .8F}, "0011", .8333333333333333},
        {5, {5, 4, 3, 2, 1}, "11000", 1},
        {5, {5, 4, 3, 2, 1}, "00011", .325},
        {6, {1, 1, 1, 1, 1, 1}, "010010", .3333333333333333},
        {8, {3, 3, 2, 2, 2, 1, 1, 0}, "10110101", .5792857142857143},
        {10, {-2, .5F, .5F, -1, 7, 7, 7, .25F, -2, -2}, "1010010011", .44666666666666666},
        {1, {-3}, "1", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vit_scored scored[10];
        for (size_t k = 0; k < cases[i].count; k++)
            scored[k] = (vit_scored){cases[i].scores[k], cases[i].is_positive[k] == '1'};
        const double found = vit_average_precision(scored, cases[i].count);
        if (!(fabs(found - cases[i].expected) < 1e-12))
            fail_msg("case %zu: %.17g, expected %.17g", i, found, cases[i].expected);
    }
}

static void average_precision_needs_positives_and_numbers(void **state) {
    vit_scored none[] = {{1, false}, {2, false}}, nan[] = {{1, true}, {NAN, false}};
    assert_true(isnan(vit_average_precision(none, 2)));
    assert_true(isnan(vit_average_precision(nan, 2)));
    assert_true(isnan(vit_average_precision(none, 0)));
}

static void f1_is_scikit_learns(void **state) {
    assert_true(fabs(vit_f1(3, 5, 4) - 2. / 3) < 1e-15);
    assert_true(vit_f1(0, 0, 0) == 0);
    assert_true(vit_f1(0, 3, 0) == 0);
    assert_true(vit_f1(2, 2, 2) == 1);
}

/* torch.nn.BCEWithLogitsLoss() in double, and its gradient. */
static void binary_cross_entropy_is_pytorchs(void **state) {
    static const float logits[] = {-3, 0, .5F, 40, -200};
    static const uint32_t first[] = {2, 4}, second[] = {0};
    const vit_class_lists lists = {first, NULL, 2, 0, 0}, mixed = {first, second, 2, 1, .25};
    const vit_class_lists none = {NULL, NULL, 0, 0, 0};
    float d[5];
    const double log2 = .693147180559945309, small = .0485873515737420588; /* log(1 + exp(-3)) */
    const double half = .474076984180107, much = .974076984180107;         /* +-.5 */
    const double loss = vit_binary_cross_entropy(d, logits, 5, &lists, 0, 2);
    assert_true(fabs(loss - (small + log2 + half + 40 + 200) / 5) < 1e-12);
    assert_true(fabs((double)d[0] - 2 * .0474258731775668 / 5) < 1e-8);
    assert_true(fabs((double)d[1] - .2) < 1e-8);
    assert_true(fabs((double)d[2] + 2 * .377540668798145 / 5) < 1e-8);
    assert_true(fabs((double)d[3] - .4) < 1e-8 && fabs((double)d[4] + .4) < 1e-8);
    const double empty = vit_binary_cross_entropy(NULL, logits, 5, &none, 0, 1);
    assert_true(fabs(empty - (small + log2 + much + 40) / 5) < 1e-12);
    /* targets .25, 0, .75, 0, .75, smoothed by .1 to .275, .05, .725, .05, .725 */
    const double smooth = vit_binary_cross_entropy(d, logits, 5, &mixed, .1, 1);
    const double want = small + 3 * .275 + log2 + much - .5 * .725 + 40 - 40 * .05 + 200 * .725;
    assert_true(fabs(smooth - want / 5) < 1e-12);
    assert_true(fabs((double)d[0] - (.0474258731775668 - .275) / 5) < 1e-8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(average_precision_is_scikit_learns),
        cmocka_unit_test(average_precision_needs_positives_and_numbers),
        cmocka_unit_test(f1_is_scikit_learns),
        cmocka_unit_test(binary_cross_entropy_is_pytorchs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
