/* Readers of the files of a tokenizer (tokenizer_files.c), for tokenizer.c. They get the bytes of a
 * file, and messages call it `name`. Errors: FORMAT, UNSUPPORTED, MEMORY. */
#ifndef VIT_TEXT_TOKENIZER_TOKENIZER_FILES_H
#define VIT_TEXT_TOKENIZER_TOKENIZER_FILES_H

#include "vit/base/sys.h"
#include "vit/formats/json.h"
#include "vit/text/tokenizer/tokenizer.h"

#define VIT_TOKENIZER_MOST ((size_t)256 << 20) /* the most bytes of a file */

/* Files with the vocabulary. Where the tokenizer has an encoder, how to encode is read, too. */
vit_status vit_tokenizer_read_whole(vit_tokenizer *t, const vit_bytes *bytes, const char *name,
                                    vit_error *error); /* tokenizer.json */
vit_status vit_tokenizer_read_spm(vit_tokenizer *t, const uint8_t *bytes, size_t size, bool fairseq,
                                  const char *name, vit_error *error);
vit_status vit_tokenizer_read_vocab_json(vit_tokenizer *out, const vit_bytes *bytes,
                                         const char *name, vit_error *error);
vit_status vit_tokenizer_read_vocab_txt(vit_tokenizer *out, const vit_bytes *bytes,
                                        const char *name, vit_error *error);

/* merges.txt, for a tokenizer that has its vocabulary and an encoder. */
vit_status vit_tokenizer_read_merges(vit_tokenizer *t, const vit_bytes *bytes, const char *name,
                                     vit_error *error);

/* Files beside it: added_tokens.json, {"text": id}; special_tokens_map.json, which tokens are
 * special; tokenizer_config.json, which are special and how spaces are cleaned up. */
vit_status vit_tokenizer_read_added(vit_tokenizer *out, const vit_bytes *bytes, const char *name,
                                    vit_error *error);
vit_status vit_tokenizer_read_special(vit_tokenizer *out, const vit_bytes *bytes, const char *name,
                                      vit_error *error);
vit_status vit_tokenizer_read_config(vit_tokenizer *out, const vit_bytes *bytes, const char *name,
                                     vit_error *error);

/* ---- for these readers ---- */

/* Puts a token of an id in JSON. */
vit_status vit_tokens_put_json(vit_tokenizer *t, const json_t *id, const char *text,
                               const char *name, vit_error *error);

/* Makes the token with this text special, if there is one; takes NULL. */
void vit_tokens_mark(vit_tokenizer *t, const char *text);

/* The text of a special token, which is given as a string or as an object with it; NULL: none. */
const char *vit_token_content(const json_t *value);

#endif
