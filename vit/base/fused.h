/* a b + c of floats, rounded once, on every machine. */
#ifndef VIT_BASE_FUSED_H
#define VIT_BASE_FUSED_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* For a machine without the instruction: in double the product is exact, 24 + 24 bits of 53. The
 * sum is rounded to odd: what is lost is found (Knuth's TwoSum), and unless that is 0 the sum
 * becomes the one of its two neighbours in double whose last bit is set. No tie between two floats
 * has that bit, so that rounding to float is right the second time (Boldo and Melquiond: Emulation
 * of FMA and correctly rounded sums). */
static inline float vit_fused_by_double(float a, float b, float c) {
    const double product = (double)a * b, sum = product + c;
    const double part = sum - product, lost = (product - (sum - part)) + (c - part);
    const double side = lost * sum; /* below 0: |sum| is too large; NaN where the sum overflows */
    uint64_t bits;
    double odd;
    memcpy(&bits, &sum, sizeof bits);
    bits = (bits - (side < 0)) | (side < 0 || side > 0);
    memcpy(&odd, &bits, sizeof odd);
    return (float)odd;
}

/* fmaf of C libraries for WebAssembly and Windows is not: it rounds some results twice. */
static inline float vit_fused(float a, float b, float c) {
#if defined(__wasm__) || defined(_WIN32)
    return vit_fused_by_double(a, b, c);
#else
    return fmaf(a, b, c);
#endif
}

#endif
