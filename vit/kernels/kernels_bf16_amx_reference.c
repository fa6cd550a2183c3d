/* TDPBF16PS in plain C (docs/design.md), as kernels_bf16_reference.c is VDPBF16PS: in the scalar
 * table where that was chosen in place of a better one, with the arithmetic of tiles. */
#include "vit/kernels/kernels.h"
#include <stdbool.h>

#include "vit/kernels/bf16_reference.h"

#define BLOCK ((size_t)16) /* pairs of k whose two chains are added */

/* Adds a block of `count` pairs, of a row of A and of n columns of B, to the row of C. */
static v16 add_block(v16 c, const float *a, size_t a_col, const float *b, size_t b_row, v16_mask n,
                     size_t count) {
    v16 first = v16_set(0), second = v16_set(0);
    for (size_t q = 0; q < BLOCK; q++) {
        const uint32_t x = q < count ? to_bits(a[q * a_col]) : 0;
        const v16 y = q < count ? v16_load_masked(b + q * b_row, n) : v16_set(0);
        for (int i = 0; i < 16; i++) {
            const uint32_t pair = to_bits(y.lane[i]);
            first.lane[i] = flushed(first_of(x), first_of(pair), first.lane[i]);
            second.lane[i] = flushed(second_of(x), second_of(pair), second.lane[i]);
        }
    }
    for (int i = 0; i < 16; i++)
        c.lane[i] = flushed(1, from_bits(without_denormal(to_bits(c.lane[i]))),
                            flushed(1, first.lane[i], second.lane[i]));
    return c;
}

/* All steps of k of a tile, in place of those of gemm.inc. */
static bool sum_blocks(size_t rows, v16_mask n, const vit_tiles *run, const float *a,
                       const float *b, v16 (*acc)[TILE_VECS]) {
    for (size_t p = 0; p < run->k; p += BLOCK)
        for (size_t i = 0; i < rows; i++)
            acc[i][0] = add_block(acc[i][0], a + i * run->a_row + p * run->a_col, run->a_col,
                                  b + p * run->b_row, run->b_row, n,
                                  run->k - p < BLOCK ? run->k - p : BLOCK);
    return true;
}

#define TILE_SUMS(rows, whole, last, run, a, b, acc) sum_blocks(rows, last, run, a, b, acc)
#include "vit/kernels/gemm.inc"
#include "vit/kernels/pairs.inc"

const vit_product_kernels vit_pairs_amx_reference = {.gemm_tiles = gemm_tiles,
                                                     .bf16 = VIT_BF16_TILES,
                                                     .transpose = transpose,
                                                     .copy_along = copy_along,
                                                     .copy_across = copy_across};
