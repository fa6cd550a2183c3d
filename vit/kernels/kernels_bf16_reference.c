/* VDPBF16PS in plain C (docs/design.md), so that bfloat16 can be tested on processors without the
 * instruction. It is in the scalar table where that was chosen in place of a better one
 * (VIT_CPU=scalar); a processor that has only the scalar table does not get it, as it is far slower
 * than float32. On x86 it is compiled with FMA (see the Makefile). */
#include "vit/kernels/kernels.h"
#include <stdbool.h>

#include "vit/kernels/bf16_reference.h"

static inline float step(uint32_t a, uint32_t b, float c) {
    return flushed(first_of(a), first_of(b), flushed(second_of(a), second_of(b), c));
}

static inline v16 v16_pair_step(v16 a, v16 b, v16 c) {
    for (int i = 0; i < 16; i++)
        c.lane[i] = step(to_bits(a.lane[i]), to_bits(b.lane[i]),
                         from_bits(without_denormal(to_bits(c.lane[i]))));
    return c;
}

#define TILE_STEP v16_pair_step
#include "vit/kernels/gemm.inc"
#include "vit/kernels/pairs.inc"

const vit_product_kernels vit_pairs_reference = {.gemm_tiles = gemm_tiles,
                                                 .bf16 = VIT_BF16_PAIRS,
                                                 .transpose = transpose,
                                                 .copy_along = copy_along,
                                                 .copy_across = copy_across};
