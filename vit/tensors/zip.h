/* Reading zip archives that lie in memory: members stored or deflated, zip64, data descriptors.
 * Everything is checked on opening but the contents, whose CRC-32 is checked as they are read.
 */
#ifndef VIT_TENSORS_ZIP_H
#define VIT_TENSORS_ZIP_H

#include "vit/base/error.h"

typedef struct vit_zip_member {
    const char *name; /* UTF-8, 0-terminated */
    const uint8_t *packed;
    size_t packed_size, size;
    uint32_t crc;
    bool deflated; /* else packed[0..size) are the contents */
} vit_zip_member;

typedef struct vit_zip {
    vit_zip_member *members; /* by name, each name once */
    size_t count;
    char *names;
} vit_zip;

/* Does a file begin as a zip archive does? */
bool vit_zip_probe(const uint8_t *bytes, size_t size);

/* `bytes` are borrowed; `name` stands for the file in messages. On failure nothing is left to free.
 * Errors: FORMAT; UNSUPPORTED for archives in several files, encrypted members and other methods of
 * compression; MEMORY. */
vit_status vit_zip_open(vit_zip *out, const uint8_t *bytes, size_t size, const char *name,
                        vit_error *error);
void vit_zip_close(vit_zip *zip);

const vit_zip_member *vit_zip_find(const vit_zip *zip, const char *name); /* or NULL */

/* The contents from byte `skip` on: contents [member->size - skip]; skip <= member->size. All of
 * the member counts for the checksum. Messages name the member. */
vit_status vit_zip_read(const vit_zip_member *member, size_t skip, void *contents,
                        vit_error *error);

/* The first `size` bytes, not checked against the checksum; size <= member->size. */
vit_status vit_zip_peek(const vit_zip_member *member, void *contents, size_t size,
                        vit_error *error);

/* FORMAT unless crc is that of the contents of a member that is not deflated. */
vit_status vit_zip_check(const vit_zip_member *member, vit_error *error);

#endif
