/* Inside the room: what fills a tokenizer, one function a file. Each gets a file's bytes. */
#ifndef VIT_TEXT_TOKENIZER_FILES_H
#define VIT_TEXT_TOKENIZER_FILES_H

#include "vit/base/sys.h"
#include "vit/text/tokenizer.h"

#define VIT_TOKENIZER_MOST ((size_t)256 << 20) /* bytes of a file */

/* The whole vocabulary. */
vit_status vit_tokenizer_read_vocab_json(vit_tokenizer *out, const vit_bytes *bytes,
                                         const char *name, vit_error *error);
vit_status vit_tokenizer_read_vocab_txt(vit_tokenizer *out, const vit_bytes *bytes,
                                        const char *name, vit_error *error);

/* What lies beside it: more tokens, {"text": id}; which are special; clean_up_tokenization_spaces
 * and added_tokens_decoder. */
vit_status vit_tokenizer_read_added(vit_tokenizer *out, const vit_bytes *bytes, const char *name,
                                    vit_error *error);
vit_status vit_tokenizer_read_special(vit_tokenizer *out, const vit_bytes *bytes, const char *name,
                                      vit_error *error);
vit_status vit_tokenizer_read_config(vit_tokenizer *out, const vit_bytes *bytes, const char *name,
                                     vit_error *error);

/* Of bytes[0..size) that begin with no character: how many one U+FFFD stands for, those that could
 * begin one (Unicode 15, "maximal subpart"); at least 1. */
size_t vit_tokenizer_bad_length(const uint8_t *bytes, size_t size);

#endif
