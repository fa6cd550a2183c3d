/* What accuracy to expect, from measured trainings. */
#include "tests/support/unit.h"
#include "vit/train/recipe/expect.h"

#include <math.h>

static const vit_measured rows[] = {
    {"aa", "long", 4000, 400, .99}, {"aa", "quick", 100, 5, .9},    {"aa", "long", 1000, 110, .97},
    {"bb", "long", 2000, 200, .5},  {"aa", "quick", 1600, 32, .98}, {NULL, NULL, 0, 0, 0},
};

static double expected(const char *data, const char *preset, double steps) {
    return vit_expect(rows, data, preset, steps).top1;
}

static void is_near(double found, double want) {
    assert_true(fabs(found - want) < 1e-9);
}

static void between_two_trainings(void **unused) {
    is_near(expected("aa", "long", 1000), .97);
    is_near(expected("aa", "long", 2000), .98); /* half of the way from 1,000 to 4,000 */
    is_near(expected("aa", "long", 4000), .99);
    is_near(expected("aa", "quick", 200), .92); /* one of four doublings */
    const vit_expectation e = vit_expect(rows, "aa", "quick", 200);
    is_near(e.first, 100);
    is_near(e.last, 1600);
    is_near(e.step_seconds, .02); /* of the longest */
}

static void not_far_beyond_them(void **unused) {
    is_near(expected("aa", "long", 4900), .99);
    is_near(expected("aa", "long", 820), .97);
    assert_true(isnan(expected("aa", "long", 5100)));
    assert_true(isnan(expected("aa", "long", 700)));
    is_near(expected("bb", "long", 2000), .5);
}

static void at_least_of_the_longest(void **unused) {
    is_near(vit_expect(rows, "aa", "long", 50000).at_least, .99);
    is_near(vit_expect(rows, "aa", "long", 2000).at_least, .98); /* what is expected */
    assert_true(isnan(vit_expect(rows, "aa", "long", 700).at_least));
}

static void of_nothing_else(void **unused) {
    assert_true(isnan(expected("bb", "quick", 1000)));
    assert_true(isnan(expected("cc", "long", 1000)));
    is_near(vit_expect(rows, "cc", "long", 1000).step_seconds, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(between_two_trainings),
        cmocka_unit_test(not_far_beyond_them),
        cmocka_unit_test(at_least_of_the_longest),
        cmocka_unit_test(of_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
