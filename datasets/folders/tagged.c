#include <stdlib.h>
#include <string.h>

#include "datasets/folders/tree.h"
#include "datasets/tables/listed.h"
#include "vit/base/name_map.h"
#include "vit/base/order.h"
#include "vit/base/parallel.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/photos/tags.h"
#include "vit/text/match.h"

#define MAX_CLASSES 65536

/* A class of a picture. */
typedef struct choice {
    char *name; /* a pointer into a tag of the picture, or a copy */
    char *key;  /* the same letter by letter: é is written in two ways */
    size_t file, class;
} choice;

typedef struct scan {
    vit_tree_part all; /* the files of the directory */
    vit_tags *tags;    /* [all.count] */
    vit_status *statuses;
    vit_error *errors; /* [all.count] */
    const char *branch;
    size_t branch_length;
    bool multi_label;
    choice *choices; /* of all files, in their order */
    size_t count, capacity, ours;
    vit_name_map seen; /* keys of the file that is looked at */
} scan;

/* ---- reading ---- */

static void read_task(size_t index, int thread, void *context) {
    scan *s = context;
    (void)thread;
    if (s->all.files[index].problem) return;
    s->statuses[index] =
        vit_tags_read(&s->tags[index], s->all.files[index].path, &s->errors[index]);
}

/* Without sidecars, which are no pictures. */
static void drop_sidecars(vit_tree_part *part) {
    size_t kept = 0;
    for (size_t i = 0; i < part->count; i++) {
        const char *path = part->files[i].path;
        if (vit_has_ending(path, ".xmp") || vit_has_ending(path, ".XMP"))
            vit_tree_file_free(&part->files[i]);
        else
            part->files[kept++] = part->files[i];
    }
    part->count = kept;
}

static vit_status read_tags(scan *s, const char *root, int threads, vit_error *error) {
    const size_t length = strlen(root);
    vit_status status =
        vit_tree_walk(&s->all, root, length + (length > 0 && root[length - 1] != '/'), error);
    if (status != VIT_OK) return status;
    drop_sidecars(&s->all);
    s->tags = vit_alloc(s->all.count, sizeof *s->tags);
    s->statuses = vit_alloc(s->all.count, sizeof *s->statuses);
    s->errors = vit_alloc(s->all.count, sizeof *s->errors);
    if (!s->tags || !s->statuses || !s->errors)
        return vit_fail_memory(error, "tags", s->all.count * sizeof *s->tags);
    vit_parallel(threads > 0 ? threads : 1, s->all.count, read_task, s);
    for (size_t i = 0; i < s->all.count; i++)
        if (s->statuses[i] == VIT_ERROR_MEMORY)
            return vit_fail(error, VIT_ERROR_MEMORY, "%s", s->errors[i].message);
    return VIT_OK;
}

/* ---- classes ---- */

/* The tag without the branch; NULL: it is not under it. */
static const char *under(const scan *s, const char *path) {
    if (s->branch_length == 0) return path;
    if (strncmp(path, s->branch, s->branch_length) != 0 || path[s->branch_length] != '/')
        return NULL;
    return path[s->branch_length + 1] ? path + s->branch_length + 1 : NULL;
}

/* A class of the file, the first `length` bytes of `name`, unless it has it. */
static vit_status add_choice(scan *s, size_t file, const char *name, size_t length,
                             vit_error *error) {
    vit_string text = {0}, key = {0};
    vit_string_add_bytes(&text, name, length);
    if (!text.failed) vit_string_add_name(&key, text.text);
    const bool failed = text.failed || key.failed || !key.text;
    const bool is_known = !failed && vit_name_map_get(&s->seen, key.text);
    const bool has_room = !failed && !is_known &&
                          vit_name_map_put(&s->seen, key.text, "", error) == VIT_OK &&
                          VIT_MAKE_ROOM(s->choices, s->count, s->capacity, "classes", error);
    if (has_room) {
        s->choices[s->count++] = (choice){.name = text.text, .key = key.text, .file = file};
        return VIT_OK;
    }
    vit_string_free(&text);
    vit_string_free(&key);
    return is_known ? VIT_OK : vit_fail_memory(error, "classes", length);
}

/* Whether another tag of the picture goes on below this one. */
static bool goes_on(const vit_tags *t, const char *path) {
    const size_t length = strlen(path);
    for (size_t i = 0; i < t->count; i++)
        if (strncmp(t->tags[i].path, path, length) == 0 && t->tags[i].path[length] == '/')
            return true;
    return false;
}

static vit_status choose(scan *s, size_t file, vit_error *error) {
    const vit_tags *t = &s->tags[file];
    vit_status status = VIT_OK;
    vit_name_map_free(&s->seen);
    for (size_t i = 0; i < t->count && status == VIT_OK; i++) {
        const char *name = under(s, t->tags[i].path), *slash = name;
        if (!name || (!s->multi_label && goes_on(t, t->tags[i].path))) continue;
        while (s->multi_label && !t->tags[i].is_plain && status == VIT_OK &&
               (slash = strchr(slash, '/'))) {
            status = add_choice(s, file, name, (size_t)(slash - name), error);
            slash++;
        }
        if (status == VIT_OK) status = add_choice(s, file, name, strlen(name), error);
    }
    s->ours += t->ours > 0;
    return status;
}

/* FORMAT for a picture of two classes, where it can have one. */
static vit_status check_single(const scan *s, size_t first, vit_error *error) {
    if (s->multi_label || s->count - first < 2) return VIT_OK;
    const char *branch = s->branch_length > 0 ? " under " : "";
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s: has the tags \"%s\" and \"%s\"%s%s: --under BRANCH takes those of one "
                    "branch of the tags, --multi-label trains a picture of several classes",
                    s->all.files[s->choices[first].file].path, s->choices[first].name,
                    s->choices[first + 1].name, branch, s->branch_length > 0 ? s->branch : "");
}

static vit_status choose_all(scan *s, vit_error *error) {
    vit_status status = VIT_OK;
    for (size_t i = 0; i < s->all.count && status == VIT_OK; i++) {
        const size_t first = s->count;
        if (s->statuses[i] != VIT_OK) continue;
        status = choose(s, i, error);
        if (status == VIT_OK) status = check_single(s, first, error);
    }
    return status;
}

static int compare_keys(const void *a, const void *b) {
    const choice *x = *(choice *const *)a, *y = *(choice *const *)b;
    const int order = strcmp(x->key, y->key);
    return order != 0 ? order : strcmp(x->name, y->name);
}

static int compare_names(const void *a, const void *b) {
    const choice *x = *(choice *const *)a, *y = *(choice *const *)b;
    return strcmp(x->name, y->name);
}

static vit_status copy_names(vit_tree *tree, choice *const *first, size_t count, vit_error *error) {
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) bytes += strlen(first[i]->name) + 1;
    tree->classes = vit_alloc(1, count * sizeof(char *) + bytes);
    if (!tree->classes) return vit_fail_memory(error, "classes", bytes);
    char *at = (char *)(tree->classes + count);
    for (size_t i = 0; i < count; i++) {
        const size_t size = strlen(first[i]->name) + 1;
        tree->classes[i] = memcpy(at, first[i]->name, size);
        at += size;
    }
    tree->class_count = count;
    return VIT_OK;
}

/* The classes of all files, sorted as bytes; those of the same key are one. sorted: [2 count]. */
static vit_status number_classes(scan *s, vit_tree *tree, choice **sorted, vit_error *error) {
    choice **first = sorted + s->count;
    size_t classes = 0;
    for (size_t i = 0; i < s->count; i++) sorted[i] = &s->choices[i];
    if (s->count > 0) qsort(sorted, s->count, sizeof *sorted, compare_keys);
    for (size_t i = 0; i < s->count; i++)
        if (i == 0 || strcmp(sorted[i]->key, sorted[i - 1]->key) != 0) first[classes++] = sorted[i];
    if (classes > MAX_CLASSES)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%zu tags, at most %d are read as classes",
                        classes, MAX_CLASSES);
    if (classes > 0) qsort(first, classes, sizeof *first, compare_names);
    const vit_status status = copy_names(tree, first, classes, error);
    for (size_t i = 0; i < classes; i++) first[i]->class = i;
    for (size_t i = 1; i < s->count; i++)
        if (strcmp(sorted[i]->key, sorted[i - 1]->key) == 0)
            sorted[i]->class = sorted[i - 1]->class;
    return status;
}

static vit_status find_classes(scan *s, vit_tree *tree, vit_error *error) {
    choice **sorted = vit_alloc(2 * s->count, sizeof *sorted);
    if (!sorted) return vit_fail_memory(error, "classes", s->count * sizeof *sorted);
    const vit_status status = number_classes(s, tree, sorted, error);
    vit_free(sorted);
    return status;
}

/* ---- files ---- */

/* The part that the first folder of a file's path is called after. */
static vit_tree_kind part_of(const vit_tree_file *file) {
    char folder[64];
    const char *name = file->path + file->name;
    const size_t length = strcspn(name, "/");
    if (!name[length] || length >= sizeof folder) return VIT_TREE_TRAIN;
    memcpy(folder, name, length);
    folder[length] = 0;
    const vit_tree_kind kind = vit_tree_kind_of(folder);
    return kind == VIT_TREE_KINDS ? VIT_TREE_TRAIN : kind;
}

/* The classes of a file, [count] choices, one of them or all. */
static vit_status set_classes(vit_tree_file *file, const vit_tree *tree, const choice *choices,
                              size_t count, bool multi_label, vit_error *error) {
    vit_string text = {0};
    file->label = (uint16_t)choices[0].class;
    file->class = tree->classes[file->label];
    if (!multi_label) return VIT_OK;
    file->class_ids = vit_alloc(count, sizeof *file->class_ids);
    if (!file->class_ids) return vit_fail_memory(error, "classes", count);
    for (size_t i = 0; i < count; i++) file->class_ids[i] = (uint32_t)choices[i].class;
    qsort(file->class_ids, count, sizeof *file->class_ids, vit_compare_ids);
    for (size_t i = 0; i < count; i++)
        vit_string_add(&text, "%s%s", i > 0 ? ";" : "", tree->classes[file->class_ids[i]]);
    file->class_id_count = count;
    file->classes = text.text;
    file->label = (uint16_t)file->class_ids[0];
    file->class = tree->classes[file->label];
    return text.failed ? vit_fail_memory(error, "classes", text.length) : VIT_OK;
}

/* Moves file `index` to its part; it has choices[0 .. count - 1]. */
static vit_status hand_over(scan *s, vit_tree *tree, size_t index, const choice *choices,
                            size_t count, vit_error *error) {
    vit_tree_file *from = &s->all.files[index];
    vit_tree_part *const kinds[] = {&tree->train, &tree->val, &tree->test};
    vit_tree_part *part = kinds[part_of(from)];
    char *path = from->path;
    from->path = NULL;
    const vit_status status = vit_tree_add(part, path, from->name, 0, NULL, error);
    if (status != VIT_OK) return status;
    return set_classes(&part->files[part->count - 1], tree, choices, count, s->multi_label, error);
}

/* Adds a file that is left out, and says why. */
static vit_status leave_out(scan *s, vit_tree *tree, size_t index, vit_error *error) {
    vit_tree_file *from = &s->all.files[index];
    vit_tree_part *part = tree->train.count > 0 ? &tree->train
                          : tree->val.count > 0 ? &tree->val
                                                : &tree->test;
    char *path = from->path;
    vit_string problem = {0};
    from->path = NULL;
    if (s->statuses[index] != VIT_OK)
        vit_string_add(&problem, "its tags cannot be read: %s", s->errors[index].message);
    else
        vit_string_add(&problem, "has no tag%s%s%s", s->branch_length > 0 ? " under " : "",
                       s->branch, s->tags[index].ours > 0 ? " but those of vit-classify" : "");
    vit_status status = VIT_OK;
    if (problem.failed)
        status = vit_fail_memory(error, path, problem.length);
    else
        status =
            vit_tree_add(part, path, from->name, 0, from->problem ? NULL : problem.text, error);
    if (problem.failed) vit_free(path);
    vit_string_free(&problem);
    if (status != VIT_OK) return status;
    vit_tree_file *file = &part->files[part->count - 1];
    file->class = tree->classes[0];
    if (!from->problem) return VIT_OK;
    file->problem = from->problem;
    file->status = from->status;
    from->problem = NULL;
    return VIT_OK;
}

/* Files that are left out come last, so that they are no part of the share that is held back. */
static vit_status make_tree(scan *s, vit_tree *tree, unsigned parts, vit_error *error) {
    vit_status status = find_classes(s, tree, error);
    for (size_t i = 0, at = 0; i < s->all.count && status == VIT_OK; i++) {
        const size_t first = at;
        while (at < s->count && s->choices[at].file == i) at++;
        if (at > first) status = hand_over(s, tree, i, s->choices + first, at - first, error);
    }
    if (status == VIT_OK) status = vit_listed_choose_parts(tree, parts, error);
    for (size_t i = 0; i < s->all.count && status == VIT_OK; i++)
        if (s->all.files[i].path) status = leave_out(s, tree, i, error);
    return status;
}

static vit_status name_source(vit_tree *tree, const scan *s, vit_error *error) {
    vit_string text = {0};
    vit_string_add(&text, "tags of the pictures%s%s", s->branch_length > 0 ? " under " : "",
                   s->branch);
    if (s->ours > 0)
        vit_string_add(&text, " (not those that vit-classify wrote, in %zu pictures)", s->ours);
    tree->source = text.text;
    return text.failed ? vit_fail_memory(error, "a name", text.length) : VIT_OK;
}

static void free_scan(scan *s) {
    for (size_t i = 0; i < s->all.count && s->tags; i++) vit_tags_free(&s->tags[i]);
    for (size_t i = 0; i < s->count; i++) {
        vit_free(s->choices[i].name);
        vit_free(s->choices[i].key);
    }
    vit_name_map_free(&s->seen);
    vit_tree_part_free(&s->all);
    vit_free(s->tags);
    vit_free(s->statuses);
    vit_free(s->errors);
    vit_free(s->choices);
    vit_free((char *)s->branch);
}

static vit_status scan_tags(vit_tree *out, const char *root, unsigned parts, const char *branch,
                            const vit_table_options *options, int threads, vit_error *error) {
    scan s = {.multi_label = options->multi_label};
    char *own = vit_strdup(branch);
    *out = (vit_tree){0};
    if (!own) return vit_fail_memory(error, "a branch", strlen(branch));
    for (char *at = own; *at; at++)
        if (*at == '|') *at = '/';
    s.branch_length = strlen(own);
    while (s.branch_length > 0 && own[s.branch_length - 1] == '/') own[--s.branch_length] = 0;
    s.branch = own;
    vit_status status = read_tags(&s, root, threads, error);
    if (status == VIT_OK) status = choose_all(&s, error);
    if (status == VIT_OK && s.count == 0)
        status = vit_fail(error, VIT_ERROR_FORMAT,
                          "%s: none of its %zu files has a tag%s%s: neither a sidecar, nor XMP or "
                          "IPTC in a picture, names one",
                          root, s.all.count, s.branch_length > 0 ? " under " : "", own);
    if (status == VIT_OK) status = name_source(out, &s, error);
    if (status == VIT_OK) status = make_tree(&s, out, parts, error);
    if (!(parts & VIT_PART_TEST)) vit_tree_part_free(&out->test);
    free_scan(&s);
    return status;
}

const vit_picture_tagging vit_tagged_pictures = {scan_tags};
