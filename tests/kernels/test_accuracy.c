/* exp within the error that vit/kernels/kernels.h states, over a sample of all floats; the other
 * functions: test_activation.c. tests/fixtures/errors.c measures over all floats. */
#include "tests/support/check.h"
#include "tests/support/unit.h"
#include <float.h>
#include <math.h>
#include <string.h>

#define SAMPLE 4096
#define STRIDE 4093 /* of bit patterns; prime, so that all exponents and endings are met */

static float x[SAMPLE], y[SAMPLE];

static void check_sample(const vit_kernels *k, size_t n) {
    k->exp(y, x, n);
    for (size_t i = 0; i < n; i++) {
        const double at = (double)x[i], want = exp(at);
        const double error = fabs((double)y[i] - want);
        const double bound = at < (double)-87.33f ? want : CHECK_EXP_ERROR * want;
        if (!(error <= bound))
            fail_msg("exp(%.9g) is %.9g, expected %.9g: off by %.3g, allowed %.3g", at,
                     (double)y[i], want, error, bound);
    }
}

static void test_exp(void **state) {
    const vit_kernels *k = vit_kernels_choose(VIT_CPU_AVX512);
    size_t n = 0;
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += STRIDE) {
        const uint32_t low = (uint32_t)bits;
        memcpy(&x[n], &low, sizeof low);
        if (isfinite(x[n]) && x[n] <= 88) n++;
        if (n < SAMPLE) continue;
        check_sample(k, n);
        n = 0;
    }
    check_sample(k, n);
}

/* The ends: where results leave the normal numbers, and beyond the numbers. */
static void test_ends(void **state) {
    const vit_kernels *k = vit_kernels_choose(VIT_CPU_AVX512);
    const float ends[] = {0, -0.0f, -87.33f, -87.34f, -INFINITY, NAN};
    const float exps[] = {1, 1, 0, 0, 0, NAN};
    k->exp(y, ends, 6);
    for (int i = 0; i < 6; i++) assert_true(i == 2 ? y[i] >= FLT_MIN : check_same(y[i], exps[i]));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exp), cmocka_unit_test(test_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
