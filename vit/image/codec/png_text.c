#include "vit/base/sys.h"
#include "vit/formats/inflate.h"
#include "vit/image/codec/codecs.h"

#include <string.h>

/* Text chunks of a PNG are a keyword, a zero byte, and
 *   tEXt: the text;
 *   zTXt: a zero byte, the text by zlib;
 *   iTXt: whether by zlib, a zero byte, a language, a zero byte, the keyword in it, a zero byte,
 * the text. XMP is text; EXIF data are in older files in hexadecimal digits, after three line ends.
 */

enum { LONGEST = 1 << 20 };

typedef struct text {
    const uint8_t *at;
    size_t size;
    bool is_packed;
} text;

/* Moves *t behind its next zero byte; false: there is none. */
static bool skip_word(text *t) {
    const uint8_t *zero = t->size > 0 ? memchr(t->at, 0, t->size) : NULL;
    if (!zero) return false;
    t->size -= (size_t)(zero + 1 - t->at);
    t->at = zero + 1;
    return true;
}

/* From behind the keyword to the text. */
static bool find_text(text *t, char kind) {
    if (kind == 't') return true;
    const size_t head = kind == 'i' ? 2 : 1;
    if (t->size < head || t->at[head - 1] != 0) return false;
    t->is_packed = kind == 'z' || t->at[0] != 0;
    t->at += head;
    t->size -= head;
    return kind == 'z' || (skip_word(t) && skip_word(t));
}

/* A packed text into *owned, to be freed by vit_free; of one that is damaged or too long, nothing.
 */
static vit_status unpack(text *t, uint8_t **owned, const char *name, vit_error *error) {
    z_stream z = vit_inflate_stream();
    uint8_t *to = *owned = vit_alloc_unset(LONGEST, 1);
    if (!to || inflateInit(&z) != Z_OK) return vit_fail_memory(error, name, LONGEST);
    z.next_in = t->at;
    z.avail_in = (uInt)t->size;
    z.next_out = to;
    z.avail_out = LONGEST;
    *t = (text){.at = to, .size = inflate(&z, Z_FINISH) == Z_STREAM_END ? z.total_out : 0};
    inflateEnd(&z);
    return VIT_OK;
}

static int digit(uint8_t c) {
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 87 : -1;
}

/* The orientation in EXIF data in hexadecimal digits, among which are line ends. Those behind the
 * first 4 KiB are not looked at. */
static unsigned hex_orientation(const text *t) {
    uint8_t bytes[4096];
    const uint8_t *tiff;
    size_t count = 0, i = 0, size;
    for (int lines = 0; i < t->size && lines < 3; i++) lines += t->at[i] == '\n';
    for (; i < t->size && count < sizeof bytes; i++) {
        const int high = digit(t->at[i]), low = i + 1 < t->size ? digit(t->at[i + 1]) : -1;
        if (high < 0) continue;
        if (low < 0) return 0;
        bytes[count++] = (uint8_t)(high << 4 | low);
        i++;
    }
    return vit_exif_find(&tiff, &size, bytes, count) ? vit_exif_orientation(tiff, size) : 0;
}

vit_status vit_png_read_text(vit_png *png, const char type[4], const uint8_t *data, size_t size,
                             const char *name, vit_error *error) {
    const char *keyword = (const char *)data;
    text t = {.at = data, .size = size};
    uint8_t *owned = NULL;
    vit_status status = VIT_OK;
    if (!skip_word(&t)) return VIT_OK;
    const bool is_xmp = strcmp(keyword, "XML:com.adobe.xmp") == 0;
    const bool is_exif = strcmp(keyword, "Raw profile type exif") == 0;
    if ((!is_xmp && !is_exif) || !find_text(&t, type[0])) return VIT_OK;
    if (t.is_packed) status = unpack(&t, &owned, name, error);
    if (status == VIT_OK && is_xmp) png->xmp_orientation = vit_xmp_orientation(t.at, t.size);
    if (status == VIT_OK && is_exif) png->text_orientation = hex_orientation(&t);
    vit_free(owned);
    return status;
}
