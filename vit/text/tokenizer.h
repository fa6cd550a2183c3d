/* From ids to text, with the tokenizers of published models. They are read from the model's
 * directory; the names of the files tell which kind it is:
 *
 *     tokenizer.json             of the library tokenizers: BPE of bytes, Unigram, WordPiece
 *     vocab.json                 BPE of bytes (GPT-2, RoBERTa)
 *     sentencepiece.bpe.model,   SentencePiece; the first with XLM-R's numbering
 *     spiece.model, ...
 *     vocab.txt                  WordPiece (BERT)
 *
 * and, if they are there, added_tokens.json, special_tokens_map.json and tokenizer_config.json. An
 * open tokenizer is immutable and may be used from any thread.
 */
#ifndef VIT_TEXT_TOKENIZER_H
#define VIT_TEXT_TOKENIZER_H

#include "vit/base/error.h"
#include <stdint.h>

/* How pieces become text. */
typedef enum vit_pieces {
    VIT_PIECES_BYTES,     /* each character of a piece stands for a byte, as in GPT-2 */
    VIT_PIECES_METASPACE, /* U+2581 stands for a space, the piece "<0x41>" for a byte */
    VIT_PIECES_WORDPIECE, /* a space before every piece that does not begin with "##" */
    VIT_PIECES_SEPARATE,  /* a space between any two pieces */
    VIT_PIECES_COUNT,
} vit_pieces;

typedef struct vit_token {
    char *text;   /* NULL: no token has this id */
    bool special; /* left out of texts */
    bool literal; /* is its own text, whatever the kind */
} vit_token;

typedef struct vit_tokenizer {
    vit_pieces kind;
    vit_token *tokens; /* [count] by id */
    size_t count;
    bool cleans_pieces; /* WordPiece: no space before a piece that is punctuation */
    bool cleans;        /* the same anywhere in a text (clean_up_tokenization_spaces) */
} vit_tokenizer;

/* Reads the tokenizer in a directory. IO if there is none, naming the files that were looked for;
 * FORMAT if it is damaged; UNSUPPORTED for other kinds. */
vit_status vit_tokenizer_open(vit_tokenizer *out, const char *directory, vit_error *error);
void vit_tokenizer_free(vit_tokenizer *tokenizer); /* also after a failure */

/* The text of ids[0..count), without special and unknown ones; bytes that are not UTF-8 become
 * U+FFFD. Freed by vit_free; NULL if there is no memory. */
char *vit_tokenizer_decode(const vit_tokenizer *tokenizer, const uint32_t *ids, size_t count);

/* ---- readers of one file in memory, also for tests; messages call it `name` ---- */

/* tokenizer.json */
vit_status vit_tokenizer_read_json(vit_tokenizer *out, const uint8_t *bytes, size_t size,
                                   const char *name, vit_error *error);

/* A SentencePiece model. fairseq: with XLM-R's numbering, which has <s>, <pad>, </s> and <unk>
 * first and <mask> last. */
vit_status vit_tokenizer_read_sentencepiece(vit_tokenizer *out, const uint8_t *bytes, size_t size,
                                            bool fairseq, const char *name, vit_error *error);

#endif
