#include "vit/cli/serve/answer/numbers.h"

#include <string.h>

enum { SHORT = 1024, LONGEST_NUMBER = 400 };

/* The length of an array that holds nothing but numbers and such arrays; 0: it is another, or would
 * take more than *patience characters to tell. */
static size_t array_length(const char *text, size_t size, size_t *patience) {
    size_t depth = 0;
    for (size_t i = 0; i < size && *patience != 0; i++, (*patience)--) {
        depth += text[i] == '[';
        if (text[i] == ']' && --depth == 0) return i + 1;
        if (text[i] == '\0' || !strchr("[],.+-0123456789eE \t\r\n", text[i])) return 0;
    }
    return 0;
}

/* The length of a string with its quotes; what is left, if it does not end. */
static size_t string_length(const char *text, size_t size) {
    for (size_t i = 1; i < size; i++) {
        if (text[i] == '\\')
            i++;
        else if (text[i] == '"')
            return i + 1;
    }
    return size;
}

size_t serve_take_numbers(vit_string *out, const char *body, size_t size) {
    size_t values = 1, after = 0, short_until = 0, patience = 4 * size;
    for (size_t i = 0; i < size; i++) {
        if (body[i] == '"') {
            i += string_length(body + i, size - i) - 1;
            continue;
        }
        values += body[i] != '\0' && strchr("[{,:", body[i]) != NULL;
        if (body[i] != '[' || i < short_until) continue;
        const size_t length = array_length(body + i, size - i, &patience);
        if (length <= SHORT) { /* nor is an array within it long */
            short_until = i + length;
            continue;
        }
        vit_string_add_bytes(out, body + after, i - after);
        vit_string_add(out, "{\"numbers\": [%zu, %zu]}", i, length);
        i += length - 1;
        after = i + 1;
    }
    if (after > 0) vit_string_add_bytes(out, body + after, size - after);
    return values;
}

/* A number of at most 15 digits without an exponent, which is exact: a whole number below 2^53,
 * divided by a power of ten that a double holds. False: it is another. */
static bool read_short(double *number, const char *word) {
    const char *c = word + (*word == '-'), *point = NULL;
    double whole = 0, scale = 1;
    for (int digits = 0; *c; c++) {
        if (*c == '.' && !point) {
            point = c;
            continue;
        }
        if (*c < '0' || *c > '9' || ++digits > 15) return false;
        whole = whole * 10 + (*c - '0');
        if (point) scale *= 10;
    }
    *number = (*word == '-' ? -whole : whole) / scale;
    return true;
}

/* The number that text[0..size) begins with, as JSON writes it; returns its length, or 0. */
static size_t read_number(double *number, bool *is_whole, const char *text, size_t size) {
    char word[LONGEST_NUMBER + 1];
    size_t length = 0;
    while (length < size && text[length] != '\0' && strchr(".+-0123456789eE", text[length]))
        length++;
    if (length == 0 || length > LONGEST_NUMBER) return 0;
    memcpy(word, text, length);
    word[length] = '\0';
    const char *digits = word + (word[0] == '-');
    const bool is_octal = digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9';
    const char *point = strchr(word, '.');
    *is_whole = !strpbrk(word, ".eE");
    if (digits[0] < '0' || digits[0] > '9' || is_octal) return 0;
    if (point && (point[1] < '0' || point[1] > '9')) return 0;
    return read_short(number, word) || vit_parse_double(word, number) ? length : 0;
}

/* Where in nested arrays the reader is. */
typedef struct nest {
    size_t depth, counts[SERVE_MOST_DIMS]; /* [depth]: values so far of each array that is open */
    serve_shape *shape;                    /* dims: the depth of all numbers, 0 before the first */
    bool is_known[SERVE_MOST_DIMS];        /* a side: an array of it has ended */
} nest;

static bool open_array(nest *n) {
    if (n->depth == SERVE_MOST_DIMS) return false;
    if (n->depth > 0) n->counts[n->depth - 1]++;
    n->counts[n->depth++] = 0;
    return true;
}

static bool close_array(nest *n) {
    const size_t i = --n->depth;
    const bool is_same = !n->is_known[i] || n->shape->sides[i] == n->counts[i];
    n->shape->sides[i] = n->counts[i];
    n->is_known[i] = true;
    return is_same;
}

static bool count_number(nest *n) {
    if (n->shape->dims == 0) n->shape->dims = n->depth;
    n->counts[n->depth - 1]++;
    return n->depth == n->shape->dims;
}

bool serve_read_numbers(const char *text, size_t size, serve_shape *shape,
                        bool (*put)(void *context, double number, bool is_whole), void *context) {
    nest n = {.shape = shape};
    bool may_begin = true, may_end = false; /* a value; the array */
    *shape = (serve_shape){0};
    for (size_t i = 0; i < size;) {
        double number;
        bool is_whole;
        if (strchr(" \t\r\n", text[i])) {
            i++;
        } else if (text[i] == '[' && may_begin) {
            if (!open_array(&n)) return false;
            i++;
            may_end = true;
        } else if (text[i] == ']' && may_end && n.depth > 0) {
            if (!close_array(&n)) return false;
            i++;
            may_begin = false;
        } else if (text[i] == ',' && !may_begin && n.depth > 0) {
            i++;
            may_begin = true, may_end = false;
        } else {
            const size_t length =
                may_begin && n.depth > 0 ? read_number(&number, &is_whole, text + i, size - i) : 0;
            if (length == 0 || !count_number(&n) || !put(context, number, is_whole)) return false;
            i += length;
            may_begin = false, may_end = true;
        }
    }
    return n.depth == 0 && !may_begin;
}
