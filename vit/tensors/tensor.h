/* A tensor of a file of weights: its type, its shape and its elements as float32. */
#ifndef VIT_TENSORS_TENSOR_H
#define VIT_TENSORS_TENSOR_H

#include "vit/base/error.h"
#include "vit/base/text.h"

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
    VIT_DTYPE_COUNT,
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

/* Elements as float32: values [tensor->count]. F32, F16 and BF16 keep every value, F64 is rounded
 * to nearest. UNSUPPORTED for BOOL, and for an element that float32 cannot hold: a finite F64 that
 * would become infinite, an integer that is not exact. */
vit_status vit_tensor_floats(const vit_tensor *tensor, float *values, vit_error *error);

/* FORMAT, naming the tensor and the element, where one of values [tensor->count] is NaN or
 * infinite.
 */
vit_status vit_tensor_check_finite(const vit_tensor *tensor, const float *values, vit_error *error);

/* values [count] as elements of type F32, F16 or BF16, rounded to the nearest, halves to even. The
 * index of the first finite value that F16 cannot hold, and nothing from there on is written; count
 * where all are. */
size_t vit_tensor_encode(void *elements, vit_dtype dtype, const float *values, size_t count);

/* A name from a file, which may be as long as it likes, cut to fit for messages. Returns text. */
#define VIT_NAME_TEXT 104
const char *vit_name_text(char text[VIT_NAME_TEXT], const char *name);

#endif
