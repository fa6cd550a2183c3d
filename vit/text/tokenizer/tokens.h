/* The tokens of a tokenizer: a table by id, an index by text. Both belong to a vit_tokenizer
 * (tokenizer.h) and are freed with it. */
#ifndef VIT_TEXT_TOKENIZER_TOKENS_H
#define VIT_TEXT_TOKENIZER_TOKENS_H

#include "vit/text/tokenizer/tokenizer.h"

/* Sets the text of an id, which is copied; the table grows if it must. UNSUPPORTED for an id of
 * VIT_MOST_IDS or more. Messages call the file `name`. */
vit_status vit_tokens_put(vit_tokenizer *t, size_t id, const char *text, size_t length,
                          const char *name, vit_error *error);

/* The same with a 0-terminated text in memory of vit_tokens_room, which is not copied. */
vit_status vit_tokens_keep(vit_tokenizer *t, size_t id, char *text, size_t length, const char *name,
                           vit_error *error);

/* `size` bytes that live as long as the tokenizer; NULL if there is no memory. */
char *vit_tokens_room(vit_tokenizer *t, size_t size);

/* Makes the text of an id known to vit_tokens_find. Of two ids with the same text the later one is
 * found; *again (may be NULL) says whether there was one before. MEMORY. */
vit_status vit_tokens_index(vit_tokenizer *t, size_t id, bool *again, vit_error *error);

/* The id of a text among the indexed ones, or VIT_NO_ID. */
uint32_t vit_tokens_find(const vit_tokenizer *t, const char *text, size_t length);

/* The id of any text in the table, also one that is not indexed, or VIT_NO_ID. */
uint32_t vit_tokens_look(const vit_tokenizer *t, const char *text);

#endif
