#include "vit/base/sys.h"
#include "vit/image/pixels.h"

#include <string.h>

void vit_image_free(vit_image *image) {
    vit_free(image->pixels);
    vit_free(image->floats);
    *image = (vit_image){0};
}

/* Sizes that pass can be multiplied without overflow. */
static vit_status check_size(const char *what, size_t width, size_t height, vit_error *error) {
    if (width >= 1 && height >= 1 && width <= VIT_IMAGE_MAX_SIDE && height <= VIT_IMAGE_MAX_SIDE &&
        width * height <= VIT_IMAGE_MAX_PIXELS)
        return VIT_OK;
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    "%s: %zu x %zu pixels; a picture has 1 to %zu a side and at most %zu in all",
                    what, width, height, VIT_IMAGE_MAX_SIDE, VIT_IMAGE_MAX_PIXELS);
}

vit_status vit_image_new(vit_image *out, const char *what, size_t width, size_t height,
                         size_t channels, vit_error *error) {
    *out = (vit_image){0};
    vit_status status = check_size(what, width, height, error);
    if (status != VIT_OK) return status;
    if (channels < 1 || channels > 4)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "%s: %zu channels, expected 1 to 4", what,
                        channels);
    uint8_t *pixels = vit_alloc(width * height, channels);
    if (!pixels) return vit_fail_memory(error, what, width * height * channels);
    *out = (vit_image){.pixels = pixels, .width = width, .height = height, .channels = channels};
    return VIT_OK;
}

vit_status vit_image_from_pixels(vit_image *out, const uint8_t *pixels, size_t width, size_t height,
                                 size_t channels, size_t stride, vit_error *error) {
    *out = (vit_image){0};
    if (!pixels) return vit_fail(error, VIT_ERROR_ARGUMENT, "pixels: the pointer is NULL");
    vit_status status = vit_image_new(out, "pixels", width, height, channels, error);
    if (status != VIT_OK) return status;
    size_t row = width * channels;
    if (stride < row) {
        vit_image_free(out);
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "pixels: rows are %zu bytes apart, %zu pixels of %zu bytes need %zu",
                        stride, width, channels, row);
    }
    for (size_t y = 0; y < height; y++) memcpy(out->pixels + y * row, pixels + y * stride, row);
    return VIT_OK;
}

static void rgb_to_grey(uint8_t *to, const uint8_t *from, size_t count, size_t step) {
    for (size_t i = 0; i < count; i++, from += step) {
        uint32_t sum = 19595U * from[0] + 38470U * from[1] + 7471U * from[2];
        to[i] = (uint8_t)((sum + (1U << 15)) >> 16);
    }
}

static void grey_to_rgb(uint8_t *to, const uint8_t *from, size_t count, size_t step) {
    for (size_t i = 0; i < count; i++, to += 3) to[0] = to[1] = to[2] = from[i * step];
}

/* The first `channels` of the `step` channels of each pixel. */
static void drop_alpha(uint8_t *to, const uint8_t *from, size_t count, size_t channels,
                       size_t step) {
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < channels; c++) to[i * channels + c] = from[i * step + c];
}

vit_status vit_image_convert(vit_image *out, const vit_image *in, size_t channels,
                             vit_error *error) {
    size_t count = in->width * in->height, colors = in->channels < 3 ? 1 : 3;
    *out = (vit_image){0};
    if (channels != 1 && channels != 3)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "convert: %zu channels, expected 1 or 3",
                        channels);
    vit_status status = vit_image_new(out, "convert", in->width, in->height, channels, error);
    if (status != VIT_OK) return status;
    if (in->channels == channels)
        memcpy(out->pixels, in->pixels, count * channels);
    else if (colors == channels)
        drop_alpha(out->pixels, in->pixels, count, channels, in->channels);
    else if (channels == 1)
        rgb_to_grey(out->pixels, in->pixels, count, in->channels);
    else
        grey_to_rgb(out->pixels, in->pixels, count, in->channels);
    return VIT_OK;
}

/* The length of the part of [start, start + length) that is within [0, limit); *skipped is how much
 * of it comes before. */
static size_t overlap(ptrdiff_t start, size_t length, size_t limit, size_t *skipped) {
    size_t skip = start < 0 ? (size_t)0 - (size_t)start : 0;
    size_t first = start < 0 ? 0 : (size_t)start;
    *skipped = skip;
    if (skip >= length || first >= limit) return 0;
    return length - skip < limit - first ? length - skip : limit - first;
}

vit_status vit_image_crop(vit_image *out, const vit_image *in, ptrdiff_t left, ptrdiff_t top,
                          size_t width, size_t height, const uint8_t background[3],
                          vit_error *error) {
    const size_t channels = in->channels;
    vit_status status = vit_image_new(out, "crop", width, height, channels, error);
    if (status != VIT_OK) return status;
    if (background && (channels == 1 || channels == 3))
        for (size_t i = 0; i < width * height; i++)
            for (size_t c = 0; c < channels; c++) out->pixels[i * channels + c] = background[c];
    if (in->floats) {
        out->floats = vit_alloc(width * height, channels * sizeof *out->floats);
        if (!out->floats) {
            vit_image_free(out);
            return vit_fail_memory(error, "crop", width * height * channels * sizeof(float));
        }
        for (size_t i = 0; i < width * height * channels; i++) out->floats[i] = out->pixels[i];
    }
    size_t x, y;
    const size_t columns = overlap(left, width, in->width, &x);
    const size_t rows = overlap(top, height, in->height, &y);
    if (columns == 0) return VIT_OK;
    for (size_t i = y; i < y + rows; i++) {
        size_t from_x = (size_t)left + x, from_y = (size_t)top + i; /* wrap around to >= 0 */
        const size_t to = (i * width + x) * channels,
                     from = (from_y * in->width + from_x) * channels;
        memcpy(out->pixels + to, in->pixels + from, columns * channels);
        if (out->floats)
            memcpy(out->floats + to, in->floats + from, columns * channels * sizeof *in->floats);
    }
    return VIT_OK;
}

/* Pixels are copied in squares of this side, so that a picture which is rotated uses every cache
 * line that it reads more than once. */
enum { TILE = 32 };

static void orient_tile(vit_image *out, const vit_image *in, size_t left, size_t top) {
    const unsigned how = in->orientation;
    const bool turned = how >= 5, mirror_x = how == 2 || how == 3 || how == 7 || how == 8;
    const bool mirror_y = how == 3 || how == 4 || how == 6 || how == 7;
    const size_t right = left + TILE < out->width ? left + TILE : out->width;
    const size_t bottom = top + TILE < out->height ? top + TILE : out->height;
    for (size_t y = top; y < bottom; y++) {
        uint8_t *to = out->pixels + (y * out->width + left) * in->channels;
        for (size_t x = left; x < right; x++, to += in->channels) {
            size_t from_x = turned ? y : x, from_y = turned ? x : y;
            if (mirror_x) from_x = in->width - 1 - from_x;
            if (mirror_y) from_y = in->height - 1 - from_y;
            const uint8_t *from = in->pixels + (from_y * in->width + from_x) * in->channels;
            for (size_t c = 0; c < in->channels; c++) to[c] = from[c];
        }
    }
}

vit_status vit_image_orient(vit_image *out, const vit_image *in, vit_error *error) {
    const bool turned = in->orientation >= 5 && in->orientation <= 8;
    vit_image source = *in;
    if (source.orientation > 8) source.orientation = 1;
    vit_status status = vit_image_new(out, "orient", turned ? in->height : in->width,
                                      turned ? in->width : in->height, in->channels, error);
    if (status != VIT_OK) return status;
    for (size_t y = 0; y < out->height; y += TILE)
        for (size_t x = 0; x < out->width; x += TILE) orient_tile(out, &source, x, y);
    return VIT_OK;
}

vit_status vit_image_composite(vit_image *out, const vit_image *in, const uint8_t background[3],
                               vit_error *error) {
    const bool has_alpha = in->channels == 2 || in->channels == 4;
    const size_t colors = in->channels < 3 ? 1 : 3, count = in->width * in->height;
    uint8_t under[3] = {background[0], background[1], background[2]};
    vit_status status = vit_image_new(out, "composite", in->width, in->height, colors, error);
    if (status != VIT_OK) return status;
    if (!has_alpha) {
        memcpy(out->pixels, in->pixels, count * colors);
        return VIT_OK;
    }
    if (colors == 1) rgb_to_grey(under, background, 1, 3);
    const uint8_t *from = in->pixels;
    uint8_t *to = out->pixels;
    for (size_t i = 0; i < count; i++, from += colors + 1, to += colors) {
        const unsigned alpha = from[colors];
        for (size_t c = 0; c < colors; c++)
            to[c] = (uint8_t)((alpha * from[c] + (255 - alpha) * under[c] + 127) / 255);
    }
    return VIT_OK;
}
