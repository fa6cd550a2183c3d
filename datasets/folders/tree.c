#include "datasets/folders/tree.h"
#include "datasets/reader.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/formats/sha256.h"
#include "vit/text/match.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Folders are read up to this depth, which bounds the stack. */
#define MAX_DEPTH 16
#define MAX_CLASSES 65536

/* ---- folders ---- */

static vit_status join(char **path, const char *directory, const char *name, vit_error *error) {
    *path = vit_path_join(directory, name);
    if (*path) return VIT_OK;
    return vit_fail_memory(error, "a path", strlen(directory) + strlen(name));
}

static vit_status note_stray(vit_tree *tree, const char *path, vit_error *error) {
    if (tree->strays++ > 0) return VIT_OK;
    tree->stray = vit_strdup(path);
    return tree->stray ? VIT_OK : vit_fail_memory(error, "a path", strlen(path));
}

/* *names = the visible folders in a directory, one block. Anything else in it is noted as a stray,
 * unless tree is NULL. */
static vit_status list_folders(char ***names, size_t *count, vit_tree *tree, const char *directory,
                               vit_error *error) {
    size_t all;
    *count = 0;
    vit_status status = vit_list_directory(names, &all, directory, error);
    for (size_t i = 0; i < all && status == VIT_OK; i++) {
        char *path, *name = (*names)[i];
        if (!vit_name_is_wanted(name)) continue;
        status = join(&path, directory, name, error);
        if (status != VIT_OK) break;
        if (vit_path_look(path) == VIT_PATH_DIRECTORY && !vit_path_leads_back(path))
            (*names)[(*count)++] = name;
        else if (tree)
            status = note_stray(tree, path, error);
        vit_free(path);
    }
    if (status == VIT_OK) return VIT_OK;
    vit_free(*names);
    *names = NULL;
    *count = 0;
    return status;
}

/* Whether the name is among these, which are sorted; *index is where. */
static bool among(const char *name, char *const *names, size_t count, size_t *index) {
    for (size_t low = 0, high = count; low < high;) {
        size_t middle = (low + high) / 2;
        int order = strcmp(name, names[middle]);
        *index = middle;
        if (order == 0) return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

/* Whether the names are alike in Unicode, such as é written as one character or as two. */
static bool alike(const char *a, const char *b) {
    vit_string one = {0}, other = {0};
    vit_string_add_name(&one, a);
    vit_string_add_name(&other, b);
    const bool equal =
        one.text && other.text && !one.failed && !other.failed && strcmp(one.text, other.text) == 0;
    vit_string_free(&one);
    vit_string_free(&other);
    return equal;
}

bool vit_tree_find_class(const vit_tree *tree, const char *name, size_t *label) {
    if (among(name, tree->classes, tree->class_count, label)) return true;
    for (*label = 0; *label < tree->class_count; ++*label)
        if (alike(name, tree->classes[*label])) return true;
    return false;
}

/* ---- files ---- */

vit_status vit_tree_add(vit_tree_part *part, char *path, size_t name, size_t label,
                        const char *problem, vit_error *error) {
    if (!VIT_MAKE_ROOM(part->files, part->count, part->capacity, "a list of files", error)) {
        vit_free(path);
        return VIT_ERROR_MEMORY;
    }
    vit_tree_file *file = &part->files[part->count++];
    *file = (vit_tree_file){.path = path, .name = name, .label = (uint16_t)label};
    if (!problem) return VIT_OK;
    vit_error reason;
    file->status = vit_fail(&reason, VIT_ERROR_IO, "%s: %s", path, problem);
    file->problem = vit_strdup(reason.message);
    return file->problem ? VIT_OK : vit_fail_memory(error, path, sizeof reason.message);
}

static vit_status walk(vit_tree_part *part, const char *directory, size_t name, size_t label,
                       int depth, vit_error *error);

/* Adds a file, or the files of a folder. Owns `path` from now on. */
static vit_status add_entry(vit_tree_part *part, char *path, size_t name, size_t label, int depth,
                            vit_error *error) {
    const char *problem = NULL;
    switch (vit_path_look(path)) {
    case VIT_PATH_FILE:
        break;
    case VIT_PATH_NONE:
        problem = "is neither a file nor a folder";
        break;
    case VIT_PATH_DIRECTORY:
        if (vit_path_leads_back(path)) {
            problem = "is a link to a folder that it lies in";
        } else if (depth == MAX_DEPTH) {
            problem = "lies too deep: folders are read up to 16 deep";
        } else {
            vit_status status = walk(part, path, name, label, depth + 1, error);
            vit_free(path);
            return status;
        }
    }
    return vit_tree_add(part, path, name, label, problem, error);
}

/* Adds every file of a folder of a class and of the folders inside it. */
static vit_status walk(vit_tree_part *part, const char *directory, size_t name, size_t label,
                       int depth, vit_error *error) {
    char **names, *path;
    size_t count;
    vit_status status = vit_list_directory(&names, &count, directory, error);
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        if (!vit_name_is_wanted(names[i])) continue;
        status = join(&path, directory, names[i], error);
        if (status == VIT_OK) status = add_entry(part, path, name, label, depth, error);
    }
    vit_free(names);
    return status;
}

vit_status vit_tree_walk(vit_tree_part *part, const char *directory, size_t name,
                         vit_error *error) {
    return walk(part, directory, name, 0, 1, error);
}

static vit_status walk_class(vit_tree_part *part, const char *directory, const char *class,
                             size_t label, vit_error *error) {
    char *path;
    vit_status status = join(&path, directory, class, error);
    if (status != VIT_OK) return status;
    status = walk(part, path, strlen(path) - strlen(class), label, 1, error);
    vit_free(path);
    return status;
}

/* ---- the share that is held back ---- */

typedef struct ranked {
    uint16_t label;
    uint8_t digest[32];
    size_t index;
} ranked;

static int compare_ranked(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->label != y->label) return x->label < y->label ? -1 : 1;
    return memcmp(x->digest, y->digest, sizeof x->digest);
}

/* Chooses those of the files that go to the test part. */
static vit_status choose_share(bool *chosen, vit_tree_part *part, vit_error *error) {
    const size_t count = part->count;
    ranked *order = vit_alloc(count, sizeof *order);
    if (!order) return vit_fail_memory(error, "a list of files", count * sizeof *order);
    for (size_t i = 0; i < count; i++) {
        const char *name = part->files[i].path + part->files[i].name;
        vit_sha256_digest(order[i].digest, name, strlen(name));
        order[i].label = part->files[i].label;
        order[i].index = i;
    }
    qsort(order, count, sizeof *order, compare_ranked);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && order[end].label == order[first].label;) end++;
        for (size_t i = first; i < first + (end - first) / VIT_TEST_SHARE; i++)
            chosen[order[i].index] = part->files[order[i].index].is_held_back = true;
    }
    vit_free(order);
    return VIT_OK;
}

/* Moves the chosen files from the training to the test part; both stay in order. */
static vit_status move_chosen(vit_tree *tree, const bool *chosen, vit_error *error) {
    vit_tree_part *train = &tree->train, *test = &tree->test;
    size_t left = 0;
    test->files = vit_alloc(train->count, sizeof *test->files);
    if (!test->files)
        return vit_fail_memory(error, "a list of files", train->count * sizeof *test->files);
    test->capacity = train->count;
    for (size_t i = 0; i < train->count; i++) train->files[i].position = i;
    for (size_t i = 0; i < train->count; i++)
        *(chosen[i] ? &test->files[test->count++] : &train->files[left++]) = train->files[i];
    train->count = left;
    return VIT_OK;
}

vit_status vit_tree_share_out(vit_tree *tree, vit_error *error) {
    vit_tree_part *part = &tree->train;
    bool *chosen = vit_alloc(part->count, sizeof *chosen);
    if (!chosen) return vit_fail_memory(error, "a list of files", part->count);
    tree->shared = part->count;
    vit_status status = choose_share(chosen, part, error);
    if (status == VIT_OK) status = move_chosen(tree, chosen, error);
    vit_free(chosen);
    return status;
}

/* ---- layouts ---- */

#define SPELLINGS 5

/* The words that name a part. */
static const char *const part_words[][SPELLINGS] = {
    [VIT_TREE_TRAIN] = {"train", "training"},
    [VIT_TREE_VAL] = {"val", "valid", "validation", "validate", "dev"},
    [VIT_TREE_TEST] = {"test", "testing"}};
VIT_CHECK_ROWS(part_words, VIT_TREE_KINDS);

/* Words beside them that say nothing. */
static const char *const fillers[] = {"set",   "data", "dataset",  "images", "image",
                                      "img",   "imgs", "pictures", "photos", "seg",
                                      "split", "part", "folder"};

static bool is_filler(const char *word, size_t length) {
    for (size_t i = 0; i < sizeof fillers / sizeof *fillers; i++)
        if (strlen(fillers[i]) == length && strncasecmp(word, fillers[i], length) == 0) return true;
    return false;
}

/* The part that a word names, also with a filler behind it ("testset"); VIT_TREE_KINDS: none. */
static vit_tree_kind kind_of_word(const char *word, size_t length) {
    for (vit_tree_kind k = 0; k < VIT_TREE_KINDS; k++)
        for (int i = 0; i < SPELLINGS && part_words[k][i]; i++) {
            const size_t n = strlen(part_words[k][i]);
            if (n > length || strncasecmp(word, part_words[k][i], n) != 0) continue;
            if (n == length || is_filler(word + n, length - n)) return k;
        }
    return VIT_TREE_KINDS;
}

/* Words of folders that hold what belongs to pictures of all classes; the first ones say that it is
 * drawn over pictures. */
static const char *const contents[] = {
    "annotation", "annotations", "mask",  "masks",   "segmentation", "segmentations", "trimap",
    "trimaps",    "groundtruth", "truth", "ground",  "gt",           "label",         "labels",
    "batch",      "chunk",       "raw",   "archive", "input",        "jpegimages",    "jpg"};
#define MASK_WORDS 12

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

vit_tree_kind vit_tree_kind_within(bool *several, const char *name) {
    vit_tree_kind found = VIT_TREE_KINDS;
    *several = false;
    while (*name) {
        name += strcspn(name, letters);
        const size_t length = strspn(name, letters);
        const vit_tree_kind kind = kind_of_word(name, length);
        name += length;
        if (kind == VIT_TREE_KINDS) continue;
        *several = *several || (found != VIT_TREE_KINDS && found != kind);
        found = kind;
    }
    return *several ? VIT_TREE_KINDS : found;
}

vit_tree_kind vit_tree_kind_of(const char *name) {
    static const char between[] = "0123456789_-. ";
    vit_tree_kind found = VIT_TREE_KINDS;
    while (*name) {
        name += strspn(name, between);
        const size_t length = strspn(name, letters);
        const vit_tree_kind kind = kind_of_word(name, length);
        if (length == 0 && *name) return VIT_TREE_KINDS;
        if (length > 0 && kind == VIT_TREE_KINDS && !is_filler(name, length)) return VIT_TREE_KINDS;
        if (kind != VIT_TREE_KINDS && found != VIT_TREE_KINDS) return VIT_TREE_KINDS;
        if (kind != VIT_TREE_KINDS) found = kind;
        name += length;
    }
    return found;
}

/* The place of a word among `contents`; VIT_COUNT(contents): it is none. */
static size_t find_content(const char *word, size_t length) {
    size_t i = 0;
    while (i < VIT_COUNT(contents) &&
           (strlen(contents[i]) != length || strncasecmp(word, contents[i], length) != 0))
        i++;
    return i;
}

size_t vit_tree_count_words(size_t *of_contents, const char *name) {
    size_t words = 0;
    *of_contents = 0;
    for (size_t length; *(name += strcspn(name, letters)); name += length, words++) {
        length = strspn(name, letters);
        *of_contents += is_filler(name, length) || find_content(name, length) < VIT_COUNT(contents);
    }
    return words;
}

bool vit_tree_is_mask(const char *name, size_t length) {
    const char *const end = name + length;
    bool is_mask = false;
    while ((name += strcspn(name, letters)) < end) {
        const size_t all = strspn(name, letters),
                     n = all < (size_t)(end - name) ? all : (size_t)(end - name);
        const bool draws = find_content(name, n) < MASK_WORDS;
        if (!draws && !is_filler(name, n)) return false;
        is_mask = is_mask || draws;
        name += n;
    }
    return is_mask;
}

/* The place of a part's name among its words, the most usual first; SPELLINGS: a looser name. */
static int rank_of(const char *name, vit_tree_kind kind) {
    int i = 0;
    while (i < SPELLINGS && part_words[kind][i] && strcmp(name, part_words[kind][i]) != 0) i++;
    return i < SPELLINGS && part_words[kind][i] ? i : SPELLINGS;
}

#define MOST_WRAPPED 3 /* folders around parts, and around the classes of a part */

typedef struct layout {
    char *parts[VIT_TREE_KINDS]; /* directories with the folders of classes; NULL: missing */
    char *names[VIT_TREE_KINDS]; /* of the folders beside each other */
    int ranks[VIT_TREE_KINDS];
} layout;

static void drop_part(layout *l, vit_tree_kind kind) {
    vit_free(l->parts[kind]);
    vit_free(l->names[kind]);
    l->parts[kind] = l->names[kind] = NULL;
}

/* *path = the folder in root, if it is a part: one without folders in it is a class. A folder of
 * the same part alone in it is passed through: seg_train/seg_train/forest. */
static vit_status find_part(char **path, const char *root, const char *name, vit_tree_kind kind,
                            vit_error *error) {
    size_t count = 0;
    vit_status status = join(path, root, name, error);
    for (int depth = 0; status == VIT_OK && depth < MOST_WRAPPED; depth++) {
        char **names = NULL, *inner = NULL;
        status = list_folders(&names, &count, NULL, *path, error);
        const bool is_wrapped =
            status == VIT_OK && count == 1 && vit_tree_kind_of(names[0]) == kind;
        if (is_wrapped) status = join(&inner, *path, names[0], error);
        vit_free(names);
        if (!inner) break;
        vit_free(*path);
        *path = inner;
    }
    if (status == VIT_OK && count > 0) return VIT_OK;
    vit_free(*path);
    *path = NULL;
    return status;
}

/* Notes the strays in the root, beside the parts. */
static vit_status find_strays(vit_tree *tree, const layout *l, const char *root, vit_error *error) {
    char **names, *path;
    size_t count;
    vit_status status = vit_list_directory(&names, &count, root, error);
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        bool is_part = !vit_name_is_wanted(names[i]);
        for (vit_tree_kind k = 0; k < VIT_TREE_KINDS; k++)
            is_part = is_part || (l->names[k] && strcmp(names[i], l->names[k]) == 0);
        if (is_part) continue;
        status = join(&path, root, names[i], error);
        if (status == VIT_OK) status = note_stray(tree, path, error);
        vit_free(path);
    }
    vit_free(names);
    return status;
}

/* *shared: whether two directories hold a folder of the same name. */
static vit_status share_a_class(bool *shared, const char *a, const char *b, vit_error *error) {
    char **first = NULL, **second = NULL;
    size_t n = 0, m = 0, at;
    vit_status status = list_folders(&first, &n, NULL, a, error);
    if (status == VIT_OK) status = list_folders(&second, &m, NULL, b, error);
    *shared = false;
    for (size_t i = 0; i < n; i++) *shared = *shared || among(first[i], second, m, &at);
    vit_free(first);
    vit_free(second);
    return status;
}

/* Parts with loose names are parts if they hold the same classes; else the folders are classes. */
static vit_status check_loose(layout *l, vit_error *error) {
    vit_status status = VIT_OK;
    for (vit_tree_kind a = 0; a < VIT_TREE_KINDS; a++)
        for (vit_tree_kind b = a + 1; b < VIT_TREE_KINDS && status == VIT_OK; b++) {
            bool shared = true;
            if (!l->parts[a] || !l->parts[b]) continue;
            if (l->ranks[a] < SPELLINGS && l->ranks[b] < SPELLINGS) continue;
            status = share_a_class(&shared, l->parts[a], l->parts[b], error);
            if (shared) continue;
            drop_part(l, a);
            drop_part(l, b);
        }
    return status;
}

static vit_status find_parts(layout *l, char *const *names, size_t count, const char *root,
                             vit_error *error) {
    vit_status status = VIT_OK;
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        const vit_tree_kind kind = vit_tree_kind_of(names[i]);
        char *path = NULL;
        if (kind == VIT_TREE_KINDS) continue;
        const int rank = rank_of(names[i], kind);
        if (l->parts[kind] && l->ranks[kind] <= rank) continue;
        status = find_part(&path, root, names[i], kind, error);
        if (status != VIT_OK || !path) continue;
        drop_part(l, kind);
        l->parts[kind] = path;
        l->names[kind] = vit_strdup(names[i]);
        l->ranks[kind] = rank;
        if (!l->names[kind]) status = vit_fail_memory(error, "a path", strlen(names[i]));
    }
    return status == VIT_OK ? check_loose(l, error) : status;
}

static bool has_parts(const layout *l) {
    return l->parts[VIT_TREE_TRAIN] || l->parts[VIT_TREE_VAL] || l->parts[VIT_TREE_TEST];
}

/* Parts lie in the root, or in a folder that is alone in it. */
static vit_status find_layout(layout *l, vit_tree *tree, const char *root, int depth,
                              vit_error *error) {
    char **names = NULL, *inner = NULL;
    size_t count = 0;
    vit_status status = list_folders(&names, &count, NULL, root, error);
    if (status == VIT_OK) status = find_parts(l, names, count, root, error);
    const bool found = has_parts(l);
    if (status == VIT_OK && found) status = find_strays(tree, l, root, error);
    if (status == VIT_OK && !found && count == 1 && depth < MOST_WRAPPED)
        status = join(&inner, root, names[0], error);
    vit_free(names);
    if (status == VIT_OK && inner) status = find_layout(l, tree, inner, depth + 1, error);
    vit_free(inner);
    if (status != VIT_OK || depth > 0 || has_parts(l)) return status;
    l->parts[VIT_TREE_TRAIN] = vit_strdup(root);
    return l->parts[VIT_TREE_TRAIN] ? VIT_OK : vit_fail_memory(error, "a path", strlen(root));
}

/* ---- scanning ---- */

/* The files of val/ or test/, which may have only some of the classes. */
static vit_status scan_other(vit_tree *tree, vit_tree_part *part, const char *directory,
                             vit_error *error) {
    char **names;
    size_t count, label;
    vit_status status = list_folders(&names, &count, tree, directory, error);
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        if (!vit_tree_find_class(tree, names[i], &label))
            status =
                vit_fail(error, VIT_ERROR_MISMATCH,
                         "%s: its folder %s is no class of the training part: move it out of the "
                         "data, or sort its pictures into the folders of classes",
                         directory, names[i]);
        else
            status = walk_class(part, directory, names[i], label, error);
    }
    vit_free(names);
    return status;
}

/* The directory whose folders are the classes: that of the training part, or the one asked for. */
static const char *class_directory(const layout *l, unsigned parts) {
    if (l->parts[VIT_TREE_TRAIN]) return l->parts[VIT_TREE_TRAIN];
    if (!l->parts[VIT_TREE_TEST]) return l->parts[VIT_TREE_VAL];
    return parts & VIT_PART_TEST || !l->parts[VIT_TREE_VAL] ? l->parts[VIT_TREE_TEST]
                                                            : l->parts[VIT_TREE_VAL];
}

static vit_status scan(vit_tree *tree, const layout *l, unsigned parts, vit_error *error) {
    const char *first = class_directory(l, parts), *const *p = (const char *const *)l->parts;
    vit_status status = list_folders(&tree->classes, &tree->class_count, tree, first, error);
    tree->has_train = p[VIT_TREE_TRAIN];
    tree->has_val = p[VIT_TREE_VAL];
    tree->test_is_val = !p[VIT_TREE_TEST] && p[VIT_TREE_VAL];
    tree->is_shared_out = !p[VIT_TREE_TEST] && !p[VIT_TREE_VAL];
    if (status == VIT_OK && tree->class_count > MAX_CLASSES)
        status =
            vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: holds %zu folders, at most %d are read",
                     first, tree->class_count, MAX_CLASSES);
    const unsigned train_for = VIT_PART_TRAIN | (p[VIT_TREE_VAL] ? 0 : VIT_PART_VAL);
    const unsigned val_for = VIT_PART_VAL | (p[VIT_TREE_TEST] ? 0 : VIT_PART_TEST);
    const bool scans_train = p[VIT_TREE_TRAIN] && (parts & train_for || tree->is_shared_out);
    for (size_t i = 0; i < tree->class_count && scans_train && status == VIT_OK; i++)
        status = walk_class(&tree->train, p[VIT_TREE_TRAIN], tree->classes[i], i, error);
    if (status == VIT_OK && tree->is_shared_out) status = vit_tree_share_out(tree, error);
    if (status == VIT_OK && p[VIT_TREE_VAL] && parts & val_for)
        status = scan_other(tree, &tree->val, p[VIT_TREE_VAL], error);
    if (status == VIT_OK && p[VIT_TREE_TEST] && parts & VIT_PART_TEST)
        status = scan_other(tree, &tree->test, p[VIT_TREE_TEST], error);
    return status;
}

void vit_tree_part_free(vit_tree_part *part) {
    for (size_t i = 0; i < part->count; i++) vit_tree_file_free(&part->files[i]);
    vit_free(part->files);
    *part = (vit_tree_part){0};
}

vit_status vit_tree_scan(vit_tree *out, const char *root, unsigned parts,
                         const vit_table_options *options, vit_error *error) {
    layout l = {0};
    vit_error why = {0};
    bool listed = false;
    *out = (vit_tree){0};
    vit_status status = vit_picture_tables
                            ? vit_picture_tables->scan(out, &listed, root, parts, options, &why)
                            : VIT_OK;
    if (listed || status == VIT_ERROR_MEMORY) {
        if (!(parts & VIT_PART_TEST)) vit_tree_part_free(&out->test);
        return status == VIT_OK ? VIT_OK : vit_fail(error, status, "%s", why.message);
    }
    if (status != VIT_OK && !(out->no_table = vit_strdup(why.message)))
        return vit_fail_memory(error, "a message", sizeof why.message);
    if (options->class_column)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: has no table of pictures, so that none has a column %s", root,
                        options->class_column);
    status = find_layout(&l, out, root, 0, error);
    if (status == VIT_OK) status = scan(out, &l, parts, error);
    if (!(parts & VIT_PART_TEST)) vit_tree_part_free(&out->test);
    for (vit_tree_kind k = 0; k < VIT_TREE_KINDS; k++) drop_part(&l, k);
    return status;
}

vit_status vit_tree_list_classes(vit_texts *t, const vit_tree_part *part, vit_error *error) {
    size_t count = 0;
    for (size_t i = 0; i < part->count; i++)
        count += part->files[i].classes ? part->files[i].class_id_count : 1;
    t->ids = vit_alloc(count, sizeof *t->ids);
    t->at = vit_alloc(part->count + 1, sizeof *t->at);
    if (!t->ids || !t->at) return vit_fail_memory(error, "labels", count * sizeof *t->ids);
    for (size_t i = 0; i < part->count; i++) {
        const vit_tree_file *file = &part->files[i];
        const size_t at = t->at[i], own = file->classes ? file->class_id_count : 1;
        for (size_t k = 0; k < own; k++)
            t->ids[at + k] = file->classes ? file->class_ids[k] : file->label;
        t->at[i + 1] = at + own;
    }
    return VIT_OK;
}

void vit_tree_file_free(vit_tree_file *file) {
    vit_free(file->path);
    vit_free(file->problem);
    vit_free(file->classes);
    vit_free(file->class_ids);
    *file = (vit_tree_file){0};
}

void vit_tree_free(vit_tree *tree) {
    vit_tree_part_free(&tree->train);
    vit_tree_part_free(&tree->val);
    vit_tree_part_free(&tree->test);
    if (tree->shards) vit_shard_readers->free(tree->shards);
    vit_free(tree->classes);
    vit_free(tree->stray);
    vit_free(tree->no_table);
    vit_free(tree->source);
    vit_free(tree->parts);
    vit_free(tree->numbers);
    vit_free(tree->naming);
    *tree = (vit_tree){0};
}
