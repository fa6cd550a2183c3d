/* Compiled with its own flags (see the Makefile), as kernels_avx2.c. */
#include "vit/kernels/dots.h"

#ifdef __AVX2__

#include <immintrin.h>
#include <string.h>

#include "vit/kernels/dots.inc"

typedef __m256i vector;
enum { LANES = 8, TILE_ROWS = 6, TILE_PANELS = 1 };

static inline vector vector_zero(void) {
    return _mm256_setzero_si256();
}
static inline vector vector_load(const void *from) {
    return _mm256_loadu_si256(from);
}
static inline void vector_store(void *to, vector a) {
    _mm256_storeu_si256(to, a);
}
static inline vector vector_pair(const int16_t *from) {
    int32_t pair;
    memcpy(&pair, from, sizeof pair);
    return _mm256_set1_epi32(pair);
}
/* Written out so that the sum stays in its register: see v16_step. */
static inline vector vector_step(vector sum, vector a, vector b) {
    const vector products = _mm256_madd_epi16(a, b);
    __asm__("vpaddd %1, %0, %0" : "+x"(sum) : "x"(products));
    return sum;
}
static inline vector vector_larger(vector a, vector b) {
    return _mm256_max_epi32(a, b);
}

#include "vit/kernels/dots_tiles.inc"

static const vit_dots_table table = {dots, dots_wide, dots_best};
const vit_dots_table *const vit_dots_avx2 = &table;

#else

const vit_dots_table *const vit_dots_avx2 = NULL;

#endif
