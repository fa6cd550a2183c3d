#include "vit/base/math.h"
#include "vit/base/sys.h"
#include "vit/image/pixels.h"

#include <math.h>
#include <string.h>

/* Pillow's resampler. An output sample is a weighted sum of a window of input samples,
 *
 *     out[x] = clip((sum_i weight[x][i] * in[first[x] + i] + 2^21) >> 22),
 *
 * along the rows first, then along the columns of what that gave. Weights are computed in double
 * and rounded to 22-bit fixed point. Columns are worked off in strips, so that what lies between
 * the two passes stays in the cache and is bounded for any shape. */

enum { WEIGHT_BITS = 22, STRIP_BYTES = 1 << 18, MIN_STRIP = 16 };

typedef double kernel_function(double x);

static double box(double x) {
    return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
}

static double bilinear(double x) {
    x = fabs(x);
    return x < 1.0 ? 1.0 - x : 0.0;
}

/* Keys' cubic convolution with a = -1/2. */
static double bicubic(double x) {
    static const double a = -0.5;
    x = fabs(x);
    if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
    if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * a;
    return 0.0;
}

static double sinc(double x) {
    if (x == 0.0) return 1.0;
    x *= VIT_PI;
    return vit_sin(x) / x;
}

static double lanczos(double x) {
    return x >= -3.0 && x < 3.0 ? sinc(x) * sinc(x / 3) : 0.0;
}

/* The constants are floats in Pillow. */
static double hamming(double x) {
    x = fabs(x);
    if (x == 0.0) return 1.0;
    if (x >= 1.0) return 0.0;
    return sinc(x) * (0.54f + 0.46f * vit_cos(x * VIT_PI));
}

static const struct {
    kernel_function *weight; /* NULL: takes single samples */
    double support;          /* half the width of the kernel */
} filters[] = {
    [VIT_FILTER_NEAREST] = {NULL, 0.0},      [VIT_FILTER_BOX] = {box, 0.5},
    [VIT_FILTER_BILINEAR] = {bilinear, 1.0}, [VIT_FILTER_BICUBIC] = {bicubic, 2.0},
    [VIT_FILTER_LANCZOS] = {lanczos, 3.0},   [VIT_FILTER_HAMMING] = {hamming, 1.0},
};

const char *const vit_filter_names[] = {
    [VIT_FILTER_NEAREST] = "nearest",   [VIT_FILTER_BOX] = "box",
    [VIT_FILTER_BILINEAR] = "bilinear", [VIT_FILTER_BICUBIC] = "bicubic",
    [VIT_FILTER_LANCZOS] = "lanczos",   [VIT_FILTER_HAMMING] = "hamming",
    [VIT_FILTER_HAMMING + 1] = NULL,
};

const char *const vit_arithmetic_names[] = {
    [VIT_ARITHMETIC_PILLOW] = "pillow",
    [VIT_ARITHMETIC_TORCH] = "torch",
    [VIT_ARITHMETIC_TORCH + 1] = NULL,
};

bool vit_filter_parse(const char *name, vit_filter *filter) {
    for (size_t i = 0; vit_filter_names[i]; i++) {
        if (strcmp(name, vit_filter_names[i]) != 0) continue;
        *filter = (vit_filter)i;
        return true;
    }
    return false;
}

/* The windows and weights of one axis. */
typedef struct axis {
    size_t in, out;
    size_t room;           /* weights from one output sample to the next */
    size_t *first, *count; /* [out] the window: first[x] + count[x] <= in */
    int32_t *weights;      /* [out][room] */
    double *exact;         /* [room] those of one output sample before rounding */
} axis;

static void axis_free(axis *a) {
    vit_free(a->first);
    vit_free(a->count);
    vit_free(a->weights);
    vit_free(a->exact);
}

static int32_t to_fixed(double weight) {
    double scaled = weight * (1 << WEIGHT_BITS);
    return (int32_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

static void axis_fill(axis *a, vit_filter filter, size_t x, double scale, double stretch) {
    double support = filters[filter].support * stretch, center = ((double)x + 0.5) * scale;
    double low = center - support + 0.5, high = center + support + 0.5, sum = 0;
    size_t first = low < 0 ? 0 : (size_t)low;
    size_t end = high > (double)a->in ? a->in : (size_t)high;
    size_t count = end - first;
    for (size_t i = 0; i < count; i++) {
        double distance = ((double)(i + first) - center + 0.5) * (1.0 / stretch);
        a->exact[i] = filters[filter].weight(distance);
        sum += a->exact[i];
    }
    for (size_t i = 0; i < count; i++)
        a->weights[x * a->room + i] = to_fixed(sum != 0 ? a->exact[i] / sum : a->exact[i]);
    a->first[x] = first;
    a->count[x] = count;
}

static vit_status axis_init(axis *a, size_t in, size_t out, vit_filter filter, vit_error *error) {
    double scale = (double)in / (double)out, stretch = scale < 1.0 ? 1.0 : scale;
    size_t room = (size_t)ceil(filters[filter].support * stretch) * 2 + 1;
    *a = (axis){.in = in, .out = out, .room = room};
    if (in == out) return VIT_OK; /* nothing to do along this axis */
    a->first = vit_alloc(out, sizeof *a->first);
    a->count = vit_alloc(out, sizeof *a->count);
    a->weights = vit_alloc(out * room, sizeof *a->weights);
    a->exact = vit_alloc(room, sizeof *a->exact);
    if (!a->first || !a->count || !a->weights || !a->exact)
        return vit_fail_memory(error, "resize", out * room * sizeof *a->weights);
    for (size_t x = 0; x < out; x++) axis_fill(a, filter, x, scale, stretch);
    return VIT_OK;
}

static uint8_t clip(int32_t sum) {
    int32_t value = sum >> WEIGHT_BITS;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static void row_grey(uint8_t *to, const uint8_t *from, const axis *a, size_t start, size_t end) {
    for (size_t x = start; x < end; x++) {
        const uint8_t *p = from + a->first[x];
        const int32_t *weights = a->weights + x * a->room;
        int32_t sum = 1 << (WEIGHT_BITS - 1);
        for (size_t i = 0; i < a->count[x]; i++) sum += weights[i] * p[i];
        *to++ = clip(sum);
    }
}

static void row_rgb(uint8_t *to, const uint8_t *from, const axis *a, size_t start, size_t end) {
    for (size_t x = start; x < end; x++) {
        const uint8_t *p = from + 3 * a->first[x];
        const int32_t *weights = a->weights + x * a->room;
        int32_t r = 1 << (WEIGHT_BITS - 1), g = r, b = r;
        for (size_t i = 0; i < a->count[x]; i++) {
            r += weights[i] * p[3 * i];
            g += weights[i] * p[3 * i + 1];
            b += weights[i] * p[3 * i + 2];
        }
        *to++ = clip(r);
        *to++ = clip(g);
        *to++ = clip(b);
    }
}

/* A row of `bytes` samples from the rows of its window. */
static void column_sums(uint8_t *to, const uint8_t *from, size_t stride, size_t bytes,
                        const int32_t *weights, size_t count, int32_t *restrict sums) {
    for (size_t x = 0; x < bytes; x++) sums[x] = 1 << (WEIGHT_BITS - 1);
    for (size_t i = 0; i < count; i++, from += stride) {
        int32_t weight = weights[i];
        for (size_t x = 0; x < bytes; x++) sums[x] += weight * from[x];
    }
    for (size_t x = 0; x < bytes; x++) to[x] = clip(sums[x]);
}

/* Both passes, and what lies between them. */
typedef struct resampler {
    axis x, y;
    size_t channels;
    size_t top, rows;     /* of the input: those the columns need */
    size_t strip, stride; /* width of a strip in pixels; bytes of one of its rows */
    uint8_t *between;     /* [rows][stride] a strip after the first pass */
    int32_t *sums;        /* [stride] */
} resampler;

static void resample_strip(const resampler *r, vit_image *out, const vit_image *in, size_t start) {
    size_t end = start + r->strip < out->width ? start + r->strip : out->width;
    size_t channels = r->channels, row = in->width * channels;
    const uint8_t *from = in->pixels + r->top * row + (r->x.weights ? 0 : start * channels);
    for (size_t y = 0; y < r->rows; y++, from += row) {
        uint8_t *to = r->between + y * r->stride;
        if (!r->x.weights)
            memcpy(to, from, (end - start) * channels);
        else
            (channels == 1 ? row_grey : row_rgb)(to, from, &r->x, start, end);
    }
    for (size_t y = 0; y < out->height; y++) {
        uint8_t *to = out->pixels + (y * out->width + start) * channels;
        if (!r->y.weights) {
            memcpy(to, r->between + y * r->stride, (end - start) * channels);
            continue;
        }
        column_sums(to, r->between + (r->y.first[y] - r->top) * r->stride, r->stride,
                    (end - start) * channels, r->y.weights + y * r->y.room, r->y.count[y], r->sums);
    }
}

static vit_status resampler_init(resampler *r, const vit_image *in, size_t width, size_t height,
                                 vit_filter filter, vit_error *error) {
    *r = (resampler){.channels = in->channels, .rows = in->height};
    vit_status status = axis_init(&r->x, in->width, width, filter, error);
    if (!status) status = axis_init(&r->y, in->height, height, filter, error);
    if (status) return status;
    if (r->y.weights) {
        r->top = r->y.first[0];
        r->rows = r->y.first[height - 1] + r->y.count[height - 1] - r->top;
    }
    r->strip = STRIP_BYTES / (r->rows * r->channels);
    if (r->strip < MIN_STRIP) r->strip = MIN_STRIP;
    if (r->strip > width) r->strip = width;
    r->stride = r->strip * r->channels;
    r->between = vit_alloc(r->rows, r->stride);
    r->sums = vit_alloc(r->stride, sizeof *r->sums);
    if (!r->between || !r->sums) return vit_fail_memory(error, "resize", r->rows * r->stride);
    return VIT_OK;
}

static void resampler_free(resampler *r) {
    axis_free(&r->x);
    axis_free(&r->y);
    vit_free(r->between);
    vit_free(r->sums);
}

/* Pillow adds the step up from sample to sample instead of multiplying; that decides which side
 * of a boundary is taken. Samples that fall outside stay 0. */
static vit_status resize_nearest(vit_image *out, const vit_image *in, vit_error *error) {
    size_t *columns = vit_alloc(out->width, sizeof *columns);
    if (!columns) return vit_fail_memory(error, "resize", out->width * sizeof *columns);
    double step_x = (double)in->width / (double)out->width, at_x = 0.5 * step_x;
    double step_y = (double)in->height / (double)out->height, at_y = 0.5 * step_y;
    for (size_t x = 0; x < out->width; x++, at_x += step_x) columns[x] = (size_t)at_x;
    for (size_t y = 0; y < out->height; y++, at_y += step_y) {
        size_t row = (size_t)at_y, channels = in->channels;
        uint8_t *to = out->pixels + y * out->width * channels;
        for (size_t x = 0; row < in->height && x < out->width; x++) {
            if (columns[x] >= in->width) continue;
            memcpy(to + x * channels, in->pixels + (row * in->width + columns[x]) * channels,
                   channels);
        }
    }
    vit_free(columns);
    return VIT_OK;
}

static vit_status resample(vit_image *out, const vit_image *in, vit_filter filter,
                           vit_error *error) {
    resampler r;
    vit_status status = resampler_init(&r, in, out->width, out->height, filter, error);
    for (size_t x = 0; !status && x < out->width; x += r.strip) resample_strip(&r, out, in, x);
    resampler_free(&r);
    return status;
}

vit_status vit_image_resize_as(vit_image *out, const vit_image *in, size_t width, size_t height,
                               vit_filter filter, vit_arithmetic arithmetic, vit_error *error) {
    (void)arithmetic;
    *out = (vit_image){0};
    if (in->channels != 1 && in->channels != 3) {
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "resize: the picture has %zu channels, expected 1 or 3; convert it to "
                        "grey or RGB first",
                        in->channels);
    }
    vit_status status = vit_image_new(out, "resize", width, height, in->channels, error);
    if (status) return status;
    if (filter == VIT_FILTER_NEAREST)
        status = resize_nearest(out, in, error);
    else
        status = resample(out, in, filter, error);
    if (status) vit_image_free(out);
    return status;
}

vit_status vit_image_resize(vit_image *out, const vit_image *in, size_t width, size_t height,
                            vit_filter filter, vit_error *error) {
    return vit_image_resize_as(out, in, width, height, filter, VIT_ARITHMETIC_PILLOW, error);
}
