/* The XMP item of HEIC and AVIF (ISO/IEC 14496-12 and 23008-12): the box "meta" names items in
 * "iinf" and says in "iloc" where they are (embedded.h). */
#include <string.h>

#include "vit/photos/embedded.h"
#include "vit/photos/xmp.h"

/* A box that is read on; `at` runs beyond `size` where it is too short. */
typedef struct box {
    vit_part part;
    size_t at;
} box;

static uint64_t take(box *b, size_t bytes) {
    uint64_t value = 0;
    const bool fits = b->at <= b->part.size && bytes <= b->part.size - b->at;
    for (size_t i = 0; i < bytes && fits; i++) value = value << 8 | b->part.data[b->at + i];
    b->at = fits ? b->at + bytes : b->part.size + 1;
    return value;
}

static bool is_short(const box *b) {
    return b->at > b->part.size;
}

/* *inner = the content of the next box; false: there is none. */
static bool next_box(box *inner, char type[5], box *b) {
    const size_t begin = b->at;
    uint64_t size = take(b, 4);
    memset(type, 0, 5);
    if (is_short(b) || b->part.size - b->at < 4) return false;
    memcpy(type, b->part.data + b->at, 4);
    b->at += 4;
    if (size == 1) size = take(b, 8);
    if (size == 0) size = b->part.size - begin;
    if (is_short(b) || size < b->at - begin || size > b->part.size - begin) return false;
    *inner = (box){{b->part.data + b->at, (size_t)size - (b->at - begin)}, 0};
    b->at = begin + (size_t)size;
    return true;
}

static bool find_box(box *found, box within, const char *type) {
    char name[5];
    while (next_box(found, name, &within))
        if (strcmp(name, type) == 0) return true;
    return false;
}

/* The item of the type "mime" whose content is RDF; 0: there is none. */
static uint64_t find_item(box iinf) {
    char type[5];
    box entry;
    const uint64_t version = take(&iinf, 4) >> 24;
    take(&iinf, version == 0 ? 2 : 4);
    while (!is_short(&iinf) && next_box(&entry, type, &iinf)) {
        const uint64_t kind = take(&entry, 4) >> 24;
        if (strcmp(type, "infe") != 0 || kind < 2) continue;
        const uint64_t id = take(&entry, kind == 2 ? 2 : 4);
        take(&entry, 2);
        const uint64_t item = take(&entry, 4);
        static const char content[] = "application/rdf+xml";
        const uint64_t mime = (uint64_t)'m' << 24 | 'i' << 16 | 'm' << 8 | 'e';
        if (is_short(&entry) || item != mime) continue;
        const uint8_t *end = memchr(entry.part.data + entry.at, 0, entry.part.size - entry.at);
        const size_t name = end ? (size_t)(end - entry.part.data) + 1 : entry.part.size;
        if (entry.part.size - name >= sizeof content &&
            memcmp(entry.part.data + name, content, sizeof content) == 0)
            return id;
    }
    return 0;
}

/* Appends an extent of the item. */
static bool add_extent(vit_embedded *out, vit_part from, uint64_t offset, uint64_t length) {
    if (offset > from.size) return false;
    if (length == 0) length = from.size - offset;
    if (length > from.size - offset || length > VIT_XMP_LIMIT - out->xmp.length) return false;
    vit_string_add_bytes(&out->xmp, (const char *)from.data + offset, (size_t)length);
    return true;
}

/* Reads the extents of an entry of iloc; if it is the item, they are its bytes. */
static bool read_entry(vit_embedded *out, box *iloc, bool is_it, const vit_part *sources,
                       unsigned method, const size_t sizes[4]) {
    bool fine = method < 2;
    const uint64_t base = take(iloc, sizes[2]), extents = take(iloc, 2);
    const size_t width = sizes[0] + sizes[1] + sizes[3]; /* else all extents would be one */
    for (uint64_t i = 0; i < extents && (i == 0 || width > 0) && !is_short(iloc); i++) {
        take(iloc, sizes[3]);
        const uint64_t offset = take(iloc, sizes[0]), length = take(iloc, sizes[1]);
        if (is_it && fine && !is_short(iloc) && offset <= UINT64_MAX - base)
            fine = add_extent(out, sources[method], base + offset, length);
    }
    return fine;
}

static void read_places(vit_embedded *out, box iloc, uint64_t item, const vit_part *sources) {
    const uint64_t version = take(&iloc, 4) >> 24, widths = take(&iloc, 2);
    const size_t sizes[4] = {widths >> 12 & 15, widths >> 8 & 15, widths >> 4 & 15,
                             version > 0 ? widths & 15 : 0};
    uint64_t count = take(&iloc, version < 2 ? 2 : 4);
    for (; count > 0 && !is_short(&iloc); count--) {
        const uint64_t id = take(&iloc, version < 2 ? 2 : 4);
        const unsigned method = version > 0 ? take(&iloc, 2) & 15 : 0;
        take(&iloc, 2);
        const bool fine = read_entry(out, &iloc, id == item, sources, method, sizes);
        if (id == item && (!fine || is_short(&iloc))) vit_string_free(&out->xmp);
    }
}

void vit_heic_find_xmp(vit_embedded *out, vit_part file) {
    box meta, inner, idat = {0};
    if (!find_box(&meta, (box){file, 0}, "meta")) return;
    take(&meta, 4);
    if (!find_box(&inner, meta, "iinf")) return;
    const uint64_t item = find_item(inner);
    if (item == 0 || !find_box(&inner, meta, "iloc")) return;
    if (!find_box(&idat, meta, "idat")) idat = (box){{file.data, 0}, 0};
    const vit_part sources[2] = {file, idat.part};
    read_places(out, inner, item, sources);
}
