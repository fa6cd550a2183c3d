#include "vit/base/size.h"
#include "vit/image/codec/source.h"
#include "vit/image/pixels.h"

#include <string.h>

/* stb_image reads rows of 24 and 32 bits and indices of a full palette. It scales 16 bits otherwise
 * than Pillow, makes alpha opaque where all of it is 0, and has no run lengths, no OS/2 headers
 * and no gaps before the rows; indices beyond a palette it takes from uninitialised memory.
 *
 * Windows Bitmap: a file header of 14 bytes, a header of one of seven sizes, a palette or masks,
 * rows of 4 n bytes, the lowest first unless the height is negative. Numbers are little-endian. The
 * same variants as by Pillow, with the same pixels. */

enum {
    FILE_HEADER = 14,
    CORE_HEADER = 12, /* the oldest: 16-bit sizes, palette of three bytes a color */
    INFO_HEADER = 40,
    OS2_HEADER = 64, /* its compression 3 and 4 are other ones */
    MAX_COLORS = 256,
};

typedef enum compression { PLAIN, RLE8, RLE4, MASKS, COMPRESSION_COUNT } compression;

/* Those that are read, with the bits a pixel that they may have. */
static const struct {
    const char *name;
    unsigned least_bits, most_bits;
    bool has_runs, has_nibbles, has_masks;
} compressions[] = {
    [PLAIN] = {"", 1, 32, false, false, false},
    [RLE8] = {"RLE8", 8, 8, true, false, false},
    [RLE4] = {"RLE4", 4, 4, true, true, false},
    [MASKS] = {"masks", 16, 32, false, false, true},
};
VIT_CHECK_ROWS(compressions, COMPRESSION_COUNT);

/* The places of a pixel's samples, and whether the last of them is alpha. */
typedef struct layout {
    unsigned bits;
    uint32_t masks[4]; /* red, green, blue, alpha */
    uint8_t at[4];     /* the bytes of red, green, blue, alpha */
    bool has_alpha;
} layout;

/* Pillow's; other masks are refused. */
static const layout layouts[] = {
    {32, {0xff0000, 0xff00, 0xff, 0}, {2, 1, 0, 0}, false},
    {32, {0xff000000, 0xff0000, 0xff00, 0}, {3, 2, 1, 0}, false},
    {32, {0xff000000, 0xff00, 0xff, 0}, {3, 1, 0, 0}, false},
    {32, {0xff000000, 0xff0000, 0xff00, 0xff}, {3, 2, 1, 0}, true},
    {32, {0xff, 0xff00, 0xff0000, 0xff000000}, {0, 1, 2, 3}, true},
    {32, {0xff0000, 0xff00, 0xff, 0xff000000}, {2, 1, 0, 3}, true},
    {32, {0xff000000, 0xff00, 0xff, 0xff0000}, {3, 1, 0, 2}, true},
    {32, {0, 0, 0, 0}, {2, 1, 0, 3}, true},
    {24, {0xff0000, 0xff00, 0xff, 0}, {2, 1, 0, 0}, false},
    {16, {0xf800, 0x7e0, 0x1f, 0}, {0}, false},
    {16, {0x7c00, 0x3e0, 0x1f, 0}, {0}, false},
};
static const layout plain_layouts[] = {
    {32, {0}, {2, 1, 0, 0}, false},
    {24, {0}, {2, 1, 0, 0}, false},
    {16, {0x7c00, 0x3e0, 0x1f, 0}, {0}, false},
};

typedef struct bmp {
    const vit_source *source;
    size_t width, height;
    unsigned bits;
    bool is_top_down;
    compression compression;
    const uint8_t *palette;
    size_t colors, color_bytes;
    const layout *layout; /* of 16 bits and more */
    size_t header;        /* bytes of the second header */
    size_t data;          /* the offset of the rows */
} bmp;

static const layout *find_layout(unsigned bits, const uint32_t *masks) {
    const size_t count = VIT_COUNT(layouts);
    for (size_t i = 0; masks && i < count; i++) {
        const size_t used = bits == 32 ? 4 : 3;
        if (layouts[i].bits == bits && memcmp(layouts[i].masks, masks, used * sizeof *masks) == 0)
            return &layouts[i];
    }
    for (size_t i = 0; !masks && i < VIT_COUNT(plain_layouts); i++)
        if (plain_layouts[i].bits == bits) return &plain_layouts[i];
    return NULL;
}

/* The masks, in the header or behind the shortest one that may have them. */
static vit_status read_masks(bmp *b, size_t header) {
    const vit_source *s = b->source;
    const bool is_behind = header < INFO_HEADER + 12;
    const size_t count = header >= INFO_HEADER + 16 ? 4 : 3;
    uint32_t masks[4] = {0};
    if (s->size < FILE_HEADER + INFO_HEADER + 12) return vit_source_truncated(s);
    for (size_t i = 0; i < count; i++)
        masks[i] = vit_le32(s->bytes + FILE_HEADER + INFO_HEADER + 4 * i);
    if (is_behind && b->data == FILE_HEADER + header) b->data += 12;
    b->layout = find_layout(b->bits, masks);
    if (b->layout) return VIT_OK;
    return vit_source_refuse(s,
                             "has %u bits a pixel with masks %08x, %08x, %08x, %08x, which are "
                             "not read: save it as a PNG",
                             b->bits, masks[0], masks[1], masks[2], masks[3]);
}

static vit_status read_palette(bmp *b, size_t header, size_t colors) {
    const vit_source *s = b->source;
    const size_t at = FILE_HEADER + header;
    b->color_bytes = header == CORE_HEADER ? 3 : 4;
    if (colors == 0) colors = (size_t)1 << b->bits;
    if (colors > 65536) return vit_source_corrupt(s, "its palette has %zu colors", colors);
    if (s->size < at || (s->size - at) / b->color_bytes < colors) return vit_source_truncated(s);
    b->palette = s->bytes + at;
    b->colors = vit_min(colors, MAX_COLORS);
    /* Some programs write the offset of the palette. */
    if (b->data == 0 || b->data == at) b->data = at + colors * b->color_bytes;
    return VIT_OK;
}

static vit_status check_compression(const bmp *b, size_t header, uint32_t found) {
    const char *name = found < COMPRESSION_COUNT ? compressions[found].name
                       : found == 4              ? "JPEG"
                       : found == 5              ? "PNG"
                                                 : NULL;
    if (found >= COMPRESSION_COUNT || (header == OS2_HEADER && compressions[found].has_masks))
        return vit_source_refuse(b->source,
                                 "has compression %u%s%s; 0 to 3 are read: save it as a PNG", found,
                                 name ? ", " : "", name ? name : "");
    if (b->bits >= compressions[found].least_bits && b->bits <= compressions[found].most_bits)
        return VIT_OK;
    return vit_source_corrupt(b->source, "%u bits a pixel with compression %s", b->bits,
                              compressions[found].name);
}

static vit_status check_bits(const bmp *b) {
    switch (b->bits) {
    case 1:
    case 4:
    case 8:
    case 16:
    case 24:
    case 32:
        return VIT_OK;
    default:
        return vit_source_refuse(b->source, "has %u bits a pixel; 1, 4, 8, 16, 24 and 32 are read",
                                 b->bits);
    }
}

static vit_status read_header(bmp *b) {
    const vit_source *s = b->source;
    if (s->size < FILE_HEADER + CORE_HEADER) return vit_source_truncated(s);
    const uint8_t *h = s->bytes + FILE_HEADER;
    const size_t header = vit_le32(h);
    const bool is_core = header == CORE_HEADER;
    if (!is_core && header != INFO_HEADER && header != 52 && header != 56 && header != OS2_HEADER &&
        header != 108 && header != 124)
        return vit_source_refuse(s,
                                 "has a header of %zu bytes; 12, 40, 52, 56, 64, 108 and 124 "
                                 "are read",
                                 header);
    if (s->size < FILE_HEADER + header) return vit_source_truncated(s);
    b->header = header;
    b->data = vit_le32(s->bytes + 10);
    b->width = is_core ? vit_le16(h + 4) : vit_le32(h + 4);
    b->height = is_core ? vit_le16(h + 6) : vit_le32(h + 8);
    b->bits = vit_le16(h + (is_core ? 10 : 14));
    b->is_top_down = !is_core && h[11] == 0xff;
    if (b->is_top_down) b->height = (uint32_t)(0 - b->height);
    const uint32_t found = is_core ? 0 : vit_le32(h + 16);
    vit_status status = vit_source_check_pixels(s, b->width, b->height);
    if (status == VIT_OK) status = check_bits(b);
    if (status == VIT_OK) status = check_compression(b, header, found);
    if (status != VIT_OK) return status;
    b->compression = (compression)found;
    if (b->bits <= 8) return read_palette(b, header, is_core ? 0 : vit_le32(h + 32));
    if (b->data == 0) b->data = FILE_HEADER + header;
    if (compressions[b->compression].has_masks) return read_masks(b, header);
    b->layout = find_layout(b->bits, NULL);
    return VIT_OK;
}

/* Puts the color of an index into the picture. */
static vit_status put_index(const bmp *b, uint8_t *to, unsigned index) {
    if (index >= b->colors)
        return vit_source_corrupt(b->source, "a pixel has color %u, the palette %zu colors", index,
                                  b->colors);
    const uint8_t *color = b->palette + index * b->color_bytes;
    for (int i = 0; i < 3; i++) to[i] = color[2 - i];
    return VIT_OK;
}

static vit_status read_indices(const bmp *b, uint8_t *to, const uint8_t *row) {
    const unsigned per_byte = 8 / b->bits, mask = (1U << b->bits) - 1;
    for (size_t x = 0; x < b->width; x++, to += 3) {
        const unsigned shift = b->bits * (per_byte - 1 - (unsigned)(x % per_byte));
        const vit_status status = put_index(b, to, row[x / per_byte] >> shift & mask);
        if (status != VIT_OK) return status;
    }
    return VIT_OK;
}

static void read_samples(const bmp *b, uint8_t *to, const uint8_t *from) {
    const layout *l = b->layout;
    const size_t channels = l->has_alpha ? 4 : 3, step = b->bits / 8;
    for (size_t x = 0; x < b->width; x++, to += channels, from += step) {
        const uint32_t pixel = vit_le16(from);
        if (b->bits != 16) {
            for (size_t i = 0; i < channels; i++) to[i] = from[l->at[i]];
        } else if (l->masks[1] == 0x3e0) {
            vit_rgb_of_15_bits(to, pixel);
        } else {
            to[0] = (uint8_t)((pixel >> 11) * 255 / 31);
            to[1] = (uint8_t)((pixel >> 5 & 63) * 255 / 63);
            to[2] = (uint8_t)((pixel & 31) * 255 / 31);
        }
    }
}

static uint8_t *row_of(const bmp *b, const vit_image *out, size_t row) {
    const size_t y = b->is_top_down ? row : b->height - 1 - row;
    return out->pixels + y * b->width * out->channels;
}

/* Whether stb_image reads it as Pillow does. It takes the number of colors from where the rows
 * begin. */
static bool suits_stb(const bmp *b) {
    const uint8_t *bytes = b->source->bytes;
    const bool is_core = b->header == CORE_HEADER;
    const size_t colors = b->bits <= 8 ? b->colors : 0;
    return b->compression == PLAIN && b->header != 52 && b->header != OS2_HEADER &&
           vit_le16(bytes + (is_core ? 22 : 26)) == 1 && vit_le32(bytes + 10) == b->data &&
           b->data == FILE_HEADER + b->header + 4 * colors &&
           (b->bits <= 8 ? !is_core && colors == (size_t)1 << b->bits : b->bits != 16);
}

/* The bytes from one row to the next, of which the last row has `used`. */
static size_t stride_of(const bmp *b, size_t *used) {
    *used = (b->width * b->bits + 7) / 8;
    return (*used + 3) / 4 * 4;
}

static bool has_rows(const bmp *b) {
    size_t used;
    const size_t stride = stride_of(b, &used), size = b->source->size;
    return b->data <= size && size - b->data >= (b->height - 1) * stride + used;
}

static vit_status read_rows(const bmp *b, const vit_image *out) {
    size_t used;
    const size_t stride = stride_of(b, &used);
    const uint8_t *from = b->source->bytes + b->data;
    vit_status status = VIT_OK;
    for (size_t y = 0; y < b->height && status == VIT_OK; y++, from += stride) {
        if (b->layout)
            read_samples(b, row_of(b, out, y), from);
        else
            status = read_indices(b, row_of(b, out, y), from);
    }
    return status;
}

/* ---- run lengths: pairs of a count and an index; a count of 0 begins something else ---- */

typedef struct runs {
    const bmp *bmp;
    const vit_image *out;
    const uint8_t *next, *end;
    size_t done; /* pixels */
} runs;

static vit_status put_pixel(runs *r, unsigned index) {
    const size_t width = r->bmp->width;
    uint8_t *row = row_of(r->bmp, r->out, r->done / width);
    const vit_status status = put_index(r->bmp, row + 3 * (r->done % width), index);
    r->done++;
    return status;
}

/* Skipped pixels have the first color. */
static vit_status skip(runs *r, size_t count) {
    const size_t left = r->bmp->width * r->bmp->height - r->done;
    vit_status status = VIT_OK;
    for (count = vit_min(count, left); count > 0 && status == VIT_OK; count--)
        status = put_pixel(r, 0);
    return status;
}

/* `count` pixels: of the two indices of a byte in turn, or of the bytes that follow. */
static vit_status put_run(runs *r, size_t count, bool is_literal) {
    const bool has_nibbles = compressions[r->bmp->compression].has_nibbles;
    const size_t bytes = !is_literal ? 1 : has_nibbles ? (count + 1) / 2 : count;
    vit_status status = VIT_OK;
    if ((size_t)(r->end - r->next) < bytes) return vit_source_truncated(r->bmp->source);
    if (r->done % r->bmp->width + count > r->bmp->width)
        return vit_source_corrupt(r->bmp->source, "a run of %zu pixels goes past its row", count);
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        const unsigned byte = r->next[!is_literal ? 0 : has_nibbles ? i / 2 : i];
        status = put_pixel(r, !has_nibbles ? byte : i % 2 == 0 ? byte >> 4 : byte & 15);
    }
    r->next += bytes;
    if (is_literal && bytes % 2 == 1 && r->next < r->end) r->next++;
    return status;
}

static vit_status put_escape(runs *r, unsigned code) {
    const size_t width = r->bmp->width;
    switch (code) {
    case 0: /* end of the row */
        return skip(r, (width - r->done % width) % width);
    case 1:
        return vit_source_corrupt(r->bmp->source, "its runs end after %zu of %zu pixels", r->done,
                                  width * r->bmp->height);
    case 2: /* a step to the right and up */
        if (r->end - r->next < 2) return vit_source_truncated(r->bmp->source);
        r->next += 2;
        return skip(r, r->next[-2] + r->next[-1] * width);
    default:
        return put_run(r, code, true);
    }
}

static vit_status read_runs(const bmp *b, const vit_image *out) {
    const vit_source *s = b->source;
    if (b->data > s->size) return vit_source_truncated(s);
    runs r = {.bmp = b, .out = out, .next = s->bytes + b->data, .end = s->bytes + s->size};
    vit_status status = VIT_OK;
    while (status == VIT_OK && r.done < b->width * b->height) {
        if (r.end - r.next < 2) return vit_source_truncated(s);
        const unsigned count = r.next[0];
        r.next++;
        if (count > 0)
            status = put_run(&r, count, false);
        else
            status = put_escape(&r, *r.next++);
    }
    return status;
}

vit_status vit_bmp_read(vit_image *out, const vit_source *source, bool header) {
    bmp b = {.source = source};
    vit_status status = read_header(&b);
    if (status != VIT_OK) return status;
    *out = (vit_image){.width = b.width, .height = b.height};
    if (header) return VIT_OK;
    if (!compressions[b.compression].has_runs && !has_rows(&b)) return vit_source_truncated(source);
    if (suits_stb(&b)) return vit_stb_read(out, source, 3);
    const size_t channels = b.layout && b.layout->has_alpha ? 4 : 3;
    status = vit_image_new(out, source->name, b.width, b.height, channels, source->error);
    if (status != VIT_OK) return status;
    return compressions[b.compression].has_runs ? read_runs(&b, out) : read_rows(&b, out);
}
