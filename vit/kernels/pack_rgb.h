/* Sorting RGB pixels by channel in registers of 16 bytes, for AVX2 and AVX-512. */
#ifndef VIT_KERNELS_PACK_RGB_H
#define VIT_KERNELS_PACK_RGB_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

/* Four groups of 4 bytes: the reds, the greens and the blues of 4 pixels, and zeros. */
static inline __m128i load_rgb(const uint8_t *p) {
    const __m128i planes = _mm_setr_epi8(0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11, -1, -1, -1, -1);
    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)p), planes);
}

static inline void v16i_pack_rgb(uint8_t *quads, const uint8_t *rows, size_t stride) {
    const __m128i a = load_rgb(rows), b = load_rgb(rows + stride);
    const __m128i c = load_rgb(rows + 2 * stride), d = load_rgb(rows + 3 * stride);
    const __m128i ab = _mm_unpacklo_epi32(a, b), cd = _mm_unpacklo_epi32(c, d);
    const __m128i blue = _mm_unpacklo_epi64(_mm_unpackhi_epi32(a, b), _mm_unpackhi_epi32(c, d));
    _mm_storeu_si128((__m128i *)quads, _mm_unpacklo_epi64(ab, cd));
    _mm_storeu_si128((__m128i *)(quads + 64), _mm_unpackhi_epi64(ab, cd));
    _mm_storeu_si128((__m128i *)(quads + 128), blue);
}

#endif
