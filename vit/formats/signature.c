#include "vit/formats/signature.h"
#include <string.h>

bool vit_signature_fits(const vit_signature *row, const uint8_t *bytes, size_t size) {
    return size >= row->at + row->size && memcmp(bytes + row->at, row->bytes, row->size) == 0;
}

const char *vit_signature_find(const vit_signature *rows, size_t count, const uint8_t *bytes,
                               size_t size) {
    for (size_t i = 0; i < count; i++)
        if (vit_signature_fits(&rows[i], bytes, size)) return rows[i].what;
    return NULL;
}
