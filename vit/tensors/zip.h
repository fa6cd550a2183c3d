/* Reading zip archives in memory: members stored or deflated, zip64, data descriptors. Everything
 * is checked on opening except the contents, whose CRC-32 is checked when they are read. */
#ifndef VIT_TENSORS_ZIP_H
#define VIT_TENSORS_ZIP_H

#include "vit/base/error.h"

typedef struct vit_zip_member {
    const char *name; /* UTF-8, 0-terminated */
    const uint8_t *packed;
    size_t packed_size, size;
    uint32_t crc;
    bool deflated; /* else stored: packed[0..size) are the contents */
} vit_zip_member;

typedef struct vit_zip {
    vit_zip_member *members; /* sorted by name, each name once */
    size_t count;
    char *names;
} vit_zip;

/* Whether the file begins like a zip archive. */
bool vit_zip_probe(const uint8_t *bytes, size_t size);

/* `bytes` are borrowed; messages call the file `name`. On failure there is nothing to close.
 * Errors: FORMAT; UNSUPPORTED for archives in several files, encrypted members and other methods of
 * compression; MEMORY. */
vit_status vit_zip_open(vit_zip *out, const uint8_t *bytes, size_t size, const char *name,
                        vit_error *error);
void vit_zip_close(vit_zip *zip);

const vit_zip_member *vit_zip_find(const vit_zip *zip, const char *name); /* or NULL */

/* contents [member->size - skip] = the contents from byte `skip` <= member->size on. The checksum
 * of the whole member is checked: FORMAT. Messages name the member. */
vit_status vit_zip_read(const vit_zip_member *member, size_t skip, void *contents,
                        vit_error *error);

/* contents = the first `size` <= member->size bytes; the checksum is not checked. */
vit_status vit_zip_peek(const vit_zip_member *member, void *contents, size_t size,
                        vit_error *error);

/* FORMAT if the checksum of a stored member is wrong. */
vit_status vit_zip_check(const vit_zip_member *member, vit_error *error);

#endif
