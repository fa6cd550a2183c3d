#include "vit/image/prepare/preprocess.h"
#include "vit/base/guests.h"
#include "vit/base/sys.h"
#include "vit/image/codec/decode.h"
#include "vit/image/digits.h"

#include <math.h>

/* Python's round(): to nearest, ties to even. */
static size_t round_half_even(double x) {
    const double floor_x = floor(x), rest = x - floor_x;
    const size_t low = (size_t)floor_x;
    return rest > 0.5 || (rest == 0.5 && low % 2 == 1) ? low + 1 : low;
}

/* The digit on a picture. Without the guest a picture of that size has to be one already. */
static vit_status find_digit(vit_image *out, const vit_image *in, const vit_kernels *kernels,
                             vit_error *error) {
    char guest[VIT_GUEST_TEXT];
    if (vit_digit_finders) return vit_digit_finders->find(out, in, kernels, error);
    if (in->width == VIT_DIGIT_SIZE && in->height == VIT_DIGIT_SIZE)
        return vit_image_convert(out, in, 1, error);
    *out = (vit_image){0};
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "the picture has %zu x %zu pixels, and the model takes digits of %d x %d%s",
                    in->width, in->height, VIT_DIGIT_SIZE, VIT_DIGIT_SIZE,
                    vit_guests_for(guest, "vit_digit_finders"));
}

/* The size that a RESIZE gives this picture. */
static void resize_target(const vit_operation *op, const vit_image *in, size_t *width,
                          size_t *height) {
    *width = op->width;
    *height = op->height;
    if (op->shorter) {
        const bool is_upright = in->width <= in->height;
        const size_t shorter = is_upright ? in->width : in->height;
        const size_t longer = op->shorter * (is_upright ? in->height : in->width) / shorter;
        *width = is_upright ? op->shorter : longer;
        *height = is_upright ? longer : op->shorter;
        return;
    }
    const double ratio_h = (double)in->height / (double)op->height;
    const double ratio_w = (double)in->width / (double)op->width;
    double ratio = 0;
    switch (op->fit) {
    case VIT_FIT_STRETCH:
    case VIT_FIT_COUNT:
        return;
    case VIT_FIT_COVER:
        ratio = ratio_h < ratio_w ? ratio_h : ratio_w;
        break;
    case VIT_FIT_CONTAIN:
        ratio = ratio_h < ratio_w ? ratio_w : ratio_h;
        break;
    }
    *width = round_half_even((double)in->width / ratio);
    *height = round_half_even((double)in->height / ratio);
}

/* Where a centre crop begins. */
static ptrdiff_t center_offset(size_t size, size_t crop, vit_rounding rounding) {
    const ptrdiff_t difference = (ptrdiff_t)size - (ptrdiff_t)crop;
    const ptrdiff_t half = difference / 2; /* towards zero */
    if (difference % 2 == 0) return half;
    switch (rounding) {
    case VIT_ROUNDING_EVEN:
        return difference > 0 ? half + half % 2 : half;
    case VIT_ROUNDING_FLOOR:
        return difference < 0 ? half - 1 : half;
    case VIT_ROUNDING_ZERO:
    case VIT_ROUNDING_COUNT:
        break;
    }
    return half;
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
        return vit_image_crop(out, in, center_offset(in->width, op->width, op->rounding),
                              center_offset(in->height, op->height, op->rounding), op->width,
                              op->height, op->background, error);
    case VIT_OP_CROP:
        return vit_image_crop(out, in, 0, 0, op->width, op->height, NULL, error);
    case VIT_OP_ORIENT:
        return vit_image_orient(out, in, error);
    case VIT_OP_COMPOSITE:
        return vit_image_composite(out, in, op->background, error);
    case VIT_OP_DIGIT:
        return find_digit(out, in, kernels, error);
    case VIT_OP_NORMALIZE:
        break;
    }
    return vit_fail(error, VIT_ERROR_ARGUMENT, "preprocessing: operation %d cannot be applied",
                    (int)op->kind);
}

/* Whether the operation would not change this picture. */
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
    case VIT_OP_CROP:
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

/* Applies the operations from `first` on. */
static vit_status run(vit_image *out, const vit_image *in, const vit_preprocessing *p, size_t first,
                      size_t height, size_t width, size_t channels, const vit_kernels *kernels,
                      vit_error *error) {
    vit_image current = {0}; /* the result so far; without pixels: it is still `in` */
    vit_status status = VIT_OK;
    for (size_t i = first; status == VIT_OK && i < p->count; i++) {
        const vit_image *from = current.pixels ? &current : in;
        vit_image next = {0};
        if (is_idle(&p->operations[i], from)) continue;
        status = apply(&next, from, &p->operations[i], kernels, error);
        if (p->operations[i].kind != VIT_OP_ORIENT) next.orientation = from->orientation;
        if (!next.warning) next.warning = from->warning;
        vit_image_free(&current);
        current = next;
    }
    if (status != VIT_OK) return status;
    const vit_image *result = current.pixels ? &current : in;
    if (result->height != height || result->width != width || result->channels != channels) {
        status = vit_fail(error, VIT_ERROR_MISMATCH,
                          "preprocessing gives %zu x %zu pixels of %zu channels (height x width), "
                          "the network takes %zu x %zu of %zu",
                          result->height, result->width, result->channels, height, width, channels);
        vit_image_free(&current);
        return status;
    }
    if (!current.pixels) return vit_image_crop(out, in, 0, 0, width, height, NULL, error);
    *out = current;
    return VIT_OK;
}

vit_status vit_preprocess(vit_image *out, const vit_image *in, const vit_preprocessing *p,
                          size_t height, size_t width, size_t channels, const vit_kernels *kernels,
                          vit_error *error) {
    *out = (vit_image){0};
    return run(out, in, p, 0, height, width, channels, kernels, error);
}

/* ---- from a file ---- */

/* A file that is being read, and the last status of that: those errors already name the file. */
typedef struct reading {
    vit_image_file *file;
    vit_status status;
} reading;

static vit_status read_rows(void *context, uint8_t *rows, size_t count, vit_error *error) {
    reading *r = context;
    r->status = vit_image_read_rows(r->file, rows, count, error);
    return r->status;
}

static vit_status narrow_rows(void *context, size_t *left, size_t *width, vit_error *error) {
    reading *r = context;
    r->status = vit_image_narrow(r->file, left, width, error);
    return r->status;
}

/* *window = what the operation, a centre crop, keeps of width x height; false: it is another, or it
 * goes past the picture. */
static bool crop_window(vit_window *window, const vit_operation *op, size_t width, size_t height) {
    if (op->kind != VIT_OP_CENTER_CROP || op->width > width || op->height > height) return false;
    *window = (vit_window){(size_t)center_offset(width, op->width, op->rounding),
                           (size_t)center_offset(height, op->height, op->rounding), op->width,
                           op->height};
    return true;
}

/* Where the first operation that changes a JPEG is a resize, its rows are resized, and cropped by a
 * crop after it, as they are read. */
vit_status vit_preprocess_opened(vit_image *out, vit_image_file *file, const vit_preprocessing *p,
                                 size_t height, size_t width, size_t channels,
                                 const vit_kernels *kernels, vit_error *error) {
    reading r = {.file = file};
    vit_image *image = &file->image, resized;
    const vit_operation *op = p->operations, *end = p->operations + p->count;
    vit_status status;
    *out = (vit_image){0};
    while (file->jpeg && op < end && is_idle(op, image)) op++;
    if (file->jpeg && op < end && op->kind == VIT_OP_RESIZE) {
        const vit_image_rows rows = {image->width, image->height, image->channels,
                                     narrow_rows,  read_rows,     &r};
        vit_window window = {0};
        resize_target(op, image, &window.width, &window.height);
        const size_t wide = window.width, high = window.height;
        const bool is_cropped = op + 1 < end && crop_window(&window, op + 1, wide, high);
        status = vit_image_resize_rows(&resized, &rows, wide, high, &window, op->filter,
                                       op->arithmetic, kernels, error);
        if (status == VIT_OK) {
            resized.orientation = image->orientation;
            *image = resized;
        }
        op += is_cropped ? 2 : 1;
    } else {
        op = p->operations;
        status = r.status = vit_image_read(file, error);
    }
    if (status == VIT_OK)
        status = run(out, image, p, (size_t)(op - p->operations), height, width, channels, kernels,
                     error);
    return status == r.status ? status : vit_fail_prefix(error, status, file->name);
}

vit_status vit_preprocess_bytes(vit_image *out, const void *bytes, size_t size, const char *name,
                                const vit_preprocessing *p, size_t height, size_t width,
                                size_t channels, const vit_kernels *kernels, vit_error *error) {
    vit_image_file file;
    *out = (vit_image){0};
    vit_status status = vit_image_open(&file, bytes, size, name, error);
    if (status != VIT_OK) return status;
    status = vit_preprocess_opened(out, &file, p, height, width, channels, kernels, error);
    vit_image_close(&file);
    return status;
}

static float normalize(const vit_operation *op, size_t channel, int level) {
    const float mean = op->mean[channel], std = op->std[channel];
    if (op->rescale == 0) return ((float)level / 255.0F - mean) / std;
    if (!op->fused) return ((float)(level * op->rescale) - mean) / std;
    const float inverse = (float)(1.0 / op->rescale);
    return ((float)level - mean * inverse) / (std * inverse);
}

bool vit_preprocessing_has_floats(const vit_preprocessing *p) {
    for (size_t i = 0; i < p->count; i++)
        if (p->operations[i].kind == VIT_OP_RESIZE &&
            p->operations[i].arithmetic == VIT_ARITHMETIC_FLOAT)
            return true;
    return false;
}

void vit_normalize_table(float table[][256], const vit_preprocessing *p, size_t channels) {
    const vit_operation *op = &p->operations[p->count - 1];
    for (size_t c = 0; c < channels; c++)
        for (int v = 0; v < 256; v++) table[c][v] = normalize(op, c, v);
}

void vit_normalize_prepared(float *image, const vit_image *ready, const vit_preprocessing *p,
                            const float *table) {
    const vit_operation *op = &p->operations[p->count - 1];
    const size_t pixels = ready->width * ready->height, channels = ready->channels;
    const float rescale = op->rescale > 0 ? (float)op->rescale : 1 / 255.F;
    if (!ready->floats) {
        vit_normalize(image, ready->pixels, pixels, channels, table);
        return;
    }
    for (size_t i = 0; i < pixels * channels; i++)
        image[i] = (ready->floats[i] * rescale - op->mean[i % channels]) / op->std[i % channels];
}

void vit_normalize(float *image, const uint8_t *bytes, size_t pixels, size_t channels,
                   const float *table) {
    for (size_t c = 0; c < channels; c++) /* one channel after the other is faster */
        for (size_t i = c; i < pixels * channels; i += channels)
            image[i] = table[c * 256 + bytes[i]];
}
