#include "vit/text/unicode/decompose.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/text/unicode/unicode.h"
#include <stdlib.h>

/* Characters that are others, whose texts follow each other in a pool from `at` on. A text is one
 * character; in compatible_pool it is several, doubled, of which the last has 1 added. */
typedef struct single_run {
    uint32_t first, last, at;
} single_run;

typedef struct decomposition {
    uint32_t whole, first, second;
} decomposition;

typedef struct mark_range {
    uint32_t first, last;
    uint8_t class;
} mark_range;

#include "vit/text/unicode/compatible.inc"
#include "vit/text/unicode/compatible_rows.inc"
#include "vit/text/unicode/decompositions.inc"

/* Hangul is composed by rule: a leading consonant, a vowel, and 27 trailing consonants or none. */
enum { HANGUL = 0xac00, LEADS = 0x1100, VOWELS = 0x1161, TRAILS = 0x11a7 };
enum { HANGUL_COUNT = 11172, LEAD_COUNT = 19, VOWEL_COUNT = 21, TRAIL_COUNT = 28 };

/* ---- tables ---- */

/* The combining class of a character; 0: it is none that moves. */
static uint8_t class_of(uint32_t c) {
    if (c < marks[0].first) return 0;
    const mark_range *found =
        bsearch(&c, marks, VIT_COUNT(marks), sizeof *marks, vit_compare_ranges);
    return found ? found->class : 0;
}

/* The parts of a pair: the first one << 7, and the place of the second one among all of them. */
static decomposition pair_of(uint32_t whole, uint32_t both) {
    return (decomposition){whole, both >> 7, seconds[both & 127]};
}

static bool find_pair(decomposition *out, uint32_t c) {
    const single_run *run =
        bsearch(&c, wholes, VIT_COUNT(wholes), sizeof *wholes, vit_compare_ranges);
    if (run) *out = pair_of(c, halves[run->at + (c - run->first)]);
    return run;
}

/* The pair at this place of `halves`. */
static decomposition pair_at(uint32_t at) {
    size_t low = 0, high = VIT_COUNT(wholes);
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (wholes[middle].at <= at)
            low = middle;
        else
            high = middle;
    }
    return pair_of(wholes[low].first + (at - wholes[low].at), halves[at]);
}

/* The character that another one is, or that one itself. */
static uint32_t find_single(uint32_t c, const single_run *runs, size_t count,
                            const uint32_t *pool) {
    const single_run *found = bsearch(&c, runs, count, sizeof *runs, vit_compare_ranges);
    return found ? pool[found->at + (c - found->first)] : c;
}

static uint32_t canonical(uint32_t c) {
    return find_single(c, singles, VIT_COUNT(singles), single_pool);
}

/* The character that two are composed to; 0: none. */
static uint32_t compose_pair(uint32_t first, uint32_t second) {
    size_t low = 0, high = VIT_COUNT(composed);
    if (first - LEADS < LEAD_COUNT && second - VOWELS < VOWEL_COUNT)
        return HANGUL + ((first - LEADS) * VOWEL_COUNT + (second - VOWELS)) * TRAIL_COUNT;
    if (first - HANGUL < HANGUL_COUNT && (first - HANGUL) % TRAIL_COUNT == 0 && second > TRAILS &&
        second < TRAILS + TRAIL_COUNT)
        return first + (second - TRAILS);
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const decomposition d = pair_at(composed[middle]);
        if (d.first == first && d.second == second) return d.whole;
        if (d.first < first || (d.first == first && d.second < second))
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

/* ---- decomposition ---- */

/* A text as characters, with their combining classes. */
typedef struct mark {
    uint32_t c;
    uint32_t class;
    size_t place; /* for sorting those of a class in their order */
} mark;

typedef struct characters {
    mark *list;
    size_t count, capacity, sorted; /* marks before `sorted` are in order */
    bool failed;
} characters;

static int compare_marks(const void *a, const void *b) {
    const mark *x = a, *y = b;
    if (x->class != y->class) return x->class < y->class ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Sorts the marks since the last character that is none. */
static void sort_marks(characters *t) {
    if (t->count - t->sorted > 1)
        qsort(t->list + t->sorted, t->count - t->sorted, sizeof *t->list, compare_marks);
    t->sorted = t->count;
}

static void put(characters *t, uint32_t c) {
    const uint8_t class = class_of(c);
    t->failed = t->failed || !VIT_MAKE_ROOM(t->list, t->count, t->capacity, "a text", NULL);
    if (t->failed) return;
    if (class == 0) sort_marks(t);
    t->list[t->count] = (mark){c, class, t->count};
    t->count++;
    if (class == 0) t->sorted = t->count;
}

static void put_decomposed(characters *t, uint32_t c) {
    if (c < 0xc0) {
        put(t, c);
        return;
    }
    if (c >= HANGUL && c < HANGUL + HANGUL_COUNT) {
        const uint32_t index = c - HANGUL, trail = index % TRAIL_COUNT;
        put(t, LEADS + index / (VOWEL_COUNT * TRAIL_COUNT));
        put(t, VOWELS + index / TRAIL_COUNT % VOWEL_COUNT);
        if (trail > 0) put(t, TRAILS + trail);
        return;
    }
    /* The second of a pair is never made of others, the first may be. */
    uint32_t behind[8];
    size_t count = 0;
    c = canonical(c);
    for (decomposition d; count < VIT_COUNT(behind) && find_pair(&d, c); c = d.first)
        behind[count++] = d.second;
    put(t, canonical(c));
    while (count > 0) put(t, behind[--count]);
}

static void put_compatible(characters *t, uint32_t c) {
    const uint32_t one =
        find_single(c, compatible_singles, VIT_COUNT(compatible_singles), compatible_single_pool);
    const single_run *run = c < 0xa0 ? NULL
                                     : bsearch(&c, compatible_rows, VIT_COUNT(compatible_rows),
                                               sizeof *compatible_rows, vit_compare_ranges);
    if (run) {
        const uint32_t *text = compatible_pool + run->at;
        for (uint32_t before = c - run->first; before > 0; text++) before -= *text & 1;
        do put(t, *text >> 1);
        while ((*text++ & 1) == 0);
    } else if (one != c)
        put(t, one);
    else
        put_decomposed(t, c);
}

/* ---- composition ---- */

/* Joins each character with the one before it that is no mark, if both have a common one and
 * nothing between them has the later one's class or more. */
static void compose(characters *t) {
    size_t kept = 0, starter = SIZE_MAX;
    uint32_t last = 0; /* class of the last mark that was kept after the starter */
    for (size_t i = 0; i < t->count; i++) {
        const mark m = t->list[i];
        const bool near = starter != SIZE_MAX && (starter + 1 == kept || last < m.class);
        const uint32_t whole = near ? compose_pair(t->list[starter].c, m.c) : 0;
        if (whole != 0) {
            t->list[starter].c = whole;
            continue;
        }
        if (m.class == 0) starter = kept;
        last = m.class;
        t->list[kept++] = m;
    }
    t->count = t->sorted = kept;
}

static void write_out(vit_string *out, characters *t) {
    sort_marks(t);
    for (size_t i = 0; i < t->count; i++) vit_string_add_code(out, t->list[i].c);
    if (t->failed) out->failed = true;
    t->count = t->sorted = 0;
}

/* Whether a form keeps what only looks the same, and whether it joins characters again. */
static void describe(bool *canonical_only, bool *composes, vit_form form) {
    *canonical_only = *composes = false;
    switch (form) {
    case VIT_FORM_NFC:
        *canonical_only = *composes = true;
        break;
    case VIT_FORM_NFD:
        *canonical_only = true;
        break;
    case VIT_FORM_NFKC:
        *composes = true;
        break;
    case VIT_FORM_NFKD:
        break;
    }
}

void vit_string_add_form(vit_string *out, const char *text, size_t length, vit_form form) {
    characters t = {0};
    size_t plain = 0; /* ASCII is all forms of itself */
    bool canonical_only, composes;
    describe(&canonical_only, &composes, form);
    while (plain < length && (uint8_t)text[plain] < 0x80) plain++;
    if (plain < length && plain > 0) plain--;
    vit_string_add_bytes(out, text, plain);
    for (size_t at = plain; at < length;) {
        uint32_t c;
        at += vit_utf8_get(&c, text + at);
        if (canonical_only)
            put_decomposed(&t, c);
        else
            put_compatible(&t, c);
    }
    sort_marks(&t);
    if (composes) compose(&t);
    write_out(out, &t);
    vit_free(t.list);
}

void vit_string_add_decomposed(vit_string *out, const char *text) {
    characters t = {0};
    while (*text) {
        uint32_t c;
        const size_t length = vit_utf8_length(text);
        if (length > 0) {
            vit_utf8_get(&c, text);
            put_decomposed(&t, c);
        } else {
            write_out(out, &t);
            vit_string_add_bytes(out, text, 1);
        }
        text += length > 0 ? length : 1;
    }
    write_out(out, &t);
    vit_free(t.list);
}

const vit_text_form vit_decomposed = {vit_string_add_decomposed};
