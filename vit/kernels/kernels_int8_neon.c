/* Products of 8-bit integers with Advanced SIMD; for another processor there are none. */
#include "vit/kernels/kernels.h"
#include <stdbool.h>

#if defined(__aarch64__)

#include "vit/kernels/v16_neon.h"

/* Four quads: products of 16 bits, their sums in twos and then in fours. */
static inline float32x4_t v4_step(float32x4_t a, float32x4_t b, float32x4_t c) {
    const int8x16_t x = vreinterpretq_s8_f32(a), y = vreinterpretq_s8_f32(b);
    const int32x4_t low = vpaddlq_s16(vmull_s8(vget_low_s8(x), vget_low_s8(y)));
    const int32x4_t high = vpaddlq_s16(vmull_high_s8(x, y));
    return vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(c), vpaddq_s32(low, high)));
}

#include "vit/kernels/quads_neon.inc"

const vit_product_kernels vit_quads_neon = {
    .gemm_tiles = gemm_tiles, .quantise = quantise, .a_words = A_WORDS};

#else

const vit_product_kernels vit_quads_neon = {.gemm_tiles = NULL};

#endif
