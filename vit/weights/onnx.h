/* A model as one ONNX file (opset 17), for ONNX Runtime and what else reads it: the graph of the
 * network, its weights, and as metadata what a model file has: vit.config, vit.preprocessing,
 * vit.labels, vit.recipe. */
#ifndef VIT_WEIGHTS_ONNX_H
#define VIT_WEIGHTS_ONNX_H

#include "vit/weights/model_file.h"

/* Writes the file. dtype: the type in which the weights of linear layers are stored, F32, BF16 or
 * F16; computations are in float32. Written tensor by tensor, atomically; the bytes depend on
 * *model alone. UNSUPPORTED for more than the 2 GiB that such a file can hold, and for numbers that
 * F16 cannot hold. */
vit_status vit_onnx_write(const char *path, const vit_model_file *model, vit_dtype dtype,
                          vit_error *error);

#endif
