/* A file that grows while others read it: every put is one write at its end. */
#ifndef VIT_BASE_APPEND_H
#define VIT_BASE_APPEND_H

#include "vit/base/error.h"

typedef struct vit_append vit_append;

/* Makes a new file. Where something has that name already it is left alone: VIT_OK with *out NULL.
 * VIT_ERROR_IO where it cannot be made. */
vit_status vit_append_new(vit_append **out, const char *path, vit_error *error);
/* Writes `size` bytes at the end; VIT_ERROR_IO where they cannot all be written. */
vit_status vit_append_put(vit_append *file, const void *data, size_t size, vit_error *error);

/* Flushes the file to the disk, closes it and frees `file`, which may be NULL. */
vit_status vit_append_close(vit_append *file, vit_error *error);

#endif
