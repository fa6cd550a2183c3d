#include "vit/train/augment/operators.h"
#include "vit/base/math.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>

static size_t size_of(const vit_picture_shape *s) {
    return s->height * s->width * s->channels;
}

/* ---- geometry ---- */

/* Pillow's affine transform with nearest-pixel sampling: pixel centre (x, y) of `out` is read at
 * (m0 x + m1 y + m2, m3 x + m4 y + m5), in fixed point with 16 fractional bits. */
static void transform(uint8_t *out, const uint8_t *in, const vit_picture_shape *s,
                      const double m[6]) {
    int64_t f[6];
    const size_t c = s->channels;
    for (int i = 0; i < 6; i++) {
        const double middle = i % 3 == 2 ? m[i - 2] * .5 + m[i - 1] * .5 : 0;
        f[i] = (int64_t)floor((m[i] + middle) * 65536 + .5);
    }
    memset(out, 0, size_of(s));
    for (size_t y = 0; y < s->height; y++) {
        int64_t fx = f[2] + (int64_t)y * f[1], fy = f[5] + (int64_t)y * f[4];
        for (size_t x = 0; x < s->width; x++, fx += f[0], fy += f[3], out += c) {
            if (fx < 0 || fy < 0) continue;
            const size_t from_x = (size_t)fx >> 16, from_y = (size_t)fy >> 16;
            if (from_x < s->width && from_y < s->height)
                memcpy(out, in + (from_y * s->width + from_x) * c, c);
        }
    }
}

static void rotate(uint8_t *out, const uint8_t *in, const vit_picture_shape *s, double degrees) {
    const double angle = -degrees * (VIT_PI / 180), x = (double)s->width / 2;
    const double cosine = vit_cos(angle), sine = vit_sin(angle), y = (double)s->height / 2;
    const double m[6] = {cosine, sine,   x - cosine * x - sine * y,
                         -sine,  cosine, y + sine * x - cosine * y};
    transform(out, in, s, m);
}

/* ---- Pillow's ImageEnhance: the picture blended with a degenerate one ---- */

/* The formula of Pillow's conversion to "L". */
static uint8_t grey(const uint8_t *pixel, size_t channels) {
    if (channels == 1) return *pixel;
    return (uint8_t)((pixel[0] * 19595u + pixel[1] * 38470u + pixel[2] * 7471u + 0x8000u) >> 16);
}

/* The mean of 3 x 3 pixels, the middle one counted five times; at the edge, the pixel itself. */
static uint8_t smoothed(const uint8_t *in, const vit_picture_shape *s, size_t at) {
    const size_t c = s->channels, row = s->width * c, y = at / row, x = at / c % s->width;
    unsigned sum = 4u * in[at];
    if (y == 0 || x == 0 || y + 1 == s->height || x + 1 == s->width) return in[at];
    for (size_t k = 0; k < 9; k++) sum += in[at + k / 3 * row + k % 3 * c - row - c];
    return (uint8_t)((2 * sum + 13) / 26);
}

/* out = other + factor (in - other), `other` being black for brightness, the mean grey for
 * contrast, grey for colour, smoothed for sharpness. */
static void enhance(uint8_t *out, const uint8_t *in, const vit_picture_shape *s, vit_operator op,
                    double factor) {
    const float alpha = (float)factor;
    const size_t pixels = s->height * s->width;
    uint8_t mean = 0;
    if (op == VIT_OPERATOR_CONTRAST) {
        size_t sum = 0;
        for (size_t i = 0; i < pixels; i++) sum += grey(in + i * s->channels, s->channels);
        mean = (uint8_t)((double)sum / (double)pixels + .5);
    }
    for (size_t i = 0; i < size_of(s); i++) {
        uint8_t other = mean;
        if (op == VIT_OPERATOR_COLOR) other = grey(in + i - i % s->channels, s->channels);
        if (op == VIT_OPERATOR_SHARPNESS) other = smoothed(in, s, i);
        const float value = (float)other + alpha * (float)(in[i] - other);
        out[i] = value <= 0 ? 0 : value >= 255 ? 255 : (uint8_t)value;
    }
}

/* ---- Pillow's ImageOps: a table of bytes for each channel ---- */

static void autocontrast(uint8_t table[256], const size_t counts[256]) {
    int low = 0, high = 255;
    while (low < 255 && counts[low] == 0) low++;
    while (high > 0 && counts[high] == 0) high--;
    if (high <= low) return;
    const double scale = 255. / (high - low), offset = -low * scale;
    for (int i = 0; i < 256; i++) {
        const double value = i * scale + offset;
        table[i] = value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value;
    }
}

static void equalize(uint8_t table[256], const size_t counts[256], size_t pixels) {
    int last = 255;
    while (last > 0 && counts[last] == 0) last--;
    const size_t step = (pixels - counts[last]) / 255;
    size_t n = step / 2;
    if (step == 0) return;
    for (int i = 0; i < 256; n += counts[i++])
        table[i] = (uint8_t)(n / step < 255 ? n / step : 255);
}

static void look_up(uint8_t *out, const uint8_t *in, const vit_picture_shape *s, vit_operator op,
                    double value) {
    const size_t pixels = s->height * s->width;
    for (size_t c = 0; c < s->channels; c++) {
        uint8_t table[256];
        size_t counts[256] = {0};
        for (size_t i = 0; i < pixels; i++) counts[in[i * s->channels + c]]++;
        for (int i = 0; i < 256; i++) {
            table[i] = (uint8_t)i;
            if (op == VIT_OPERATOR_POSTERIZE)
                table[i] = (uint8_t)(i >> (8 - (int)value) << (8 - (int)value));
            if (op == VIT_OPERATOR_SOLARIZE && i >= value) table[i] = (uint8_t)(255 - i);
        }
        if (op == VIT_OPERATOR_AUTOCONTRAST) autocontrast(table, counts);
        if (op == VIT_OPERATOR_EQUALIZE) equalize(table, counts, pixels);
        for (size_t i = c; i < size_of(s); i += s->channels) out[i] = table[in[i]];
    }
}

void vit_operator_apply(uint8_t *out, const uint8_t *in, const vit_picture_shape *s,
                        vit_operator op, double value) {
    const double shear_x[6] = {1, value, 0, 0, 1, 0}, shear_y[6] = {1, 0, 0, value, 1, 0};
    const double right[6] = {1, 0, -trunc(value), 0, 1, 0},
                 down[6] = {1, 0, 0, 0, 1, -trunc(value)};
    switch (op) {
    case VIT_OPERATOR_SHEAR_X:
        transform(out, in, s, shear_x);
        break;
    case VIT_OPERATOR_SHEAR_Y:
        transform(out, in, s, shear_y);
        break;
    case VIT_OPERATOR_TRANSLATE_X:
        transform(out, in, s, right);
        break;
    case VIT_OPERATOR_TRANSLATE_Y:
        transform(out, in, s, down);
        break;
    case VIT_OPERATOR_ROTATE:
        rotate(out, in, s, value);
        break;
    case VIT_OPERATOR_BRIGHTNESS:
    case VIT_OPERATOR_COLOR:
    case VIT_OPERATOR_CONTRAST:
    case VIT_OPERATOR_SHARPNESS:
        enhance(out, in, s, op, 1 + value);
        break;
    case VIT_OPERATOR_POSTERIZE:
    case VIT_OPERATOR_SOLARIZE:
    case VIT_OPERATOR_AUTOCONTRAST:
    case VIT_OPERATOR_EQUALIZE:
        look_up(out, in, s, op, value);
        break;
    case VIT_OPERATOR_IDENTITY:
    case VIT_OPERATORS:
        memcpy(out, in, size_of(s));
        break;
    }
}

/* ---- policies ---- */

#define MAGNITUDES 30
#define RAND_MAGNITUDE 9

double vit_policy_value(const vit_picture_shape *s, vit_policy policy, vit_operator op,
                        int magnitude) {
    const bool wide = policy == VIT_POLICY_TRIVIAL_AUGMENT;
    const double share = (double)magnitude / MAGNITUDES, bits = rint(share * (wide ? 6 : 4));
    const double most[VIT_OPERATORS] = {
        [VIT_OPERATOR_SHEAR_X] = wide ? .99 : .3,
        [VIT_OPERATOR_SHEAR_Y] = wide ? .99 : .3,
        [VIT_OPERATOR_TRANSLATE_X] = wide ? 32 : 150. / 331 * (double)s->width,
        [VIT_OPERATOR_TRANSLATE_Y] = wide ? 32 : 150. / 331 * (double)s->height,
        [VIT_OPERATOR_ROTATE] = wide ? 135 : 30,
        [VIT_OPERATOR_BRIGHTNESS] = wide ? .99 : .9,
        [VIT_OPERATOR_COLOR] = wide ? .99 : .9,
        [VIT_OPERATOR_CONTRAST] = wide ? .99 : .9,
        [VIT_OPERATOR_SHARPNESS] = wide ? .99 : .9};
    if (op == VIT_OPERATOR_POSTERIZE) return 8 - bits;
    if (op == VIT_OPERATOR_SOLARIZE) return 255 * (1 - share);
    return most[op] * share;
}

void vit_policy_apply(uint8_t *pixels, uint8_t *scratch, const vit_picture_shape *s,
                      vit_policy policy, vit_random *r) {
    const bool wide = policy == VIT_POLICY_TRIVIAL_AUGMENT;
    const int operators = policy == VIT_POLICY_NONE ? 0 : wide ? 1 : 2;
    for (int i = 0; i < operators; i++) {
        const vit_operator op = (vit_operator)vit_random_below(r, VIT_OPERATORS);
        const int magnitude = wide ? (int)vit_random_below(r, MAGNITUDES + 1) : RAND_MAGNITUDE;
        double value = vit_policy_value(s, policy, op, magnitude);
        const bool is_signed = op >= VIT_OPERATOR_SHEAR_X && op <= VIT_OPERATOR_SHARPNESS;
        if (is_signed && vit_random_below(r, 2) == 1) value = -value;
        vit_operator_apply(scratch, pixels, s, op, value);
        memcpy(pixels, scratch, size_of(s));
    }
}

void vit_jitter_apply(uint8_t *pixels, uint8_t *scratch, const vit_picture_shape *s, double amount,
                      vit_random *r) {
    uint32_t order[] = {VIT_OPERATOR_BRIGHTNESS, VIT_OPERATOR_CONTRAST, VIT_OPERATOR_COLOR};
    vit_random_shuffle(r, order, 3);
    for (size_t i = 0; i < 3; i++) {
        const double value = (2 * vit_random_uniform(r) - 1) * amount;
        vit_operator_apply(scratch, pixels, s, (vit_operator)order[i], value);
        memcpy(pixels, scratch, size_of(s));
    }
}
