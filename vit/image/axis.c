#include "vit/image/axis.h"
#include "vit/base/math.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"

#include <math.h>
#include <stdint.h>

enum { PILLOW_BITS = 22, TORCH_MOST_BITS = 22, TORCH_WEIGHT = 1 << 15 };

typedef double kernel_function(double x);

static double box(double x) {
    return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
}

static double bicubic(double x) {
    return vit_cubic(x, -0.5);
}

static double sinc(double x) {
    if (x == 0.0) return 1.0;
    x *= VIT_PI;
    return vit_sin(x) / x;
}

static double lanczos(double x) {
    return x >= -3.0 && x < 3.0 ? sinc(x) * sinc(x / 3) : 0.0;
}

/* The constants are floats, as in Pillow. */
static double hamming(double x) {
    x = fabs(x);
    if (x == 0.0) return 1.0;
    if (x >= 1.0) return 0.0;
    return sinc(x) * (0.54f + 0.46f * vit_cos(x * VIT_PI));
}

static const struct {
    kernel_function *weight; /* NULL: no weighted sum */
    double support;          /* half the width of the kernel, in samples */
} filters[] = {
    [VIT_FILTER_NEAREST] = {NULL, 0.0},          [VIT_FILTER_BOX] = {box, 0.5},
    [VIT_FILTER_BILINEAR] = {vit_triangle, 1.0}, [VIT_FILTER_BICUBIC] = {bicubic, 2.0},
    [VIT_FILTER_LANCZOS] = {lanczos, 3.0},       [VIT_FILTER_HAMMING] = {hamming, 1.0},
};
VIT_CHECK_ROWS(filters, VIT_FILTER_COUNT);

/* The windows as the libraries compute them: weights of single samples, in double. */
typedef struct windows {
    size_t room;
    size_t *first, *count; /* [out] */
    double *weights;       /* [out][room] */
} windows;

static void fill_window(windows *w, size_t in, size_t x, vit_filter filter, double scale,
                        double stretch) {
    double support = filters[filter].support * stretch, center = ((double)x + 0.5) * scale;
    double low = center - support + 0.5, high = center + support + 0.5, sum = 0;
    size_t first = low < 0 ? 0 : (size_t)low;
    size_t end = high > (double)in ? in : (size_t)high;
    size_t count = end - first;
    double *weights = w->weights + x * w->room;
    for (size_t i = 0; i < count; i++) {
        weights[i] = filters[filter].weight(((double)(i + first) - center + 0.5) * (1.0 / stretch));
        sum += weights[i];
    }
    for (size_t i = 0; i < count && sum != 0; i++) weights[i] /= sum;
    w->first[x] = first;
    w->count[x] = count;
}

static vit_status windows_init(windows *w, size_t in, size_t out, vit_filter filter,
                               vit_error *error) {
    double scale = (double)in / (double)out, stretch = scale < 1.0 ? 1.0 : scale;
    *w = (windows){.room = (size_t)ceil(filters[filter].support * stretch) * 2 + 1};
    w->first = vit_alloc(out, sizeof *w->first);
    w->count = vit_alloc(out, sizeof *w->count);
    w->weights = vit_alloc(out * w->room, sizeof *w->weights);
    if (!w->first || !w->count || !w->weights)
        return vit_fail_memory(error, "resize", out * w->room * sizeof *w->weights);
    for (size_t x = 0; x < out; x++) fill_window(w, in, x, filter, scale, stretch);
    return VIT_OK;
}

/* The most fractional bits with which the largest weight fits an int16. */
static int torch_bits(const windows *w, size_t out) {
    double largest = 0;
    int bits = 0;
    for (size_t x = 0; x < out; x++)
        for (size_t i = 0; i < w->count[x]; i++)
            largest = fmax(largest, w->weights[x * w->room + i]);
    while (bits < TORCH_MOST_BITS && (int)(0.5 + largest * (2 << bits)) < TORCH_WEIGHT) bits++;
    return bits;
}

/* Sets the lower or upper half, which is 0, to the int16 `value`. */
static void put(int32_t *pair, int32_t value, bool upper) {
    *pair = (int32_t)((uint32_t)*pair | (uint32_t)(uint16_t)value << (upper ? 16 : 0));
}

static void put_weight(vit_quad_weights *quads, size_t sample, int32_t weight) {
    const int32_t half = 1 << 14, low = ((weight + half) & 0x7fff) - half;
    const int32_t high = (weight - low) / (1 << 15);
    vit_quad_weights *quad = quads + sample / 4;
    const bool odd = sample % 2 == 1, upper = sample % 4 >= 2;
    put(odd ? &quad->odd_low : &quad->even_low, low, upper);
    put(odd ? &quad->odd_high : &quad->even_high, high, upper);
}

static void fill_axis(vit_axis *a, const windows *w) {
    for (size_t x = 0; x < a->out; x++) {
        const size_t lead = w->first[x] % 4;
        a->first[x] = w->first[x] / 4;
        a->count[x] = (lead + w->count[x] + 3) / 4;
        for (size_t i = 0; i < w->count[x]; i++) {
            const double scaled = w->weights[x * w->room + i] * (1 << a->bits);
            const int32_t weight = (int32_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
            put_weight(a->weights + x * a->room, lead + i, weight);
        }
    }
}

static int bits_of(const windows *w, size_t out, vit_arithmetic arithmetic) {
    switch (arithmetic) {
    case VIT_ARITHMETIC_TORCH:
        return torch_bits(w, out);
    case VIT_ARITHMETIC_PILLOW:
    case VIT_ARITHMETIC_FLOAT:
    case VIT_ARITHMETIC_COUNT:
        break;
    }
    return PILLOW_BITS;
}

vit_status vit_axis_init(vit_axis *a, size_t in, size_t out, vit_filter filter,
                         vit_arithmetic arithmetic, vit_error *error) {
    windows w;
    *a = (vit_axis){.in = in, .out = out};
    if (in == out) return VIT_OK;
    vit_status status = windows_init(&w, in, out, filter, error);
    if (status == VIT_OK) {
        a->bits = bits_of(&w, out, arithmetic);
        a->room = w.room / 4 + 2;
        a->first = vit_alloc(out, sizeof *a->first);
        a->count = vit_alloc(out, sizeof *a->count);
        a->weights = vit_alloc(out * a->room, sizeof *a->weights);
        if (a->first && a->count && a->weights)
            fill_axis(a, &w);
        else
            status = vit_fail_memory(error, "resize", out * a->room * sizeof *a->weights);
    }
    vit_free(w.first);
    vit_free(w.count);
    vit_free(w.weights);
    if (status != VIT_OK) vit_axis_free(a);
    return status;
}

void vit_axis_free(vit_axis *a) {
    vit_free(a->first);
    vit_free(a->count);
    vit_free(a->weights);
    *a = (vit_axis){0};
}

size_t vit_axis_end(const vit_axis *a, size_t end) {
    const size_t last = 4 * (a->first[end - 1] + a->count[end - 1]);
    return last < a->in ? last : a->in;
}
