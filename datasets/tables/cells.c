#include "datasets/tables/cells.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/csv.h"
#include "vit/formats/json.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MAX_TABLE ((size_t)256 << 20)
#define MOST_KEYS 4096 /* of all objects of a file together */

bool vit_cells_is(const char *name) {
    static const char *const endings[] = {".csv", ".tsv", ".jsonl"};
    const size_t length = strlen(name);
    for (size_t i = 0; i < VIT_COUNT(endings); i++) {
        const size_t n = strlen(endings[i]);
        if (length > n && strcasecmp(name + length - n, endings[i]) == 0) return true;
    }
    return false;
}

void vit_cells_clear(vit_cells *c) {
    const size_t count = c->row_count * c->column_count;
    for (size_t i = 0; c->owns_cells && i < count; i++) vit_free(c->cells[i]);
    for (size_t i = 0; c->columns && i < c->column_count; i++) vit_free(c->columns[i]);
    vit_free(c->columns);
    vit_free(c->cells);
    vit_free(c->lines);
    vit_free(c->text);
    *c = (vit_cells){0};
}

/* Adds a row of cells that are NULL. */
static vit_status add_row(vit_cells *c, size_t line, vit_error *error) {
    if (c->row_count == c->row_capacity) {
        const size_t more = c->row_capacity > 0 ? 2 * c->row_capacity : 256;
        char **cells = vit_realloc(c->cells, c->row_capacity * c->column_count,
                                   more * c->column_count, sizeof *cells);
        if (cells) c->cells = cells;
        size_t *lines = cells ? vit_realloc(c->lines, c->row_capacity, more, sizeof *lines) : NULL;
        if (!lines) return vit_fail_memory(error, "a table", more * sizeof *cells);
        c->lines = lines;
        c->row_capacity = more;
    }
    c->lines[c->row_count++] = line;
    for (size_t i = 0; i < c->column_count; i++)
        c->cells[(c->row_count - 1) * c->column_count + i] = NULL;
    return VIT_OK;
}

/* ---- CSV ---- */

/* Takes away the space around a field, as of "1.jpg, cat". */
static char *trim(char *field) {
    field += strspn(field, " \t");
    size_t length = strlen(field);
    while (length > 0 && strchr(" \t", field[length - 1])) length--;
    field[length] = 0;
    return field;
}

static vit_status read_header(vit_cells *c, vit_csv *csv, vit_error *error) {
    bool more;
    vit_status status = vit_csv_next(csv, &more, error);
    if (status != VIT_OK) return status;
    c->columns = vit_alloc(csv->count > 0 ? csv->count : 1, sizeof *c->columns);
    if (!c->columns) return vit_fail_memory(error, "columns", csv->count * sizeof *c->columns);
    for (; c->column_count < csv->count; c->column_count++) {
        c->columns[c->column_count] = vit_strdup(trim(csv->fields[c->column_count]));
        if (!c->columns[c->column_count]) return vit_fail_memory(error, "columns", csv->count);
    }
    if (csv->count > 0) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: is an empty table", c->path);
}

/* Whether a row has nothing but empty fields: the end of what a spreadsheet writes. */
static bool is_blank(const vit_csv *csv) {
    for (size_t i = 0; i < csv->count; i++)
        if (*csv->fields[i]) return false;
    return true;
}

/* The fields without empty ones beyond the columns, as of a comma at a line's end. */
static size_t length_of(const vit_csv *csv, size_t columns) {
    size_t count = csv->count;
    while (count > columns && *csv->fields[count - 1] == 0) count--;
    return count;
}

static vit_status read_csv(vit_cells *c, vit_cells_wanted *wanted, const void *user,
                           vit_error *error) {
    vit_csv csv;
    bool more;
    vit_csv_start(&csv, c->text, c->path);
    vit_status status = read_header(c, &csv, error);
    const bool is_wanted = status == VIT_OK && (!wanted || wanted(c, user));
    while (is_wanted && status == VIT_OK && (status = vit_csv_next(&csv, &more, error)) == VIT_OK &&
           more) {
        for (size_t i = 0; i < csv.count; i++) csv.fields[i] = trim(csv.fields[i]);
        if (is_blank(&csv)) continue;
        if (length_of(&csv, c->column_count) != c->column_count)
            status = vit_fail(error, VIT_ERROR_FORMAT,
                              "%s: line %zu: has %zu columns, the first line "
                              "%zu",
                              c->path, csv.line, csv.count, c->column_count);
        if (status == VIT_OK) status = add_row(c, csv.line, error);
        for (size_t i = 0; status == VIT_OK && i < c->column_count; i++)
            c->cells[(c->row_count - 1) * c->column_count + i] = csv.fields[i];
    }
    vit_csv_clear(&csv);
    return status;
}

/* ---- JSON, an object a line ---- */

/* The text of a value: of a list its JSON; NULL: null or an object. Freed by vit_string_free. */
static void add_value(vit_string *text, const json_t *value) {
    char number[32];
    if (json_is_string(value)) vit_string_add(text, "%s", json_string_value(value));
    if (json_is_integer(value)) vit_string_add(text, "%lld", (long long)json_integer_value(value));
    if (json_is_real(value))
        vit_string_add(text, "%s", vit_format_double(number, json_real_value(value)));
    if (json_is_boolean(value)) vit_string_add(text, "%d", json_is_true(value));
    if (!json_is_array(value)) return;
    vit_string_add(text, "[");
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *item = json_array_get(value, i);
        vit_string_add(text, "%s", i > 0 ? ", " : "");
        if (json_is_string(item))
            vit_string_add_json(text, json_string_value(item));
        else
            add_value(text, item);
    }
    vit_string_add(text, "]");
}

static size_t find_column(const vit_cells *c, const char *key) {
    size_t i = 0;
    while (i < c->column_count && strcmp(c->columns[i], key) != 0) i++;
    return i;
}

/* Adds a column, which rows before do not have. */
static vit_status add_column(vit_cells *c, const char *key, vit_error *error) {
    const size_t count = c->column_count;
    if (count == MOST_KEYS)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: has more than %d keys", c->path,
                        MOST_KEYS);
    char **columns = vit_realloc(c->columns, count, count + 1, sizeof *columns);
    if (columns) c->columns = columns;
    char **cells = vit_alloc(c->row_capacity * (count + 1), sizeof *cells);
    char *name = vit_strdup(key);
    if (!columns || !cells || !name) {
        vit_free(cells);
        vit_free(name);
        return vit_fail_memory(error, "a table", c->row_capacity * sizeof *cells);
    }
    for (size_t i = 0; i < c->row_count; i++)
        for (size_t k = 0; k < count; k++) cells[i * (count + 1) + k] = c->cells[i * count + k];
    vit_free(c->cells);
    c->cells = cells;
    columns[c->column_count++] = name;
    return VIT_OK;
}

static vit_status read_object(vit_cells *c, json_t *object, size_t line, vit_error *error) {
    const char *key;
    json_t *value;
    vit_status status = VIT_OK;
    json_object_foreach(object, key, value) {
        if (status == VIT_OK && find_column(c, key) == c->column_count)
            status = add_column(c, key, error);
    }
    if (status == VIT_OK) status = add_row(c, line, error);
    json_object_foreach(object, key, value) {
        vit_string text = {0};
        if (status != VIT_OK) break;
        add_value(&text, value);
        if (text.failed) status = vit_fail_memory(error, "a table", text.length);
        c->cells[(c->row_count - 1) * c->column_count + find_column(c, key)] = text.text;
    }
    return status;
}

static vit_status read_json(vit_cells *c, size_t size, vit_error *error) {
    const char *text = c->text + vit_utf8_mark(c->text, size);
    vit_status status = VIT_OK;
    c->owns_cells = true;
    for (size_t line = 1; *text && status == VIT_OK; line++) {
        const size_t length = strcspn(text, "\n");
        if (strspn(text, " \t\r") < length) {
            char where[32];
            json_t *object;
            snprintf(where, sizeof where, "line %zu", line);
            status = vit_json_parse(&object, text, length, where, error);
            if (status != VIT_OK) return vit_fail_prefix(error, status, c->path);
            status = read_object(c, object, line, error);
            json_decref(object);
        }
        text += length + (text[length] == '\n');
    }
    if (status == VIT_OK && c->row_count == 0)
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: is an empty table", c->path);
    return status;
}

/* ---- both ---- */

vit_status vit_cells_parse(vit_cells *out, char *text, size_t size, const char *path,
                           vit_cells_wanted *wanted, const void *user, vit_error *error) {
    const char *other = vit_utf8_other(text, size);
    *out = (vit_cells){.path = path, .text = text};
    if (other) return vit_fail(error, VIT_ERROR_FORMAT, "%s: %s", path, other);
    return strcasecmp(path + strlen(path) - vit_min(strlen(path), 6), ".jsonl") == 0
               ? read_json(out, size, error)
               : read_csv(out, wanted, user, error);
}

vit_status vit_cells_read(vit_cells *out, const char *path, vit_cells_wanted *wanted,
                          const void *user, vit_error *error) {
    vit_bytes file;
    *out = (vit_cells){.path = path};
    const vit_status status = vit_read_regular(&file, path, MAX_TABLE, error);
    if (status != VIT_OK) return status;
    return vit_cells_parse(out, (char *)file.data, file.size, path, wanted, user, error);
}
