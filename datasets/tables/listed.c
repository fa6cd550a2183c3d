#include "datasets/tables/listed.h"
#include "datasets/tables/corrections.h"
#include "datasets/tables/listed_table.h"
#include "datasets/tables/part_lists.h"
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

/* These are tables of pictures, or an error; others with the ending of a table may be some. */
static const char *const known[] = {"metadata.csv",     "metadata.jsonl",  "labels.csv",
                                    "annotations.csv",  "train.csv",       "val.csv",
                                    "train_labels.csv", "trainLabels.csv", "valid.csv",
                                    "validation.csv",   "test.csv",        "test_labels.csv"};

static bool is_known(const char *name) {
    for (size_t i = 0; i < VIT_COUNT(known); i++)
        if (strcasecmp(name, known[i]) == 0) return true;
    return false;
}

/* Whether it may be a table of pictures: not of texts, of shards, nor answers to be handed in. */
static bool may_be(const char *name) {
    static const char *const others[] = {"labels.tsv", "pairs.tsv", "shards.tsv"};
    if (!vit_cells_is(name) || !vit_name_is_wanted(name)) return false;
    for (size_t i = 0; i < VIT_COUNT(others); i++)
        if (strcasecmp(name, others[i]) == 0) return false;
    for (const char *at = name; *at; at++)
        if (strncasecmp(at, "submission", 10) == 0) return false;
    return true;
}

bool vit_listed_is(const vit_listing *directory) {
    bool has_table = false, has_shard = false;
    for (size_t i = 0; i < directory->count; i++) {
        if (is_known(directory->names[i])) return true;
        has_table = has_table || may_be(directory->names[i]);
        has_shard = has_shard || vit_has_ending(directory->names[i], ".tar");
    }
    return has_table && !has_shard;
}

/* The part that the name of a table tells: "train.csv", "trainLabels.csv", "ISIC_Test_Truth.csv".
 */
static vit_tree_kind kind_of_table(const char *name) {
    vit_string words = {0};
    bool several = false;
    for (const char *at = name; *at; at++) {
        const bool begins = at > name && at[-1] >= 'a' && at[-1] <= 'z' && *at >= 'A' && *at <= 'Z';
        vit_string_add(&words, "%s%c", begins ? "_" : "", *at);
    }
    const vit_tree_kind kind =
        words.failed || !words.text ? VIT_TREE_KINDS : vit_tree_kind_within(&several, words.text);
    vit_string_free(&words);
    return kind;
}

/* ---- classes ---- */

#define MOST_TABLES 16

typedef struct listed {
    vit_listed_table tables[MOST_TABLES];
    size_t table_count, row_count, class_count; /* of all rows together */
    bool are_numbers;                           /* the classes */
    const vit_table_options *options;
} listed;

static int compare_numbers(const void *a, const void *b) {
    uint64_t x = 0, y = 0;
    vit_parse_u64(*(char *const *)a, &x);
    vit_parse_u64(*(char *const *)b, &y);
    return x == y ? vit_compare_texts(a, b) : (x > y) - (x < y);
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
    qsort(all, count, sizeof *all, are_numbers ? compare_numbers : vit_compare_texts);
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
                           l->are_numbers ? compare_numbers : vit_compare_texts);
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

/* *path = the picture of a row, freed by vit_free; NULL: there is none. */
static vit_status find_picture(char **path, size_t *name, vit_listed_table *t,
                               const vit_listed_row *r, vit_error *error) {
    const vit_status status = vit_places_find(path, name, &t->places, r->file, r->kind, error);
    if (status != VIT_ERROR_FORMAT) return status;
    char where[32];
    snprintf(where, sizeof where, "line %zu", r->line);
    vit_fail_prefix(error, status, where);
    return vit_fail_prefix(error, status, t->path);
}

static vit_status add_file(vit_tree *tree, const listed *l, vit_listed_table *t,
                           const vit_listed_row *r, vit_error *error) {
    vit_tree_part *const parts[] = {&tree->train, &tree->val, &tree->test}, *part = parts[r->kind];
    VIT_CHECK_ROWS(parts, VIT_TREE_KINDS);
    char *path, problem[64];
    size_t name = 0;
    vit_status status = find_picture(&path, &name, t, r, error);
    if (status != VIT_OK) return status;
    const bool is_there = path, multi_label = l->options->multi_label;
    if (!path) name = strlen(t->directory) + 1;
    if (!path) path = vit_path_join(t->directory, r->file);
    if (!path) return vit_fail_memory(error, "a path", strlen(r->file));
    snprintf(problem, sizeof problem, "line %zu names it, and it is not there", r->line);
    vit_tree_file lists = {0}; /* its classes */
    if (multi_label) status = add_classes(&lists, tree, l, r, error);
    const size_t class = !multi_label               ? class_of(tree, l, r->class)
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

/* Sorts the files of a part by class and name. A picture of two classes is refused; one that comes
 * again with the same class is left out, and counted in *repeated. */
static vit_status sort_part(vit_tree_part *part, size_t *repeated, vit_error *error) {
    size_t kept = 1;
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
    for (size_t i = 1; i < part->count; i++) {
        if (strcmp(part->files[kept - 1].path, part->files[i].path) == 0)
            vit_tree_file_free(&part->files[i]);
        else
            part->files[kept++] = part->files[i];
    }
    *repeated += part->count - kept;
    part->count = kept;
    qsort(part->files, part->count, sizeof *part->files, compare_files);
    return VIT_OK;
}

vit_status vit_listed_choose_parts(vit_tree *tree, unsigned parts, vit_error *error) {
    tree->has_train = tree->train.count > 0;
    tree->has_val = tree->val.count > 0;
    tree->test_is_val = tree->test.count == 0 && tree->has_val;
    tree->is_shared_out = tree->test.count == 0 && !tree->has_val;
    vit_status status = sort_part(&tree->train, &tree->repeated, error);
    if (status == VIT_OK) status = sort_part(&tree->val, &tree->repeated, error);
    if (status == VIT_OK) status = sort_part(&tree->test, &tree->repeated, error);
    if (status == VIT_OK && tree->is_shared_out) status = vit_tree_share_out(tree, error);
    const unsigned train_for = VIT_PART_TRAIN | (tree->has_val ? 0 : VIT_PART_VAL);
    const unsigned val_for = VIT_PART_VAL | (tree->test_is_val ? VIT_PART_TEST : 0);
    if (!(parts & train_for) && !tree->is_shared_out) vit_tree_part_free(&tree->train);
    if (!(parts & val_for)) vit_tree_part_free(&tree->val);
    return status;
}

/* ---- names of numbers ---- */

/* Whether the classes are numbers without a gap, from 0 or from 1 on. */
static bool are_counted(const vit_tree *tree) {
    uint64_t first = 0, number = 0;
    for (size_t i = 0; i < tree->class_count; i++) {
        if (!vit_parse_u64(tree->classes[i], &number)) return false;
        if (i == 0) first = number;
        if (first > 1 || number != first + i) return false;
    }
    return true;
}

/* The first name that comes again; NULL: none does. */
static const char *find_twice(const vit_label_list *names) {
    for (size_t i = 1; i < names->count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(names->labels[i], names->labels[k]) == 0) return names->labels[i];
    return NULL;
}

/* Puts names into the place of the numbers, or says why they are not those of the classes. */
static void use_names(vit_tree *tree, vit_label_list *names, const char *list, vit_string *why,
                      vit_string *source) {
    const size_t count = tree->class_count;
    const char *twice = NULL;
    if (names->count != count || !are_counted(tree))
        vit_string_add(why, "%s names %zu classes, and the table has %zu numbers, %s to %s", list,
                       names->count, count, tree->classes[0], tree->classes[count - 1]);
    else if ((twice = find_twice(names)) != NULL)
        vit_string_add(why, "%s has the name %s twice", list, twice);
    else
        vit_string_add(source, "%s, named by %s", tree->source, list);
    if (!source->text || source->failed) return;
    vit_free(tree->source);
    tree->source = source->text;
    tree->numbers = tree->classes; /* of which checksums are */
    tree->classes = names->labels;
    *source = (vit_string){0};
    names->labels = NULL;
}

/* Numbers have the names that classes.txt or labels.txt gives them, if it has one for each; else
 * tree->naming says why not. */
static vit_status name_numbers(vit_tree *tree, const char *root, vit_error *error) {
    char **files;
    vit_listing directory = {.path = root};
    vit_label_list names = {0};
    vit_error reason = {0};
    vit_string why = {0}, source = {0};
    const vit_status status = vit_list_directory(&files, &directory.count, root, error);
    if (status != VIT_OK) return status;
    directory.names = files;
    if (vit_class_names_read(&names, &directory, &reason) != VIT_OK)
        vit_string_add(&why, "%s", reason.message);
    if (names.labels)
        use_names(tree, &names,
                  vit_listing_has(&directory, "classes.txt") ? "classes.txt" : "labels.txt", &why,
                  &source);
    tree->naming = why.text;
    const bool failed = why.failed || source.failed;
    vit_string_free(&source);
    vit_free(names.labels);
    vit_free(files);
    return failed ? vit_fail_memory(error, "names of classes", 256) : VIT_OK;
}

static vit_status make_tree(vit_tree *tree, listed *l, const char *root, unsigned parts,
                            vit_error *error) {
    vit_status status = find_classes(tree, l, error);
    for (size_t i = 0; i < l->table_count; i++)
        for (size_t k = 0; k < l->tables[i].row_count && status == VIT_OK; k++)
            status = add_file(tree, l, &l->tables[i], &l->tables[i].rows[k], error);
    if (status == VIT_OK && !l->options->multi_label && !l->options->class_column)
        status = vit_tree_check_table(tree, root, error);
    if (status == VIT_OK) status = vit_listed_choose_parts(tree, parts, error);
    return status == VIT_OK && l->are_numbers ? name_numbers(tree, root, error) : status;
}

/* ---- tables ---- */

#define TRIED 20 /* rows of which one must have its picture, or the table is of something else */

static vit_status check_pictures(vit_listed_table *t, vit_error *error) {
    for (size_t i = 0; i < t->row_count && i < TRIED; i++) {
        char *path;
        size_t name;
        const vit_status status = find_picture(&path, &name, t, &t->rows[i], error);
        vit_free(path);
        if (status != VIT_OK || path) return status;
    }
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s: line %zu: there is no picture %s, nor with .jpg or .png, beside the table "
                    "or in the folders there",
                    t->path, t->rows[0].line, t->rows[0].file);
}

/* Why there is no table. */
typedef struct reasons {
    vit_error first; /* of a table that names pictures that are there, or else of any known one */
    bool has_pictures, has_others; /* as the table has it */
} reasons;

static void keep_reason(reasons *why, const vit_listed_table *t, const vit_error *error) {
    const bool is_better = t->has_pictures && !why->has_pictures;
    if (!is_better && why->first.status != VIT_OK) return;
    why->first = *error;
    why->has_pictures = t->has_pictures;
    why->has_others = t->has_others;
}

/* Reads a table; one that is not of pictures is left out, and `why` says so. */
static vit_status add_table(listed *l, const char *directory, const char *name, vit_tree_kind kind,
                            reasons *why, vit_error *error) {
    vit_listed_table *t = &l->tables[l->table_count];
    if (l->table_count == MOST_TABLES)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: has more than %d tables of pictures",
                        directory, MOST_TABLES);
    *t = (vit_listed_table){
        .kind = kind, .path = vit_path_join(directory, name), .directory = vit_strdup(directory)};
    vit_status status = t->path && t->directory ? vit_listed_table_read(t, l->options, error)
                                                : vit_fail_memory(error, "a path", strlen(name));
    bool is_ours = t->has_columns && (t->has_pictures || is_known(name));
    if (status == VIT_OK) {
        is_ours = t->has_pictures;
        status = check_pictures(t, error);
    }
    if (status == VIT_OK) {
        l->table_count++;
        return VIT_OK;
    }
    if (t->path) keep_reason(why, t, error);
    vit_listed_table_clear(t);
    return is_ours || status == VIT_ERROR_MEMORY ? status : VIT_OK;
}

/* The tables in a directory. kind: the part that it is, or KINDS: their names tell. */
static vit_status add_tables(listed *l, const char *directory, vit_tree_kind kind, reasons *why,
                             vit_error *error) {
    char **names;
    size_t count;
    vit_status status = vit_list_directory(&names, &count, directory, error);
    for (size_t i = 0; i < count && status == VIT_OK; i++)
        if (may_be(names[i]))
            status = add_table(l, directory, names[i],
                               kind == VIT_TREE_KINDS ? kind_of_table(names[i]) : kind, why, error);
    vit_free(names);
    return status;
}

/* Those in the folders of parts, as imagefolder's and Roboflow's. */
static vit_status add_inner(listed *l, const char *root, reasons *why, vit_error *error) {
    char **names;
    size_t count;
    vit_status status = vit_list_directory(&names, &count, root, error);
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        const vit_tree_kind kind = vit_tree_kind_of(names[i]);
        if (kind == VIT_TREE_KINDS) continue;
        char *path = vit_path_join(root, names[i]);
        if (!path) status = vit_fail_memory(error, "a path", strlen(root));
        if (path && vit_path_look(path) == VIT_PATH_DIRECTORY)
            status = add_tables(l, path, kind, why, error);
        vit_free(path);
    }
    vit_free(names);
    return status;
}

/* Leaves out tables of boxes if there are others. */
static void drop_boxes(listed *l) {
    size_t kept = 0, boxes = 0;
    for (size_t i = 0; i < l->table_count; i++) boxes += l->tables[i].has_boxes;
    if (boxes == l->table_count) return;
    for (size_t i = 0; i < l->table_count; i++) {
        if (l->tables[i].has_boxes)
            vit_listed_table_clear(&l->tables[i]);
        else
            l->tables[kept++] = l->tables[i];
    }
    l->table_count = kept;
}

/* FORMAT if two tables are for the same pictures: of one part, or of all and of one. */
static vit_status check_tables(const listed *l, vit_error *error) {
    for (size_t i = 0; i < l->table_count; i++)
        for (size_t k = i + 1; k < l->table_count; k++) {
            const vit_listed_table *a = &l->tables[i], *b = &l->tables[k];
            if (a->kind != b->kind && a->kind != VIT_TREE_KINDS && b->kind != VIT_TREE_KINDS)
                continue;
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "two tables name classes: %s (%s) and %s (%s): move one of them away%s",
                            a->path, a->source, b->path, b->source,
                            l->options->class_column ? ""
                                                     : ", or name a column that only one has "
                                                       "(--class-column)");
        }
    return VIT_OK;
}

/* ---- what was chosen ---- */

/* "column label of train.csv and test.csv": which columns name the classes, or say the parts. NULL:
 * none does, or no memory. */
static char *name_columns(const listed *l, const char *root, bool of_parts) {
    vit_string text = {0};
    const char *last = "";
    for (size_t i = 0; i < l->table_count; i++) {
        const vit_listed_table *t = &l->tables[i];
        const char *path = t->path + (strncmp(t->path, root, strlen(root)) == 0 ? strlen(root) : 0);
        const char *columns = of_parts ? t->parts : t->source;
        if (!columns) continue;
        if (*last) vit_string_add(&text, strcmp(last, columns) == 0 ? " and " : "; ");
        if (strcmp(last, columns) != 0) vit_string_add(&text, "%s of ", columns);
        vit_string_add(&text, "%s", path + strspn(path, "/"));
        last = columns;
    }
    if (!text.failed) return text.text;
    vit_string_free(&text);
    return NULL;
}

static vit_status read_tables(vit_tree *out, listed *l, const char *root, unsigned parts,
                              vit_error *error) {
    drop_boxes(l);
    vit_status status = check_tables(l, error);
    for (size_t i = 0; i < l->table_count; i++) {
        const vit_listed_table *t = &l->tables[i];
        l->row_count += t->row_count;
        for (size_t k = 0; k < t->row_count; k++) l->class_count += t->rows[k].class_count;
    }
    char *said = NULL;
    if (status == VIT_OK)
        status = vit_part_lists_apply(&said, l->tables, l->table_count, root, error);
    out->source = name_columns(l, root, false);
    out->parts = said ? said : name_columns(l, root, true);
    if (status == VIT_OK && !out->source) status = vit_fail_memory(error, "a name", 256);
    return status == VIT_OK ? make_tree(out, l, root, parts, error) : status;
}

vit_status vit_listed_scan(vit_tree *out, bool *found, const char *root, unsigned parts,
                           const vit_table_options *options, vit_error *error) {
    reasons why = {0};
    vit_error reason = {0};
    listed *l = vit_alloc(1, sizeof *l);
    if (!l) return vit_fail_memory(error, "tables", sizeof *l);
    l->options = options;
    vit_status status = add_tables(l, root, VIT_TREE_KINDS, &why, &reason);
    if (status == VIT_OK) status = add_inner(l, root, &why, &reason);
    if (status == VIT_OK && l->table_count == 0 && why.has_pictures && why.has_others)
        status = vit_fail(&reason, why.first.status, "%s", why.first.message);
    *found = status != VIT_OK || l->table_count > 0;
    if (status != VIT_OK)
        vit_fail(error, status, "%s", reason.message);
    else if (*found)
        status = read_tables(out, l, root, parts, error);
    else if (why.first.status != VIT_OK)
        status = vit_fail(error, why.first.status, "%s", why.first.message);
    out->is_named = !*found && why.has_pictures;
    for (size_t i = 0; i < l->table_count; i++) vit_listed_table_clear(&l->tables[i]);
    vit_free(l);
    return status;
}

static vit_status correct(vit_dataset *set, vit_tree *tree, const char *root,
                          const vit_dataset_options *options, bool is_whole, vit_error *error) {
    vit_corrections c;
    vit_status status = vit_corrections_read(&c, options->exclude, options->relabel, error);
    if (status == VIT_OK) status = vit_corrections_apply(&c, set, tree, root, is_whole, error);
    vit_corrections_free(&c);
    return status;
}

const vit_picture_table vit_listed_tables = {vit_listed_is, vit_listed_scan, correct};
