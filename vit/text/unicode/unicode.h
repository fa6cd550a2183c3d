/* What Unicode says of characters, as Hugging Face's library tokenizers has it, so that texts are
 * cut as models saw them in training: scripts/make_unicode.py made the tables. A character is its
 * code, below 0x110000. */
#ifndef VIT_TEXT_UNICODE_UNICODE_H
#define VIT_TEXT_UNICODE_UNICODE_H

#include "vit/base/text.h"

/* General categories: "Lu" is VIT_CATEGORY_LU. */
typedef enum vit_category {
    VIT_CATEGORY_CN, /* no character has this code */
    VIT_CATEGORY_LU,
    VIT_CATEGORY_LL,
    VIT_CATEGORY_LT,
    VIT_CATEGORY_LM,
    VIT_CATEGORY_LO,
    VIT_CATEGORY_MN,
    VIT_CATEGORY_MC,
    VIT_CATEGORY_ME,
    VIT_CATEGORY_ND,
    VIT_CATEGORY_NL,
    VIT_CATEGORY_NO,
    VIT_CATEGORY_PC,
    VIT_CATEGORY_PD,
    VIT_CATEGORY_PS,
    VIT_CATEGORY_PE,
    VIT_CATEGORY_PI,
    VIT_CATEGORY_PF,
    VIT_CATEGORY_PO,
    VIT_CATEGORY_SM,
    VIT_CATEGORY_SC,
    VIT_CATEGORY_SK,
    VIT_CATEGORY_SO,
    VIT_CATEGORY_ZS,
    VIT_CATEGORY_ZL,
    VIT_CATEGORY_ZP,
    VIT_CATEGORY_CC,
    VIT_CATEGORY_CF,
    VIT_CATEGORY_CO,
    VIT_CATEGORY_COUNT,
} vit_category;

vit_category vit_category_of(uint32_t c);

/* For bsearch of a character in rows that begin with the first and the last one of a range. */
int vit_compare_ranges(const void *c, const void *row);

/* Sets of categories: bit n is category n. *set = those of a name such as "L" or "Lu"; false: there
 * is none of this name. */
bool vit_categories_named(uint32_t *set, const char *name, size_t length);

/* Sets of characters, which the library's parts define each for themselves. */
typedef enum vit_characters {
    VIT_SPACES,           /* White_Space, \s */
    VIT_WORD_CHARACTERS,  /* \w */
    VIT_ACCENTS,          /* what StripAccents takes out */
    VIT_BERT_ACCENTS,     /* what BertNormalizer takes out as accents, */
    VIT_BERT_REMOVED,     /* and as no text at all */
    VIT_BERT_PUNCTUATION, /* BertPreTokenizer, Punctuation */
    VIT_NUMERIC,          /* Digits */
    VIT_CASED,            /* Unicode's Cased and */
    VIT_CASE_IGNORABLE,   /* Case_Ignorable, for a sigma at the end of a word */
    VIT_CHARACTERS_COUNT,
} vit_characters;

bool vit_is_one_of(vit_characters set, uint32_t c);

/* to[0..n) = the character in lower case, which may be itself. Returns n: 2 for U+0130, else 1. */
size_t vit_lower(uint32_t to[2], uint32_t c);

/* The length in bytes of the first user-perceived character (extended grapheme cluster, UAX 29) of
 * valid UTF-8 text[0..length), length > 0. */
size_t vit_grapheme_length(const char *text, size_t length);

/* *c = the character that begins at `text`, of valid UTF-8. Returns its length in bytes. */
size_t vit_utf8_get(uint32_t *c, const char *text);

/* *c = the character before text[at], at > 0. Returns where it begins. */
size_t vit_utf8_before(uint32_t *c, const char *text, size_t at);

void vit_string_add_code(vit_string *out, uint32_t c); /* appends a character */

/* Appends text[0..length) in lower case, each character by itself; or by Python's rule, in which a
 * capital sigma at the end of a word becomes the final one. */
void vit_string_add_lower(vit_string *out, const char *text, size_t length, bool final_sigma);

/* ---- normal forms ---- */

typedef enum vit_form { VIT_FORM_NFC, VIT_FORM_NFD, VIT_FORM_NFKC, VIT_FORM_NFKD } vit_form;

/* Appends valid UTF-8 text[0..length) in a normal form. */
void vit_string_add_form(vit_string *out, const char *text, size_t length, vit_form form);

#endif
