/* Compiled with its own flags (see the Makefile), as kernels_avx512.c. */
#include "vit/kernels/dots.h"

#ifdef __AVX512BW__

#include <immintrin.h>
#include <string.h>

#include "vit/kernels/dots.inc"

typedef __m512i vector;
enum { LANES = 16, TILE_ROWS = 12, TILE_PANELS = 2 };

static inline vector vector_zero(void) {
    return _mm512_setzero_si512();
}
static inline vector vector_load(const void *from) {
    return _mm512_loadu_si512(from);
}
static inline void vector_store(void *to, vector a) {
    _mm512_storeu_si512(to, a);
}
static inline vector vector_pair(const int16_t *from) {
    int32_t pair;
    memcpy(&pair, from, sizeof pair);
    return _mm512_set1_epi32(pair);
}
/* Written out so that the sum stays in its register: see v16_step. */
static inline vector vector_step(vector sum, vector a, vector b) {
    const vector products = _mm512_madd_epi16(a, b);
    __asm__("vpaddd %1, %0, %0" : "+v"(sum) : "v"(products));
    return sum;
}
static inline vector vector_larger(vector a, vector b) {
    return _mm512_max_epi32(a, b);
}

#include "vit/kernels/dots_tiles.inc"

static const vit_dots_table table = {dots, dots_wide, dots_best};
const vit_dots_table *const vit_dots_avx512 = &table;

#else

const vit_dots_table *const vit_dots_avx512 = NULL;

#endif
