#include "vit/model/fixed_positions.h"
#include "vit/base/math.h"
#include "vit/base/sys.h"
#include <string.h>

/* 10000^(-2i / dim) */
static double frequency(size_t i, size_t dim) {
    return vit_exp(-2 * (double)i / (double)dim * vit_log(10000));
}

static void fill_sinusoidal(float *table, size_t tokens, size_t dim) {
    for (size_t t = 0; t < tokens; t++, table += dim) {
        for (size_t j = 0; j < dim; j++) {
            const double angle = (double)t * frequency(j / 2, dim);
            table[j] = (float)(j % 2 == 0 ? vit_sin(angle) : vit_cos(angle));
        }
    }
}

/* All sines, then all cosines; of an odd width the last feature is 0. */
static void fill_halves(float *table, size_t tokens, size_t dim) {
    const size_t half = dim / 2;
    const double step = vit_log(10000) / (double)(half > 1 ? half - 1 : 1);
    for (size_t t = 0; t < tokens; t++, table += dim) {
        for (size_t i = 0; i < half; i++) {
            const double angle = (double)t * vit_exp(-(double)i * step);
            table[i] = (float)vit_sin(angle);
            table[half + i] = (float)vit_cos(angle);
        }
        if (dim % 2 > 0) table[dim - 1] = 0;
    }
}

/* out: [features] of one coordinate: sines, then cosines. */
static void fill_coordinate(float *out, size_t at, size_t features) {
    const size_t half = features / 2;
    for (size_t i = 0; i < half; i++) {
        const double angle = (double)at * frequency(i, features);
        out[i] = (float)vit_sin(angle);
        out[half + i] = (float)vit_cos(angle);
    }
}

static void fill_sincos2d(float *table, const vit_config *c) {
    const size_t half = c->dim / 2;
    const size_t prefix = vit_config_positions(c) - vit_config_patches(c);
    for (size_t j = 0; j < prefix * c->dim; j++) *table++ = 0;
    for (size_t y = 0; y < c->height / c->patch; y++) {
        for (size_t x = 0; x < c->width / c->patch; x++, table += c->dim) {
            fill_coordinate(table, y, half);
            fill_coordinate(table + half, x, half);
        }
    }
}

vit_status vit_positions_new(float **out, const vit_config *c, vit_error *error) {
    const size_t rows = vit_config_positions(c);
    *out = NULL;
    if (!vit_positions[c->positions].fixed || rows == 0) return VIT_OK;
    *out = vit_alloc(rows, c->dim * sizeof **out);
    if (!*out) return vit_fail_memory(error, "positions", rows * c->dim * sizeof **out);
    switch (c->positions) {
    case VIT_POSITIONS_SINUSOIDAL:
        fill_sinusoidal(*out, rows, c->dim);
        break;
    case VIT_POSITIONS_SINUSOIDAL_HALVES:
        fill_halves(*out, rows, c->dim);
        if (c->padding) memset(*out + (c->position_offset - 1) * c->dim, 0, c->dim * sizeof **out);
        break;
    case VIT_POSITIONS_SINCOS2D:
        fill_sincos2d(*out, c);
        break;
    case VIT_POSITIONS_LEARNED:
    case VIT_POSITIONS_NONE:
    case VIT_POSITIONS_COUNT:
        break;
    }
    return VIT_OK;
}
