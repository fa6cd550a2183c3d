/* Recognising kinds of files by their first bytes. */
#ifndef VIT_FORMATS_SIGNATURE_H
#define VIT_FORMATS_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct vit_signature {
    size_t at, size; /* offset and number of the bytes */
    const char *bytes;
    const char *what; /* what the file is, to follow "the file is" */
} vit_signature;

/* A row of a table of signatures; `bytes` is a string literal, which may contain zeros. */
#define VIT_SIGNATURE(at, bytes, what) \
    { at, sizeof(bytes) - 1, bytes, what }

/* Whether the file has the bytes of this row. */
bool vit_signature_fits(const vit_signature *row, const uint8_t *bytes, size_t size);

/* `what` of the first row that matches the file, or NULL. */
const char *vit_signature_find(const vit_signature *rows, size_t count, const uint8_t *bytes,
                               size_t size);

#endif
