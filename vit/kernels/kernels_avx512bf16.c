/* Matrix products of bfloat16, two numbers in a lane. Compiled with its own flags (see the
 * Makefile). */
#include "vit/kernels/kernels.h"
#include <stdbool.h>

#if defined(__AVX512BF16__) && defined(__AVX512BW__)

#include "vit/kernels/v16_avx512.h"

static inline v16 v16_pair_step(v16 a, v16 b, v16 c) {
    return _mm512_dpbf16_ps(c, (__m512bh)a, (__m512bh)b);
}

/* (low[0], low[1]), (low[2], low[3]), ..., (high[14], high[15]) */
static inline v16 v16_pairs_along(v16 low, v16 high) {
    return (v16)_mm512_cvtne2ps_pbh(high, low);
}

/* (low[0], high[0]), (low[1], high[1]), ... */
static inline v16 v16_pairs_across(v16 low, v16 high) {
    static const uint16_t order[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                       21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                       11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    const __m512i halves = (__m512i)_mm512_cvtne2ps_pbh(high, low);
    return (v16)_mm512_permutexvar_epi16(_mm512_loadu_si512(order), halves);
}

#define TILE_STEP v16_pair_step
#include "vit/kernels/gemm.inc"
#include "vit/kernels/pairs.inc"

const vit_product_kernels vit_pairs_avx512bf16 = {.gemm_tiles = gemm_tiles,
                                                  .bf16 = VIT_BF16_PAIRS,
                                                  .transpose = transpose,
                                                  .copy_along = copy_along,
                                                  .copy_across = copy_across};

#else

const vit_product_kernels vit_pairs_avx512bf16 = {.gemm_tiles = NULL};

#endif
