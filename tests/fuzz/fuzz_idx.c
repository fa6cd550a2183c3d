/* What comes from files of a data set: gzip, then IDX. The first byte chooses labels or pictures
 * and whether the rest is inflated first. */
#include "datasets/reader.h"
#include "datasets/records/gzip.h"

#include <stdlib.h>

#define LIMIT ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse(const uint8_t *bytes, size_t size, unsigned dimensions) {
    vit_idx idx;
    vit_error error;
    if (vit_idx_parse(&idx, bytes, size, dimensions, "input", &error) != VIT_OK) return;
    if (idx.offset + idx.count * idx.height * idx.width != size) abort();
    /* The sanitizer sees it when what the header promises is not there. */
    volatile uint8_t last = bytes[size - 1];
    (void)last;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    vit_bytes plain;
    vit_error error;
    if (size == 0) return 0;
    unsigned dimensions = data[0] & 1 ? 3 : 1;
    if (data[0] & 2) {
        if (vit_gunzip(&plain, data + 1, size - 1, LIMIT, "input", &error) != VIT_OK) return 0;
        if (plain.size > LIMIT) abort();
        parse(plain.data, plain.size, dimensions);
        vit_free(plain.data);
    } else {
        parse(data + 1, size - 1, dimensions);
    }
    return 0;
}
