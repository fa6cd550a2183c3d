/* The table of a SentencePiece model that replaces characters (precompiled_charsmap): a
 * double-array trie of what is replaced, and the texts for it. */
#ifndef VIT_TEXT_TOKENIZER_CHARSMAP_H
#define VIT_TEXT_TOKENIZER_CHARSMAP_H

#include "vit/base/text.h"

typedef struct vit_charsmap {
    uint32_t *units; /* [count] of the trie, owned with the rest */
    size_t count;
    char *texts; /* [size] 0-terminated */
    size_t size;
} vit_charsmap;

/* Freed by vit_charsmap_free. bytes[0..size) of 0: a table that replaces nothing. FORMAT for a
 * damaged one; messages call the file `name`. */
vit_status vit_charsmap_new(vit_charsmap **out, const uint8_t *bytes, size_t size, const char *name,
                            vit_error *error);
void vit_charsmap_free(vit_charsmap *map); /* takes NULL */

/* What the longest (or the shortest) beginning of text[0..length) that is in the table is replaced
 * by, and *taken, its length; NULL: none is. */
const char *vit_charsmap_find(const vit_charsmap *map, const char *text, size_t length,
                              bool longest, size_t *taken);

#endif
