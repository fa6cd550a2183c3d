/* The inner loops of the library: one table of functions per instruction set.
 *
 * Every table computes the same bits (docs/design.md, "Canonical arithmetic"): an element of a
 * matrix product is one chain of fused multiply-adds over k in ascending order; a reduction over a
 * row runs in 16 virtual lanes, folded by 8, 4, 2, 1. The loops are therefore written once, in
 * gemm.inc, rows.inc and resample.inc, over the type v16, a vector of 16 lanes; v16_scalar.h
 * documents its functions, and v16_avx2.h, v16_avx512.h and, over v16_four.inc, v16_sse41.h,
 * v16_neon.h and v16_simd128.h implement them with instructions. Loops over small integers in
 * ink.inc are plain C, which the compiler vectorises. A new instruction set is a new v16_*.h and a
 * ten-line kernels_*.c.
 *
 * Outputs come first. Pointers need no alignment. Nothing is read or written outside the given
 * elements, except where a kernel says that it uses the padding of rows. Rows of a matrix are `row`
 * floats apart.
 */
#ifndef VIT_KERNELS_KERNELS_H
#define VIT_KERNELS_KERNELS_H

#include "vit/base/cpu.h"
#include "vit/vit.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__FAST_MATH__)
#error "-ffast-math would change results; build without it"
#endif

/* Columns of a packed panel of B, the same in the whole process: the tile.cols of this processor's
 * best table, which that of every other table divides. A tile then reads its part of a panel in one
 * stretch. Of every other cache line it would fill half of the sets of a first-level cache, and
 * leave none of their ways to A. */
size_t vit_panel(void);
#define VIT_MOST_PANEL ((size_t)32) /* on any processor */

/* The most words of k in a small product whose A is read down its columns: two numbers each of 64
 * queries. */
#define VIT_MOST_TURNED ((size_t)32)

/* Floats of a row that a run prefetches: two cache lines. */
#define VIT_AHEAD ((size_t)32)

/* The most elements that one call of square_sum takes. */
#define VIT_CHUNK 4096

/* n rounded up to whole vectors of 16: the floats from row to row of a matrix with padded rows. */
static inline size_t vit_padded(size_t n) {
    return (n + 15) / 16 * 16;
}

/* What is done to an element c of a product when its chain is complete, in this order, each step
 * rounded: c * scale, + bias[column], * gamma[column], * keep[(row + r) / keep_rows], r being the
 * row counted from where C points, + residual[r][column]. */
typedef struct vit_epilogue {
    int accumulate; /* chains start from what C holds, not from +0 */
    float scale;    /* 1: none */
    /* of 8-bit integers, in place of scale: c = float(c) * row_scales[row] * column_scales[column],
     * from left to right. NULL: C receives the sums themselves, for the next block of k. */
    const float *row_scales, *column_scales;
    const int32_t *start; /* [columns] of 8-bit integers: where chains start, in place of 0; for the
                             kernels that add 128 to A */
    const float *bias;    /* [columns] or NULL */
    const float *gamma;   /* [columns] or NULL: layer scale */
    const float *keep;    /* [pictures] or NULL: drop path, a factor for every keep_rows rows */
    size_t keep_rows, row; /* row: set by vit_gemm, the row of the whole product where C points */
    const float *residual; /* [rows][columns], residual_row apart, or NULL; may be C itself */
    size_t residual_row;
} vit_epilogue;

/* The scalars of one AdamW step (Loshchilov, Hutter: Decoupled Weight Decay Regularization,
 * algorithm 2), computed in double and rounded once. */
typedef struct vit_adamw_scalars {
    float clip;  /* every gradient is multiplied by it first */
    float decay; /* 1 - lr * weight_decay */
    float beta1, beta2;
    float rest1, rest2; /* 1 - beta, each rounded from double */
    float root;         /* 1 / sqrt(1 - beta2^t) */
    float step_size;    /* lr / (1 - beta1^t) */
    float eps;
} vit_adamw_scalars;

/* The weights w of four neighbouring 8-bit samples for `resample`, each in two parts: w = high *
 * 2^15 + low, low in [-2^14, 2^14). A field holds two int16, the first in its lower half: of
 * samples 0 and 2 (even) or of samples 1 and 3 (odd). */
typedef struct vit_quad_weights {
    int32_t even_low, odd_low, even_high, odd_high;
} vit_quad_weights;

/* Memory to prefetch during the first `tiles` tiles of a run: while tile t is computed, `rows` rows
 * of VIT_AHEAD floats, `row` floats apart, from `from + t * step` on. Only a hint, so it may point
 * past the end of the matrix. */
typedef struct vit_ahead {
    const float *from;
    size_t row, rows, step, tiles;
} vit_ahead;

/* A run: tiles of the same size, computed one after the other, each a product C = epilogue(A B). A
 * is [rows][k] with element (i, p) at a[i * a_row + p * a_col], B is [k][columns] with element
 * (p, j) at b[p * b_row + j]. c, a, b, epilogue and ahead are given for the first tile. */
typedef struct vit_tiles {
    size_t count;
    size_t rows, columns, k; /* rows <= tile.rows, columns <= tile.cols */
    float *c;
    const float *a, *b;
    size_t c_row, a_row, a_col, b_row;
    size_t down, right;    /* rows and columns of C from one tile to the next */
    size_t a_step, b_step; /* floats of A and of B from one tile to the next */
    vit_epilogue epilogue;
    vit_ahead ahead[2];
} vit_tiles;

/* How weights are stored that products of floats read: as floats; in halves, two numbers of 16 bits
 * of adjacent k in a word, the first in its lower half, which are floats again before they are
 * multiplied; or not packed, as floats or as halves in the rows of W, of which those in halves have
 * an even number. Every bfloat16 and every float16 is a float, so that no bit of a result depends
 * on it. */
typedef enum vit_stored {
    VIT_STORED_FLOATS,
    VIT_STORED_BF16,
    VIT_STORED_F16,
    VIT_STORED_ROWS,
    VIT_STORED_ROWS_BF16,
    VIT_STORED_ROWS_F16,
    VIT_STORED_COUNT,
} vit_stored;

/* The largest tile that suits the registers and the first-level cache of an instruction set: TILE_*
 * in its v16_*.h. */
typedef struct vit_tile_size {
    size_t rows, cols;
    size_t depth; /* words of k in one call of gemm_tiles; longer k is cut into blocks */
    bool fixed;   /* all but the last tile of C are as high as this: fewer rows take as long */
} vit_tile_size;

/* Matrix products in one precision (vit/ops/precision.h): of floats, or of numbers rounded to
 * bfloat16 (to nearest, ties to even) with sums in float32, or of integers of 8 bits with sums in
 * integers of 32 bits. Two bfloat16 numbers of adjacent k, the first in the lower half, make a
 * pair: a word of 32 bits that is moved like a float, so tiles, panels and blocks of pairs are laid
 * out like those of floats. So are quads, four 8-bit integers of adjacent k, the first in the
 * lowest byte: between two blocks of k, C holds integers that only gemm_tiles reads, and the
 * epilogue of the last block makes floats of them. */
typedef struct vit_product_kernels {
    /* Computes all tiles of a run, and prefetches its ahead[0] and ahead[1] meanwhile, as much of
     * them as k has steps for. For pairs, k counts pairs; an element is one chain over the pairs in
     * ascending order, each step as the instruction VDPBF16PS does it: first the product of the
     * second numbers is added, then that of the first ones, each a fused multiply-add rounded to
     * nearest that takes and gives denormals as zero. For quads, k counts quads; B holds them, A
     * what `quantise` makes, and sums are exact as long as they fit 32 bits. */
    void (*gemm_tiles)(const vit_tiles *run);

    /* Which of the two arithmetics of bfloat16; VIT_BF16_ANY: it is another precision. With
     * VIT_BF16_TILES an element is the sum of blocks of 16 pairs, the first at 0, the last filled
     * up with pairs of 0: from +0 a chain over the first numbers of a block's pairs and one over
     * the second ones, ascending; their sum is added to the element. Every step is rounded to
     * nearest, and takes and gives denormals as zero. */
    vit_bf16 bf16;

    /* to[j][i] = from[i][j], rows to_row and from_row apart; from: [rows][n]. Rows of `to` are
     * filled up to whole vectors with +0. The table of pairs pairs neighbours in a row of `from`;
     * the last of an odd number is paired with +0. */
    void (*transpose)(float *to, size_t to_row, const float *from, size_t from_row, size_t rows,
                      size_t n);

    /* to[i][j] = from[i][j], rows to_row and from_row apart; from: [rows][n]. Rows of `to` are
     * filled up to whole vectors with +0, which the next row may overwrite. The table of pairs
     * pairs neighbours in a row (copy_along, which also works in place) or in a column
     * (copy_across); the last of an odd number is paired with +0. */
    void (*copy_along)(float *to, size_t to_row, const float *from, size_t from_row, size_t rows,
                       size_t n);
    void (*copy_across)(float *to, size_t to_row, const float *from, size_t from_row, size_t rows,
                        size_t n);

    /* The table of quads has these two instead of the copies. A row x of A as its tiles read it:
     * *scale = max |x| / 127, x / scale rounded to nearest, ties to even. A scale below FLT_MIN
     * becomes 0, and the integers with it; of a row that is not finite it is NaN. words: a_words
     * words for each quad, for n rounded up to whole vectors of numbers, past its end those of 0.
     */
    void (*quantise)(float *words, float *scale, const float *x, size_t n);
    size_t a_words; /* 2 where the numbers of A are widened to 16 bits, else 1 */

    /* By AMX, else no rows: the tile, in place of that of the table. A is read word by word along
     * its rows (a_col == 1), and `turn` packs an A that is stored as [k][m]. */
    vit_tile_size tile;
    /* All products of vit_gemm_small, in place of runs, with a configuration for each size of
     * tiles. The epilogue may only accumulate or scale; of an A that is read down its columns, k is
     * at most VIT_MOST_TURNED words. */
    void (*gemm_small)(const vit_tiles *products);
    /* to[j][i] = the pair of from[2 i][j] and from[2 i + 1][j], rows to_row and from_row apart;
     * from: [rows][n]. Rows of `to` are filled up to whole vectors with +0. */
    void (*turn)(float *to, size_t to_row, const float *from, size_t from_row, size_t rows,
                 size_t n);
} vit_product_kernels;

/* For `largest`: the pixels of a 3x3 pooling window, and the place where none is above 0. */
#define VIT_LARGEST_ROWS 9
#define VIT_NO_PLACE 255

/* For `walk`: rows of a picture, at most VIT_PATH_ROWS. */
enum { VIT_PATH_ROW = 32, VIT_PATH_GAP = 3, VIT_PATH_LOST = INT16_MIN, VIT_PATH_ROWS = 640 };

typedef struct vit_kernels {
    vit_cpu cpu;
    vit_tile_size tile;
    const vit_product_kernels *products[VIT_PRECISION_COUNT]; /* NULL: it does not have them */

    /* to: [rows][panel] = the finite numbers of halves, from: [rows / 2, rounded up][panel]; panel
     * is that of vit_panel. NULL for floats. */
    void (*widen[VIT_STORED_COUNT])(float *to, const float *from, size_t rows, size_t panel);

    /* The lecture's softmax of every row, in place; n > 0: x = exp(x - max x) * (1 / sum of those
     * exponentials). Rows are vit_padded(n) floats apart; the padding is ignored and becomes +0. */
    void (*softmax)(float *x, size_t rows, size_t n);

    /* dp = scale * p * (dp - sum_j p dp): dS from P and dP, rows padded as those of softmax. The
     * padding of p must be +0; that of dp is ignored, and its values afterwards are unspecified. */
    void (*softmax_backward)(float *dp, const float *p, float scale, size_t rows, size_t n);

    /* y = (x - mean) * rstd * gamma + beta, rstd = 1 / sqrt(variance + eps), per row of n,
     * contiguous (Ba, Kiros, Hinton: Layer Normalization, eq. 4). mean, rstd: [rows]. A row whose
     * variance overflows becomes NaN. mean NULL, here and below: an RMS norm (Zhang, Sennrich: Root
     * Mean Square Layer Normalization), whose mean and beta are 0, and are not read or written. */
    void (*layernorm)(float *y, float *mean, float *rstd, const float *x, const float *gamma,
                      const float *beta, float eps, size_t rows, size_t n);

    /* Recomputes the same y from mean and rstd. */
    void (*layernorm_recompute)(float *y, const float *x, const float *mean, const float *rstd,
                                const float *gamma, const float *beta, size_t rows, size_t n);

    /* dx += gradient of layernorm, given dy. */
    void (*layernorm_backward)(float *dx, const float *dy, const float *x, const float *mean,
                               const float *rstd, const float *gamma, size_t rows, size_t n);

    /* dgamma, dbeta += gradients of layernorm, for n columns of dy and x, whose rows are `row`
     * apart: one chain per column, rows ascending. */
    void (*layernorm_sums)(float *dgamma, float *dbeta, const float *dy, const float *x,
                           const float *mean, const float *rstd, size_t rows, size_t n, size_t row);

    /* y = x Phi(x), Phi being the normal distribution function (Hendrycks, Gimpel: Gaussian Error
     * Linear Units); dx = dy (Phi(x) + x Phi'(x)), and y is recomputed unless it is NULL. In place
     * is allowed. Errors: of y at most 7.3e-8 |x|; of dx at most 1.2e-7 |dy|, before rounding. */
    void (*gelu)(float *y, const float *x, size_t n);
    void (*gelu_backward)(float *dx, float *y, const float *dy, const float *x, size_t n);

    /* y = max(0, x); dx = dy where x > 0, else 0, and y is recomputed unless it is NULL. In place
     * is allowed. */
    void (*relu)(float *y, const float *x, size_t n);
    void (*relu_backward)(float *dx, float *y, const float *dy, const float *x, size_t n);

    /* y[j] = the largest of +0 and rows[k][j], for all rows that are not NULL, of n elements each;
     * NaN counts as larger than everything. place[j], unless place is NULL: the k it was found at,
     * the first of equals, or VIT_NO_PLACE where none is above 0. */
    void (*largest)(float *y, uint8_t *place, const float *const rows[VIT_LARGEST_ROWS], size_t n);

    /* y = x sigma(a x + b x^3), sigma(t) = 1 / (1 + exp(-t)): by the choice of a and b SiLU or one
     * of the two approximations of GELU (vit/ops/activation.c); dx = dy y', and y is recomputed
     * unless it is NULL. In place is allowed. Errors, for those three: of y at most 1.6e-7 |x| +
     * FLT_MIN, of dx at most 2.3e-7 |dy|. */
    void (*swish)(float *y, const float *x, float a, float b, size_t n);
    void (*swish_backward)(float *dx, float *y, const float *dy, const float *x, float a, float b,
                           size_t n);

    /* y += x. */
    void (*add)(float *y, const float *x, size_t n);

    /* y = factor x; in place is allowed. */
    void (*scale)(float *y, const float *x, float factor, size_t n);

    /* y = a b, y += a b, element by element; y may be a or b. */
    void (*multiply)(float *y, const float *a, const float *b, size_t n);
    void (*multiply_add)(float *y, const float *a, const float *b, size_t n);

    /* y += share (x - y): an exponential moving average. */
    void (*average)(float *y, const float *x, float share, size_t n);

    /* sums[j] += sum_i x[i][j], one chain per column, rows ascending. */
    void (*column_sums)(float *sums, const float *x, size_t rows, size_t n, size_t row);

    /* x becomes the nearest number of bfloat16, of two the even one; NaN stays NaN. */
    void (*round_bf16)(float *x, size_t n);

    /* The sum of x^2, in 16 lanes; n <= VIT_CHUNK. */
    float (*square_sum)(const float *x, size_t n);

    /* One AdamW step on n weights w with gradients g and moments m, v. */
    void (*adamw)(float *w, float *m, float *v, const float *g, const vit_adamw_scalars *s,
                  size_t n);

    /* out[16 g + lane] = clip((sum over i < count of weights[i] . quad + 2^(bits-1)) >> bits, 0,
     * 255), the quad being the four bytes at quads[step i + 64 g + 4 lane]; quads: [count] blocks
     * of [groups][16 lanes][4], `step` bytes apart. The sum must fit 32 bits. */
    void (*resample)(uint8_t *out, const uint8_t *quads, size_t step, size_t groups,
                     const vit_quad_weights *weights, size_t count, int bits);

    /* Prepares `resample` along rows, with rows as lanes and channels (1 or 3) as groups: pixels
     * [rows <= 16][width][channels], `stride` bytes from row to row, become quads
     * [ceil(width / 4)][channels][16][4]. Bytes of quads beyond the picture are not written. */
    void (*pack_rows)(uint8_t *quads, const uint8_t *pixels, size_t stride, size_t rows,
                      size_t width, size_t channels);

    /* Prepares one block for `resample` along columns, with neighbouring samples as lanes: the
     * first `samples` samples of 1 to 4 rows, `stride` bytes apart, become quads [samples][4]; the
     * first row is repeated for missing ones. */
    void (*pack_columns)(uint8_t *quads, const uint8_t *pixels, size_t stride, size_t rows,
                         size_t samples);

    /* to = max(a, b ^ flip_b) ^ flip_to, bytes that are not those of a or b. A flip is 255, which
     * makes maxima minima, or 0. */
    void (*greater)(uint8_t *to, const uint8_t *a, const uint8_t *b, uint8_t flip_b,
                    uint8_t flip_to, size_t n);

    /* Paths over ink, straight down or nearly so, that end in 64 pixels of a row, given those that
     * end in the row before. A path goes straight on or, at least two rows after it last did so,
     * into a neighbouring column, and over at most VIT_PATH_GAP rows without ink. The longest is
     * kept; length * VIT_PATH_ROW and what else there is to know about it make a number, negative
     * where there is none. straight[i]: the path that ends here; aside[i]: what it becomes in a
     * neighbouring column of the next row, or VIT_PATH_LOST; end[i]: VIT_PATH_LOST if it must not
     * go on without ink, else 0. before, beside, ends: those of the row before, from [-1] to [64].
     * ink: a bit for each pixel. Returns the largest path. */
    int16_t (*walk)(int16_t *straight, int16_t *aside, int16_t *end, const int16_t *before,
                    const int16_t *beside, const int16_t *ends, uint64_t ink);

    /* y = exp(x) for x <= 88, for tests and error tables. The relative error is at most 9e-8 for
     * x >= -87.33; below that y is +0. All errors in this file are measured over all floats by
     * tests/fixtures/errors.c. */
    void (*exp)(float *y, const float *x, size_t n);
} vit_kernels;

/* The table for the highest instruction set that is at most `highest` and that this processor and
 * this build have. Never NULL: scalar C always works. VIT_CPU_AMX asks the system for permission.
 */
const vit_kernels *vit_kernels_choose(vit_cpu highest);

/* The same for products in this arithmetic of bfloat16: its products may have another one, or
 * none. */
const vit_kernels *vit_kernels_with(vit_cpu highest, vit_bf16 bf16);

/* The tables of this build, for vit_kernels_choose; NULL where the compiler cannot make one. */
const vit_kernels *vit_kernels_scalar(void);
const vit_kernels *vit_kernels_scalar_tiles(void); /* with products as those of tiles */
const vit_kernels *vit_kernels_sse41(void);
const vit_kernels *vit_kernels_neon(void);
const vit_kernels *vit_kernels_simd128(void);
const vit_kernels *vit_kernels_avx2(void);
const vit_kernels *vit_kernels_avx512(void);
const vit_kernels *vit_kernels_avx512bf16(void);
const vit_kernels *vit_kernels_amx(void);

/* Products of bfloat16 by VDPBF16PS and by AMX (all functions NULL where the compiler cannot make
 * them), and the same bits in plain C. */
extern const vit_product_kernels vit_pairs_avx512bf16, vit_pairs_amx, vit_pairs_reference,
    vit_pairs_amx_reference;

/* Products of 8-bit integers, all with the same results; those with VNNI are for processors that
 * have VPDPBUSD for registers of 256 or 512 bits (vit/base/cpu.h). Functions are NULL where the
 * compiler cannot make them. */
extern const vit_product_kernels vit_quads_scalar, vit_quads_sse41, vit_quads_neon,
    vit_quads_simd128, vit_quads_avx2, vit_quads_avxvnni, vit_quads_avx512, vit_quads_avx512vnni,
    vit_quads_amx;

#endif
