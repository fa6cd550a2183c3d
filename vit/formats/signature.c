#include "vit/formats/signature.h"
#include <string.h>

const char *vit_signature_find(const vit_signature *rows, size_t count, const uint8_t *bytes,
                               size_t size) {
    for (size_t i = 0; i < count; i++) {
        const vit_signature *s = &rows[i];
        if (size >= s->at + s->size && memcmp(bytes + s->at, s->bytes, s->size) == 0)
            return s->what;
    }
    return NULL;
}
