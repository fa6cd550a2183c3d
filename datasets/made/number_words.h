/* Numbers in words, in English, German, French and Filipino, for the sets of number words
 * (strips:LANGUAGE, numbers:A-B). The four differ in more than words: German says the ones before
 * the tens and writes everything together, French counts from sixty to ninety-nine in twenties,
 * Filipino links a count to what it counts (dalawa, but dalawang daan; apat na raan).
 */
#ifndef VIT_DATASETS_MADE_NUMBER_WORDS_H
#define VIT_DATASETS_MADE_NUMBER_WORDS_H

#include "vit/base/text.h"
#include "vit/text/vocabulary.h"

#include <stdint.h>

typedef enum vit_language {
    VIT_LANGUAGE_EN,
    VIT_LANGUAGE_DE,
    VIT_LANGUAGE_FR,
    VIT_LANGUAGE_FIL,
    VIT_LANGUAGE_COUNT,
} vit_language;

extern const char *const vit_language_names[]; /* "en", "de", "fr", "fil", NULL */

#define VIT_NUMBER_LIMIT 1000000 /* numbers must be below it */

/* Appends number < VIT_NUMBER_LIMIT in words, UTF-8, in small letters: 345 is "three hundred and
 * forty-five", "dreihundertfünfundvierzig", "trois cent quarante-cinq", "tatlong daan at
 * apatnapu't lima". English, German and French are as in the Python package num2words. May be
 * called from any thread; text->failed is set if there is no memory. */
void vit_number_words(vit_string *text, vit_language language, uint32_t number);

/* The vocabulary of all numbers: words; for German, which writes a number as one word, characters;
 * for VIT_LANGUAGE_COUNT, digits. Freed by vit_vocabulary_free. Errors: MEMORY. */
vit_status vit_number_vocabulary(vit_vocabulary *out, vit_language language, vit_error *error);

#endif
