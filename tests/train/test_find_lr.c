/* The learning rate that a search suggests, of losses made up. */
#include "tests/support/unit.h"
#include "vit/train/find_lr.h"

#include <math.h>

static void a_fifth_of_the_least(void **state) {
    const double lr[] = {1e-4, 1e-3, 1e-2, 1e-1}, loss[] = {2.3, 2.0, 1.5, 4};
    assert_true(fabs(vit_suggest_lr(lr, loss, 4) - 2e-3) < 1e-12);
}

static void none_where_nothing_falls(void **state) {
    const double lr[] = {1e-4, 1e-3, 1e-2}, rises[] = {2.3, 2.4, 3}, hardly[] = {2.3, 2.29, 3},
                 broken[] = {2.3, NAN, NAN};
    assert_true(isnan(vit_suggest_lr(lr, rises, 3)));
    assert_true(isnan(vit_suggest_lr(lr, hardly, 3)));
    assert_true(isnan(vit_suggest_lr(lr, broken, 3)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fifth_of_the_least),
        cmocka_unit_test(none_where_nothing_falls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
