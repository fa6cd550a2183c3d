/* Products of 8-bit integers in plain C, for every processor; the reference of the others. */
#include "vit/kernels/kernels.h"
#include <stdbool.h>

#include "vit/kernels/v16_scalar.h"

static inline v16 quad_step(v16 a, v16 b, v16 c) {
    int8_t x[16][4], y[16][4];
    uint32_t sums[16];
    memcpy(x, &a, sizeof x);
    memcpy(y, &b, sizeof y);
    memcpy(sums, &c, sizeof sums);
    for (int i = 0; i < 16; i++)
        sums[i] += (uint32_t)(x[i][0] * y[i][0] + x[i][1] * y[i][1] + x[i][2] * y[i][2] +
                              x[i][3] * y[i][3]);
    memcpy(&c, sums, sizeof c);
    return c;
}

static inline v16 v16_from_integers(v16 a) {
    int32_t sums[16];
    memcpy(sums, &a, sizeof sums);
    for (int i = 0; i < 16; i++) a.lane[i] = (float)sums[i];
    return a;
}

/* 1.5 * 2^23 is added, whose neighbours are 1 apart: the sum is rounded to an integer, and its
 * lowest byte is that of the integer. */
static inline void store_quads(float *to, v16 x) {
    uint8_t bytes[16];
    for (int i = 0; i < 16; i++) {
        const float near = x.lane[i] + 0x1.8p23f;
        uint32_t bits;
        memcpy(&bits, &near, sizeof bits);
        bytes[i] = (uint8_t)bits;
    }
    memcpy(to, bytes, sizeof bytes);
}

#define STARTS false
#include "vit/kernels/quads.inc"

const vit_product_kernels vit_quads_scalar = {
    .gemm_tiles = gemm_tiles, .quantise = quantise, .a_words = A_WORDS};
