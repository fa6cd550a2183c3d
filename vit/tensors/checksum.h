/* Safetensors files with a SHA-256 of all their bytes in the metadata. */
#ifndef VIT_TENSORS_CHECKSUM_H
#define VIT_TENSORS_CHECKSUM_H

#include "vit/base/error.h"

#define VIT_CHECKSUM_KEY "vit.sha256"

/* The checksum is computed of the file with these digits in the place of the checksum. */
extern const char vit_checksum_zeros[65];

/* FORMAT if the file has no checksum, or one that differs. `path` is for messages. */
vit_status vit_checksum_verify(const uint8_t *bytes, size_t size, const char *path,
                               vit_error *error);

#endif
