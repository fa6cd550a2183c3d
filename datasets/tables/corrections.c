#include "datasets/tables/corrections.h"
#include "datasets/reader.h"
#include "datasets/tables/columns.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/sha256.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

static vit_status add(vit_corrections *out, const vit_cells *c, size_t row, const char *picture,
                      const char *label, vit_error *error) {
    if (!VIT_MAKE_ROOM(out->items, out->count, out->capacity, "a list of pictures", error))
        return VIT_ERROR_MEMORY;
    vit_correction *item = &out->items[out->count++];
    *item = (vit_correction){.picture = vit_strdup(picture),
                             .label = label ? vit_strdup(label) : NULL,
                             .list = c->path,
                             .line = c->lines[row]};
    return item->picture && (item->label || !label)
               ? VIT_OK
               : vit_fail_memory(error, "a list of pictures", strlen(picture));
}

/* The column of classes: of a list of label issues that of the likely ones. */
static size_t find_label(const vit_cells *c) {
    const size_t likely = vit_column_named(c, "likely_label");
    size_t first = 0;
    return likely < c->column_count ? likely : vit_column_find(c, VIT_COLUMN_CLASS, &first);
}

static vit_status read_rows(vit_corrections *out, const vit_cells *c, bool relabels,
                            vit_error *error) {
    size_t first = 0;
    const size_t files = vit_column_find(c, VIT_COLUMN_FILE, &first),
                 labels = relabels ? find_label(c) : c->column_count;
    if (files == c->column_count || (relabels && labels == c->column_count))
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: its first line has no column of %s: expected picture,label", c->path,
                        files == c->column_count ? "pictures" : "classes");
    vit_status status = VIT_OK;
    for (size_t i = 0; i < c->row_count && status == VIT_OK; i++) {
        const char *picture = vit_cell(c, i, files), *label = NULL;
        if (relabels) label = vit_cell(c, i, labels);
        if (!picture || !*picture)
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "%s, line %zu: names no picture: only pictures in files of their own "
                            "can be named",
                            c->path, c->lines[i]);
        status = add(out, c, i, picture, label && *label ? label : NULL, error);
    }
    return status;
}

static vit_status read_list(vit_corrections *out, const char *path, bool relabels,
                            vit_error *error) {
    vit_cells cells = {0};
    if (!path) return VIT_OK;
    if (!vit_cells_is(path))
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: a list of pictures is a table .csv, .tsv or .jsonl, whose first line "
                        "is picture,label",
                        path);
    vit_status status = vit_cells_read(&cells, path, NULL, NULL, error);
    if (status == VIT_OK) status = read_rows(out, &cells, relabels, error);
    vit_cells_clear(&cells);
    return status;
}

vit_status vit_corrections_read(vit_corrections *out, const char *exclude, const char *relabel,
                                vit_error *error) {
    *out = (vit_corrections){0};
    const vit_status status = read_list(out, exclude, false, error);
    return status == VIT_OK ? read_list(out, relabel, true, error) : status;
}

void vit_corrections_free(vit_corrections *c) {
    for (size_t i = 0; i < c->count; i++) {
        vit_free(c->items[i].picture);
        vit_free(c->items[i].label);
    }
    vit_free(c->items);
    *c = (vit_corrections){0};
}

/* ---- finding the pictures ---- */

/* A file by the real path of its folder. A picture may be a link to another one. */
typedef struct place {
    char *path;
    vit_tree_file *file;
} place;

typedef struct places {
    place *items;
    size_t count;
} places;

/* The path with the real one of its folder, or of what is there of it: members of shards have
 * folders that are files. NULL: no memory, or no such folder. */
static char *real_place(const char *path, int depth) {
    char *directory = vit_path_directory(path), *real = directory ? vit_path_real(directory) : NULL;
    if (!real && directory && depth > 0 && strcmp(directory, path) != 0)
        real = real_place(directory, depth - 1);
    char *joined = real ? vit_path_join(real, vit_path_last(path)) : NULL;
    vit_free(directory);
    vit_free(real);
    return joined;
}

static int compare_places(const void *a, const void *b) {
    return strcmp(((const place *)a)->path, ((const place *)b)->path);
}

static void free_places(places *p) {
    for (size_t i = 0; p->items && i < p->count; i++) vit_free(p->items[i].path);
    vit_free(p->items);
}

/* Members of shards lie in folders down to this depth. */
#define MOST_FOLDERS 32

static vit_status list_places(places *out, vit_tree *tree, vit_error *error) {
    vit_tree_part *const parts[] = {&tree->train, &tree->val, &tree->test};
    const size_t count = tree->train.count + tree->val.count + tree->test.count;
    *out = (places){.items = vit_alloc(count, sizeof *out->items)};
    if (!out->items) return vit_fail_memory(error, "a list of files", count * sizeof *out->items);
    for (size_t k = 0; k < VIT_COUNT(parts); k++)
        for (size_t i = 0; i < parts[k]->count; i++) {
            vit_tree_file *file = &parts[k]->files[i];
            char *path = real_place(file->path, MOST_FOLDERS);
            if (!path) return vit_fail_memory(error, "a path", strlen(file->path));
            out->items[out->count++] = (place){path, file};
        }
    qsort(out->items, out->count, sizeof *out->items, compare_places);
    return VIT_OK;
}

static vit_tree_file *look_up(const places *p, const char *path) {
    char *real = path ? real_place(path, MOST_FOLDERS) : NULL;
    const place key = {.path = real};
    const place *found =
        real ? bsearch(&key, p->items, p->count, sizeof key, compare_places) : NULL;
    vit_free(real);
    return found ? found->file : NULL;
}

/* Sets the file of an item: its name is a path, or one from the data's directory on. *elsewhere:
 * it is none of these pictures, but a file in that directory. */
static vit_status find_file(vit_correction *c, bool *elsewhere, const places *p, const char *root,
                            vit_error *error) {
    char *inside = vit_path_join(root, c->picture);
    if (!inside) return vit_fail_memory(error, "a path", strlen(root) + strlen(c->picture));
    vit_tree_file *const given = look_up(p, c->picture), *const within = look_up(p, inside);
    vit_status status = VIT_OK;
    if (given && within && given != within)
        status = vit_fail(error, VIT_ERROR_FORMAT, "%s, line %zu: %s may be %s or %s", c->list,
                          c->line, c->picture, given->path, within->path);
    c->file = given ? given : within;
    *elsewhere = !c->file && vit_path_look(inside) == VIT_PATH_FILE;
    if (!c->file && !*elsewhere) {
        char *there = vit_path_real(c->picture), *real = vit_path_real(root);
        const size_t length = real ? strlen(real) : 0;
        *elsewhere = there && real && strncmp(there, real, length) == 0 && there[length] == '/';
        vit_free(there);
        vit_free(real);
    }
    vit_free(inside);
    return status;
}

static vit_status find_files(vit_corrections *c, vit_tree *tree, const char *root, bool is_whole,
                             vit_error *error) {
    places p = {0};
    const vit_correction *unknown = NULL;
    size_t count = 0;
    vit_status status = list_places(&p, tree, error);
    for (size_t i = 0; i < c->count && status == VIT_OK; i++) {
        bool elsewhere = false;
        status = find_file(&c->items[i], &elsewhere, &p, root, error);
        if (c->items[i].file || (elsewhere && !is_whole)) continue;
        if (count++ == 0) unknown = &c->items[i];
    }
    free_places(&p);
    if (status != VIT_OK || !unknown) return status;
    vit_string more = {0};
    if (count > 1) vit_string_add(&more, ", as %zu more are", count - 1);
    vit_fail(error, VIT_ERROR_FORMAT,
             "%s, line %zu: %s is no picture of %s that can be read%s: expected a path, or one "
             "from that directory on",
             unknown->list, unknown->line, unknown->picture, root, more.text ? more.text : "");
    vit_string_free(&more);
    return VIT_ERROR_FORMAT;
}

/* ---- what changes ---- */

static int compare_items(const void *a, const void *b) {
    const vit_correction *x = a, *y = b;
    if (x->file != y->file) return x->file < y->file ? -1 : 1;
    const int order = strcmp(x->list, y->list);
    return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

static bool agree(const vit_correction *a, const vit_correction *b) {
    return a->label && b->label ? strcmp(a->label, b->label) == 0 : a->label == b->label;
}

/* Lines on the same picture must say the same. Sorts the items by their files. */
static vit_status check_lines(vit_corrections *c, vit_error *error) {
    if (c->count > 0) qsort(c->items, c->count, sizeof *c->items, compare_items);
    for (size_t i = 1; i < c->count; i++) {
        const vit_correction *a = &c->items[i - 1], *b = &c->items[i];
        if (!a->file || a->file != b->file || agree(a, b)) continue;
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: line %zu of %s and line %zu of %s disagree: %s%s and %s%s",
                        a->file->path, a->line, a->list, b->line, b->list,
                        a->label ? "class " : "left out", a->label ? a->label : "",
                        b->label ? "class " : "left out", b->label ? b->label : "");
    }
    return VIT_OK;
}

static vit_status find_label_of(size_t *label, const vit_tree *tree, const vit_correction *c,
                                vit_error *error) {
    if (c->file->classes)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: %s has any number of classes: it can be left out, but not be given "
                        "another class",
                        c->list, c->file->path);
    if (vit_tree_find_class(tree, c->label, label)) return VIT_OK;
    vit_string names = {0};
    for (size_t i = 0; i < tree->class_count && i < 8; i++)
        vit_string_add(&names, "%s%s", i > 0 ? ", " : "", tree->classes[i]);
    if (tree->class_count > 8) vit_string_add(&names, " and %zu more", tree->class_count - 8);
    vit_fail(error, VIT_ERROR_FORMAT,
             "%s, line %zu: \"%s\" is no class of the data: expected %s, or nothing for a picture "
             "that is left out",
             c->list, c->line, c->label, names.text ? names.text : "");
    vit_string_free(&names);
    return VIT_ERROR_FORMAT;
}

typedef struct counts {
    size_t left_out, relabelled, same;
} counts;

static vit_status change(counts *n, vit_corrections *c, const vit_tree *tree, vit_error *error) {
    vit_status status = VIT_OK;
    for (size_t i = 0; i < c->count && status == VIT_OK; i++) {
        const vit_correction *item = &c->items[i];
        size_t label = 0;
        if (!item->file || (i > 0 && item->file == c->items[i - 1].file)) continue;
        if (item->label) status = find_label_of(&label, tree, item, error);
        if (status != VIT_OK) break;
        if (!item->label) {
            item->file->is_left_out = true;
            n->left_out++;
        } else if (item->file->label == label) {
            n->same++;
        } else {
            item->file->label = (uint16_t)label;
            item->file->is_relabelled = true;
            n->relabelled++;
        }
    }
    return status;
}

/* set->corrected = a hash of the set's checksum and of what changes, which no path is part of. */
static void hash_changes(vit_dataset *set, const vit_tree *tree) {
    const vit_tree_part *const parts[] = {&tree->train, &tree->val, &tree->test};
    vit_sha256 hash;
    vit_sha256_start(&hash);
    vit_sha256_add(&hash, set->checksum, sizeof set->checksum);
    for (size_t k = 0; k < VIT_COUNT(parts); k++)
        for (size_t i = 0; i < parts[k]->count; i++) {
            const vit_tree_file *file = &parts[k]->files[i];
            const char *name = file->path + file->name,
                       *class = file->is_left_out ? "" : tree->classes[file->label];
            if (!file->is_left_out && !file->is_relabelled) continue;
            vit_sha256_add(&hash, name, strlen(name) + 1);
            vit_sha256_add(&hash, class, strlen(class) + 1);
        }
    vit_sha256_hex(&hash, set->corrected);
}

vit_status vit_corrections_apply(vit_corrections *c, vit_dataset *set, vit_tree *tree,
                                 const char *root, bool is_whole, vit_error *error) {
    counts n = {0};
    vit_status status = find_files(c, tree, root, is_whole, error);
    if (status == VIT_OK) status = check_lines(c, error);
    if (status == VIT_OK) status = change(&n, c, tree, error);
    if (status != VIT_OK) return status;
    if (n.left_out + n.relabelled > 0) hash_changes(set, tree);
    vit_string same = {0};
    if (n.same > 0)
        vit_string_add(&same, "; %zu ha%s the class already that the list gives", n.same,
                       n.same == 1 ? "s" : "ve");
    status = vit_dataset_note(set, error,
                              "corrections: %zu picture%s left out, %zu given another "
                              "class%s",
                              n.left_out, n.left_out == 1 ? "" : "s", n.relabelled,
                              same.text ? same.text : "");
    vit_string_free(&same);
    return status;
}
