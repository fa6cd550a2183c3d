/* Without a fused multiply-add: products are made in double, and each sum is rounded to float.
 * Compiled with its own flags (see the Makefile); without them, for another processor, there is no
 * such table. */
#include "vit/kernels/kernels.h"
#include <stdbool.h>

#if defined(__SSE4_1__)

#include "vit/kernels/v16_sse41.h"

/* What a group of rows of A times four columns of B takes in registers. */
#define GROUP 3
#define NUMBERS 256 /* of a row of A in double at a time */

/* c + x b for four columns, rounded once. In double the product is exact, and the sum is rounded;
 * to round it again to float is wrong only where it is a tie then, or the float denormal. A tie is
 * seen here, and computed once more; tiny numbers are left to the caller. */
static inline __attribute__((always_inline)) void add_multiple(__m128d c[2], __m128d x,
                                                               const __m128d b[2]) {
    const __m128d low = _mm_add_pd(_mm_mul_pd(x, b[0]), c[0]);
    const __m128d high = _mm_add_pd(_mm_mul_pd(x, b[1]), c[1]);
    const __m128 ends = _mm_shuffle_ps(_mm_castpd_ps(low), _mm_castpd_ps(high), 0x88);
    const __m128i lost = _mm_slli_epi32(_mm_castps_si128(ends), 3); /* the 29 bits of no float */
    const __m128i ties = _mm_cmpeq_epi32(lost, _mm_set1_epi32(INT32_MIN));
    const __m128 rounded[2] = {_mm_cvtpd_ps(low), _mm_cvtpd_ps(high)};
    if (__builtin_expect(_mm_movemask_ps(_mm_castsi128_ps(ties)) != 0, 0)) {
        for (int i = 0; i < 2; i++) c[i] = _mm_cvtps_pd(v2_fma(x, b[i], c[i]));
    } else {
        for (int i = 0; i < 2; i++) c[i] = _mm_cvtps_pd(rounded[i]);
    }
}

/* c[row][column] += the product of a: [k][GROUP] and four columns of B. */
static inline __attribute__((always_inline)) void sum_group(const size_t rows, __m128 *const c[],
                                                            const double *a, const float *b,
                                                            size_t b_row, size_t k) {
    __m128d sums[GROUP][2];
    for (size_t i = 0; i < rows; i++) {
        sums[i][0] = v4_low_doubles(*c[i]);
        sums[i][1] = v4_high_doubles(*c[i]);
    }
    for (size_t p = 0; p < k; p++, a += GROUP, b += b_row) {
        const __m128 four = _mm_loadu_ps(b);
        const __m128d columns[2] = {v4_low_doubles(four), v4_high_doubles(four)};
#pragma GCC unroll 3
        for (size_t i = 0; i < rows; i++) add_multiple(sums[i], _mm_loaddup_pd(a + i), columns);
    }
    for (size_t i = 0; i < rows; i++)
        *c[i] = _mm_movelh_ps(_mm_cvtpd_ps(sums[i][0]), _mm_cvtpd_ps(sums[i][1]));
}

/* Functions of their own, so that all conversions of one lie between its call and its return. */
#define GROUP_OF(rows)                                                                         \
    static __attribute__((noinline)) void sum_##rows(__m128 *const c[], const double *a,       \
                                                     const float *b, size_t b_row, size_t k) { \
        sum_group(rows, c, a, b, b_row, k);                                                    \
    }
GROUP_OF(1)
GROUP_OF(2)
GROUP_OF(3)

/* The sums of a whole tile, added to acc. */
static void sum_rows(size_t rows, const vit_tiles *run, const float *a, const float *b, v16 *acc) {
    void (*const by_rows[])(__m128 *const[], const double *, const float *, size_t,
                            size_t) = {sum_1, sum_2, sum_3};
    double wide[NUMBERS][GROUP];
    for (size_t p = 0; p < run->k; p += NUMBERS) {
        const size_t k = run->k - p < NUMBERS ? run->k - p : NUMBERS;
        for (size_t j = 0; j < k; j++)
            for (size_t i = 0; i < rows; i++)
                wide[j][i] = (double)a[i * run->a_row + (p + j) * run->a_col];
        for (size_t column = 0; column < 4; column++) {
            __m128 *c[GROUP];
            for (size_t i = 0; i < rows; i++) c[i] = &acc[i].part[column];
            by_rows[rows - 1](c, wide[0], b + p * run->b_row + 4 * column, run->b_row, k);
        }
    }
}

/* False, and acc as it was, if a number was rounded below the smallest normal one. */
static bool sum_floats(size_t rows, const vit_tiles *run, const float *a, const float *b,
                       v16 (*acc)[TILE_VECS]) {
    v16 sums[TILE_ROWS];
    memcpy(sums, acc, rows * sizeof *sums);
    _mm_setcsr(_mm_getcsr() & ~(unsigned)_MM_EXCEPT_UNDERFLOW);
    __asm__ volatile("" ::: "memory");
    for (size_t i = 0; i < rows; i += GROUP)
        sum_rows(rows - i < GROUP ? rows - i : GROUP, run, a + i * run->a_row, b, sums + i);
    __asm__ volatile("" ::: "memory");
    if ((_mm_getcsr() & _MM_EXCEPT_UNDERFLOW) != 0) return false;
    memcpy(acc, sums, rows * sizeof *sums);
    return true;
}

#define TILE_SUMS(rows, whole, last, run, a, b, acc) ((whole) && sum_floats(rows, run, a, b, acc))
#include "vit/kernels/table.inc"

const vit_kernels *vit_kernels_sse41(void) {
    static const vit_kernels table = VIT_KERNEL_TABLE(
        VIT_CPU_SSE41, [VIT_PRECISION_F32] = &floats, [VIT_PRECISION_INT8] = &vit_quads_sse41);
    return &table;
}

#else

const vit_kernels *vit_kernels_sse41(void) {
    return NULL;
}

#endif
