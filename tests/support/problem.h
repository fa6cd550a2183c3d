/* An operator under test: its parameters, their gradient and the errors that are allowed, compared
 * with a reference in double.
 *
 * Bounds come from rounding analysis of first order, u = 2^-24: the error of a chain of n roundings
 * is at most gamma(n) = n u / (1 - n u) times the sum of the absolute values of its terms. Products
 * of two errors, below 1e-4 of the bounds, are covered by the factor SECOND_ORDER. */
#ifndef VIT_TESTS_SUPPORT_PROBLEM_H
#define VIT_TESTS_SUPPORT_PROBLEM_H

#include "tests/support/check.h"
#include "vit/ops/exec.h"

#define U CHECK_ROUNDOFF
#define SECOND_ORDER 1.001

/* The fastest kernels on one thread. */
vit_exec one_thread(void);

typedef struct problem {
    size_t n, outputs;
    float *theta;       /* [n] all parameters and inputs, */
    double *exact;      /* [n] and the same as doubles */
    float *gradient;    /* [n] of theta; the operator's result */
    float *before;      /* [n] what the gradient is added to */
    double *bound;      /* [n] the error that is allowed */
    float *y, *dy;      /* [outputs] the operator's output; the loss's gradient by it */
    double *want;       /* [outputs] the output of the reference */
    double *want_bound; /* [outputs] the error that is allowed */
} problem;

/* theta is random in +-2 and dy in +-1; all else is 0. Freed by problem_free. */
problem problem_new(size_t n, size_t outputs, uint32_t seed);
void problem_free(problem *p);

/* The operator adds to the gradients from index `from` on: gives them values before. */
void problem_add_to(problem *p, size_t from);

/* Fails the test unless y is want within want_bound. */
void check_forward(const char *what, const problem *p);

/* Fails the test unless gradient - before is the gradient of loss within bound. */
void check_backward(const char *what, const problem *p, check_loss *loss, const void *context);

/* sum_i y_i dy_i */
double weighted(const double *y, const float *dy, size_t n);

#endif
