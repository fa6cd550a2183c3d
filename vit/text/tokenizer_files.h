/* Readers of the files of a tokenizer (tokenizer_files.c), for tokenizer.c. They get the bytes of a
 * file, and messages call it `name`. Errors: FORMAT, UNSUPPORTED, MEMORY. */
#ifndef VIT_TEXT_TOKENIZER_FILES_H
#define VIT_TEXT_TOKENIZER_FILES_H

#include "vit/base/sys.h"
#include "vit/text/tokenizer.h"

#define VIT_TOKENIZER_MOST ((size_t)256 << 20) /* the most bytes of a file */

/* Files with the vocabulary. */
vit_status vit_tokenizer_read_vocab_json(vit_tokenizer *out, const vit_bytes *bytes,
                                         const char *name, vit_error *error);
vit_status vit_tokenizer_read_vocab_txt(vit_tokenizer *out, const vit_bytes *bytes,
                                        const char *name, vit_error *error);

/* Files beside it: added_tokens.json, {"text": id}; special_tokens_map.json, which tokens are
 * special; tokenizer_config.json, which are special and how spaces are cleaned up. */
vit_status vit_tokenizer_read_added(vit_tokenizer *out, const vit_bytes *bytes, const char *name,
                                    vit_error *error);
vit_status vit_tokenizer_read_special(vit_tokenizer *out, const vit_bytes *bytes, const char *name,
                                      vit_error *error);
vit_status vit_tokenizer_read_config(vit_tokenizer *out, const vit_bytes *bytes, const char *name,
                                     vit_error *error);

#endif
