/* Products of 8-bit integers by AMX. Compiled with its own flags (see the Makefile). */
#include "vit/kernels/kernels.h"
#include <stdbool.h>

#if defined(__AMX_INT8__) && defined(__AVX512BW__)

#include "vit/kernels/v16_avx512.h"
#include <float.h>
#include <string.h>

#define TILE_INTEGERS
#define AMX_STEP _tile_dpbssd
#include "vit/kernels/amx.inc"

ALWAYS_INLINE v16 load_some(const float *row, size_t j, size_t n) {
    if (j + 16 <= n) return v16_load(row + j);
    return j < n ? v16_load_masked(row + j, v16_first(n - j)) : v16_set(0);
}

/* max |x|, or NaN if an element is not finite: 0 times it is NaN then. Four chains, as a step of
 * one takes four cycles. */
static float largest_of(const float *x, size_t n) {
    v16 most[4], nothing[4];
    for (size_t i = 0; i < 4; i++) most[i] = nothing[i] = v16_set(0);
    for (size_t j = 0; j < n; j += 64)
        for (size_t i = 0; i < 4; i++) {
            const v16 some = load_some(x, j + 16 * i, n);
            most[i] = v16_max(v16_abs(some), most[i]);
            nothing[i] = v16_fma(some, v16_set(0), nothing[i]);
        }
    const v16 all = v16_max(v16_max(most[0], most[1]), v16_max(most[2], most[3]));
    float lanes[16];
    v16_store(lanes, v16_fold4_max(all, all, all, all));
    return lanes[0] +
           v16_fold_add(v16_add(v16_add(nothing[0], nothing[1]), v16_add(nothing[2], nothing[3])));
}

/* x / divisor to the nearest integer, ties to even. The product with the reciprocal is at most two
 * units in the last place from the quotient, 2^-16 of at most 127; only near a tie it is divided.
 */
ALWAYS_INLINE __m512i quotients(v16 x, v16 divisor, v16 reciprocal) {
    const v16 near = _mm512_mul_ps(x, reciprocal);
    const v16 whole = _mm512_roundscale_ps(near, 8);
    const v16 off = _mm512_abs_ps(_mm512_sub_ps(near, whole));
    if (_mm512_cmp_ps_mask(off, _mm512_set1_ps(.5f - 0x1p-15f), _CMP_GE_OQ))
        return _mm512_cvtps_epi32(_mm512_div_ps(x, divisor));
    return _mm512_cvtps_epi32(near);
}

static void quantise(float *words, float *scale, const float *x, size_t n) {
    const float exact = largest_of(x, n) / 127;
    const bool usable = exact >= FLT_MIN;
    *scale = usable || exact != exact ? exact : 0;
    const v16 divisor = v16_set(usable ? exact : 1), reciprocal = v16_set(usable ? 1 / exact : 1);
    const bool fast = usable && exact < 0x1p100f; /* else the reciprocal may be denormal */
    for (size_t j = 0; j < (n + 63) / 64 * 64; j += 16, words += 4) {
        const v16 some = load_some(x, j, n);
        const __m512i near = fast     ? quotients(some, divisor, reciprocal)
                             : usable ? _mm512_cvtps_epi32(v16_div(some, divisor))
                                      : _mm512_setzero_si512();
        _mm_storeu_si128((__m128i *)(void *)words, _mm512_cvtepi32_epi8(near));
    }
}

const vit_product_kernels vit_quads_amx = {
    .gemm_tiles = gemm_tiles, .quantise = quantise, .a_words = 1, .tile = {32, 32, 256, true}};

#else

const vit_product_kernels vit_quads_amx = {.gemm_tiles = NULL};

#endif
