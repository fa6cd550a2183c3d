/* Text <-> ids, of a model that is trained here: its signs are characters, or words, and it knows
 * those that its training texts have. (Those of published models come with tokenizers of their
 * own.)
 *
 * The first two ids are no text: a decoder begins with START and ends with END. A text as ids has
 * neither; who feeds a network puts them there.
 *
 * A vocabulary is immutable after it was made and may be read from any thread.
 */
#ifndef VIT_TEXT_VOCABULARY_H
#define VIT_TEXT_VOCABULARY_H

#include "vit/base/error.h"
#include <stdint.h>

enum { VIT_ID_START, VIT_ID_END, VIT_ID_FIRST }; /* FIRST: of the signs */

/* A text as ids. */
typedef struct vit_ids {
    const uint32_t *ids;
    size_t count;
} vit_ids;

typedef enum vit_signs {
    VIT_SIGNS_CHARACTERS, /* of UTF-8, one by one */
    VIT_SIGNS_WORDS,      /* between spaces; written with one space between two */
    VIT_SIGNS_COUNT,
} vit_signs;

typedef struct vit_vocabulary {
    vit_signs signs;
    size_t count; /* ids, with the first two; 0: there is none */
    char **texts; /* [count] what each stands for, "" for the first two; one block, owned */
} vit_vocabulary;

#define VIT_MOST_IDS ((size_t)1 << 20)

/* The signs of texts[0..count), each once, in the order of their bytes. FORMAT, naming it, for a
 * text that is not valid UTF-8; UNSUPPORTED for more than VIT_MOST_IDS. */
vit_status vit_vocabulary_new(vit_vocabulary *out, vit_signs signs, const char *const *texts,
                              size_t count, vit_error *error);
void vit_vocabulary_free(vit_vocabulary *vocabulary);

vit_status vit_vocabulary_copy(vit_vocabulary *out, const vit_vocabulary *from, vit_error *error);
bool vit_vocabulary_equal(const vit_vocabulary *a, const vit_vocabulary *b);

/* ids[0..*count) = text, at most `most` of them; ids NULL: only counted. MISMATCH for a sign that
 * is not in the vocabulary, which is named, and for a text that is longer; FORMAT for what is not
 * UTF-8. An empty text has no ids: whether it may be is the caller's to say. */
vit_status vit_vocabulary_encode(uint32_t *ids, size_t *count, size_t most,
                                 const vit_vocabulary *vocabulary, const char *text,
                                 vit_error *error);

/* The text of ids[0..count), freed by vit_free; START, END and what is no id are left out. NULL
 * when there is no memory. */
char *vit_vocabulary_decode(const vit_vocabulary *vocabulary, const uint32_t *ids, size_t count);

/* JSON, as a model file keeps it: {"signs": "characters", "texts": ["a", "b"]}, without the first
 * two. Written: freed by vit_free, NULL when there is no memory; `name` stands for where the text
 * came from. */
char *vit_vocabulary_write(const vit_vocabulary *vocabulary);
vit_status vit_vocabulary_read(vit_vocabulary *out, const char *json, const char *name,
                               vit_error *error);

#endif
