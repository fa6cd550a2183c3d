/* Names of classes for models that come without. */
#ifndef VIT_WEIGHTS_FILE_LABELS_H
#define VIT_WEIGHTS_FILE_LABELS_H

#include "vit/formats/label_list.h"
#include "vit/text/match.h"
#include "vit/weights/file/model_file.h"

#define VIT_IMAGENET_CLASSES 1000

/* ImageNet-1k's classes in their order: WordNet's number, which is the name of the class's folder,
 * and its name: "n01440764 tench", each with a newline; sorted by the numbers; ended by NULL. */
extern const char *const vit_imagenet_classes[];
#define VIT_SYNSET_LENGTH 9

/* The 80 texts that CLIP's authors put ImageNet's classes into, "a bad photo of a {}.", each with a
 * newline; ended by NULL. */
extern const char *const vit_imagenet_templates[];

/* Gives the model's classes other names. labels: "imagenet-1k", or the path of a file as
 * vit_label_list_read takes it. Errors: MISMATCH unless there are as many names as
 * classes; FORMAT, IO, MEMORY. */
vit_status vit_labels_set(vit_model_file *model, const char *labels, vit_error *error);

/* The partners of `from` among the model's classes, as vit_match_classes finds them. If none has
 * one, the model has ImageNet-1k's number of classes and all of `from` are WordNet's numbers, these
 * decide. *out is freed by vit_match_free. Errors: MEMORY. */
vit_status vit_labels_match(vit_match *out, const vit_classes *from, const vit_model_file *model,
                            vit_error *error);

/* *out: the names of classes in one block of memory, freed by vit_free. Errors: MEMORY. */
vit_status vit_labels_copy(char ***out, const char *const *labels, size_t classes,
                           vit_error *error);
/* The names of ImageNet-1k's classes as a list; out->labels is freed by vit_free. Errors: MEMORY.
 */
vit_status vit_labels_imagenet(vit_label_list *out, vit_error *error);

/* Names the classes of a model that has 1,000 of them as ImageNet-1k does. */
vit_status vit_labels_set_imagenet(vit_model_file *model, vit_error *error);

#endif
