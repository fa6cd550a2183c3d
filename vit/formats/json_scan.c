#include "vit/formats/json_scan.h"

#include "vit/base/text.h"

#include <stdio.h>
#include <string.h>

static bool is_space(unsigned char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_digit(unsigned char c) {
    return c >= '0' && c <= '9';
}

static void skip_space(vit_scan *scan) {
    while (scan->at < scan->end && is_space(*scan->at)) scan->at++;
}

bool vit_scan_end(vit_scan *scan) {
    skip_space(scan);
    return scan->at == scan->end;
}

bool vit_scan_take(vit_scan *scan, char c) {
    if (vit_scan_end(scan) || *scan->at != (unsigned char)c) return false;
    scan->at++;
    return true;
}

/* What was found at `at`, for a message: a whole word or number, or one character. */
static void describe(const vit_scan *scan, char text[40]) {
    size_t left = (size_t)(scan->end - scan->at), length = 0;
    while (length < left && length < 24 && scan->at[length] > ' ' && scan->at[length] < 0x7f &&
           !memchr("{}[]:,\"\\", scan->at[length], 8))
        length++;
    if (left == 0)
        snprintf(text, 40, "the end of the %.20s", scan->what);
    else if (length == 0 && (*scan->at < ' ' || *scan->at >= 0x7f))
        snprintf(text, 40, "the byte 0x%02x", *scan->at);
    else
        snprintf(text, 40, "'%.*s'", length == 0 ? 1 : (int)length, (const char *)scan->at);
}

vit_status vit_scan_fail(vit_scan *scan, const char *expected) {
    char found[40];
    describe(scan, found);
    return vit_fail(scan->error, VIT_ERROR_FORMAT, "%s byte %zu: expected %s, found %s", scan->what,
                    (size_t)(scan->at - scan->start), expected, found);
}

vit_status vit_scan_expect(vit_scan *scan, char c, const char *expected) {
    return vit_scan_take(scan, c) ? VIT_OK : vit_scan_fail(scan, expected);
}

/* ---- strings ---- */

static vit_status scan_character(vit_scan *scan) {
    if (*scan->at < 0x20)
        return vit_scan_fail(scan, "no control character in a string (\\u00XX stands for one)");
    /* A copy with a 0 at its end, which the header does not have. */
    size_t left = (size_t)(scan->end - scan->at);
    char next[5] = "";
    memcpy(next, scan->at, left < 4 ? left : 4);
    size_t length = vit_utf8_length(next);
    if (length == 0) return vit_scan_fail(scan, "valid UTF-8");
    memcpy(scan->strings, next, length);
    scan->strings += length;
    scan->at += length;
    return VIT_OK;
}

/* The value of \uXXXX at `at`, or UINT32_MAX if there is none. */
static uint32_t hex_escape(const vit_scan *scan, const unsigned char *at) {
    if (scan->end - at < 6 || at[0] != '\\' || at[1] != 'u') return UINT32_MAX;
    uint32_t value = 0;
    for (size_t i = 2; i < 6; i++) {
        unsigned char c = at[i], lower = c | 0x20;
        if (!is_digit(c) && (lower < 'a' || lower > 'f')) return UINT32_MAX;
        int digit = is_digit(c) ? c - '0' : lower - 'a' + 10;
        value = value << 4 | (uint32_t)digit;
    }
    return value;
}

static vit_status scan_hex_escape(vit_scan *scan) {
    uint32_t code = hex_escape(scan, scan->at);
    if (code == UINT32_MAX) return vit_scan_fail(scan, "four hexadecimal digits after \\u");
    if (code == 0)
        return vit_fail(scan->error, VIT_ERROR_UNSUPPORTED,
                        "%s byte %zu: the string holds the character U+0000 (\\u0000), "
                        "expected a string without it",
                        scan->what, (size_t)(scan->at - scan->start));
    size_t length = 6;
    if (code >= 0xd800 && code < 0xe000) {
        uint32_t low = code < 0xdc00 ? hex_escape(scan, scan->at + 6) : UINT32_MAX;
        if (low < 0xdc00 || low >= 0xe000)
            return vit_scan_fail(scan, "surrogates in pairs (\\uD800-\\uDBFF, \\uDC00-\\uDFFF)");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        length = 12;
    }
    scan->strings += vit_utf8_put(scan->strings, code);
    scan->at += length;
    return VIT_OK;
}

static vit_status scan_escape(vit_scan *scan) {
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    if (scan->end - scan->at < 2) return vit_scan_fail(scan, "a whole escape sequence");
    if (scan->at[1] == 'u') return scan_hex_escape(scan);
    const char *letter = memchr(letters, scan->at[1], sizeof letters - 1);
    if (!letter) return vit_scan_fail(scan, "one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
    *scan->strings++ = meanings[letter - letters];
    scan->at += 2;
    return VIT_OK;
}

vit_status vit_scan_string(vit_scan *scan, const char **text, const char *expected) {
    vit_status status = vit_scan_expect(scan, '"', expected);
    *text = scan->strings;
    while (status == VIT_OK && scan->at < scan->end && *scan->at != '"') {
        if (*scan->at == '\\')
            status = scan_escape(scan);
        else if (*scan->at >= 0x20 && *scan->at < 0x80)
            *scan->strings++ = (char)*scan->at++;
        else
            status = scan_character(scan);
    }
    if (status != VIT_OK) return status;
    if (scan->at == scan->end) return vit_scan_fail(scan, "'\"' at the end of a string");
    scan->at++;
    *scan->strings++ = '\0';
    return VIT_OK;
}

/* ---- numbers ---- */

vit_status vit_scan_size(vit_scan *scan, size_t *value, const char *expected) {
    *value = 0;
    skip_space(scan);
    const unsigned char *at = scan->at;
    for (; at < scan->end && is_digit(*at); at++) {
        size_t digit = (size_t)(*at - '0');
        if (*value > (SIZE_MAX - digit) / 10)
            return vit_scan_fail(scan, "an integer of at most 64 bits");
        *value = *value * 10 + digit;
    }
    bool leading_zero = at - scan->at > 1 && *scan->at == '0';
    bool real = at < scan->end && (*at == '.' || *at == 'e' || *at == 'E');
    if (at == scan->at || leading_zero || real) return vit_scan_fail(scan, expected);
    scan->at = at;
    return VIT_OK;
}

vit_status vit_scan_double(vit_scan *scan, double *value, const char *expected) {
    char text[64];
    size_t length = 0;
    skip_space(scan);
    while (scan->at + length < scan->end && length < sizeof text - 1 &&
           memchr("+-.0123456789eE", scan->at[length], 15))
        length++;
    memcpy(text, scan->at, length);
    text[length] = 0;
    if (!vit_parse_double(text, value)) return vit_scan_fail(scan, expected);
    scan->at += length;
    return VIT_OK;
}

/* ---- any value ---- */

/* Goes past a string without looking at it. */
static vit_status skip_string(vit_scan *scan) {
    for (scan->at++; scan->at < scan->end && *scan->at != '"'; scan->at++)
        if (*scan->at == '\\' && ++scan->at == scan->end) break;
    if (scan->at == scan->end) return vit_scan_fail(scan, "'\"' at the end of a string");
    scan->at++;
    return VIT_OK;
}

vit_status vit_scan_skip(vit_scan *scan) {
    size_t depth = 0;
    vit_status status = VIT_OK;
    do {
        if (vit_scan_end(scan)) return vit_scan_fail(scan, "a value");
        const unsigned char c = *scan->at;
        if (c == '"') {
            status = skip_string(scan);
        } else if (c == '{' || c == '[') {
            depth++;
            scan->at++;
        } else if (c == '}' || c == ']') {
            if (depth == 0) return vit_scan_fail(scan, "a value");
            depth--;
            scan->at++;
        } else {
            scan->at++;
            while (depth == 0 && scan->at < scan->end && !memchr(",]}", *scan->at, 3)) scan->at++;
        }
    } while (status == VIT_OK && depth > 0);
    return status;
}
