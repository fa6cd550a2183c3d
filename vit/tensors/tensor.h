/* A tensor in a file of weights: its type, its shape and its elements. */
#ifndef VIT_TENSORS_TENSOR_H
#define VIT_TENSORS_TENSOR_H

#include "vit/base/error.h"
#include "vit/base/text.h"
#include "vit/formats/npy.h"

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

const char *vit_dtype_name(vit_dtype dtype); /* as in safetensors: "F32" */
size_t vit_dtype_size(vit_dtype dtype);      /* bytes of an element */
bool vit_dtype_holds_weights(vit_dtype dtype);

#define VIT_MAX_DIMS 8

typedef struct vit_tensor {
    const char *name; /* UTF-8, 0-terminated */
    vit_dtype dtype;
    size_t dims, shape[VIT_MAX_DIMS];
    size_t count;     /* elements: the product of shape, 1 for a scalar */
    const void *data; /* little-endian, count * size bytes, not necessarily aligned */
} vit_tensor;

/* values [tensor->count] = the elements as float32. F32, F16 and BF16 are exact, F64 is rounded to
 * nearest. UNSUPPORTED for BOOL, and for an element that float32 cannot hold: a finite F64 that
 * would become infinite, an integer that would be rounded. */
vit_status vit_tensor_floats(const vit_tensor *tensor, float *values, vit_error *error);

/* FORMAT if one of values [tensor->count] is NaN or infinite; names the tensor and the element.
 * vit_tensor_check_data: the same of its own elements; errors of vit_tensor_floats, too. */
vit_status vit_tensor_check_finite(const vit_tensor *tensor, const float *values, vit_error *error);
vit_status vit_tensor_check_data(const vit_tensor *tensor, vit_error *error);

/* elements [count] of type F32, F16 or BF16 = values, rounded to nearest, ties to even. Returns
 * count, or the index of the first finite value that F16 cannot hold: it and those after it are not
 * written. */
size_t vit_tensor_encode(void *elements, vit_dtype dtype, const float *values, size_t count);

/* out [count] = elements of `size` bytes in row-major order, of which (i0, i1, ...) is stored at
 * in + size (i0 strides[0] + i1 strides[1] + ...): PyTorch's views, NumPy's Fortran order. dims is
 * at most VIT_MAX_DIMS. */
void vit_strided_copy(void *out, const void *in, size_t size, size_t dims, const size_t *shape,
                      const size_t *strides);

/* A name from a file, which may be of any length, shortened for messages. Returns text. */
#define VIT_NAME_TEXT 104
const char *vit_name_text(char text[VIT_NAME_TEXT], const char *name);

/* ---- arrays of NumPy ---- */

/* The types of arrays that are read as tensors, for messages. */
#define VIT_NPY_WEIGHTS "<f4, <f2, <f8, bfloat16 (V2), or integers for counters"

/* Sets dtype, dims, shape and count from the header of an array. Errors: UNSUPPORTED for types that
 * are no vit_dtype. */
vit_status vit_npy_tensor(vit_tensor *out, const vit_npy *array, vit_error *error);

#endif
