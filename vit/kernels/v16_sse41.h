/* 16 virtual lanes in four registers of 128 bits: SSE up to SSE4.1, without a fused multiply-add.
 */
#ifndef VIT_KERNELS_V16_SSE41_H
#define VIT_KERNELS_V16_SSE41_H

#include <smmintrin.h>
#include <stdint.h>
#include <tmmintrin.h>

#define TILE_ROWS 6
#define TILE_VECS 1
#define TILE_DEPTH 256

typedef __m128 v4;
typedef __m128i v4i;

#define v4_set _mm_set1_ps
#define v4_load _mm_loadu_ps
#define v4_store _mm_storeu_ps
#define v4_add _mm_add_ps
#define v4_sub _mm_sub_ps
#define v4_mul _mm_mul_ps
#define v4_div _mm_div_ps
#define v4_sqrt _mm_sqrt_ps
#define v4_abs(a) _mm_andnot_ps(_mm_set1_ps(-0.f), a)
#define v4_if_less(a, b, yes, no) _mm_blendv_ps(no, yes, _mm_cmplt_ps(a, b))
#define v4_if_nan(a, yes, no) _mm_blendv_ps(no, yes, _mm_cmpunord_ps(a, a))
#define v4_low_halves _mm_movelh_ps
#define v4_high_halves(a, b) _mm_movehl_ps(b, a)
#define v4_even_lanes(a, b) _mm_shuffle_ps(a, b, 0x88)
#define v4_odd_lanes(a, b) _mm_shuffle_ps(a, b, 0xdd)
#define v4_all_lane(a, n) _mm_shuffle_ps(a, a, 0x55 * (n))
#define v4_first_lane _mm_cvtss_f32

/* vit_fused_by_double (vit/base/fused.h) of two lanes. `below` and `above` are -1 or 0. */
static inline __m128 v2_fma(__m128d a, __m128d b, __m128d c) {
    const __m128d product = _mm_mul_pd(a, b), sum = _mm_add_pd(product, c);
    const __m128d part = _mm_sub_pd(sum, product);
    const __m128d lost =
        _mm_add_pd(_mm_sub_pd(product, _mm_sub_pd(sum, part)), _mm_sub_pd(c, part));
    const __m128d side = _mm_mul_pd(lost, sum), none = _mm_setzero_pd();
    const __m128i below = _mm_castpd_si128(_mm_cmplt_pd(side, none));
    const __m128i above = _mm_castpd_si128(_mm_cmpgt_pd(side, none));
    const __m128i last = _mm_and_si128(_mm_or_si128(below, above), _mm_set1_epi64x(1));
    const __m128i odd = _mm_or_si128(_mm_add_epi64(_mm_castpd_si128(sum), below), last);
    return _mm_cvtpd_ps(_mm_castsi128_pd(odd));
}

static inline __m128d v4_low_doubles(v4 a) {
    return _mm_cvtps_pd(a);
}

static inline __m128d v4_high_doubles(v4 a) {
    return _mm_cvtps_pd(_mm_movehl_ps(a, a));
}

/* Some thirty instructions: inline, this table would be half a megabyte. */
static __attribute__((noinline)) v4 v4_fma(v4 a, v4 b, v4 c) {
    return v4_low_halves(v2_fma(v4_low_doubles(a), v4_low_doubles(b), v4_low_doubles(c)),
                         v2_fma(v4_high_doubles(a), v4_high_doubles(b), v4_high_doubles(c)));
}

static inline v4 v4_times_power(v4 p, v4 n) {
    const __m128i shift = _mm_slli_epi32(_mm_cvtps_epi32(n), 23);
    const v4 y = _mm_castsi128_ps(_mm_add_epi32(_mm_castps_si128(p), shift));
    return v4_if_nan(p, p, y);
}

static inline void v4_transpose(v4 to[4], v4 a, v4 b, v4 c, v4 d) {
    const v4 ab = _mm_unpacklo_ps(a, b), cd = _mm_unpacklo_ps(c, d);
    const v4 ef = _mm_unpackhi_ps(a, b), gh = _mm_unpackhi_ps(c, d);
    to[0] = v4_low_halves(ab, cd);
    to[1] = v4_high_halves(ab, cd);
    to[2] = v4_low_halves(ef, gh);
    to[3] = v4_high_halves(ef, gh);
}

#define v4i_set _mm_set1_epi32
#define v4i_load(p) _mm_loadu_si128((const __m128i *)(const void *)(p))
#define v4i_add _mm_add_epi32
#define v4i_even_bytes(a) _mm_and_si128(a, _mm_set1_epi16(0xff))
#define v4i_odd_bytes(a) _mm_srli_epi16(a, 8)
#define v4i_multiply_add _mm_madd_epi16
#define v4i_shift_left(a, bits) _mm_sll_epi32(a, _mm_cvtsi32_si128(bits))

static inline void v4i_sort_rgb(uint8_t colours[16], const uint8_t *row) {
    const __m128i planes = _mm_setr_epi8(0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11, -1, -1, -1, -1);
    _mm_storeu_si128((__m128i *)(void *)colours, _mm_shuffle_epi8(v4i_load(row), planes));
}

#define V16_MASKED __attribute__((noinline))
#include "vit/kernels/v16_four.inc"

static inline v16 v16_lookup(const float table[16], v16 where) {
    uint32_t bits[16];
    float lane[16];
    memcpy(bits, &where, sizeof bits);
    for (int i = 0; i < 16; i++) lane[i] = table[bits[i] % 16];
    return v16_load(lane);
}

static inline void v16i_store_bytes(uint8_t *p, v16i a, int bits) {
    for (int i = 0; i < 4; i++) a.part[i] = _mm_sra_epi32(a.part[i], _mm_cvtsi32_si128(bits));
    const __m128i low = _mm_packs_epi32(a.part[0], a.part[1]);
    const __m128i high = _mm_packs_epi32(a.part[2], a.part[3]);
    _mm_storeu_si128((__m128i *)(void *)p, _mm_packus_epi16(low, high));
}

#endif
