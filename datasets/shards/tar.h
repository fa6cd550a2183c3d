/* Archives of tar, read member by member from their headers alone, and the headers of new ones.
 *
 * Read are ustar, GNU's long names and pax's records of paths and sizes. Everything in a header is
 * checked before it is used: the checksum, the size against that of the archive, the name, which
 * must not lead out of a directory. Links, devices and sparse files are refused, as is an archive
 * that does not end with blocks of zeros.
 */
#ifndef VIT_DATASETS_SHARDS_TAR_H
#define VIT_DATASETS_SHARDS_TAR_H

#include "vit/base/error.h"
#include "vit/base/text.h"

#define VIT_TAR_BLOCK 512

typedef struct vit_tar {
    const char *path; /* of the archive, for messages */
    uint64_t size;    /* its bytes */
    vit_status (*read)(void *data, size_t size, uint64_t offset, const void *context,
                       vit_error *error); /* within `size` */
    const void *context;
    /* ---- of the reading itself; begin as 0 ---- */
    uint64_t at;     /* the next header */
    vit_string name; /* of the last member */
} vit_tar;

typedef struct vit_tar_member {
    const char *name; /* NULL: there are no more members; valid until the next one is asked for */
    uint64_t offset, size; /* its bytes in the archive */
} vit_tar_member;

/* *out = the next regular file; directories are passed over. Errors: FORMAT and UNSUPPORTED, which
 * name archive and member, MEMORY, and those of `read`. */
vit_status vit_tar_next(vit_tar *tar, vit_tar_member *out, vit_error *error);
void vit_tar_close(vit_tar *tar);

/* Appends the header of a regular file to `out`: owner, group and time 0, mode 644; two more blocks
 * before it if the name is long. */
void vit_tar_put_header(vit_string *out, const char *name, uint64_t size);

/* Bytes of zeros that follow `size` bytes of a member. */
static inline size_t vit_tar_padding(uint64_t size) {
    return (size_t)((VIT_TAR_BLOCK - size % VIT_TAR_BLOCK) % VIT_TAR_BLOCK);
}

#endif
