/* 16 virtual lanes in four registers of AArch64's Advanced SIMD. */
#ifndef VIT_KERNELS_V16_NEON_H
#define VIT_KERNELS_V16_NEON_H

#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* 6 x 16: of 32 registers twenty-four are accumulators, four hold B and one A. */
#define TILE_ROWS 6
#define TILE_VECS 1
#define TILE_DEPTH 512

typedef struct v16 {
    float32x4_t part[4];
} v16;
typedef size_t v16_mask; /* number of lanes, the first ones */

#define V16_EACH(expression)                              \
    v16 y;                                                \
    for (int i = 0; i < 4; i++) y.part[i] = (expression); \
    return y

static inline v16_mask v16_first(size_t n) {
    return n;
}

static inline v16 v16_set(float x) {
    V16_EACH(vdupq_n_f32(x));
}

static inline v16 v16_load(const float *p) {
    V16_EACH(vld1q_f32(p + 4 * i));
}

/* There are no masked loads: lanes that are present are copied one by one. */
static inline v16 v16_load_masked(const float *p, v16_mask n) {
    float lane[16] = {0};
    for (size_t i = 0; i < n; i++) lane[i] = p[i];
    return v16_load(lane);
}

static inline void v16_store(float *p, v16 x) {
    for (int i = 0; i < 4; i++) vst1q_f32(p + 4 * i, x.part[i]);
}

static inline void v16_store_masked(float *p, v16 x, v16_mask n) {
    float lane[16];
    v16_store(lane, x);
    for (size_t i = 0; i < n; i++) p[i] = lane[i];
}

static inline v16 v16_add(v16 a, v16 b) {
    V16_EACH(vaddq_f32(a.part[i], b.part[i]));
}

static inline v16 v16_sub(v16 a, v16 b) {
    V16_EACH(vsubq_f32(a.part[i], b.part[i]));
}

static inline v16 v16_mul(v16 a, v16 b) {
    V16_EACH(vmulq_f32(a.part[i], b.part[i]));
}

static inline v16 v16_div(v16 a, v16 b) {
    V16_EACH(vdivq_f32(a.part[i], b.part[i]));
}

static inline v16 v16_sqrt(v16 a) {
    V16_EACH(vsqrtq_f32(a.part[i]));
}

static inline v16 v16_fma(v16 a, v16 b, v16 c) { /* a b + c */
    V16_EACH(vfmaq_f32(c.part[i], a.part[i], b.part[i]));
}

/* b where either is NaN, as on x86; vmaxq_f32 would give NaN. */
static inline float32x4_t v4_max(float32x4_t a, float32x4_t b) {
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}

static inline v16 v16_max(v16 a, v16 b) {
    V16_EACH(v4_max(a.part[i], b.part[i]));
}

static inline v16 v16_min(v16 a, v16 b) {
    V16_EACH(vbslq_f32(vcltq_f32(a.part[i], b.part[i]), a.part[i], b.part[i]));
}

static inline v16 v16_abs(v16 a) {
    V16_EACH(vabsq_f32(a.part[i]));
}

static inline v16 v16_if_less(v16 a, v16 b, v16 yes, v16 no) {
    V16_EACH(vbslq_f32(vcltq_f32(a.part[i], b.part[i]), yes.part[i], no.part[i]));
}

static inline v16 v16_if_nan(v16 a, v16 yes, v16 no) {
    V16_EACH(vbslq_f32(vceqq_f32(a.part[i], a.part[i]), no.part[i], yes.part[i]));
}

/* Absent lanes become x. */
static inline v16 v16_fill_absent(v16 a, v16_mask present, float x) {
    static const uint32_t lanes[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const uint32x4_t count = vdupq_n_u32((uint32_t)present);
    const float32x4_t fill = vdupq_n_f32(x);
    V16_EACH(vbslq_f32(vcltq_u32(vld1q_u32(lanes + 4 * i), count), a.part[i], fill));
}

/* A lookup of bytes: element i is bytes 4 i to 4 i + 3 of the table. */
static inline float32x4_t v4_lookup(uint8x16x4_t table, float32x4_t where) {
    const uint32x4_t element = vandq_u32(vreinterpretq_u32_f32(where), vdupq_n_u32(15));
    const uint32x4_t bytes = vmlaq_n_u32(vdupq_n_u32(0x03020100), element, 0x04040404);
    return vreinterpretq_f32_u8(vqtbl4q_u8(table, vreinterpretq_u8_u32(bytes)));
}

static inline v16 v16_lookup(const float table[16], v16 where) {
    uint8x16x4_t bytes;
    for (int i = 0; i < 4; i++) bytes.val[i] = vreinterpretq_u8_f32(vld1q_f32(table + 4 * i));
    V16_EACH(v4_lookup(bytes, where.part[i]));
}

static inline float32x4_t v4_times_power(float32x4_t p, float32x4_t n) {
    const int32x4_t shift = vshlq_n_s32(vcvtq_s32_f32(n), 23);
    const float32x4_t y = vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(p), shift));
    return vbslq_f32(vceqq_f32(p, p), y, p);
}

static inline v16 v16_times_power(v16 p, v16 n) {
    V16_EACH(v4_times_power(p.part[i], n.part[i]));
}

static inline float v16_fold_add(v16 a) {
    const float32x4_t low = vaddq_f32(a.part[0], a.part[2]), high = vaddq_f32(a.part[1], a.part[3]);
    const float32x4_t four = vaddq_f32(low, high);
    const float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
    return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}

/* _four folds a row to four lanes, _pair folds two such rows to two lanes each. */
#define V16_FOLD4(name, op)                                                  \
    static inline float32x4_t name##_four(v16 a) {                           \
        return op(op(a.part[0], a.part[2]), op(a.part[1], a.part[3]));       \
    }                                                                        \
    static inline float32x4_t name##_pair(float32x4_t a, float32x4_t b) {    \
        return op(vcombine_f32(vget_low_f32(a), vget_low_f32(b)),            \
                  vcombine_f32(vget_high_f32(a), vget_high_f32(b)));         \
    }                                                                        \
    static inline v16 name(v16 a, v16 b, v16 c, v16 d) {                     \
        const float32x4_t ab = name##_pair(name##_four(a), name##_four(b));  \
        const float32x4_t cd = name##_pair(name##_four(c), name##_four(d));  \
        const float32x4_t rows = op(vuzp1q_f32(ab, cd), vuzp2q_f32(ab, cd)); \
        return (v16){{vdupq_laneq_f32(rows, 0), vdupq_laneq_f32(rows, 1),    \
                      vdupq_laneq_f32(rows, 2), vdupq_laneq_f32(rows, 3)}};  \
    }
V16_FOLD4(v16_fold4_add, vaddq_f32)
V16_FOLD4(v16_fold4_max, v4_max)
#undef V16_FOLD4

static inline v16 v16_quarter(v16 a, size_t q) {
    V16_EACH(a.part[q]);
}

#undef V16_EACH

/* ---- lanes of 32 bits that hold integers ---- */

typedef struct v16i {
    int32x4_t part[4];
} v16i;

#define V16I_EACH(expression)                             \
    v16i y;                                               \
    for (int i = 0; i < 4; i++) y.part[i] = (expression); \
    return y

static inline v16i v16i_set(int32_t x) {
    V16I_EACH(vdupq_n_s32(x));
}

static inline v16i v16i_load(const void *p) {
    const uint8_t *bytes = p;
    V16I_EACH(vreinterpretq_s32_u8(vld1q_u8(bytes + 16 * i)));
}

static inline v16i v16i_add(v16i a, v16i b) {
    V16I_EACH(vaddq_s32(a.part[i], b.part[i]));
}

static inline v16i v16i_even_bytes(v16i a) {
    V16I_EACH(vandq_s32(a.part[i], vdupq_n_s32(0x00ff00ff)));
}

static inline v16i v16i_odd_bytes(v16i a) {
    V16I_EACH(vreinterpretq_s32_u16(vshrq_n_u16(vreinterpretq_u16_s32(a.part[i]), 8)));
}

static inline int32x4_t v4i_multiply_add(int16x8_t a, int16x8_t b) {
    return vpaddq_s32(vmull_s16(vget_low_s16(a), vget_low_s16(b)), vmull_high_s16(a, b));
}

static inline v16i v16i_multiply_add(v16i a, v16i b) {
    V16I_EACH(v4i_multiply_add(vreinterpretq_s16_s32(a.part[i]), vreinterpretq_s16_s32(b.part[i])));
}

static inline v16i v16i_shift_left(v16i a, int bits) {
    V16I_EACH(vshlq_s32(a.part[i], vdupq_n_s32(bits)));
}

static inline void v16i_store_bytes(uint8_t *p, v16i a, int bits) {
    const v16i x = v16i_shift_left(a, -bits); /* a shift to the right, with the sign */
    for (int i = 0; i < 4; i += 2) {
        const int16x8_t words = vcombine_s16(vqmovn_s32(x.part[i]), vqmovn_s32(x.part[i + 1]));
        vst1_u8(p + 4 * i, vqmovun_s16(words));
    }
}

static inline void v16i_pack_rgb(uint8_t *quads, const uint8_t *rows, size_t stride) {
    static const uint8_t planes[16] = {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11, 16, 16, 16, 16};
    for (size_t r = 0; r < 4; r++) {
        uint8_t colours[16]; /* 4 reds, 4 greens, 4 blues */
        vst1q_u8(colours, vqtbl1q_u8(vld1q_u8(rows + r * stride), vld1q_u8(planes)));
        for (size_t c = 0; c < 3; c++) memcpy(quads + 64 * c + 4 * r, colours + 4 * c, 4);
    }
}

#undef V16I_EACH

/* Transposes blocks of 4 x 4 and moves them to their places. */
static inline void v16_transpose(v16 a[16]) {
    v16 b[16];
    for (int i = 0; i < 16; i += 4) {
        for (int j = 0; j < 4; j++) {
            const float32x4x2_t low = vtrnq_f32(a[i].part[j], a[i + 1].part[j]);
            const float32x4x2_t high = vtrnq_f32(a[i + 2].part[j], a[i + 3].part[j]);
            for (int h = 0; h < 2; h++) {
                b[4 * j + h].part[i / 4] =
                    vcombine_f32(vget_low_f32(low.val[h]), vget_low_f32(high.val[h]));
                b[4 * j + h + 2].part[i / 4] =
                    vcombine_f32(vget_high_f32(low.val[h]), vget_high_f32(high.val[h]));
            }
        }
    }
    for (int i = 0; i < 16; i++) a[i] = b[i];
}

#endif
