#include "vit/tensors/strided.h"

#include "vit/tensors/tensor.h"

#include <string.h>

static void copy_row(unsigned char *out, const unsigned char *in, size_t size, size_t count,
                     size_t stride) {
    if (stride == 1) {
        memcpy(out, in, count * size);
        return;
    }
    for (size_t i = 0; i < count; i++) memcpy(out + i * size, in + i * stride * size, size);
}

void vit_strided_copy(void *out, const void *in, size_t size, size_t dims, const size_t *shape,
                      const size_t *strides) {
    size_t index[VIT_MAX_DIMS] = {0};
    const size_t last = dims > 0 ? dims - 1 : 0, row = dims > 0 ? shape[last] : 1;
    unsigned char *to = out;
    for (size_t i = 0; i < dims; i++)
        if (shape[i] == 0) return;
    for (;;) {
        size_t at = 0;
        for (size_t i = 0; i < last; i++) at += index[i] * strides[i];
        copy_row(to, (const unsigned char *)in + at * size, size, row,
                 dims > 0 ? strides[last] : 1);
        to += row * size;
        size_t d = last;
        while (d > 0 && ++index[d - 1] == shape[d - 1]) index[--d] = 0;
        if (d == 0) return;
    }
}
