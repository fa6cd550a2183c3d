#include "vit/image/codec/codecs.h"

#include <string.h>
#include <zlib.h>

/* PNG (ISO/IEC 15948): a signature, then chunks of {length, type, data, CRC-32 of type and data},
 * numbers big-endian. */

static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

/* Deflate's longest match is 258 bytes and takes at least two bits. */
static const size_t max_deflate_ratio = 1032;

#define CHUNK_TYPE(a, b, c, d) ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (c) << 8 | (d))

typedef struct chunk {
    uint32_t type;
    char label[5]; /* the type as text */
    const uint8_t *data;
    size_t size;
} chunk;

typedef struct png_walk {
    vit_png *png;
    const uint8_t *bytes;
    size_t size, at;
    bool is_data_over; /* another chunk has followed the IDAT chunks */
    const char *name;
    vit_error *error;
} png_walk;

bool vit_png_recognise(const uint8_t *bytes, size_t size) {
    return size >= sizeof signature && memcmp(bytes, signature, sizeof signature) == 0;
}

static bool is_letter(uint8_t c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static vit_status next_chunk(png_walk *w, chunk *c) {
    const uint8_t *p = w->bytes + w->at;
    size_t left = w->size - w->at;
    if (left < VIT_PNG_FRAME)
        return vit_fail(w->error, VIT_ERROR_FORMAT,
                        "%s: truncated PNG: it ends after %zu bytes without an IEND chunk", w->name,
                        w->size);
    c->size = vit_png_number(p);
    c->type = vit_png_number(p + 4);
    c->data = p + 8;
    for (int i = 0; i < 4; i++) {
        if (!is_letter(p[4 + i]))
            return vit_fail(w->error, VIT_ERROR_FORMAT,
                            "%s: corrupt PNG: no chunk begins at byte %zu", w->name, w->at);
    }
    memcpy(c->label, p + 4, 4);
    c->label[4] = 0;
    if (c->size > left - VIT_PNG_FRAME)
        return vit_fail(w->error, VIT_ERROR_FORMAT,
                        "%s: truncated PNG: chunk %s claims %zu bytes, the file has %zu left",
                        w->name, c->label, c->size, left - VIT_PNG_FRAME);
    uint32_t found = (uint32_t)crc32_z(0, p + 4, c->size + 4);
    uint32_t stored = vit_png_number(c->data + c->size);
    if (found != stored)
        return vit_fail(w->error, VIT_ERROR_FORMAT,
                        "%s: corrupt PNG: chunk %s at byte %zu has CRC %08x, expected %08x",
                        w->name, c->label, w->at, found, stored);
    w->at += VIT_PNG_FRAME + c->size;
    return VIT_OK;
}

static vit_status corrupt(const png_walk *w, const char *what) {
    return vit_fail(w->error, VIT_ERROR_FORMAT, "%s: corrupt PNG: %s", w->name, what);
}

static bool is_depth_valid(vit_png_color color, unsigned depth) {
    switch (color) {
    case VIT_PNG_GREY:
        return depth == 1 || depth == 2 || depth == 4 || depth == 8 || depth == 16;
    case VIT_PNG_PALETTE:
        return depth == 1 || depth == 2 || depth == 4 || depth == 8;
    case VIT_PNG_RGB:
    case VIT_PNG_GREY_ALPHA:
    case VIT_PNG_RGB_ALPHA:
        return depth == 8 || depth == 16;
    }
    return false;
}

/* The bytes of rows, each of which is a filter type and its samples, rounded up to whole bytes; 0
 * if there are no columns. */
static size_t rows_size(const vit_png *png, size_t width, size_t height) {
    size_t bits = width * png->samples * png->depth;
    return width ? height * (1 + (bits + 7) / 8) : 0;
}

/* Interlacing (Adam7) is seven passes, each a picture of the pixels at x, x + step_x, ... and y, y
 * + step_y, ... */
static size_t inflated_size(const vit_png *png) {
    static const struct {
        uint8_t x, y, step_x, step_y;
    } passes[7] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                   {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
    if (!png->interlaced) return rows_size(png, png->width, png->height);
    size_t total = 0;
    for (int i = 0; i < 7; i++) {
        size_t width = (png->width + passes[i].step_x - 1 - passes[i].x) / passes[i].step_x;
        size_t height = (png->height + passes[i].step_y - 1 - passes[i].y) / passes[i].step_y;
        total += rows_size(png, width, height);
    }
    return total;
}

static vit_status check_header(png_walk *w, const chunk *c) {
    vit_png *png = w->png;
    if (c->size != 13) return corrupt(w, "its IHDR chunk is not 13 bytes long");
    png->width = vit_png_number(c->data);
    png->height = vit_png_number(c->data + 4);
    png->depth = c->data[8];
    png->color = (vit_png_color)c->data[9];
    png->interlaced = c->data[12] == 1;
    if (png->width == 0 || png->height == 0)
        return vit_fail(w->error, VIT_ERROR_FORMAT, "%s: corrupt PNG: it has %zu x %zu pixels",
                        w->name, png->width, png->height);
    if (!is_depth_valid(png->color, png->depth))
        return vit_fail(w->error, VIT_ERROR_FORMAT,
                        "%s: corrupt PNG: color type %d with %u bits a sample does not exist",
                        w->name, c->data[9], png->depth);
    if (c->data[10] != 0 || c->data[11] != 0 || c->data[12] > 1)
        return vit_fail(w->error, VIT_ERROR_FORMAT,
                        "%s: corrupt PNG: compression %d, filter %d, interlace %d; expected 0, 0, "
                        "and 0 or 1",
                        w->name, c->data[10], c->data[11], c->data[12]);
    if (png->width > VIT_IMAGE_MAX_SIDE || png->height > VIT_IMAGE_MAX_SIDE ||
        png->width * png->height > VIT_IMAGE_MAX_PIXELS) {
        return vit_fail(w->error, VIT_ERROR_UNSUPPORTED,
                        "%s: the PNG has %zu x %zu pixels; at most %zu a side and %zu in all are "
                        "read",
                        w->name, png->width, png->height, VIT_IMAGE_MAX_SIDE, VIT_IMAGE_MAX_PIXELS);
    }
    const bool is_rgb = png->color == VIT_PNG_RGB || png->color == VIT_PNG_RGB_ALPHA;
    const bool has_alpha = png->color == VIT_PNG_GREY_ALPHA || png->color == VIT_PNG_RGB_ALPHA;
    png->samples = (is_rgb ? 3U : 1U) + (has_alpha ? 1U : 0U);
    png->inflated = inflated_size(png);
    return VIT_OK;
}

static vit_status check_palette(png_walk *w, const chunk *c) {
    vit_png *png = w->png;
    if (png->palette) return corrupt(w, "it has two PLTE chunks");
    if (png->data) return corrupt(w, "a PLTE chunk follows the pixels");
    if (c->size == 0 || c->size % 3 != 0 || c->size > (size_t)3 * 256)
        return vit_fail(w->error, VIT_ERROR_FORMAT,
                        "%s: corrupt PNG: its PLTE chunk has %zu bytes, expected 3 to 768, three "
                        "a color",
                        w->name, c->size);
    png->palette = c->data;
    png->palette_count = c->size / 3;
    return VIT_OK;
}

static vit_status check_transparency(png_walk *w, const chunk *c) {
    vit_png *png = w->png;
    bool is_valid = false;
    if (png->transparency) return corrupt(w, "it has two tRNS chunks");
    if (png->data) return corrupt(w, "a tRNS chunk follows the pixels");
    switch (png->color) {
    case VIT_PNG_GREY:
        is_valid = c->size == 2;
        break;
    case VIT_PNG_RGB:
        is_valid = c->size == 6;
        break;
    case VIT_PNG_PALETTE:
        is_valid = c->size > 0 && c->size <= png->palette_count;
        break;
    case VIT_PNG_GREY_ALPHA:
    case VIT_PNG_RGB_ALPHA:
        break;
    }
    if (!is_valid) return corrupt(w, "its tRNS chunk does not fit its color type or palette");
    png->transparency = c->data;
    png->transparency_size = c->size;
    return VIT_OK;
}

static vit_status check_data(png_walk *w, const chunk *c) {
    vit_png *png = w->png;
    if (png->color == VIT_PNG_PALETTE && !png->palette)
        return corrupt(w, "it has palette colors but no PLTE chunk before the pixels");
    if (w->is_data_over) return corrupt(w, "its IDAT chunks are not in a row");
    if (!png->data) png->data = c->data;
    png->data_size += c->size;
    return VIT_OK;
}

static vit_status check_end(png_walk *w, const chunk *c) {
    const vit_png *png = w->png;
    if (c->size != 0) return corrupt(w, "its IEND chunk is not empty");
    if (!png->data) return corrupt(w, "it has no IDAT chunk");
    if (png->inflated / max_deflate_ratio > png->data_size)
        return vit_fail(w->error, VIT_ERROR_FORMAT,
                        "%s: corrupt PNG: %zu bytes of data cannot hold %zu x %zu pixels", w->name,
                        png->data_size, png->width, png->height);
    return VIT_OK;
}

static vit_status check_chunk(png_walk *w, const chunk *c) {
    if (w->png->data && c->type != CHUNK_TYPE('I', 'D', 'A', 'T')) w->is_data_over = true;
    switch (c->type) {
    case CHUNK_TYPE('I', 'H', 'D', 'R'):
        return corrupt(w, "it has two IHDR chunks");
    case CHUNK_TYPE('P', 'L', 'T', 'E'):
        return check_palette(w, c);
    case CHUNK_TYPE('t', 'R', 'N', 'S'):
        return check_transparency(w, c);
    case CHUNK_TYPE('I', 'D', 'A', 'T'):
        return check_data(w, c);
    case CHUNK_TYPE('I', 'E', 'N', 'D'):
        return check_end(w, c);
    case CHUNK_TYPE('e', 'X', 'I', 'f'):
        w->png->orientation = vit_exif_orientation(c->data, c->size);
        break;
    case CHUNK_TYPE('t', 'E', 'X', 't'):
    case CHUNK_TYPE('z', 'T', 'X', 't'):
    case CHUNK_TYPE('i', 'T', 'X', 't'):
        return vit_png_read_text(w->png, c->label, c->data, c->size, w->name, w->error);
    default:
        break;
    }
    /* A capital first letter means that the picture cannot be decoded without this chunk. */
    if (c->label[0] >= 'A' && c->label[0] <= 'Z')
        return vit_fail(w->error, VIT_ERROR_UNSUPPORTED,
                        "%s: the PNG needs chunk %s, which is not known here", w->name, c->label);
    return VIT_OK;
}

vit_status vit_png_check(vit_png *out, const uint8_t *bytes, size_t size, const char *name,
                         vit_error *error) {
    png_walk w = {.png = out, .bytes = bytes, .size = size, .name = name, .error = error};
    chunk c = {0};
    *out = (vit_png){0};
    w.at = sizeof signature;
    vit_status status = next_chunk(&w, &c);
    if (status != VIT_OK) return status;
    if (c.type == CHUNK_TYPE('C', 'g', 'B', 'I'))
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: this is Apple's CgBI variant of PNG; standard PNGs are read: save it "
                        "again as one of these",
                        name);
    if (c.type != CHUNK_TYPE('I', 'H', 'D', 'R'))
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: corrupt PNG: its first chunk is %s, expected IHDR", name, c.label);
    status = check_header(&w, &c);
    while (status == VIT_OK && c.type != CHUNK_TYPE('I', 'E', 'N', 'D')) {
        status = next_chunk(&w, &c);
        if (status == VIT_OK) status = check_chunk(&w, &c);
    }
    out->size = w.at;
    if (!out->orientation) out->orientation = out->text_orientation;
    if (!out->orientation) out->orientation = out->xmp_orientation;
    if (out->orientation >= VIT_ORIENTATION_UNKNOWN) out->orientation = 0;
    return status;
}
