/* Products of 8-bit integers, widened to 16 bits. Compiled with its own flags (see the Makefile).
 */
#include "vit/kernels/kernels.h"
#include <stdbool.h>

#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512BW__)

#include "vit/kernels/v16_avx512.h"
#include <string.h>

static inline v16 quad_step(v16 a, v16 b, v16 c) {
    return (v16)_mm512_add_epi32((__m512i)c, _mm512_madd_epi16((__m512i)a, (__m512i)b));
}

static inline v16 odd(v16 b) {
    return (v16)_mm512_srai_epi16((__m512i)b, 8);
}

static inline v16 even(v16 b) {
    return odd((v16)_mm512_slli_epi16((__m512i)b, 8));
}

static inline v16 v16_from_integers(v16 a) {
    return _mm512_cvtepi32_ps((__m512i)a);
}

static inline void store_quads(float *to, v16 x) {
    const __m256i order = _mm256_setr_epi8(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15, 0,
                                           1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15);
    const __m256i numbers = _mm512_cvtepi32_epi16(_mm512_cvtps_epi32(x));
    _mm256_storeu_si256((__m256i *)(void *)to, _mm256_shuffle_epi8(numbers, order));
}

#define STARTS false
#define WIDENS
#include "vit/kernels/quads.inc"

const vit_product_kernels vit_quads_avx512 = {
    .gemm_tiles = gemm_tiles, .quantise = quantise, .a_words = A_WORDS};

#else

const vit_product_kernels vit_quads_avx512 = {.gemm_tiles = NULL};

#endif
