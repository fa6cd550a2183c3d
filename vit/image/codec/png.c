#include "vit/base/sys.h"
#include "vit/image/codec/codecs.h"
#include "vit/image/pixels.h"

#include <string.h>

/* stb_image does not get the file itself, but a minimal PNG made from it: header, transparent
 * color, all data in one chunk, end. A palette picture becomes a grey one whose samples are the
 * indices, since stb_image would read uninitialised memory for indices beyond the palette. */

enum {
    HEADER_END = 8 + 13 + VIT_PNG_FRAME, /* every file begins with the signature and IHDR */
    COLOR_TYPE = 8 + 8 + 9,              /* the offset of the color type */
};

static uint8_t *put_u32(uint8_t *p, size_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) *p++ = (uint8_t)(value >> shift);
    return p;
}

/* Writes length and type. After the data comes a CRC of 0, as stb_image ignores it. */
static uint8_t *begin_chunk(uint8_t *p, const char *type, size_t size) {
    p = put_u32(p, size);
    memcpy(p, type, 4);
    return p + 4;
}

/* Writes the IDAT chunks, which follow each other, as one. */
static uint8_t *put_data(uint8_t *p, const vit_png *png) {
    const uint8_t *from = png->data;
    p = begin_chunk(p, "IDAT", png->data_size);
    for (size_t left = png->data_size; left;) {
        size_t size = vit_png_number(from - 8);
        memcpy(p, from, size);
        p += size;
        from += size + VIT_PNG_FRAME;
        left -= size;
    }
    return put_u32(p, 0);
}

/* Makes the PNG for stb_image. */
static vit_status rebuild(vit_bytes *out, const vit_png *png, const uint8_t *bytes,
                          const char *name, vit_error *error) {
    size_t room = HEADER_END + 3 * VIT_PNG_FRAME + png->transparency_size + png->data_size;
    out->data = vit_alloc(room, 1);
    if (!out->data) return vit_fail_memory(error, name, room);
    memcpy(out->data, bytes, HEADER_END);
    uint8_t *p = out->data + HEADER_END;
    if (png->color == VIT_PNG_PALETTE) {
        out->data[COLOR_TYPE] = VIT_PNG_GREY;
    } else if (png->transparency) {
        p = begin_chunk(p, "tRNS", png->transparency_size);
        memcpy(p, png->transparency, png->transparency_size);
        p = put_u32(p + png->transparency_size, 0);
    }
    p = put_data(p, png);
    p = put_u32(begin_chunk(p, "IEND", 0), 0);
    out->size = (size_t)(p - out->data);
    return VIT_OK;
}

/* How much stb_image may allocate altogether: the compressed data (at least 4096 bytes); four times
 * the decompressed data, since it guesses the size without the rows that interlacing adds and
 * doubles it if it was too small; the pixels twice, as for interlacing, and once more for the
 * conversion from 16 bits to 8; and some for the smallest pictures. */
static size_t budget_of(const vit_png *png) {
    size_t samples = png->width * png->height * (png->samples + (png->transparency ? 1 : 0));
    size_t sample_bytes = png->depth == 16 ? 2 : 1;
    return png->data_size + 4 * png->inflated + samples * (2 * sample_bytes + 1) + (1 << 16);
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
    vit_bytes small = {0};
    vit_image image = {0};
    *out = (vit_image){0};
    vit_status status = rebuild(&small, png, bytes, name, error);
    if (status == VIT_OK)
        status = vit_stb_decode(&image, small.data, small.size, budget_of(png), name, error);
    vit_free(small.data);
    if (status != VIT_OK) return status;
    if (png->color == VIT_PNG_PALETTE) {
        status = expand_palette(out, &image, png, name, error);
        vit_image_free(&image);
    } else {
        *out = image;
    }
    out->orientation = png->orientation;
    return status;
}
