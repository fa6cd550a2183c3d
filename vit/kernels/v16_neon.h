/* 16 virtual lanes in four registers of AArch64's Advanced SIMD. */
#ifndef VIT_KERNELS_V16_NEON_H
#define VIT_KERNELS_V16_NEON_H

#include <arm_neon.h>

/* 6 x 16: of 32 registers twenty-four are accumulators, four hold B and one A. */
#define TILE_ROWS 6
#define TILE_VECS 1
#define TILE_DEPTH 512

typedef float32x4_t v4;
typedef int32x4_t v4i;

#define v4_set vdupq_n_f32
#define v4_load vld1q_f32
#define v4_store vst1q_f32
#define v4_add vaddq_f32
#define v4_sub vsubq_f32
#define v4_mul vmulq_f32
#define v4_div vdivq_f32
#define v4_sqrt vsqrtq_f32
#define v4_fma(a, b, c) vfmaq_f32(c, a, b)
#define v4_abs vabsq_f32
#define v4_if_less(a, b, yes, no) vbslq_f32(vcltq_f32(a, b), yes, no)
#define v4_if_nan(a, yes, no) vbslq_f32(vceqq_f32(a, a), no, yes)
#define v4_low_halves(a, b) vcombine_f32(vget_low_f32(a), vget_low_f32(b))
#define v4_high_halves(a, b) vcombine_f32(vget_high_f32(a), vget_high_f32(b))
#define v4_even_lanes vuzp1q_f32
#define v4_odd_lanes vuzp2q_f32
#define v4_all_lane vdupq_laneq_f32
#define v4_first_lane(a) vgetq_lane_f32(a, 0)

static inline v4 v4_times_power(v4 p, v4 n) {
    const int32x4_t shift = vshlq_n_s32(vcvtq_s32_f32(n), 23);
    const v4 y = vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(p), shift));
    return v4_if_nan(p, p, y);
}

static inline void v4_transpose(v4 to[4], v4 a, v4 b, v4 c, v4 d) {
    const float32x4x2_t low = vtrnq_f32(a, b), high = vtrnq_f32(c, d);
    for (int h = 0; h < 2; h++) {
        to[h] = v4_low_halves(low.val[h], high.val[h]);
        to[h + 2] = v4_high_halves(low.val[h], high.val[h]);
    }
}

#define v4i_set vdupq_n_s32
#define v4i_load(p) vreinterpretq_s32_u8(vld1q_u8(p))
#define v4i_add vaddq_s32
#define v4i_even_bytes(a) vandq_s32(a, vdupq_n_s32(0x00ff00ff))
#define v4i_odd_bytes(a) vreinterpretq_s32_u16(vshrq_n_u16(vreinterpretq_u16_s32(a), 8))
#define v4i_shift_left(a, bits) vshlq_s32(a, vdupq_n_s32(bits))

static inline v4i v4i_multiply_add(v4i a, v4i b) {
    const int16x8_t x = vreinterpretq_s16_s32(a), y = vreinterpretq_s16_s32(b);
    return vpaddq_s32(vmull_s16(vget_low_s16(x), vget_low_s16(y)), vmull_high_s16(x, y));
}

static inline void v4i_sort_rgb(uint8_t colours[16], const uint8_t *row) {
    static const uint8_t planes[16] = {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11, 16, 16, 16, 16};
    vst1q_u8(colours, vqtbl1q_u8(vld1q_u8(row), vld1q_u8(planes)));
}

#include "vit/kernels/v16_four.inc"

/* A lookup of bytes: element i is bytes 4 i to 4 i + 3 of the table. */
static inline v4 v4_lookup(uint8x16x4_t table, v4 where) {
    const uint32x4_t element = vandq_u32(vreinterpretq_u32_f32(where), vdupq_n_u32(15));
    const uint32x4_t bytes = vmlaq_n_u32(vdupq_n_u32(0x03020100), element, 0x04040404);
    return vreinterpretq_f32_u8(vqtbl4q_u8(table, vreinterpretq_u8_u32(bytes)));
}

static inline v16 v16_lookup(const float table[16], v16 where) {
    uint8x16x4_t bytes;
    for (int i = 0; i < 4; i++) bytes.val[i] = vreinterpretq_u8_f32(vld1q_f32(table + 4 * i));
    for (int i = 0; i < 4; i++) where.part[i] = v4_lookup(bytes, where.part[i]);
    return where;
}

static inline void v16i_store_bytes(uint8_t *p, v16i a, int bits) {
    const v16i x = v16i_shift_left(a, -bits); /* a shift to the right, with the sign */
    for (int i = 0; i < 4; i += 2) {
        const int16x8_t words = vcombine_s16(vqmovn_s32(x.part[i]), vqmovn_s32(x.part[i + 1]));
        vst1_u8(p + 4 * i, vqmovun_s16(words));
    }
}

#endif
