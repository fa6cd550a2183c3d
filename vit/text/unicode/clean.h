/* What OpenCLIP does to texts before its tokenizers see them. */
#ifndef VIT_TEXT_UNICODE_CLEAN_H
#define VIT_TEXT_UNICODE_CLEAN_H

#include "vit/base/text.h"

typedef enum vit_cleaning {
    VIT_CLEAN_NONE,
    VIT_CLEAN_WHITESPACE,   /* mended and unescaped, single spaces */
    VIT_CLEAN_LOWER,        /* and in lower case */
    VIT_CLEAN_CANONICALIZE, /* and without ASCII punctuation */
    VIT_CLEANING_COUNT,
} vit_cleaning;

/* "whitespace", "lower", "canonicalize"; false: another name. */
bool vit_cleaning_named(vit_cleaning *out, const char *name);

/* Appends text[0..length), valid UTF-8, as open_clip's clean functions make it with ftfy 6.3:
 * straight quotes, no ligatures, one width, NFC, no control characters, HTML's entities resolved.
 * UNSUPPORTED for what looks like UTF-8 that was read in another encoding, which ftfy would guess
 * at; MEMORY. */
vit_status vit_text_clean(vit_string *out, vit_cleaning how, const char *text, size_t length,
                          vit_error *error);

#endif
