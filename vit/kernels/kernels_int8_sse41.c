/* Products of 8-bit integers by PMADDWD in registers of 128 bits. Compiled with its own flags (see
 * the Makefile). */
#include "vit/kernels/kernels.h"
#include <stdbool.h>

#if defined(__SSE4_1__)

#include "vit/kernels/v16_sse41.h"

static inline __m128 v4_step(__m128 a, __m128 b, __m128 c) {
    const __m128i products = _mm_madd_epi16(_mm_castps_si128(a), _mm_castps_si128(b));
    return _mm_castsi128_ps(_mm_add_epi32(_mm_castps_si128(c), products));
}

static inline v16 quad_step(v16 a, v16 b, v16 c) {
    for (int i = 0; i < 4; i++) c.part[i] = v4_step(a.part[i], b.part[i], c.part[i]);
    return c;
}

/* Two quads of B as numbers of 16 bits. */
static inline __m128i two_quads(const float *b) {
    return _mm_cvtepi8_epi16(_mm_loadl_epi64((const __m128i *)(const void *)b));
}

static inline v16 chosen(v16 b, bool second) {
    v16 y;
    for (int i = 0; i < 4; i++) {
        const __m128i quads = _mm_castps_si128(b.part[i]);
        const __m128 low = _mm_castsi128_ps(_mm_cvtepi8_epi16(quads));
        const __m128 high = _mm_castsi128_ps(_mm_cvtepi8_epi16(_mm_srli_si128(quads, 8)));
        y.part[i] = second ? v4_odd_lanes(low, high) : v4_even_lanes(low, high);
    }
    return y;
}

static inline v16 even(v16 b) {
    return chosen(b, false);
}

static inline v16 odd(v16 b) {
    return chosen(b, true);
}

static inline v16 v16_from_integers(v16 a) {
    for (int i = 0; i < 4; i++) a.part[i] = _mm_cvtepi32_ps(_mm_castps_si128(a.part[i]));
    return a;
}

static inline void store_quads(float *to, v16 x) {
    __m128i n[4];
    for (int i = 0; i < 4; i++) n[i] = _mm_cvtps_epi32(x.part[i]);
    _mm_storeu_si128((__m128i *)(void *)to, _mm_packs_epi32(n[0], n[1]));
    _mm_storeu_si128((__m128i *)(void *)(to + 4), _mm_packs_epi32(n[2], n[3]));
}

/* A quad of A times two quads of B in low and two in high. Written out so that sums stay in their
 * registers. */
static inline void add_products(__m128i *left, __m128i *right, const uint64_t *quad, __m128i low,
                                __m128i high) {
    __m128i x, y;
    __asm__("movddup %4, %2\n\t"
            "movdqa %2, %3\n\t"
            "pmaddwd %5, %2\n\t"
            "pmaddwd %6, %3\n\t"
            "paddd %2, %0\n\t"
            "paddd %3, %1"
            : "+x"(*left), "+x"(*right), "=&x"(x), "=&x"(y)
            : "m"(*quad), "x"(low), "x"(high));
}

/* The sums of a whole tile, four columns at a time, added to acc. A quad of A is loaded twice into
 * a register by one instruction, beside two quads of B: no number is spread over a register by a
 * shuffle, and the two halves of each sum meet at the end. */
static inline __attribute__((always_inline)) bool sum_quads(const size_t rows, const vit_tiles *run,
                                                            const float *a, const float *b,
                                                            v16 (*acc)[TILE_VECS]) {
    for (size_t column = 0; column < 4; column++) {
        const float *a3[2] = {a, a + 3 * run->a_row}, *from = b + 4 * column;
        __m128i sums[TILE_ROWS][2];
        for (size_t i = 0; i < rows; i++) sums[i][0] = sums[i][1] = _mm_setzero_si128();
        for (size_t p = 0; p < run->k; p++) {
            const __m128i low = two_quads(from), high = two_quads(from + 2);
#pragma GCC unroll 6
            for (size_t i = 0; i < rows; i++) {
                const void *quad = a3[i / 3] + i % 3 * run->a_row;
                add_products(&sums[i][0], &sums[i][1], quad, low, high);
            }
            a3[0] += run->a_col;
            a3[1] += run->a_col;
            from += run->b_row;
        }
        for (size_t i = 0; i < rows; i++) {
            const __m128i sum = _mm_hadd_epi32(sums[i][0], sums[i][1]);
            acc[i][0].part[column] =
                _mm_castsi128_ps(_mm_add_epi32(_mm_castps_si128(acc[i][0].part[column]), sum));
        }
    }
    return true;
}

/* Only 0 times a number is asked for here (quads.inc), which no rounding changes. */
#define v16_fma(a, b, c) v16_add(v16_mul(a, b), c)
#define STARTS false
#define WIDENS
#define TILE_SUMS(rows, whole, last, run, a, b, acc) ((whole) && sum_quads(rows, run, a, b, acc))
#include "vit/kernels/quads.inc"

const vit_product_kernels vit_quads_sse41 = {
    .gemm_tiles = gemm_tiles, .quantise = quantise, .a_words = A_WORDS};

#else

const vit_product_kernels vit_quads_sse41 = {.gemm_tiles = NULL};

#endif
