#include "vit/base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vit/base/size.h"
#include "vit/base/sys.h"

/* The C library's conversions use the decimal point of the host's locale, and asking which one it
 * is would race with another thread's setlocale. So texts are read by giving strtod an integer
 * with an exponent, which has no point in it, and written by replacing whatever stands between
 * the digits. */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool vit_parse_u64(const char *text, uint64_t *value) {
    uint64_t v = 0;
    if (*text == '\0') return false;
    for (; *text != '\0'; text++) {
        if (!is_digit(*text)) return false;
        uint64_t digit = (uint64_t)(*text - '0');
        if (v > (UINT64_MAX - digit) / 10) return false;
        v = v * 10 + digit;
    }
    *value = v;
    return true;
}

/* 800 digits decide how a decimal rounds to a double, except in one case: a number that is exactly
 * half-way between two doubles so far. Whether anything but zeros follows is kept for it. */
enum { DIGITS_MAX = 800 };

typedef struct decimal {
    char text[DIGITS_MAX + 32]; /* "-123e-2" */
    size_t digits;              /* significant ones, without leading zeros */
    long long exponent;
    bool more; /* a digit other than 0 was left out */
    bool negative;
} decimal;

static void take_digit(decimal *d, char c, bool fraction) {
    bool leading_zero = d->digits == 0 && c == '0';
    bool room = d->digits < DIGITS_MAX;
    if (!leading_zero && room) d->text[1 + d->digits++] = c;
    d->more |= !room && c != '0';
    d->exponent += (room ? 0 : 1) - (fraction ? 1 : 0);
}

static const char *take_digits(decimal *d, const char *p, bool fraction) {
    for (; is_digit(*p); p++) take_digit(d, *p, fraction);
    return p;
}

/* [+-]digits to the end of the text; an exponent too large for any double is capped. */
static bool take_exponent(decimal *d, const char *p) {
    const long long huge = 1000000000000000LL;
    bool negative = *p == '-';
    p += *p == '-' || *p == '+';
    if (!is_digit(*p)) return false;
    long long exponent = 0;
    for (; is_digit(*p); p++) exponent = exponent < huge ? exponent * 10 + (*p - '0') : huge;
    d->exponent += negative ? -exponent : exponent;
    return *p == '\0';
}

/* Checks the syntax and rewrites the number as sign, digits, "e", exponent. */
static bool read_decimal(decimal *d, const char *p) {
    *d = (decimal){.negative = *p == '-'};
    p += d->negative;
    const char *start = p;
    p = take_digits(d, p, false);
    size_t count = (size_t)(p - start);
    if (*p == '.') {
        start = p + 1;
        p = take_digits(d, start, true);
        count += (size_t)(p - start);
    }
    if (count == 0 || (*p != '\0' && *p != 'e' && *p != 'E')) return false;
    if (*p != '\0' && !take_exponent(d, p + 1)) return false;
    if (d->digits == 0) {
        d->text[1 + d->digits++] = '0';
        d->exponent = 0;
    }
    if (d->more) {
        d->text[1 + d->digits++] = '1';
        d->exponent--;
    }
    d->text[0] = d->negative ? '-' : '+';
    long long e = d->exponent;
    e = e > 99999 ? 99999 : e < -99999 ? -99999 : e;
    snprintf(d->text + 1 + d->digits, sizeof d->text - 1 - d->digits, "e%lld", e);
    return true;
}

bool vit_parse_double(const char *text, double *value) {
    decimal d;
    if (!read_decimal(&d, text)) return false;
    double v = strtod(d.text, NULL);
    bool zero = d.digits == 1 && d.text[1] == '0';
    if (isinf(v) || (v == 0 && !zero)) return false;
    *value = v;
    return true;
}

/* Whatever the locale puts between the digits, of whatever length, becomes a point. */
static void put_point(char *text) {
    char *out = text;
    for (const char *p = text; *p != '\0'; p++)
        if (is_digit(*p) || *p == '-' || *p == '+' || *p == 'e')
            *out++ = *p;
        else if (out == text || out[-1] != '.')
            *out++ = '.';
    *out = '\0';
}

static bool write_special(char text[32], double value) {
    if (isfinite(value)) return false;
    const char *name = isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
    memcpy(text, name, strlen(name) + 1);
    return true;
}

static bool reads_as_double(const char *text, double value) {
    double back;
    return vit_parse_double(text, &back) && back == value;
}

/* Both for a reader that goes straight to float and for one that goes by way of double. */
static bool reads_as_float(const char *text, double value) {
    decimal d;
    return read_decimal(&d, text) && strtof(d.text, NULL) == (float)value &&
           (float)strtod(d.text, NULL) == (float)value;
}

/* Turns "-d.ddde-05" into what %g would write with as many digits, but with zeros rather than an
 * exponent up to 1e15. */
static void lay_out(char text[32], const char *scientific) {
    char digits[32];
    int count = 0;
    const char *p = scientific;
    bool negative = *p == '-';
    for (p += negative; *p != 'e'; p++)
        if (is_digit(*p)) digits[count++] = *p;
    long exponent = strtol(p + 1, NULL, 10);
    char *out = text;
    if (negative) *out++ = '-';
    if (exponent < -4 || exponent > 15) {
        memcpy(out, scientific + negative, strlen(scientific + negative) + 1);
        return;
    }
    for (long place = exponent > 0 ? exponent : 0; place >= 0 || exponent - place < count;
         place--) {
        if (place == -1) *out++ = '.';
        long i = exponent - place;
        *out++ = i >= 0 && i < count ? digits[i] : '0';
    }
    *out = '\0';
}

static char *write_shortest(char text[32], double value, int precision,
                            bool (*reads_as)(const char *, double)) {
    char scientific[64];
    if (write_special(text, value)) return text;
    for (int p = 1; p <= precision; p++) {
        snprintf(scientific, sizeof scientific, "%.*e", p - 1, value);
        put_point(scientific);
        if (reads_as(scientific, value)) break;
    }
    lay_out(text, scientific);
    return text;
}

char *vit_format_double(char text[32], double value) {
    return write_shortest(text, value, 17, reads_as_double);
}

char *vit_format_float(char text[32], float value) {
    return write_shortest(text, (double)value, 9, reads_as_float);
}

char *vit_format_fixed(char text[32], double value, int decimals) {
    if (write_special(text, value)) return text;
    char wide[400];
    decimals = decimals < 0 ? 0 : decimals > 20 ? 20 : decimals;
    snprintf(wide, sizeof wide, "%.*f", decimals, value);
    put_point(wide);
    size_t length = strlen(wide);
    if (length > 31) return vit_format_double(text, value);
    memcpy(text, wide, length + 1);
    return text;
}

char *vit_format_g9(char text[32], float value) {
    if (!write_special(text, (double)value)) {
        snprintf(text, 32, "%.9g", (double)value);
        put_point(text);
    }
    return text;
}

void vit_shape_text(char text[128], const size_t *shape, size_t dims) {
    size_t used = (size_t)snprintf(text, 128, "[");
    for (size_t i = 0; i < dims; i++) {
        char number[24];
        int length = snprintf(number, sizeof number, "%s%zu", i > 0 ? ", " : "", shape[i]);
        if (used + (size_t)length > 128 - sizeof ", ...]") {
            used += (size_t)snprintf(text + used, 128 - used, ", ...");
            break;
        }
        memcpy(text + used, number, (size_t)length + 1);
        used += (size_t)length;
    }
    snprintf(text + used, 128 - used, "]");
}

/* ---- strings that grow ---- */

/* Makes room for `more` characters and a 0. */
static bool reserve(vit_string *t, size_t more) {
    if (t->failed || more >= SIZE_MAX / 4 - t->length) {
        t->failed = true;
        return false;
    }
    size_t needed = t->length + more + 1;
    if (needed <= t->capacity) return true;
    size_t capacity = needed < 64 ? 64 : needed + needed / 2;
    char *grown = vit_realloc(t->text, !t->text ? 0 : t->length + 1, capacity, 1);
    if (!grown) {
        t->failed = true;
        return false;
    }
    t->text = grown;
    t->capacity = capacity;
    return true;
}

void vit_string_add(vit_string *t, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length < 0) {
        t->failed = true;
    } else if (reserve(t, (size_t)length)) {
        vsnprintf(t->text + t->length, (size_t)length + 1, format, again);
        t->length += (size_t)length;
    }
    va_end(again);
    va_end(arguments);
}

void vit_string_add_bytes(vit_string *t, const char *bytes, size_t size) {
    if (reserve(t, size)) {
        if (size > 0) memcpy(t->text + t->length, bytes, size);
        t->length += size;
        t->text[t->length] = '\0';
    }
}

static void add_json_character(vit_string *t, const char *text, size_t length) {
    static const char *const escapes[] = {"\"\\\"", "\\\\\\", "\b\\b", "\f\\f",
                                          "\n\\n",  "\r\\r",  "\t\\t"};
    for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++) {
        if (*text == escapes[i][0]) {
            vit_string_add_bytes(t, escapes[i] + 1, 2);
            return;
        }
    }
    if (length == 0)
        vit_string_add_bytes(t, "\xef\xbf\xbd", 3);
    else if ((unsigned char)*text < 0x20)
        vit_string_add(t, "\\u%04x", (unsigned)*text);
    else
        vit_string_add_bytes(t, text, length);
}

void vit_string_add_json(vit_string *t, const char *text) {
    vit_string_add_bytes(t, "\"", 1);
    while (*text != '\0' && !t->failed) {
        size_t length = vit_utf8_length(text);
        add_json_character(t, text, length);
        text += length > 0 ? length : 1;
    }
    vit_string_add_bytes(t, "\"", 1);
}

void vit_string_free(vit_string *t) {
    vit_free(t->text);
    *t = (vit_string){0};
}

/* ---- names ---- */

bool vit_has_ending(const char *name, const char *ending) {
    const size_t length = strlen(name), end = strlen(ending);
    return length > end && strcmp(name + length - end, ending) == 0;
}

size_t vit_stem_length(const char *name, const char *ending) {
    return strlen(name) - (vit_has_ending(name, ending) ? strlen(ending) : 0);
}

enum { WORD_MAX = 64 };

static int lower(char c) {
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* The edit distance of a and b without regard to case: letters to insert, delete, change or swap
 * with their neighbour. Both have at most WORD_MAX letters. rows[0] is the row of i, rows[1] and
 * [2] those before. */
static size_t edit_distance(const char *a, const char *b) {
    size_t rows[3][WORD_MAX + 1] = {{0}};
    size_t length = strlen(b);
    for (size_t j = 0; j <= length; j++) rows[0][j] = j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        memcpy(rows[2], rows[1], sizeof rows[0]);
        memcpy(rows[1], rows[0], sizeof rows[0]);
        rows[0][0] = i;
        for (size_t j = 1; j <= length; j++) {
            bool same = lower(a[i - 1]) == lower(b[j - 1]);
            size_t best = vit_min(rows[0][j - 1], rows[1][j]) + 1;
            best = vit_min(best, rows[1][j - 1] + !same);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                best = vit_min(best, rows[2][j - 2] + 1);
            rows[0][j] = best;
        }
    }
    return rows[0][length];
}

const char *vit_nearest(const char *word, const char *const *names, size_t count) {
    size_t length = strlen(word);
    if (length > WORD_MAX) return NULL;
    const char *nearest = NULL;
    size_t best = (length + 1) / 3;
    for (size_t i = 0; i < count; i++) {
        size_t longer = strlen(names[i]);
        if (longer > WORD_MAX) continue;
        size_t distance = edit_distance(word, names[i]);
        /* A name that shares no letter with the word is not near, however short both are. */
        if (distance < (length > longer ? length : longer) &&
            (distance < best || (distance == best && !nearest))) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}
