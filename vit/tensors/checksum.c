#include "vit/tensors/checksum.h"
#include "vit/formats/sha256.h"
#include <string.h>

const char vit_checksum_zeros[65] =
    "0000000000000000000000000000000000000000000000000000000000000000";

/* The offset in the file of the checksum's 64 digits; 0: there is no checksum. */
static size_t find_checksum(const uint8_t *bytes, size_t size) {
    static const char mark[] = "\"" VIT_CHECKSUM_KEY "\":\"";
    const size_t length = sizeof mark - 1;
    uint64_t header = 0;
    for (size_t i = 0; i < 8 && size >= 8; i++) header |= (uint64_t)bytes[i] << (8 * i);
    if (size < 8 || header > size - 8 || header < length + 64) return 0;
    for (size_t i = 8; i + length + 64 <= 8 + header; i++)
        if (memcmp(bytes + i, mark, length) == 0) return i + length;
    return 0;
}

vit_status vit_checksum_verify(const uint8_t *bytes, size_t size, const char *path,
                               vit_error *error) {
    const size_t at = find_checksum(bytes, size);
    vit_sha256 hash;
    char hex[65];
    if (at == 0)
        return vit_fail(error, VIT_ERROR_FORMAT, "%s has no checksum: it is cut off or damaged",
                        path);
    vit_sha256_start(&hash);
    vit_sha256_add(&hash, bytes, at);
    vit_sha256_add(&hash, vit_checksum_zeros, 64);
    vit_sha256_add(&hash, bytes + at + 64, size - at - 64);
    vit_sha256_hex(&hash, hex);
    if (memcmp(hex, bytes + at, 64) == 0) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s is damaged: its bytes have the checksum %.12s..., expected %.12s...", path,
                    hex, (const char *)bytes + at);
}
