/* A model as one ONNX file (opset 17), for ONNX Runtime and other programs: the network's graph,
 * its weights, and the metadata of a model file: vit.config, vit.preprocessing, vit.labels,
 * vit.recipe. */
#ifndef VIT_WEIGHTS_EXPORT_ONNX_H
#define VIT_WEIGHTS_EXPORT_ONNX_H

#include "vit/weights/file/model_file.h"

/* Writes the file, atomically, tensor by tensor; its bytes depend on *model and dtype alone. dtype:
 * the type in which weights are stored, F32, BF16 or F16; the graph computes in float32. Errors:
 * UNSUPPORTED for a file of more than 2 GiB, which is ONNX's limit, and for numbers that F16 cannot
 * hold; IO, MEMORY.
 */
vit_status vit_onnx_write(const char *path, const vit_model_file *model, vit_dtype dtype,
                          vit_error *error);

#endif
