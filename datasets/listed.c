#include "datasets/listed.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/csv.h"
#include "vit/formats/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_TABLE ((size_t)256 << 20)
#define MAX_CLASSES 65536

/* ---- what tables and columns are called ---- */

/* Tables of the first group that has one are read together. */
enum { IMAGEFOLDER, ONE, PARTS, GROUPS };

typedef struct table_name {
    const char *name;
    int group;
    vit_tree_kind kind; /* the part that its rows are of; KINDS: the training part, or their own */
} table_name;

static const table_name tables[] = {
    {"metadata.csv", IMAGEFOLDER, VIT_TREE_KINDS},
    {"metadata.jsonl", IMAGEFOLDER, VIT_TREE_KINDS},
    {"labels.csv", ONE, VIT_TREE_KINDS},
    {"annotations.csv", ONE, VIT_TREE_KINDS},
    {"train.csv", PARTS, VIT_TREE_TRAIN},
    {"train_labels.csv", PARTS, VIT_TREE_TRAIN},
    {"trainLabels.csv", PARTS, VIT_TREE_TRAIN},
    {"val.csv", PARTS, VIT_TREE_VAL},
    {"valid.csv", PARTS, VIT_TREE_VAL},
    {"validation.csv", PARTS, VIT_TREE_VAL},
    {"test.csv", PARTS, VIT_TREE_TEST},
    {"test_labels.csv", PARTS, VIT_TREE_TEST},
};

static const char *const file_columns[] = {
    "file_name", "filename",   "filepath", "filepaths", "file", "image_name", "image_id",
    "imageid",   "image_path", "image",    "img",       "path", "id",         NULL};
static const char *const class_columns[] = {
    "label",    "labels", "label_name", "class", "class_name", "classname", "classid", "class_id",
    "category", "target", "species",    "breed", "diagnosis",  "dx",        NULL};
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

bool vit_listed_is(const vit_listing *directory) {
    for (size_t i = 0; i < directory->count; i++)
        for (size_t k = 0; k < VIT_COUNT(tables); k++)
            if (strcasecmp(directory->names[i], tables[k].name) == 0) return true;
    return false;
}

/* ---- rows ---- */

typedef struct row {
    char *file, *class; /* as the table says */
    vit_tree_kind kind;
    size_t line;
} row;

/* Where a table's pictures may lie: beside it, and in the folders there. */
#define MOST_PLACES 64
typedef struct table {
    char *path, *directory;
    char *places[MOST_PLACES];
    size_t place_count, last; /* last: where the last picture was found */
    row *rows;
    size_t row_count, row_capacity;
    vit_tree_kind kind;
    bool has_columns; /* of files and of classes, so that an error is one of a table of ours */
} table;

static void clear(table *t) {
    for (size_t i = 0; i < t->row_count; i++) {
        vit_free(t->rows[i].file);
        vit_free(t->rows[i].class);
    }
    for (size_t i = 0; i < t->place_count; i++) vit_free(t->places[i]);
    vit_free(t->rows);
    vit_free(t->path);
    vit_free(t->directory);
    *t = (table){0};
}

/* Whether a path leads out of the directory that it is relative to. */
static bool leads_out(const char *path) {
    if (*path == '/') return true;
    for (; *path; path += strcspn(path, "/"), path += strspn(path, "/"))
        if (strncmp(path, "..", 2) == 0 && (path[2] == '/' || path[2] == 0)) return true;
    return false;
}

/* The part of a row: what its column says, else the table, else the first folder of its path. */
static vit_tree_kind kind_of_row(const table *t, const char *file, const char *part) {
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

static vit_status add_row(table *t, const char *file, const char *class, const char *part,
                          size_t line, vit_error *error) {
    if (*file == 0 || *class == 0)
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: line %zu: has no %s", t->path, line,
                        *file == 0 ? "name of a file" : "class");
    if (leads_out(file))
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: line %zu: \"%s\" leads out of the folder of the table", t->path, line,
                        file);
    row *rows = vit_make_room(t->rows, t->row_count, &t->row_capacity, sizeof *rows,
                              "rows of a table", error);
    if (!rows) return VIT_ERROR_MEMORY;
    t->rows = rows;
    row *r = &t->rows[t->row_count++];
    *r = (row){vit_strdup(file), vit_strdup(class), kind_of_row(t, file, part), line};
    return r->file && r->class ? VIT_OK : vit_fail_memory(error, "a row of a table", strlen(file));
}

/* ---- CSV ---- */

/* A table without such columns; one of pixels is told what to do. */
static vit_status no_columns(const table *t, char *const *columns, size_t count, vit_error *error) {
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
static bool choose_columns(const vit_csv *csv, size_t *file, size_t *class, size_t *part) {
    *file = find_column(csv->fields, csv->count, file_columns);
    *class = find_column(csv->fields, csv->count, class_columns);
    *part = find_column(csv->fields, csv->count, part_columns);
    const bool is_captioned = find_column(csv->fields, csv->count, caption_columns) < csv->count;
    if (csv->count == 2 && *file < 2 && *class == 2 && !is_captioned) *class = 1 - *file;
    if (csv->count == 2 && *class < 2 && *file == 2) *file = 1 - *class;
    return *file < csv->count && *class < csv->count && *file != *class;
}

static vit_status read_csv(table *t, char *text, vit_error *error) {
    vit_csv csv;
    bool more;
    size_t file = 0, class = 0, part = 0;
    vit_csv_start(&csv, text, t->path);
    vit_status status = vit_csv_next(&csv, &more, error);
    if (status == VIT_OK && !choose_columns(&csv, &file, &class, &part))
        status = no_columns(t, csv.fields, csv.count, error);
    t->has_columns = status == VIT_OK;
    const size_t columns = csv.count;
    while (status == VIT_OK && (status = vit_csv_next(&csv, &more, error)) == VIT_OK && more) {
        if (csv.count != columns)
            status = vit_fail(error, VIT_ERROR_FORMAT,
                              "%s: line %zu: has %zu columns, the first line %zu", t->path,
                              csv.line, csv.count, columns);
        else
            status = add_row(t, csv.fields[file], csv.fields[class],
                             part < columns ? csv.fields[part] : NULL, csv.line, error);
    }
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

static vit_status read_json_line(table *t, const char *line, size_t length, size_t number,
                                 vit_error *error) {
    char where[32], numbers[3][32];
    json_t *object;
    snprintf(where, sizeof where, "line %zu", number);
    vit_status status = vit_json_parse(&object, line, length, where, error);
    if (status != VIT_OK) return vit_fail_prefix(error, status, t->path);
    const char *file = text_of(numbers[0], object, file_columns);
    const char *class = text_of(numbers[1], object, class_columns);
    t->has_columns = t->has_columns || (file && class);
    status =
        file && class ? add_row(t, file, class, text_of(numbers[2], object, part_columns), number,
                                error)
                      : vit_fail(
                            error, VIT_ERROR_FORMAT,
                            "%s: line %zu: has no %s, expected \"file_name\" and \"label\", a text "
                            "or a whole number",
                            t->path, number, file ? "class" : "file");
    json_decref(object);
    return status;
}

static vit_status read_jsonl(table *t, const char *text, vit_error *error) {
    vit_status status = VIT_OK;
    for (size_t number = 1; *text && status == VIT_OK; number++) {
        const size_t length = strcspn(text, "\n");
        if (strspn(text, " \t\r") < length) status = read_json_line(t, text, length, number, error);
        text += length + (text[length] == '\n');
    }
    return status;
}

static vit_status read_table(table *t, vit_error *error) {
    vit_bytes file;
    vit_status status = vit_read_file(&file, t->path, MAX_TABLE, error);
    if (status != VIT_OK) return status;
    char *text = vit_alloc_unset(file.size + 1, 1);
    if (text) memcpy(text, file.data, file.size);
    if (text) text[file.size] = 0;
    vit_free(file.data);
    if (!text) return vit_fail_memory(error, t->path, file.size);
    if (memchr(text, 0, file.size))
        status = vit_fail(error, VIT_ERROR_FORMAT, "%s: is no text: it has a byte 0", t->path);
    else if (vit_has_ending(t->path, ".jsonl"))
        status = read_jsonl(t, text, error);
    else
        status = read_csv(t, text, error);
    vit_free(text);
    if (status == VIT_OK && t->row_count == 0)
        status = vit_fail(error, VIT_ERROR_FORMAT, "%s: has no row of a picture", t->path);
    return status;
}

/* ---- finding pictures ---- */

static vit_status add_place(table *t, const char *directory, const char *name, vit_error *error) {
    if (t->place_count == MOST_PLACES) return VIT_OK;
    char *path = name ? vit_path_join(directory, name) : vit_strdup(directory);
    if (!path) return vit_fail_memory(error, "a path", strlen(directory));
    if (name && vit_path_look(path) != VIT_PATH_DIRECTORY)
        vit_free(path);
    else
        t->places[t->place_count++] = path;
    return VIT_OK;
}

/* Adds the folders in a directory, except those of other parts than the table's. */
static vit_status add_places(table *t, const char *directory, vit_error *error) {
    const vit_tree_kind own = t->kind == VIT_TREE_KINDS ? VIT_TREE_TRAIN : t->kind;
    char **names;
    size_t count;
    vit_status status = vit_list_directory(&names, &count, directory, error);
    for (int pass = 0; pass < 2; pass++) /* first those of its own part */
        for (size_t i = 0; i < count && status == VIT_OK; i++) {
            const vit_tree_kind kind = vit_tree_kind_of(names[i]);
            if (vit_name_is_wanted(names[i]) && kind == (pass == 0 ? own : VIT_TREE_KINDS))
                status = add_place(t, directory, names[i], error);
        }
    vit_free(names);
    return status;
}

/* Beside the table, in the folders there, and in folders in these. */
static vit_status find_places(table *t, vit_error *error) {
    vit_status status = add_place(t, t->directory, NULL, error);
    if (status == VIT_OK) status = add_places(t, t->directory, error);
    const size_t count = t->place_count;
    for (size_t i = 1; i < count && status == VIT_OK; i++)
        status = add_places(t, t->places[i], error);
    return status;
}

/* *path = the picture of a row, freed by vit_free; NULL: it is in none of the places. */
static vit_status find_picture(char **path, table *t, const row *r, vit_error *error) {
    static const char *const endings[] = {"",     ".jpg",  ".png", ".jpeg", ".JPG", ".JPEG",
                                          ".PNG", ".webp", ".tif", ".tiff", ".bmp", ".gif"};
    *path = NULL;
    for (size_t i = 0; i < t->place_count; i++) {
        const size_t place = (t->last + i) % t->place_count;
        for (size_t k = 0; k < VIT_COUNT(endings); k++) {
            vit_string name = {0};
            vit_string_add(&name, "%s/%s%s", t->places[place], r->file, endings[k]);
            if (name.failed) return vit_fail_memory(error, "a path", strlen(r->file));
            if (vit_path_look(name.text) == VIT_PATH_FILE) {
                t->last = place;
                *path = name.text;
                return VIT_OK;
            }
            vit_string_free(&name);
        }
    }
    return VIT_OK;
}

/* ---- classes ---- */

#define MOST_TABLES 16

typedef struct listed {
    table tables[MOST_TABLES];
    size_t table_count, row_count;
    bool are_numbers; /* the classes */
} listed;

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int compare_numbers(const void *a, const void *b) {
    uint64_t x = 0, y = 0;
    vit_parse_u64(*(char *const *)a, &x);
    vit_parse_u64(*(char *const *)b, &y);
    return x == y ? compare_texts(a, b) : (x > y) - (x < y);
}

/* The classes of all rows, sorted as bytes, or as numbers if all are such. */
static vit_status find_classes(vit_tree *tree, listed *l, vit_error *error) {
    size_t count = 0, bytes = 0, at = 0;
    bool are_numbers = true;
    char **all = vit_alloc(l->row_count, sizeof *all);
    if (!all) return vit_fail_memory(error, "classes", l->row_count * sizeof *all);
    for (size_t i = 0; i < l->table_count; i++)
        for (size_t k = 0; k < l->tables[i].row_count; k++) {
            uint64_t number;
            all[count] = l->tables[i].rows[k].class;
            if (!vit_parse_u64(all[count++], &number)) are_numbers = false;
        }
    l->are_numbers = are_numbers;
    qsort(all, count, sizeof *all, are_numbers ? compare_numbers : compare_texts);
    for (size_t i = 0; i < count; i++) {
        if (at > 0 && strcmp(all[at - 1], all[i]) == 0) continue;
        all[at++] = all[i];
        bytes += strlen(all[i]) + 1;
    }
    vit_status status = VIT_OK;
    if (at > MAX_CLASSES)
        status = vit_fail(error, VIT_ERROR_UNSUPPORTED,
                          "%s: has %zu classes, at most %d are read: is its column of classes one?",
                          l->tables[0].path, at, MAX_CLASSES);
    else if (!(tree->classes = vit_alloc(1, at * sizeof(char *) + bytes)))
        status = vit_fail_memory(error, "classes", bytes);
    char *text = status == VIT_OK ? (char *)(tree->classes + at) : NULL;
    for (size_t i = 0; i < at && status == VIT_OK; text += strlen(all[i]) + 1, i++)
        tree->classes[i] = memcpy(text, all[i], strlen(all[i]) + 1);
    if (status == VIT_OK) tree->class_count = at;
    vit_free(all);
    return status;
}

static size_t class_of(const vit_tree *tree, const listed *l, const char *class) {
    char **found = bsearch(&class, tree->classes, tree->class_count, sizeof *found,
                           l->are_numbers ? compare_numbers : compare_texts);
    return (size_t)(found - tree->classes);
}

/* ---- files ---- */

static vit_status add_file(vit_tree *tree, const listed *l, table *t, const row *r,
                           vit_error *error) {
    vit_tree_part *const parts[] = {&tree->train, &tree->val, &tree->test}, *part = parts[r->kind];
    VIT_CHECK_ROWS(parts, VIT_TREE_KINDS);
    char *path, problem[64];
    vit_status status = find_picture(&path, t, r, error);
    if (status != VIT_OK) return status;
    const size_t name = strlen(path ? t->places[t->last] : t->directory) + 1;
    const bool is_there = path;
    if (!path) path = vit_path_join(t->directory, r->file);
    if (!path) return vit_fail_memory(error, "a path", strlen(r->file));
    snprintf(problem, sizeof problem, "line %zu names it, and it is not there", r->line);
    const size_t class = class_of(tree, l, r->class);
    status = vit_tree_add(part, path, name, class, is_there ? NULL : problem, error);
    if (status == VIT_OK) part->files[part->count - 1].class = tree->classes[class];
    return status;
}

static int compare_paths(const void *a, const void *b) {
    const vit_tree_file *x = a, *y = b;
    return strcmp(x->path, y->path);
}

static int compare_files(const void *a, const void *b) {
    const vit_tree_file *x = a, *y = b;
    if (x->label != y->label) return x->label < y->label ? -1 : 1;
    return strcmp(x->path + x->name, y->path + y->name);
}

/* Sorts the files of a part by class and name. A picture of two classes is refused. */
static vit_status sort_part(vit_tree_part *part, vit_error *error) {
    if (part->count == 0) return VIT_OK;
    qsort(part->files, part->count, sizeof *part->files, compare_paths);
    for (size_t i = 1; i < part->count; i++) {
        const vit_tree_file *a = &part->files[i - 1], *b = &part->files[i];
        if (a->label != b->label && strcmp(a->path, b->path) == 0)
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "%s: is of class %s in one line of its table, and of %s in another",
                            a->path, a->class, b->class);
    }
    qsort(part->files, part->count, sizeof *part->files, compare_files);
    return VIT_OK;
}

/* The parts that vit_tree_scan would have. */
static vit_status choose_parts(vit_tree *tree, unsigned parts, vit_error *error) {
    tree->has_train = tree->train.count > 0;
    tree->has_val = tree->val.count > 0;
    tree->test_is_val = tree->test.count == 0 && tree->has_val;
    tree->is_shared_out = tree->test.count == 0 && !tree->has_val;
    vit_status status = sort_part(&tree->train, error);
    if (status == VIT_OK) status = sort_part(&tree->val, error);
    if (status == VIT_OK) status = sort_part(&tree->test, error);
    if (status == VIT_OK && tree->is_shared_out) status = vit_tree_share_out(tree, error);
    const unsigned train_for = VIT_PART_TRAIN | (tree->has_val ? 0 : VIT_PART_VAL);
    const unsigned val_for = VIT_PART_VAL | (tree->test_is_val ? VIT_PART_TEST : 0);
    if (!(parts & train_for) && !tree->is_shared_out) vit_tree_part_free(&tree->train);
    if (!(parts & val_for)) vit_tree_part_free(&tree->val);
    return status;
}

static vit_status make_tree(vit_tree *tree, listed *l, unsigned parts, vit_error *error) {
    vit_status status = find_classes(tree, l, error);
    for (size_t i = 0; i < l->table_count; i++)
        for (size_t k = 0; k < l->tables[i].row_count && status == VIT_OK; k++)
            status = add_file(tree, l, &l->tables[i], &l->tables[i].rows[k], error);
    return status == VIT_OK ? choose_parts(tree, parts, error) : status;
}

/* ---- tables ---- */

#define TRIED 20 /* rows of which one must have its picture, or the table is of something else */

static vit_status check_pictures(table *t, vit_error *error) {
    for (size_t i = 0; i < t->row_count && i < TRIED; i++) {
        char *path;
        const vit_status status = find_picture(&path, t, &t->rows[i], error);
        vit_free(path);
        if (status != VIT_OK || path) return status;
    }
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s: line %zu: there is no picture %s, nor with .jpg or .png, beside the table "
                    "or in the folders there",
                    t->path, t->rows[0].line, t->rows[0].file);
}

/* Reads a table; one that is not of pictures is left out, and `why` says so. */
static vit_status add_table(listed *l, const char *directory, const char *name, vit_tree_kind kind,
                            vit_error *why, vit_error *error) {
    if (l->table_count == MOST_TABLES) return VIT_OK;
    table *t = &l->tables[l->table_count];
    *t = (table){
        .kind = kind, .path = vit_path_join(directory, name), .directory = vit_strdup(directory)};
    vit_status status = t->path && t->directory ? find_places(t, error)
                                                : vit_fail_memory(error, "a path", strlen(name));
    if (status == VIT_OK) status = read_table(t, error);
    bool is_ours = t->has_columns;
    if (status == VIT_OK) {
        status = check_pictures(t, error);
        is_ours = status == VIT_OK;
    }
    if (status == VIT_OK) {
        l->table_count++;
        l->row_count += t->row_count;
        return VIT_OK;
    }
    clear(t);
    if (is_ours || status == VIT_ERROR_MEMORY) return status;
    *why = *error;
    return VIT_OK;
}

/* The tables of a group in a directory. kind: the part that the directory is, or KINDS. */
static vit_status add_group(listed *l, const char *directory, int group, vit_tree_kind kind,
                            vit_error *why, vit_error *error) {
    char **names;
    size_t count;
    vit_status status = vit_list_directory(&names, &count, directory, error);
    for (size_t k = 0; k < VIT_COUNT(tables); k++)
        for (size_t i = 0; i < count && status == VIT_OK; i++) {
            if (tables[k].group != group || strcasecmp(names[i], tables[k].name) != 0) continue;
            status = add_table(l, directory, names[i],
                               kind == VIT_TREE_KINDS ? tables[k].kind : kind, why, error);
        }
    vit_free(names);
    return status;
}

/* imagefolder's tables may lie in the folders of the parts. */
static vit_status add_inner(listed *l, const char *root, vit_error *why, vit_error *error) {
    char **names;
    size_t count;
    vit_status status = vit_list_directory(&names, &count, root, error);
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        const vit_tree_kind kind = vit_tree_kind_of(names[i]);
        if (kind == VIT_TREE_KINDS) continue;
        char *path = vit_path_join(root, names[i]);
        if (!path) status = vit_fail_memory(error, "a path", strlen(root));
        if (path && vit_path_look(path) == VIT_PATH_DIRECTORY)
            status = add_group(l, path, IMAGEFOLDER, kind, why, error);
        vit_free(path);
    }
    vit_free(names);
    return status;
}

vit_status vit_listed_scan(vit_tree *out, bool *found, const char *root, unsigned parts,
                           vit_error *error) {
    vit_error why = {0}, reason = {0};
    listed *l = vit_alloc(1, sizeof *l);
    if (!l) return vit_fail_memory(error, "tables", sizeof *l);
    vit_status status = VIT_OK;
    for (int group = 0; group < GROUPS && status == VIT_OK && l->table_count == 0; group++) {
        status = add_group(l, root, group, VIT_TREE_KINDS, &why, &reason);
        if (status == VIT_OK && group == IMAGEFOLDER && l->table_count == 0)
            status = add_inner(l, root, &why, &reason);
    }
    *found = status != VIT_OK || l->table_count > 0;
    if (status != VIT_OK)
        vit_fail(error, status, "%s", reason.message);
    else if (*found)
        status = make_tree(out, l, parts, error);
    else if (why.status != VIT_OK)
        status = vit_fail(error, why.status, "%s", why.message);
    for (size_t i = 0; i < l->table_count; i++) clear(&l->tables[i]);
    vit_free(l);
    return status;
}
