/* Texts <-> ids, with the tokenizers of published models. They are read from the model's directory;
 * the names of the files tell which kind it is:
 *
 *     tokenizer.json             of the library tokenizers: BPE, Unigram, WordPiece, WordLevel
 *     vocab.json, merges.txt     BPE of bytes (CLIP, GPT-2, RoBERTa)
 *     sentencepiece.bpe.model,   SentencePiece; the first with XLM-R's numbering
 *     spiece.model, ...
 *     vocab.txt                  WordPiece (BERT)
 *
 * and, if they are there, added_tokens.json, special_tokens_map.json, tokenizer_config.json and
 * config.json. An open tokenizer is immutable and may be used from any thread.
 */
#ifndef VIT_TEXT_TOKENIZER_TOKENIZER_H
#define VIT_TEXT_TOKENIZER_TOKENIZER_H

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
    const char *text; /* NULL: no token has this id */
    uint32_t length;  /* in bytes */
    bool special;     /* left out of texts */
    bool literal;     /* is its own text, whatever the kind */
} vit_token;

#define VIT_NO_ID UINT32_MAX

typedef struct vit_encoder vit_encoder; /* how texts become ids (encoder.h) */

typedef struct vit_tokenizer {
    vit_pieces kind;
    vit_token *tokens; /* [count] by id */
    size_t count;
    bool cleans_pieces;   /* WordPiece: no space before a piece that is punctuation */
    bool cleans;          /* the same anywhere in a text (clean_up_tokenization_spaces) */
    uint32_t pad;         /* the id that fills up short texts, or VIT_NO_ID */
    size_t most;          /* the most ids of a text that the files name; 0: none */
    vit_encoder *encoder; /* NULL: it was opened to decode only */
    /* of tokens.h: memory of the texts, and the index of the vocabulary's */
    char **blocks, *next;
    size_t block_count, block_capacity, room;
    uint64_t *slots;
    size_t slot_count, indexed;
} vit_tokenizer;

/* ---- text -> ids ---- */

/* Reads a tokenizer that encodes and decodes, from a directory or from one of the files named
 * above. It encodes as its files say, and as the libraries tokenizers and transformers do with
 * them: normaliser, pre-tokeniser, model, tokens that are added around a text. A SentencePiece
 * model named by itself encodes as the library sentencepiece does. IO if there is none, naming the
 * files that were looked for; FORMAT if it is damaged; UNSUPPORTED, by its name, for what is not
 * known, and for a file of more than 256 MB. Freed by vit_tokenizer_free, also after a failure. */
vit_status vit_tokenizer_load(vit_tokenizer *out, const char *path, vit_error *error);

typedef struct vit_encoding {
    uint32_t *ids; /* [count], freed by vit_free */
    size_t count;
    bool cut; /* the text had more */
} vit_encoding;

#define VIT_MOST_TEXT ((size_t)16 << 20) /* the most bytes of a text */

/* The ids of text[0..length), with the tokens that the tokenizer adds around a text. most > 0: the
 * text's own ids are cut at the end so that all are at most so many, what is added included; 0: as
 * tokenizer.json says, or without a limit. Nothing is padded: the caller may, with t->pad. FORMAT
 * for invalid UTF-8 and for text that the tokenizer has no token for; UNSUPPORTED for more than
 * VIT_MOST_TEXT bytes, and if `most` has no room for what is added; MEMORY. */
vit_status vit_tokenizer_encode(vit_encoding *out, const vit_tokenizer *tokenizer, const char *text,
                                size_t length, size_t most, vit_error *error);

/* Whether it has CLIP's kind of vocabulary: BPE of bytes, whose words end in </w>. */
bool vit_tokenizer_is_clip(const vit_tokenizer *tokenizer);

/* Makes such a tokenizer encode as OpenCLIP's own one does, for texts that vit_text_clean cleaned.
 * What is left out: "<start_of_text>" and "<end_of_text>" in a text are no tokens. Errors: FORMAT,
 * calling it `name`, without CLIP's two special tokens; MEMORY. */
vit_status vit_tokenizer_read_as_open_clip(vit_tokenizer *tokenizer, const char *name,
                                           vit_error *error);

/* ---- ids -> text ---- */

/* Reads the tokenizer in a directory, for decoding alone: rules of encoding that are not known do
 * not matter. Errors as vit_tokenizer_load. */
vit_status vit_tokenizer_open(vit_tokenizer *out, const char *directory, vit_error *error);
void vit_tokenizer_free(vit_tokenizer *tokenizer); /* also after a failure */

/* A tokenizer in memory of its own: by vit_tokenizer_open where it only decodes, else by
 * vit_tokenizer_load. *out is freed by vit_tokenizer_delete, which takes NULL, also after a
 * failure.
 */
vit_status vit_tokenizer_new(vit_tokenizer **out, const char *directory, bool decodes,
                             vit_error *error);
void vit_tokenizer_delete(vit_tokenizer *tokenizer);

/* Behind the last id that has a token. */
size_t vit_tokenizer_ids(const vit_tokenizer *tokenizer);

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
