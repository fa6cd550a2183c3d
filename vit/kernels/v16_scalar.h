/* 16 virtual lanes in plain C, for any processor. What each function does is said here, the other
 * v16_*.h give the same bits. */
#ifndef VIT_KERNELS_V16_SCALAR_H
#define VIT_KERNELS_V16_SCALAR_H

#include "vit/base/fused.h"
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TILE_ROWS 4
#define TILE_VECS 1
#define TILE_DEPTH 512
/* Loops stay loops: unrolled, sixteen lanes at a time, they compile for three times as long and run
 * no faster. */
#define UNROLL

typedef struct v16 {
    float lane[16];
} v16;
typedef size_t v16_mask; /* number of lanes, the first ones */

#define V16_EACH(expression)                               \
    v16 y;                                                 \
    for (int i = 0; i < 16; i++) y.lane[i] = (expression); \
    return y

/* The mask of the first n <= 16 lanes: present, the others absent. */
static inline v16_mask v16_first(size_t n) {
    return n;
}

static inline v16 v16_set(float x) {
    V16_EACH(x);
}

static inline v16 v16_load(const float *p) {
    v16 y;
    memcpy(&y, p, sizeof y);
    return y;
}

/* Absent lanes become +0; their memory is not read. */
static inline v16 v16_load_masked(const float *p, v16_mask n) {
    v16 y = {{0}};
    memcpy(&y, p, n * sizeof(float));
    return y;
}

static inline void v16_store(float *p, v16 x) {
    memcpy(p, &x, sizeof x);
}

/* The memory of absent lanes is not written. */
static inline void v16_store_masked(float *p, v16 x, v16_mask n) {
    memcpy(p, &x, n * sizeof(float));
}

static inline v16 v16_add(v16 a, v16 b) {
    V16_EACH(a.lane[i] + b.lane[i]);
}

static inline v16 v16_sub(v16 a, v16 b) {
    V16_EACH(a.lane[i] - b.lane[i]);
}

static inline v16 v16_mul(v16 a, v16 b) {
    V16_EACH(a.lane[i] * b.lane[i]);
}

static inline v16 v16_div(v16 a, v16 b) {
    V16_EACH(a.lane[i] / b.lane[i]);
}

static inline v16 v16_sqrt(v16 a) {
    V16_EACH(sqrtf(a.lane[i]));
}

static inline v16 v16_fma(v16 a, v16 b, v16 c) { /* a b + c */
    V16_EACH(vit_fused(a.lane[i], b.lane[i], c.lane[i]));
}

/* v16_max and v16_min: b where either is NaN. */
static inline v16 v16_max(v16 a, v16 b) {
    V16_EACH(a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]);
}

static inline v16 v16_min(v16 a, v16 b) {
    V16_EACH(a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]);
}

static inline v16 v16_abs(v16 a) {
    V16_EACH(fabsf(a.lane[i]));
}

/* yes where a < b, else no; no where either is NaN. */
static inline v16 v16_if_less(v16 a, v16 b, v16 yes, v16 no) {
    V16_EACH(a.lane[i] < b.lane[i] ? yes.lane[i] : no.lane[i]);
}

static inline v16 v16_if_nan(v16 a, v16 yes, v16 no) {
    V16_EACH(a.lane[i] != a.lane[i] ? yes.lane[i] : no.lane[i]);
}

/* Absent lanes become x. */
static inline v16 v16_fill_absent(v16 a, v16_mask present, float x) {
    V16_EACH((size_t)i < present ? a.lane[i] : x);
}

/* table[low four bits of the lane] */
static inline v16 v16_lookup(const float table[16], v16 where) {
    uint32_t bits[16];
    memcpy(bits, &where, sizeof bits);
    V16_EACH(table[bits[i] % 16]);
}

/* p 2^n for whole n where p and the result are normal numbers; NaN stays NaN, anything else is
 * unspecified. */
static inline v16 v16_times_power(v16 p, v16 n) {
    for (int i = 0; i < 16; i++) {
        uint32_t bits;
        if (!(fabsf(n.lane[i]) <= 127)) continue;
        memcpy(&bits, &p.lane[i], sizeof bits);
        bits += (uint32_t)(int32_t)n.lane[i] << 23;
        memcpy(&p.lane[i], &bits, sizeof bits);
    }
    return p;
}

/* The sum of the lanes, folded by 8, 4, 2, 1. */
static inline float v16_fold_add(v16 a) {
    for (int half = 8; half > 0; half /= 2)
        for (int i = 0; i < half; i++) a.lane[i] = a.lane[i] + a.lane[i + half];
    return a.lane[0];
}

static inline float v16_fold_max(v16 a) {
    for (int half = 8; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            a.lane[i] = a.lane[i] > a.lane[i + half] ? a.lane[i] : a.lane[i + half];
    return a.lane[0];
}

/* Four folds at once: lanes 0 to 3 are the fold of a, 4 to 7 that of b, and so on. */
#define V16_FOLD4(name, fold)                                       \
    static inline v16 name(v16 a, v16 b, v16 c, v16 d) {            \
        const float rows[4] = {fold(a), fold(b), fold(c), fold(d)}; \
        V16_EACH(rows[i / 4]);                                      \
    }
V16_FOLD4(v16_fold4_add, v16_fold_add)
V16_FOLD4(v16_fold4_max, v16_fold_max)
#undef V16_FOLD4

/* All lanes become those of quarter q (lanes 4 q to 4 q + 3), which must be equal. */
static inline v16 v16_quarter(v16 a, size_t q) {
    V16_EACH(a.lane[4 * q]);
}

#undef V16_EACH

/* ---- lanes of 32 bits that hold integers; sums wrap around ---- */

typedef struct v16i {
    uint32_t lane[16];
} v16i;

static inline v16i v16i_set(int32_t x) {
    v16i r;
    for (int i = 0; i < 16; i++) r.lane[i] = (uint32_t)x;
    return r;
}

static inline v16i v16i_load(const void *p) {
    v16i r;
    memcpy(&r, p, sizeof r);
    return r;
}

static inline v16i v16i_add(v16i a, v16i b) {
    for (int i = 0; i < 16; i++) a.lane[i] += b.lane[i];
    return a;
}

/* Bytes 0 and 2 of each lane, or 1 and 3, as two 16-bit numbers. */
static inline v16i v16i_even_bytes(v16i a) {
    for (int i = 0; i < 16; i++) a.lane[i] &= 0x00ff00ff;
    return a;
}

static inline v16i v16i_odd_bytes(v16i a) {
    for (int i = 0; i < 16; i++) a.lane[i] = a.lane[i] >> 8 & 0x00ff00ff;
    return a;
}

/* a0 b0 + a1 b1 of the two signed 16-bit numbers in each lane. */
static inline v16i v16i_multiply_add(v16i a, v16i b) {
    for (int i = 0; i < 16; i++) {
        const int32_t low = (int32_t)(int16_t)a.lane[i] * (int16_t)b.lane[i];
        const int32_t high = (int32_t)(int16_t)(a.lane[i] >> 16) * (int16_t)(b.lane[i] >> 16);
        a.lane[i] = (uint32_t)low + (uint32_t)high;
    }
    return a;
}

static inline v16i v16i_shift_left(v16i a, int bits) {
    for (int i = 0; i < 16; i++) a.lane[i] <<= bits;
    return a;
}

/* p[i] = signed lane i >> bits, clipped to 0..255. */
static inline void v16i_store_bytes(uint8_t *p, v16i a, int bits) {
    for (int i = 0; i < 16; i++) {
        const int32_t x = (int32_t)a.lane[i] >> bits;
        p[i] = (uint8_t)(x < 0 ? 0 : x > 255 ? 255 : x);
    }
}

/* Sorts 4 rows of 4 RGB pixels by channel: the 4 reds of row r go to quads + 4 r, the greens 64
 * bytes further, the blues 128. 16 bytes of a row may be read. */
static inline void v16i_pack_rgb(uint8_t *quads, const uint8_t *rows, size_t stride) {
    for (size_t r = 0; r < 4; r++)
        for (size_t i = 0; i < 12; i++) quads[i % 3 * 64 + 4 * r + i / 3] = rows[r * stride + i];
}

/* Lane j of a[i] and lane i of a[j] change places. */
static inline void v16_transpose(v16 a[16]) {
    v16 b[16];
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) b[j].lane[i] = a[i].lane[j];
    memcpy(a, b, sizeof b);
}

#endif
