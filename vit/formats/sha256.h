/* SHA-256 (FIPS 180-4), for fingerprints of data sets and checksums of files.
 *
 *     vit_sha256 hash;
 *     char hex[65];
 *     vit_sha256_start(&hash);
 *     vit_sha256_add(&hash, bytes, size);
 *     vit_sha256_hex(&hash, hex);
 */
#ifndef VIT_FORMATS_SHA256_H
#define VIT_FORMATS_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct vit_sha256 {
    uint32_t state[8];
    uint64_t length;   /* bytes added so far */
    uint8_t block[64]; /* the last length % 64 of them */
} vit_sha256;

void vit_sha256_start(vit_sha256 *hash);
void vit_sha256_add(vit_sha256 *hash, const void *bytes, size_t size);

/* Each of these finishes the hash, which must be started again before further use. */
void vit_sha256_end(vit_sha256 *hash, uint8_t digest[32]);
void vit_sha256_hex(vit_sha256 *hash, char hex[65]); /* 64 lower-case digits and a 0 */

/* A digest in 64 lower-case digits and a 0. */
void vit_sha256_digits(char hex[65], const uint8_t digest[32]);

/* All of these steps. */
void vit_sha256_digest(uint8_t digest[32], const void *bytes, size_t size);
void vit_sha256_of(char hex[65], const void *bytes, size_t size);

#endif
