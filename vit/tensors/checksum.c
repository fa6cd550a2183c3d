#include "vit/tensors/checksum.h"
#include "vit/base/sha256.h"
#include <string.h>

const char vit_checksum_zeros[65] =
    "0000000000000000000000000000000000000000000000000000000000000000";

/* The place of the checksum's 64 digits within a file, or 0. */
static size_t find_checksum(const vit_bytes *b) {
    static const char mark[] = "\"" VIT_CHECKSUM_KEY "\":\"";
    const size_t length = sizeof mark - 1;
    uint64_t header = 0;
    for (size_t i = 0; i < 8 && b->size >= 8; i++) header |= (uint64_t)b->data[i] << (8 * i);
    if (b->size < 8 || header > b->size - 8 || header < length + 64) return 0;
    for (size_t i = 8; i + length + 64 <= 8 + header; i++)
        if (memcmp(b->data + i, mark, length) == 0) return i + length;
    return 0;
}

vit_status vit_checksum_verify(const vit_bytes *b, const char *path, vit_error *error) {
    const size_t at = find_checksum(b);
    vit_sha256 hash;
    char hex[65];
    if (at == 0)
        return vit_fail(error, VIT_ERROR_FORMAT, "%s has no checksum: it is cut or damaged", path);
    vit_sha256_start(&hash);
    vit_sha256_add(&hash, b->data, at);
    vit_sha256_add(&hash, vit_checksum_zeros, 64);
    vit_sha256_add(&hash, b->data + at + 64, b->size - at - 64);
    vit_sha256_hex(&hash, hex);
    if (memcmp(hex, b->data + at, 64) == 0) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s is damaged: its bytes have the checksum %.12s..., it says %.12s...", path,
                    hex, (const char *)b->data + at);
}
