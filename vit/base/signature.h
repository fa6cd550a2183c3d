/* Kinds of files, told by their first bytes. */
#ifndef VIT_BASE_SIGNATURE_H
#define VIT_BASE_SIGNATURE_H

#include <stddef.h>
#include <stdint.h>

typedef struct vit_signature {
    size_t at, size; /* the file has these bytes there */
    const char *bytes;
    const char *what; /* what it is, for "the file is ..." */
} vit_signature;

/* A row of a table of them; `bytes` is a string literal, which may hold zeros. */
#define VIT_SIGNATURE(at, bytes, what) \
    { at, sizeof(bytes) - 1, bytes, what }

/* `what` of the first row that the file begins as, or NULL. */
const char *vit_signature_find(const vit_signature *rows, size_t count, const uint8_t *bytes,
                               size_t size);

#endif
