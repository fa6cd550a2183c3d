#include "vit/image/codec/codecs.h"

#include <string.h>

/* Which side of a picture is up, where Pillow's ImageOps.exif_transpose looks for it: in EXIF data,
 * else in XMP, which is XML.
 *
 * EXIF data are a small TIFF file: a header with the byte order and the offset of the first
 * directory, which is a count and that many entries {tag, type, count, value}. */

enum {
    TAG_ORIENTATION = 0x0112,
    TYPE_BYTE = 1,
    TYPE_SHORT = 3,
    TYPE_LONG = 4,
    TYPE_SIGNED_SHORT = 8,
    TYPE_SIGNED_LONG = 9,
    TYPES = 13,
    ENTRY = 12
};

static uint32_t get(const uint8_t *p, size_t bytes, bool is_little) {
    uint32_t value = 0;
    for (size_t i = 0; i < bytes; i++) value = value << 8 | p[is_little ? bytes - 1 - i : i];
    return value;
}

/* The orientation in an entry, which Pillow takes from these types of numbers. */
static unsigned orientation_in(const uint8_t *entry, bool is_little) {
    const uint32_t type = get(entry + 2, 2, is_little), count = get(entry + 4, 4, is_little);
    const bool is_short = type == TYPE_SHORT || type == TYPE_SIGNED_SHORT;
    const bool is_long = type == TYPE_LONG || type == TYPE_SIGNED_LONG;
    const uint32_t value = get(entry + 8, is_short ? 2 : 4, is_little);
    const bool is_one = is_short ? count == 1 || count == 2 : is_long && count == 1;
    if (type < TYPE_BYTE || type > TYPES || count == 0) return 0;
    return is_one && value >= 1 && value <= 8 ? value : VIT_ORIENTATION_UNKNOWN;
}

unsigned vit_exif_orientation(const uint8_t *tiff, size_t size) {
    if (size < 8) return 0;
    const bool is_little = memcmp(tiff, "II*\0", 4) == 0;
    if (!is_little && memcmp(tiff, "MM\0*", 4) != 0) return 0;
    const size_t directory = get(tiff + 4, 4, is_little);
    if (directory > size - 2) return 0;
    const uint8_t *entry = tiff + directory + 2;
    const size_t room = (size - directory - 2) / ENTRY;
    size_t count = get(tiff + directory, 2, is_little);
    if (count > room) count = room;
    for (size_t i = 0; i < count; i++, entry += ENTRY) {
        if (get(entry, 2, is_little) != TAG_ORIENTATION) continue;
        const unsigned orientation = orientation_in(entry, is_little);
        if (orientation) return orientation;
    }
    return 0;
}

unsigned vit_xmp_orientation(const uint8_t *text, size_t size) {
    static const char tag[] = "tiff:Orientation";
    const size_t n = sizeof tag - 1;
    for (size_t i = 0; i + n + 2 <= size; i++) {
        if (text[i] != 't' || memcmp(text + i, tag, n) != 0) continue;
        const uint8_t *p = text + i + n, *end = text + size;
        p += *p == '>' ? 1 : p[0] == '=' && p[1] == '"' ? 2 : end - p;
        if (p < end && *p >= '0' && *p <= '9') return *p - '0';
    }
    return 0;
}

bool vit_exif_find(const uint8_t **tiff, size_t *size, const uint8_t *bytes, size_t count) {
    static const uint8_t label[6] = "Exif\0";
    if (count < sizeof label || memcmp(bytes, label, sizeof label) != 0) return false;
    *tiff = bytes + sizeof label;
    *size = count - sizeof label;
    return true;
}
