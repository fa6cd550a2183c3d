/* The header of a .npy file, versions 1 to 3: a Python dictionary of the element's type, the order
 * and the shape. https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
#ifndef VIT_TENSORS_NPY_H
#define VIT_TENSORS_NPY_H

#include "vit/tensors/tensor.h"

/* The longest header that is read. */
#define VIT_NPY_MAX_HEADER 65536

/* Bytes from which vit_npy_header_size can tell the header's length. */
#define VIT_NPY_PREFIX 12

/* *size: bytes before the elements, at most VIT_NPY_MAX_HEADER. Errors: FORMAT, UNSUPPORTED. */
vit_status vit_npy_header_size(size_t *size, const uint8_t prefix[VIT_NPY_PREFIX],
                               vit_error *error);

/* Fills dtype, dims, shape and count of *tensor; *fortran: the first dimension is the contiguous
 * one. header: [size], all before the elements. BF16 is what NumPy calls V2, a type of two bytes
 * that it does not know. Errors: FORMAT; UNSUPPORTED for types that are not read, big-endian ones
 * among them. */
vit_status vit_npy_parse(vit_tensor *tensor, bool *fortran, const uint8_t *header, size_t size,
                         vit_error *error);

#endif
