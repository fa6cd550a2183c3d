/* What the tests share: comparisons that NaN fails, random fillings, and memory that notices stray
 * reads and writes. */
#ifndef VIT_TESTS_CHECK_H
#define VIT_TESTS_CHECK_H

#include "vit/base/random.h"
#include "vit/kernels/kernels.h"
#include "vit/ops/attention.h"
#include <stdbool.h>
#include <stddef.h>

/* ---- comparisons ---- */

/* Same bits, or both NaN. */
bool check_same(float a, float b);

/* Index of the first of n elements that are not the same; n where there is none. */
size_t check_first_other(const float *a, const float *b, size_t n);

/* Whether |got[i] - want[i]| <= bound[i] for all i; NaN in any of the three is no. Says on stderr
 * what is wrong with the first that is outside. */
bool check_within(const char *what, const float *got, const double *want, const double *bound,
                  size_t n);

/* Largest |got - want| over largest |want|; NaN as soon as one number is NaN or infinite, so
 * compare as assert_true(check_difference(...) <= bound). 0 where all are 0. */
double check_difference(const float *got, const float *want, size_t n);

/* ---- kernels ---- */

/* The tables that this processor runs, scalar first; how many. */
#define CHECK_MOST_TABLES 4
size_t check_tables(const vit_kernels *out[CHECK_MOST_TABLES]);

/* ---- gradients ---- */

/* Unit roundoff of float, and the bound n u / (1 - n u) on n roundings one after another (Higham:
 * Accuracy and Stability of Numerical Algorithms, lemma 3.1). */
#define CHECK_ROUNDOFF 0x1p-24
double check_gamma(size_t roundings);

/* Errors of the kernels' functions on what the tests sample; over all floats, as
 * vit/kernels/kernels.h states them, they are a little larger. */
#define CHECK_EXP_ERROR 9e-8           /* relative */
#define CHECK_GELU_ERROR 7.2e-8        /* over |x| */
#define CHECK_GELU_SLOPE_ERROR 1.13e-7 /* absolute */
#define CHECK_SWISH_ERROR 1.5e-7       /* over |x| */
#define CHECK_SWISH_SLOPE_ERROR 2.2e-7 /* absolute */

/* An instruction set that has bfloat16 here: the processor's, or "scalar" in a build with the
 * reference (make debug); NULL where there is none, and tests of it are skipped. */
const char *check_bf16_cpu(void);

/* A loss as a function of n parameters, in double. */
typedef double check_loss(const double *theta, const void *context);

/* Whether gradient - before (NULL: 0) is the loss's gradient at theta: along random directions and
 * single parameters v, sum_i gradient_i v_i may differ from the finite difference by
 * sum_i bound_i |v_i| and by the error of the difference itself, which halving its step shows. */
bool check_gradient(const char *what, check_loss *loss, const void *context, const double *theta,
                    size_t n, const float *gradient, const float *before, const double *bound);

/* ---- fillings ---- */

vit_random check_random(uint32_t seed);

/* x[i] uniform in [-size, size). */
void check_fill(float *x, size_t n, float size, vit_random *r);
void check_fill_double(double *x, size_t n, double size, vit_random *r);

/* A sum of k products as VDPBF16PS has it: numbers are rounded to bfloat16, to nearest, ties to
 * even; of each pair of them the second product is added, then the first. */
float check_pair_chain(const float *a, size_t a_step, const float *b, size_t b_step, size_t k);

/* Rows of q lie close together, those of the others with gaps of 1 to 3 floats between them. */
vit_attention_shape check_attention_shape(size_t batch, size_t heads, size_t head_dim,
                                          size_t queries, size_t keys);

/* Memory for count elements, zeroed; ends the process where there is none. */
float *check_floats(size_t count);
float *check_copy(const float *values, size_t count);
double *check_doubles(size_t count);

/* The layer of a tensor, by its name as timm groups them: 0 before the blocks, 1 + i of block i,
 * 1 + depth after them. */
size_t check_layer(const char *name, size_t depth);

/* ---- memory with pages before and behind it that cannot be touched ---- */

typedef enum check_place {
    CHECK_AT_END,    /* the last element ends where memory does */
    CHECK_AT_START,  /* the first one begins where memory does */
    CHECK_UNALIGNED, /* one float after that: pointers have alignment 4, no more */
    CHECK_PLACES,
} check_place;

typedef struct check_memory {
    float *data;   /* what check_memory_take gave last */
    size_t count;  /* how many */
    float *whole;  /* the accessible pages */
    size_t floats; /* in them */
} check_memory;

/* Room for at least `floats`; freed by check_memory_free. */
check_memory check_memory_new(size_t floats);
void check_memory_free(check_memory *memory);

/* `count` floats; they, and what lies before and behind them, hold the pattern. */
float *check_memory_take(check_memory *memory, size_t count, check_place place);

/* Whether what lies before and behind still holds it. */
bool check_memory_intact(const check_memory *memory);

/* Whether x has the bits of the pattern, a NaN: what was read astray and used shows, too. */
bool check_is_pattern(float x);

#endif
