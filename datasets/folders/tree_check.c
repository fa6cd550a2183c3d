/* Folders that may mean something else than what they are read as. */
#include "datasets/folders/tree.h"
#include "datasets/reader.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"

#include <stdlib.h>
#include <string.h>

/* ---- the folders in a class ---- */

/* Those that hold a class's pictures: the first two, and how many there are. */
typedef struct inner {
    const char *first, *second;
    size_t first_length, second_length;
    size_t folders, files; /* files: pictures of the class that are in none of them */
} inner;

/* The folder in its class's folder that a file lies in; NULL: none. */
static const char *folder_of(const vit_tree_file *file, size_t *length) {
    const char *name = file->class ? NULL : strchr(file->path + file->name, '/');
    if (!name) return NULL;
    const size_t n = strcspn(name + 1, "/");
    *length = n;
    return name[1 + n] ? name + 1 : NULL;
}

static bool is_same(const char *a, size_t n, const char *b, size_t m) {
    return a && b && n == m && strncmp(a, b, n) == 0;
}

/* of[class] = its folders. The files of a folder stand beside each other. */
static void find_inner(inner *of, const vit_tree_part *part) {
    const char *last = NULL;
    size_t last_length = 0, length = 0;
    for (size_t i = 0; i < part->count; i++) {
        inner *in = &of[part->files[i].label];
        if (part->files[i].is_relabelled) continue;
        const char *folder = folder_of(&part->files[i], &length);
        const bool is_new = i == 0 || part->files[i].label != part->files[i - 1].label ||
                            !is_same(folder, length, last, last_length);
        last = folder;
        last_length = length;
        if (!folder) in->files++;
        if (!folder || !is_new) continue;
        if (in->folders++ == 0) {
            in->first = folder;
            in->first_length = length;
        } else if (in->folders == 2) {
            in->second = folder;
            in->second_length = length;
        }
    }
}

/* Whether every class has the same two folders and no other pictures. */
static bool are_alike(const inner *of, size_t classes) {
    for (size_t i = 0; i < classes; i++)
        if (of[i].folders < 2 || of[i].files > 0 ||
            !is_same(of[i].first, of[i].first_length, of[0].first, of[0].first_length) ||
            !is_same(of[i].second, of[i].second_length, of[0].second, of[0].second_length))
            return false;
    return classes > 1;
}

vit_status vit_tree_note_inner(vit_dataset *out, const vit_tree *tree, const vit_tree_part *part,
                               vit_error *error) {
    size_t class = 0;
    vit_status status = VIT_OK;
    inner *of = vit_alloc(tree->class_count, sizeof *of);
    if (!of) return vit_fail_memory(error, "classes", tree->class_count * sizeof *of);
    find_inner(of, part);
    while (class < tree->class_count && (of[class].folders < 2 || of[class].files > 0)) class ++;
    const inner *in = &of[class];
    if (are_alike(of, tree->class_count))
        status = vit_dataset_note(
            out, error,
            "the classes are %s, %s%s; each has the folders %.*s and %.*s: if these are the "
            "classes, name one of the folders around them as the data, or call those train and "
            "test",
            tree->classes[0], tree->classes[1], tree->class_count > 2 ? ", ..." : "",
            (int)in->first_length, in->first, (int)in->second_length, in->second);
    else if (class < tree->class_count)
        status = vit_dataset_note(out, error,
                                  "the pictures in %s/%.*s%s%s/%.*s are all of one class, %s",
                                  tree->classes[class], (int)in->first_length, in->first,
                                  in->folders > 2 ? ", ..., " : " and ", tree->classes[class],
                                  (int)in->second_length, in->second, tree->classes[class]);
    vit_free(of);
    return status;
}

/* ---- classes that are called nearly the same ---- */

static int lower(char c) {
    return c >= 'A' && c <= 'Z' ? c + 32 : c == '_' || c == '-' ? ' ' : (unsigned char)c;
}

int vit_tree_compare_loosely(const char *a, const char *b) {
    while (*a && lower(*a) == lower(*b)) a++, b++;
    return lower(*a) - lower(*b);
}

static int compare_loosely(const void *a, const void *b) {
    return vit_tree_compare_loosely(*(char *const *)a, *(char *const *)b);
}

/* Whether a name is a day or a month: 2024-05-31, 2024_05, 20240531. */
static bool is_date(const char *name) {
    size_t digits = 0;
    for (const char *at = name; *at; at++) {
        if (*at < '0' || *at > '9') {
            if (!strchr("-_. ", *at)) return false;
            continue;
        }
        if (digits == 4 && *at > '1') return false; /* the month */
        digits++;
    }
    return (digits == 6 || digits == 8) &&
           (strncmp(name, "19", 2) == 0 || strncmp(name, "20", 2) == 0);
}

static vit_status note_dates(vit_dataset *out, const vit_tree *tree, vit_error *error) {
    for (size_t i = 0; i < tree->class_count; i++)
        if (!is_date(tree->classes[i])) return VIT_OK;
    return vit_dataset_note(out, error,
                            "the classes are called as dates, %s and others, as the folders of a "
                            "phone are: the pictures are learnt by their day",
                            tree->classes[0]);
}

vit_status vit_tree_note_names(vit_dataset *out, const vit_tree *tree, vit_error *error) {
    const size_t count = tree->class_count;
    size_t pairs = 0, first = 0;
    vit_status status = VIT_OK;
    char **names = vit_alloc(count, sizeof *names);
    if (!names) return vit_fail_memory(error, "classes", count * sizeof *names);
    memcpy(names, tree->classes, count * sizeof *names);
    qsort(names, count, sizeof *names, compare_loosely);
    for (size_t i = 1; i < count; i++) {
        const bool is_letter = !names[i][vit_utf8_length(names[i])]; /* A and a are two */
        if (is_letter || compare_loosely(&names[i - 1], &names[i]) != 0) continue;
        if (pairs++ == 0) first = i - 1;
    }
    if (pairs > 0)
        status = vit_dataset_note(
            out, error,
            "the classes \"%s\" and \"%s\"%s differ in case or in signs between words alone, and "
            "are learnt as different ones: if they are one, call it by one name",
            names[first], names[first + 1], pairs > 1 ? ", and others," : "");
    vit_free(names);
    return status == VIT_OK ? note_dates(out, tree, error) : status;
}

/* ---- folders against a table ---- */

/* Whether two names differ in their digits at most, as those of archives that were cut up do. */
static bool differ_in_digits(const char *a, size_t n, const char *b, size_t m) {
    size_t i = 0, k = 0;
    for (;;) {
        while (i < n && a[i] >= '0' && a[i] <= '9') i++;
        while (k < m && b[k] >= '0' && b[k] <= '9') k++;
        if (i == n || k == m) return i == n && k == m;
        if (a[i++] != b[k++]) return false;
    }
}

/* The folder that a picture of a table lies in, and its class. */
typedef struct placed {
    const char *folder;
    size_t length, label;
    const vit_tree_file *file;
} placed;

static int compare_placed(const void *a, const void *b) {
    const placed *x = a, *y = b;
    const int order = strncmp(x->folder, y->folder, vit_min(x->length, y->length));
    if (order != 0) return order;
    if (x->length != y->length) return x->length < y->length ? -1 : 1;
    return (x->label > y->label) - (x->label < y->label);
}

static int compare_labels(const void *a, const void *b) {
    const placed *x = a, *y = b;
    if (x->label != y->label) return x->label < y->label ? -1 : 1;
    return compare_placed(a, b);
}

/* The first folder of a path that is no part and says something; NULL: there is none. */
static const char *place_of(const char *path, size_t *length) {
    char name[256];
    for (;;) {
        path += strspn(path, "/");
        *length = strcspn(path, "/");
        if (!path[*length]) return NULL;
        if (*length >= sizeof name) return path;
        memcpy(name, path, *length);
        name[*length] = 0;
        size_t contents;
        const bool is_content = vit_tree_count_words(&contents, name) == contents && contents > 0;
        if (!is_content && vit_tree_kind_of(name) == VIT_TREE_KINDS) return path;
        path += *length;
    }
}

static void add_placed(placed *all, size_t *count, const vit_tree_part *part, size_t root) {
    for (size_t i = 0; i < part->count; i++) {
        size_t length;
        const vit_tree_file *file = &part->files[i];
        const char *folder = file->problem ? NULL : place_of(file->path + root, &length);
        if (folder) all[(*count)++] = (placed){folder, length, file->label, file};
    }
}

/* Whether the folder is called as a class that is not the picture's. */
static bool is_other_class(const placed *p, char *const *classes, size_t count) {
    if (is_same(p->folder, p->length, classes[p->label], strlen(classes[p->label]))) return false;
    for (size_t i = 0; i < count; i++)
        if (is_same(p->folder, p->length, classes[i], strlen(classes[i]))) return true;
    return false;
}

/* The first whose neighbour has the same folder and another class, or the same class and another
 * folder; or whose class is another folder. NULL: classes and folders are the same. */
static const placed *find_conflict(placed *all, size_t count, char *const *classes,
                                   size_t class_count) {
    const placed *found = NULL;
    for (int turn = 0; turn < 2 && !found; turn++) {
        qsort(all, count, sizeof *all, turn ? compare_labels : compare_placed);
        for (size_t i = 1; i < count && !found; i++) {
            const placed *a = &all[i - 1], *b = &all[i];
            const bool same = is_same(a->folder, a->length, b->folder, b->length);
            if (turn ? a->label == b->label && !same : same && a->label != b->label)
                found = is_same(a->folder, a->length, classes[a->label], strlen(classes[a->label]))
                            ? b
                            : a;
        }
    }
    for (size_t i = 0; i < count && !found; i++)
        if ((i == 0 || all[i].label != all[i - 1].label) &&
            is_other_class(&all[i], classes, class_count))
            found = &all[i];
    return found;
}

/* Whether the folders are shares of one set, whose names differ in numbers. */
static bool are_shares(const placed *all, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (!differ_in_digits(all[0].folder, all[0].length, all[i].folder, all[i].length))
            return false;
    return true;
}

vit_status vit_tree_check_table(const vit_tree *tree, const char *root, vit_error *error) {
    size_t count = 0;
    const size_t most = tree->train.count + tree->val.count + tree->test.count;
    placed *all = vit_alloc(most, sizeof *all);
    if (!all) return vit_fail_memory(error, "folders", most * sizeof *all);
    add_placed(all, &count, &tree->train, strlen(root));
    add_placed(all, &count, &tree->val, strlen(root));
    add_placed(all, &count, &tree->test, strlen(root));
    const placed *p =
        are_shares(all, count) ? NULL : find_conflict(all, count, tree->classes, tree->class_count);
    const vit_status status =
        !p ? VIT_OK
           : vit_fail(
                 error, VIT_ERROR_FORMAT,
                 "the table and the folders disagree: %s lies in the folder %.*s and is of "
                 "class \"%s\" by %s: choose the table by its column (--class-column NAME), or "
                 "move the table away",
                 p->file->path, (int)p->length, p->folder, tree->classes[p->label], tree->source);
    vit_free(all);
    return status;
}

/* ---- names of parts ---- */

/* FORMAT if all folders are called as those of pictures and masks are, or are shares of the
 * pictures that a table names. */
static vit_status check_shares(const vit_tree *tree, const char *path, vit_error *error) {
    bool hold_all = tree->class_count > 1, are_cut_up = tree->class_count > 1 && tree->is_named;
    for (size_t i = 0; i < tree->class_count; i++) {
        const char *name = tree->classes[i], *first = tree->classes[0];
        size_t contents;
        const size_t words = vit_tree_count_words(&contents, name);
        hold_all = hold_all && words > 0 && words == contents;
        are_cut_up = are_cut_up && contents > 0 &&
                     differ_in_digits(name, strlen(name), first, strlen(first));
    }
    if (!hold_all && !are_cut_up) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s: its folders %s and %s are called as those that hold pictures of all "
                    "classes: expected a table of the classes, or a folder for each class; if they "
                    "are classes, allow it (--splits-are-classes)",
                    path, tree->classes[0], tree->classes[1]);
}

/* Whether b is called as a itself, but for a word of masks behind it: "1.png", "1_mask.png". */
static bool is_mask_of(const vit_tree_file *a, const vit_tree_file *b) {
    const char *one = a->path + a->name, *other = b->path + b->name;
    const char *end = strrchr(one, '.'), *last = strrchr(other, '.');
    if (!end || !last || a->label != b->label) return false;
    const size_t n = (size_t)(end - one);
    return (size_t)(last - other) > n && strncmp(one, other, n) == 0 && strchr("_- ", other[n]) &&
           vit_tree_is_mask(other + n, (size_t)(last - other) - n);
}

/* FORMAT if pictures of a class are masks of the others, by their folder or their name. */
static vit_status check_masks(const vit_tree *tree, const char *path, vit_error *error) {
    const vit_tree_part *const parts[] = {&tree->train, &tree->test};
    size_t length;
    for (size_t p = 0; p < VIT_COUNT(parts); p++)
        for (size_t i = 0; i < parts[p]->count; i++) {
            const vit_tree_file *file = &parts[p]->files[i];
            const char *folder = folder_of(file, &length), *name = file->path + file->name;
            if (folder && vit_tree_is_mask(folder, length))
                return vit_fail(error, VIT_ERROR_FORMAT,
                                "%s: class %s holds the folder %.*s, whose pictures would be taken "
                                "for others of the class: move it away; if they belong to the "
                                "class, allow it (--splits-are-classes)",
                                path, tree->classes[file->label], (int)length, folder);
            if (!file->class && i > 0 && is_mask_of(file - 1, file))
                return vit_fail(error, VIT_ERROR_FORMAT,
                                "%s: %s is called as a mask of the picture beside it, and would be "
                                "taken for another of the class: move the masks away; if they "
                                "belong to the class, allow it (--splits-are-classes)",
                                path, name);
        }
    return VIT_OK;
}

/* FORMAT if a class holds folders that are called train and test or val. */
static vit_status check_inner(const vit_tree *tree, const char *path, vit_error *error) {
    const vit_tree_part *const parts[] = {&tree->train, &tree->test};
    const char *trains = NULL, *others = NULL;
    size_t train_length = 0, other_length = 0, length, label = SIZE_MAX;
    for (size_t p = 0; p < VIT_COUNT(parts); p++) {
        for (size_t i = 0; i < parts[p]->count; i++) {
            const vit_tree_file *file = &parts[p]->files[i];
            const char *folder = folder_of(file, &length);
            char name[64];
            if (file->label != label) trains = others = NULL;
            label = file->label;
            if (!folder || length >= sizeof name) continue;
            memcpy(name, folder, length);
            name[length] = 0;
            const vit_tree_kind kind = vit_tree_kind_of(name);
            if (kind == VIT_TREE_TRAIN)
                trains = folder, train_length = length;
            else if (kind != VIT_TREE_KINDS)
                others = folder, other_length = length;
            if (!trains || !others) continue;
            const int n = (int)train_length, m = (int)other_length;
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "%s: class %s holds the folders %.*s and %.*s, which are called as "
                            "parts are: expected the parts first, %.*s/%s and %.*s/%s; if all "
                            "pictures of a class belong together, allow it (--splits-are-classes)",
                            path, tree->classes[label], n, trains, m, others, n, trains,
                            tree->classes[label], m, others, tree->classes[label]);
        }
    }
    return VIT_OK;
}

vit_status vit_tree_check_names(const vit_tree *tree, const char *path, vit_error *error) {
    size_t named = 0, first = 0;
    bool trains = true;
    vit_status status = check_shares(tree, path, error);
    if (status == VIT_OK) status = check_masks(tree, path, error);
    if (status != VIT_OK) return status;
    for (size_t i = tree->class_count; i-- > 0;) {
        const vit_tree_kind kind = vit_tree_kind_of(tree->classes[i]);
        if (kind == VIT_TREE_KINDS) continue;
        trains = trains && kind == VIT_TREE_TRAIN;
        first = i;
        named++;
    }
    if (named == 0 || (named == 1 && trains && tree->class_count > 2))
        return check_inner(tree, path, error);
    if (tree->class_count == 1)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: its folder %s holds pictures, expected a folder for each class in it, "
                        "or a table of their classes beside it (train.csv)",
                        path, tree->classes[first]);
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s: one of its %zu classes would be called %s, as a part of data is: a part "
                    "holds a folder for each class (train/CLASS/..., test/CLASS/...); if it is a "
                    "class, allow it (--splits-are-classes)",
                    path, tree->class_count, tree->classes[first]);
}
