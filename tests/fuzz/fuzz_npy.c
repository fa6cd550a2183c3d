/* Any bytes as a .npy array. */
#include "vit/formats/npy.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    vit_error error = {0};
    vit_npy a;
    const vit_status status = vit_npy_view(&a, data, size, "anything", &error);
    if (status != error.status || a.dims > VIT_NPY_MAX_DIMS) abort();
    for (size_t i = 0; status == VIT_OK && i < a.count; i++) {
        int64_t value;
        if (a.kind == 'f' || a.kind == 'V') break;
        if (!vit_npy_integer(&value, &a, data + a.offset + i * a.width) && a.kind != 'u') abort();
    }
    return 0;
}
