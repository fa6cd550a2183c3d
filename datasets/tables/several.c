#include "datasets/tables/several.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/json.h"

#include <stdlib.h>
#include <string.h>

static bool is_list(const char *cell) {
    static const char opens[] = "[{(", closes[] = "]})";
    const size_t length = strlen(cell);
    const char *open = length > 1 ? strchr(opens, *cell) : NULL;
    return open && cell[length - 1] == closes[open - opens];
}

/* ---- what separates them ---- */

vit_status vit_several_find(char *separator, const vit_cells *c, size_t column, vit_error *error) {
    static const char separators[] = "[;|,";
    size_t first[sizeof separators] = {0}, plain = 0; /* rows, counted from 1; 0: none */
    for (size_t i = 0; i < c->row_count; i++) {
        const char *cell = vit_cell(c, i, column);
        if (!cell || !*cell) continue;
        if (is_list(cell)) {
            if (first[0] == 0) first[0] = i + 1;
            continue;
        }
        if (plain == 0) plain = i + 1;
        for (size_t k = 1; separators[k]; k++)
            if (first[k] == 0 && strchr(cell, separators[k])) first[k] = i + 1;
    }
    *separator = ' ';
    for (size_t k = sizeof separators - 1; k-- > 0;)
        if (first[k] > 0) *separator = separators[k];
    const size_t other = first[0] > 0 ? plain : first[1] > 0 ? first[2] : 0;
    if (other == 0) return VIT_OK;
    const size_t one = first[0] > 0 ? first[0] : first[1];
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s: column %s separates its classes in two ways: line %zu has \"%.60s\", line "
                    "%zu \"%.60s\": write one way (;)",
                    c->path, c->columns[column], c->lines[one - 1], vit_cell(c, one - 1, column),
                    c->lines[other - 1], vit_cell(c, other - 1, column));
}

/* ---- where one class is expected ---- */

/* A cell, or a name between commas in it. */
typedef struct piece {
    const char *text, *cell;
    size_t length, row;
} piece;

static int compare_pieces(const void *a, const void *b) {
    const piece *x = a, *y = b;
    const size_t n = x->length < y->length ? x->length : y->length;
    const int order = memcmp(x->text, y->text, n);
    if (order != 0) return order;
    if (x->length != y->length) return x->length < y->length ? -1 : 1;
    return strcmp(x->cell, y->cell);
}

/* The pieces of a cell that has commas, or the cell itself. Returns their number; pieces: NULL, or
 * where they are written. */
static size_t cut(piece *pieces, const char *cell, size_t row) {
    size_t count = 0;
    for (const char *at = cell;; at++) {
        at += strspn(at, " \t");
        const size_t all = strcspn(at, ",");
        size_t length = all;
        while (length > 0 && strchr(" \t", at[length - 1])) length--;
        if (pieces && length > 0) pieces[count] = (piece){at, cell, length, row};
        count += length > 0;
        at += all;
        if (!*at) return count;
    }
}

/* *row: the first with commas between names of which one is in another cell, too; row_count: none.
 */
static vit_status find_commas(size_t *row, const vit_cells *c, size_t column, vit_error *error) {
    size_t count = 0, all = 0;
    *row = c->row_count;
    for (size_t i = 0; i < c->row_count; i++) {
        const char *cell = vit_cell(c, i, column);
        if (cell) all += cut(NULL, cell, i);
    }
    piece *pieces = vit_alloc(all, sizeof *pieces);
    if (!pieces) return vit_fail_memory(error, "a table", all * sizeof *pieces);
    for (size_t i = 0; i < c->row_count; i++) {
        const char *cell = vit_cell(c, i, column);
        if (cell) count += cut(pieces + count, cell, i);
    }
    if (count > 0) qsort(pieces, count, sizeof *pieces, compare_pieces);
    for (size_t i = 1; i < count; i++) {
        const piece *a = &pieces[i - 1], *b = &pieces[i];
        if (a->length != b->length || memcmp(a->text, b->text, a->length) != 0) continue;
        if (strcmp(a->cell, b->cell) == 0) continue;
        const size_t listed = strchr(a->cell, ',') ? a->row : b->row;
        if (listed < *row) *row = listed;
    }
    vit_free(pieces);
    return VIT_OK;
}

vit_status vit_several_refuse(const vit_cells *c, size_t column, vit_error *error) {
    size_t row = c->row_count;
    bool has_comma = false;
    for (size_t i = 0; i < c->row_count && row == c->row_count; i++) {
        const char *cell = vit_cell(c, i, column);
        if (cell && (is_list(cell) || strpbrk(cell, ";|"))) row = i;
        has_comma = has_comma || (cell && strchr(cell, ','));
    }
    const vit_status status =
        row == c->row_count && has_comma ? find_commas(&row, c, column, error) : VIT_OK;
    if (status != VIT_OK || row == c->row_count) return status;
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s: line %zu: \"%.80s\" in column %s is several classes: --multi-label trains "
                    "a picture of several; for one class a picture, leave one name in each cell",
                    c->path, c->lines[row], vit_cell(c, row, column), c->columns[column]);
}

/* ---- splitting ---- */

typedef struct names {
    char *text, *to; /* text: [length of the cell + 2] */
    size_t count;
} names;

static void add_name(names *n, const char *name, size_t length) {
    while (length > 0 && strchr(" \t\r\n", *name)) name++, length--;
    while (length > 0 && strchr(" \t\r\n", name[length - 1])) length--;
    if (length == 0) return;
    memmove(n->to, name, length);
    n->to += length;
    *n->to++ = 0;
    n->count++;
}

/* A list of JSON's texts and whole numbers; false: it is none. */
static bool split_json(names *n, const char *cell, vit_status *status) {
    json_t *list = json_loads(cell, JSON_ALLOW_NUL, NULL);
    bool fine = json_is_array(list);
    size_t bytes = 1;
    for (size_t i = 0; fine && i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        bytes += json_is_string(item) ? json_string_length(item) + 1 : 32;
        fine = json_is_integer(item) || (json_is_string(item) && strlen(json_string_value(item)) ==
                                                                     json_string_length(item));
    }
    char *text = fine ? vit_alloc(1, bytes) : NULL;
    if (fine && !text) *status = VIT_ERROR_MEMORY;
    if (text) {
        vit_free(n->text);
        *n = (names){text, text, 0};
    }
    for (size_t i = 0; text && i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        char number[32];
        const char *name = json_string_value(item);
        if (!name) name = vit_format_double(number, (double)json_integer_value(item));
        add_name(n, name, strlen(name));
    }
    json_decref(list);
    return fine;
}

/* ['cat', "dog"], [cat, dog], {'cat'}, ('cat',), ['cat' 'dog'] of NumPy, [0 1]. False: a quote does
 * not end. */
static bool split_python(names *n, const char *cell) {
    const size_t length = strlen(cell);
    const char *at = cell + 1, *const end = cell + length - 1;
    const bool has_quotes = strpbrk(cell, "'\""), has_commas = strchr(cell, ',');
    while (at < end) {
        at += strspn(at, " \t\r\n,");
        if (at >= end) return true;
        if (*at == '\'' || *at == '"') {
            const char *close = strchr(at + 1, *at);
            if (!close || close >= end) return false;
            add_name(n, at + 1, (size_t)(close - at - 1));
            at = close + 1;
            continue;
        }
        size_t size = strcspn(at, has_quotes || has_commas ? "," : " \t\r\n");
        if (at + size > end) size = (size_t)(end - at);
        add_name(n, at, size);
        at += size;
    }
    return true;
}

vit_status vit_several_split(char **out, size_t *count, const char *cell, char separator,
                             vit_error *error) {
    const char separators[] = {separator, separator == ' ' ? '\t' : separator, 0};
    names n = {.text = vit_alloc(1, strlen(cell) + 2)};
    n.to = n.text;
    vit_status status = VIT_OK;
    bool fine = true;
    if (!n.text) return vit_fail_memory(error, "classes", strlen(cell) + 2);
    if (separator == '[' && *cell) fine = split_json(&n, cell, &status) || split_python(&n, cell);
    for (const char *at = cell; separator != '[' && *at;) {
        const size_t length = strcspn(at, separators);
        add_name(&n, at, length);
        at += length + (at[length] != 0);
    }
    *out = n.text;
    *count = n.count;
    if (status != VIT_OK) status = vit_fail_memory(error, "classes", strlen(cell));
    if (status == VIT_OK && separator == ' ')
        for (const char *name = n.text; name < n.to && status == VIT_OK; name += strlen(name) + 1)
            if (strchr("/+&,:-_.", *name) && !name[1])
                status = vit_fail(error, VIT_ERROR_FORMAT,
                                  "\"%.80s\" separates its classes by %s, expected ; or | or a "
                                  "comma",
                                  cell, name);
    if (status == VIT_OK && !fine)
        status = vit_fail(error, VIT_ERROR_FORMAT, "a quote does not end in the list %.80s", cell);
    if (status == VIT_OK) return VIT_OK;
    vit_free(n.text);
    *out = NULL;
    return status;
}
