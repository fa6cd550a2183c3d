/* VDPBF16PS in plain C (docs/design.md), so that bfloat16 can be tested on processors without the
 * instruction. It is in the scalar table where that was chosen in place of a better one
 * (VIT_CPU=scalar); a processor that has only the scalar table does not get it, as it is far slower
 * than float32. On x86 it is compiled with FMA (see the Makefile). */
#include "vit/kernels/kernels.h"
#include <stdbool.h>

#include "vit/kernels/v16_scalar.h"

/* A bfloat16 number is the upper half of a float32. */
#define UPPER 0xffff0000

/* Denormal numbers become zero, their sign is kept. */
static inline uint32_t without_denormal(uint32_t bits) {
    return bits & (bits & 0x7f800000 ? 0xffffffff : 0x80000000);
}

static inline float from_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t to_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline uint32_t step(uint32_t a, uint32_t b, uint32_t c) {
    return without_denormal(to_bits(
        vit_fused(from_bits(without_denormal(a)), from_bits(without_denormal(b)), from_bits(c))));
}

/* The first number of a pair is in the lower half of the lane. */
static inline v16 v16_pair_step(v16 a, v16 b, v16 c) {
    uint32_t x[16], y[16], z[16];
    memcpy(x, &a, sizeof x);
    memcpy(y, &b, sizeof y);
    memcpy(z, &c, sizeof z);
    for (int i = 0; i < 16; i++) z[i] = step(x[i] & UPPER, y[i] & UPPER, without_denormal(z[i]));
    for (int i = 0; i < 16; i++) z[i] = step(x[i] << 16, y[i] << 16, z[i]);
    memcpy(&c, z, sizeof c);
    return c;
}

/* The bfloat16 bits of x, rounded to nearest, ties to even; denormals become 0, NaN stays NaN. */
static inline uint32_t rounded(float x) {
    const uint32_t bits = without_denormal(to_bits(x));
    const uint32_t near = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return x != x ? bits >> 16 | 0x40 : near;
}

static inline v16 v16_pairs_across(v16 low, v16 high) {
    for (int i = 0; i < 16; i++)
        low.lane[i] = from_bits(rounded(low.lane[i]) | rounded(high.lane[i]) << 16);
    return low;
}

static inline v16 v16_pairs_along(v16 low, v16 high) {
    float all[32];
    memcpy(all, &low, sizeof low);
    memcpy(all + 16, &high, sizeof high);
    for (int i = 0; i < 16; i++)
        low.lane[i] = from_bits(rounded(all[2 * i]) | rounded(all[2 * i + 1]) << 16);
    return low;
}

#define TILE_STEP v16_pair_step
#include "vit/kernels/gemm.inc"
#include "vit/kernels/pairs.inc"

const vit_product_kernels vit_pairs_reference = {.gemm_tiles = gemm_tiles,
                                                 .transpose = transpose,
                                                 .copy_along = copy_along,
                                                 .copy_across = copy_across};
