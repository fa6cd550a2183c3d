/* Resizing in floating point, as torch.nn.functional.interpolate does it on float32 with
 * antialias=True: along the rows, then along the columns, every sum in float. */
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/image/pixels.h"
#include <math.h>
#include <string.h>

/* The weights of one axis: output i is the sum of `count[i]` inputs from `first[i]` on. */
typedef struct axis {
    size_t in, out, room; /* room: weights of an output, at most */
    size_t *first, *count;
    float *weights; /* [out][room] */
} axis;

static float weigh_bilinear(float x) {
    return x < 1 ? 1 - x : 0;
}

static float weigh_bicubic(float x) {
    const float a = -.5F;
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

/* How far a filter reaches, in pixels, and its weights at a distance; 0: there is no such filter in
 * floating point. */
static const struct filter {
    float reach;
    float (*weigh)(float distance);
} filters[] = {
    [VIT_FILTER_BILINEAR] = {1, weigh_bilinear},
    [VIT_FILTER_BICUBIC] = {2, weigh_bicubic},
    [VIT_FILTER_HAMMING] = {0, NULL},
};
VIT_CHECK_ROWS(filters, VIT_FILTER_COUNT);

static void axis_free(axis *a) {
    vit_free(a->first);
    vit_free(a->count);
    vit_free(a->weights);
}

static vit_status axis_new(axis *a, size_t in, size_t out, const struct filter *f,
                           vit_error *error) {
    const float scale = (float)in / (float)out, inverse = scale >= 1 ? 1 / scale : 1;
    const float reach = f->reach * (scale >= 1 ? scale : 1);
    *a = (axis){.in = in, .out = out, .room = 2 * (size_t)ceilf(reach) + 1};
    a->first = vit_alloc(out, sizeof *a->first);
    a->count = vit_alloc(out, sizeof *a->count);
    a->weights = vit_alloc(out, a->room * sizeof *a->weights);
    if (!a->first || !a->count || !a->weights)
        return vit_fail_memory(error, "resize", out * a->room * sizeof *a->weights);
    for (size_t i = 0; i < out; i++) {
        float *w = a->weights + i * a->room, total = 0;
        const float center = scale * ((float)i + .5F);
        const float low = center - reach + .5F, high = center + reach + .5F;
        a->first[i] = low > 0 ? (size_t)low : 0;
        const size_t end = vit_min((size_t)high, in);
        a->count[i] = vit_min(end - a->first[i], a->room);
        for (size_t j = 0; j < a->count[i]; j++) {
            w[j] = f->weigh(fabsf(((float)(j + a->first[i]) - center + .5F) * inverse));
            total += w[j];
        }
        for (size_t j = 0; j < a->count[i] && total != 0; j++) w[j] /= total;
    }
    return VIT_OK;
}

/* to: [out][channels] of a row of the picture. */
static void along_row(float *to, const axis *a, const uint8_t *row, size_t channels) {
    for (size_t x = 0; x < a->out; x++)
        for (size_t c = 0; c < channels; c++) {
            const uint8_t *from = row + a->first[x] * channels + c;
            float sum = 0;
            for (size_t j = 0; j < a->count[x]; j++)
                sum += a->weights[x * a->room + j] * (float)from[j * channels];
            *to++ = sum;
        }
}

/* Rows that were resized wait in a ring, which has room for those that one output row needs. */
static void resize(float *to, const vit_image *in, const axis *x, const axis *y, float *ring) {
    const size_t samples = x->out * in->channels;
    size_t done = 0;
    for (size_t i = 0; i < y->out; i++, to += samples) {
        if (done < y->first[i]) done = y->first[i];
        for (; done < y->first[i] + y->count[i]; done++)
            along_row(ring + done % y->room * samples, x,
                      in->pixels + done * in->width * in->channels, in->channels);
        memset(to, 0, samples * sizeof *to);
        for (size_t j = 0; j < y->count[i]; j++) {
            const float *row = ring + (y->first[i] + j) % y->room * samples;
            const float w = y->weights[i * y->room + j];
            for (size_t s = 0; s < samples; s++) to[s] += w * row[s];
        }
    }
}

static void round_levels(uint8_t *to, const float *from, size_t count) {
    for (size_t i = 0; i < count; i++)
        to[i] = from[i] <= 0 ? 0 : from[i] >= 255 ? 255 : (uint8_t)(from[i] + .5F);
}

vit_status vit_image_resize_float(vit_image *out, const vit_image *in, vit_filter filter,
                                  vit_error *error) {
    axis x = {0}, y = {0};
    float *ring = NULL;
    const size_t height = out->height, samples = out->width * in->channels;
    if (!filters[filter].weigh)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "resize: the filter is \"%s\", expected bilinear or bicubic in floating "
                        "point",
                        vit_filter_names[filter]);
    vit_status status = axis_new(&x, in->width, out->width, &filters[filter], error);
    if (status == VIT_OK) status = axis_new(&y, in->height, height, &filters[filter], error);
    if (status == VIT_OK) {
        ring = vit_alloc(y.room, samples * sizeof *ring);
        out->floats = vit_alloc(height, samples * sizeof *out->floats);
        if (!ring || !out->floats)
            status = vit_fail_memory(error, "resize", height * samples * sizeof *ring);
    }
    if (status == VIT_OK) {
        resize(out->floats, in, &x, &y, ring);
        round_levels(out->pixels, out->floats, height * samples);
    }
    vit_free(ring);
    axis_free(&x);
    axis_free(&y);
    return status;
}
