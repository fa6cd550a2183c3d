/* Any bytes as a safetensors file: what the reader takes must be safe to use. */
#include "vit/tensors/safetensors.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds) {
    if (!holds) abort();
}

static void use_tensor(const vit_safetensors *file, const vit_tensor *tensor) {
    vit_error error;
    size_t bytes = tensor->count * vit_dtype_size(tensor->dtype);
    require(vit_safetensors_find(file, tensor->name) == tensor);
    if (bytes > 0) {
        volatile uint8_t ends = ((const uint8_t *)tensor->data)[0];
        ends = ((const uint8_t *)tensor->data)[bytes - 1];
        (void)ends;
    }
    float *values = vit_alloc(tensor->count, sizeof *values);
    if (values) vit_tensor_floats(tensor, values, &error);
    vit_free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    vit_safetensors *file;
    vit_error error = {0};
    vit_status status = vit_safetensors_parse(&file, data, size, "input", &error);
    if (status != VIT_OK) {
        require(!file && error.status == status && !strchr(error.message, '\n'));
        return 0;
    }
    vit_safetensors_metadata(file, "format");
    for (size_t i = 0; i < vit_safetensors_count(file); i++)
        use_tensor(file, vit_safetensors_at(file, i));
    vit_safetensors_close(file);
    return 0;
}
