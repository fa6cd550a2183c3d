#include "vit/kernels/dots.h"

#include "vit/kernels/dots.inc"

#ifdef __SSE2__

#include <emmintrin.h>
#include <string.h>

typedef __m128i vector;
enum { LANES = 4, TILE_ROWS = 2, TILE_PANELS = 1 };

static inline vector vector_zero(void) {
    return _mm_setzero_si128();
}
static inline vector vector_load(const void *from) {
    return _mm_loadu_si128(from);
}
static inline void vector_store(void *to, vector a) {
    _mm_storeu_si128(to, a);
}
static inline vector vector_pair(const int16_t *from) {
    int32_t pair;
    memcpy(&pair, from, sizeof pair);
    return _mm_set1_epi32(pair);
}
static inline vector vector_step(vector sum, vector a, vector b) {
    return _mm_add_epi32(sum, _mm_madd_epi16(a, b));
}
static inline vector vector_larger(vector a, vector b) {
    const vector above = _mm_cmpgt_epi32(a, b);
    return _mm_or_si128(_mm_and_si128(above, a), _mm_andnot_si128(above, b));
}

#include "vit/kernels/dots_tiles.inc"

#else

static void dots_best(int32_t *best, const int16_t *rows, size_t count, const int16_t *packed,
                      size_t query_count, size_t width) {
    enum { QUERIES = VIT_DOTS_QUERIES };
    for (size_t q = 0; q < query_count; q += QUERIES, packed += QUERIES * (width + width % 2))
        for (size_t i = 0; i < count; i++) {
            const int16_t *row = rows + i * width;
            int32_t sums[QUERIES] = {0};
            for (size_t j = 0; j < width; j++)
                for (size_t k = 0; k < QUERIES; k++)
                    sums[k] += row[j] * packed[(j / 2 * QUERIES + k) * 2 + j % 2];
            for (size_t k = 0; k < QUERIES; k++)
                if (sums[k] > best[q + k]) best[q + k] = sums[k];
        }
}

#endif

void vit_dots_pack(int16_t *packed, const int16_t *queries, size_t count, size_t width) {
    for (size_t first = 0; first < count; first += VIT_DOTS_QUERIES)
        for (size_t j = 0; j < width + width % 2; j += 2)
            for (size_t q = first; q < first + VIT_DOTS_QUERIES; q++)
                for (size_t k = j; k < j + 2; k++)
                    *packed++ = q < count && k < width ? queries[q * width + k] : 0;
}

static const vit_dots_table here = {dots, dots_wide, dots_best};

const vit_dots_table *vit_dots_choose(vit_cpu highest) {
    const vit_cpu cpu = vit_cpu_detect(), most = cpu < highest ? cpu : highest;
    if (most >= VIT_CPU_AVX512 && vit_dots_avx512) return vit_dots_avx512;
    if (most >= VIT_CPU_AVX2 && vit_dots_avx2) return vit_dots_avx2;
    return &here;
}
