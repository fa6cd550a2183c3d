/* 16 virtual lanes in four vectors of WebAssembly's SIMD. */
#ifndef VIT_KERNELS_V16_SIMD128_H
#define VIT_KERNELS_V16_SIMD128_H

#include <wasm_simd128.h>

#ifdef __wasm_relaxed_simd__
#define TILE_ROWS 2 /* an engine for x86 has 15 registers for accumulators, B and A */
#else
#define TILE_ROWS 4
#endif
#define TILE_VECS 1
#define TILE_DEPTH 512

typedef v128_t v4;
typedef v128_t v4i;

#define v4_set wasm_f32x4_splat
#define v4_load wasm_v128_load
#define v4_store wasm_v128_store
#define v4_add wasm_f32x4_add
#define v4_sub wasm_f32x4_sub
#define v4_mul wasm_f32x4_mul
#define v4_div wasm_f32x4_div
#define v4_sqrt wasm_f32x4_sqrt
#define v4_abs wasm_f32x4_abs
#define v4_if_less(a, b, yes, no) wasm_v128_bitselect(yes, no, wasm_f32x4_lt(a, b))
#define v4_if_nan(a, yes, no) wasm_v128_bitselect(yes, no, wasm_f32x4_ne(a, a))
#define v4_low_halves(a, b) wasm_i64x2_shuffle(a, b, 0, 2)
#define v4_high_halves(a, b) wasm_i64x2_shuffle(a, b, 1, 3)
#define v4_even_lanes(a, b) wasm_i32x4_shuffle(a, b, 0, 2, 4, 6)
#define v4_odd_lanes(a, b) wasm_i32x4_shuffle(a, b, 1, 3, 5, 7)
#define v4_all_lane(a, n) wasm_i32x4_shuffle(a, a, n, n, n, n)
#define v4_first_lane(a) wasm_f32x4_extract_lane(a, 0)

#ifdef __wasm_relaxed_simd__
/* The instruction may round the product, too: such a module is for engines that do not (Makefile,
 * vit/cli/web/worker.js). */
static inline v4 v4_fma(v4 a, v4 b, v4 c) {
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

static inline v4 v4_fma(v4 a, v4 b, v4 c) {
    const v128_t low = v2_fma(wasm_f64x2_promote_low_f32x4(a), wasm_f64x2_promote_low_f32x4(b),
                              wasm_f64x2_promote_low_f32x4(c));
    const v128_t high = v2_fma(v4_high(a), v4_high(b), v4_high(c));
    return wasm_i64x2_shuffle(low, high, 0, 2);
}
#endif

static inline v128_t v4_times_power(v128_t p, v128_t n) {
    const v128_t shift = wasm_i32x4_shl(wasm_i32x4_trunc_sat_f32x4(n), 23);
    return wasm_v128_bitselect(wasm_i32x4_add(p, shift), p, wasm_f32x4_eq(p, p));
}

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

#define v4i_set wasm_i32x4_splat
#define v4i_load wasm_v128_load
#define v4i_add wasm_i32x4_add
#define v4i_even_bytes(a) wasm_v128_and(a, wasm_i32x4_splat(0x00ff00ff))
#define v4i_odd_bytes(a) wasm_u16x8_shr(a, 8)
#define v4i_multiply_add wasm_i32x4_dot_i16x8
#define v4i_shift_left(a, bits) wasm_i32x4_shl(a, (uint32_t)(bits))

static inline void v4i_sort_rgb(uint8_t colours[16], const uint8_t *p) {
    const v128_t row = wasm_v128_load(p);
    wasm_v128_store(colours, wasm_i8x16_shuffle(row, row, 0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11, 12,
                                                13, 14, 15));
}

#include "vit/kernels/v16_four.inc"

static inline v16 v16_lookup(const float table[16], v16 where) {
    uint32_t bits[16];
    float lane[16];
    memcpy(bits, &where, sizeof bits);
    for (int i = 0; i < 16; i++) lane[i] = table[bits[i] % 16];
    return v16_load(lane);
}

static inline void v16i_store_bytes(uint8_t *p, v16i a, int bits) {
    for (int i = 0; i < 4; i++) a.part[i] = wasm_i32x4_shr(a.part[i], (uint32_t)bits);
    wasm_v128_store(p, wasm_u8x16_narrow_i16x8(wasm_i16x8_narrow_i32x4(a.part[0], a.part[1]),
                                               wasm_i16x8_narrow_i32x4(a.part[2], a.part[3])));
}

#endif
