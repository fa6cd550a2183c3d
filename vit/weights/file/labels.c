#include "vit/weights/file/labels.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/label_list.h"
#include <stdlib.h>
#include <string.h>

/* Moves the names into the model. */
static vit_status take(vit_model_file *m, vit_label_list *n, const char *name, vit_error *error) {
    if (n->count != m->config.classes)
        return vit_fail(error, VIT_ERROR_MISMATCH, "%s has %zu name%s, the model %zu classes", name,
                        n->count, n->count == 1 ? "" : "s", m->config.classes);
    vit_free(m->labels);
    m->labels = n->labels;
    n->labels = NULL;
    return VIT_OK;
}

vit_status vit_labels_imagenet(vit_label_list *out, vit_error *error) {
    vit_string text = {0};
    *out = (vit_label_list){0};
    for (size_t i = 0; vit_imagenet_classes[i]; i++)
        vit_string_add(&text, "%s", vit_imagenet_classes[i] + VIT_SYNSET_LENGTH + 1);
    const vit_status status =
        text.failed ? vit_fail_memory(error, "ImageNet's names", text.length)
                    : vit_label_list_lines(out, text.text, text.length, "imagenet-1k", error);
    vit_string_free(&text);
    return status;
}

vit_status vit_labels_set_imagenet(vit_model_file *m, vit_error *error) {
    vit_label_list n;
    vit_status status = vit_labels_imagenet(&n, error);
    if (status == VIT_OK) status = take(m, &n, "imagenet-1k", error);
    vit_free(n.labels);
    return status;
}

static int compare_synsets(const void *name, const void *synset) {
    return strncmp(name, *(const char *const *)synset, VIT_SYNSET_LENGTH);
}

static bool is_synset(const char *name) {
    return name[0] == 'n' && strlen(name) == VIT_SYNSET_LENGTH &&
           strspn(name + 1, "0123456789") == VIT_SYNSET_LENGTH - 1;
}

/* Matches the names of ImageNet's folders. */
static void match_synsets(vit_match *m, const vit_classes *from) {
    for (size_t i = 0; i < from->count; i++)
        if (!is_synset(from->names[i])) return;
    m->by = VIT_BY_NAME;
    for (size_t i = 0; i < from->count; i++) {
        const char *const *found =
            bsearch(from->names[i], vit_imagenet_classes, VIT_IMAGENET_CLASSES,
                    sizeof *vit_imagenet_classes, compare_synsets);
        m->to[i] = found ? (size_t)(found - vit_imagenet_classes) : VIT_NO_CLASS;
    }
    vit_match_count(m, VIT_IMAGENET_CLASSES);
}

vit_status vit_labels_match(vit_match *out, const vit_classes *from, const vit_model_file *m,
                            vit_error *error) {
    const vit_classes to = {(const char *const *)m->labels, m->config.classes};
    const vit_status status = vit_match_classes(out, from, &to, error);
    if (status == VIT_OK && from->names && to.count == VIT_IMAGENET_CLASSES &&
        (out->lost == from->count || out->by == VIT_BY_ORDER))
        match_synsets(out, from);
    return status;
}

/* MISMATCH if a name that the model has stands at another place in the list: the order of such a
 * list is not that of the model's answers. */
static vit_status check_places(const vit_model_file *m, const vit_label_list *n, const char *name,
                               vit_error *error) {
    const vit_classes ours = {(const char *const *)m->labels, m->config.classes},
                      theirs = {(const char *const *)n->labels, n->count};
    vit_match match;
    if (!m->labels || ours.count != theirs.count) return VIT_OK;
    vit_status status = vit_match_classes(&match, &theirs, &ours, error);
    for (size_t i = 0; status == VIT_OK && match.by == VIT_BY_NAME && i < n->count; i++)
        if (match.to[i] != VIT_NO_CLASS && match.to[i] != i)
            status = vit_fail(error, VIT_ERROR_MISMATCH,
                              "%s: \"%s\" is its class %zu, but the model has this name for its "
                              "class %zu: the list is in another order than the model's answers",
                              name, n->labels[i], i, match.to[i]);
    vit_match_free(&match);
    return status;
}

vit_status vit_labels_set(vit_model_file *m, const char *labels, vit_error *error) {
    vit_label_list n = {0};
    if (!vit_config_has_head(&m->config))
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s: the model is a backbone without a head, which has no classes to name",
                        labels);
    if (strcmp(labels, "imagenet-1k") == 0) return vit_labels_set_imagenet(m, error);
    if (vit_path_look(labels) == VIT_PATH_NONE && strchr(labels, ','))
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "labels \"%.200s\": the model is a classifier with %zu classes of its own: "
                        "words need a CLIP or SigLIP model, and a file can give these classes "
                        "other names",
                        labels, m->config.classes);
    vit_status status = vit_label_list_read(&n, labels, error);
    if (status == VIT_ERROR_IO) vit_fail_prefix(error, status, "labels (--labels)");
    if (status == VIT_OK) status = check_places(m, &n, labels, error);
    if (status == VIT_OK) status = take(m, &n, labels, error);
    vit_free(n.labels);
    return status;
}

vit_status vit_labels_copy(char ***out, const char *const *labels, size_t classes,
                           vit_error *error) {
    size_t bytes = classes * sizeof(char *);
    for (size_t i = 0; i < classes; i++) bytes += strlen(labels[i]) + 1;
    *out = vit_alloc(1, bytes);
    if (!*out) return vit_fail_memory(error, "labels", bytes);
    char *text = (char *)(*out + classes);
    for (size_t i = 0; i < classes; i++) {
        const size_t size = strlen(labels[i]) + 1;
        (*out)[i] = memcpy(text, labels[i], size);
        text += size;
    }
    return VIT_OK;
}
