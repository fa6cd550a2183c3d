/* VDPBF16PS in plain C (docs/design.md), to test and debug bfloat16 where the processor has no
 * instructions for it: make BUILD=build/bf16 CFLAGS="-O2 -mfma -DVIT_BF16_REFERENCE" gives it to
 * the scalar table. It is far slower than float32, so other builds leave it out. */
#include "vit/kernels/kernels.h"
#include <stdbool.h>

#ifdef VIT_BF16_REFERENCE

#include "vit/kernels/v16_scalar.h"

static inline float without_denormals(float x) {
    return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

static inline float from_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Of a pair, the first number is the lower half of the lane. */
static inline v16 v16_pair_step(v16 a, v16 b, v16 c) {
    for (int i = 0; i < 16; i++) {
        const uint32_t x = bits_of(a.lane[i]), y = bits_of(b.lane[i]);
        const float high =
            fmaf(without_denormals(from_bits(x & 0xffff0000)),
                 without_denormals(from_bits(y & 0xffff0000)), without_denormals(c.lane[i]));
        const float low = fmaf(without_denormals(from_bits(x << 16)),
                               without_denormals(from_bits(y << 16)), without_denormals(high));
        c.lane[i] = without_denormals(low);
    }
    return c;
}

/* To nearest, ties to even, denormals to 0; NaN stays NaN. */
static inline uint32_t rounded(float x) {
    const uint32_t bits = bits_of(without_denormals(x));
    if (isnan(x)) return bits >> 16 | 0x40;
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
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

const vit_product_kernels vit_pairs_reference = {gemm_tiles, transpose, copy_along, copy_across};

#else

const vit_product_kernels vit_pairs_reference = {NULL, NULL, NULL, NULL};

#endif
