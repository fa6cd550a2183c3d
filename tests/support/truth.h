/* Reference values, in double by libm, for what the library computes in float: exp, the activations
 * and their slopes. All inline, so that tests/fixtures/errors.c needs no other file. */
#ifndef VIT_TESTS_SUPPORT_TRUTH_H
#define VIT_TESTS_SUPPORT_TRUTH_H

#include "tests/support/check.h"
#include "vit/base/size.h"
#include "vit/ops/activation.h"
#include <math.h>

static inline double truth_cdf(double x) {
    return erfc(-x * 0.70710678118654752440) / 2;
}

static inline double truth_gelu(double x) {
    return x * truth_cdf(x);
}

static inline double truth_gelu_slope(double x) {
    return truth_cdf(x) + (fabs(x) < 40 ? x * exp(-x * x / 2) * 0.39894228040143267794 : 0);
}

static inline double truth_relu(double x) {
    return x > 0 ? x : 0;
}

static inline double truth_relu_slope(double x) {
    return x > 0;
}

static inline double truth_sigmoid(double t) {
    return 1 / (1 + exp(-t));
}

/* The slope of x sigmoid(t): s + x s (1 - s) t', and s if s or 1 - s is 0. */
static inline double truth_swish_slope(double x, double t, double t_slope) {
    const double s = truth_sigmoid(t), rest = truth_sigmoid(-t);
    return s + (s == 0 || rest == 0 ? 0 : x * s * rest * t_slope);
}

#define TRUTH_TANH (2 * 0.79788456080286535588) /* 2 sqrt(2 / pi) */

static inline double truth_tanh_argument(double x) {
    return TRUTH_TANH * (x + 0.044715 * x * x * x);
}

static inline double truth_gelu_tanh(double x) {
    return x * truth_sigmoid(truth_tanh_argument(x));
}

static inline double truth_gelu_tanh_slope(double x) {
    return truth_swish_slope(x, truth_tanh_argument(x), TRUTH_TANH * (1 + 3 * 0.044715 * x * x));
}

static inline double truth_gelu_quick(double x) {
    return x * truth_sigmoid(1.702 * x);
}

static inline double truth_gelu_quick_slope(double x) {
    return truth_swish_slope(x, 1.702 * x, 1.702);
}

static inline double truth_silu(double x) {
    return x * truth_sigmoid(x);
}

static inline double truth_silu_slope(double x) {
    return truth_swish_slope(x, x, 1);
}

/* An activation and its slope in double. y_error is relative to |x|, slope_error absolute. */
static const struct {
    vit_activation value;
    double (*y)(double x), (*slope)(double x);
    double y_error, slope_error;
} truths[] = {
    {VIT_GELU, truth_gelu, truth_gelu_slope, CHECK_GELU_ERROR, CHECK_GELU_SLOPE_ERROR},
    {VIT_RELU, truth_relu, truth_relu_slope, 0, 0},
    {VIT_GELU_TANH, truth_gelu_tanh, truth_gelu_tanh_slope, CHECK_SWISH_ERROR,
     CHECK_SWISH_SLOPE_ERROR},
    {VIT_GELU_QUICK, truth_gelu_quick, truth_gelu_quick_slope, CHECK_SWISH_ERROR,
     CHECK_SWISH_SLOPE_ERROR},
    {VIT_SILU, truth_silu, truth_silu_slope, CHECK_SWISH_ERROR, CHECK_SWISH_SLOPE_ERROR},
};
VIT_CHECK_ROWS(truths, VIT_ACTIVATION_COUNT);

/* ---- the library's functions, y[n] of x[n], with the same signature ---- */

typedef void truth_call(const vit_kernels *k, vit_activation f, float *y, const float *x, size_t n);

static inline void truth_call_exp(const vit_kernels *k, vit_activation f, float *y, const float *x,
                                  size_t n) {
    (void)f;
    k->exp(y, x, n);
}

static inline void truth_call_forward(const vit_kernels *k, vit_activation f, float *y,
                                      const float *x, size_t n) {
    const vit_exec exec = {.kernels = k, .threads = 1};
    vit_activation_forward(&exec, f, y, x, n);
}

static inline void truth_call_backward(const vit_kernels *k, vit_activation f, float *y,
                                       const float *x, size_t n) {
    const vit_exec exec = {.kernels = k, .threads = 1};
    for (size_t i = 0; i < n; i++) y[i] = 1;
    vit_activation_backward(&exec, f, y, NULL, y, x, n);
}

#endif
