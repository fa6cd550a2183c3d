/* Names of classes for models that come without. */
#ifndef VIT_WEIGHTS_LABELS_H
#define VIT_WEIGHTS_LABELS_H

#include "vit/base/json.h"
#include "vit/weights/model_file.h"

#define VIT_IMAGENET_CLASSES 1000

/* Of ImageNet-1k, in its order, each with a line's end; NULL after the last. */
extern const char *const vit_imagenet_labels[];

/* Puts names in place of the model's: those of a file, one a line or JSON, ["cat", "dog"] or
 * {"0": "cat", "1": "dog"}, which may stand under "id2label" or "label_names"; or "imagenet-1k".
 * MISMATCH unless there are as many as the model has classes. */
vit_status vit_labels_set(vit_model_file *model, const char *labels, vit_error *error);

/* Names of such a file. *labels: [*count], one block with the names, freed by vit_free. */
vit_status vit_labels_read(char ***labels, size_t *count, const char *path, vit_error *error);

/* ImageNet's, for a model of 1,000 classes without names. */
vit_status vit_labels_set_imagenet(vit_model_file *model, vit_error *error);

/* {"0": "cat", "1": "dog"} as a list, or {"0": [..., "cat"], ...}; NULL: it is no such object. A
 * new reference. */
json_t *vit_labels_list(const json_t *object);

#endif
