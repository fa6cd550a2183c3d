/* Any bytes as a file of weights: safetensors, npz or PyTorch. What is found must be safe to read.
 */
#include "vit/tensors/tensors.h"

#include "vit/base/sys.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds) {
    if (!holds) abort();
}

/* No element without a byte behind it: deflated ones may be a thousand times smaller. */
static void read_tensor(const vit_tensors *file, const vit_tensor *tensor, size_t size) {
    vit_error error = {0};
    require(vit_tensors_find(file, tensor->name) == tensor);
    require(tensor->count / 1100 <= size);
    float *values = vit_alloc(tensor->count, sizeof *values);
    if (!values) return;
    const vit_status status = vit_tensors_read(file, tensor, values, &error);
    require(status == VIT_OK || (error.status == status && !strchr(error.message, '\n')));
    vit_free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    vit_tensors *file;
    vit_error error = {0};
    const vit_status status = vit_tensors_parse(&file, data, size, "input", &error);
    if (status != VIT_OK) {
        require(!file && error.status == status && !strchr(error.message, '\n'));
        return 0;
    }
    for (size_t i = 0; i < vit_tensors_count(file); i++)
        read_tensor(file, vit_tensors_at(file, i), size);
    vit_tensors_close(file);
    return 0;
}
