#include "datasets/tables/columns.h"
#include "datasets/tables/places.h"
#include "datasets/tables/several.h"
#include "vit/base/order.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- what columns are called ---- */

#define NAMES 40

/* docs/data.md has the same lists; a test compares them. */
static const char *const names[][NAMES] = {
    [VIT_COLUMN_FILE] =
        {"file_name",  "filepath",   "filepaths",   "file",           "image_name",    "image_id",
         "image_path", "image_file", "image_index", "image_filename", "image",         "images",
         "img",        "img_name",   "img_path",    "img_id",         "img_file",      "picture",
         "photo",      "path",       "fname",       "id_code",        "relative_path", "isic_id",
         "id",         "name"},
    [VIT_COLUMN_CLASS] = {"label",
                          "labels",
                          "label_name",
                          "label_id",
                          "class",
                          "classes",
                          "class_name",
                          "class_id",
                          "class_label",
                          "category",
                          "categories",
                          "category_name",
                          "category_id",
                          "target",
                          "targets",
                          "species",
                          "breed",
                          "diagnosis",
                          "dx",
                          "tag",
                          "tags",
                          "finding_label",
                          "finding_labels",
                          "fine_label",
                          "coarse_label",
                          "primary_label",
                          "scientific_name",
                          "common_name",
                          "cultivar",
                          "emotion",
                          "cell_type",
                          "retinopathy_grade",
                          "label_text"},
    [VIT_COLUMN_MAYBE] = {"level", "grade", "disease", "id"},
    [VIT_COLUMN_SPLIT] = {"split", "data_split", "set", "data_set", "subset", "partition", "usage",
                          "phase"},
    [VIT_COLUMN_FOLD] = {"fold", "folds", "k_fold", "cv_fold"},
    [VIT_COLUMN_MARK] = {"is_train", "is_training", "is_training_image", "is_val", "is_valid",
                         "is_validation", "is_test", "is_testing", "is_test_image"},
    [VIT_COLUMN_BOX] = {"bbox", "bbox_x", "bbox_[x", "bounding_box", "xmin", "ymin", "xmax",
                        "ymax"},
};
VIT_CHECK_ROWS(names, VIT_COLUMN_KINDS);

/* Between words; they do not count. */
static const char signs[] = " _-./#";

/* Whether two names are equal but for case, spaces and signs: "Finding Labels", "finding_labels".
 */
static bool is_called(const char *a, const char *b) {
    for (;; a++, b++) {
        a += strspn(a, signs);
        b += strspn(b, signs);
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b)) return false;
        if (*a == 0) return true;
    }
}

size_t vit_column_find(const vit_cells *c, vit_column_role role, size_t *i) {
    for (; *i < NAMES && names[role][*i]; ++*i)
        for (size_t k = 0; k < c->column_count; k++)
            if (is_called(c->columns[k], names[role][*i])) return k;
    return c->column_count;
}

static size_t find_role(const vit_cells *c, vit_column_role role) {
    size_t i = 0;
    return vit_column_find(c, role, &i);
}

size_t vit_column_named(const vit_cells *c, const char *name) {
    size_t i = 0, k = 0;
    while (i < c->column_count && strcmp(c->columns[i], name) != 0) i++;
    while (k < c->column_count && !is_called(c->columns[k], name)) k++;
    return i < c->column_count ? i : k;
}

bool vit_columns_wanted(const vit_cells *c, const void *user) {
    const vit_table_options *o = user;
    if (o->class_column && vit_column_named(c, o->class_column) < c->column_count) return true;
    if (find_role(c, VIT_COLUMN_FILE) < c->column_count) return true;
    return c->column_count == 2 && find_role(c, VIT_COLUMN_CLASS) < 2;
}

/* ---- parts ---- */

static const struct {
    const char *name;
    vit_tree_kind kind; /* KINDS: the test, or the validation part if the column has a test, too */
} splits[] = {{"eval", VIT_TREE_KINDS},       {"evaluation", VIT_TREE_KINDS},
              {"holdout", VIT_TREE_KINDS},    {"PublicTest", VIT_TREE_VAL},
              {"PrivateTest", VIT_TREE_TEST}, {"query", VIT_TREE_TEST},
              {"gallery", VIT_TREE_TEST}};

vit_tree_kind vit_split_kind(const char *value, bool evaluated) {
    const vit_tree_kind kind = vit_tree_kind_of(value);
    for (size_t i = 0; kind == VIT_TREE_KINDS && i < VIT_COUNT(splits); i++) {
        if (!is_called(value, splits[i].name)) continue;
        if (splits[i].kind != VIT_TREE_KINDS) return splits[i].kind;
        return evaluated ? VIT_TREE_VAL : VIT_TREE_TEST;
    }
    return kind;
}

static bool is_number(const char *text) {
    double number;
    return vit_parse_double(*text == '+' ? text + 1 : text, &number);
}

static vit_status refuse_numbers(const vit_cells *c, size_t column, vit_error *error) {
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s: column %s has numbers, as of folds, which do not say what is the test: "
                    "write train, val and test into a column split (in pandas: t['split'] = "
                    "t['%s'].map(lambda f: 'test' if f == 0 else 'train'))",
                    c->path, c->columns[column], c->columns[column]);
}

/* As a column split says it. */
static const char *name_of(vit_tree_kind kind) {
    switch (kind) {
    case VIT_TREE_VAL:
        return "val";
    case VIT_TREE_TEST:
        return "test";
    case VIT_TREE_TRAIN:
    case VIT_TREE_KINDS:
        break;
    }
    return "train";
}

static vit_status refuse_mark(const vit_cells *c, size_t column, vit_error *error) {
    const char *name = c->columns[column];
    bool several;
    const char *yes = name_of(vit_tree_kind_within(&several, name));
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s: column %s says a part by yes and no, which is not read: write train, val "
                    "and test into a column split (in pandas: t['split'] = t['%s'].map({1: '%s', "
                    "0: '%s'})), and leave %s out",
                    c->path, name, name, yes, strcmp(yes, "train") == 0 ? "test" : "train", name);
}

/* Whether all values of a column are names of parts, and training is not the only one. */
static bool says_parts(const vit_cells *c, size_t column) {
    size_t found[VIT_TREE_KINDS] = {0};
    for (size_t i = 0; i < c->row_count; i++) {
        const char *value = vit_cell(c, i, column);
        const vit_tree_kind kind = value ? vit_split_kind(value, false) : VIT_TREE_KINDS;
        if (kind == VIT_TREE_KINDS) return false;
        found[kind]++;
    }
    return found[VIT_TREE_TRAIN] > 0 && found[VIT_TREE_TRAIN] < c->row_count;
}

/* The column that says the parts, by its name, else by its values; column_count: none. */
static size_t find_split(const vit_cells *c, size_t file) {
    size_t column = find_role(c, VIT_COLUMN_SPLIT);
    for (size_t k = 0; k < c->column_count && column == c->column_count; k++)
        if (k != file && says_parts(c, k)) column = k;
    return column;
}

/* Checks the values of the column that says the parts. */
static vit_status check_split(vit_columns *out, const vit_cells *c, vit_error *error) {
    for (size_t i = 0; i < c->row_count && out->split < c->column_count; i++) {
        const char *value = vit_cell(c, i, out->split);
        if (value && vit_tree_kind_of(value) == VIT_TREE_TEST) out->evaluated = true;
    }
    for (size_t i = 0; i < c->row_count && out->split < c->column_count; i++) {
        const char *value = vit_cell(c, i, out->split);
        if (!value) value = "";
        if (vit_split_kind(value, false) != VIT_TREE_KINDS) continue;
        if (is_number(value)) return refuse_numbers(c, out->split, error);
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: line %zu: \"%.60s\" in column %s is no part that is known: expected "
                        "train (training), val (valid, validation, dev), test (testing), eval, "
                        "holdout, PublicTest, PrivateTest, query or gallery; rename the column if "
                        "it says something else",
                        c->path, c->lines[i], value, c->columns[out->split]);
    }
    return VIT_OK;
}

/* ---- what may name classes ---- */

/* Facts about the values of a column. */
typedef struct facts {
    size_t count, distinct; /* of those that are not empty */
    bool are_numbers, are_decimals;
} facts;

static vit_status look_at(facts *f, const vit_cells *c, size_t column, vit_error *error) {
    const char **values = vit_alloc(c->row_count, sizeof *values);
    bool has_fraction = false;
    *f = (facts){.are_numbers = true};
    if (!values) return vit_fail_memory(error, "a table", c->row_count * sizeof *values);
    for (size_t i = 0; i < c->row_count; i++) {
        const char *value = vit_cell(c, i, column);
        double number;
        if (!value || !*value) continue;
        values[f->count++] = value;
        if (!vit_parse_double(value, &number))
            f->are_numbers = false;
        else
            has_fraction = has_fraction ||
                           (number > -1e15 && number < 1e15 && number != (double)(long long)number);
    }
    if (f->count > 0) qsort(values, f->count, sizeof *values, vit_compare_texts);
    for (size_t i = 0; i < f->count; i++)
        f->distinct += i == 0 || strcmp(values[i - 1], values[i]) != 0;
    f->are_decimals = f->are_numbers && has_fraction;
    vit_free(values);
    return VIT_OK;
}

#define FEW 3 /* rows, of which all may differ */

/* Why a column is no class; NULL: it may be one. */
static const char *why_none(const facts *f, bool may_differ) {
    if (f->count == 0) return may_differ ? NULL : "is empty";
    if (f->are_decimals) return "has decimals";
    if (!may_differ && f->count >= FEW && f->distinct == f->count)
        return "has another value in each line";
    return NULL;
}

/* Two values of a row. */
typedef struct pair {
    const char *a, *b;
} pair;

static int compare_pairs(const void *a, const void *b) {
    const pair *x = a, *y = b;
    const int order = strcmp(x->a, y->a);
    return order != 0 ? order : strcmp(x->b, y->b);
}

/* *same: whether each value of one column goes with one of the other, and the reverse. */
static vit_status are_one(bool *same, const vit_cells *c, size_t a, size_t b, vit_error *error) {
    pair *pairs = vit_alloc(c->row_count, sizeof *pairs);
    if (!pairs) return vit_fail_memory(error, "a table", c->row_count * sizeof *pairs);
    *same = true;
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < c->row_count; i++) {
            const char *x = vit_cell(c, i, turn ? b : a), *y = vit_cell(c, i, turn ? a : b);
            pairs[i] = (pair){x ? x : "", y ? y : ""};
        }
        if (c->row_count > 0) qsort(pairs, c->row_count, sizeof *pairs, compare_pairs);
        for (size_t i = 1; i < c->row_count; i++)
            if (strcmp(pairs[i - 1].a, pairs[i].a) == 0 && strcmp(pairs[i - 1].b, pairs[i].b) != 0)
                *same = false;
    }
    vit_free(pairs);
    return VIT_OK;
}

static vit_status refuse_two(const vit_cells *c, size_t a, size_t b, vit_error *error) {
    return vit_fail(
        error, VIT_ERROR_FORMAT,
        "%s: two columns may name the classes, and they disagree: %s and %s; choose one "
        "(--class-column %s)",
        c->path, c->columns[a], c->columns[b], c->columns[a]);
}

/* The choice among columns of one role. */
typedef struct choice {
    size_t column; /* the best so far; column_count: none */
    facts facts;
    size_t rejected; /* a column that has the name of one, and `why` it is none */
    const char *why;
} choice;

/* Compares a column with the best so far: of two with the same classes names beat numbers, of two
 * of which one has a single value the other is taken. */
static vit_status compete(choice *best, const vit_cells *c, size_t column, const facts *f,
                          vit_error *error) {
    bool same = true;
    vit_status status = VIT_OK;
    bool wins = best->column == c->column_count;
    if (!wins && best->facts.distinct != f->distinct &&
        (best->facts.distinct == 1 || f->distinct == 1)) {
        wins = best->facts.distinct == 1;
    } else if (!wins) {
        status = are_one(&same, c, best->column, column, error);
        if (status == VIT_OK && !same) return refuse_two(c, best->column, column, error);
        wins = best->facts.are_numbers && !f->are_numbers;
    }
    if (!wins) return status;
    best->column = column;
    best->facts = *f;
    return status;
}

static vit_status choose_of(choice *best, const vit_cells *c, vit_column_role role, size_t file,
                            bool may_differ, vit_error *error) {
    vit_status status = VIT_OK;
    for (size_t i = 0; i < NAMES && names[role][i] && status == VIT_OK; i++)
        for (size_t k = 0; k < c->column_count && status == VIT_OK; k++) {
            facts f;
            if (k == file || !is_called(c->columns[k], names[role][i])) continue;
            status = look_at(&f, c, k, error);
            const char *why = why_none(&f, may_differ);
            if (why && !best->why) best->rejected = k, best->why = why;
            if (status == VIT_OK && !why) status = compete(best, c, k, &f, error);
        }
    return status;
}

/* ---- a column for each class ---- */

int vit_cell_one(const char *cell) {
    if (!cell) return 2;
    if (strcasecmp(cell, "true") == 0) return 1;
    if (strcasecmp(cell, "false") == 0) return 0;
    const int sign = *cell == '-' ? -1 : 1;
    cell += *cell == '-' || *cell == '+';
    const bool is_one = strcmp(cell, "1") == 0 || strcmp(cell, "1.0") == 0;
    if (!is_one) return strcmp(cell, "0") == 0 || strcmp(cell, "0.0") == 0 ? 0 : 2;
    return sign;
}

/* Chooses all columns but those of files and parts. FORMAT if one has something else than 1, 0 and
 * -1. */
static vit_status choose_ones(vit_columns *out, const vit_cells *c, vit_error *error) {
    out->ones = vit_alloc(c->column_count, sizeof *out->ones);
    if (!out->ones) return vit_fail_memory(error, "columns", c->column_count);
    out->ones_count = 0;
    for (size_t k = 0; k < c->column_count; k++) {
        if (k == out->file || k == out->split || !*c->columns[k]) continue;
        out->ones[k] = true;
        out->ones_count++;
        for (size_t i = 0; i < c->row_count; i++) {
            const char *cell = vit_cell(c, i, k);
            if (vit_cell_one(cell) != 2) continue;
            return vit_fail(
                error, VIT_ERROR_FORMAT,
                "%s: line %zu: column %s has \"%.40s\", expected 0 or 1, as each column "
                "is a class: a column of classes is called label or labels, or named "
                "(--class-column)",
                c->path, c->lines[i], c->columns[k], cell ? cell : "");
        }
    }
    return VIT_OK;
}

/* FORMAT if the columns have 1, 0 and -1. */
static vit_status check_signs(const vit_columns *out, const vit_cells *c, vit_error *error) {
    size_t first[3] = {0}; /* rows with -1, 0 and 1, counted from 1; 0: none */
    for (size_t i = 0; i < c->row_count; i++)
        for (size_t k = 0; k < c->column_count; k++) {
            const int value = out->ones[k] ? vit_cell_one(vit_cell(c, i, k)) + 1 : 2;
            if (first[value] == 0) first[value] = i + 1;
        }
    if (first[0] == 0 || first[1] == 0) return VIT_OK;
    return vit_fail(
        error, VIT_ERROR_FORMAT,
        "%s: has 1, 0 and -1 in its columns of classes (lines %zu and %zu): -1 may mean "
        "no, or not known; write 1 and 0",
        c->path, c->lines[first[1] - 1], c->lines[first[0] - 1]);
}

/* Of a picture of one class, each row has one 1. */
static vit_status check_ones(const vit_columns *out, const vit_cells *c, vit_error *error) {
    for (size_t i = 0; i < c->row_count; i++) {
        size_t count = 0, first = 0, last = 0;
        for (size_t k = 0; k < c->column_count; k++) {
            if (!out->ones[k] || vit_cell_one(vit_cell(c, i, k)) != 1) continue;
            if (count++ == 0) first = k;
            last = k;
        }
        if (count == 1) continue;
        if (count == 0)
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "%s: line %zu: has a 1 in none of its %zu columns of classes: "
                            "--multi-label takes pictures of several classes or none; "
                            "--class-column NAME takes one column",
                            c->path, c->lines[i], out->ones_count);
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: line %zu: has a 1 in %zu columns, %s and %s for two: --multi-label "
                        "takes pictures of several classes; --class-column NAME takes one column",
                        c->path, c->lines[i], count, c->columns[first], c->columns[last]);
    }
    return VIT_OK;
}

/* ---- the choice ---- */

/* A table without such columns; one of pixels is told what to do. best: NULL: no column of files;
 * named: the column that was asked for, or NULL. */
static vit_status no_columns(const vit_cells *c, const choice *best, const char *named,
                             vit_error *error) {
    vit_string found = {0};
    vit_status status;
    bool has_pixels = false;
    const char *picture = NULL; /* the first line is a row, not the names of columns */
    for (size_t i = 0; i < c->column_count; i++) {
        if (!picture && vit_places_has_ending(c->columns[i])) picture = c->columns[i];
        if (i < 6) vit_string_add(&found, "%s%.40s", i > 0 ? ", " : "", c->columns[i]);
        has_pixels = has_pixels || strncasecmp(c->columns[i], "pixel", 5) == 0 ||
                     strcmp(c->columns[i], "1x1") == 0;
    }
    if (c->column_count > 6) vit_string_add(&found, ", ...");
    if (found.failed)
        status = vit_fail_memory(error, "a message", 256);
    else if (has_pixels)
        status = vit_fail(error, VIT_ERROR_FORMAT,
                          "%s: has pixels in its columns %s, which are not read from CSV: download "
                          "the set as IDX files, or save it as images.npy and labels.npy",
                          c->path, found.text);
    else if (picture)
        status = vit_fail(error, VIT_ERROR_FORMAT,
                          "%s: its first line names a picture, %s, expected the names of columns: "
                          "write file_name,label, or such names, into a line before it",
                          c->path, picture);
    else if (named)
        status = vit_fail(error, VIT_ERROR_FORMAT, "%s: has no column %s, but %s", c->path, named,
                          found.text);
    else if (best && best->why)
        status =
            vit_fail(error, VIT_ERROR_FORMAT,
                     "%s: its column %s %s, so it names no classes (if it does: --class-column "
                     "%s)",
                     c->path, c->columns[best->rejected], best->why, c->columns[best->rejected]);
    else
        status = vit_fail(error, VIT_ERROR_FORMAT,
                          "%s: has the columns %s, expected one of files and one of classes, such "
                          "as file_name and label; if another names the classes, name it "
                          "(--class-column)",
                          c->path, found.text);
    vit_string_free(&found);
    return status;
}

/* No column is called as one of classes is: each may be a class, or one of the names that are
 * classes' now and then names them, best->column. */
static vit_status choose_without(vit_columns *out, bool *is_ours, const vit_cells *c, choice *best,
                                 bool multi_label, vit_error *error) {
    vit_error reason;
    if (best->why) return no_columns(c, best, NULL, error);
    vit_status status = choose_of(best, c, VIT_COLUMN_MAYBE, out->file, multi_label, error);
    if (status != VIT_OK) return status;
    if (c->column_count < 3)
        return best->column < c->column_count ? VIT_OK : no_columns(c, best, NULL, error);
    status = choose_ones(out, c, &reason);
    if (status == VIT_ERROR_FORMAT && !multi_label) {
        vit_free(out->ones);
        out->ones = NULL;
        return best->column < c->column_count ? VIT_OK : no_columns(c, best, NULL, error);
    }
    best->column = c->column_count;
    *is_ours = status == VIT_OK;
    out->has_others = status == VIT_ERROR_FORMAT;
    if (status != VIT_OK) return vit_fail(error, status, "%s", reason.message);
    status = check_signs(out, c, error);
    return status == VIT_OK && !multi_label ? check_ones(out, c, error) : status;
}

static vit_status choose_class(vit_columns *out, bool *is_ours, const vit_cells *c,
                               const vit_table_options *o, bool is_part, vit_error *error) {
    choice best = {.column = c->column_count};
    const bool may_differ = is_part || o->multi_label;
    vit_status status = VIT_OK;
    if (o->class_column) {
        best.column = vit_column_named(c, o->class_column);
        if (best.column == c->column_count) return no_columns(c, &best, o->class_column, error);
    } else {
        status = choose_of(&best, c, VIT_COLUMN_CLASS, out->file, may_differ, error);
    }
    if (status != VIT_OK) {
        *is_ours = status == VIT_ERROR_FORMAT;
        return status;
    }
    if (best.column == c->column_count && best.why && !o->multi_label) {
        status = vit_several_refuse(c, best.rejected, error);
        *is_ours = status != VIT_OK;
        if (status != VIT_OK) return status;
    }
    if (best.column == c->column_count) {
        status = choose_without(out, is_ours, c, &best, o->multi_label, error);
        if (status != VIT_OK || best.column == c->column_count) return status;
    }
    out->class = best.column;
    *is_ours = true;
    if (out->class == out->file)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: column %s names the pictures, not the classes", c->path,
                        c->columns[out->file]);
    return o->multi_label ? vit_several_find(&out->separator, c, out->class, error)
                          : vit_several_refuse(c, out->class, error);
}

vit_status vit_columns_choose(vit_columns *out, bool *is_ours, const vit_cells *c,
                              const vit_table_options *options, bool is_part, vit_error *error) {
    const size_t none = c->column_count, file = out->file;
    *out = (vit_columns){.file = file, .class = none, .split = none};
    *is_ours = false;
    if (file == none) return no_columns(c, NULL, NULL, error);
    const size_t fold = find_role(c, VIT_COLUMN_FOLD), mark = find_role(c, VIT_COLUMN_MARK);
    out->split = find_split(c, file);
    vit_status status = choose_class(out, is_ours, c, options, is_part, error);
    if (status == VIT_OK) status = check_split(out, c, error);
    if (status == VIT_OK && out->split == none && fold < none && !is_part)
        status = refuse_numbers(c, fold, error);
    if (status == VIT_OK && out->split == none && mark < none && mark != out->class && !is_part)
        status = refuse_mark(c, mark, error);
    return status;
}
