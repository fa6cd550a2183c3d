/* Products of 8-bit integers, widened to 16 bits. Compiled with its own flags (see the Makefile).
 */
#include "vit/kernels/kernels.h"
#include <stdbool.h>

#if defined(__AVX2__) && defined(__FMA__)

#include "vit/kernels/v16_avx2.h"
#include <string.h>

/* Written out for the reason that v16_step is. */
static inline __m256 v8_step(__m256 a, __m256 b, __m256 c) {
    __m256i products;
    __asm__("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0" : "+x"(c), "=&x"(products) : "x"(a), "x"(b));
    return c;
}

static inline v16 quad_step(v16 a, v16 b, v16 c) {
    return (v16){v8_step(a.lo, b.lo, c.lo), v8_step(a.hi, b.hi, c.hi)};
}

static inline __m256 v8_odd(__m256 b) {
    return _mm256_castsi256_ps(_mm256_srai_epi16(_mm256_castps_si256(b), 8));
}

static inline __m256 v8_even(__m256 b) {
    return v8_odd(_mm256_castsi256_ps(_mm256_slli_epi16(_mm256_castps_si256(b), 8)));
}

static inline v16 even(v16 b) {
    return (v16){v8_even(b.lo), v8_even(b.hi)};
}

static inline v16 odd(v16 b) {
    return (v16){v8_odd(b.lo), v8_odd(b.hi)};
}

static inline v16 v16_from_integers(v16 a) {
    return (v16){_mm256_cvtepi32_ps(_mm256_castps_si256(a.lo)),
                 _mm256_cvtepi32_ps(_mm256_castps_si256(a.hi))};
}

/* Packing works in halves of 128 bits: the quarters come out as 0 2 1 3. */
static inline void store_quads(float *to, v16 x) {
    const __m256i order = _mm256_setr_epi8(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15, 0,
                                           1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15);
    const __m256i mixed = _mm256_packs_epi32(_mm256_cvtps_epi32(x.lo), _mm256_cvtps_epi32(x.hi));
    const __m256i numbers = _mm256_permute4x64_epi64(mixed, 0xd8);
    _mm256_storeu_si256((__m256i *)(void *)to, _mm256_shuffle_epi8(numbers, order));
}

#define STARTS false
#define WIDENS
#include "vit/kernels/quads.inc"

const vit_product_kernels vit_quads_avx2 = {
    .gemm_tiles = gemm_tiles, .quantise = quantise, .a_words = A_WORDS};

#else

const vit_product_kernels vit_quads_avx2 = {.gemm_tiles = NULL};

#endif
