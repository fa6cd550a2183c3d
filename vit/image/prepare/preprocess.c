#include "vit/image/prepare/preprocess.h"
#include "vit/image/digit/digit.h"
#include "vit/image/pixels.h"

#include <math.h>

/* Python's round(): to the nearest, halves to even. */
static size_t round_half_even(double x) {
    const double floor_x = floor(x), rest = x - floor_x;
    const size_t low = (size_t)floor_x;
    return rest > 0.5 || (rest == 0.5 && low % 2 == 1) ? low + 1 : low;
}

static void keep_shape(const vit_operation *op, const vit_image *in, size_t *width,
                       size_t *height) {
    const double ratio_h = (double)in->height / (double)op->height;
    const double ratio_w = (double)in->width / (double)op->width;
    const bool first = (ratio_h < ratio_w) == (op->fit == VIT_FIT_COVER);
    const double ratio = first ? ratio_h : ratio_w;
    *width = round_half_even((double)in->width / ratio);
    *height = round_half_even((double)in->height / ratio);
}

static void shorter_side(size_t side, const vit_image *in, size_t *width, size_t *height) {
    bool is_upright = in->width <= in->height;
    size_t shorter = is_upright ? in->width : in->height;
    size_t longer = side * (is_upright ? in->height : in->width) / shorter;
    *width = is_upright ? side : longer;
    *height = is_upright ? longer : side;
}

/* The size of what a RESIZE makes of this picture. */
static void resize_target(const vit_operation *op, const vit_image *in, size_t *width,
                          size_t *height) {
    *width = op->width;
    *height = op->height;
    if (op->shorter)
        shorter_side(op->shorter, in, width, height);
    else if (op->fit != VIT_FIT_STRETCH)
        keep_shape(op, in, width, height);
}

static ptrdiff_t center_offset(size_t size, size_t crop, vit_rounding rounding) {
    const ptrdiff_t difference = (ptrdiff_t)size - (ptrdiff_t)crop;
    const ptrdiff_t half = difference / 2; /* towards zero */
    const bool is_between = difference % 2 != 0;
    if (difference > 0 && rounding == VIT_ROUNDING_EVEN && is_between) return half + half % 2;
    if (difference < 0 && rounding == VIT_ROUNDING_FLOOR && is_between) return half - 1;
    return half;
}

static vit_status center_crop(vit_image *out, const vit_image *in, const vit_operation *op,
                              vit_error *error) {
    const ptrdiff_t left = center_offset(in->width, op->width, op->rounding);
    const ptrdiff_t top = center_offset(in->height, op->height, op->rounding);
    return vit_image_crop_on(out, in, left, top, op->width, op->height, op->background, error);
}

static vit_status apply(vit_image *out, const vit_image *in, const vit_operation *op,
                        const vit_kernels *kernels, vit_error *error) {
    size_t width, height;
    switch (op->kind) {
    case VIT_OP_GREY:
        return vit_image_convert(out, in, 1, error);
    case VIT_OP_RGB:
        return vit_image_convert(out, in, 3, error);
    case VIT_OP_RESIZE:
        resize_target(op, in, &width, &height);
        return vit_image_resize_as(out, in, width, height, op->filter, op->arithmetic, kernels,
                                   error);
    case VIT_OP_CENTER_CROP:
        return center_crop(out, in, op, error);
    case VIT_OP_ORIENT:
        return vit_image_orient(out, in, error);
    case VIT_OP_COMPOSITE:
        return vit_image_composite(out, in, op->background, error);
    case VIT_OP_DIGIT:
        return vit_image_digit(out, in, kernels, error);
    case VIT_OP_NORMALIZE:
        break;
    }
    return vit_fail(error, VIT_ERROR_ARGUMENT, "preprocessing: operation %d cannot be applied",
                    (int)op->kind);
}

/* Whether the picture would come out as it is. */
static bool is_idle(const vit_operation *op, const vit_image *in) {
    size_t width = op->width, height = op->height;
    switch (op->kind) {
    case VIT_OP_GREY:
        return in->channels == 1;
    case VIT_OP_RGB:
        return in->channels == 3;
    case VIT_OP_RESIZE:
        resize_target(op, in, &width, &height);
        break;
    case VIT_OP_CENTER_CROP:
        break;
    case VIT_OP_ORIENT:
        return in->orientation < 2;
    case VIT_OP_COMPOSITE:
        return in->channels == 1 || in->channels == 3;
    case VIT_OP_DIGIT:
        return false;
    case VIT_OP_NORMALIZE:
        return true;
    }
    return in->width == width && in->height == height;
}

static vit_status check_result(const vit_image *in, size_t height, size_t width, size_t channels,
                               vit_error *error) {
    if (in->height == height && in->width == width && in->channels == channels) return VIT_OK;
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "preprocessing gives %zu x %zu pixels of %zu channels (height x width), the "
                    "network takes %zu x %zu of %zu",
                    in->height, in->width, in->channels, height, width, channels);
}

vit_status vit_preprocess(vit_image *out, const vit_image *in, const vit_preprocessing *p,
                          size_t height, size_t width, size_t channels, const vit_kernels *kernels,
                          vit_error *error) {
    vit_image current = {0}; /* what the operations so far made; no pixels: `in` still */
    vit_status status = VIT_OK;
    *out = (vit_image){0};
    for (size_t i = 0; !status && i < p->count; i++) {
        const vit_image *from = current.pixels ? &current : in;
        vit_image next = {0};
        if (is_idle(&p->operations[i], from)) continue;
        status = apply(&next, from, &p->operations[i], kernels, error);
        if (p->operations[i].kind != VIT_OP_ORIENT) next.orientation = from->orientation;
        if (!next.warning) next.warning = from->warning;
        vit_image_free(&current);
        current = next;
    }
    if (status) return status;
    status = check_result(current.pixels ? &current : in, height, width, channels, error);
    if (!status && !current.pixels) {
        return vit_image_from_pixels(out, in->pixels, in->width, in->height, in->channels,
                                     in->width * in->channels, error);
    }
    if (status)
        vit_image_free(&current);
    else
        *out = current;
    return status;
}

static float normalize(const vit_operation *op, size_t channel, int level) {
    const float mean = op->mean[channel], std = op->std[channel];
    if (op->rescale == 0) return ((float)level / 255.0F - mean) / std;
    if (!op->fused) return ((float)(level * op->rescale) - mean) / std;
    const float inverse = (float)(1.0 / op->rescale);
    return ((float)level - mean * inverse) / (std * inverse);
}

void vit_normalize_table(float table[][256], const vit_preprocessing *p, size_t channels) {
    const vit_operation *op = &p->operations[p->count - 1];
    for (size_t c = 0; c < channels; c++)
        for (int v = 0; v < 256; v++) table[c][v] = normalize(op, c, v);
}

void vit_normalize(float *image, const uint8_t *bytes, size_t pixels, size_t channels,
                   const float *table) {
    for (size_t c = 0; c < channels; c++) /* one of a picture's channels at a time: faster */
        for (size_t i = c; i < pixels * channels; i += channels)
            image[i] = table[c * 256 + bytes[i]];
}
