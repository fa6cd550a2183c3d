/* Matrix products of bfloat16, two numbers in a lane. Compiled with its own flags (see the
 * Makefile). */
#include "vit/kernels/kernels.h"
#include <stdbool.h>

#if defined(__AVX512BF16__) && defined(__AVX512BW__)

#include "vit/kernels/v16_avx512.h"

static inline v16 v16_pair_step(v16 a, v16 b, v16 c) {
    return _mm512_dpbf16_ps(c, (__m512bh)a, (__m512bh)b);
}

#include "vit/kernels/pairs_avx512bf16.inc"

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
