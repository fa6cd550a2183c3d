#include "vit/text/unicode/unicode.h"
#include "vit/base/size.h"
#include <stdlib.h>
#include <string.h>

typedef struct code_range {
    uint32_t first, last;
} code_range;

/* Every `step`-th character of a range has its lower-case letter at this difference. */
typedef struct lower_run {
    uint32_t first, last;
    int32_t step, difference;
} lower_run;

/* A set of characters: bit n is category n; of the exceptions the contrary is true. */
typedef struct character_set {
    uint32_t categories;
    const code_range *exceptions;
    size_t count;
} character_set;

/* Characters of a class of graphemes. */
typedef struct grapheme_run {
    uint32_t first, last, class;
} grapheme_run;

#include "vit/text/unicode/categories.inc"
#include "vit/text/unicode/characters.inc"

/* ---- tables ---- */

int vit_compare_ranges(const void *c, const void *row) {
    const uint32_t a = *(const uint32_t *)c, *range = row;
    return (a > range[1]) - (a < range[0]);
}

vit_category vit_category_of(uint32_t c) {
    enum { EVEN_UPPER = 30, ODD_UPPER };
    if (c >= 'a' && c <= 'z') return VIT_CATEGORY_LL;
    /* The last row that begins at c or before: first << 5 | category. */
    size_t low = 0, high = VIT_COUNT(categories);
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (categories[middle] >> 5 <= c)
            low = middle;
        else
            high = middle;
    }
    const uint32_t value = categories[low] & 31;
    if (value < EVEN_UPPER) return (vit_category)value;
    return (c & 1) == (value == ODD_UPPER) ? VIT_CATEGORY_LU : VIT_CATEGORY_LL;
}

bool vit_categories_named(uint32_t *set, const char *name, size_t length) {
    static const char *const names[] = {"Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd",
                                        "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm",
                                        "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co"};
    VIT_CHECK_ROWS(names, VIT_CATEGORY_COUNT);
    *set = 0;
    for (unsigned i = 0; i < VIT_CATEGORY_COUNT; i++)
        if ((length == 1 && names[i][0] == name[0]) ||
            (length == 2 && memcmp(names[i], name, 2) == 0))
            *set |= 1u << i;
    return *set != 0;
}

bool vit_is_one_of(vit_characters set, uint32_t c) {
    VIT_CHECK_ROWS(sets, VIT_CHARACTERS_COUNT);
    const character_set *s = &sets[set];
    const bool is_exception =
        bsearch(&c, s->exceptions, s->count, sizeof *s->exceptions, vit_compare_ranges);
    return ((s->categories >> vit_category_of(c) & 1) != 0) != is_exception;
}

/* ---- UTF-8 ---- */

size_t vit_utf8_get(uint32_t *c, const char *text) {
    const uint8_t *s = (const uint8_t *)text;
    const size_t length = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    *c = length == 1 ? s[0] : s[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) *c = *c << 6 | (s[i] & 0x3fu);
    return length;
}

size_t vit_utf8_before(uint32_t *c, const char *text, size_t at) {
    do at--;
    while (((uint8_t)text[at] & 0xc0) == 0x80);
    vit_utf8_get(c, text + at);
    return at;
}

void vit_string_add_code(vit_string *out, uint32_t c) {
    char bytes[4];
    vit_string_add_bytes(out, bytes, vit_utf8_put(bytes, c));
}

/* ---- lower case ---- */

size_t vit_lower(uint32_t to[2], uint32_t c) {
    to[0] = c;
    if (c < 0x80) {
        if (c >= 'A' && c <= 'Z') to[0] = c + 32;
        return 1;
    }
    if (c == 0x130) {
        to[0] = 'i';
        to[1] = 0x307;
        return 2;
    }
    const lower_run *run =
        bsearch(&c, lower_runs, VIT_COUNT(lower_runs), sizeof *lower_runs, vit_compare_ranges);
    if (run && (c - run->first) % (uint32_t)run->step == 0)
        to[0] = (uint32_t)((int32_t)c + run->difference);
    return 1;
}

/* Whether the sigma at text[at], two bytes long, ends a word: letters stand before it and none
 * after, what is in between and of no case not counted (Unicode, Final_Sigma). */
static bool is_final(const char *text, size_t at, size_t length) {
    uint32_t c = 0;
    size_t i = at;
    bool follows = false; /* a letter */
    while (i > 0) {
        i = vit_utf8_before(&c, text, i);
        if (vit_is_one_of(VIT_CASE_IGNORABLE, c)) continue;
        follows = vit_is_one_of(VIT_CASED, c);
        break;
    }
    if (!follows) return false;
    for (i = at + 2; i < length;) {
        i += vit_utf8_get(&c, text + i);
        if (!vit_is_one_of(VIT_CASE_IGNORABLE, c)) return !vit_is_one_of(VIT_CASED, c);
    }
    return true;
}

void vit_string_add_lower(vit_string *out, const char *text, size_t length, bool final_sigma) {
    for (size_t at = 0; at < length;) {
        uint32_t c, to[2];
        const size_t bytes = vit_utf8_get(&c, text + at), n = vit_lower(to, c);
        if (final_sigma && c == 0x3a3 && is_final(text, at, length)) to[0] = 0x3c2;
        for (size_t i = 0; i < n; i++) vit_string_add_code(out, to[i]);
        at += bytes;
    }
}

/* ---- graphemes ---- */

/* The order of GRAPHEMES in scripts/make_unicode.py. */
enum { OTHER, CR, LF, CONTROL, EXTEND, ZWJ, SPACING, PREPEND, FLAG, L, V, T, LV, LVT, PICTURE };

/* The class of most characters of a category; of all others OTHER. */
static const uint8_t usual_classes[] = {
    [VIT_CATEGORY_MN] = EXTEND,  [VIT_CATEGORY_ME] = EXTEND,  [VIT_CATEGORY_MC] = SPACING,
    [VIT_CATEGORY_ZL] = CONTROL, [VIT_CATEGORY_ZP] = CONTROL, [VIT_CATEGORY_CC] = CONTROL,
    [VIT_CATEGORY_CF] = EXTEND,  [VIT_CATEGORY_CO] = OTHER,
};
VIT_CHECK_ROWS(usual_classes, VIT_CATEGORY_COUNT);

static uint32_t grapheme_class(uint32_t c) {
    if (c >= 0xac00 && c < 0xac00 + 11172) return (c - 0xac00) % 28 == 0 ? LV : LVT;
    const grapheme_run *found =
        bsearch(&c, graphemes, VIT_COUNT(graphemes), sizeof *graphemes, vit_compare_ranges);
    return found ? found->class : usual_classes[vit_category_of(c)];
}

/* Whether no boundary is between two classes; flags and pictures depend on more than that. */
static bool stick(uint32_t a, uint32_t b) {
    if (a == CR) return b == LF;
    if (a == LF || a == CONTROL || b == CR || b == LF || b == CONTROL) return false;
    if (b == EXTEND || b == ZWJ || b == SPACING || a == PREPEND) return true;
    if (a == L) return b == L || b == V || b == LV || b == LVT;
    if (a == LV || a == V) return b == V || b == T;
    return (a == LVT || a == T) && b == T;
}

size_t vit_grapheme_length(const char *text, size_t length) {
    uint32_t c;
    size_t at = vit_utf8_get(&c, text);
    uint32_t last = grapheme_class(c);
    bool picture = last == PICTURE, flag = last == FLAG; /* what a next one may be joined to */
    while (at < length) {
        const size_t bytes = vit_utf8_get(&c, text + at);
        const uint32_t next = grapheme_class(c);
        const bool joined = picture && last == ZWJ && next == PICTURE;
        if (!stick(last, next) && !joined && !(flag && last == FLAG && next == FLAG)) break;
        flag = next == FLAG && last != FLAG;
        picture = next == PICTURE || (picture && (next == EXTEND || next == ZWJ));
        last = next;
        at += bytes;
    }
    return at;
}
