#include "vit/weights/labels.h"
#include "vit/base/label_list.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
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

vit_status vit_labels_set_imagenet(vit_model_file *m, vit_error *error) {
    vit_text text = {0};
    vit_label_list n = {0};
    for (size_t i = 0; vit_imagenet_labels[i]; i++)
        vit_text_add(&text, "%s", vit_imagenet_labels[i]);
    vit_status status =
        text.failed ? vit_fail_memory(error, "ImageNet's names", text.length)
                    : vit_label_list_lines(&n, text.text, text.length, "imagenet-1k", error);
    if (status == VIT_OK) status = take(m, &n, "imagenet-1k", error);
    vit_text_free(&text);
    vit_free(n.labels);
    return status;
}

vit_status vit_labels_set(vit_model_file *m, const char *labels, vit_error *error) {
    vit_label_list n = {0};
    if (!vit_config_has_head(&m->config))
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s: the model is a backbone without a head, which has no classes to name",
                        labels);
    if (strcmp(labels, "imagenet-1k") == 0) return vit_labels_set_imagenet(m, error);
    vit_status status = vit_label_list_read(&n, labels, error);
    if (status == VIT_ERROR_IO) vit_fail_prefix(error, status, "labels (--labels)");
    if (status == VIT_OK) status = take(m, &n, labels, error);
    vit_free(n.labels);
    return status;
}
