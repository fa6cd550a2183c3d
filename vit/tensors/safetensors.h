/* safetensors: u64 header length, JSON header, data. Reader and writer; the facts and every rule
 * the reader enforces stand in docs/formats.md.
 *
 * The reader maps the file, or borrows the caller's bytes, and hands out pointers into them: the
 * header is tokenised by hand (it may be 100 MB), nothing is copied but the names. All rules of
 * the format are checked on opening; later calls cannot meet an invalid offset.
 */
#ifndef VIT_TENSORS_SAFETENSORS_H
#define VIT_TENSORS_SAFETENSORS_H

#include "vit/base/sys.h"
#include "vit/tensors/tensor.h"

typedef struct vit_safetensors vit_safetensors;

vit_status vit_safetensors_open(vit_safetensors **out, const char *path, vit_error *error);

/* `bytes` is borrowed and must outlive the object; `name` stands for the file in messages. */
vit_status vit_safetensors_parse(vit_safetensors **out, const void *bytes, size_t size,
                                 const char *name, vit_error *error);
void vit_safetensors_close(vit_safetensors *file); /* takes NULL */

/* The parsed bytes are those of `map`, which is borrowed as they are: so the pages of tensors can
 * be given back. */
void vit_safetensors_lend(vit_safetensors *file, vit_bytes map);

const char *vit_safetensors_name(const vit_safetensors *file); /* path or name, for messages */

/* Tensors in the order of their names (by bytes); index < count. */
size_t vit_safetensors_count(const vit_safetensors *file);
const vit_tensor *vit_safetensors_at(const vit_safetensors *file, size_t index);
const vit_tensor *vit_safetensors_find(const vit_safetensors *file, const char *name); /* or NULL */

/* Gives the pages of the file that a tensor lies in back to the system, which reads them again when
 * they are used. */
void vit_safetensors_release(const vit_safetensors *file, const vit_tensor *tensor);

/* The value of a __metadata__ key, or NULL. */
const char *vit_safetensors_metadata(const vit_safetensors *file, const char *key);

/* ---- writing ---- */

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
