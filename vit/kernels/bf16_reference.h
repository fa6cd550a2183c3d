/* bfloat16 in plain C (docs/design.md), for the two references: numbers, steps and conversions. */
#ifndef VIT_KERNELS_BF16_REFERENCE_H
#define VIT_KERNELS_BF16_REFERENCE_H

#include "vit/kernels/v16_scalar.h"

#include <float.h>
#include <stdbool.h>

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

/* a b + c, rounded to nearest; what would be below FLT_MIN if the exponent had no limit becomes
 * zero, as on the processor. vit_fused rounds such a result to a multiple of 2^-149, perhaps up to
 * FLT_MIN: then it is computed again 2^32 times as large, where nothing is denormal. */
static inline float flushed(float a, float b, float c) {
    const float x = vit_fused(a, b, c);
    if (fabsf(x) > FLT_MIN || x != x) return x;
    const bool is_least = fabsf(x) >= FLT_MIN;
    if (is_least && fabsf(vit_fused(a * 0x1p32f, b, c * 0x1p32f)) >= 0x1p-94f) return x;
    return copysignf(0, x);
}

/* The numbers of a pair; denormal ones are zero. */
static inline float first_of(uint32_t pair) {
    return from_bits(without_denormal(pair << 16));
}

static inline float second_of(uint32_t pair) {
    return from_bits(without_denormal(pair & UPPER));
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

#endif
