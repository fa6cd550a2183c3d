/* A file that grows while others read it: every put is a single write at its end. */
#ifndef VIT_BASE_APPEND_H
#define VIT_BASE_APPEND_H

#include "vit/base/error.h"
#include <stdint.h>

typedef struct vit_append vit_append;

/* Creates a file. If the name exists already, nothing is changed: VIT_OK with *out NULL.
 * VIT_ERROR_IO if the file cannot be created. */
vit_status vit_append_new(vit_append **out, const char *path, vit_error *error);

/* Opens a file that exists, cuts it to `size` bytes, and goes on there. VIT_ERROR_IO if that cannot
 * be done. */
vit_status vit_append_open(vit_append **out, const char *path, uint64_t size, vit_error *error);

/* Flushes what was put to the disk. */
vit_status vit_append_sync(vit_append *file, vit_error *error);

/* Writes `size` bytes at the end; VIT_ERROR_IO if they cannot all be written. */
vit_status vit_append_put(vit_append *file, const void *data, size_t size, vit_error *error);

/* Flushes the file to the disk, closes it and frees `file`, which may be NULL. */
vit_status vit_append_close(vit_append *file, vit_error *error);

#endif
