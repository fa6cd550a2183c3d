/* 16 virtual lanes in plain C: the reference, for any processor. */
#ifndef VIT_KERNELS_V16_SCALAR_H
#define VIT_KERNELS_V16_SCALAR_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TILE_ROWS 4
#define TILE_VECS 1

typedef struct v16 {
    float lane[16];
} v16;
typedef size_t v16_mask; /* how many of the first lanes are there */

#define V16_EACH(expression)                               \
    v16 y;                                                 \
    for (int i = 0; i < 16; i++) y.lane[i] = (expression); \
    return y

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

/* Absent lanes become +0 and are not touched in memory. */
static inline v16 v16_load_masked(const float *p, v16_mask n) {
    v16 y = {{0}};
    memcpy(&y, p, n * sizeof(float));
    return y;
}

static inline void v16_store(float *p, v16 x) {
    memcpy(p, &x, sizeof x);
}

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
    V16_EACH(fmaf(a.lane[i], b.lane[i], c.lane[i]));
}

static inline v16 v16_max(v16 a, v16 b) { /* b where either is NaN */
    V16_EACH(a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]);
}

static inline v16 v16_min(v16 a, v16 b) {
    V16_EACH(a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]);
}

static inline v16 v16_abs(v16 a) {
    V16_EACH(fabsf(a.lane[i]));
}

/* yes where a < b, else no: also where either is NaN. */
static inline v16 v16_if_less(v16 a, v16 b, v16 yes, v16 no) {
    V16_EACH(a.lane[i] < b.lane[i] ? yes.lane[i] : no.lane[i]);
}

static inline v16 v16_if_nan(v16 a, v16 yes, v16 no) {
    V16_EACH(a.lane[i] != a.lane[i] ? yes.lane[i] : no.lane[i]);
}

/* Lanes from `present` on become x. */
static inline v16 v16_fill_absent(v16 a, v16_mask present, float x) {
    V16_EACH((size_t)i < present ? a.lane[i] : x);
}

/* p 2^n for lanes whose integer n stands in the low bits of `magic`; p 2^n is a normal number. */
static inline v16 v16_shift_exponent(v16 p, v16 magic) {
    uint32_t bits[16], n[16];
    memcpy(bits, &p, sizeof bits);
    memcpy(n, &magic, sizeof n);
    for (int i = 0; i < 16; i++) bits[i] += n[i] << 23;
    memcpy(&p, bits, sizeof p);
    return p;
}

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

#undef V16_EACH
#endif
