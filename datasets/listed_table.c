#define _XOPEN_SOURCE 700 /* realpath */
#include "datasets/listed_table.h"
#include "datasets/reader.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/csv.h"
#include "vit/formats/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_TABLE ((size_t)256 << 20)

/* ---- what columns are called ---- */

static const char *const file_columns[] = {
    "file_name", "filename",   "filepath", "filepaths", "file", "image_name", "image_id",
    "imageid",   "image_path", "image",    "img",       "path", "id",         NULL};
static const char *const class_columns[] = {
    "label",    "labels", "label_name", "class", "class_name", "classname", "classid", "class_id",
    "category", "target", "species",    "breed", "diagnosis",  "dx",        NULL};
/* Of several classes besides these. */
static const char *const multi_columns[] = {"labels",   "label", "classes", "class", "categories",
                                            "category", "tags",  "targets", NULL};
static const char *const part_columns[] = {"split", "set", "data set", "subset", "partition", NULL};

/* What a picture shows, in words: no class. */
static const char *const caption_columns[] = {"text",   "caption",      "captions", "description",
                                              "prompt", "ground_truth", "url",      NULL};

/* The column that has one of the names, of which the first are preferred; `count`: none. */
static size_t find_column(char *const *columns, size_t count, const char *const *names) {
    for (; *names; names++)
        for (size_t i = 0; i < count; i++)
            if (strcasecmp(columns[i], *names) == 0) return i;
    return count;
}

/* ---- rows ---- */

void vit_listed_table_clear(vit_listed_table *t) {
    for (size_t i = 0; i < t->row_count; i++) {
        vit_free(t->rows[i].file);
        vit_free(t->rows[i].class);
    }
    for (size_t i = 0; i < t->place_count; i++) vit_free(t->places[i]);
    vit_free(t->rows);
    vit_free(t->path);
    vit_free(t->directory);
    *t = (vit_listed_table){0};
}

/* The part of an absolute path that begins in the directory of the table; the whole path if it lies
 * elsewhere or is relative. */
static const char *from_directory(const vit_listed_table *t, const char *path) {
    char *real = *path == '/' ? realpath(t->directory, NULL) : NULL;
    const size_t length = real ? strlen(real) : 0;
    const bool is_inside = real && strncmp(path, real, length) == 0 && path[length] == '/';
    free(real);
    return is_inside ? path + length + strspn(path + length, "/") : path;
}

/* Whether a path leads out of the directory that it is relative to. */
static bool leads_out(const char *path) {
    if (*path == '/') return true;
    for (; *path; path += strcspn(path, "/"), path += strspn(path, "/"))
        if (strncmp(path, "..", 2) == 0 && (path[2] == '/' || path[2] == 0)) return true;
    return false;
}

/* The part of a row: what its column says, else the table, else the first folder of its path. */
static vit_tree_kind kind_of_row(const vit_listed_table *t, const char *file, const char *part) {
    char first[64];
    const size_t length = strcspn(file, "/");
    const vit_tree_kind said = part ? vit_tree_kind_of(part) : VIT_TREE_KINDS;
    if (said != VIT_TREE_KINDS) return said;
    if (t->kind != VIT_TREE_KINDS) return t->kind;
    if (!file[length] || length >= sizeof first) return VIT_TREE_TRAIN;
    snprintf(first, sizeof first, "%.*s", (int)length, file);
    const vit_tree_kind kind = vit_tree_kind_of(first);
    return kind != VIT_TREE_KINDS ? kind : VIT_TREE_TRAIN;
}

/* In a table of Windows, folders are separated by \\. */
static void use_slashes(char *path) {
    while ((path = strchr(path, '\\'))) *path = '/';
}

static vit_status add_row(vit_listed_table *t, const char *file, const char *class,
                          const char *part, size_t line, vit_error *error) {
    if (*file == 0 || (*class == 0 && !t->multi_label))
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: line %zu: has no %s", t->path, line,
                        *file == 0 ? "name of a file" : "class");
    file = from_directory(t, file);
    if (leads_out(file))
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: line %zu: \"%s\" leads out of the folder of the table: expected a "
                        "name beside the table or in folders there",
                        t->path, line, file);
    if (!VIT_MAKE_ROOM(t->rows, t->row_count, t->row_capacity, "rows of a table", error))
        return VIT_ERROR_MEMORY;
    vit_listed_row *r = &t->rows[t->row_count++];
    *r = (vit_listed_row){vit_strdup(file), vit_strdup(class), 1, kind_of_row(t, file, part), line};
    return r->file && r->class ? VIT_OK : vit_fail_memory(error, "a row of a table", strlen(file));
}

/* ---- several classes ---- */

/* Cuts the class of a row into names that end with zero bytes, without space around them. */
static void cut_classes(vit_listed_row *r, const char *separators) {
    char *to = r->class;
    r->class_count = 0;
    for (char *from = r->class; *from;) {
        const size_t length = strcspn(from, separators), space = strspn(from, " \t");
        char *const next = from + length + (from[length] != 0);
        size_t end = length;
        while (end > space && strchr(" \t\r", from[end - 1])) end--;
        if (end > space) {
            memmove(to, from + space, end - space);
            to += end - space;
            *to++ = 0;
            r->class_count++;
        }
        from = next;
    }
}

/* Names are separated by semicolons; in a table without one, by white space. */
static void cut_rows(vit_listed_table *t) {
    bool has_semicolon = false;
    for (size_t i = 0; i < t->row_count; i++)
        has_semicolon = has_semicolon || strchr(t->rows[i].class, ';');
    for (size_t i = 0; i < t->row_count; i++) cut_classes(&t->rows[i], has_semicolon ? ";" : " \t");
}

/* *text = the names of the columns that have a 1 in this row, each with a semicolon behind it. */
static vit_status classes_of_columns(vit_string *text, const vit_listed_table *t,
                                     const vit_csv *csv, char *const *names, size_t file,
                                     size_t part, vit_error *error) {
    *text = (vit_string){0};
    vit_string_add(text, "%s", "");
    for (size_t i = 0; i < csv->count; i++) {
        const char *cell = csv->fields[i];
        if (i == file || i == part) continue;
        const bool is_one = strcmp(cell, "1") == 0 || strcmp(cell, "1.0") == 0;
        if (is_one) vit_string_add(text, "%s;", names[i]);
        if (!is_one && strcmp(cell, "0") != 0 && strcmp(cell, "0.0") != 0) {
            vit_string_free(text);
            return vit_fail(
                error, VIT_ERROR_FORMAT,
                "%s: line %zu: column %s has \"%.40s\", expected 0 or 1, as each column "
                "is a class: a column of classes is called label or labels",
                t->path, csv->line, names[i], cell);
        }
    }
    return text->failed ? vit_fail_memory(error, "a row of a table", 0) : VIT_OK;
}

/* ---- CSV ---- */

/* A table without such columns; one of pixels is told what to do. */
static vit_status no_columns(const vit_listed_table *t, char *const *columns, size_t count,
                             vit_error *error) {
    vit_string found = {0};
    vit_status status;
    bool has_pixels = false;
    for (size_t i = 0; i < count; i++) {
        if (i < 6) vit_string_add(&found, "%s%.40s", i > 0 ? ", " : "", columns[i]);
        has_pixels = has_pixels || strncasecmp(columns[i], "pixel", 5) == 0 ||
                     strcmp(columns[i], "1x1") == 0;
    }
    if (count > 6) vit_string_add(&found, ", ...");
    if (found.failed || count == 0)
        status = vit_fail(error, VIT_ERROR_FORMAT, "%s: is an empty table", t->path);
    else if (has_pixels)
        status = vit_fail(error, VIT_ERROR_FORMAT,
                          "%s: has pixels in its columns %s, which are not read from CSV: download "
                          "the set as IDX files, or save it as images.npy and labels.npy",
                          t->path, found.text);
    else
        status = vit_fail(error, VIT_ERROR_FORMAT,
                          "%s: has the columns %s, expected one of files and one of classes, such "
                          "as file_name and label",
                          t->path, found.text);
    vit_string_free(&found);
    return status;
}

/* The columns of files and of classes; the second of two is what the first is not. */
static bool choose_columns(const vit_csv *csv, bool multi_label, size_t *file, size_t *class,
                           size_t *part) {
    *file = find_column(csv->fields, csv->count, file_columns);
    *class = find_column(csv->fields, csv->count, multi_label ? multi_columns : class_columns);
    *part = find_column(csv->fields, csv->count, part_columns);
    const bool is_captioned = find_column(csv->fields, csv->count, caption_columns) < csv->count;
    if (csv->count == 2 && *file < 2 && *class == 2 && !is_captioned) *class = 1 - *file;
    if (csv->count == 2 && *class < 2 && *file == 2) *file = 1 - *class;
    return *file < csv->count && *class < csv->count && *file != *class;
}

/* The names of the columns, if each is a class, freed by vit_names_free; else NULL. */
static vit_status name_columns(char ***names, const vit_listed_table *t, const vit_csv *csv,
                               size_t file, size_t class, vit_error *error) {
    *names = NULL;
    if (!t->multi_label || file == csv->count || class < csv->count) return VIT_OK;
    *names = vit_alloc(csv->count, sizeof **names);
    bool fine = *names;
    for (size_t i = 0; i < csv->count && fine; i++)
        fine = ((*names)[i] = vit_strdup(csv->fields[i])) != NULL;
    if (fine) return VIT_OK;
    vit_names_free(*names, *names ? csv->count : 0);
    *names = NULL;
    return vit_fail_memory(error, "columns", csv->count * sizeof **names);
}

/* Reads a row, and takes away the space around its fields, as of "1.jpg, cat". */
static vit_status next_row(vit_csv *csv, bool *more, vit_error *error) {
    const vit_status status = vit_csv_next(csv, more, error);
    for (size_t i = 0; status == VIT_OK && *more && i < csv->count; i++) {
        char *field = csv->fields[i] += strspn(csv->fields[i], " \t");
        size_t length = strlen(field);
        while (length > 0 && strchr(" \t", field[length - 1])) length--;
        field[length] = 0;
    }
    return status;
}

static vit_status read_csv(vit_listed_table *t, char *text, vit_error *error) {
    vit_csv csv;
    bool more;
    size_t file = 0, class = 0, part = 0;
    char **names = NULL;
    vit_csv_start(&csv, text, t->path);
    vit_status status = next_row(&csv, &more, error);
    const bool are_chosen =
        status == VIT_OK && choose_columns(&csv, t->multi_label, &file, &class, &part);
    if (status == VIT_OK && !are_chosen) status = name_columns(&names, t, &csv, file, class, error);
    if (status == VIT_OK && !are_chosen && !names)
        status = no_columns(t, csv.fields, csv.count, error);
    t->has_columns = status == VIT_OK;
    const size_t columns = csv.count;
    while (status == VIT_OK && (status = next_row(&csv, &more, error)) == VIT_OK && more) {
        vit_string ones = {0};
        if (csv.count != columns)
            status = vit_fail(error, VIT_ERROR_FORMAT,
                              "%s: line %zu: has %zu columns, the first line %zu", t->path,
                              csv.line, csv.count, columns);
        else if (names)
            status = classes_of_columns(&ones, t, &csv, names, file, part, error);
        if (status == VIT_OK) use_slashes(csv.fields[file]);
        if (status == VIT_OK)
            status = add_row(t, csv.fields[file], names ? ones.text : csv.fields[class],
                             part < columns ? csv.fields[part] : NULL, csv.line, error);
        vit_string_free(&ones);
    }
    vit_names_free(names, names ? columns : 0);
    vit_csv_clear(&csv);
    return status;
}

/* ---- JSON, an object a line ---- */

/* The text, or the whole number as one, of the first key of these that is there; NULL: none. */
static const char *text_of(char number[32], json_t *object, const char *const *names) {
    for (; *names; names++) {
        json_t *value = json_object_get(object, *names);
        if (json_is_string(value)) return json_string_value(value);
        if (!json_is_integer(value)) continue;
        snprintf(number, 32, "%lld", (long long)json_integer_value(value));
        return number;
    }
    return NULL;
}

/* The names in a list, each with a semicolon behind it; NULL: there is no list of texts and whole
 * numbers. Freed by vit_string_free. */
static const char *text_of_list(vit_string *text, json_t *object, const char *const *names) {
    json_t *list = NULL;
    for (; *names && !list; names++)
        if (json_is_array(json_object_get(object, *names))) list = json_object_get(object, *names);
    if (!list) return NULL;
    vit_string_add(text, "%s", "");
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *value = json_array_get(list, i);
        if (json_is_string(value) && !strchr(json_string_value(value), ';'))
            vit_string_add(text, "%s;", json_string_value(value));
        else if (json_is_integer(value))
            vit_string_add(text, "%lld;", (long long)json_integer_value(value));
        else
            return NULL;
    }
    return text->text;
}

static vit_status read_json_line(vit_listed_table *t, const char *line, size_t length,
                                 size_t number, vit_error *error) {
    char where[32], numbers[3][32];
    json_t *object;
    snprintf(where, sizeof where, "line %zu", number);
    vit_status status = vit_json_parse(&object, line, length, where, error);
    if (status != VIT_OK) return vit_fail_prefix(error, status, t->path);
    const char *file = text_of(numbers[0], object, file_columns);
    const char *class = text_of(numbers[1], object, class_columns);
    vit_string list = {0};
    if (!class && t->multi_label) class = text_of_list(&list, object, multi_columns);
    t->has_columns = t->has_columns || (file && class);
    status =
        file && class ? add_row(t, file, class, text_of(numbers[2], object, part_columns), number,
                                error)
                      : vit_fail(
                            error, VIT_ERROR_FORMAT,
                            "%s: line %zu: has no %s, expected \"file_name\" and \"label\", a text "
                            "or a whole number",
                            t->path, number, file ? "class" : "file");
    if (list.failed) status = vit_fail_memory(error, "a row of a table", list.length);
    vit_string_free(&list);
    json_decref(object);
    return status;
}

static vit_status read_jsonl(vit_listed_table *t, const char *text, vit_error *error) {
    vit_status status = VIT_OK;
    for (size_t number = 1; *text && status == VIT_OK; number++) {
        const size_t length = strcspn(text, "\n");
        if (strspn(text, " \t\r") < length) status = read_json_line(t, text, length, number, error);
        text += length + (text[length] == '\n');
    }
    return status;
}

vit_status vit_listed_table_read(vit_listed_table *t, vit_error *error) {
    vit_bytes file;
    vit_status status = vit_read_file(&file, t->path, MAX_TABLE, error);
    if (status != VIT_OK) return status;
    char *text = (char *)file.data;
    if (memchr(text, 0, file.size))
        status = vit_fail(error, VIT_ERROR_FORMAT, "%s: is no text: it has a byte 0", t->path);
    else if (vit_has_ending(t->path, ".jsonl"))
        status = read_jsonl(t, text, error);
    else
        status = read_csv(t, text, error);
    vit_free(text);
    if (status == VIT_OK && t->multi_label) cut_rows(t);
    if (status == VIT_OK && t->row_count == 0)
        status = vit_fail(error, VIT_ERROR_FORMAT, "%s: has no row of a picture", t->path);
    return status;
}
