/* Reading the tensors of a model from any kind of file.
 *
 *     vit_tensors *file;
 *     status = vit_tensors_open(&file, "vit_base_patch16_224", error);
 *     const vit_tensor *tensor = vit_tensors_find(file, "cls_token");
 *     if (tensor) status = vit_tensors_read(file, tensor, values, error);
 *     vit_tensors_close(file);
 *
 * docs/formats.md says what is read of each kind of file and what is refused. An open object is
 * immutable and may be used by several threads at once.
 */
#ifndef VIT_TENSORS_TENSORS_H
#define VIT_TENSORS_TENSORS_H

#include "vit/tensors/tensor.h"

#include <stdbool.h>

typedef struct vit_tensors vit_tensors;

/* `path`: a file of weights; the index of a sharded checkpoint (model.safetensors.index.json); or a
 * directory that holds one of these, under a name that libraries give it or as the only one. Closed
 * by vit_tensors_close. Errors: IO; FORMAT for a damaged file; UNSUPPORTED for a kind of file that
 * is not read; MISMATCH for an index and shards that disagree, and for a directory with several
 * files of weights. */
vit_status vit_tensors_open(vit_tensors **out, const char *path, vit_error *error);

/* The same from bytes in memory, which are borrowed and must outlive the object; messages call them
 * `name`. A sharded checkpoint consists of several files and cannot be read this way. */
vit_status vit_tensors_parse(vit_tensors **out, const void *bytes, size_t size, const char *name,
                             vit_error *error);
void vit_tensors_close(vit_tensors *file); /* takes NULL */

/* The path of the opened file, which may be in the directory that was given; or the given name. */
const char *vit_tensors_name(const vit_tensors *file);

/* "safetensors", "npz" or "pytorch". */
const char *vit_tensors_kind(const vit_tensors *file);

/* The tensors, sorted by name (as bytes), each name once; index < count. `data` is NULL if the
 * elements are not stored contiguously and uncompressed: then only vit_tensors_read gets them. */
size_t vit_tensors_count(const vit_tensors *file);
const vit_tensor *vit_tensors_at(const vit_tensors *file, size_t index);
const vit_tensor *vit_tensors_find(const vit_tensors *file, const char *name); /* or NULL */

/* Weights in 8-bit integers, as compressed-tensors writes them: "X" of type I8, and "X_scale" with
 * a number for each of its rows, or with one for all. The scales of `tensor`, which must be one of
 * this file's, or NULL if it is no such "X"; whether `tensor` is such an "X_scale". */
const vit_tensor *vit_tensors_scales(const vit_tensors *file, const vit_tensor *tensor);
bool vit_tensors_are_scales(const vit_tensors *file, const vit_tensor *tensor);

/* scales [tensor->shape[0]]: those scales. FORMAT if there are neither so many nor one, or if one
 * is neither 0 nor a normal positive float32; errors of reading. */
vit_status vit_tensors_read_scales(const vit_tensors *file, const vit_tensor *tensor, float *scales,
                                   vit_error *error);

/* values [tensor->count] = the elements as float32, in row-major order; `tensor` must be one of
 * this file's. F32, F16 and BF16 are exact, F64 and integers times their scales are rounded to
 * nearest. Errors: UNSUPPORTED for types that are no weights (other integers, BOOL) and for a
 * finite F64 that float32 cannot hold; FORMAT for damaged data; MEMORY. Afterwards the pages of the
 * file that were read are given back to the system. */
vit_status vit_tensors_read(const vit_tensors *file, const vit_tensor *tensor, float *values,
                            vit_error *error);

/* Keeps the file open for a model whose weights stay in it: afterwards vit_tensors_place gives
 * where the elements of a tensor are as floats, or as halves of words; NULL: they are not stored as
 * such. */
void vit_tensors_keep(vit_tensors *file);
const float *vit_tensors_place(const vit_tensors *file, const vit_tensor *tensor);

/* Where the elements of a tensor are in an open file as floats, or as integers that have scales;
 * NULL: they are not stored as such. And gives pages that were read there back to the system. */
const float *vit_tensors_floats(const vit_tensor *tensor);
const int8_t *vit_tensors_integers(const vit_tensors *file, const vit_tensor *tensor);
void vit_tensors_release(const vit_tensors *file, const vit_tensor *tensor);

/* Tensors that hold those of several blocks one after the other, [blocks][...], under a name with
 * `all` ("encoderblock/") somewhere in it, become a tensor for each block, in whose name a number
 * stands there ("encoderblock_%zu/"). They are in memory until the file is closed. FORMAT if there
 * are more than 4,096 blocks; errors of reading; MEMORY. */
vit_status vit_tensors_unstack(vit_tensors *file, const char *all, const char *one,
                               vit_error *error);

/* All bytes of the file, for its checksum, valid while it is open; NULL for a sharded checkpoint.
 */
const uint8_t *vit_tensors_bytes(const vit_tensors *file, size_t *size);

/* The value of a key in the __metadata__ of a safetensors file, or NULL. */
const char *vit_tensors_metadata(const vit_tensors *file, const char *key);

#endif
