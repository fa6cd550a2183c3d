/* Products of 8-bit integers with Advanced SIMD; for another processor there are none. */
#include "vit/kernels/kernels.h"
#include <stdbool.h>

#if defined(__aarch64__)

#include "vit/kernels/v16_neon.h"
#include <string.h>

/* Four quads: products of 16 bits, their sums in twos and then in fours. */
static inline float32x4_t v4_step(float32x4_t a, float32x4_t b, float32x4_t c) {
    const int8x16_t x = vreinterpretq_s8_f32(a), y = vreinterpretq_s8_f32(b);
    const int32x4_t low = vpaddlq_s16(vmull_s8(vget_low_s8(x), vget_low_s8(y)));
    const int32x4_t high = vpaddlq_s16(vmull_high_s8(x, y));
    return vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(c), vpaddq_s32(low, high)));
}

static inline v16 quad_step(v16 a, v16 b, v16 c) {
    for (int i = 0; i < 4; i++) c.part[i] = v4_step(a.part[i], b.part[i], c.part[i]);
    return c;
}

static inline v16 v16_from_integers(v16 a) {
    for (int i = 0; i < 4; i++) a.part[i] = vcvtq_f32_s32(vreinterpretq_s32_f32(a.part[i]));
    return a;
}

static inline void store_quads(float *to, v16 x) {
    int16x4_t numbers[4];
    for (int i = 0; i < 4; i++) numbers[i] = vmovn_s32(vcvtnq_s32_f32(x.part[i]));
    const int8x8_t low = vmovn_s16(vcombine_s16(numbers[0], numbers[1]));
    const int8x8_t high = vmovn_s16(vcombine_s16(numbers[2], numbers[3]));
    vst1q_f32(to, vreinterpretq_f32_s8(vcombine_s8(low, high)));
}

#define STARTS false
#include "vit/kernels/quads.inc"

const vit_product_kernels vit_quads_neon = {
    .gemm_tiles = gemm_tiles, .quantise = quantise, .a_words = A_WORDS};

#else

const vit_product_kernels vit_quads_neon = {.gemm_tiles = NULL};

#endif
