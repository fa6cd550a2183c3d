#include "vit/text/unicode/entities.h"
#include "vit/text/unicode/unicode.h"
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 32 }; /* characters of a name */

/* ---- names ---- */

typedef struct slice {
    const char *text;
    size_t length;
} slice;

static int compare(const void *name, const void *row) {
    const slice *s = name;
    const char *line = *(const char *const *)row;
    const size_t length = strcspn(line, "=");
    const int order = memcmp(s->text, line, s->length < length ? s->length : length);
    return order ? order : (s->length > length) - (s->length < length);
}

/* Appends what a name stands for, if it is one. */
static bool add_named(vit_string *out, const char *name, size_t length) {
    const slice s = {name, length};
    const char *const *row =
        bsearch(&s, vit_html_entities, VIT_HTML_ENTITIES, sizeof *vit_html_entities, compare);
    if (!row) return false;
    for (const char *at = strchr(*row, '='); *at == '=' || *at == ' ';) {
        char *end;
        vit_string_add_code(out, (uint32_t)strtoul(at + 1, &end, 16));
        at = end;
    }
    return true;
}

/* ---- numbers ---- */

const uint16_t vit_windows_1252[32] = {
    0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021, 0x2c6,  0x2030, 0x160,
    0x2039, 0x152,  0x8d,   0x17d,  0x8f,   0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178};

/* What HTML makes of numbers that are no characters: those of Windows-1252, and none at all. */
static void add_numbered(vit_string *out, uint32_t c) {
    const bool nonsense = (c >= 1 && c <= 8) || c == 0xb || (c >= 0xe && c <= 0x1f) || c == 0x7f ||
                          (c >= 0xfdd0 && c <= 0xfdef) || (c & 0xfffe) == 0xfffe;
    if (c >= 0x80 && c <= 0x9f)
        vit_string_add_code(out, vit_windows_1252[c - 0x80]);
    else if (c == 0 || (c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff)
        vit_string_add_code(out, 0xfffd);
    else if (!nonsense)
        vit_string_add_code(out, c);
}

/* The bytes of "#12;" or "#x1f" at the beginning of text[0..length), which begins with '#'; 0:
 * there are no digits. *c = the number, at most 0x110000. */
static size_t read_number(uint32_t *c, const char *text, size_t length) {
    const bool hex = length > 1 && (text[1] == 'x' || text[1] == 'X');
    const uint32_t base = hex ? 16 : 10;
    size_t at = hex ? 2 : 1;
    const size_t start = at;
    *c = 0;
    for (; at < length; at++) {
        const char t = text[at];
        const uint32_t lower = (uint32_t)t | 0x20;
        const uint32_t digit = t >= '0' && t <= '9'                  ? (uint32_t)(t - '0')
                               : hex && lower >= 'a' && lower <= 'f' ? lower - 'a' + 10
                                                                     : base;
        if (digit >= base) break;
        *c = *c > 0x10ffff ? 0x110000 : *c * base + digit;
    }
    if (at == start) return 0;
    return at < length && text[at] == ';' ? at + 1 : at;
}

/* ---- texts ---- */

/* The bytes of a name at the beginning of text[0..length): up to LONGEST characters, and a ';'. */
static size_t name_length(const char *text, size_t length) {
    size_t at = 0;
    for (int characters = 0; at < length && characters < LONGEST; characters++) {
        uint32_t c;
        const size_t bytes = vit_utf8_get(&c, text + at);
        if (c > 0 && c < 0x80 && strchr("\t\n\f <&#;", (int)c)) break;
        at += bytes;
    }
    if (at == 0) return 0;
    return at < length && text[at] == ';' ? at + 1 : at;
}

/* Appends what the name, or its longest beginning that is one, stands for; then the rest. */
static void add_name(vit_string *out, const char *name, size_t length) {
    if (add_named(out, name, length)) return;
    for (size_t n = length - 1; n > 1; n--)
        if (((unsigned char)name[n] & 0xc0) != 0x80 && add_named(out, name, n)) {
            vit_string_add_bytes(out, name + n, length - n);
            return;
        }
    vit_string_add_bytes(out, "&", 1);
    vit_string_add_bytes(out, name, length);
}

void vit_string_add_unescaped(vit_string *out, const char *text, size_t length) {
    for (size_t at = 0; at < length;) {
        const char *from = text + at + 1;
        const size_t left = length - at - 1;
        uint32_t c;
        if (text[at] != '&') {
            vit_string_add_bytes(out, text + at++, 1);
            continue;
        }
        const bool numbered = left > 0 && *from == '#';
        const size_t bytes = numbered ? read_number(&c, from, left) : name_length(from, left);
        at += 1 + bytes;
        if (bytes == 0)
            vit_string_add_bytes(out, "&", 1);
        else if (numbered)
            add_numbered(out, c);
        else
            add_name(out, from, bytes);
    }
}

static bool is_alphanumeric(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The bytes of "amp;" or "#38;" at the beginning of text[0..length); 0: there is none. */
static size_t strict_length(const char *text, size_t length) {
    const size_t start = length > 0 && *text == '#';
    size_t at = start;
    while (at < length && at < start + 24 && is_alphanumeric(text[at])) at++;
    return at > start && at < length && text[at] == ';' ? at + 1 : 0;
}

void vit_string_add_unescaped_strictly(vit_string *out, const char *text, size_t length) {
    for (size_t at = 0; at < length;) {
        const char *from = text + at + 1;
        uint32_t c;
        const size_t bytes = text[at] == '&' ? strict_length(from, length - at - 1) : 0;
        if (bytes > 0 && *from == '#' && read_number(&c, from, bytes) == bytes && c != ';')
            add_numbered(out, c);
        else if (bytes == 0 || *from == '#' || !add_named(out, from, bytes))
            vit_string_add_bytes(out, text + at, 1 + bytes);
        at += 1 + bytes;
    }
}
