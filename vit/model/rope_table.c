#include "vit/model/rope_table.h"
#include "vit/base/math.h"
#include "vit/base/sys.h"
#include <string.h>

vit_rope_grid vit_rope_grid_of(const vit_config *c) {
    return (vit_rope_grid){c->height / c->patch, c->width / c->patch, c->rope_columns_first};
}

/* Rounds to bfloat16, half to even. */
static float to_bf16(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits += 0x7fff + (bits >> 16 & 1);
    bits &= 0xffff0000;
    memcpy(&x, &bits, sizeof x);
    return x;
}

float vit_rope_period(const vit_config *c, size_t i) {
    const float share = (float)i / (float)(vit_config_head_dim(c) / 4);
    const float length = (float)vit_exp((double)share * vit_log(c->rope_base));
    return c->rope_rounded ? to_bf16(length) : length;
}

/* The coordinate of patch number i of n in a row or column. */
static float coordinate(const vit_config *c, size_t i, size_t n) {
    const float t = (float)i + (float)c->rope_offset;
    if (vit_ropes[c->rope].centered)
        return 2 * (((float)i + 0.5f + (float)c->rope_offset) / (float)n) - 1;
    return c->rope_reference > 0 ? t / (float)n * (float)c->rope_reference : t;
}

static float angle(const vit_config *c, float t, float length) {
    return vit_ropes[c->rope].centered ? (float)(2 * VIT_PI) * t / length : t * (1 / length);
}

static void fill(float *table, const vit_config *c) {
    const vit_rope_grid grid = vit_rope_grid_of(c);
    const size_t half = vit_config_head_dim(c) / 2;
    for (size_t j = 0; j < half; j++) {
        const bool along_rows = (j >= half / 2) != grid.columns_first;
        const float length = vit_rope_period(c, j % (half / 2));
        for (size_t i = 0; i < grid.rows * grid.columns; i++) {
            const float t = along_rows ? coordinate(c, i % grid.columns, grid.columns)
                                       : coordinate(c, i / grid.columns, grid.rows);
            const double a = (double)angle(c, t, length);
            table[i * 2 * half + j] = (float)vit_cos(a);
            table[i * 2 * half + half + j] = (float)vit_sin(a);
        }
    }
}

vit_status vit_rope_new(float **out, const vit_config *c, vit_error *error) {
    *out = NULL;
    if (!vit_ropes[c->rope].fixed) return VIT_OK;
    const size_t floats = vit_config_patches(c) * vit_config_head_dim(c);
    *out = vit_alloc(floats, sizeof **out);
    if (!*out) return vit_fail_memory(error, "rotary positions", floats * sizeof **out);
    fill(*out, c);
    return VIT_OK;
}
