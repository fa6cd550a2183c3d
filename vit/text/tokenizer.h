/* The way back from ids to text, with the tokenizers that published models come with. Read as they
 * lie in a model's directory; which one it is follows from the files' names:
 *
 *     tokenizer.json             of the library tokenizers: BPE of bytes, Unigram, WordPiece
 *     vocab.json                 BPE of bytes (GPT-2, RoBERTa)
 *     sentencepiece.bpe.model,   SentencePiece; the first with XLM-R's four signs before the pieces
 *     spiece.model, ...
 *     vocab.txt                  WordPiece (BERT)
 *
 * Beside them, where there are such: added_tokens.json, special_tokens_map.json,
 * tokenizer_config.json. A tokenizer is immutable after it was opened and may be read from any
 * thread.
 */
#ifndef VIT_TEXT_TOKENIZER_H
#define VIT_TEXT_TOKENIZER_H

#include "vit/base/error.h"
#include <stdint.h>

/* How pieces become text. */
typedef enum vit_pieces {
    VIT_PIECES_BYTES,     /* each character of a piece stands for a byte, as in GPT-2 */
    VIT_PIECES_METASPACE, /* U+2581 stands for a space; of "<0x41>" the byte */
    VIT_PIECES_WORDPIECE, /* a space between pieces, but before those that begin with "##" */
    VIT_PIECES_SEPARATE,  /* a space between all */
    VIT_PIECES_COUNT,
} vit_pieces;

typedef struct vit_token {
    char *text;            /* NULL: no token has this id */
    bool special, literal; /* special: no text; literal: stands for itself, whatever the kind */
} vit_token;

typedef struct vit_tokenizer {
    vit_pieces kind;
    vit_token *tokens; /* [count] by id */
    size_t count;
    bool cleans_pieces, cleans; /* WordPiece: no space before punctuation, be it a piece of its own
                                   or anywhere (clean_up_tokenization_spaces) */
} vit_tokenizer;

/* Reads the tokenizer in a directory. IO, naming the files that were looked for, where there is
 * none; FORMAT for a damaged one, UNSUPPORTED for another kind. Freed by vit_tokenizer_free, which
 * is no error after a failure. */
vit_status vit_tokenizer_open(vit_tokenizer *out, const char *directory, vit_error *error);
void vit_tokenizer_free(vit_tokenizer *tokenizer);

/* The text of ids[0..count), without special ones and those that are none; what is no UTF-8 becomes
 * U+FFFD. Freed by vit_free; NULL when there is no memory. */
char *vit_tokenizer_decode(const vit_tokenizer *tokenizer, const uint32_t *ids, size_t count);

/* ---- readers of one file in memory, for tests; `name` stands for it in messages ---- */

vit_status vit_tokenizer_read_json(vit_tokenizer *out, const uint8_t *bytes, size_t size,
                                   const char *name, vit_error *error);
/* fairseq: XLM-R's numbering, with <s>, <pad>, </s>, <unk> first and <mask> last. */
vit_status vit_tokenizer_read_sentencepiece(vit_tokenizer *out, const uint8_t *bytes, size_t size,
                                            bool fairseq, const char *name, vit_error *error);

#endif
