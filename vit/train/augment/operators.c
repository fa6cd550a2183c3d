#include "vit/train/augment/operators.h"
#include "vit/base/math.h"
#include "vit/base/size.h"
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

/* The mean of the greys of all pixels, rounded. */
static uint8_t mean_grey(const uint8_t *in, const vit_picture_shape *s) {
    const size_t pixels = s->height * s->width;
    size_t sum = 0;
    for (size_t i = 0; i < pixels; i++) sum += grey(in + i * s->channels, s->channels);
    return (uint8_t)((double)sum / (double)pixels + .5);
}

/* other + factor (in - other), as a byte. */
static uint8_t blend(uint8_t in, uint8_t other, float factor) {
    const float value = (float)other + factor * (float)(in - other);
    return value <= 0 ? 0 : value >= 255 ? 255 : (uint8_t)value;
}

/* Blended with one byte: black for brightness, the mean grey for contrast. */
static void enhance(uint8_t *out, const uint8_t *in, const vit_picture_shape *s, uint8_t other,
                    double value) {
    for (size_t i = 0; i < size_of(s); i++) out[i] = blend(in[i], other, (float)(1 + value));
}

static void enhance_color(uint8_t *out, const uint8_t *in, const vit_picture_shape *s,
                          double value) {
    for (size_t i = 0; i < size_of(s); i++)
        out[i] = blend(in[i], grey(in + i - i % s->channels, s->channels), (float)(1 + value));
}

static void enhance_sharpness(uint8_t *out, const uint8_t *in, const vit_picture_shape *s,
                              double value) {
    for (size_t i = 0; i < size_of(s); i++)
        out[i] = blend(in[i], smoothed(in, s, i), (float)(1 + value));
}

/* ---- Pillow's ImageOps: a table of bytes for each channel ---- */

/* Fills the table, which maps every byte to itself, given how often each byte occurs. */
typedef void tabulate(uint8_t table[256], const size_t counts[256], size_t pixels, double value);

static void posterize(uint8_t table[256], const size_t counts[256], size_t pixels, double value) {
    (void)counts, (void)pixels;
    const int lost = 8 - (int)value;
    for (int i = 0; i < 256; i++) table[i] = (uint8_t)(i >> lost << lost);
}

static void solarize(uint8_t table[256], const size_t counts[256], size_t pixels, double value) {
    (void)counts, (void)pixels;
    for (int i = 0; i < 256; i++)
        if (i >= value) table[i] = (uint8_t)(255 - i);
}

static void autocontrast(uint8_t table[256], const size_t counts[256], size_t pixels,
                         double value) {
    (void)pixels, (void)value;
    int low = 0, high = 255;
    while (low < 255 && counts[low] == 0) low++;
    while (high > 0 && counts[high] == 0) high--;
    if (high <= low) return;
    const double scale = 255. / (high - low), offset = -low * scale;
    for (int i = 0; i < 256; i++) {
        const double stretched = i * scale + offset;
        table[i] = stretched < 0 ? 0 : stretched > 255 ? 255 : (uint8_t)stretched;
    }
}

static void equalize(uint8_t table[256], const size_t counts[256], size_t pixels, double value) {
    (void)value;
    int last = 255;
    while (last > 0 && counts[last] == 0) last--;
    const size_t step = (pixels - counts[last]) / 255;
    size_t n = step / 2;
    if (step == 0) return;
    for (int i = 0; i < 256; n += counts[i++])
        table[i] = (uint8_t)(n / step < 255 ? n / step : 255);
}

static void look_up(uint8_t *out, const uint8_t *in, const vit_picture_shape *s, tabulate *fill,
                    double value) {
    const size_t pixels = s->height * s->width;
    for (size_t c = 0; c < s->channels; c++) {
        uint8_t table[256];
        size_t counts[256] = {0};
        for (size_t i = 0; i < pixels; i++) counts[in[i * s->channels + c]]++;
        for (int i = 0; i < 256; i++) table[i] = (uint8_t)i;
        fill(table, counts, pixels, value);
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
        enhance(out, in, s, 0, value);
        break;
    case VIT_OPERATOR_COLOR:
        enhance_color(out, in, s, value);
        break;
    case VIT_OPERATOR_CONTRAST:
        enhance(out, in, s, mean_grey(in, s), value);
        break;
    case VIT_OPERATOR_SHARPNESS:
        enhance_sharpness(out, in, s, value);
        break;
    case VIT_OPERATOR_POSTERIZE:
        look_up(out, in, s, posterize, value);
        break;
    case VIT_OPERATOR_SOLARIZE:
        look_up(out, in, s, solarize, value);
        break;
    case VIT_OPERATOR_AUTOCONTRAST:
        look_up(out, in, s, autocontrast, value);
        break;
    case VIT_OPERATOR_EQUALIZE:
        look_up(out, in, s, equalize, value);
        break;
    case VIT_OPERATOR_IDENTITY:
    case VIT_OPERATORS:
        memcpy(out, in, size_of(s));
        break;
    }
}

/* ---- policies ---- */

#define MAGNITUDES 30

/* What a policy does to a picture. */
static const struct {
    int operators; /* one after the other */
    bool wide;     /* in wide ranges, at any magnitude; else at RAND_MAGNITUDE */
} policies[] = {{0, false}, {2, false}, {1, true}};
VIT_CHECK_ROWS(policies, VIT_POLICY_COUNT);
#define RAND_MAGNITUDE 9

double vit_policy_value(const vit_picture_shape *s, vit_policy policy, vit_operator op,
                        int magnitude) {
    const bool wide = policies[policy].wide;
    const double share = (double)magnitude / MAGNITUDES, bits = rint(share * (wide ? 6 : 4));
    switch (op) {
    case VIT_OPERATOR_SHEAR_X:
    case VIT_OPERATOR_SHEAR_Y:
        return (wide ? .99 : .3) * share;
    case VIT_OPERATOR_TRANSLATE_X:
        return (wide ? 32 : 150. / 331 * (double)s->width) * share;
    case VIT_OPERATOR_TRANSLATE_Y:
        return (wide ? 32 : 150. / 331 * (double)s->height) * share;
    case VIT_OPERATOR_ROTATE:
        return (wide ? 135 : 30) * share;
    case VIT_OPERATOR_BRIGHTNESS:
    case VIT_OPERATOR_COLOR:
    case VIT_OPERATOR_CONTRAST:
    case VIT_OPERATOR_SHARPNESS:
        return (wide ? .99 : .9) * share;
    case VIT_OPERATOR_POSTERIZE:
        return 8 - bits;
    case VIT_OPERATOR_SOLARIZE:
        return 255 * (1 - share);
    case VIT_OPERATOR_IDENTITY:
    case VIT_OPERATOR_AUTOCONTRAST:
    case VIT_OPERATOR_EQUALIZE:
    case VIT_OPERATORS:
        break;
    }
    return 0;
}

void vit_policy_apply(uint8_t *pixels, uint8_t *scratch, const vit_picture_shape *s,
                      vit_policy policy, vit_random *r) {
    const bool wide = policies[policy].wide;
    for (int i = 0; i < policies[policy].operators; i++) {
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
