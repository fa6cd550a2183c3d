#include "vit/base/sys.h"
#include "vit/image/codec/source.h"
#include "vit/image/pixels.h"

#include <math.h>

/* Binary PGM and PPM up to 255 are read by stb_image. It has no PBM and no text, scales no samples,
 * and reads past its memory where samples have two bytes, which it takes in the machine's order.
 *
 * PBM, PGM and PPM: a header in text, then samples as text (P1 to P3) or as bytes (P4 to P6). They
 * go from 0 to a number that the header names, and are scaled to 255 as by Pillow. Grey above 255,
 * which Pillow scales to 65535 and then clips, has the upper eight bits, as in other formats. */

enum { MAX_SAMPLE = 65535, MAX_DIGITS = 10 };

typedef struct pnm {
    const vit_source *source;
    size_t at;
    bool is_text, is_bitmap;
    size_t width, height, channels;
    size_t largest; /* sample */
} pnm;

static bool is_space(uint8_t c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool vit_pnm_recognise(const uint8_t *bytes, size_t size) {
    return size >= 3 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6' && is_space(bytes[2]);
}

/* Passes over white space and comments, which end with their line. */
static void skip_space(pnm *p) {
    bool in_comment = false;
    for (; p->at < p->source->size; p->at++) {
        const uint8_t c = p->source->bytes[p->at];
        if (c == '#')
            in_comment = true;
        else if (c == '\n' || c == '\r')
            in_comment = false;
        else if (!in_comment && !is_space(c))
            break;
    }
}

static vit_status read_number(pnm *p, size_t *value) {
    const uint8_t *bytes = p->source->bytes;
    size_t digits = 0;
    *value = 0;
    skip_space(p);
    for (; p->at < p->source->size && digits <= MAX_DIGITS; p->at++, digits++) {
        if (bytes[p->at] < '0' || bytes[p->at] > '9') break;
        *value = *value * 10 + (size_t)(bytes[p->at] - '0');
    }
    const bool is_end = p->at == p->source->size;
    if (digits == 0 && is_end) return vit_source_truncated(p->source);
    if (digits > 0 && digits <= MAX_DIGITS && (is_end || is_space(bytes[p->at]))) return VIT_OK;
    return vit_source_corrupt(p->source, "no number at byte %zu", p->at);
}

static vit_status read_header(pnm *p) {
    const vit_source *s = p->source;
    const unsigned kind = (unsigned)s->bytes[1] - '0';
    p->at = 2;
    p->is_text = kind <= 3;
    p->is_bitmap = kind % 3 == 1;
    p->channels = kind % 3 == 0 ? 3 : 1;
    p->largest = 1;
    vit_status status = read_number(p, &p->width);
    if (status == VIT_OK) status = read_number(p, &p->height);
    if (status == VIT_OK && !p->is_bitmap) status = read_number(p, &p->largest);
    if (status != VIT_OK) return status;
    p->at++; /* one white space; pixels begin after it */
    if (p->largest == 0 || p->largest > MAX_SAMPLE)
        return vit_source_corrupt(s, "its largest sample is %zu, expected 1 to 65535", p->largest);
    return vit_source_check_pixels(s, p->width, p->height);
}

/* table[sample] = the sample of 8 bits, with the roundings of Python's round(v / largest * 255). */
static void make_table(uint8_t *table, const pnm *p) {
    const double largest = (double)p->largest;
    const bool is_deep = p->largest > 255 && p->channels == 1;
    for (size_t v = 0; v <= p->largest; v++) {
        const double scaled = rint((double)v / largest * (is_deep ? 65535 : 255));
        table[v] = (uint8_t)((unsigned)scaled >> (is_deep ? 8 : 0));
    }
    if (p->is_bitmap) { /* 1 is black */
        table[0] = 255;
        table[1] = 0;
    }
}

static vit_status read_text(vit_image *out, pnm *p, const uint8_t *table) {
    const size_t samples = p->width * p->height * p->channels;
    vit_status status = VIT_OK;
    for (size_t i = 0; i < samples && status == VIT_OK; i++) {
        size_t value = 0;
        if (!p->is_bitmap) {
            status = read_number(p, &value);
        } else { /* digits need no space between them */
            skip_space(p);
            if (p->at == p->source->size) return vit_source_truncated(p->source);
            value = (size_t)p->source->bytes[p->at++] - '0';
        }
        if (status == VIT_OK && value > p->largest)
            return vit_source_corrupt(p->source, "a sample is larger than %zu", p->largest);
        if (status == VIT_OK) out->pixels[i] = table[value];
    }
    return status;
}

/* Bytes of a row that is not text. */
static size_t row_bytes(const pnm *p) {
    const size_t samples = p->width * p->channels;
    return p->is_bitmap ? (p->width + 7) / 8 : samples * (p->largest > 255 ? 2 : 1);
}

static vit_status read_bytes(vit_image *out, const pnm *p, const uint8_t *table) {
    const vit_source *s = p->source;
    const size_t bytes = p->largest > 255 ? 2 : 1, samples = p->width * p->channels;
    const size_t row = row_bytes(p);
    const uint8_t *from = s->bytes + p->at;
    uint8_t *to = out->pixels;
    for (size_t y = 0; y < p->height; y++, from += row) {
        for (size_t x = 0; x < samples; x++) {
            const size_t value = p->is_bitmap ? from[x / 8] >> (7 - x % 8) & 1U
                                 : bytes == 2 ? (size_t)from[2 * x] << 8 | from[2 * x + 1]
                                              : from[x];
            if (value > p->largest)
                return vit_source_corrupt(s, "a sample is %zu, larger than %zu", value, p->largest);
            *to++ = table[value];
        }
    }
    return VIT_OK;
}

vit_status vit_pnm_read(vit_image *out, const vit_source *source, bool header) {
    pnm p = {.source = source};
    vit_status status = read_header(&p);
    if (status != VIT_OK) return status;
    *out = (vit_image){.width = p.width, .height = p.height};
    if (header) return VIT_OK;
    if (!p.is_text && (p.at > source->size || source->size - p.at < p.height * row_bytes(&p)))
        return vit_source_truncated(source);
    if (!p.is_text && p.largest == 255) return vit_stb_read(out, source, p.channels);
    uint8_t *table = vit_alloc(MAX_SAMPLE + 1, 1);
    if (!table) return vit_fail_memory(source->error, source->name, MAX_SAMPLE + 1);
    make_table(table, &p);
    status = vit_image_new(out, source->name, p.width, p.height, p.channels, source->error);
    if (status == VIT_OK)
        status = p.is_text ? read_text(out, &p, table) : read_bytes(out, &p, table);
    vit_free(table);
    return status;
}
