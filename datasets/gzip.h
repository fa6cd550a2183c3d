/* Files of data sets, compressed or not. */
#ifndef VIT_DATASETS_GZIP_H
#define VIT_DATASETS_GZIP_H

#include "vit/base/sys.h"

/* Inflates gzip data: one member or several, one after the other, and nothing else. At most
 * `limit` bytes come out, and never much more memory than that is taken. `name` stands for the
 * file in messages. out->data is freed by vit_free. Errors: FORMAT for data that is cut off,
 * corrupt, followed by something else, or inflates to more than `limit`; MEMORY. */
vit_status vit_gunzip(vit_bytes *out, const void *data, size_t size, size_t limit, const char *name,
                      vit_error *error);

/* The contents of a file of at most `limit` bytes, inflated when it begins as gzip data does,
 * whatever its name. */
vit_status vit_read_plain_or_gzip(vit_bytes *out, const char *path, size_t limit, vit_error *error);

#endif
