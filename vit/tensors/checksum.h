/* A safetensors file that has the SHA-256 of all its bytes in its metadata. */
#ifndef VIT_TENSORS_CHECKSUM_H
#define VIT_TENSORS_CHECKSUM_H

#include "vit/base/error.h"

#define VIT_CHECKSUM_KEY "vit.sha256"

/* The checksum is that of the file with these digits in its place. */
extern const char vit_checksum_zeros[65];

/* FORMAT where there is none, or it is another. `path` is for messages. */
vit_status vit_checksum_verify(const uint8_t *bytes, size_t size, const char *path,
                               vit_error *error);

#endif
