/* A published reader (VisionEncoderDecoder) with its weights in another type: a directory like the
 * one that it comes from. */
#ifndef VIT_API_CONVERT_READER_H
#define VIT_API_CONVERT_READER_H

#include "vit/weights/file/model_file.h"

/* Makes the directory `out`, which must not exist: model.safetensors with the tensors of the
 * directory `in` under their names, of type F32, BF16, F16, or I8: the weights of the blocks in
 * 8-bit integers with scales (vit/weights/file/rounded.h), unless they are stored [in][out], and
 * all others in F32; config.json, which says so; and copies of its other files. model: what `in`
 * was read as. The directory is removed after a failure. Errors: UNSUPPORTED if `in` is no
 * directory, and for a number that F16 cannot hold; IO, MEMORY. */
vit_status vit_convert_reader(const char *in, const char *out, const vit_model_file *model,
                              vit_dtype dtype, vit_error *error);

/* Removes the directory of a conversion that failed. Nobody else has files in it, since it was made
 * by it. */
void vit_convert_remove(const char *directory);

#endif
