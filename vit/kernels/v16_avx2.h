/* 16 virtual lanes in two AVX2 registers. */
#ifndef VIT_KERNELS_V16_AVX2_H
#define VIT_KERNELS_V16_AVX2_H

#include "vit/kernels/pack_rgb.h"

#include <immintrin.h>
#include <stddef.h>

/* 6 x 16: of 16 registers twelve are accumulators, two hold B and one A. */
#define TILE_ROWS 6
#define TILE_VECS 1

/* This much of a panel of B is 16 KiB and stays in a first-level cache of 32 KiB beside the rows of
 * A. A vector of B is used for only six multiply-adds, so the second-level cache would be too slow.
 */
#define TILE_DEPTH 256

typedef struct v16 {
    __m256 lo, hi;
} v16;
/* a b + c as a step of a tile. The instruction is written out so that the sum stays in its
 * register: gcc 12 lets the sum and the factors change places from step to step, runs out of
 * registers for that, and keeps sums in memory, whose latency then is part of every chain. */
static inline v16 v16_step(v16 a, v16 b, v16 c) {
    __asm__("vfmadd231ps %2, %1, %0" : "+x"(c.lo) : "x"(a.lo), "x"(b.lo));
    __asm__("vfmadd231ps %2, %1, %0" : "+x"(c.hi) : "x"(a.hi), "x"(b.hi));
    return c;
}
#define TILE_STEP v16_step
typedef struct v16_mask {
    __m256i lo, hi;
} v16_mask;

static inline v16_mask v16_first(size_t n) {
    const __m256i count = _mm256_set1_epi32((int)n);
    const __m256i low = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i high = _mm256_setr_epi32(8, 9, 10, 11, 12, 13, 14, 15);
    return (v16_mask){_mm256_cmpgt_epi32(count, low), _mm256_cmpgt_epi32(count, high)};
}

static inline v16 v16_set(float x) {
    return (v16){_mm256_set1_ps(x), _mm256_set1_ps(x)};
}

static inline v16 v16_load(const float *p) {
    return (v16){_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}

static inline v16 v16_load_masked(const float *p, v16_mask m) {
    return (v16){_mm256_maskload_ps(p, m.lo), _mm256_maskload_ps(p + 8, m.hi)};
}

static inline void v16_store(float *p, v16 x) {
    _mm256_storeu_ps(p, x.lo);
    _mm256_storeu_ps(p + 8, x.hi);
}

static inline void v16_store_masked(float *p, v16 x, v16_mask m) {
    _mm256_maskstore_ps(p, m.lo, x.lo);
    _mm256_maskstore_ps(p + 8, m.hi, x.hi);
}

static inline v16 v16_add(v16 a, v16 b) {
    return (v16){_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)};
}

static inline v16 v16_sub(v16 a, v16 b) {
    return (v16){_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)};
}

static inline v16 v16_mul(v16 a, v16 b) {
    return (v16){_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)};
}

static inline v16 v16_div(v16 a, v16 b) {
    return (v16){_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)};
}

static inline v16 v16_sqrt(v16 a) {
    return (v16){_mm256_sqrt_ps(a.lo), _mm256_sqrt_ps(a.hi)};
}

static inline v16 v16_fma(v16 a, v16 b, v16 c) {
    return (v16){_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
}

static inline v16 v16_max(v16 a, v16 b) {
    return (v16){_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)};
}

static inline v16 v16_min(v16 a, v16 b) {
    return (v16){_mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi)};
}

static inline v16 v16_abs(v16 a) {
    const __m256 sign = _mm256_set1_ps(-0.0f);
    return (v16){_mm256_andnot_ps(sign, a.lo), _mm256_andnot_ps(sign, a.hi)};
}

static inline v16 v16_if_less(v16 a, v16 b, v16 yes, v16 no) {
    return (v16){_mm256_blendv_ps(no.lo, yes.lo, _mm256_cmp_ps(a.lo, b.lo, _CMP_LT_OQ)),
                 _mm256_blendv_ps(no.hi, yes.hi, _mm256_cmp_ps(a.hi, b.hi, _CMP_LT_OQ))};
}

static inline v16 v16_if_nan(v16 a, v16 yes, v16 no) {
    return (v16){_mm256_blendv_ps(no.lo, yes.lo, _mm256_cmp_ps(a.lo, a.lo, _CMP_UNORD_Q)),
                 _mm256_blendv_ps(no.hi, yes.hi, _mm256_cmp_ps(a.hi, a.hi, _CMP_UNORD_Q))};
}

static inline v16 v16_fill_absent(v16 a, v16_mask m, float x) {
    const __m256 fill = _mm256_set1_ps(x);
    return (v16){_mm256_blendv_ps(fill, a.lo, _mm256_castsi256_ps(m.lo)),
                 _mm256_blendv_ps(fill, a.hi, _mm256_castsi256_ps(m.hi))};
}

/* A permutation uses three bits of the index; the fourth, moved to the sign, selects the half. */
static inline __m256 v8_lookup(const float table[16], __m256 where) {
    const __m256i bits = _mm256_castps_si256(where);
    const __m256 low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table), bits);
    const __m256 high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table + 8), bits);
    return _mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(bits, 28)));
}

static inline v16 v16_lookup(const float table[16], v16 where) {
    return (v16){v8_lookup(table, where.lo), v8_lookup(table, where.hi)};
}

static inline __m256 v8_times_power(__m256 p, __m256 n) {
    const __m256i shift = _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23);
    const __m256 y = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), shift));
    return _mm256_blendv_ps(y, p, _mm256_cmp_ps(p, p, _CMP_UNORD_Q));
}

static inline v16 v16_times_power(v16 p, v16 n) {
    return (v16){v8_times_power(p.lo, n.lo), v8_times_power(p.hi, n.hi)};
}

static inline float v16_fold_add(v16 a) {
    const __m256 eight = _mm256_add_ps(a.lo, a.hi);
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

/* a and b, folded to eight lanes each, are put side by side and folded to four, then within the
 * quarters. */
#define V16_FOLD4(name, op)                                                                    \
    static inline __m256 name##_pair(__m256 a, __m256 b) {                                     \
        __m256 x = op(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31)); \
        x = op(x, _mm256_permute_ps(x, 0x4e));                                                 \
        return op(x, _mm256_permute_ps(x, 0xb1));                                              \
    }                                                                                          \
    static inline v16 name(v16 a, v16 b, v16 c, v16 d) {                                       \
        return (v16){name##_pair(op(a.lo, a.hi), op(b.lo, b.hi)),                              \
                     name##_pair(op(c.lo, c.hi), op(d.lo, d.hi))};                             \
    }
V16_FOLD4(v16_fold4_add, _mm256_add_ps)
V16_FOLD4(v16_fold4_max, _mm256_max_ps)
#undef V16_FOLD4

static inline v16 v16_quarter(v16 a, size_t q) {
    const __m256 half = q < 2 ? a.lo : a.hi;
    const __m256 y = q % 2 == 0 ? _mm256_permute2f128_ps(half, half, 0x00)
                                : _mm256_permute2f128_ps(half, half, 0x11);
    return (v16){y, y};
}

typedef struct v16i {
    __m256i lo, hi;
} v16i;

static inline v16i v16i_set(int32_t x) {
    return (v16i){_mm256_set1_epi32(x), _mm256_set1_epi32(x)};
}

static inline v16i v16i_load(const void *p) {
    const __m256i *both = p;
    return (v16i){_mm256_loadu_si256(both), _mm256_loadu_si256(both + 1)};
}

static inline v16i v16i_add(v16i a, v16i b) {
    return (v16i){_mm256_add_epi32(a.lo, b.lo), _mm256_add_epi32(a.hi, b.hi)};
}

static inline v16i v16i_even_bytes(v16i a) {
    const __m256i mask = _mm256_set1_epi16(0xff);
    return (v16i){_mm256_and_si256(a.lo, mask), _mm256_and_si256(a.hi, mask)};
}

static inline v16i v16i_odd_bytes(v16i a) {
    return (v16i){_mm256_srli_epi16(a.lo, 8), _mm256_srli_epi16(a.hi, 8)};
}

static inline v16i v16i_multiply_add(v16i a, v16i b) {
    return (v16i){_mm256_madd_epi16(a.lo, b.lo), _mm256_madd_epi16(a.hi, b.hi)};
}

static inline v16i v16i_shift_left(v16i a, int bits) {
    return (v16i){_mm256_slli_epi32(a.lo, bits), _mm256_slli_epi32(a.hi, bits)};
}

static inline void v16i_store_bytes(uint8_t *p, v16i a, int bits) {
    const __m128i count = _mm_cvtsi32_si128(bits);
    const __m256i lo = _mm256_sra_epi32(a.lo, count), hi = _mm256_sra_epi32(a.hi, count);
    /* Packing works in halves of 128 bits: the quarters come out as 0 2 1 3. */
    const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(lo, hi), 0xd8);
    const __m128i bytes =
        _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm_storeu_si128((__m128i *)p, bytes);
}

/* 4 x 4 blocks in 128-bit halves; then the halves change places. */
static inline void v8_transpose(__m256 a[8]) {
    __m256 b[8];
    for (int i = 0; i < 8; i += 4) { /* b[i + c]: columns c, c + 4 of rows i to i + 3 */
        const __m256 even_low = _mm256_unpacklo_ps(a[i], a[i + 1]);
        const __m256 even_high = _mm256_unpackhi_ps(a[i], a[i + 1]);
        const __m256 odd_low = _mm256_unpacklo_ps(a[i + 2], a[i + 3]);
        const __m256 odd_high = _mm256_unpackhi_ps(a[i + 2], a[i + 3]);
        b[i] = _mm256_shuffle_ps(even_low, odd_low, 0x44);
        b[i + 1] = _mm256_shuffle_ps(even_low, odd_low, 0xee);
        b[i + 2] = _mm256_shuffle_ps(even_high, odd_high, 0x44);
        b[i + 3] = _mm256_shuffle_ps(even_high, odd_high, 0xee);
    }
    for (int c = 0; c < 4; c++) {
        a[c] = _mm256_permute2f128_ps(b[c], b[c + 4], 0x20);
        a[c + 4] = _mm256_permute2f128_ps(b[c], b[c + 4], 0x31);
    }
}

static inline void v16_transpose(v16 a[16]) {
    __m256 quarter[4][8]; /* [rows from 8, columns from 8] */
    for (int i = 0; i < 8; i++) {
        quarter[0][i] = a[i].lo;
        quarter[1][i] = a[i].hi;
        quarter[2][i] = a[i + 8].lo;
        quarter[3][i] = a[i + 8].hi;
    }
    for (int q = 0; q < 4; q++) v8_transpose(quarter[q]);
    for (int i = 0; i < 8; i++) {
        a[i] = (v16){quarter[0][i], quarter[2][i]};
        a[i + 8] = (v16){quarter[1][i], quarter[3][i]};
    }
}

#endif
