/* How a tokenizer encodes: a text is cut at added tokens, what is between is normalised, split, and
 * each part given to the model; then tokens are added around. encoder.c runs this; encoder_json.c
 * reads it from tokenizer.json, encoder_class.c makes it of other files. */
#ifndef VIT_TEXT_TOKENIZER_ENCODER_H
#define VIT_TEXT_TOKENIZER_ENCODER_H

#include "vit/formats/json.h"
#include "vit/text/tokenizer/charsmap.h"
#include "vit/text/tokenizer/tokenizer.h"
#include "vit/text/unicode/regex.h"
#include "vit/text/unicode/unicode.h"

/* ---- rules: normalisers and pre-tokenisers ---- */

typedef enum vit_rule_kind {
    /* text -> text */
    VIT_RULE_NFC,
    VIT_RULE_NFD,
    VIT_RULE_NFKC,
    VIT_RULE_NFKD,
    VIT_RULE_LOWER,
    VIT_RULE_STRIP,         /* left, right */
    VIT_RULE_REPLACE,       /* what `pattern` or `literal` matches, by `content` */
    VIT_RULE_PREPEND,       /* content */
    VIT_RULE_APPEND,        /* content */
    VIT_RULE_ACCENTS,       /* takes out combining marks */
    VIT_RULE_NMT,           /* takes out control characters, makes spaces of others */
    VIT_RULE_BERT,          /* cleans, spaces, accents, lower */
    VIT_RULE_CHARSMAP,      /* SentencePiece's table, as the library tokenizers applies it */
    VIT_RULE_SENTENCEPIECE, /* the same as the library sentencepiece does, and its spaces */
    VIT_RULE_SIGLIP, /* content, then lower case if `lower`, no ASCII punctuation, single spaces */
    VIT_RULE_ALPHABET, /* bytes -> GPT-2's characters for them */
    /* text -> parts */
    VIT_RULE_BYTE_LEVEL, /* prefix: a space in front; pattern, or none; then as ALPHABET */
    VIT_RULE_METASPACE,  /* content for a space; prepend; splits */
    VIT_RULE_SPLIT,      /* pattern, literal or set; behaviour, invert */
    VIT_RULE_BERT_SPLIT, /* at spaces, and around punctuation */
    VIT_RULE_COUNT,
} vit_rule_kind;

/* What becomes of the parts that a pattern matches. */
typedef enum vit_behaviour {
    VIT_REMOVED,
    VIT_ISOLATED,
    VIT_MERGED_WITH_PREVIOUS,
    VIT_MERGED_WITH_NEXT,
    VIT_CONTIGUOUS,
    VIT_BEHAVIOUR_COUNT,
} vit_behaviour;

typedef enum vit_prepend { VIT_PREPEND_NEVER, VIT_PREPEND_ALWAYS, VIT_PREPEND_FIRST } vit_prepend;

typedef struct vit_rule {
    vit_rule_kind kind;
    vit_regex *pattern;
    char *literal, *content;
    vit_characters set; /* SPLIT without pattern and literal: each character of it */
    vit_behaviour behaviour;
    vit_prepend prepend;
    bool invert, left, right, prefix, splits, cleans, spaces, accents, lower;
    bool dummy, extra; /* SENTENCEPIECE: a space in front; spaces that are too many are kept */
    vit_charsmap *map;
} vit_rule;

typedef struct vit_rules {
    vit_rule *list;
    size_t count, capacity;
} vit_rules;

/* ---- parts of a text ---- */

/* A part of `text` in vit_parts, or a token that was found. */
typedef struct vit_part {
    size_t at, length;
    uint32_t id; /* VIT_NO_ID: text, not yet encoded */
    bool first;  /* the text begins here */
} vit_part;

typedef struct vit_parts {
    vit_string text;
    vit_part *list;
    size_t count, capacity;
} vit_parts;

/* ---- models ---- */

typedef enum vit_encoder_kind {
    VIT_ENCODER_BPE,
    VIT_ENCODER_UNIGRAM,
    VIT_ENCODER_WORDPIECE,
    VIT_ENCODER_WORDLEVEL,
    VIT_ENCODER_SENTENCE_BPE, /* SentencePiece's: what is merged is ranked by its score */
    VIT_ENCODER_COUNT,
} vit_encoder_kind;

/* Two tokens that become one; ranks: the lowest first. An open hash table. */
typedef struct vit_merge {
    uint64_t pair; /* left << 32 | right */
    uint32_t rank, id;
} vit_merge;

typedef struct vit_added {
    const char *text; /* of the token, or normalised: then owned */
    size_t length;
    uint32_t id;
    bool single_word, left, right, normalised;
} vit_added;

typedef struct vit_ids_list {
    uint32_t *ids;
    size_t count, capacity;
} vit_ids_list;

struct vit_encoder {
    vit_rules normalisers, splitters;
    vit_encoder_kind kind;
    /* BPE */
    vit_merge *merges; /* [merge_slots], a power of two; id VIT_NO_ID: empty */
    size_t merge_slots;
    char *prefix, *suffix; /* of pieces within a word (also WordPiece), of the last one; or NULL */
    bool fuses_unknown, whole_first;
    uint32_t byte_ids[256]; /* tokens <0x00> to <0xFF>, or VIT_NO_ID */
    bool byte_fallback;
    /* all */
    uint32_t unknown;       /* or VIT_NO_ID */
    size_t most_characters; /* WordPiece: longer words are unknown */
    /* Unigram and SentencePiece */
    float *rounded; /* [id] scores of SentencePiece, summed in float; or */
    double *scores; /* [score_count] those of the library tokenizers, in double */
    size_t score_count;
    uint8_t *types;      /* [id] SentencePiece's types of pieces, or NULL */
    size_t user_longest; /* bytes of the longest piece of the type USER; 0: there is none */
    double unknown_score;
    uint64_t *prefixes; /* bit set of hashes of all beginnings of pieces, [prefix_bits / 64] */
    size_t prefix_bits;
    /* added tokens: those found in the text as it is, then those found when it is normalised;
     * each sorted by first byte, then the longest first */
    vit_added *added;
    size_t added_count, added_capacity, raw_count;
    vit_ids_list before, after; /* around every text */
    bool after_once;            /* a text that ends so gets no second one */
    size_t leading;             /* so many ids of a text are of what its normaliser puts in front */
    size_t most;                /* of tokenizer.json's truncation; 0: none */
    bool cuts_left;
};

/* SentencePiece's types of pieces. */
enum {
    VIT_PIECE_NORMAL = 1,
    VIT_PIECE_UNKNOWN,
    VIT_PIECE_CONTROL,
    VIT_PIECE_USER,
    VIT_PIECE_UNUSED,
    VIT_PIECE_BYTE,
};

/* Whether a token may be a piece of a text. */
static inline bool vit_is_piece(const vit_encoder *e, uint32_t id) {
    return !e->types || e->types[id] == VIT_PIECE_NORMAL || e->types[id] == VIT_PIECE_USER;
}

vit_encoder *vit_encoder_new(void); /* NULL if there is no memory */
void vit_encoder_free(vit_encoder *encoder);

/* Appends to out, which begins as {0} and is freed with vit_free(out->ids). */
vit_status vit_ids_put(vit_ids_list *out, uint32_t id, vit_error *error);

/* The bytes of the longest piece of the type USER at the beginning of text[0..length), and its id;
 * 0: there is none. Such a piece is never cut or changed. */
size_t vit_user_piece(uint32_t *id, const vit_tokenizer *t, const char *text, size_t length);

/* ---- rules.c ---- */

void vit_rules_free(vit_rules *rules);
vit_rule *vit_rules_add(vit_rules *rules, vit_rule_kind kind, vit_error *error); /* NULL: MEMORY */

/* Appends text[0..length) after all normalisers. *first: the whole text begins here; it becomes
 * false where they take out the first character. */
vit_status vit_normalise(vit_string *out, bool *first, const vit_tokenizer *t, const char *text,
                         size_t length, vit_error *error);

/* Appends text[0..length) after one normaliser; it is not the beginning of a text. */
vit_status vit_normalise_by(vit_string *out, const vit_tokenizer *t, const vit_rule *rule,
                            const char *text, size_t length, vit_error *error);

/* *parts is split by one rule. */
vit_status vit_cut_parts(vit_parts *parts, const vit_rule *rule, vit_error *error);
vit_status vit_parts_put(vit_parts *parts, vit_part part, vit_error *error);
/* Puts text[from..to), if it is not empty. */
vit_status vit_parts_put_text(vit_parts *parts, const char *text, size_t from, size_t to,
                              bool first, vit_error *error);
void vit_parts_free(vit_parts *parts);

/* Appends GPT-2's characters for bytes. */
void vit_string_add_alphabet(vit_string *out, const char *text, size_t length);

/* ---- models: append the ids of a part ---- */

vit_status vit_encode_bpe(vit_ids_list *out, const vit_tokenizer *t, const char *text,
                          size_t length, vit_error *error);
vit_status vit_encode_unigram(vit_ids_list *out, const vit_tokenizer *t, const char *text,
                              size_t length, vit_error *error);
vit_status vit_encode_wordpiece(vit_ids_list *out, const vit_tokenizer *t, const char *text,
                                size_t length, vit_error *error);

/* After the vocabulary is there: what the models look up. MEMORY. */
vit_status vit_unigram_prepare(vit_tokenizer *t, const char *name, vit_error *error);
void vit_bytes_prepare(vit_tokenizer *t);

/* Room for `count` merges, then each; FORMAT for parts that are no tokens. */
vit_status vit_merges_room(vit_encoder *e, size_t count, vit_error *error);
vit_status vit_merges_put(vit_tokenizer *t, const char *left, size_t left_length, const char *right,
                          size_t right_length, uint32_t rank, const char *name, vit_error *error);

/* ---- reading ---- */

/* Everything in a tokenizer.json but the vocabulary and the merges, which are there already. */
vit_status vit_encoder_read_json(vit_tokenizer *t, json_t *root, const char *name,
                                 vit_error *error);

/* The files that tell the class of a tokenizer; NULL: there is no such file. */
typedef struct vit_class_files {
    const char *vocabulary; /* the name of the file with it */
    const json_t *config;   /* tokenizer_config.json */
    const json_t *map;      /* special_tokens_map.json */
    const json_t *model;    /* config.json */
} vit_class_files;

/* Makes the encoder of a tokenizer whose vocabulary does not say how: it depends on the class that
 * transformers has for it, which is in the files or shows in the vocabulary. UNSUPPORTED for
 * classes that are not known; messages call the tokenizer `name`. */
vit_status vit_encoder_of_class(vit_tokenizer *t, const vit_class_files *files, const char *name,
                                vit_error *error);

/* Adds a token that is found in texts. */
vit_status vit_added_put(vit_tokenizer *t, vit_added token, vit_error *error);

/* After the last: sorts them. */
void vit_added_close(vit_tokenizer *t);

#endif
