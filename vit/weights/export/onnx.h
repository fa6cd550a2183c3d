/* A model as an ONNX file (opset 17), for ONNX Runtime and other programs: the network's graph,
 * its weights, and the metadata of a model file: vit.config, vit.preprocessing, vit.labels,
 * vit.recipe. */
#ifndef VIT_WEIGHTS_EXPORT_ONNX_H
#define VIT_WEIGHTS_EXPORT_ONNX_H

#include "vit/weights/file/model_file.h"

/* The size of an ONNX file is a signed number of 32 bits. */
#define VIT_ONNX_LARGEST ((size_t)INT32_MAX)

/* Writes the file, atomically, tensor by tensor; its bytes depend on its name, *model, dtype and
 * largest alone. If it were larger than `largest`, VIT_ONNX_LARGEST but for tests, the weights are
 * written into PATH.data, before it, which it refers to (external data); a file that was at `path`
 * is then removed before PATH.data is replaced. dtype: the type in which weights are stored, F32,
 * BF16 or F16; the graph computes in float32. Errors: UNSUPPORTED for numbers that F16 cannot hold;
 * IO, MEMORY. */
vit_status vit_onnx_write(const char *path, const vit_model_file *model, vit_dtype dtype,
                          size_t largest, vit_error *error);

#endif
