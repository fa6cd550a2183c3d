/* Compiled with its own flags (see the Makefile): matrix products of bfloat16, two a lane. */
#include "vit/kernels/kernels.h"
#include <stdbool.h>

#if defined(__AVX512BF16__) && defined(__AVX512BW__)

#include "vit/kernels/v16_avx512.h"

static inline v16 v16_pair_step(v16 a, v16 b, v16 c) {
    return _mm512_dpbf16_ps(c, (__m512bh)a, (__m512bh)b);
}

/* Pairs of low[0] and low[1], ..., high[14] and high[15]. */
static inline v16 v16_pairs_along(v16 low, v16 high) {
    return (v16)_mm512_cvtne2ps_pbh(high, low);
}

/* Pairs of low[0] and high[0], low[1] and high[1], ... */
static inline v16 v16_pairs_across(v16 low, v16 high) {
    const __m512i halves = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(low));
    const __m512i upper = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(high));
    return _mm512_castsi512_ps(_mm512_or_si512(halves, _mm512_slli_epi32(upper, 16)));
}

#define TILE_STEP v16_pair_step
#include "vit/kernels/gemm.inc"
#include "vit/kernels/pairs.inc"

const vit_pair_kernels vit_pairs_avx512bf16 = {gemm_tile, transpose, copy_rows};

#else

const vit_pair_kernels vit_pairs_avx512bf16 = {NULL, NULL, NULL};

#endif
