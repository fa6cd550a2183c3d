/* Writing safetensors: u64 header length, JSON header, data (docs/formats.md). They are read
 * through tensors.h. */
#ifndef VIT_TENSORS_SAFETENSORS_H
#define VIT_TENSORS_SAFETENSORS_H

#include "vit/base/sys.h"
#include "vit/tensors/tensor.h"

typedef struct vit_metadata {
    const char *key, *value;
} vit_metadata;

/* Writes tensors (any order; data aligned or not) and metadata ("format": "pt" is added) to `path`,
 * atomically. Bytes depend on names, types, shapes, data and metadata only: tensors sorted by
 * element size descending, then name; metadata by key; the header padded with spaces to 8.
 * ARGUMENT for what the reader would refuse: a name twice, a name that is not UTF-8, a count that
 * is not the shape's product; and for the metadata key "format", which belongs to the writer. */
vit_status vit_safetensors_write(const char *path, const vit_tensor *tensors, size_t count,
                                 const vit_metadata *metadata, size_t metadata_count,
                                 vit_error *error);

/* The SHA-256 of the bytes that such a file has. */
vit_status vit_safetensors_hash(char hex[65], const vit_tensor *tensors, size_t count,
                                const vit_metadata *metadata, size_t metadata_count,
                                vit_error *error);

/* As vit_safetensors_write, into memory; out->data is freed by vit_free. */
vit_status vit_safetensors_encode(vit_bytes *out, const vit_tensor *tensors, size_t count,
                                  const vit_metadata *metadata, size_t metadata_count,
                                  vit_error *error);

#endif
