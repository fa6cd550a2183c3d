#include "vit/image/pixels.h"

/* What an operation makes of a picture of this size: int(size * longer / shorter). */
static void resize_target(const vit_operation *op, const vit_image *in, size_t *width,
                          size_t *height) {
    *width = op->width;
    *height = op->height;
    if (op->shorter == 0) return;
    bool is_upright = in->width <= in->height;
    size_t shorter = is_upright ? in->width : in->height;
    size_t longer = op->shorter * (is_upright ? in->height : in->width) / shorter;
    *width = is_upright ? op->shorter : longer;
    *height = is_upright ? longer : op->shorter;
}

/* int(round((size - crop) / 2)) as Python rounds: halves to the even neighbour. */
static ptrdiff_t center_offset(size_t size, size_t crop) {
    ptrdiff_t difference = (ptrdiff_t)size - (ptrdiff_t)crop;
    ptrdiff_t half = difference / 2; /* towards zero */
    if (difference % 2 == 0 || half % 2 == 0) return half;
    return difference > 0 ? half + 1 : half - 1;
}

static vit_status apply(vit_image *out, const vit_image *in, const vit_operation *op,
                        vit_error *error) {
    size_t width, height;
    switch (op->kind) {
    case VIT_OP_GREY:
        return vit_image_convert(out, in, 1, error);
    case VIT_OP_RGB:
        return vit_image_convert(out, in, 3, error);
    case VIT_OP_RESIZE:
        resize_target(op, in, &width, &height);
        return vit_image_resize(out, in, width, height, op->filter, error);
    case VIT_OP_CENTER_CROP:
        return vit_image_crop(out, in, center_offset(in->width, op->width),
                              center_offset(in->height, op->height), op->width, op->height, error);
    case VIT_OP_ORIENT:
        return vit_image_orient(out, in, error);
    case VIT_OP_COMPOSITE:
        return vit_image_composite(out, in, op->background, error);
    case VIT_OP_DIGIT:
        return vit_image_digit(out, in, error);
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
                          size_t height, size_t width, size_t channels, vit_error *error) {
    vit_image current = {0}; /* what the operations so far made; no pixels: `in` still */
    vit_status status = VIT_OK;
    *out = (vit_image){0};
    for (size_t i = 0; !status && i < p->count; i++) {
        const vit_image *from = current.pixels ? &current : in;
        vit_image next = {0};
        if (is_idle(&p->operations[i], from)) continue;
        status = apply(&next, from, &p->operations[i], error);
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

void vit_normalize_table(float table[][256], const vit_preprocessing *p, size_t channels) {
    const vit_operation *op = &p->operations[p->count - 1];
    for (size_t c = 0; c < channels; c++) {
        for (int v = 0; v < 256; v++) table[c][v] = ((float)v / 255.0F - op->mean[c]) / op->std[c];
    }
}
