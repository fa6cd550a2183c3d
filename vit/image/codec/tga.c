#include "vit/base/size.h"
#include "vit/image/codec/source.h"
#include "vit/image/pixels.h"

#include <string.h>

/* stb_image reads pixels of 8, 24 and 32 bits. It has no alpha in 16 bits, knows neither rows from
 * the right nor the extension that says that there is no alpha, skips the wrong bytes before a
 * palette, and takes its first color for indices beyond it.
 *
 * Truevision Targa: a header of 18 bytes, a name, a palette, pixels of 1 to 4 bytes with or without
 * run lengths, and in version 2 a footer. Numbers are little-endian. The same variants as by
 * Pillow, with the same pixels. */

enum {
    HEADER = 18,
    FOOTER = 26,
    ATTRIBUTES = 494, /* the place in the footer's extension that says what alpha means */
    PALETTE = 1,      /* kinds of pixels */
    COLOR = 2,
    GREY = 3,
    RUNS = 8, /* with run lengths: 8 more */
    FROM_RIGHT = 0x10,
    FROM_TOP = 0x20,
};

static const char signature[18] = "TRUEVISION-XFILE.";

typedef struct tga {
    const vit_source *source;
    size_t width, height;
    unsigned kind, flags;
    bool has_runs;
    size_t bytes;    /* of a pixel */
    size_t channels; /* of a pixel of the picture */
    const uint8_t *palette;
    size_t first_color, colors, color_bytes;
    size_t data;    /* the offset of the pixels */
    bool is_opaque; /* alpha means nothing */
} tga;

static bool has_footer(const uint8_t *bytes, size_t size) {
    return size >= HEADER + FOOTER &&
           memcmp(bytes + size - sizeof signature, signature, sizeof signature) == 0;
}

static bool is_kind(unsigned kind, bool has_palette, unsigned bits) {
    switch (kind & ~(unsigned)RUNS) {
    case PALETTE:
        return has_palette && bits == 8;
    case COLOR:
        return bits == 16 || bits == 24 || bits == 32;
    case GREY:
        return bits == 8 || bits == 16;
    default:
        return false;
    }
}

bool vit_tga_recognise(const uint8_t *bytes, size_t size) {
    static const uint8_t none[5] = {0};
    if (size < HEADER) return false;
    if (has_footer(bytes, size)) return true;
    const bool has_palette = bytes[1] == 1;
    const bool fits_palette = has_palette ? vit_le16(bytes + 5) >= 1 && vit_le16(bytes + 5) <= 256
                                          : bytes[1] == 0 && memcmp(bytes + 3, none, 5) == 0;
    return fits_palette && is_kind(bytes[2], has_palette, bytes[16]) && vit_le16(bytes + 12) > 0 &&
           vit_le16(bytes + 14) > 0 && (bytes[17] & 0xc0) == 0;
}

/* 16, 24 or 32 bits; alpha of 16 bits is inverted. */
static void put_color(uint8_t *to, const uint8_t *from, size_t bytes) {
    if (bytes == 2) {
        vit_rgb_of_15_bits(to, vit_le16(from));
        to[3] = from[1] & 0x80 ? 0 : 255;
        return;
    }
    for (int i = 0; i < 3; i++) to[i] = from[2 - i];
    if (bytes == 4) to[3] = from[3];
}

static vit_status put_pixel(const tga *t, size_t index, uint8_t *to, const uint8_t *from) {
    const size_t row = index / t->width, column = index % t->width;
    const size_t y = t->flags & FROM_TOP ? row : t->height - 1 - row;
    const size_t x = t->flags & FROM_RIGHT ? t->width - 1 - column : column;
    to += (y * t->width + x) * t->channels;
    switch (t->kind) {
    case PALETTE:
        if (*from < t->first_color || *from - t->first_color >= t->colors)
            return vit_source_corrupt(t->source,
                                      "a pixel has color %u, the palette %zu from %zu on", *from,
                                      t->colors, t->first_color);
        put_color(to, t->palette + (*from - t->first_color) * t->color_bytes, t->color_bytes);
        break;
    case COLOR:
        put_color(to, from, t->bytes);
        break;
    default:
        memcpy(to, from, t->bytes);
        return VIT_OK;
    }
    if (t->channels == 4 && t->is_opaque && t->kind == COLOR) to[3] = 255;
    return VIT_OK;
}

static vit_status read_palette(tga *t, const uint8_t *header) {
    const vit_source *s = t->source;
    t->first_color = vit_le16(header + 3);
    t->colors = vit_le16(header + 5);
    t->color_bytes = header[7] / 8;
    if (header[7] != 16 && header[7] != 24 && header[7] != 32)
        return vit_source_refuse(s, "has a palette of %u bits a color; 16, 24 and 32 are read",
                                 header[7]);
    if (s->size < t->data || (s->size - t->data) / t->color_bytes < t->colors)
        return vit_source_truncated(s);
    t->palette = s->bytes + t->data;
    t->data += t->colors * t->color_bytes;
    return VIT_OK;
}

/* Whether stb_image reads it as Pillow does. */
static bool suits_stb(const tga *t) {
    if (t->flags & FROM_RIGHT) return false;
    switch (t->kind) {
    case PALETTE:
        return t->first_color == 0 && t->colors == 256 && t->color_bytes >= 3;
    case COLOR:
        return !t->palette && t->bytes >= 3 && !(t->bytes == 4 && t->is_opaque);
    default:
        return !t->palette;
    }
}

/* In version 2 an extension may say that the fourth sample is not alpha. */
static bool is_opaque(const vit_source *s) {
    if (!has_footer(s->bytes, s->size)) return false;
    const size_t extension = vit_le32(s->bytes + s->size - FOOTER);
    return extension != 0 && extension + ATTRIBUTES < s->size &&
           s->bytes[extension + ATTRIBUTES] == 0;
}

static vit_status read_header(tga *t) {
    const vit_source *s = t->source;
    const uint8_t *h = s->bytes;
    const unsigned bits = h[16];
    if (h[1] > 1 || !is_kind(h[2], h[1] == 1, bits) || (h[17] & 0xc0) != 0)
        return vit_source_refuse(s,
                                 "is of kind %u with %u bits a pixel%s, which is not read: save "
                                 "it as a PNG",
                                 h[2], bits, h[1] ? " and a palette" : "");
    t->width = vit_le16(h + 12);
    t->height = vit_le16(h + 14);
    t->kind = h[2] & ~(unsigned)RUNS;
    t->has_runs = (h[2] & RUNS) != 0;
    t->flags = h[17];
    t->bytes = bits / 8;
    t->data = HEADER + h[0];
    t->is_opaque = is_opaque(s);
    vit_status status = vit_source_check_pixels(s, t->width, t->height);
    if (status == VIT_OK && h[1] == 1) status = read_palette(t, h);
    const size_t bytes = t->kind == PALETTE ? t->color_bytes : t->bytes;
    t->channels = t->kind == GREY ? bytes : bytes == 3 ? 3 : 4;
    return status;
}

/* Runs begin with a byte: the highest bit says that one pixel is repeated, the others are its
 * number less 1. */
static size_t run_length(uint8_t head) {
    return (head & 0x7fU) + 1;
}

static bool repeats_one(uint8_t head) {
    return (head & 0x80) != 0;
}

/* Whether the file does not end before its picture does. */
static bool has_pixels(const tga *t) {
    const vit_source *s = t->source;
    size_t at = t->data, left = t->width * t->height;
    if (at > s->size) return false;
    if (!t->has_runs) return (s->size - at) / t->bytes >= left;
    while (left > 0) {
        if (at >= s->size) return false;
        const uint8_t head = s->bytes[at++];
        const size_t count = vit_min(run_length(head), left);
        at += (repeats_one(head) ? 1 : count) * t->bytes;
        left -= count;
    }
    return at <= s->size;
}

static vit_status read_pixels(vit_image *out, const tga *t) {
    const size_t count = t->width * t->height;
    const uint8_t *from = t->source->bytes + t->data;
    size_t left = 0; /* in the run */
    bool repeats = false;
    for (size_t i = 0; i < count; i++) {
        if (t->has_runs && left == 0) {
            repeats = repeats_one(*from);
            left = run_length(*from++);
        }
        const vit_status status = put_pixel(t, i, out->pixels, from);
        if (status != VIT_OK) return status;
        if (t->has_runs) left--;
        if (!repeats || left == 0) from += t->bytes;
    }
    return VIT_OK;
}

vit_status vit_tga_read(vit_image *out, const vit_source *source, bool header) {
    tga t = {.source = source};
    vit_status status = read_header(&t);
    if (status != VIT_OK) return status;
    *out = (vit_image){.width = t.width, .height = t.height};
    if (header) return VIT_OK;
    if (!has_pixels(&t)) return vit_source_truncated(source);
    if (suits_stb(&t)) return vit_stb_read(out, source, t.channels);
    status = vit_image_new(out, source->name, t.width, t.height, t.channels, source->error);
    return status == VIT_OK ? read_pixels(out, &t) : status;
}
