/* Names of classes for models that come without. */
#ifndef VIT_WEIGHTS_LABELS_H
#define VIT_WEIGHTS_LABELS_H

#include "vit/weights/model_file.h"

#define VIT_IMAGENET_CLASSES 1000

/* The names of ImageNet-1k's classes in their order, each with a newline; ended by NULL. */
extern const char *const vit_imagenet_labels[];

/* Gives the model's classes other names. labels: "imagenet-1k", or the path of a file as
 * vit_label_list_read takes it. Errors: MISMATCH unless there are as many names as
 * classes; FORMAT, IO, MEMORY. */
vit_status vit_labels_set(vit_model_file *model, const char *labels, vit_error *error);

/* Names the classes of a model that has 1,000 of them as ImageNet-1k does. */
vit_status vit_labels_set_imagenet(vit_model_file *model, vit_error *error);

#endif
