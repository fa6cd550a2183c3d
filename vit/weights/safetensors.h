/* safetensors: u64 header length, JSON header, data. Reader and writer; the facts and every rule
 * the reader enforces stand in docs/formats.md.
 *
 * The reader maps the file, or borrows the caller's bytes, and hands out pointers into them: the
 * header is tokenised by hand (it may be 100 MB), nothing is copied but the names. All rules of
 * the format are checked on opening; later calls cannot meet an invalid offset.
 */
#ifndef VIT_WEIGHTS_SAFETENSORS_H
#define VIT_WEIGHTS_SAFETENSORS_H

#include "vit/base/error.h"
#include "vit/base/sys.h"

typedef enum vit_dtype {
    VIT_F64,
    VIT_F32,
    VIT_F16,
    VIT_BF16,
    VIT_I64,
    VIT_I32,
    VIT_I16,
    VIT_I8,
    VIT_U8,
    VIT_BOOL,
} vit_dtype;

const char *vit_dtype_name(vit_dtype dtype); /* "F32" */
size_t vit_dtype_size(vit_dtype dtype);      /* bytes of one element */

#define VIT_MAX_DIMS 8

typedef struct vit_tensor {
    const char *name; /* UTF-8, unescaped, 0-terminated */
    vit_dtype dtype;
    size_t dims, shape[VIT_MAX_DIMS];
    size_t count;     /* elements: the product of shape, 1 for a scalar */
    const void *data; /* little-endian, count * size bytes, not necessarily aligned */
} vit_tensor;

typedef struct vit_safetensors vit_safetensors;

vit_status vit_safetensors_open(vit_safetensors **out, const char *path, vit_error *error);

/* `bytes` is borrowed and must outlive the object; `name` stands for the file in messages. */
vit_status vit_safetensors_parse(vit_safetensors **out, const void *bytes, size_t size,
                                 const char *name, vit_error *error);
void vit_safetensors_close(vit_safetensors *file); /* takes NULL */

const char *vit_safetensors_name(const vit_safetensors *file); /* path or name, for messages */

/* Tensors in the order of their names (by bytes); index < count. */
size_t vit_safetensors_count(const vit_safetensors *file);
const vit_tensor *vit_safetensors_at(const vit_safetensors *file, size_t index);
const vit_tensor *vit_safetensors_find(const vit_safetensors *file, const char *name); /* or NULL */

/* The value of a __metadata__ key, or NULL. */
const char *vit_safetensors_metadata(const vit_safetensors *file, const char *key);

/* Elements as float32: values [tensor->count]. F32, F16 and BF16 keep every value, F64 is rounded
 * to nearest. UNSUPPORTED for BOOL, and for an element that float32 cannot hold: a finite F64 that
 * would become infinite, an integer that is not exact. */
vit_status vit_tensor_floats(const vit_tensor *tensor, float *values, vit_error *error);

/* "[3, 224, 224]" for messages, cut to fit. */
void vit_shape_text(char text[128], const size_t *shape, size_t dims);

/* A name from a file, which may be as long as it likes, cut to fit for messages. Returns text. */
#define VIT_NAME_TEXT 104
const char *vit_name_text(char text[VIT_NAME_TEXT], const char *name);

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

/* The same into memory; out->data is freed by vit_free. */
vit_status vit_safetensors_encode(vit_bytes *out, const vit_tensor *tensors, size_t count,
                                  const vit_metadata *metadata, size_t metadata_count,
                                  vit_error *error);

#endif
