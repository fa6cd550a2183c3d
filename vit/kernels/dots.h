/* Products of vectors of integers: the inner loops of searches. Sums are exact, so that all
 * instruction sets give the same. The products of the lengths of a row and a query, the roots of
 * the sums of their squares, must be below 2^31. */
#ifndef VIT_KERNELS_DOTS_H
#define VIT_KERNELS_DOTS_H

#include "vit/base/cpu.h"
#include <stddef.h>
#include <stdint.h>

/* sums[i] = the sum over j < width of rows[i][j] * query[j], for count rows that are `stride` bytes
 * apart. */
typedef void vit_dots(int32_t *sums, const int8_t *rows, size_t stride, size_t count,
                      const int16_t *query, size_t width);

/* The same of rows of 16 bits without gaps. */
typedef void vit_dots_wide(int32_t *sums, const int16_t *rows, size_t count, const int16_t *query,
                           size_t width);

/* Of many queries, packed: best[q] = the largest over i < count of the sum over j < width of
 * rows[i][j] * queries[q][j], or best[q] as it was if that is larger. best has a multiple of
 * VIT_DOTS_QUERIES places: packed queries are filled up with zeros. */
typedef void vit_dots_best(int32_t *best, const int16_t *rows, size_t count, const int16_t *packed,
                           size_t query_count, size_t width);

enum { VIT_DOTS_QUERIES = 16 };

/* packed: [queries, up to a multiple of 16][width, up to an even number] of queries:
 * [count][width]. Of 16 queries the first two numbers of each, then the next two. */
void vit_dots_pack(int16_t *packed, const int16_t *queries, size_t count, size_t width);

/* The functions of a build for an instruction set. */
typedef struct vit_dots_table {
    vit_dots *dots;
    vit_dots_wide *wide;
    vit_dots_best *best;
} vit_dots_table;

/* Those for this processor up to an instruction set. */
const vit_dots_table *vit_dots_choose(vit_cpu highest);

/* NULL where the compiler cannot make them. */
extern const vit_dots_table *const vit_dots_avx2, *const vit_dots_avx512;

#endif
