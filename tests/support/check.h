/* What the tests share: comparisons that NaN fails, random values, and memory in which reads and
 * writes out of bounds are noticed. */
#ifndef VIT_TESTS_SUPPORT_CHECK_H
#define VIT_TESTS_SUPPORT_CHECK_H

#include "vit/base/random.h"
#include "vit/kernels/kernels.h"
#include "vit/ops/attention.h"
#include <stdbool.h>
#include <stddef.h>

/* ---- comparisons ---- */

/* Whether a and b have the same bits, or are both NaN. */
bool check_same(float a, float b);

/* The index of the first of n elements that differ; n if none does. */
size_t check_first_other(const float *a, const float *b, size_t n);

/* Whether |got[i] - want[i]| <= bound[i] for all i; false if one of the three is NaN. Reports the
 * first element out of bounds on stderr. */
bool check_within(const char *what, const float *got, const double *want, const double *bound,
                  size_t n);

/* max |got - want| / max |want|; 0 if got equals want, NaN if a number is NaN or infinite, so write
 * assert_true(check_difference(...) <= bound). */
double check_difference(const float *got, const float *want, size_t n);

/* ---- kernels ---- */

/* out: the tables of kernels that this processor runs, scalar first; returns how many. */
#define CHECK_MOST_TABLES 6
size_t check_tables(const vit_kernels *out[CHECK_MOST_TABLES]);

/* The same with those that differ in products of integers and of bfloat16 alone. */
size_t check_all_tables(const vit_kernels *out[CHECK_MOST_TABLES]);

/* out: the tables that have bfloat16, in each arithmetic plain C and the processor's best; how
 * many, 0 where there is only the scalar table. */
#define CHECK_BF16_TABLES 4
size_t check_bf16_tables(const vit_kernels *out[CHECK_BF16_TABLES]);

/* ---- gradients ---- */

/* The unit roundoff u of float, and the bound n u / (1 - n u) on the relative error of n successive
 * roundings (Higham: Accuracy and Stability of Numerical Algorithms, lemma 3.1). */
#define CHECK_ROUNDOFF 0x1p-24
double check_gamma(size_t roundings);

/* Errors of the kernels' functions on the numbers that the tests sample; over all floats they are a
 * little larger, as vit/kernels/kernels.h states. */
#define CHECK_EXP_ERROR 9e-8           /* relative */
#define CHECK_GELU_ERROR 7.2e-8        /* over |x| */
#define CHECK_GELU_SLOPE_ERROR 1.13e-7 /* absolute */
#define CHECK_SWISH_ERROR 1.5e-7       /* over |x| */
#define CHECK_SWISH_SLOPE_ERROR 2.2e-7 /* absolute */

/* An instruction set with the pairs of bfloat16: the processor's, or "scalar"; NULL: there is none,
 * and tests of it are skipped. */
const char *check_bf16_cpu(void);

/* A loss as a function of n parameters, in double. */
typedef double check_loss(const double *theta, const void *context);

/* Whether gradient - before (NULL: 0) is the gradient of the loss at theta [n]: along random
 * directions and single parameters v, sum_i gradient_i v_i may differ from the finite difference by
 * sum_i bound_i |v_i| plus the error of the finite difference, which is estimated by halving its
 * step. */
bool check_gradient(const char *what, check_loss *loss, const void *context, const double *theta,
                    size_t n, const float *gradient, const float *before, const double *bound);

/* ---- values ---- */

/* Random numbers for tests. */
vit_random check_random(uint32_t seed);

/* x[i] uniform in [-size, size). */
void check_fill(float *x, size_t n, float size, vit_random *r);
void check_fill_double(double *x, size_t n, double size, vit_random *r);

/* The sum of k products in this arithmetic of bfloat16, of numbers that are far from denormal:
 * operands are rounded to nearest, ties to even. */
float check_bf16_chain(vit_bf16 bf16, const float *a, size_t a_step, const float *b, size_t b_step,
                       size_t k);

/* a b + c rounded to 24 bits, ties to even; zero if it is then below 2^-126. Exact for products and
 * sums of nearly the same size. */
float check_step(float a, float b, float c);

/* A shape in which rows of q are contiguous, and those of k, v and o have gaps of 1 to 3 floats. */
vit_attention_shape check_attention_shape(size_t batch, size_t heads, size_t head_dim,
                                          size_t queries, size_t keys);

/* Memory for `count` elements, zeroed, or with a copy of `values`; freed by free. Without memory
 * the process is aborted. */
float *check_floats(size_t count);
float *check_copy(const float *values, size_t count);
double *check_doubles(size_t count);

/* The layer of a tensor, by its name, in timm's groups: 0 before the blocks, 1 + i in block i,
 * 1 + depth after them. */
size_t check_layer(const char *name, size_t depth);

/* ---- memory between two pages that must not be accessed ---- */

typedef enum check_place {
    CHECK_AT_END,    /* the last element is the last of the memory */
    CHECK_AT_START,  /* the first element is the first of the memory */
    CHECK_UNALIGNED, /* one float later, so that pointers have only alignment 4 */
    CHECK_PLACES,
} check_place;

typedef struct check_memory {
    float *data;   /* what check_memory_take returned last, */
    size_t count;  /* and the number of its elements */
    float *whole;  /* the accessible pages */
    size_t floats; /* in them */
} check_memory;

/* Memory for at least `floats`; freed by check_memory_free. */
check_memory check_memory_new(size_t floats);
void check_memory_free(check_memory *memory);

/* `count` floats in that memory. They, and 64 floats before and after them, are set to the pattern.
 */
float *check_memory_take(check_memory *memory, size_t count, check_place place);

/* Whether the floats before and after still have the pattern: nothing was written out of bounds. */
bool check_memory_intact(const check_memory *memory);

/* Whether x has the bits of the pattern. It is a NaN that no computation returns, so that reading
 * out of bounds shows in the result. */
bool check_is_pattern(float x);

#endif
