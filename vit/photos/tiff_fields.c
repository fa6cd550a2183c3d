/* XMP, IPTC and Photoshop's resources in TIFF and BigTIFF: fields of the first directory
 * (embedded.h). */
#include <string.h>

#include "vit/photos/embedded.h"

enum { XMP = 700, IPTC = 33723, PHOTOSHOP = 34377 };

typedef struct tiff {
    vit_part file;
    bool is_big_endian;
    size_t width; /* of an offset: 4, of BigTIFF 8 */
} tiff;

/* The number at an offset; behind the file's end 0. */
static uint64_t number(const tiff *t, uint64_t at, size_t bytes) {
    uint64_t value = 0;
    if (at > t->file.size || bytes > t->file.size - at) return 0;
    for (size_t i = 0; i < bytes; i++)
        value = value << 8 | t->file.data[at + (t->is_big_endian ? i : bytes - 1 - i)];
    return value;
}

/* Some programs write IPTC as numbers of 32 bits, in the order of the file: it begins with 0x1c. */
static void read_iptc(vit_embedded *out, vit_part field) {
    vit_string turned = {0};
    if (field.size < 4 || field.data[0] == 0x1c || field.data[3] != 0x1c) {
        vit_iptc_read(out, field);
        return;
    }
    for (size_t i = 0; i < field.size / 4 * 4; i++)
        vit_string_add_bytes(&turned, (const char *)field.data + (i ^ 3), 1);
    if (turned.failed)
        out->keywords.failed = true;
    else
        vit_iptc_read(out, (vit_part){(const uint8_t *)turned.text, turned.length});
    vit_string_free(&turned);
}

/* A field: its number, its type, how many values, and these or where they are. */
static void read_field(vit_embedded *out, const tiff *t, uint64_t at) {
    const uint64_t name = number(t, at, 2), type = number(t, at + 2, 2);
    const uint64_t count = number(t, at + 4, t->width), place = at + 4 + t->width;
    if ((name != XMP && name != IPTC && name != PHOTOSHOP) || count > t->file.size) return;
    const uint64_t size = count * (type == 4 ? 4 : 1); /* LONG, else BYTE, ASCII or UNDEFINED */
    const uint64_t begin = size <= t->width ? place : number(t, place, t->width);
    if (begin > t->file.size || size > t->file.size - begin) return;
    const vit_part field = {t->file.data + begin, (size_t)size};
    if (name == XMP) vit_embedded_keep_xmp(out, field);
    if (name == IPTC) read_iptc(out, field);
    if (name == PHOTOSHOP) vit_photoshop_read(out, field);
}

void vit_tiff_find_tags(vit_embedded *out, vit_part file) {
    tiff t = {.file = file, .width = 4};
    if (file.size < 16) return;
    t.is_big_endian = memcmp(file.data, "MM", 2) == 0;
    if (!t.is_big_endian && memcmp(file.data, "II", 2) != 0) return;
    const uint64_t version = number(&t, 2, 2);
    if (version != 42 && version != 43) return;
    if (version == 43) t.width = 8;
    const uint64_t directory = number(&t, t.width, t.width), size = 4 + 2 * t.width;
    if (directory >= file.size) return;
    const size_t counter = t.width == 8 ? 8 : 2;
    const uint64_t count = number(&t, directory, counter), first = directory + counter;
    for (uint64_t i = 0; i < count && first + i * size < file.size; i++)
        read_field(out, &t, first + i * size);
}
