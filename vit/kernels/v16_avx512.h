/* 16 virtual lanes in one AVX-512 register. */
#ifndef VIT_KERNELS_V16_AVX512_H
#define VIT_KERNELS_V16_AVX512_H

#include "vit/kernels/pack_rgb.h"

#include <immintrin.h>
#include <stddef.h>

/* 12 x 32: of 32 registers twenty-four are accumulators, two hold B and one A. */
#define TILE_ROWS 12
#define TILE_VECS 2

/* This much of a panel of B is 64 KiB and comes from the second-level cache, which is fast enough:
 * a vector of B is used for twelve multiply-adds. */
#define TILE_DEPTH 512

typedef __m512 v16;
typedef __mmask16 v16_mask;

static inline v16_mask v16_first(size_t n) {
    return (v16_mask)((1u << n) - 1);
}

static inline v16 v16_set(float x) {
    return _mm512_set1_ps(x);
}

static inline v16 v16_load(const float *p) {
    return _mm512_loadu_ps(p);
}

static inline v16 v16_load_masked(const float *p, v16_mask m) {
    return _mm512_maskz_loadu_ps(m, p);
}

static inline void v16_store(float *p, v16 x) {
    _mm512_storeu_ps(p, x);
}

static inline void v16_store_masked(float *p, v16 x, v16_mask m) {
    _mm512_mask_storeu_ps(p, m, x);
}

static inline v16 v16_add(v16 a, v16 b) {
    return _mm512_add_ps(a, b);
}

static inline v16 v16_sub(v16 a, v16 b) {
    return _mm512_sub_ps(a, b);
}

static inline v16 v16_mul(v16 a, v16 b) {
    return _mm512_mul_ps(a, b);
}

static inline v16 v16_div(v16 a, v16 b) {
    return _mm512_div_ps(a, b);
}

static inline v16 v16_sqrt(v16 a) {
    return _mm512_sqrt_ps(a);
}

static inline v16 v16_fma(v16 a, v16 b, v16 c) {
    return _mm512_fmadd_ps(a, b, c);
}

static inline v16 v16_max(v16 a, v16 b) {
    return _mm512_max_ps(a, b);
}

static inline v16 v16_min(v16 a, v16 b) {
    return _mm512_min_ps(a, b);
}

static inline v16 v16_abs(v16 a) {
    return _mm512_abs_ps(a);
}

static inline v16 v16_if_less(v16 a, v16 b, v16 yes, v16 no) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), no, yes);
}

static inline v16 v16_if_nan(v16 a, v16 yes, v16 no) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), no, yes);
}

static inline v16 v16_fill_absent(v16 a, v16_mask m, float x) {
    return _mm512_mask_blend_ps(m, _mm512_set1_ps(x), a);
}

static inline v16 v16_lookup(const float table[16], v16 where) {
    return _mm512_permutexvar_ps(_mm512_castps_si512(where), _mm512_loadu_ps(table));
}

static inline v16 v16_times_power(v16 p, v16 n) {
    return _mm512_scalef_ps(p, n);
}

static inline __m256 v16_upper(v16 a) {
    return _mm512_extractf32x8_ps(a, 1);
}

static inline float v16_fold_add(v16 a) {
    const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a), v16_upper(a));
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

/* Folds the halves of a and b side by side, then the quarters of all four, then within the
 * quarters. */
#define V16_FOLD4(name, op)                                                                    \
    static inline v16 name(v16 a, v16 b, v16 c, v16 d) {                                       \
        const v16 ab = op(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xee)); \
        const v16 cd = op(_mm512_shuffle_f32x4(c, d, 0x44), _mm512_shuffle_f32x4(c, d, 0xee)); \
        v16 x = op(_mm512_shuffle_f32x4(ab, cd, 0x88), _mm512_shuffle_f32x4(ab, cd, 0xdd));    \
        x = op(x, _mm512_permute_ps(x, 0x4e));                                                 \
        return op(x, _mm512_permute_ps(x, 0xb1));                                              \
    }
V16_FOLD4(v16_fold4_add, _mm512_add_ps)
V16_FOLD4(v16_fold4_max, _mm512_max_ps)
#undef V16_FOLD4

static inline v16 v16_quarter(v16 a, size_t q) {
    switch (q) {
    case 0:
        return _mm512_shuffle_f32x4(a, a, 0x00);
    case 1:
        return _mm512_shuffle_f32x4(a, a, 0x55);
    case 2:
        return _mm512_shuffle_f32x4(a, a, 0xaa);
    default:
        return _mm512_shuffle_f32x4(a, a, 0xff);
    }
}

typedef __m512i v16i;

static inline v16i v16i_set(int32_t x) {
    return _mm512_set1_epi32(x);
}

static inline v16i v16i_load(const void *p) {
    return _mm512_loadu_si512(p);
}

static inline v16i v16i_add(v16i a, v16i b) {
    return _mm512_add_epi32(a, b);
}

static inline v16i v16i_even_bytes(v16i a) {
    return _mm512_and_si512(a, _mm512_set1_epi16(0xff));
}

static inline v16i v16i_odd_bytes(v16i a) {
    return _mm512_srli_epi16(a, 8);
}

static inline v16i v16i_multiply_add(v16i a, v16i b) {
    return _mm512_madd_epi16(a, b);
}

static inline v16i v16i_shift_left(v16i a, int bits) {
    return _mm512_slli_epi32(a, (unsigned)bits);
}

static inline void v16i_store_bytes(uint8_t *p, v16i a, int bits) {
    const __m512i x = _mm512_sra_epi32(a, _mm_cvtsi32_si128(bits));
    const __m512i positive = _mm512_max_epi32(x, _mm512_setzero_si512());
    _mm_storeu_si128((__m128i *)p, _mm512_cvtusepi32_epi8(positive));
}

/* Transposes blocks of 2 x 2 floats, then of 4 x 4, then moves these blocks to their places. */
static inline void v16_transpose(v16 a[16]) {
    v16 b[16];
    for (int i = 0; i < 16; i += 2) {
        b[i] = _mm512_unpacklo_ps(a[i], a[i + 1]);
        b[i + 1] = _mm512_unpackhi_ps(a[i], a[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) { /* a[i + c]: columns c, c + 4, ... of rows i to i + 3 */
        a[i] = _mm512_shuffle_ps(b[i], b[i + 2], 0x44);
        a[i + 1] = _mm512_shuffle_ps(b[i], b[i + 2], 0xee);
        a[i + 2] = _mm512_shuffle_ps(b[i + 1], b[i + 3], 0x44);
        a[i + 3] = _mm512_shuffle_ps(b[i + 1], b[i + 3], 0xee);
    }
    for (int c = 0; c < 4; c++) {
        const v16 low = _mm512_shuffle_f32x4(a[c], a[c + 4], 0x88);
        const v16 low_odd = _mm512_shuffle_f32x4(a[c], a[c + 4], 0xdd);
        const v16 high = _mm512_shuffle_f32x4(a[c + 8], a[c + 12], 0x88);
        const v16 high_odd = _mm512_shuffle_f32x4(a[c + 8], a[c + 12], 0xdd);
        a[c] = _mm512_shuffle_f32x4(low, high, 0x88);
        a[c + 8] = _mm512_shuffle_f32x4(low, high, 0xdd);
        a[c + 4] = _mm512_shuffle_f32x4(low_odd, high_odd, 0x88);
        a[c + 12] = _mm512_shuffle_f32x4(low_odd, high_odd, 0xdd);
    }
}

#endif
