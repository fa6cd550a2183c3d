/* Writing safetensors: u64 header length, JSON header, data (docs/formats.md). Such files are read
 * through tensors.h. */
#ifndef VIT_TENSORS_SAFETENSORS_H
#define VIT_TENSORS_SAFETENSORS_H

#include "vit/base/sys.h"
#include "vit/tensors/tensor.h"

/* The largest header that is read or written: the limit of the reference implementation. */
#define VIT_SAFETENSORS_MAX_HEADER 100000000u

typedef struct vit_metadata {
    const char *key, *value;
} vit_metadata;

/* Orders for qsort and bsearch: pointers to vit_tensor by name, vit_metadata by key. */
int vit_compare_names(const void *a, const void *b);
int vit_compare_keys(const void *a, const void *b);

/* Writes tensors (in any order, data need not be aligned) and metadata ("format": "pt" is added) to
 * `path`, atomically. The bytes depend on names, types, shapes, data and metadata only: tensors are
 * sorted by element size, descending, then by name; metadata by key; the header is padded with
 * spaces to a multiple of 8. ARGUMENT for what the reader would refuse: a name twice, a name that
 * is not UTF-8, a count that is not the product of the shape; and for the metadata key "format",
 * which the writer sets. */
vit_status vit_safetensors_write(const char *path, const vit_tensor *tensors, size_t count,
                                 const vit_metadata *metadata, size_t metadata_count,
                                 vit_error *error);

/* hex = the SHA-256 of the file that vit_safetensors_write would write. */
vit_status vit_safetensors_hash(char hex[65], const vit_tensor *tensors, size_t count,
                                const vit_metadata *metadata, size_t metadata_count,
                                vit_error *error);

#endif
