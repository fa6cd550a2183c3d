#include "datasets/made/number_words.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"

#include <string.h>

const char *const vit_language_names[] = {"en", "de", "fr", "fil", NULL};
VIT_CHECK_ROWS(vit_language_names, VIT_LANGUAGE_COUNT + 1);

/* Each language has a function for numbers below a thousand (0 adds nothing), and one for all. */

/* One of the small numbers, or tens and ones with `joint` between them. */
static void below_hundred(vit_string *t, uint32_t n, const char *const *small,
                          const char *const *tens, const char *joint) {
    if (n < 20)
        vit_string_add(t, "%s", small[n]);
    else
        vit_string_add(t, "%s%s%s", tens[n / 10], n % 10 > 0 ? joint : "", small[n % 10]);
}

/* ---- English ---- */

static const char *const en_small[] = {"",        "one",     "two",       "three",    "four",
                                       "five",    "six",     "seven",     "eight",    "nine",
                                       "ten",     "eleven",  "twelve",    "thirteen", "fourteen",
                                       "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
static const char *const en_tens[] = {"",      "",      "twenty",  "thirty", "forty",
                                      "fifty", "sixty", "seventy", "eighty", "ninety"};

static void en_below_thousand(vit_string *t, uint32_t n) {
    if (n >= 100) vit_string_add(t, "%s hundred%s", en_small[n / 100], n % 100 > 0 ? " and " : "");
    below_hundred(t, n % 100, en_small, en_tens, "-");
}

static void english(vit_string *t, uint32_t n) {
    if (n >= 1000) {
        en_below_thousand(t, n / 1000);
        vit_string_add(t, " thousand%s", n % 1000 == 0 ? "" : n % 1000 < 100 ? " and " : ", ");
    }
    en_below_thousand(t, n % 1000);
}

/* ---- German: one word; the ones come before the tens ---- */

static const char *const de_small[] = {"",         "ein",      "zwei",     "drei",     "vier",
                                       "fünf",     "sechs",    "sieben",   "acht",     "neun",
                                       "zehn",     "elf",      "zwölf",    "dreizehn", "vierzehn",
                                       "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn"};
static const char *const de_tens[] = {"",        "",        "zwanzig", "dreißig", "vierzig",
                                      "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"};

static void de_below_thousand(vit_string *t, uint32_t n) {
    if (n >= 100) vit_string_add(t, "%shundert", de_small[n / 100]);
    n %= 100;
    if (n < 20)
        vit_string_add(t, "%s", de_small[n]);
    else
        vit_string_add(t, "%s%s%s", de_small[n % 10], n % 10 > 0 ? "und" : "", de_tens[n / 10]);
}

static void german(vit_string *t, uint32_t n) {
    if (n >= 1000) {
        de_below_thousand(t, n / 1000);
        vit_string_add(t, "%stausend", n >= 2000 && n / 1000 % 100 == 1 ? "s" : "");
    }
    de_below_thousand(t, n % 1000);
    if (n % 100 == 1) vit_string_add(t, "s"); /* a number that ends in one: eins, hunderteins */
}

/* ---- French: sixty to ninety-nine in twenties ---- */

static const char *const fr_small[] = {"",       "un",    "deux",     "trois",    "quatre",
                                       "cinq",   "six",   "sept",     "huit",     "neuf",
                                       "dix",    "onze",  "douze",    "treize",   "quatorze",
                                       "quinze", "seize", "dix-sept", "dix-huit", "dix-neuf"};
static const char *const fr_tens[] = {
    "",          "",         "vingt",    "trente",       "quarante",
    "cinquante", "soixante", "soixante", "quatre-vingt", "quatre-vingt"};

/* last: nothing follows, and then a multiple of twenty or of a hundred has the s of the plural. */
static void fr_below_hundred(vit_string *t, uint32_t n, bool last) {
    if (n < 20) {
        vit_string_add(t, "%s", fr_small[n]);
        return;
    }
    const uint32_t tens = n / 10, ones = n % 10 + (tens == 7 || tens == 9 ? 10 : 0);
    const bool et = (ones == 1 || ones == 11) && tens < 8;
    vit_string_add(t, "%s", fr_tens[tens]);
    if (ones == 0)
        vit_string_add(t, "%s", tens == 8 && last ? "s" : "");
    else
        vit_string_add(t, "%s%s", et ? " et " : "-", fr_small[ones]);
}

static void fr_below_thousand(vit_string *t, uint32_t n, bool last) {
    const uint32_t hundreds = n / 100, rest = n % 100;
    if (hundreds > 1) vit_string_add(t, "%s ", fr_small[hundreds]);
    if (hundreds > 0) vit_string_add(t, "cent%s", rest > 0 ? " " : hundreds > 1 && last ? "s" : "");
    fr_below_hundred(t, rest, last);
}

static void french(vit_string *t, uint32_t n) {
    if (n >= 1000) {
        if (n >= 2000) fr_below_thousand(t, n / 1000, false);
        vit_string_add(t, "%smille%s", n >= 2000 ? " " : "", n % 1000 > 0 ? " " : "");
    }
    fr_below_thousand(t, n % 1000, true);
}

/* ---- Filipino: a count is linked to what it counts ---- */

static const char *const fil_small[] = {
    "",          "isa",         "dalawa",      "tatlo",      "apat",
    "lima",      "anim",        "pito",        "walo",       "siyam",
    "sampu",     "labing-isa",  "labindalawa", "labintatlo", "labing-apat",
    "labinlima", "labing-anim", "labimpito",   "labingwalo", "labinsiyam"};
static const char *const fil_tens[] = {"",        "",         "dalawampu", "tatlumpu", "apatnapu",
                                       "limampu", "animnapu", "pitumpu",   "walumpu",  "siyamnapu"};

/* Appends the linker: -ng after a vowel, -g after n, the word na after other consonants. */
static void fil_link(vit_string *t) {
    if (t->failed) return;
    const char last = t->text[strlen(t->text) - 1];
    vit_string_add(t, "%s", strchr("aeiou", last) ? "ng " : last == 'n' ? "g " : " na ");
}

static void fil_below_thousand(vit_string *t, uint32_t n) {
    if (n >= 100) {
        vit_string_add(t, "%s", fil_small[n / 100]);
        fil_link(t);
        /* d becomes r after a vowel: apat na raan */
        const uint32_t hundreds = n / 100;
        const bool after_na = hundreds == 4 || hundreds == 6 || hundreds == 9;
        vit_string_add(t, "%s%s", after_na ? "raan" : "daan", n % 100 > 0 ? " at " : "");
    }
    below_hundred(t, n % 100, fil_small, fil_tens, "'t ");
}

static void filipino(vit_string *t, uint32_t n) {
    if (n >= 1000) {
        fil_below_thousand(t, n / 1000);
        fil_link(t);
        vit_string_add(t, "libo%s", n % 1000 == 0 ? "" : n % 1000 <= 100 ? " at " : ", ");
    }
    fil_below_thousand(t, n % 1000);
}

/* ---- all languages ---- */

void vit_number_words(vit_string *text, vit_language language, uint32_t number) {
    static const struct {
        void (*say)(vit_string *text, uint32_t number); /* number > 0 */
        const char *zero;
    } languages[] = {[VIT_LANGUAGE_EN] = {english, "zero"},
                     [VIT_LANGUAGE_DE] = {german, "null"},
                     [VIT_LANGUAGE_FR] = {french, "zéro"},
                     [VIT_LANGUAGE_FIL] = {filipino, "sero"}};
    VIT_CHECK_ROWS(languages, VIT_LANGUAGE_COUNT);
    if (number == 0)
        vit_string_add(text, "%s", languages[language].zero);
    else
        languages[language].say(text, number);
}

/* ---- vocabularies ---- */

/* Numbers that have every word of a language: all below a thousand, and as many thousands with
 * nothing, 1 and 999 after them. */
static uint32_t sample(size_t i) {
    const uint32_t below = (uint32_t)(i % 1000);
    return i < 1000   ? below
           : i < 2000 ? 1000 * below
           : i < 3000 ? 1000 * below + 1
                      : 1000 * below + 999;
}

#define SAMPLES 4000

/* German numbers are one long word; the other languages' words stand apart. */
static vit_signs signs_of(vit_language language) {
    switch (language) {
    case VIT_LANGUAGE_EN:
    case VIT_LANGUAGE_FR:
    case VIT_LANGUAGE_FIL:
        return VIT_SIGNS_WORDS;
    case VIT_LANGUAGE_DE:
    case VIT_LANGUAGE_COUNT: /* digits */
        break;
    }
    return VIT_SIGNS_CHARACTERS;
}

vit_status vit_number_vocabulary(vit_vocabulary *out, vit_language language, vit_error *error) {
    vit_status status = VIT_OK;
    char **texts = vit_alloc(SAMPLES, sizeof *texts);
    if (!texts) return vit_fail_memory(error, "number words", SAMPLES * sizeof *texts);
    for (size_t i = 0; i < SAMPLES && status == VIT_OK; i++) {
        vit_string text = {0};
        if (language == VIT_LANGUAGE_COUNT)
            vit_string_add(&text, "%u", sample(i));
        else
            vit_number_words(&text, language, sample(i));
        texts[i] = text.text;
        if (text.failed) status = vit_fail_memory(error, "number words", 64);
    }
    if (status == VIT_OK)
        status =
            vit_vocabulary_new(out, signs_of(language), (const char *const *)texts, SAMPLES, error);
    for (size_t i = 0; i < SAMPLES; i++) vit_free(texts[i]);
    vit_free(texts);
    return status;
}
