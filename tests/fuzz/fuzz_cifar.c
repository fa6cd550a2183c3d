/* Files of CIFAR records. The first byte chooses CIFAR-10 or CIFAR-100. */
#include "datasets/reader.h"
#include "vit/base/sys.h"

#include <stdlib.h>

#define PICTURE 3072

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void unpack(const uint8_t *bytes, size_t count, unsigned classes) {
    uint8_t *pixels = vit_alloc(count, PICTURE);
    uint16_t *labels = vit_alloc(count, sizeof *labels);
    if (pixels == NULL || labels == NULL) abort();
    vit_cifar_unpack(pixels, labels, bytes, count, classes);
    for (size_t i = 0; i < count; i++)
        if (labels[i] >= classes) abort();
    vit_free(pixels);
    vit_free(labels);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t count;
    vit_error error;
    if (size == 0) return 0;
    unsigned classes = data[0] & 1 ? 100 : 10;
    if (vit_cifar_parse(&count, data + 1, size - 1, classes, "input", &error) != VIT_OK) return 0;
    if (count * (PICTURE + (classes == 100 ? 2u : 1u)) != size - 1) abort();
    unpack(data + 1, count, classes);
    return 0;
}
