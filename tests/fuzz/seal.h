/* Inputs as files; and right checksums in place of theirs, so that what is behind them is reached.
 */
#ifndef VIT_TESTS_FUZZ_SEAL_H
#define VIT_TESTS_FUZZ_SEAL_H

#include "vit/formats/sha256.h"
#include "vit/tensors/checksum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Without waiting for the disk, as vit_write_file does. */
static inline void put_input(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
}

/* A copy of a safetensors file with the checksum of its bytes, if it has a place for one. */
static inline uint8_t *seal_tensors(const uint8_t *data, size_t size) {
    static const char mark[] = "\"" VIT_CHECKSUM_KEY "\":\"";
    const size_t length = sizeof mark - 1;
    uint8_t *copy = malloc(size + 1);
    char hex[65];
    if (!copy) abort();
    if (size > 0) memcpy(copy, data, size);
    for (size_t at = 8; at + length + 64 <= size; at++) {
        if (memcmp(copy + at, mark, length) != 0) continue;
        memcpy(copy + at + length, vit_checksum_zeros, 64);
        vit_sha256_of(hex, copy, size);
        memcpy(copy + at + length, hex, 64);
        break;
    }
    return copy;
}

#endif
