/* The inner loops of the library: one table of functions per instruction set.
 *
 * Every table computes the same bits (docs/design.md, "Canonical arithmetic"): an element of a
 * matrix product is one chain of fused multiply-adds over k in ascending order; a reduction over a
 * row runs in 16 virtual lanes, folded by 8, 4, 2, 1. The loops are therefore written once, in
 * gemm.inc, rows.inc and resample.inc, over a type of 16 lanes; v16_scalar.h, v16_neon.h,
 * v16_avx2.h and v16_avx512.h say what those lanes are. A new instruction set is a new v16_*.h and
 * a ten-line kernels_*.c.
 *
 * Outputs come first. Pointers need no alignment. Nothing is read or written outside the given
 * elements. Rows of a matrix are `row` floats apart.
 */
#ifndef VIT_KERNELS_KERNELS_H
#define VIT_KERNELS_KERNELS_H

#include "vit/base/cpu.h"
#include <stddef.h>
#include <stdint.h>

#if defined(__FAST_MATH__)
#error "-ffast-math would change results; build without it"
#endif

/* Columns of a packed panel; every table's tile.cols divides it. */
#define VIT_PANEL 32

/* Elements whose squares are summed at once; see square_sum. */
#define VIT_CHUNK 4096

/* Floats from row to row of a matrix whose rows of n end with whole vectors. */
static inline size_t vit_padded(size_t n) {
    return (n + 15) / 16 * 16;
}

/* What happens to a finished element c of a product, in this order, each step rounded: c * scale,
 * + bias[column], * gamma[column], * keep[(row + r) / keep_rows] in the r-th row that C points to,
 * + residual[r][column]. */
typedef struct vit_epilogue {
    int accumulate;        /* the chain continues from what C holds, instead of from +0 */
    float scale;           /* 1: none */
    const float *bias;     /* [columns] or NULL */
    const float *gamma;    /* [columns] or NULL: layer scale */
    const float *keep;     /* or NULL: drop path, whose pictures have keep_rows rows each */
    size_t keep_rows, row; /* vit_gemm sets `row` */
    const float *residual; /* [rows][columns], residual_row apart, or NULL; may be C itself */
    size_t residual_row;
} vit_epilogue;

/* The scalars of one AdamW step (Loshchilov, Hutter: Decoupled Weight Decay Regularization,
 * algorithm 2), computed in double and rounded once. */
typedef struct vit_adamw_scalars {
    float clip;         /* every gradient is multiplied by it first */
    float decay;        /* 1 - lr * weight_decay */
    float beta1, beta2; /* with 1 - beta beside them, each rounded from double */
    float rest1, rest2;
    float root;      /* 1 / sqrt(1 - beta2^t) */
    float step_size; /* lr / (1 - beta1^t) */
    float eps;
} vit_adamw_scalars;

/* The weights w of four neighbouring 8-bit samples for `resample`: w = high * 2^15 + low, low
 * being in [-2^14, 2^14); each field is two int16, the lower bits first: of samples 0 and 2 (even),
 * of 1 and 3. */
typedef struct vit_quad_weights {
    int32_t even_low, odd_low, even_high, odd_high;
} vit_quad_weights;

/* Rows of VIT_PANEL floats, `row` apart, that the caller will want after a tile, and `step` floats
 * further on those after the next one, for so many tiles: a hint to the cache, which may point past
 * the matrix. */
typedef struct vit_ahead {
    const float *from;
    size_t row, rows, step, tiles;
} vit_ahead;

/* Tiles of one size, one after the other, each of them a product C = epilogue(A B): A is [rows][k]
 * with element (i, p) at a[i * a_row + p * a_col], B is [k][columns] with element (p, j) at
 * b[p * b_row + j]. C, a, b, the epilogue and what is fetched ahead are the first tile's. */
typedef struct vit_tiles {
    size_t count;
    size_t rows, columns, k; /* rows <= tile.rows, columns <= tile.cols */
    float *c;
    const float *a, *b;
    size_t c_row, a_row, a_col, b_row;
    size_t down, right;    /* the next tile of C: so many rows below, columns to the right */
    size_t a_step, b_step; /* floats from its A and its B to the next one's */
    vit_epilogue epilogue;
    vit_ahead ahead[2];
} vit_tiles;

/* Matrix products: of floats, or of pairs of numbers rounded to bfloat16, to nearest, ties to even,
 * whose sums are float32. Two numbers of adjacent k, the first in the lower half, are a pair, which
 * is moved as if it were a float: tiles, panels and blocks of pairs lie as those of floats do. */
typedef struct vit_product_kernels {
    /* Computes all tiles of a run; its ahead[0] and ahead[1] are fetched meanwhile, as far as k is
     * long.
     * Of pairs, k counts them; an element is one chain over pairs in ascending order, each step as
     * the instruction VDPBF16PS has it: the second product, then the first, each in one fused step
     * rounded to nearest, denormals being zero. */
    void (*gemm_tiles)(const vit_tiles *run);

    /* to[j][i] = from[i][j], rows to_row and from_row apart; from: [rows][n]. Rows of `to` end with
     * whole vectors: behind their `rows` elements +0 follows. Into pairs: of neighbours in a row of
     * `from`; the last has +0 where there is no neighbour. */
    void (*transpose)(float *to, size_t to_row, const float *from, size_t from_row, size_t rows,
                      size_t n);

    /* to[i][j] = from[i][j], rows to_row and from_row apart; from: [rows][n]. Rows of `to` end with
     * whole vectors: +0 follows, which the next row may overwrite. Into pairs: of neighbours in a
     * row (copy_along, also in place) or in a column (copy_across); the last has +0 where there is
     * none. */
    void (*copy_along)(float *to, size_t to_row, const float *from, size_t from_row, size_t rows,
                       size_t n);
    void (*copy_across)(float *to, size_t to_row, const float *from, size_t from_row, size_t rows,
                        size_t n);
} vit_product_kernels;

/* What the registers and the first-level cache of an instruction set allow: said beside its lanes,
 * in v16_*.h. */
typedef struct vit_tile_size {
    size_t rows, cols; /* of a tile, at most */
    size_t depth;      /* words of k that it is best given at once, at most */
} vit_tile_size;

/* Of `largest`: the pixels that 3x3 max pooling looks at. */
#define VIT_LARGEST_ROWS 9
#define VIT_NO_PLACE 255

typedef struct vit_kernels {
    vit_cpu cpu;
    vit_tile_size tile; /* of gemm_tiles */
    vit_product_kernels floats;
    const vit_product_kernels *pairs; /* NULL: the instruction set has no bfloat16 */

    /* Row by row of n > 0 (the lecture's softmax): x = exp(x - max x) * (1 / sum of that). Rows are
     * vit_padded(n) apart; what lies behind a row's n elements is ignored and becomes +0, so that
     * every vector is whole. */
    void (*softmax)(float *x, size_t rows, size_t n);

    /* dp = scale * p * (dp - sum_j p dp): dS from P and dP, rows as those of softmax; what lies
     * behind a row of dp is ignored and becomes something. */
    void (*softmax_backward)(float *dp, const float *p, float scale, size_t rows, size_t n);

    /* y = (x - mean) * rstd * gamma + beta, rstd = 1 / sqrt(variance + eps), per row of n,
     * contiguous (Ba, Kiros, Hinton: Layer Normalization, eq. 4). mean, rstd: [rows]. All NaN where
     * the variance is beyond the largest float. */
    void (*layernorm)(float *y, float *mean, float *rstd, const float *x, const float *gamma,
                      const float *beta, float eps, size_t rows, size_t n);

    /* The same y once more, given mean and rstd. */
    void (*layernorm_recompute)(float *y, const float *x, const float *mean, const float *rstd,
                                const float *gamma, const float *beta, size_t rows, size_t n);

    /* dx += gradient of layernorm, given dy. */
    void (*layernorm_backward)(float *dx, const float *dy, const float *x, const float *mean,
                               const float *rstd, const float *gamma, size_t rows, size_t n);

    /* dgamma, dbeta += gradients of layernorm, of n columns of dy and x, whose rows are `row`
     * apart: one ascending chain a column. */
    void (*layernorm_sums)(float *dgamma, float *dbeta, const float *dy, const float *x,
                           const float *mean, const float *rstd, size_t rows, size_t n, size_t row);

    /* y = x Phi(x), Phi the normal distribution (Hendrycks, Gimpel: Gaussian Error Linear Units);
     * dx = dy (Phi(x) + x Phi'(x)), and y once more unless it is NULL. In place is fine. Errors:
     * of y at most 7.3e-8 |x|, of dx, before it is rounded, 1.2e-7 |dy|. */
    void (*gelu)(float *y, const float *x, size_t n);
    void (*gelu_backward)(float *dx, float *y, const float *dy, const float *x, size_t n);

    /* y = max(0, x); dx = dy where x > 0, else 0, and y once more or NULL. In place is fine. */
    void (*relu)(float *y, const float *x, size_t n);
    void (*relu_backward)(float *dx, float *y, const float *dy, const float *x, size_t n);

    /* y = the largest of the rows that are not NULL, of n each, and +0, element by element; NaN is
     * larger than all. place, unless it is NULL: in which row, the first of equals, or VIT_NO_PLACE
     * where none is above 0. */
    void (*largest)(float *y, uint8_t *place, const float *const rows[VIT_LARGEST_ROWS], size_t n);

    /* y = x sigma(a x + b x^3), sigma(t) = 1 / (1 + exp(-t)): SiLU and the two approximations of
     * GELU, by a and b (ops/activation.c); dx = dy y', and y once more or NULL. In place is fine.
     * Errors, for those three: at most 1.6e-7 |x| + FLT_MIN and 2.3e-7 |dy|. */
    void (*swish)(float *y, const float *x, float a, float b, size_t n);
    void (*swish_backward)(float *dx, float *y, const float *dy, const float *x, float a, float b,
                           size_t n);

    /* y += x. */
    void (*add)(float *y, const float *x, size_t n);

    /* y = factor x; in place is fine. */
    void (*scale)(float *y, const float *x, float factor, size_t n);

    /* y = a b, y += a b, element by element; y may be a or b. */
    void (*multiply)(float *y, const float *a, const float *b, size_t n);
    void (*multiply_add)(float *y, const float *a, const float *b, size_t n);

    /* y += share (x - y): an exponential moving average. */
    void (*average)(float *y, const float *x, float share, size_t n);

    /* sums[j] += sum_i x[i][j], one ascending chain per column. */
    void (*column_sums)(float *sums, const float *x, size_t rows, size_t n, size_t row);

    /* Sum of x^2 in 16 lanes; n <= VIT_CHUNK. */
    float (*square_sum)(const float *x, size_t n);

    /* One AdamW step on n weights w with gradients g and moments m, v. */
    void (*adamw)(float *w, float *m, float *v, const float *g, const vit_adamw_scalars *s,
                  size_t n);

    /* out[16 g + lane] = clip((sum over i < count of weights[i] . quad + 2^(bits-1)) >> bits, 0,
     * 255), the quad being the four bytes at quads[step i + 64 g + 4 lane]: [count] steps of
     * [groups][16 lanes][4]. The sum fits 32 bits. */
    void (*resample)(uint8_t *out, const uint8_t *quads, size_t step, size_t groups,
                     const vit_quad_weights *weights, size_t count, int bits);

    /* Quads along rows for `resample`, the rows being the lanes and the channels (1 or 3) its
     * groups: pixels [rows <= 16][width][channels], `stride` bytes from row to row, to
     * quads [ceil(width / 4)][channels][16][4]. What is beyond the picture stays as it is. */
    void (*pack_rows)(uint8_t *quads, const uint8_t *pixels, size_t stride, size_t rows,
                      size_t width, size_t channels);

    /* One step of quads along columns, neighbouring samples being the lanes: the first `samples` of
     * 1 to 4 rows to quads [samples][4]; for missing rows the first is repeated. */
    void (*pack_columns)(uint8_t *quads, const uint8_t *pixels, size_t stride, size_t rows,
                         size_t samples);

    /* y = exp(x) for x <= 88: for tests and error tables. The error, measured over all floats by
     * tests/fixtures/errors.c as those above are, is at most 9e-8 of y from -87.33 on, below which
     * y is +0. */
    void (*exp)(float *y, const float *x, size_t n);
} vit_kernels;

/* The table for the highest instruction set that is at most `highest` and that this processor and
 * this build have. Never NULL: scalar C always works. */
const vit_kernels *vit_kernels_choose(vit_cpu highest);

/* The tables of this build, for vit_kernels_choose; NULL where the compiler cannot make one. */
const vit_kernels *vit_kernels_scalar(void);
const vit_kernels *vit_kernels_neon(void);
const vit_kernels *vit_kernels_avx2(void);
const vit_kernels *vit_kernels_avx512(void);
const vit_kernels *vit_kernels_avx512bf16(void);

/* The first all NULL where the compiler cannot make it. */
extern const vit_product_kernels vit_pairs_avx512bf16, vit_pairs_reference;

#endif
