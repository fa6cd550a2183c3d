#define _XOPEN_SOURCE 700 /* realpath */
#include "datasets/tables/listed_table.h"
#include "datasets/tables/several.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void vit_listed_table_clear(vit_listed_table *t) {
    for (size_t i = 0; i < t->row_count; i++) {
        vit_free(t->rows[i].file);
        vit_free(t->rows[i].class);
    }
    vit_places_free(&t->places);
    vit_free(t->rows);
    vit_free(t->path);
    vit_free(t->directory);
    vit_free(t->source);
    vit_free(t->parts);
    *t = (vit_listed_table){0};
}

/* ---- names of files ---- */

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

/* In a table of Windows, folders are separated by \\. */
static void use_slashes(char *path) {
    while ((path = strchr(path, '\\'))) *path = '/';
}

/* The part of a row: what its column says, else the table, else the first folder of its path;
 * KINDS: none of them does. */
static vit_tree_kind kind_of_row(const vit_listed_table *t, const char *file, const char *part,
                                 bool evaluated) {
    char first[64];
    const size_t length = strcspn(file, "/");
    const vit_tree_kind said = part ? vit_split_kind(part, evaluated) : VIT_TREE_KINDS;
    if (said != VIT_TREE_KINDS) return said;
    if (t->kind != VIT_TREE_KINDS) return t->kind;
    if (!file[length] || length >= sizeof first) return VIT_TREE_KINDS;
    snprintf(first, sizeof first, "%.*s", (int)length, file);
    return vit_tree_kind_of(first);
}

static vit_tree_kind or_train(vit_tree_kind kind) {
    return kind != VIT_TREE_KINDS ? kind : VIT_TREE_TRAIN;
}

/* ---- the column of files ---- */

#define TRIED 20 /* rows of which one must have its picture, or the column is of something else */

/* *found: whether a picture of the first rows is there. One of two places is there, too. */
static vit_status has_pictures(bool *found, vit_listed_table *t, const vit_cells *c, size_t column,
                               vit_error *error) {
    *found = false;
    for (size_t i = 0; i < vit_min(c->row_count, TRIED) && !*found; i++) {
        char *path, *name = vit_cell(c, i, column) ? vit_strdup(vit_cell(c, i, column)) : NULL;
        size_t from;
        if (!name) continue;
        use_slashes(name);
        const char *file = from_directory(t, name);
        const vit_tree_kind kind = kind_of_row(t, file, NULL, false);
        vit_status status = VIT_OK;
        if (*file && !leads_out(file))
            status = vit_places_find(&path, &from, &t->places, file, or_train(kind), error);
        else
            path = NULL;
        vit_free(name);
        *found = path || status == VIT_ERROR_FORMAT;
        vit_free(path);
        if (status != VIT_OK && status != VIT_ERROR_FORMAT) return status;
    }
    return VIT_OK;
}

/* *column: the first that is called as one of files is and has pictures, else the first that is; of
 * two columns the one that is not of classes; if the classes' column was named, the first that has
 * pictures. column_count: none. */
static vit_status choose_file(size_t *column, vit_listed_table *t, const vit_cells *c,
                              const char *class_column, vit_error *error) {
    vit_status status = VIT_OK;
    size_t i = 0, class = 0;
    bool found = false;
    *column = c->column_count;
    for (size_t k; status == VIT_OK && !found; i++) {
        if ((k = vit_column_find(c, VIT_COLUMN_FILE, &i)) == c->column_count) break;
        status = has_pictures(&found, t, c, k, error);
        if (found || *column == c->column_count) *column = k;
    }
    class = vit_column_find(c, VIT_COLUMN_CLASS, (i = 0, &i));
    if (status == VIT_OK && c->column_count == 2 && *column == 2 && class < 2) {
        *column = 1 - class;
        status = has_pictures(&found, t, c, *column, error);
    }
    for (size_t k = 0; k < c->column_count && class_column && status == VIT_OK && !found; k++) {
        if (k == vit_column_named(c, class_column)) continue;
        status = has_pictures(&found, t, c, k, error);
        if (found) *column = k;
    }
    t->has_pictures = found;
    return status;
}

/* ---- rows ---- */

/* class: ended by a zero byte, or several that are, of which there are class_count; owned. kind:
 * KINDS: nothing says the part. */
static vit_status add_row(vit_listed_table *t, const char *file, char *class, size_t class_count,
                          vit_tree_kind kind, size_t line, vit_error *error) {
    if (!VIT_MAKE_ROOM(t->rows, t->row_count, t->row_capacity, "rows of a table", error)) {
        vit_free(class);
        return VIT_ERROR_MEMORY;
    }
    vit_listed_row *r = &t->rows[t->row_count++];
    *r = (vit_listed_row){.file = vit_strdup(file),
                          .class = class,
                          .class_count = class_count,
                          .kind = or_train(kind),
                          .is_said = kind != VIT_TREE_KINDS,
                          .line = line};
    return r->file ? VIT_OK : vit_fail_memory(error, "a row of a table", strlen(file));
}

/* What pandas and spreadsheets write where there is no value, and no class is called. */
static bool is_missing(const char *class) {
    static const char *const words[] = {"nan", "<na>", "n/a", "#n/a"};
    for (size_t i = 0; i < VIT_COUNT(words); i++)
        if (strcasecmp(class, words[i]) == 0) return true;
    return false;
}

static vit_status refuse_missing(const vit_listed_table *t, size_t line, const char *class,
                                 bool multi_label, vit_error *error) {
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s: line %zu: \"%s\" is what programs write for a value that is missing: %s; "
                    "if it is a class, call it otherwise",
                    t->path, line, class,
                    multi_label ? "leave the cell of a picture of no class empty"
                                : "give the picture its class, or leave the line out");
}

/* *names = those of the columns that have a 1 in this row, each with a zero byte behind it. */
static vit_status names_of_ones(char **names, size_t *count, const vit_cells *c, size_t row,
                                const bool *ones, vit_error *error) {
    size_t bytes = 1;
    for (size_t k = 0; k < c->column_count; k++)
        if (ones[k]) bytes += strlen(c->columns[k]) + 1;
    char *to = *names = vit_alloc(1, bytes);
    *count = 0;
    if (!to) return vit_fail_memory(error, "a row of a table", bytes);
    for (size_t k = 0; k < c->column_count; k++) {
        if (!ones[k] || vit_cell_one(vit_cell(c, row, k)) != 1) continue;
        memcpy(to, c->columns[k], strlen(c->columns[k]) + 1);
        to += strlen(to) + 1;
        ++*count;
    }
    return VIT_OK;
}

/* The names in a cell, each with a zero byte behind it. */
static vit_status read_several(char **class, size_t *count, const vit_listed_table *t,
                               const char *cell, size_t line, char separator, vit_error *error) {
    vit_status status = vit_several_split(class, count, cell, separator, error);
    const char *name = *class;
    for (size_t i = 0; i < *count && status == VIT_OK; i++, name += strlen(name) + 1)
        if (is_missing(name)) return refuse_missing(t, line, name, true, error);
    if (status != VIT_ERROR_FORMAT) return status;
    char where[32];
    snprintf(where, sizeof where, "line %zu", line);
    vit_fail_prefix(error, status, where);
    return vit_fail_prefix(error, status, t->path);
}

/* *class: freed by vit_free, also on failure. */
static vit_status read_classes(char **class, size_t *count, const vit_listed_table *t,
                               const vit_cells *c, size_t row, const vit_columns *columns,
                               bool multi_label, vit_error *error) {
    if (columns->ones) return names_of_ones(class, count, c, row, columns->ones, error);
    const char *cell = vit_cell(c, row, columns->class), *other;
    if ((!cell || !*cell) && !multi_label)
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: line %zu: has no class", t->path,
                        c->lines[row]);
    if (cell && (other = vit_utf8_other_name(cell)))
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: line %zu: the class %s", t->path,
                        c->lines[row], other);
    *count = 1;
    if (!multi_label && is_missing(cell))
        return refuse_missing(t, c->lines[row], cell, false, error);
    if (!multi_label) {
        *class = vit_strdup(cell);
        return *class ? VIT_OK : vit_fail_memory(error, "a row of a table", strlen(cell));
    }
    return read_several(class, count, t, cell ? cell : "", c->lines[row], columns->separator,
                        error);
}

static vit_status read_row(vit_listed_table *t, const vit_cells *c, size_t row,
                           const vit_columns *columns, bool multi_label, vit_error *error) {
    const char *cell = vit_cell(c, row, columns->file);
    const char *part = columns->split < c->column_count ? vit_cell(c, row, columns->split) : NULL;
    char *class = NULL, *name = vit_strdup(cell ? cell : "");
    size_t count = 0;
    vit_status status = VIT_OK;
    if (!name) return vit_fail_memory(error, "a row of a table", 64);
    use_slashes(name);
    const char *file = from_directory(t, name);
    if (!*name)
        status = vit_fail(error, VIT_ERROR_FORMAT, "%s: line %zu: has no name of a file", t->path,
                          c->lines[row]);
    else if (leads_out(file))
        status = vit_fail(error, VIT_ERROR_FORMAT,
                          "%s: line %zu: \"%s\" leads out of the folder of the table: expected a "
                          "name beside the table or in folders there",
                          t->path, c->lines[row], file);
    if (status == VIT_OK)
        status = read_classes(&class, &count, t, c, row, columns, multi_label, error);
    if (status == VIT_OK)
        status = add_row(t, file, class, count, kind_of_row(t, file, part, columns->evaluated),
                         c->lines[row], error);
    else
        vit_free(class);
    vit_free(name);
    return status;
}

/* ---- the table ---- */

/* What separates the names in the cells; NULL: each has one. */
static const char *separator_of(const vit_listed_table *t, char separator) {
    bool several = false;
    for (size_t i = 0; i < t->row_count && !several; i++) several = t->rows[i].class_count > 1;
    return !several           ? NULL
           : separator == '[' ? "lists"
           : separator == ' ' ? "names between spaces"
           : separator == ',' ? "names between commas"
           : separator == ';' ? "names between semicolons"
                              : "names between |";
}

static vit_status name_source(vit_listed_table *t, const vit_cells *c, const vit_columns *columns,
                              vit_error *error) {
    vit_string text = {0}, parts = {0};
    const char *between = columns->separator ? separator_of(t, columns->separator) : NULL;
    if (columns->ones)
        vit_string_add(&text, "%zu columns of 1 and 0", columns->ones_count);
    else
        vit_string_add(&text, "column %s", c->columns[columns->class]);
    if (between) vit_string_add(&text, " (%s)", between);
    if (columns->split < c->column_count)
        vit_string_add(&parts, "column %s", c->columns[columns->split]);
    t->source = text.text;
    t->parts = parts.text;
    return text.failed || parts.failed ? vit_fail_memory(error, "a name", 64) : VIT_OK;
}

static vit_status read_rows(vit_listed_table *t, const vit_cells *c, const vit_table_options *o,
                            vit_error *error) {
    vit_columns columns = {0};
    size_t box = 0;
    const bool is_part = t->kind == VIT_TREE_VAL || t->kind == VIT_TREE_TEST;
    vit_status status = vit_places_open(&t->places, t->directory, error);
    if (status == VIT_OK) status = choose_file(&columns.file, t, c, o->class_column, error);
    t->has_boxes = vit_column_find(c, VIT_COLUMN_BOX, &box) < c->column_count;
    if (status == VIT_OK)
        status = vit_columns_choose(&columns, &t->has_columns, c, o, is_part, error);
    t->has_others = columns.has_others;
    for (size_t i = 0; i < c->row_count && status == VIT_OK; i++)
        status = read_row(t, c, i, &columns, o->multi_label, error);
    if (status == VIT_OK) status = name_source(t, c, &columns, error);
    vit_free(columns.ones);
    return status;
}

/* Whether the columns are those of files and classes, by their names. */
static bool looks_ours(const vit_cells *c, const vit_table_options *o) {
    size_t i = 0;
    return vit_columns_wanted(c, o) &&
           (o->class_column || vit_column_find(c, VIT_COLUMN_CLASS, &i) < c->column_count);
}

vit_status vit_listed_table_read(vit_listed_table *t, const vit_table_options *options,
                                 vit_error *error) {
    vit_cells cells;
    vit_status status = vit_cells_read(&cells, t->path, vit_columns_wanted, options, error);
    const bool is_ours = looks_ours(&cells, options);
    if (status != VIT_OK || (is_ours && cells.row_count == 0)) t->has_columns = is_ours;
    if (status == VIT_OK && is_ours && cells.row_count == 0)
        status = vit_fail(error, VIT_ERROR_FORMAT, "%s: has no row of a picture", t->path);
    if (status == VIT_OK) status = read_rows(t, &cells, options, error);
    vit_cells_clear(&cells);
    return status;
}
