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

/* The best for this processor up to an instruction set. */
vit_dots *vit_dots_choose(vit_cpu highest);

/* Those of this build; NULL where the compiler cannot make one. */
vit_dots *vit_dots_avx2(void);
vit_dots *vit_dots_avx512(void);

#endif
