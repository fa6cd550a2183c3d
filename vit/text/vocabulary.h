/* Text <-> ids, for models that are trained here. A sign is a character, or a word; the vocabulary
 * has the signs of the training texts. (Published models have tokenizers: tokenizer/.)
 *
 * The first two ids are no signs: a decoder begins with START and ends with END. They are not part
 * of an encoded text; whoever feeds a network adds them.
 *
 * A vocabulary is immutable after it was made and may be used from any thread.
 */
#ifndef VIT_TEXT_VOCABULARY_H
#define VIT_TEXT_VOCABULARY_H

#include "vit/base/error.h"
#include <stdint.h>

enum { VIT_ID_START, VIT_ID_END, VIT_ID_FIRST }; /* FIRST: the id of the first sign */

/* An encoded text. */
typedef struct vit_ids {
    const uint32_t *ids;
    size_t count;
} vit_ids;

typedef enum vit_signs {
    VIT_SIGNS_CHARACTERS, /* Unicode characters */
    VIT_SIGNS_WORDS,      /* what spaces separate; decoded with one space between two */
    VIT_SIGNS_COUNT,
} vit_signs;

typedef struct vit_vocabulary {
    vit_signs signs;
    size_t count; /* of ids, START and END included; 0: there is no vocabulary */
    char **texts; /* [count] signs, "" for START and END, sorted as bytes; one block, owned */
} vit_vocabulary;

#define VIT_MOST_IDS ((size_t)1 << 20)

/* Makes the vocabulary of the signs of texts[0..count). FORMAT for a text that is not valid UTF-8,
 * which is quoted; UNSUPPORTED for more than VIT_MOST_IDS signs. */
vit_status vit_vocabulary_new(vit_vocabulary *out, vit_signs signs, const char *const *texts,
                              size_t count, vit_error *error);
void vit_vocabulary_free(vit_vocabulary *vocabulary);

/* Copies a vocabulary; the copy of an empty one has START and END only. */
vit_status vit_vocabulary_copy(vit_vocabulary *out, const vit_vocabulary *from, vit_error *error);

/* Whether both have the same signs. */
bool vit_vocabulary_equal(const vit_vocabulary *a, const vit_vocabulary *b);

/* ids[0..*count) = the encoded text, at most `most` ids; ids NULL: they are only counted. MISMATCH
 * for a sign that is not in the vocabulary, which is named, and for a text with more signs; FORMAT
 * for invalid UTF-8. An empty text has no ids. */
vit_status vit_vocabulary_encode(uint32_t *ids, size_t *count, size_t most,
                                 const vit_vocabulary *vocabulary, const char *text,
                                 vit_error *error);

/* The text of ids[0..count), without START, END and numbers that are no ids. Freed by vit_free;
 * NULL if there is no memory. */
char *vit_vocabulary_decode(const vit_vocabulary *vocabulary, const uint32_t *ids, size_t count);

/* The vocabulary as JSON, as it is in a model file: {"signs": "characters", "texts": ["a", "b"]},
 * without START and END. Freed by vit_free; NULL if there is no memory. */
char *vit_vocabulary_write(const vit_vocabulary *vocabulary);

/* The vocabulary of such JSON. FORMAT for anything else; messages call the JSON `name`. */
vit_status vit_vocabulary_read(vit_vocabulary *out, const char *json, const char *name,
                               vit_error *error);

#endif
