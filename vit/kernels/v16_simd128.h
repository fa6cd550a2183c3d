/* 16 virtual lanes in four vectors of WebAssembly's SIMD. */
#ifndef VIT_KERNELS_V16_SIMD128_H
#define VIT_KERNELS_V16_SIMD128_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wasm_simd128.h>

#ifdef __wasm_relaxed_simd__
#define TILE_ROWS 2 /* an engine for x86 has 15 registers for accumulators, B and A */
#else
#define TILE_ROWS 4
#endif
#define TILE_VECS 1
#define TILE_DEPTH 512

typedef struct v16 {
    v128_t part[4];
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
    V16_EACH(wasm_f32x4_splat(x));
}

static inline v16 v16_load(const float *p) {
    V16_EACH(wasm_v128_load(p + 4 * i));
}

/* There are no masked loads: lanes that are present are copied one by one. */
static inline v16 v16_load_masked(const float *p, v16_mask n) {
    float lane[16] = {0};
    for (size_t i = 0; i < n; i++) lane[i] = p[i];
    return v16_load(lane);
}

static inline void v16_store(float *p, v16 x) {
    for (int i = 0; i < 4; i++) wasm_v128_store(p + 4 * i, x.part[i]);
}

static inline void v16_store_masked(float *p, v16 x, v16_mask n) {
    float lane[16];
    v16_store(lane, x);
    for (size_t i = 0; i < n; i++) p[i] = lane[i];
}

static inline v16 v16_add(v16 a, v16 b) {
    V16_EACH(wasm_f32x4_add(a.part[i], b.part[i]));
}

static inline v16 v16_sub(v16 a, v16 b) {
    V16_EACH(wasm_f32x4_sub(a.part[i], b.part[i]));
}

static inline v16 v16_mul(v16 a, v16 b) {
    V16_EACH(wasm_f32x4_mul(a.part[i], b.part[i]));
}

static inline v16 v16_div(v16 a, v16 b) {
    V16_EACH(wasm_f32x4_div(a.part[i], b.part[i]));
}

static inline v16 v16_sqrt(v16 a) {
    V16_EACH(wasm_f32x4_sqrt(a.part[i]));
}

#ifdef __wasm_relaxed_simd__
/* The instruction may round the product, too: such a module is for engines that do not (Makefile,
 * vit/cli/web/worker.js). */
static inline v128_t v4_fma(v128_t a, v128_t b, v128_t c) {
    return __builtin_wasm_fma_f32x4(a, b, c);
}
#else
/* vit_fused_by_double (vit/base/fused.h) of two lanes. */
static inline v128_t v2_fma(v128_t a, v128_t b, v128_t c) {
    const v128_t product = wasm_f64x2_mul(a, b), sum = wasm_f64x2_add(product, c);
    const v128_t part = wasm_f64x2_sub(sum, product);
    const v128_t lost =
        wasm_f64x2_add(wasm_f64x2_sub(product, wasm_f64x2_sub(sum, part)), wasm_f64x2_sub(c, part));
    const v128_t side = wasm_f64x2_mul(lost, sum), none = wasm_f64x2_splat(0);
    const v128_t below = wasm_f64x2_lt(side, none), above = wasm_f64x2_gt(side, none);
    const v128_t last = wasm_v128_and(wasm_v128_or(below, above), wasm_i64x2_splat(1));
    return wasm_f32x4_demote_f64x2_zero(wasm_v128_or(wasm_i64x2_add(sum, below), last));
}

static inline v128_t v4_high(v128_t a) {
    return wasm_f64x2_promote_low_f32x4(wasm_i32x4_shuffle(a, a, 2, 3, 2, 3));
}

static inline v128_t v4_fma(v128_t a, v128_t b, v128_t c) {
    const v128_t low = v2_fma(wasm_f64x2_promote_low_f32x4(a), wasm_f64x2_promote_low_f32x4(b),
                              wasm_f64x2_promote_low_f32x4(c));
    const v128_t high = v2_fma(v4_high(a), v4_high(b), v4_high(c));
    return wasm_i64x2_shuffle(low, high, 0, 2);
}

#endif

static inline v16 v16_fma(v16 a, v16 b, v16 c) { /* a b + c */
    V16_EACH(v4_fma(a.part[i], b.part[i], c.part[i]));
}

/* b where either is NaN, as on x86. */
static inline v128_t v4_max(v128_t a, v128_t b) {
    return wasm_v128_bitselect(a, b, wasm_f32x4_gt(a, b));
}

static inline v16 v16_max(v16 a, v16 b) {
    V16_EACH(v4_max(a.part[i], b.part[i]));
}

static inline v16 v16_min(v16 a, v16 b) {
    V16_EACH(wasm_v128_bitselect(a.part[i], b.part[i], wasm_f32x4_lt(a.part[i], b.part[i])));
}

static inline v16 v16_abs(v16 a) {
    V16_EACH(wasm_f32x4_abs(a.part[i]));
}

static inline v16 v16_if_less(v16 a, v16 b, v16 yes, v16 no) {
    V16_EACH(wasm_v128_bitselect(yes.part[i], no.part[i], wasm_f32x4_lt(a.part[i], b.part[i])));
}

static inline v16 v16_if_nan(v16 a, v16 yes, v16 no) {
    V16_EACH(wasm_v128_bitselect(yes.part[i], no.part[i], wasm_f32x4_ne(a.part[i], a.part[i])));
}

/* Absent lanes become x. */
static inline v16 v16_fill_absent(v16 a, v16_mask present, float x) {
    const v128_t count = wasm_i32x4_splat((int32_t)present), fill = wasm_f32x4_splat(x);
    const v128_t first = wasm_i32x4_make(0, 1, 2, 3);
    V16_EACH(wasm_v128_bitselect(
        a.part[i], fill, wasm_i32x4_lt(wasm_i32x4_add(first, wasm_i32x4_splat(4 * i)), count)));
}

static inline v16 v16_lookup(const float table[16], v16 where) {
    uint32_t bits[16];
    float lane[16];
    memcpy(bits, &where, sizeof bits);
    for (int i = 0; i < 16; i++) lane[i] = table[bits[i] % 16];
    return v16_load(lane);
}

static inline v128_t v4_times_power(v128_t p, v128_t n) {
    const v128_t shift = wasm_i32x4_shl(wasm_i32x4_trunc_sat_f32x4(n), 23);
    return wasm_v128_bitselect(wasm_i32x4_add(p, shift), p, wasm_f32x4_eq(p, p));
}

static inline v16 v16_times_power(v16 p, v16 n) {
    V16_EACH(v4_times_power(p.part[i], n.part[i]));
}

/* _four folds a row to four lanes, _pair folds two such rows to two lanes each. */
#define V16_FOLD4(name, op)                                                                     \
    static inline v128_t name##_four(v16 a) {                                                   \
        return op(op(a.part[0], a.part[2]), op(a.part[1], a.part[3]));                          \
    }                                                                                           \
    static inline v128_t name##_pair(v128_t a, v128_t b) {                                      \
        return op(wasm_i64x2_shuffle(a, b, 0, 2), wasm_i64x2_shuffle(a, b, 1, 3));              \
    }                                                                                           \
    static inline v16 name(v16 a, v16 b, v16 c, v16 d) {                                        \
        const v128_t ab = name##_pair(name##_four(a), name##_four(b));                          \
        const v128_t cd = name##_pair(name##_four(c), name##_four(d));                          \
        const v128_t rows =                                                                     \
            op(wasm_i32x4_shuffle(ab, cd, 0, 2, 4, 6), wasm_i32x4_shuffle(ab, cd, 1, 3, 5, 7)); \
        return (v16){{wasm_i32x4_shuffle(rows, rows, 0, 0, 0, 0),                               \
                      wasm_i32x4_shuffle(rows, rows, 1, 1, 1, 1),                               \
                      wasm_i32x4_shuffle(rows, rows, 2, 2, 2, 2),                               \
                      wasm_i32x4_shuffle(rows, rows, 3, 3, 3, 3)}};                             \
    }
V16_FOLD4(v16_fold4_add, wasm_f32x4_add)
V16_FOLD4(v16_fold4_max, v4_max)
#undef V16_FOLD4

static inline float v16_fold_add(v16 a) {
    return wasm_f32x4_extract_lane(v16_fold4_add(a, a, a, a).part[0], 0);
}

static inline v16 v16_quarter(v16 a, size_t q) {
    V16_EACH(a.part[q]);
}

#undef V16_EACH

/* ---- lanes of 32 bits that hold integers ---- */

typedef struct v16i {
    v128_t part[4];
} v16i;

#define V16I_EACH(expression)                             \
    v16i y;                                               \
    for (int i = 0; i < 4; i++) y.part[i] = (expression); \
    return y

static inline v16i v16i_set(int32_t x) {
    V16I_EACH(wasm_i32x4_splat(x));
}

static inline v16i v16i_load(const void *p) {
    const uint8_t *bytes = p;
    V16I_EACH(wasm_v128_load(bytes + 16 * i));
}

static inline v16i v16i_add(v16i a, v16i b) {
    V16I_EACH(wasm_i32x4_add(a.part[i], b.part[i]));
}

static inline v16i v16i_even_bytes(v16i a) {
    V16I_EACH(wasm_v128_and(a.part[i], wasm_i32x4_splat(0x00ff00ff)));
}

static inline v16i v16i_odd_bytes(v16i a) {
    V16I_EACH(wasm_u16x8_shr(a.part[i], 8));
}

static inline v16i v16i_multiply_add(v16i a, v16i b) {
    V16I_EACH(wasm_i32x4_dot_i16x8(a.part[i], b.part[i]));
}

static inline v16i v16i_shift_left(v16i a, int bits) {
    V16I_EACH(wasm_i32x4_shl(a.part[i], (uint32_t)bits));
}

static inline void v16i_store_bytes(uint8_t *p, v16i a, int bits) {
    for (int i = 0; i < 4; i++) a.part[i] = wasm_i32x4_shr(a.part[i], (uint32_t)bits);
    wasm_v128_store(p, wasm_u8x16_narrow_i16x8(wasm_i16x8_narrow_i32x4(a.part[0], a.part[1]),
                                               wasm_i16x8_narrow_i32x4(a.part[2], a.part[3])));
}

static inline void v16i_pack_rgb(uint8_t *quads, const uint8_t *rows, size_t stride) {
    for (size_t r = 0; r < 4; r++) {
        const v128_t row = wasm_v128_load(rows + r * stride);
        const v128_t colours = wasm_i8x16_shuffle(row, row, 0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11,
                                                  12, 13, 14, 15); /* 4 reds, 4 greens, 4 blues */
        uint8_t bytes[16];
        wasm_v128_store(bytes, colours);
        for (size_t c = 0; c < 3; c++) memcpy(quads + 64 * c + 4 * r, bytes + 4 * c, 4);
    }
}

#undef V16I_EACH

static inline void v4_transpose(v128_t to[4], v128_t a, v128_t b, v128_t c, v128_t d) {
    const v128_t ab = wasm_i32x4_shuffle(a, b, 0, 4, 1, 5),
                 cd = wasm_i32x4_shuffle(c, d, 0, 4, 1, 5);
    const v128_t ef = wasm_i32x4_shuffle(a, b, 2, 6, 3, 7),
                 gh = wasm_i32x4_shuffle(c, d, 2, 6, 3, 7);
    to[0] = wasm_i64x2_shuffle(ab, cd, 0, 2);
    to[1] = wasm_i64x2_shuffle(ab, cd, 1, 3);
    to[2] = wasm_i64x2_shuffle(ef, gh, 0, 2);
    to[3] = wasm_i64x2_shuffle(ef, gh, 1, 3);
}

/* Transposes blocks of 4 x 4 and moves them to their places. */
static inline void v16_transpose(v16 a[16]) {
    v16 b[16];
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            v128_t block[4];
            v4_transpose(block, a[4 * i].part[j], a[4 * i + 1].part[j], a[4 * i + 2].part[j],
                         a[4 * i + 3].part[j]);
            for (int h = 0; h < 4; h++) b[4 * j + h].part[i] = block[h];
        }
    }
    for (int i = 0; i < 16; i++) a[i] = b[i];
}

#endif
