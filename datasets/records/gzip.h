/* Files of data sets, compressed or not. */
#ifndef VIT_DATASETS_RECORDS_GZIP_H
#define VIT_DATASETS_RECORDS_GZIP_H

#include "vit/base/sys.h"

/* *out = the inflated gzip data: one or more members, followed by nothing else. At most `limit`
 * bytes, and not much more memory than that is needed. Messages call the file `name`. out->data is
 * freed by vit_free. Errors: FORMAT for data that are cut off, corrupt, followed by something else,
 * or inflate to more than `limit` bytes; MEMORY. */
vit_status vit_gunzip(vit_bytes *out, const void *data, size_t size, size_t limit, const char *name,
                      vit_error *error);

/* *out = the contents of a file, at most `limit` bytes, inflated if it begins like gzip data,
 * whatever its name. */
vit_status vit_read_plain_or_gzip(vit_bytes *out, const char *path, size_t limit, vit_error *error);

#endif
