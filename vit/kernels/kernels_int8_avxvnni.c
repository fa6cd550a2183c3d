/* Products of 8-bit integers by VPDPBUSD in registers of 256 bits. Compiled with its own flags (see
 * the Makefile). */
#include "vit/kernels/kernels.h"
#include <stdbool.h>

#if defined(__AVXVNNI__) && defined(__FMA__)

#include "vit/kernels/v16_avx2.h"
#include <string.h>

static inline __m256 v8_step(__m256 a, __m256 b, __m256 c) {
    return _mm256_castsi256_ps(_mm256_dpbusd_avx_epi32(
        _mm256_castps_si256(c), _mm256_castps_si256(a), _mm256_castps_si256(b)));
}

static inline v16 quad_step(v16 a, v16 b, v16 c) {
    return (v16){v8_step(a.lo, b.lo, c.lo), v8_step(a.hi, b.hi, c.hi)};
}

static inline v16 v16_from_integers(v16 a) {
    return (v16){_mm256_cvtepi32_ps(_mm256_castps_si256(a.lo)),
                 _mm256_cvtepi32_ps(_mm256_castps_si256(a.hi))};
}

/* x + 128 as a byte without sign differs from x in the highest bit. Packing works in halves of 128
 * bits: the quarters come out as 0 2 1 3. */
static inline void store_quads(float *to, v16 x) {
    const __m256i mixed = _mm256_packs_epi32(_mm256_cvtps_epi32(x.lo), _mm256_cvtps_epi32(x.hi));
    const __m256i numbers = _mm256_permute4x64_epi64(mixed, 0xd8);
    const __m128i bytes =
        _mm_packs_epi16(_mm256_castsi256_si128(numbers), _mm256_extracti128_si256(numbers, 1));
    _mm_storeu_si128((__m128i *)(void *)to, _mm_xor_si128(bytes, _mm_set1_epi8((char)0x80)));
}

#define STARTS true
#include "vit/kernels/quads.inc"

const vit_product_kernels vit_quads_avxvnni = {
    .gemm_tiles = gemm_tiles, .quantise = quantise, .a_words = A_WORDS};

#else

const vit_product_kernels vit_quads_avxvnni = {.gemm_tiles = NULL};

#endif
