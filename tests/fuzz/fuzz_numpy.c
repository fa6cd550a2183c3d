/* Any bytes as an archive of arrays to train with. */
#include "datasets/records/numpy.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const vit_dataset_options o = {.need = VIT_PART_TRAIN, .want = VIT_PART_TRAIN | VIT_PART_TEST};
    vit_error error = {0};
    vit_dataset d = {0};
    const vit_status status = vit_numpy_parse(&d, data, size, "fuzz.npz", &o, &error);
    if (status != error.status) abort();
    for (size_t i = 0; status == VIT_OK && i < d.train.count; i++)
        if (d.train.labels[i] >= d.classes) abort();
    vit_dataset_close(&d);
    return 0;
}
