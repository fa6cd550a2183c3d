/* Products of 8-bit integers by SDOT, which newer processors with AArch64 have. Compiled with its
 * own flags (see the Makefile). */
#include "vit/kernels/quads_neon.h"
#include <stdbool.h>

#if defined(__ARM_FEATURE_DOTPROD)

#include "vit/kernels/v16_neon.h"

static inline float32x4_t v4_step(float32x4_t a, float32x4_t b, float32x4_t c) {
    return vreinterpretq_f32_s32(
        vdotq_s32(vreinterpretq_s32_f32(c), vreinterpretq_s8_f32(a), vreinterpretq_s8_f32(b)));
}

#include "vit/kernels/quads_neon.inc"

const vit_product_kernels vit_quads_neondot = {
    .gemm_tiles = gemm_tiles, .quantise = quantise, .a_words = A_WORDS};

#else

const vit_product_kernels vit_quads_neondot = {.gemm_tiles = NULL};

#endif
