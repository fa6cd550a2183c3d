/* An operator under test: its parameters, their gradient and the errors allowed, for comparison
 * with a reference in double.
 *
 * Bounds are first-order rounding analysis, u = 2^-24: a chain of n roundings is off by at most
 * gamma(n) = n u / (1 - n u) times the sum of its terms' absolute values. Products of two errors,
 * below 1e-4 of the bounds, are covered by SECOND_ORDER. */
#ifndef TESTS_PROBLEM_H
#define TESTS_PROBLEM_H

#include "tests/check.h"
#include "vit/ops/exec.h"

#define U CHECK_ROUNDOFF
#define SECOND_ORDER 1.001

/* The fastest kernels on one thread. */
vit_exec one_thread(void);

/* The parameters of one test in one array, as floats and doubles; their gradient, what it is added
 * to, and the errors allowed. `dy` is the gradient of the output, of `outputs` elements. */
typedef struct problem {
    size_t n, outputs;
    float *theta, *gradient, *before, *dy, *y;
    double *exact, *bound, *want, *want_bound;
} problem;

/* theta in +-2, dy in +-1; all else 0. */
problem problem_new(size_t n, size_t outputs, uint32_t seed);
void problem_free(problem *p);

/* gradient[from ..) is added to, not set. */
void problem_add_to(problem *p, size_t from);

/* Fails the test unless y is want within want_bound. */
void check_forward(const char *what, const problem *p);

/* Fails the test unless gradient - before is the gradient of loss within bound. */
void check_backward(const char *what, const problem *p, check_loss *loss, const void *context);

/* sum_i y_i dy_i */
double weighted(const double *y, const float *dy, size_t n);

#endif
