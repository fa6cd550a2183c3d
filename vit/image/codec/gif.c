#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/image/codec/source.h"
#include "vit/image/pixels.h"

#include <string.h>

/* Not by stb_image: it takes a picture whose code ends too early for whole, with the background in
 * place of what is missing, which only decoding the code would show, and forgets the screen's size.
 *
 * GIF: a screen, blocks, and pictures of palette indices in LZW code. The first picture is read,
 * on its screen, with the same pixels as by Pillow: where it does not cover the screen, the
 * transparent color, or if there is none the first one. */

enum {
    SCREEN = 13, /* bytes of the signature and the screen */
    FRAME = 9,   /* of a picture's place and flags */
    HAS_PALETTE = 0x80,
    INTERLACED = 0x40,
    EXTENSION = 0x21,
    PICTURE = 0x2c,
    END = 0x3b,
    CONTROL = 0xf9, /* the extension that names the transparent color */
    CODES = 4096,
    NONE = -1,
};

typedef struct gif {
    const vit_source *source;
    size_t at;              /* what is read next */
    size_t width, height;   /* of the screen */
    size_t left, top;       /* of the picture on it */
    size_t columns, rows;   /* of the picture */
    const uint8_t *palette; /* NULL: indices are levels of grey */
    size_t colors;          /* in the palette */
    int transparent;        /* an index, or NONE */
    bool is_interlaced;
} gif;

/* The next `count` bytes, or NULL if there are fewer. */
static const uint8_t *take(gif *g, size_t count) {
    if (g->source->size - g->at < count) return NULL;
    const uint8_t *bytes = g->source->bytes + g->at;
    g->at += count;
    return bytes;
}

static vit_status read_palette(gif *g, unsigned flags) {
    if (!(flags & HAS_PALETTE)) return VIT_OK;
    g->colors = (size_t)2 << (flags & 7);
    g->palette = take(g, 3 * g->colors);
    return g->palette ? VIT_OK : vit_source_truncated(g->source);
}

/* The next block of an extension or a picture; NULL: the file ends. Of 0 bytes: the last one. */
static const uint8_t *take_block(gif *g, size_t *size) {
    const uint8_t *length = take(g, 1);
    *size = length ? *length : 0;
    return length ? take(g, *size) : NULL;
}

static vit_status read_extension(gif *g) {
    const uint8_t *label = take(g, 1), *block = NULL;
    size_t size = 1;
    for (bool is_first = true; label && size > 0; is_first = false) {
        block = take_block(g, &size);
        if (!block) break;
        if (!is_first || *label != CONTROL || size == 0) continue;
        if (size < 4) return vit_source_corrupt(g->source, "a control block of %zu bytes", size);
        if (block[0] & 1) g->transparent = block[3];
    }
    return block ? VIT_OK : vit_source_truncated(g->source);
}

static vit_status read_frame(gif *g) {
    const uint8_t *p = take(g, FRAME);
    if (!p) return vit_source_truncated(g->source);
    g->left = vit_le16(p);
    g->top = vit_le16(p + 2);
    g->columns = vit_le16(p + 4);
    g->rows = vit_le16(p + 6);
    g->is_interlaced = (p[8] & INTERLACED) != 0;
    g->width = vit_max(g->width, g->left + g->columns);
    g->height = vit_max(g->height, g->top + g->rows);
    const vit_status status = vit_source_check_size(g->source, g->columns, g->rows);
    if (status != VIT_OK) return status;
    return read_palette(g, p[8]);
}

/* Reads up to the code of the first picture. */
static vit_status read_header(gif *g) {
    const uint8_t *screen = take(g, SCREEN), *block;
    if (!screen) return vit_source_truncated(g->source);
    g->transparent = NONE;
    g->width = vit_le16(screen + 6);
    g->height = vit_le16(screen + 8);
    vit_status status = read_palette(g, screen[10]);
    while (status == VIT_OK) {
        block = take(g, 1);
        if (!block) return vit_source_truncated(g->source);
        if (*block == PICTURE) break;
        if (*block == END) return vit_source_corrupt(g->source, "it has no picture");
        if (*block == EXTENSION)
            status = read_extension(g);
        else if (*block != 0) /* zeros are padding */
            return vit_source_corrupt(g->source, "no block begins at byte %zu", g->at - 1);
    }
    if (status == VIT_OK) status = read_frame(g);
    return status == VIT_OK ? vit_source_check_pixels(g->source, g->width, g->height) : status;
}

/* ---- LZW: codes of growing width for strings that came before ---- */

typedef struct lzw {
    gif *gif;
    const uint8_t *block;
    size_t left;   /* bytes in the block */
    uint32_t bits; /* read, not used; the next is the lowest */
    unsigned bit_count;
    unsigned width;         /* of a code, in bits */
    unsigned clear;         /* the code that begins anew; the next one ends the picture */
    unsigned next;          /* the code of the next string */
    unsigned previous;      /* the code before; CODES: there is none */
    uint16_t prefix[CODES]; /* a string is that of another code and one more index */
    uint8_t last[CODES], first[CODES];
    uint8_t string[CODES]; /* of the current code, backwards */
    size_t length;
} lzw;

static void begin_anew(lzw *z) {
    z->next = z->clear + 2;
    z->previous = CODES;
    for (z->width = 1; 1U << z->width <= z->clear; z->width++) continue;
}

static vit_status next_code(lzw *z, unsigned *code) {
    while (z->bit_count < z->width) {
        if (z->left == 0) {
            z->block = take_block(z->gif, &z->left);
            if (!z->block) return vit_source_truncated(z->gif->source);
            if (z->left == 0) return vit_source_corrupt(z->gif->source, "its pixels end too early");
        }
        z->bits |= (uint32_t)*z->block++ << z->bit_count;
        z->bit_count += 8;
        z->left--;
    }
    *code = z->bits & ((1U << z->width) - 1);
    z->bits >>= z->width;
    z->bit_count -= z->width;
    return VIT_OK;
}

/* Makes the string of a code, and the new one that it implies. */
static void expand(lzw *z, unsigned code) {
    const bool is_new = code == z->next; /* the string before and its own first index */
    z->length = 0;
    if (is_new) z->string[z->length++] = z->first[z->previous];
    unsigned c = is_new ? z->previous : code;
    for (; c >= z->clear; c = z->prefix[c]) z->string[z->length++] = z->last[c];
    z->string[z->length++] = (uint8_t)c;
    if (z->previous < CODES && z->next < CODES) {
        z->prefix[z->next] = (uint16_t)z->previous;
        z->last[z->next] = (uint8_t)c;
        z->first[z->next] = z->first[z->previous];
        z->next++;
        if (z->next == 1U << z->width && z->width < 12) z->width++;
    }
    z->previous = code;
}

/* The string of the next code. */
static vit_status next_string(lzw *z) {
    unsigned code;
    vit_status status = next_code(z, &code);
    while (status == VIT_OK && code == z->clear) {
        begin_anew(z);
        status = next_code(z, &code);
    }
    if (status != VIT_OK) return status;
    if (code == z->clear + 1) return vit_source_corrupt(z->gif->source, "its pixels end too early");
    const bool is_first = z->previous == CODES;
    const bool exists = code < z->clear || (!is_first && code <= z->next && code < CODES);
    if (!exists) return vit_source_corrupt(z->gif->source, "its pixels have an invalid code");
    expand(z, code);
    return VIT_OK;
}

/* The row that comes after `row`: every eighth, those between, every other, the rest. */
static size_t next_row(const gif *g, size_t row, unsigned *pass) {
    static const uint8_t first[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};
    if (!g->is_interlaced) return row + 1;
    row += step[*pass];
    while (row >= g->rows && *pass < 3) row = first[++*pass];
    return row;
}

static void fill(uint8_t *to, const gif *g, unsigned index, size_t channels) {
    for (size_t i = 0; i < 3; i++)
        to[i] = !g->palette ? (uint8_t)index : index < g->colors ? g->palette[3 * index + i] : 0;
    if (channels == 4) to[3] = (int)index == g->transparent ? 0 : 255;
}

static vit_status read_pixels(vit_image *out, const gif *g, lzw *z) {
    unsigned pass = 0;
    vit_status status = VIT_OK;
    z->length = 0;
    for (size_t row = 0; row < g->rows; row = next_row(g, row, &pass)) {
        uint8_t *to = out->pixels + ((g->top + row) * g->width + g->left) * out->channels;
        for (size_t x = 0; x < g->columns; x++, to += out->channels) {
            if (z->length == 0) status = next_string(z);
            if (status != VIT_OK) return status;
            const unsigned index = z->string[--z->length];
            if (g->palette && index >= g->colors)
                return vit_source_corrupt(g->source, "a pixel has color %u, the palette %zu colors",
                                          index, g->colors);
            fill(to, g, index, out->channels);
        }
    }
    return VIT_OK;
}

static vit_status decode(vit_image *out, gif *g) {
    const vit_source *s = g->source;
    const size_t channels = g->transparent == NONE ? 3 : 4;
    const uint8_t *bits = take(g, 1);
    if (!bits) return vit_source_truncated(s);
    if (*bits < 1 || *bits > 8) return vit_source_corrupt(s, "its pixels have %u bits", *bits);
    vit_status status = vit_image_new(out, s->name, g->width, g->height, channels, s->error);
    if (status != VIT_OK) return status;
    const bool is_covered = g->columns == g->width && g->rows == g->height;
    const unsigned under = g->transparent == NONE ? 0 : (unsigned)g->transparent;
    for (size_t i = 0; !is_covered && i < g->width * g->height; i++)
        fill(out->pixels + i * channels, g, under, channels);
    lzw *z = vit_alloc(1, sizeof *z);
    if (!z) return vit_fail_memory(s->error, s->name, sizeof *z);
    z->gif = g;
    z->clear = 1U << *bits;
    for (unsigned i = 0; i < z->clear; i++) z->first[i] = (uint8_t)i;
    begin_anew(z);
    status = read_pixels(out, g, z);
    vit_free(z);
    return status;
}

vit_status vit_gif_read(vit_image *out, const vit_source *source, bool header) {
    gif g = {.source = source};
    vit_status status = read_header(&g);
    if (status != VIT_OK) return status;
    *out = (vit_image){.width = g.width, .height = g.height};
    return header ? VIT_OK : decode(out, &g);
}
