/* Finding the file that has the weights. */
#ifndef VIT_TENSORS_WEIGHTS_PATH_H
#define VIT_TENSORS_WEIGHTS_PATH_H

#include "vit/base/error.h"

/* *file = `path` unless it is a directory; in a directory, the file with a name that libraries give
 * their weights (model.safetensors, ...), or else the only file whose name ends like one of
 * weights. Freed by vit_free. Errors: IO for a directory that cannot be read or has no weights;
 * MISMATCH for one with several candidates; MEMORY. */
vit_status vit_weights_find(char **file, const char *path, vit_error *error);

/* hex = the SHA-256 of that file; for a sharded checkpoint, of its index. */
vit_status vit_weights_hash(char hex[65], const char *path, vit_error *error);

/* What a file is that is no container of weights, told by its first bytes, to follow "FILE is";
 * NULL: unknown. */
const char *vit_foreign_file(const uint8_t *bytes, size_t size);

#endif
