/* exp, GELU, its approximations and SiLU within the errors that
 * vit/kernels/kernels.h states, over a sample of all floats. tests/fixtures/errors.c measures over
 * all of them. */
#include "tests/check.h"
#include "tests/truth.h"
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SAMPLE 4096
#define STRIDE 4093 /* of bit patterns; prime, so that all exponents and endings are met */

static float x[SAMPLE], y[SAMPLE];

typedef double error_bound(double x, double want);

static double exp_bound(double at, double want) {
    return at < (double)-87.33f ? want : CHECK_EXP_ERROR * want;
}

static double gelu_bound(double at, double want) {
    (void)want;
    return CHECK_GELU_ERROR * fabs(at) + FLT_TRUE_MIN;
}

static double slope_bound(double at, double want) {
    (void)at, (void)want;
    return CHECK_GELU_SLOPE_ERROR;
}

static double swish_bound(double at, double want) {
    (void)want;
    return CHECK_SWISH_ERROR * fabs(at) + (double)FLT_MIN;
}

static double swish_slope_bound(double at, double want) {
    (void)at, (void)want;
    return CHECK_SWISH_SLOPE_ERROR;
}

typedef struct function {
    const char *name;
    truth_call *call;
    double (*truth)(double x);
    error_bound *bound;
    float highest;
    vit_activation f;
} function;

static void check_sample(const function *f, const vit_kernels *k, size_t n) {
    f->call(k, f->f, y, x, n);
    for (size_t i = 0; i < n; i++) {
        const double at = (double)x[i], want = f->truth(at);
        const double error = fabs((double)y[i] - want), bound = f->bound(at, want);
        if (!(error <= bound))
            fail_msg("%s(%.9g) is %.9g, expected %.9g: off by %.3g, allowed %.3g", f->name, at,
                     (double)y[i], want, error, bound);
    }
}

static void test_function(void **state) {
    const function *f = *state;
    const vit_kernels *k = vit_kernels_choose(VIT_CPU_AVX512);
    size_t n = 0;
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += STRIDE) {
        const uint32_t low = (uint32_t)bits;
        memcpy(&x[n], &low, sizeof low);
        if (isfinite(x[n]) && x[n] <= f->highest) n++;
        if (n < SAMPLE) continue;
        check_sample(f, k, n);
        n = 0;
    }
    check_sample(f, k, n);
}

/* The ends: where results leave the normal numbers, and beyond the numbers. */
static void test_ends(void **state) {
    (void)state;
    const vit_kernels *k = vit_kernels_choose(VIT_CPU_AVX512);
    const float ends[] = {0, -0.0f, -87.33f, -87.34f, -INFINITY, NAN};
    const float exps[] = {1, 1, 0, 0, 0, NAN};
    k->exp(y, ends, 6);
    for (int i = 0; i < 6; i++) assert_true(i == 2 ? y[i] >= FLT_MIN : check_same(y[i], exps[i]));
    const float far[] = {INFINITY, FLT_MAX, 20, 0, -0.0f, -20, -FLT_MAX, -INFINITY, NAN};
    const float slopes[] = {1, 1, 1, .5f, .5f, 0, 0, 0, NAN};
    k->gelu(y, far, 9);
    for (int i = 0; i < 9; i++) assert_true(isnan(far[i]) ? isnan(y[i]) : y[i] == fmaxf(0, far[i]));
    for (int i = 0; i < 9; i++) y[i] = 1;
    k->gelu_backward(y, NULL, y, far, 9);
    for (int i = 0; i < 9; i++) assert_true(isnan(far[i]) ? isnan(y[i]) : y[i] == slopes[i]);
}

int main(void) {
    static function functions[] = {
        {"exp", truth_call_exp, exp, exp_bound, 88, 0},
        {"gelu", truth_call_forward, truth_gelu, gelu_bound, FLT_MAX, VIT_GELU},
        {"gelu slope", truth_call_backward, truth_gelu_slope, slope_bound, FLT_MAX, VIT_GELU},
        {"tanh", truth_call_forward, truth_gelu_tanh, swish_bound, FLT_MAX, VIT_GELU_TANH},
        {"tanh slope", truth_call_backward, truth_gelu_tanh_slope, swish_slope_bound, FLT_MAX,
         VIT_GELU_TANH},
        {"quick", truth_call_forward, truth_gelu_quick, swish_bound, FLT_MAX, VIT_GELU_QUICK},
        {"quick slope", truth_call_backward, truth_gelu_quick_slope, swish_slope_bound, FLT_MAX,
         VIT_GELU_QUICK},
        {"silu", truth_call_forward, truth_silu, swish_bound, FLT_MAX, VIT_SILU},
        {"silu slope", truth_call_backward, truth_silu_slope, swish_slope_bound, FLT_MAX,
         VIT_SILU}};
#define OVER_FLOATS(i) \
    { functions[i].name, test_function, NULL, NULL, &functions[i] }
    const struct CMUnitTest tests[] = {
        OVER_FLOATS(0), OVER_FLOATS(1), OVER_FLOATS(2), OVER_FLOATS(3), OVER_FLOATS(4),
        OVER_FLOATS(5), OVER_FLOATS(6), OVER_FLOATS(7), OVER_FLOATS(8), cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
