/* Products of one vector of 16-bit numbers with many of 8 bits: the inner loop of a search. Sums
 * are exact, so that all instruction sets give the same. */
#ifndef VIT_KERNELS_DOTS_H
#define VIT_KERNELS_DOTS_H

#include "vit/base/cpu.h"
#include <stddef.h>
#include <stdint.h>

/* sums[i] = the sum over j < width of rows[i][j] * query[j], for count rows that are `stride` bytes
 * apart. |query[j]| * 128 * width must be below 2^31. */
typedef void vit_dots(int32_t *sums, const int8_t *rows, size_t stride, size_t count,
                      const int16_t *query, size_t width);

/* Of many queries: best[q] = the largest over i < count of the sum over j < width of rows[i][j] *
 * queries[q][j], or best[q] as it was if that is larger. The products of the lengths of a row and a
 * query, the roots of the sums of their squares, must be below 2^31. */
typedef void vit_dots_best(int32_t *best, const int16_t *rows, size_t count, const int16_t *queries,
                           size_t query_count, size_t width);

/* The best for this processor up to an instruction set. */
vit_dots *vit_dots_choose(vit_cpu highest);
vit_dots_best *vit_dots_best_choose(vit_cpu highest);

/* Those of this build; NULL where the compiler cannot make one. */
vit_dots *vit_dots_avx2(void);
vit_dots *vit_dots_avx512(void);
vit_dots_best *vit_dots_best_avx2(void);
vit_dots_best *vit_dots_best_avx512(void);

#endif
