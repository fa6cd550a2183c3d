#include "datasets/shards/class_texts.h"

#include <inttypes.h>
#include <string.h>

#define MOST_CLASSES 65536

typedef struct vit_class_text {
    char *text;
    uint16_t id;     /* in the order in which they were added */
    uint16_t number; /* of the class */
} class_text;

/* Where the text is, or would be. */
static size_t find(const vit_class_texts *c, const char *text, bool *found) {
    size_t low = 0, high = c->count;
    *found = false;
    while (low < high && !*found) {
        const size_t middle = (low + high) / 2;
        const int order = strcmp(text, c->texts[middle].text);
        if (order > 0) low = middle + 1;
        if (order < 0) high = middle;
        *found = order == 0;
        if (*found) low = middle;
    }
    return low;
}

vit_status vit_class_texts_add(uint16_t *id, vit_class_texts *c, const char *text,
                               vit_error *error) {
    bool found;
    const size_t at = find(c, text, &found);
    if (found) {
        *id = c->texts[at].id;
        return VIT_OK;
    }
    if (c->count == MOST_CLASSES)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED, "there are more than %d classes",
                        MOST_CLASSES);
    if (!VIT_MAKE_ROOM(c->texts, c->count, c->capacity, "classes", error)) return VIT_ERROR_MEMORY;
    char *copy = vit_strdup(text);
    if (!copy) return vit_fail_memory(error, "a class", strlen(text));
    memmove(c->texts + at + 1, c->texts + at, (c->count - at) * sizeof *c->texts);
    *id = (uint16_t)c->count++;
    c->texts[at] = (class_text){copy, *id, 0};
    return VIT_OK;
}

const char *vit_class_texts_get(const vit_class_texts *c, uint16_t id) {
    for (size_t i = 0; i < c->count; i++)
        if (c->texts[i].id == id) return c->texts[i].text;
    return NULL;
}

void vit_class_texts_free(vit_class_texts *c) {
    for (size_t i = 0; i < c->count; i++) vit_free(c->texts[i].text);
    vit_free(c->texts);
    *c = (vit_class_texts){0};
}

/* Numbers are indices; *count = the classes. */
static vit_status take_numbers(vit_class_texts *c, size_t *count, const vit_label_list *names,
                               const char *where, vit_error *error) {
    uint64_t most = 0, number = 0;
    for (size_t i = 0; i < c->count; i++) {
        vit_parse_u64(c->texts[i].text, &number);
        if (number > most) most = number;
        c->texts[i].number = (uint16_t)number;
    }
    if (most >= MOST_CLASSES)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: class %" PRIu64 ", expected at most %d",
                        where, most, MOST_CLASSES - 1);
    if (names->labels && most >= names->count)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: a picture has class %" PRIu64 ", but its classes.txt names %zu "
                        "classes, from 0 on",
                        where, most, names->count);
    *count = names->labels ? names->count : (size_t)most + 1;
    return VIT_OK;
}

/* Names are those of the list, or are numbered as they are sorted. */
static vit_status take_names(vit_class_texts *c, size_t *count, const vit_label_list *names,
                             const char *where, vit_error *error) {
    for (size_t i = 0; i < c->count; i++) {
        size_t k = 0;
        while (k < names->count && strcmp(names->labels[k], c->texts[i].text) != 0) k++;
        if (names->labels && k == names->count)
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "%s: a picture has class %.200s, which is neither a number nor in its "
                            "classes.txt",
                            where, c->texts[i].text);
        c->texts[i].number = (uint16_t)(names->labels ? k : i);
    }
    *count = names->labels ? names->count : c->count;
    return VIT_OK;
}

/* The names of the classes, one block, as those of the tree. */
static vit_status name_classes(vit_tree *tree, const vit_class_texts *c, size_t count,
                               const vit_label_list *names, vit_error *error) {
    vit_string all = {0};
    for (size_t i = 0; i < count; i++) {
        if (names->labels)
            vit_string_add(&all, "%s", names->labels[i]);
        else if (tree->are_numbers)
            vit_string_add(&all, "%zu", i);
        else
            vit_string_add(&all, "%s", c->texts[i].text);
        vit_string_add_bytes(&all, "", 1);
    }
    tree->classes = all.failed ? NULL : vit_alloc(count * sizeof *tree->classes + all.length, 1);
    char *at = tree->classes ? (char *)(tree->classes + count) : NULL;
    if (at) memcpy(at, all.text, all.length);
    for (size_t i = 0; at && i < count; i++, at += strlen(at) + 1) tree->classes[i] = at;
    vit_string_free(&all);
    if (!tree->classes) return vit_fail_memory(error, "names of classes", count);
    tree->class_count = count;
    return VIT_OK;
}

static void relabel(vit_tree_part *part, const vit_tree *tree, const uint16_t *numbers) {
    for (size_t i = 0; i < part->count; i++) {
        vit_tree_file *file = &part->files[i];
        if (file->problem) continue;
        file->label = numbers[file->label];
        file->class = tree->classes[file->label];
    }
}

vit_status vit_class_texts_resolve(vit_class_texts *c, vit_tree *tree, const vit_listing *directory,
                                   vit_error *error) {
    vit_label_list names;
    uint64_t number;
    size_t count = 0;
    bool all_numbers = true;
    vit_status status = vit_class_names_read(&names, directory, error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < c->count; i++)
        all_numbers = all_numbers && vit_parse_u64(c->texts[i].text, &number);
    tree->are_numbers = all_numbers && !names.labels;
    status = all_numbers ? take_numbers(c, &count, &names, directory->path, error)
                         : take_names(c, &count, &names, directory->path, error);
    if (status == VIT_OK) status = name_classes(tree, c, count, &names, error);
    vit_free(names.labels);
    uint16_t *numbers = status == VIT_OK ? vit_alloc(c->count, sizeof *numbers) : NULL;
    if (status == VIT_OK && !numbers) status = vit_fail_memory(error, "classes", c->count * 2);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < c->count; i++) numbers[c->texts[i].id] = c->texts[i].number;
    relabel(&tree->train, tree, numbers);
    relabel(&tree->val, tree, numbers);
    relabel(&tree->test, tree, numbers);
    vit_free(numbers);
    return VIT_OK;
}
