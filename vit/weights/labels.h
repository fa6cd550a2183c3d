/* Names of classes for models that come without. */
#ifndef VIT_WEIGHTS_LABELS_H
#define VIT_WEIGHTS_LABELS_H

#include "vit/base/json.h"
#include "vit/weights/model_file.h"

#define VIT_IMAGENET_CLASSES 1000

/* The names of ImageNet-1k's classes in their order, each with a newline; ended by NULL. */
extern const char *const vit_imagenet_labels[];

/* Gives the model's classes other names. labels: "imagenet-1k", or the path of a file with one name
 * a line, or JSON: ["cat", "dog"] or {"0": "cat", "1": "dog"}, which may be the value of
 * "id2label", "label_names" or "labels". Errors: MISMATCH unless there are as many names as
 * classes; FORMAT, IO, MEMORY. */
vit_status vit_labels_set(vit_model_file *model, const char *labels, vit_error *error);

/* The names in such a file. *labels: [*count], one block with the names, freed by vit_free. */
vit_status vit_labels_read(char ***labels, size_t *count, const char *path, vit_error *error);

/* Names the classes of a model that has 1,000 of them as ImageNet-1k does. */
vit_status vit_labels_set_imagenet(vit_model_file *model, vit_error *error);

/* {"0": "cat", "1": "dog"}, or {"0": [..., "cat"], ...}, as the list ["cat", "dog"]; a new
 * reference. NULL: it is no such object. */
json_t *vit_labels_list(const json_t *object);

#endif
