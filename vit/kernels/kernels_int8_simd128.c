/* Products of 8-bit integers in WebAssembly; for another processor there are none. */
#include "vit/kernels/kernels.h"
#include <stdbool.h>

#if defined(__wasm__)

#include "vit/kernels/v16_simd128.h"

/* Four quads: products of 16 bits, their sums in twos and then in fours. */
static inline v128_t v4_step(v128_t a, v128_t b, v128_t c) {
    const v128_t low = wasm_i32x4_extadd_pairwise_i16x8(wasm_i16x8_extmul_low_i8x16(a, b));
    const v128_t high = wasm_i32x4_extadd_pairwise_i16x8(wasm_i16x8_extmul_high_i8x16(a, b));
    const v128_t sums = wasm_i32x4_add(wasm_i32x4_shuffle(low, high, 0, 2, 4, 6),
                                       wasm_i32x4_shuffle(low, high, 1, 3, 5, 7));
    return wasm_i32x4_add(c, sums);
}

static inline v16 quad_step(v16 a, v16 b, v16 c) {
    for (int i = 0; i < 4; i++) c.part[i] = v4_step(a.part[i], b.part[i], c.part[i]);
    return c;
}

static inline v16 v16_from_integers(v16 a) {
    for (int i = 0; i < 4; i++) a.part[i] = wasm_f32x4_convert_i32x4(a.part[i]);
    return a;
}

static inline void store_quads(float *to, v16 x) {
    for (int i = 0; i < 4; i++)
        x.part[i] = wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest(x.part[i]));
    const v128_t low = wasm_i16x8_narrow_i32x4(x.part[0], x.part[1]);
    const v128_t high = wasm_i16x8_narrow_i32x4(x.part[2], x.part[3]);
    wasm_v128_store(to, wasm_i8x16_narrow_i16x8(low, high));
}

#define STARTS false
#include "vit/kernels/quads.inc"

const vit_product_kernels vit_quads_simd128 = {
    .gemm_tiles = gemm_tiles, .quantise = quantise, .a_words = A_WORDS};

#else

const vit_product_kernels vit_quads_simd128 = {.gemm_tiles = NULL};

#endif
