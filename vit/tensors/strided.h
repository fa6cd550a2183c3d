/* Elements that do not lie rows first: PyTorch's views, NumPy's Fortran order. */
#ifndef VIT_TENSORS_STRIDED_H
#define VIT_TENSORS_STRIDED_H

#include <stddef.h>

/* out: the elements of `size` bytes each, rows first; element (i0, i1, ...) lies at
 * in + size (i0 strides[0] + i1 strides[1] + ...). dims is at most VIT_MAX_DIMS. */
void vit_strided_copy(void *out, const void *in, size_t size, size_t dims, const size_t *shape,
                      const size_t *strides);

#endif
