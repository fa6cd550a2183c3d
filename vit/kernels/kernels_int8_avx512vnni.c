/* Products of 8-bit integers by VPDPBUSD. Compiled with its own flags (see the Makefile). */
#include "vit/kernels/kernels.h"
#include <stdbool.h>

#if defined(__AVX512VNNI__) && defined(__AVX512BW__)

#include "vit/kernels/v16_avx512.h"
#include <string.h>

static inline v16 quad_step(v16 a, v16 b, v16 c) {
    return (v16)_mm512_dpbusd_epi32((__m512i)c, (__m512i)a, (__m512i)b);
}

static inline v16 v16_from_integers(v16 a) {
    return _mm512_cvtepi32_ps((__m512i)a);
}

/* x + 128 as a byte without sign differs from x in the highest bit. */
static inline void store_quads(float *to, v16 x) {
    const __m128i bytes = _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(x));
    _mm_storeu_si128((__m128i *)(void *)to, _mm_xor_si128(bytes, _mm_set1_epi8((char)0x80)));
}

#define STARTS true
#include "vit/kernels/quads.inc"

const vit_product_kernels vit_quads_avx512vnni = {
    .gemm_tiles = gemm_tiles, .quantise = quantise, .a_words = A_WORDS};

#else

const vit_product_kernels vit_quads_avx512vnni = {.gemm_tiles = NULL};

#endif
