#include "datasets/listed.h"
#include "datasets/listed_table.h"
#include "vit/base/order.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_CLASSES 65536

/* ---- what tables are called ---- */

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

bool vit_listed_is(const vit_listing *directory) {
    for (size_t i = 0; i < directory->count; i++)
        for (size_t k = 0; k < VIT_COUNT(tables); k++)
            if (strcasecmp(directory->names[i], tables[k].name) == 0) return true;
    return false;
}

/* ---- finding pictures ---- */

static vit_status add_place(vit_listed_table *t, const char *directory, const char *name,
                            vit_error *error) {
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
static vit_status add_places(vit_listed_table *t, const char *directory, vit_error *error) {
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
static vit_status find_places(vit_listed_table *t, vit_error *error) {
    vit_status status = add_place(t, t->directory, NULL, error);
    if (status == VIT_OK) status = add_places(t, t->directory, error);
    const size_t count = t->place_count;
    for (size_t i = 1; i < count && status == VIT_OK; i++)
        status = add_places(t, t->places[i], error);
    return status;
}

/* *path = the picture of a row, freed by vit_free; NULL: it is in none of the places. */
static vit_status find_picture(char **path, vit_listed_table *t, const vit_listed_row *r,
                               vit_error *error) {
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
    vit_listed_table tables[MOST_TABLES];
    size_t table_count, row_count, class_count; /* of all rows together */
    bool are_numbers;                           /* the classes */
    bool multi_label;
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
    char **all = vit_alloc(l->class_count, sizeof *all);
    if (!all) return vit_fail_memory(error, "classes", l->class_count * sizeof *all);
    for (size_t i = 0; i < l->table_count; i++)
        for (size_t k = 0; k < l->tables[i].row_count; k++) {
            uint64_t number;
            const vit_listed_row *r = &l->tables[i].rows[k];
            char *class = r->class;
            for (size_t n = 0; n < r->class_count; n++, class += strlen(class) + 1) {
                all[count++] = class;
                if (!vit_parse_u64(class, &number)) are_numbers = false;
            }
        }
    if (count == 0) {
        vit_free(all);
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: has no class", l->tables[0].path);
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

/* The classes of a row, which has any number of them; one that comes twice counts once. */
static vit_status add_classes(vit_tree_file *file, const vit_tree *tree, const listed *l,
                              const vit_listed_row *r, vit_error *error) {
    vit_string text = {0};
    file->class_ids = vit_alloc(r->class_count, sizeof *file->class_ids);
    if (!file->class_ids) return vit_fail_memory(error, "classes", r->class_count);
    const char *class = r->class;
    for (size_t i = 0; i < r->class_count; i++, class += strlen(class) + 1)
        file->class_ids[i] = (uint32_t)class_of(tree, l, class);
    if (r->class_count > 0)
        qsort(file->class_ids, r->class_count, sizeof *file->class_ids, vit_compare_ids);
    for (size_t i = 0; i < r->class_count; i++)
        if (i == 0 || file->class_ids[i] != file->class_ids[i - 1])
            file->class_ids[file->class_id_count++] = file->class_ids[i];
    vit_string_add(&text, "%s", "");
    for (size_t i = 0; i < file->class_id_count; i++)
        vit_string_add(&text, "%s%s", i > 0 ? ";" : "", tree->classes[file->class_ids[i]]);
    file->classes = text.text;
    return text.failed ? vit_fail_memory(error, "classes", text.length) : VIT_OK;
}

static vit_status add_file(vit_tree *tree, const listed *l, vit_listed_table *t,
                           const vit_listed_row *r, vit_error *error) {
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
    vit_tree_file lists = {0}; /* its classes */
    if (l->multi_label) status = add_classes(&lists, tree, l, r, error);
    const size_t class = !l->multi_label            ? class_of(tree, l, r->class)
                         : lists.class_id_count > 0 ? lists.class_ids[0]
                                                    : 0;
    if (status == VIT_OK)
        status = vit_tree_add(part, path, name, class, is_there ? NULL : problem, error);
    else
        vit_free(path);
    if (status != VIT_OK) {
        vit_tree_file_free(&lists);
        return status;
    }
    vit_tree_file *file = &part->files[part->count - 1];
    file->class = tree->classes[class];
    file->classes = lists.classes;
    file->class_ids = lists.class_ids;
    file->class_id_count = lists.class_id_count;
    return VIT_OK;
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
        const char *one = a->classes ? a->classes : a->class;
        const char *other = b->classes ? b->classes : b->class;
        if (strcmp(one, other) != 0 && strcmp(a->path, b->path) == 0)
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "%s: is of class \"%s\" in one line of its table, and of \"%s\" in "
                            "another%s",
                            a->path, one, other,
                            a->classes ? "" : ": pictures of several classes are --multi-label");
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

static vit_status check_pictures(vit_listed_table *t, vit_error *error) {
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
    vit_listed_table *t = &l->tables[l->table_count];
    *t = (vit_listed_table){.kind = kind,
                            .path = vit_path_join(directory, name),
                            .directory = vit_strdup(directory),
                            .multi_label = l->multi_label};
    vit_status status = t->path && t->directory ? find_places(t, error)
                                                : vit_fail_memory(error, "a path", strlen(name));
    if (status == VIT_OK) status = vit_listed_table_read(t, error);
    bool is_ours = t->has_columns;
    if (status == VIT_OK) {
        status = check_pictures(t, error);
        is_ours = status == VIT_OK;
    }
    if (status == VIT_OK) {
        l->table_count++;
        l->row_count += t->row_count;
        for (size_t i = 0; i < t->row_count; i++) l->class_count += t->rows[i].class_count;
        return VIT_OK;
    }
    vit_listed_table_clear(t);
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
                           bool multi_label, vit_error *error) {
    vit_error why = {0}, reason = {0};
    listed *l = vit_alloc(1, sizeof *l);
    if (!l) return vit_fail_memory(error, "tables", sizeof *l);
    l->multi_label = multi_label;
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
    for (size_t i = 0; i < l->table_count; i++) vit_listed_table_clear(&l->tables[i]);
    vit_free(l);
    return status;
}
