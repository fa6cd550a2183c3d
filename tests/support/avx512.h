/* The instructions of AVX-512, AVX512_VNNI and AVX512_BF16 that kernels use, for x86 processors
 * without them: included before a kernel's file (-include), with AVX2 and FMA, it takes the place
 * of the compiler's functions and says that the compiler has the extensions. Each is written lane
 * by lane from Intel's manual, and the tests of kernels compare what comes of it with plain C, bit
 * by bit. Where the compiler's vectors have the operation (+, <, ...), it is that. */
#ifndef TESTS_SUPPORT_AVX512_H
#define TESTS_SUPPORT_AVX512_H

#include <float.h>
#include <immintrin.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define UNROLL /* nothing: emulated, an unrolled tile would be a million instructions */
#define E512 static inline __attribute__((always_inline, unused))
#define CALLED static __attribute__((noinline, unused))
#define EACH(n) for (int i = 0; i < (n); i++)

typedef int32_t e512_words __attribute__((vector_size(64)));
typedef int16_t e512_halves __attribute__((vector_size(64)));
typedef uint16_t e512_bits __attribute__((vector_size(64)));
typedef union e512 {
    __m512 f;
    __m512i q;
    __m256 ff[2];
    __m256i qq[2];
    float lane[16];
    int32_t word[16];
    uint32_t bits[16];
    int16_t half[32];
    uint16_t pair[32];
    uint8_t byte[64];
} e512;

#define OF_F(x) ((e512){.f = (x)})
#define OF_Q(x) ((e512){.q = (x)})

/* ---- memory ---- */

E512 __m512 e512_load(const void *p) {
    e512 y;
    memcpy(&y, p, sizeof y);
    return y.f;
}
E512 void e512_store(void *p, __m512 x) {
    memcpy(p, &x, sizeof x);
}
/* Lanes that are not in the mask are not touched; masks here are of the first lanes. */
CALLED __m512 e512_load_masked(__mmask16 m, const float *p) {
    e512 y = {.bits = {0}};
    EACH(16) if (m >> i & 1) y.lane[i] = p[i];
    return y.f;
}
CALLED void e512_store_masked(float *p, __mmask16 m, __m512 x) {
    const e512 y = OF_F(x);
    EACH(16) if (m >> i & 1) p[i] = y.lane[i];
}
E512 __m512 e512_set(float x) {
    return (__m512){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};
}
E512 __m512i e512_set_words(int32_t x) {
    const e512_words y = {x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};
    return (__m512i)y;
}
E512 __m512i e512_set_halves(int x) {
    return e512_set_words((int32_t)((uint32_t)(uint16_t)x << 16 | (uint16_t)x));
}

/* ---- floats ---- */

#define BY_HALVES_F(call0, call1)     \
    e512 y;                           \
    y.ff[0] = call0, y.ff[1] = call1; \
    return y.f

CALLED __m512 e512_fma(__m512 a, __m512 b, __m512 c) {
    const e512 x = OF_F(a), z = OF_F(b), w = OF_F(c);
    BY_HALVES_F(_mm256_fmadd_ps(x.ff[0], z.ff[0], w.ff[0]),
                _mm256_fmadd_ps(x.ff[1], z.ff[1], w.ff[1]));
}
E512 __m512 e512_max(__m512 a, __m512 b) {
    const e512 x = OF_F(a), z = OF_F(b);
    BY_HALVES_F(_mm256_max_ps(x.ff[0], z.ff[0]), _mm256_max_ps(x.ff[1], z.ff[1]));
}
E512 __m512 e512_min(__m512 a, __m512 b) {
    const e512 x = OF_F(a), z = OF_F(b);
    BY_HALVES_F(_mm256_min_ps(x.ff[0], z.ff[0]), _mm256_min_ps(x.ff[1], z.ff[1]));
}
E512 __m512 e512_sqrt(__m512 a) {
    const e512 x = OF_F(a);
    BY_HALVES_F(_mm256_sqrt_ps(x.ff[0]), _mm256_sqrt_ps(x.ff[1]));
}
E512 __m512 e512_abs(__m512 a) {
    return (__m512)((e512_words)a & (e512_words)e512_set_words(0x7fffffff));
}
/* a 2^floor(b); the result is rounded once. */
CALLED __m512 e512_scalef(__m512 a, __m512 b) {
    const e512 x = OF_F(a), z = OF_F(b);
    e512 y;
    EACH(16) y.lane[i] = ldexpf(x.lane[i], (int)floorf(fmaxf(fminf(z.lane[i], 1000), -1000)));
    return y.f;
}
CALLED __mmask16 e512_compare(__m512 a, __m512 b, const int how) {
    const e512 x = OF_F(a), z = OF_F(b);
    unsigned m = 0;
    EACH(16) {
        const bool unordered = x.lane[i] != x.lane[i] || z.lane[i] != z.lane[i];
        const bool yes = how == _CMP_LT_OQ     ? x.lane[i] < z.lane[i]
                         : how == _CMP_GE_OQ   ? x.lane[i] >= z.lane[i]
                         : how == _CMP_UNORD_Q ? unordered
                                               : false;
        m |= (unsigned)yes << i;
    }
    return (__mmask16)m;
}
CALLED __m512 e512_blend(__mmask16 m, __m512 no, __m512 yes) {
    const e512 x = OF_F(no), z = OF_F(yes);
    e512 y;
    EACH(16) y.lane[i] = m >> i & 1 ? z.lane[i] : x.lane[i];
    return y.f;
}
/* To an integer, ties to even. */
E512 __m512 e512_whole(__m512 a) {
    const e512 x = OF_F(a);
    BY_HALVES_F(_mm256_round_ps(x.ff[0], 8), _mm256_round_ps(x.ff[1], 8));
}
E512 __m512i e512_to_words(__m512 a) {
    const e512 x = OF_F(a);
    e512 y;
    y.qq[0] = _mm256_cvtps_epi32(x.ff[0]), y.qq[1] = _mm256_cvtps_epi32(x.ff[1]);
    return y.q;
}
E512 __m512 e512_of_words(__m512i a) {
    const e512 x = OF_Q(a);
    BY_HALVES_F(_mm256_cvtepi32_ps(x.qq[0]), _mm256_cvtepi32_ps(x.qq[1]));
}

/* ---- places ---- */

/* Of each 128 bits: the floats that two bits each choose, two of a, then two of b. */
CALLED __m512 e512_shuffle(__m512 a, __m512 b, const int how) {
    const e512 x = OF_F(a), z = OF_F(b);
    e512 y;
    EACH(16) {
        const int from = (i & ~3) + (how >> 2 * (i & 3) & 3);
        y.lane[i] = (i & 3) < 2 ? x.lane[from] : z.lane[from];
    }
    return y.f;
}
/* The same with parts of 128 bits. */
CALLED __m512 e512_shuffle_parts(__m512 a, __m512 b, const int how) {
    const e512 x = OF_F(a), z = OF_F(b);
    e512 y;
    EACH(16) {
        const int from = (how >> 2 * (i / 4) & 3) * 4 + (i & 3);
        y.lane[i] = i < 8 ? x.lane[from] : z.lane[from];
    }
    return y.f;
}
CALLED __m512 e512_unpack(__m512 a, __m512 b, const int high) {
    const e512 x = OF_F(a), z = OF_F(b);
    BY_HALVES_F(high ? _mm256_unpackhi_ps(x.ff[0], z.ff[0]) : _mm256_unpacklo_ps(x.ff[0], z.ff[0]),
                high ? _mm256_unpackhi_ps(x.ff[1], z.ff[1]) : _mm256_unpacklo_ps(x.ff[1], z.ff[1]));
}
CALLED __m512 e512_permute(__m512i where, __m512 a) {
    const e512 w = OF_Q(where), x = OF_F(a);
    e512 y;
    EACH(16) y.lane[i] = x.lane[w.word[i] & 15];
    return y.f;
}
CALLED __m512i e512_permute_halves(__m512i where, __m512i a) {
    const e512 w = OF_Q(where), x = OF_Q(a);
    e512 y;
    EACH(32) y.half[i] = x.half[w.half[i] & 31];
    return y.q;
}

/* ---- integers ---- */

CALLED __m512i e512_madd(__m512i a, __m512i b) {
    const e512 x = OF_Q(a), z = OF_Q(b);
    e512 y;
    y.qq[0] = _mm256_madd_epi16(x.qq[0], z.qq[0]), y.qq[1] = _mm256_madd_epi16(x.qq[1], z.qq[1]);
    return y.q;
}
/* Bytes of a without a sign times bytes of b with one, four products to a word, modulo 2^32. */
CALLED __m512i e512_dpbusd(__m512i c, __m512i a, __m512i b) {
    const e512 x = OF_Q(a), z = OF_Q(b);
    e512 y = OF_Q(c);
    EACH(64) y.bits[i / 4] += (uint32_t)((int)x.byte[i] * (int8_t)z.byte[i]);
    return y.q;
}
CALLED __m128i e512_to_bytes(__m512i a) { /* the lowest byte of each */
    const e512 x = OF_Q(a);
    uint8_t y[16];
    EACH(16) y[i] = (uint8_t)x.bits[i];
    return _mm_loadu_si128((const __m128i *)(const void *)y);
}
CALLED __m128i e512_to_full_bytes(__m512i a) { /* without a sign, at most 255 */
    const e512 x = OF_Q(a);
    uint8_t y[16];
    EACH(16) y[i] = (uint8_t)(x.bits[i] > 255 ? 255 : x.bits[i]);
    return _mm_loadu_si128((const __m128i *)(const void *)y);
}
CALLED __m256i e512_to_halves(__m512i a) {
    const e512 x = OF_Q(a);
    uint16_t y[16];
    EACH(16) y[i] = (uint16_t)x.bits[i];
    return _mm256_loadu_si256((const __m256i *)(const void *)y);
}
CALLED __m512i e512_max_words(__m512i a, __m512i b) {
    const e512 x = OF_Q(a), z = OF_Q(b);
    e512 y;
    EACH(16) y.word[i] = x.word[i] > z.word[i] ? x.word[i] : z.word[i];
    return y.q;
}

/* ---- bfloat16 ---- */

E512 float e512_float(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
/* Denormal numbers become zero and keep their sign. */
E512 float e512_normal(float x) {
    return x == x && fabsf(x) < FLT_MIN ? copysignf(0, x) : x;
}
/* a b + c, rounded once; below FLT_MIN after rounding to 24 bits whatever the exponent: zero. In
 * double the product is exact, and the sum is made odd where it is not, so that no second rounding
 * sees a tie that there was not (vit/base/fused.h); 2^64 times as large, floats near FLT_MIN are
 * not denormal. */
CALLED float e512_fused(float a, float b, float c) {
    const double product = (double)a * b, sum = product + c;
    const double part = sum - product, lost = (product - (sum - part)) + (c - part);
    const double side = lost * sum > 0 ? 1 : lost * sum < 0 ? -1 : 0;
    uint64_t bits;
    double odd;
    memcpy(&bits, &sum, sizeof bits);
    if (lost < 0 || lost > 0) bits = (bits - (side < 0)) | 1;
    memcpy(&odd, &bits, sizeof odd);
    if (!(fabs(odd) < 0x1p-100)) return (float)odd;
    const float large = (float)(odd * 0x1p64);
    return fabsf(large) < 0x1p-62f ? copysignf(0, large) : large * 0x1p-64f;
}
/* Rounded to nearest, ties to even; denormals become zero, NaN stays NaN. */
E512 uint16_t e512_rounded(float x) {
    uint32_t bits;
    x = e512_normal(x);
    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)(x != x ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
CALLED __m512i e512_round2(__m512 high, __m512 low) {
    const e512 x = OF_F(low), z = OF_F(high);
    e512 y;
    EACH(16) y.pair[i] = e512_rounded(x.lane[i]), y.pair[i + 16] = e512_rounded(z.lane[i]);
    return y.q;
}
/* The same of eight lanes; most are far from FLT_MIN. */
CALLED __m256 e512_fused_tiny(__m256 a, __m256 b, __m256 c) {
    const e512 x = {.ff = {a}}, z = {.ff = {b}}, w = {.ff = {c}};
    e512 y;
    EACH(8) y.lane[i] = e512_fused(x.lane[i], z.lane[i], w.lane[i]);
    return y.ff[0];
}
E512 __m256 e512_fused8(__m256 a, __m256 b, __m256 c) {
    const __m256 y = _mm256_fmadd_ps(a, b, c);
    const __m256 size = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), y);
    const __m256 tiny = _mm256_and_ps(_mm256_cmp_ps(size, _mm256_set1_ps(FLT_MIN), _CMP_LE_OQ),
                                      _mm256_cmp_ps(size, _mm256_setzero_ps(), _CMP_GT_OQ));
    return _mm256_testz_ps(tiny, tiny) ? y : e512_fused_tiny(a, b, c);
}
/* Denormal numbers become zero and keep their sign. */
E512 __m256 e512_normal8(__m256 x) {
    const __m256 sign = _mm256_set1_ps(-0.0f), size = _mm256_andnot_ps(sign, x);
    const __m256 denormal = _mm256_cmp_ps(size, _mm256_set1_ps(FLT_MIN), _CMP_LT_OQ);
    return _mm256_andnot_ps(_mm256_andnot_ps(sign, denormal), x);
}
/* The numbers of eight pairs: the first of each, in the lower half, or the second. */
E512 __m256 e512_numbers8(__m256i pairs, bool second) {
    const __m256i high = _mm256_set1_epi32((int32_t)0xffff0000);
    return e512_normal8(
        _mm256_castsi256_ps(second ? _mm256_and_si256(pairs, high) : _mm256_slli_epi32(pairs, 16)));
}
CALLED __m512 e512_dpbf16(__m512 c, __m512i a, __m512i b) {
    const e512 x = OF_Q(a), z = OF_Q(b);
    e512 y = OF_F(c);
    EACH(2) {
        const __m256 sum = e512_fused8(e512_numbers8(x.qq[i], true), e512_numbers8(z.qq[i], true),
                                       e512_normal8(y.ff[i]));
        y.ff[i] = e512_fused8(e512_numbers8(x.qq[i], false), e512_numbers8(z.qq[i], false), sum);
    }
    return y.f;
}

/* ---- the compiler's names ---- */

/* Where the compiler has a macro. */
#undef _mm512_cmp_ps_mask
#undef _mm512_extractf32x8_ps
#undef _mm512_permute_ps
#undef _mm512_roundscale_ps
#undef _mm512_shuffle_f32x4
#undef _mm512_shuffle_ps
#undef _mm512_slli_epi16
#undef _mm512_slli_epi32
#undef _mm512_srai_epi16
#undef _mm512_srli_epi16
#define __m512bh __m512i
#define _mm512_load_ps e512_load
#define _mm512_loadu_ps e512_load
#define _mm512_load_si512(p) ((__m512i)e512_load(p))
#define _mm512_loadu_si512(p) ((__m512i)e512_load(p))
#define _mm512_storeu_ps e512_store
#define _mm512_maskz_loadu_ps e512_load_masked
#define _mm512_mask_storeu_ps e512_store_masked
#define _mm512_set1_ps e512_set
#define _mm512_set1_epi32 e512_set_words
#define _mm512_set1_epi16 e512_set_halves
#define _mm512_setzero_si512() e512_set_words(0)
#define _mm512_add_ps e512_add
#define _mm512_sub_ps e512_sub
#define _mm512_mul_ps e512_mul
#define _mm512_div_ps e512_div
E512 __m512 e512_add(__m512 a, __m512 b) {
    return a + b;
}
E512 __m512 e512_sub(__m512 a, __m512 b) {
    return a - b;
}
E512 __m512 e512_mul(__m512 a, __m512 b) {
    return a * b;
}
E512 __m512 e512_div(__m512 a, __m512 b) {
    return a / b;
}
#define _mm512_fmadd_ps e512_fma
#define _mm512_max_ps e512_max
#define _mm512_min_ps e512_min
#define _mm512_sqrt_ps e512_sqrt
#define _mm512_abs_ps e512_abs
#define _mm512_scalef_ps e512_scalef
#define _mm512_cmp_ps_mask e512_compare
#define _mm512_mask_blend_ps e512_blend
#define _mm512_roundscale_ps(x, how) e512_whole(x)
#define _mm512_cvtps_epi32 e512_to_words
#define _mm512_cvtepi32_ps e512_of_words
#define _mm512_castps_si512(x) ((__m512i)(x))
#define _mm512_castps512_ps256(x) (OF_F(x).ff[0])
#define _mm512_extractf32x8_ps(x, part) (OF_F(x).ff[part])
#define _mm512_shuffle_ps e512_shuffle
#define _mm512_permute_ps(x, how) e512_shuffle(x, x, how)
#define _mm512_shuffle_f32x4 e512_shuffle_parts
#define _mm512_unpacklo_ps(a, b) e512_unpack(a, b, 0)
#define _mm512_unpackhi_ps(a, b) e512_unpack(a, b, 1)
#define _mm512_permutexvar_ps e512_permute
#define _mm512_permutexvar_epi16 e512_permute_halves
#define _mm512_and_si512(a, b) ((a) & (b))
#define _mm512_add_epi32(a, b) ((__m512i)((e512_words)(a) + (e512_words)(b)))
#define _mm512_max_epi32 e512_max_words
#define _mm512_madd_epi16 e512_madd
#define _mm512_dpbusd_epi32 e512_dpbusd
#define _mm512_slli_epi32(a, n) ((__m512i)((e512_words)(a) << (int32_t)(n)))
#define _mm512_sra_epi32(a, n) ((__m512i)((e512_words)(a) >> _mm_cvtsi128_si32(n)))
#define _mm512_slli_epi16(a, n) ((__m512i)((e512_halves)(a) << (int16_t)(n)))
#define _mm512_srai_epi16(a, n) ((__m512i)((e512_halves)(a) >> (int16_t)(n)))
#define _mm512_srli_epi16(a, n) ((__m512i)((e512_bits)(a) >> (uint16_t)(n)))
#define _mm512_cvtepi32_epi8 e512_to_bytes
#define _mm512_cvtusepi32_epi8 e512_to_full_bytes
#define _mm512_cvtepi32_epi16 e512_to_halves
#define _mm512_cvtne2ps_pbh e512_round2
#define _mm512_dpbf16_ps e512_dpbf16

#define __AVX512F__ 1
#define __AVX512VL__ 1
#define __AVX512BW__ 1
#define __AVX512DQ__ 1
#define __AVX512VNNI__ 1
#define __AVX512BF16__ 1

#endif
