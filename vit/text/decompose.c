#include "vit/text/decompose.h"
#include "vit/base/size.h"
#include <stdint.h>
#include <stdlib.h>

typedef struct decomposition {
    uint32_t whole, first, second;
} decomposition;

typedef struct singleton {
    uint32_t whole, first;
} singleton;

typedef struct mark_range {
    uint32_t first, last;
    uint8_t class;
} mark_range;

#include "vit/text/decompositions.inc"

/* Hangul is composed by rule: a leading consonant, a vowel, and 27 trailing consonants or none. */
enum { HANGUL = 0xac00, LEADS = 0x1100, VOWELS = 0x1161, TRAILS = 0x11a7 };
enum { HANGUL_COUNT = 11172, VOWEL_COUNT = 21, TRAIL_COUNT = 28 };

/* ---- tables ---- */

/* Rows of both tables begin with the character that they are of. */
static int compare_wholes(const void *c, const void *row) {
    const uint32_t a = *(const uint32_t *)c, b = *(const uint32_t *)row;
    return (a > b) - (a < b);
}

static int compare_ranges(const void *c, const void *row) {
    const uint32_t a = *(const uint32_t *)c;
    const mark_range *range = row;
    return (a > range->last) - (a < range->first);
}

/* The combining class of a character; 0: it is none that moves. */
static uint8_t class_of(uint32_t c) {
    const mark_range *found = bsearch(&c, marks, VIT_COUNT(marks), sizeof *marks, compare_ranges);
    return found ? found->class : 0;
}

static const decomposition *find_pair(uint32_t c) {
    return bsearch(&c, pairs, VIT_COUNT(pairs), sizeof *pairs, compare_wholes);
}

/* The character that another one is only another code of, or that one itself. */
static uint32_t find_single(uint32_t c) {
    const singleton *found =
        bsearch(&c, singletons, VIT_COUNT(singletons), sizeof *singletons, compare_wholes);
    return found ? found->first : c;
}

/* ---- UTF-8 ---- */

static uint32_t read_character(const char *text, size_t length) {
    static const uint8_t masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = (uint8_t)text[0] & masks[length];
    for (size_t i = 1; i < length; i++) c = c << 6 | ((uint8_t)text[i] & 0x3f);
    return c;
}

static void put_character(vit_string *out, uint32_t c) {
    char bytes[4];
    size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length; i-- > 1; c >>= 6) bytes[i] = (char)(0x80 | (c & 0x3f));
    bytes[0] = (char)(leads[length] | c);
    vit_string_add_bytes(out, bytes, length);
}

/* ---- decomposition ---- */

/* Marks since the last character that is none, sorted by class. A text with more in a row than
 * this is no name: they are then sorted in pieces. */
#define MOST_MARKS 32
typedef struct pending {
    uint32_t marks[MOST_MARKS];
    uint8_t classes[MOST_MARKS];
    size_t count;
} pending;

static void flush(pending *p, vit_string *out) {
    for (size_t i = 0; i < p->count; i++) put_character(out, p->marks[i]);
    p->count = 0;
}

static void add_character(pending *p, vit_string *out, uint32_t c) {
    const uint8_t class = class_of(c);
    if (class == 0 || p->count == MOST_MARKS) flush(p, out);
    if (class == 0) {
        put_character(out, c);
        return;
    }
    size_t at = p->count++;
    for (; at > 0 && p->classes[at - 1] > class; at--) {
        p->marks[at] = p->marks[at - 1];
        p->classes[at] = p->classes[at - 1];
    }
    p->marks[at] = c;
    p->classes[at] = class;
}

static void add_decomposed(pending *p, vit_string *out, uint32_t c) {
    if (c >= HANGUL && c < HANGUL + HANGUL_COUNT) {
        const uint32_t index = c - HANGUL, trail = index % TRAIL_COUNT;
        add_character(p, out, LEADS + index / (VOWEL_COUNT * TRAIL_COUNT));
        add_character(p, out, VOWELS + index / TRAIL_COUNT % VOWEL_COUNT);
        if (trail > 0) add_character(p, out, TRAILS + trail);
        return;
    }
    /* The second of a pair is never made of others, the first may be. */
    uint32_t seconds[8];
    size_t count = 0;
    c = find_single(c);
    for (const decomposition *d; count < VIT_COUNT(seconds) && (d = find_pair(c)); c = d->first)
        seconds[count++] = d->second;
    add_character(p, out, find_single(c));
    while (count > 0) add_character(p, out, seconds[--count]);
}

void vit_string_add_decomposed(vit_string *out, const char *text) {
    pending p = {.count = 0};
    while (*text) {
        const size_t length = vit_utf8_length(text);
        if (length > 0) {
            add_decomposed(&p, out, read_character(text, length));
        } else {
            flush(&p, out);
            vit_string_add_bytes(out, text, 1);
        }
        text += length > 0 ? length : 1;
    }
    flush(&p, out);
}
