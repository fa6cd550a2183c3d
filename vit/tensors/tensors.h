/* The tensors of a model, whatever the file they lie in.
 *
 *     vit_tensors *file;
 *     status = vit_tensors_open(&file, "vit_base_patch16_224", error);
 *     const vit_tensor *tensor = vit_tensors_find(file, "cls_token");
 *     if (tensor) status = vit_tensors_read(file, tensor, values, error);
 *     vit_tensors_close(file);
 *
 * docs/formats.md says what is read of each container and what is refused. An object is immutable
 * once it is open and may be used from several threads at once.
 */
#ifndef VIT_TENSORS_TENSORS_H
#define VIT_TENSORS_TENSORS_H

#include "vit/tensors/tensor.h"

typedef struct vit_tensors vit_tensors;

/* `path`: a file of weights; the index of a sharded checkpoint (model.safetensors.index.json); or a
 * directory that holds one of them, under a name that libraries give it or as the only one.
 * Errors: IO; FORMAT for a file that is damaged; UNSUPPORTED for a kind of file that is not read;
 * MISMATCH for an index and shards that disagree, and a directory with several files to choose
 * from. */
vit_status vit_tensors_open(vit_tensors **out, const char *path, vit_error *error);

/* The same from bytes in memory, which are borrowed and must outlive the object; `name` stands for
 * the file in messages. A sharded checkpoint is several files and cannot be read so. */
vit_status vit_tensors_parse(vit_tensors **out, const void *bytes, size_t size, const char *name,
                             vit_error *error);
void vit_tensors_close(vit_tensors *file); /* takes NULL */

/* The path of the file, the one in the directory where a directory was opened, or the name. */
const char *vit_tensors_name(const vit_tensors *file);

/* "safetensors", "npz" or "pytorch". */
const char *vit_tensors_kind(const vit_tensors *file);

/* Tensors in the order of their names (by bytes), each name once; index < count. Their `data` are
 * NULL where elements do not lie in the file as they are: vit_tensors_read finds them. */
size_t vit_tensors_count(const vit_tensors *file);
const vit_tensor *vit_tensors_at(const vit_tensors *file, size_t index);
const vit_tensor *vit_tensors_find(const vit_tensors *file, const char *name); /* or NULL */

/* values: [tensor->count], rows first, as float32; `tensor` is one of the file's own. F32, F16 and
 * BF16 keep every value, F64 is rounded to nearest. Errors: UNSUPPORTED for types that hold no
 * weights (integers, BOOL) and for a finite F64 that float32 cannot hold; FORMAT for data that are
 * damaged; MEMORY. Gives the pages of the file that it used back to the system. */
vit_status vit_tensors_read(const vit_tensors *file, const vit_tensor *tensor, float *values,
                            vit_error *error);

/* All bytes of the file, for its checksum; they live as long as it is open. NULL where it is
 * several files. */
const uint8_t *vit_tensors_bytes(const vit_tensors *file, size_t *size);

/* The value of a key of a safetensors file's __metadata__, or NULL. */
const char *vit_tensors_metadata(const vit_tensors *file, const char *key);

#endif
