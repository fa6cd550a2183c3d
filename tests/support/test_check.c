/* The tests' own comparisons can fail: above all, NaN fails them. */
#include "tests/support/check.h"
#include "tests/support/power.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static void test_same(void **state) {
    const float x[] = {0, 1, NAN, INFINITY}, y[] = {-0.0f, 1, -NAN, INFINITY};
    assert_int_equal(check_first_other(x, x, 4), 4);
    assert_int_equal(check_first_other(x, y, 4), 0); /* +0 is not -0 */
    assert_int_equal(check_first_other(x + 1, y + 1, 3), 3);
    assert_false(check_same(NAN, 1));
    assert_false(check_same(1, nextafterf(1, 2)));
}

static void test_within(void **state) {
    const float got[] = {1, 2}, nan[] = {1, NAN};
    const double want[] = {1, 2.5}, none[] = {1, NAN}, close[] = {0, .4}, wide[] = {0, .5};
    const double no_bound[] = {0, NAN};
    assert_true(check_within("expected to pass", got, want, wide, 2));
    assert_false(check_within("expected to fail", got, want, close, 2));
    assert_false(check_within("expected to fail", nan, want, wide, 2));
    assert_false(check_within("expected to fail", got, none, wide, 2));
    assert_false(check_within("expected to fail", got, want, no_bound, 2));
}

static void test_difference(void **state) {
    const float want[] = {1, -4, 0}, near[] = {1, -4, 1}, zero[3] = {0};
    const float nan[] = {1, NAN, 0}, infinite[] = {1, INFINITY, 0};
    assert_true(check_difference(want, want, 3) <= 0);
    assert_true(check_difference(zero, zero, 3) <= 0);
    assert_true(fabs(check_difference(near, want, 3) - .25) <= 0);
    assert_false(check_difference(nan, want, 3) <= 1e9);
    assert_false(check_difference(want, nan, 3) <= 1e9);
    assert_false(check_difference(nan, nan, 3) <= 1e9);
    assert_false(check_difference(infinite, infinite, 3) <= 1e9);
    assert_false(check_difference(want, zero, 3) <= 1e9);
}

static void test_memory(void **state) {
    check_memory m = check_memory_new(100);
    for (check_place place = 0; place < CHECK_PLACES; place++) {
        float *x = check_memory_take(&m, 33, place);
        memset(x, 0, 33 * sizeof *x);
        assert_true(check_memory_intact(&m));
        if (place != CHECK_AT_END) x[33] = 0;
        if (place == CHECK_AT_END) x[-1] = 0;
        assert_false(check_memory_intact(&m));
    }
    assert_true((check_memory_take(&m, 33, CHECK_AT_END) - m.whole + 33) == (long)m.floats);
    assert_true(check_is_pattern(m.data[0]));
    check_memory_free(&m);
}

/* A file that is not synced before it is renamed is lost. */
static void test_power(void **state) {
    put_file("a", "old");
    power_watch(0);
    FILE *file = fopen("b", "w"); /* not among the calls that are watched */
    assert_non_null(file);
    power_opened(fileno(file), "b");
    power_wrote(fileno(file));
    assert_int_equal(fwrite("new", 1, 3, file), 3);
    assert_int_equal(fclose(file), 0);
    power_will_replace("a");
    assert_int_equal(rename("b", "a"), 0);
    power_renamed("b", "a");
    power_restore(POWER_LOSES_DATA);
    assert_content("a", "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_within),
        cmocka_unit_test(test_difference),
        cmocka_unit_test(test_memory),
        IN_MEMORY(test_power),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
