/* Which file the weights are in. */
#ifndef VIT_TENSORS_WEIGHTS_PATH_H
#define VIT_TENSORS_WEIGHTS_PATH_H

#include "vit/base/error.h"

/* *file: `path` itself unless it is a directory; of a directory, the file under the first of the
 * names that libraries give their weights, else the only file whose name ends as weights do. A
 * string freed by vit_free. Errors: IO for a directory that cannot be read or holds no weights;
 * MISMATCH for one that holds several files; MEMORY. */
vit_status vit_weights_find(char **file, const char *path, vit_error *error);

/* The SHA-256 of that file; of a sharded checkpoint that of its index. */
vit_status vit_weights_hash(char hex[65], const char *path, vit_error *error);

/* What a file is that begins so and is no container of weights, for "FILE is ..."; NULL: unknown.
 */
const char *vit_foreign_file(const uint8_t *bytes, size_t size);

#endif
