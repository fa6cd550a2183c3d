#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/image/codec/codecs.h"
#include "vit/image/pixels.h"

#include <string.h>

enum {
    HEADER_END = 8 + 13 + VIT_PNG_FRAME, /* every file begins with the signature and IHDR */
    COLOR_TYPE = 8 + 8 + 9,              /* the offset of the color type */
    LEAST_ALLOCATION = 4096,             /* of stb_image, for the data of a file */
};

/* How much stb_image may allocate altogether: room for the IDAT chunks, which it doubles as they
 * come; their data when decompressed; the pixels twice, as for interlacing, and once more for the
 * conversion from 16 bits to 8; and some for the smallest pictures. */
static size_t budget_of(const vit_png *png) {
    const size_t samples = png->width * png->height * (png->samples + (png->transparency ? 1 : 0));
    const size_t sample_bytes = png->depth == 16 ? 2 : 1;
    return 4 * vit_max(png->data_size, LEAST_ALLOCATION) + png->inflated +
           samples * (2 * sample_bytes + 1) + (1 << 16);
}

static vit_status decode(vit_image *out, const vit_png *png, const uint8_t *bytes, size_t size,
                         const char *name, vit_error *error) {
    const vit_stb_file file = {
        .bytes = bytes, .size = size, .budget = budget_of(png), .inflated = png->inflated};
    return vit_stb_decode(out, &file, name, error);
}

/* ---- palettes ---- */

/* A picture of indices: the file with the color type of grey, from its first IDAT chunk on. The
 * palette is applied here, since stb_image reads uninitialised memory for indices beyond it. */
static vit_status decode_indices(vit_image *out, const vit_png *png, const uint8_t *bytes,
                                 const char *name, vit_error *error) {
    const size_t data = (size_t)(png->data - bytes) - 8; /* with the chunk's length and type */
    const size_t size = HEADER_END + png->size - data;
    uint8_t *file = vit_alloc_unset(size, 1);
    if (!file) return vit_fail_memory(error, name, size);
    memcpy(file, bytes, HEADER_END);
    memcpy(file + HEADER_END, bytes + data, png->size - data);
    file[COLOR_TYPE] = VIT_PNG_GREY;
    vit_png grey = *png;
    grey.transparency = NULL;
    const vit_status status = decode(out, &grey, file, size, name, error);
    vit_free(file);
    return status;
}

/* The samples of `grey` are indices that stb_image has scaled to 0..255 like grey levels. */
static vit_status expand_palette(vit_image *out, const vit_image *grey, const vit_png *png,
                                 const char *name, vit_error *error) {
    size_t channels = png->transparency ? 4 : 3, count = grey->width * grey->height;
    unsigned scale = 255U / ((1U << png->depth) - 1);
    vit_status status = vit_image_new(out, name, grey->width, grey->height, channels, error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < count; i++) {
        size_t index = grey->pixels[i] / scale;
        if (index >= png->palette_count) {
            vit_image_free(out);
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "%s: corrupt PNG: a pixel has color %zu, the palette %zu colors", name,
                            index, png->palette_count);
        }
        uint8_t *pixel = out->pixels + i * channels;
        memcpy(pixel, png->palette + 3 * index, 3);
        if (channels == 4)
            pixel[3] = index < png->transparency_size ? png->transparency[index] : 255;
    }
    return VIT_OK;
}

vit_status vit_png_decode(vit_image *out, const vit_png *png, const uint8_t *bytes,
                          const char *name, vit_error *error) {
    vit_image grey = {0};
    vit_status status;
    *out = (vit_image){0};
    if (png->color != VIT_PNG_PALETTE) {
        status = decode(out, png, bytes, png->size, name, error);
    } else {
        status = decode_indices(&grey, png, bytes, name, error);
        if (status == VIT_OK) status = expand_palette(out, &grey, png, name, error);
        vit_image_free(&grey);
    }
    if (status == VIT_OK) out->orientation = png->orientation;
    return status;
}
