/* Any bytes as the header of a .npy array. */
#include "vit/tensors/npy.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    vit_error error = {0};
    vit_tensor tensor = {0};
    bool fortran = false;
    size_t header = 0;
    if (size < VIT_NPY_PREFIX || vit_npy_header_size(&header, data, &error) != VIT_OK ||
        header > size)
        return 0;
    const vit_status status = vit_npy_parse(&tensor, &fortran, data, header, &error);
    if (status != error.status || tensor.dims > VIT_MAX_DIMS || tensor.dtype > VIT_BOOL) abort();
    return 0;
}
