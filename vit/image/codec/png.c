#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/formats/inflate.h"
#include "vit/image/codec/codecs.h"
#include "vit/image/pixels.h"

#include <string.h>

/* stb_image does not get the file itself, but a minimal PNG made from it: header, transparent
 * color, all data in one chunk, end. zlib has decompressed the data by then, as it checks them and
 * stops where the pixels end; for stb_image they are a stream without compression. A palette
 * picture becomes a grey one whose samples are the indices, since stb_image would read
 * uninitialised memory for indices beyond the palette. */

enum {
    HEADER_END = 8 + 13 + VIT_PNG_FRAME, /* every file begins with the signature and IHDR */
    COLOR_TYPE = 8 + 8 + 9,              /* the offset of the color type */
    BLOCK = 65535,                       /* bytes in a block that is not compressed, at most */
    BLOCK_HEAD = 5,                      /* 1 in the last one, else 0; size; its complement */
    STREAM_HEAD = 2,
    STREAM_END = 4, /* the checksum, which stb_image ignores */
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

/* The data of the IDAT chunks, which follow each other, as they are decompressed. */
typedef struct png_data {
    z_stream zlib;
    const uint8_t *next; /* the data of the next chunk */
    size_t left;         /* bytes in the chunks from there on */
} png_data;

/* Decompresses as much as there is room for, up to the end of a chunk. */
static int step(png_data *d) {
    while (d->zlib.avail_in == 0 && d->left > 0) {
        const size_t size = vit_png_number(d->next - 8);
        d->zlib.next_in = d->next;
        d->zlib.avail_in = (uInt)size;
        d->next += size + VIT_PNG_FRAME;
        d->left -= size;
    }
    return inflate(&d->zlib, Z_NO_FLUSH);
}

/* Decompresses until p[size] is full, or until the last checksum if size is 0. */
static int fill(png_data *d, uint8_t *p, size_t size) {
    int status = Z_OK;
    d->zlib.next_out = p;
    d->zlib.avail_out = (uInt)size;
    while (status == Z_OK && (size == 0 || d->zlib.avail_out > 0)) status = step(d);
    return d->zlib.avail_out == 0 && status == Z_STREAM_END ? Z_OK : status;
}

/* Writes a stream of the png->inflated bytes that the data decompress to, in blocks. More than
 * these are left out, as by Pillow; so is a missing checksum. */
static int put_blocks(uint8_t *p, png_data *d, size_t left) {
    int status = Z_OK;
    memcpy(p, "\x78\x01", STREAM_HEAD);
    p += STREAM_HEAD;
    while (left > 0 && status == Z_OK) {
        const size_t size = vit_min(left, BLOCK);
        left -= size;
        *p++ = left == 0;
        for (int i = 0; i < 2; i++) {
            p[i] = (uint8_t)(size >> 8 * i);
            p[2 + i] = (uint8_t)~p[i];
        }
        p += BLOCK_HEAD - 1;
        status = fill(d, p, size);
        p += size;
    }
    if (status != Z_OK) return status;
    status = fill(d, p, 0);
    return status == Z_BUF_ERROR ? Z_OK : status;
}

static size_t stream_size(const vit_png *png) {
    const size_t blocks = (png->inflated + BLOCK - 1) / BLOCK;
    return STREAM_HEAD + blocks * BLOCK_HEAD + png->inflated + STREAM_END;
}

/* Writes the IDAT chunk. */
static vit_status put_data(uint8_t *p, const vit_png *png, const char *name, vit_error *error) {
    png_data d = {.zlib = vit_inflate_stream(), .next = png->data, .left = png->data_size};
    if (inflateInit(&d.zlib) != Z_OK) return vit_fail_memory(error, name, 0);
    const int status = put_blocks(begin_chunk(p, "IDAT", stream_size(png)), &d, png->inflated);
    const bool is_whole = d.zlib.total_out == png->inflated;
    inflateEnd(&d.zlib);
    if (status == Z_OK) return VIT_OK;
    if (status == Z_MEM_ERROR) return vit_fail_memory(error, name, 0);
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: corrupt PNG: its compressed pixels %s", name,
                    status != Z_DATA_ERROR ? "end too early"
                    : is_whole             ? "have another checksum (Adler-32) than it says"
                                           : "are damaged");
}

/* Makes the PNG for stb_image. */
static vit_status rebuild(vit_bytes *out, const vit_png *png, const uint8_t *bytes,
                          const char *name, vit_error *error) {
    const size_t room = HEADER_END + 3 * VIT_PNG_FRAME + png->transparency_size + stream_size(png);
    *out = (vit_bytes){vit_alloc_unset(room, 1), room};
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
    const vit_status status = put_data(p, png, name, error);
    p += stream_size(png) + VIT_PNG_FRAME;
    put_u32(begin_chunk(p, "IEND", 0), 0);
    out->size = (size_t)(p - out->data) + VIT_PNG_FRAME;
    return status;
}

/* How much stb_image may allocate altogether: the data; four times their size, since it guesses the
 * size without the rows that interlacing adds and doubles it if it was too small; the pixels twice,
 * as for interlacing, and once more for the conversion from 16 bits to 8; and some for the smallest
 * pictures. */
static size_t budget_of(const vit_png *png) {
    size_t samples = png->width * png->height * (png->samples + (png->transparency ? 1 : 0));
    size_t sample_bytes = png->depth == 16 ? 2 : 1;
    return stream_size(png) + 4 * png->inflated + samples * (2 * sample_bytes + 1) + (1 << 16);
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
