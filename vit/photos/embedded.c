#include "vit/photos/embedded.h"

#include <string.h>

#include "vit/formats/inflate.h"
#include "vit/photos/xmp_edit.h"

static uint32_t big(const uint8_t *p, int bytes) {
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++) value = value << 8 | p[i];
    return value;
}

static uint32_t little(const uint8_t *p) {
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static bool begins(vit_part part, const char *word, size_t length) {
    return part.size >= length && memcmp(part.data, word, length) == 0;
}

static vit_part behind(vit_part part, size_t offset) {
    const size_t at = offset < part.size ? offset : part.size;
    return (vit_part){part.data + at, part.size - at};
}

/* The first packet of a file counts. */
void vit_embedded_keep_xmp(vit_embedded *out, vit_part packet) {
    if (!out->xmp.text && packet.size > 0 && packet.size <= VIT_XMP_LIMIT)
        vit_string_add_bytes(&out->xmp, (const char *)packet.data, packet.size);
}

/* ---- JPEG ---- */

/* *at: the next segment, and then the one behind it. False: the picture's data begin. */
static bool next_segment(vit_part *segment, uint8_t *marker, size_t *at, vit_part file) {
    while (*at + 4 <= file.size && file.data[*at] == 0xff && file.data[*at + 1] == 0xff) ++*at;
    if (*at + 4 > file.size || file.data[*at] != 0xff) return false;
    *marker = file.data[*at + 1];
    const size_t length = big(file.data + *at + 2, 2);
    if (*marker == 0xda || *marker == 0xd9 || length < 2 || length > file.size - *at - 2)
        return false;
    *segment = (vit_part){file.data + *at + 4, length - 2};
    *at += 2 + length;
    return true;
}

/* A portion of the packet that has what one segment has no room for: behind the digest that the
 * first packet names, its whole size and the portion's offset. */
static bool is_portion(vit_part *portion, size_t *whole, size_t *offset, vit_part segment,
                       const char *digest) {
    static const char name[] = "http://ns.adobe.com/xmp/extension/";
    if (!begins(segment, name, sizeof name)) return false;
    *portion = behind(segment, sizeof name);
    if (portion->size < VIT_XMP_DIGEST + 8 || !begins(*portion, digest, VIT_XMP_DIGEST))
        return false;
    *whole = big(portion->data + VIT_XMP_DIGEST, 4);
    *offset = big(portion->data + VIT_XMP_DIGEST + 4, 4);
    *portion = behind(*portion, VIT_XMP_DIGEST + 8);
    return *whole <= VIT_XMP_LIMIT && *offset <= *whole && portion->size <= *whole - *offset;
}

/* Portions may come in any order. One that is missing leaves all of it out. */
static void read_extended(vit_string *out, vit_part file, const char *digest) {
    enum { PASSES = 256 };
    size_t whole = 1;
    for (int pass = 0; pass < PASSES && out->length < whole && !out->failed; pass++) {
        const size_t before = out->length;
        vit_part segment, portion;
        uint8_t marker;
        size_t size, offset;
        for (size_t at = 2; next_segment(&segment, &marker, &at, file);) {
            if (marker != 0xe1 || !is_portion(&portion, &size, &offset, segment, digest)) continue;
            whole = size;
            if (offset == out->length)
                vit_string_add_bytes(out, (const char *)portion.data, portion.size);
        }
        if (out->length == before) break;
    }
    if (out->length != whole && !out->failed) vit_string_free(out);
}

static void read_jpeg(vit_embedded *out, vit_part file) {
    static const char xmp[] = "http://ns.adobe.com/xap/1.0/", photoshop[] = "Photoshop 3.0";
    char digest[VIT_XMP_DIGEST + 1];
    vit_string extended = {0};
    vit_part segment;
    uint8_t marker;
    for (size_t at = 2; next_segment(&segment, &marker, &at, file);) {
        if (marker == 0xe1 && begins(segment, xmp, sizeof xmp))
            vit_embedded_keep_xmp(out, behind(segment, sizeof xmp));
        if (marker == 0xed && begins(segment, photoshop, sizeof photoshop))
            vit_photoshop_read(out, behind(segment, sizeof photoshop));
    }
    if (!vit_xmp_extension(digest, &out->xmp)) return;
    read_extended(&extended, file, digest);
    if (extended.length > 0) vit_xmp_join(&out->xmp, &extended);
    out->xmp.failed = out->xmp.failed || extended.failed;
    vit_string_free(&extended);
}

/* ---- PNG ---- */

/* *text = what is inflated, at most the limit of XMP; nothing if it is damaged. */
static void inflate_text(vit_string *text, vit_part data) {
    enum { PORTION = 1 << 14 };
    char portion[PORTION];
    z_stream stream = vit_inflate_stream();
    if (inflateInit2(&stream, MAX_WBITS) != Z_OK) return;
    stream.next_in = data.data;
    stream.avail_in = (uInt)data.size;
    int result = Z_OK;
    while (result == Z_OK && text->length <= VIT_XMP_LIMIT && !text->failed) {
        stream.next_out = (Bytef *)portion;
        stream.avail_out = PORTION;
        result = inflate(&stream, Z_NO_FLUSH);
        if (result == Z_OK || result == Z_STREAM_END)
            vit_string_add_bytes(text, portion, PORTION - stream.avail_out);
        if (result == Z_OK && stream.avail_in == 0 && stream.avail_out == PORTION) break;
    }
    inflateEnd(&stream);
    if (result != Z_STREAM_END) vit_string_free(text);
}

static int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    const char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* "\niptc\n     120\n3842494d..." as ImageMagick and exiftool write profiles. */
static void read_profile(vit_embedded *out, vit_part text) {
    vit_string bytes = {0};
    size_t at = 0;
    for (int lines = 0; at < text.size && lines < 3; at++) lines += text.data[at] == '\n';
    for (; at + 1 < text.size; at++) {
        const int high = digit_of((char)text.data[at]);
        const int low = high < 0 ? -1 : digit_of((char)text.data[at + 1]);
        if (low < 0) continue;
        const char byte = (char)(high << 4 | low);
        vit_string_add_bytes(&bytes, &byte, 1);
        at++;
    }
    const vit_part profile = {(const uint8_t *)bytes.text, bytes.length};
    static const char photoshop[] = "Photoshop 3.0";
    if (bytes.failed)
        out->keywords.failed = true;
    else if (begins(profile, photoshop, sizeof photoshop))
        vit_photoshop_read(out, behind(profile, sizeof photoshop));
    else if (begins(profile, "8BIM", 4))
        vit_photoshop_read(out, profile);
    else
        vit_iptc_read(out, profile);
    vit_string_free(&bytes);
}

/* The length of a text that ends with a zero byte, and of that; 0: it does not end. */
static size_t text_length(vit_part part) {
    const uint8_t *end = part.size > 0 ? memchr(part.data, 0, part.size) : NULL;
    return end ? (size_t)(end - part.data) + 1 : 0;
}

/* The text of a chunk behind its keyword, inflated into *scratch where it is compressed. */
static vit_part chunk_text(vit_string *scratch, const char *type, vit_part rest) {
    bool is_packed = memcmp(type, "zTXt", 4) == 0;
    if (memcmp(type, "iTXt", 4) == 0) {
        if (rest.size < 2) return (vit_part){0};
        is_packed = rest.data[0] == 1;
        rest = behind(rest, 2);
        for (int i = 0; i < 2; i++) {
            const size_t length = text_length(rest);
            if (length == 0) return (vit_part){0};
            rest = behind(rest, length);
        }
    } else if (is_packed) {
        rest = behind(rest, 1);
    }
    if (!is_packed) return rest;
    inflate_text(scratch, rest);
    return (vit_part){(const uint8_t *)scratch->text, scratch->length};
}

static void read_chunk(vit_embedded *out, const char *type, vit_part chunk) {
    static const char xmp[] = "XML:com.adobe.xmp", iptc[] = "Raw profile type iptc",
                      app13[] = "Raw profile type APP13";
    const bool is_text = memcmp(type, "iTXt", 4) == 0 || memcmp(type, "zTXt", 4) == 0 ||
                         memcmp(type, "tEXt", 4) == 0;
    const bool is_xmp = is_text && begins(chunk, xmp, sizeof xmp);
    const bool is_iptc =
        is_text && (begins(chunk, iptc, sizeof iptc) || begins(chunk, app13, sizeof app13));
    vit_string scratch = {0};
    if (!is_xmp && !is_iptc) return;
    const vit_part text = chunk_text(&scratch, type, behind(chunk, text_length(chunk)));
    if (scratch.failed)
        out->xmp.failed = true;
    else if (is_xmp)
        vit_embedded_keep_xmp(out, text);
    else
        read_profile(out, text);
    vit_string_free(&scratch);
}

static void read_png(vit_embedded *out, vit_part file) {
    for (size_t at = 8; at + 12 <= file.size;) {
        const size_t length = big(file.data + at, 4);
        if (length > file.size - at - 12) return;
        read_chunk(out, (const char *)file.data + at + 4, (vit_part){file.data + at + 8, length});
        at += 12 + length;
    }
}

/* ---- WebP ---- */

static void read_webp(vit_embedded *out, vit_part file) {
    for (size_t at = 12; at + 8 <= file.size;) {
        const size_t length = little(file.data + at + 4);
        if (length > file.size - at - 8) return;
        if (memcmp(file.data + at, "XMP ", 4) == 0)
            vit_embedded_keep_xmp(out, (vit_part){file.data + at + 8, length});
        at += 8 + length + length % 2;
    }
}

vit_status vit_embedded_find(vit_embedded *out, const uint8_t *bytes, size_t size,
                             vit_error *error) {
    const vit_part file = {bytes, size};
    *out = (vit_embedded){0};
    if (begins(file, "\xff\xd8", 2))
        read_jpeg(out, file);
    else if (begins(file, "\x89PNG\r\n\x1a\n", 8))
        read_png(out, file);
    else if (begins(file, "RIFF", 4) && size >= 12 && memcmp(bytes + 8, "WEBP", 4) == 0)
        read_webp(out, file);
    else if (size >= 12 && memcmp(bytes + 4, "ftyp", 4) == 0)
        vit_heic_find_xmp(out, file);
    else
        vit_tiff_find_tags(out, file);
    if (!out->xmp.failed && !out->keywords.failed) return VIT_OK;
    vit_embedded_free(out);
    return vit_fail_memory(error, "what a picture carries", size);
}

void vit_embedded_free(vit_embedded *e) {
    vit_string_free(&e->xmp);
    vit_string_free(&e->keywords);
    *e = (vit_embedded){0};
}
