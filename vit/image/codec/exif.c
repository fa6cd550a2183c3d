#include "vit/image/codec/codecs.h"

#include <string.h>

/* EXIF data are a small TIFF file: a header with the byte order and the offset of the first
 * directory, which is a count and that many entries {tag, type, count, value}. */

enum { TAG_ORIENTATION = 0x0112, TYPE_SHORT = 3, ENTRY = 12 };

static uint32_t get(const uint8_t *p, size_t bytes, bool is_little) {
    uint32_t value = 0;
    for (size_t i = 0; i < bytes; i++) value = value << 8 | p[is_little ? bytes - 1 - i : i];
    return value;
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
        const uint32_t value = get(entry + 8, 2, is_little);
        const bool is_short = get(entry + 2, 2, is_little) == TYPE_SHORT;
        const bool is_one = get(entry + 4, 4, is_little) == 1;
        return is_short && is_one && value >= 1 && value <= 8 ? value : 0;
    }
    return 0;
}
