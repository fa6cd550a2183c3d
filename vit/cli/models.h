/* Where the model is that a name on the command line means, and which there are. */
#ifndef VIT_CLI_MODELS_H
#define VIT_CLI_MODELS_H

#include "vit/base/error.h"

/* The model file behind `name`, freed by vit_free. In this order: the file of that name; the
 * directory of that name, where it holds weights; NAME.safetensors in $VIT_MODELS, beside the
 * installed programs (../share/vit/models), in the source tree (models/). VIT_ERROR_IO when there
 * is none: the message says where was looked, and how to train one. */
vit_status vit_find_model(char **path, const char *name, vit_error *error);

/* Finds it and loads it, as vit_model_load_with does. */
vit_status vit_load_named_model(vit_model **out, const char *name, const vit_model_options *options,
                                vit_error *error);

/* A model that can be named: `path` is where vit_find_model finds `name`. */
typedef struct vit_named_model {
    char *name, *path;
} vit_named_model;

typedef struct vit_model_list {
    vit_named_model *models;
    size_t count, capacity;
} vit_model_list;

/* All of them, place after place, by name within a place. Freed by vit_free_model_list. */
vit_status vit_list_models(vit_model_list *list, vit_error *error);
void vit_free_model_list(vit_model_list *list);

#endif
