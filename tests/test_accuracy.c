/* exp, the normal distribution, GELU, its approximations and SiLU within the errors that
 * vit/kernels/kernels.h states, over a sample of all floats. tests/fixtures/errors.c measures over
 * all of them. */
#include "tests/check.h"
#include "vit/ops/activation.h"
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

static double cdf_bound(double at, double want) {
    (void)at;
    return fmin(CHECK_CDF_ERROR, want < FLT_MIN ? FLT_MIN : CHECK_CDF_TAIL_ERROR * want);
}

static double gelu_bound(double at, double want) {
    return CHECK_CDF_ERROR * fabs(at) + CHECK_ROUNDOFF * fabs(want) + FLT_TRUE_MIN;
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

static double cdf(double at) {
    return erfc(-at * 0.70710678118654752440) / 2;
}

static double gelu(double at) {
    return at * cdf(at);
}

static double gelu_slope(double at) {
    return cdf(at) + (fabs(at) < 40 ? at * exp(-at * at / 2) * 0.39894228040143267794 : 0);
}

/* x sigma(t) and its slope, given t and t'. */
static double swish(double at, double t) {
    return at / (1 + exp(-t));
}

static double swish_slope(double at, double t, double t_slope) {
    const double s = 1 / (1 + exp(-t)), rest = 1 / (1 + exp(t));
    return s + (s == 0 || rest == 0 ? 0 : at * s * rest * t_slope);
}

#define TANH_FACTOR (2 * 0.79788456080286535588) /* 2 sqrt(2 / pi) */

static double tanh_argument(double at) {
    return TANH_FACTOR * (at + 0.044715 * at * at * at);
}

static double gelu_tanh(double at) {
    return swish(at, tanh_argument(at));
}

static double gelu_tanh_slope(double at) {
    return swish_slope(at, tanh_argument(at), TANH_FACTOR * (1 + 3 * 0.044715 * at * at));
}

static double gelu_quick(double at) {
    return swish(at, 1.702 * at);
}

static double gelu_quick_slope(double at) {
    return swish_slope(at, 1.702 * at, 1.702);
}

static double silu(double at) {
    return swish(at, at);
}

static double silu_slope(double at) {
    return swish_slope(at, at, 1);
}

typedef struct function {
    const char *name;
    void (*call)(const vit_kernels *k, vit_activation f, size_t n); /* of x into y */
    double (*truth)(double at);
    error_bound *bound;
    float highest;
    vit_activation f;
} function;

static void call_exp(const vit_kernels *k, vit_activation f, size_t n) {
    (void)f;
    k->exp(y, x, n);
}

static void call_cdf(const vit_kernels *k, vit_activation f, size_t n) {
    (void)f;
    k->normal_cdf(y, x, n);
}

static void call_forward(const vit_kernels *k, vit_activation f, size_t n) {
    const vit_exec exec = {.kernels = k, .threads = 1};
    vit_activation_forward(&exec, f, y, x, n);
}

static void call_backward(const vit_kernels *k, vit_activation f, size_t n) {
    const vit_exec exec = {.kernels = k, .threads = 1};
    for (size_t i = 0; i < n; i++) y[i] = 1;
    vit_activation_backward(&exec, f, y, y, x, n);
}

static void check_sample(const function *f, const vit_kernels *k, size_t n) {
    f->call(k, f->f, n);
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
    const float exps[] = {1, 1, 0, 0, 0, NAN}, cdfs[] = {.5f, .5f, 0, 0, 0, NAN};
    k->exp(y, ends, 6);
    for (int i = 0; i < 6; i++) assert_true(i == 2 ? y[i] >= FLT_MIN : check_same(y[i], exps[i]));
    k->normal_cdf(y, ends, 6);
    for (int i = 0; i < 6; i++)
        assert_true(i < 2 ? fabsf(y[i] - .5f) <= (float)CHECK_CDF_ERROR
                          : check_same(y[i], cdfs[i]));
    const float far[] = {INFINITY, FLT_MAX, 20, NAN};
    k->normal_cdf(y, far, 4);
    for (int i = 0; i < 4; i++) assert_true(check_same(y[i], i < 3 ? 1 : NAN));
    k->gelu(y, far, 4);
    for (int i = 0; i < 4; i++) assert_true(check_same(y[i], far[i]));
}

int main(void) {
    static function functions[] = {
        {"exp", call_exp, exp, exp_bound, 88, 0},
        {"normal_cdf", call_cdf, cdf, cdf_bound, FLT_MAX, 0},
        {"gelu", call_forward, gelu, gelu_bound, FLT_MAX, VIT_GELU},
        {"gelu slope", call_backward, gelu_slope, slope_bound, FLT_MAX, VIT_GELU},
        {"tanh", call_forward, gelu_tanh, swish_bound, FLT_MAX, VIT_GELU_TANH},
        {"tanh slope", call_backward, gelu_tanh_slope, swish_slope_bound, FLT_MAX, VIT_GELU_TANH},
        {"quick", call_forward, gelu_quick, swish_bound, FLT_MAX, VIT_GELU_QUICK},
        {"quick slope", call_backward, gelu_quick_slope, swish_slope_bound, FLT_MAX,
         VIT_GELU_QUICK},
        {"silu", call_forward, silu, swish_bound, FLT_MAX, VIT_SILU},
        {"silu slope", call_backward, silu_slope, swish_slope_bound, FLT_MAX, VIT_SILU}};
#define OVER_FLOATS(i) \
    { functions[i].name, test_function, NULL, NULL, &functions[i] }
    const struct CMUnitTest tests[] = {
        OVER_FLOATS(0),
        OVER_FLOATS(1),
        OVER_FLOATS(2),
        OVER_FLOATS(3),
        OVER_FLOATS(4),
        OVER_FLOATS(5),
        OVER_FLOATS(6),
        OVER_FLOATS(7),
        OVER_FLOATS(8),
        OVER_FLOATS(9),
        cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
