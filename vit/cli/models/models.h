/* Finds the model that a name on the command line stands for, and lists those that have names. */
#ifndef VIT_CLI_MODELS_MODELS_H
#define VIT_CLI_MODELS_MODELS_H

#include "vit/base/error.h"
#include "vit/cli/parts/program.h"

/* *path: the model that `name` stands for, freed by vit_free. hub:OWNER/NAME: vit_find_in_hub
 * (vit/cli/models/hub.h). Else, in this order: the file of that name;
 * the directory of that name, if it contains weights; NAME.safetensors in $VIT_MODELS, in the
 * installed models (../share/vit/models beside the programs), in the source tree (models/). IO if
 * there is none: the message says where it was looked for, and how to train one. */
vit_status vit_find_model(char **path, const char *name, vit_error *error);

/* Sets $VIT_MODELS, where it is unset, to the first of these directories that is there: the library
 * looks in it for backbones that model files refer to. Called before there are threads. */
void vit_offer_models(void);

/* Finds and loads it; *out is freed by vit_model_free. */
vit_status vit_load_named_model(vit_model **out, const char *name, const vit_model_options *options,
                                vit_error *error);

/* The same as the options of a program say, with the templates of labels in words; and what they
 * say for a model that the program loads itself. */
vit_status vit_load_chosen_model(vit_model **out, const vit_model_choice *from, uint64_t threads,
                                 bool in_place, vit_error *error);
vit_status vit_chosen_model_options(vit_model_options *out, const vit_model_choice *from,
                                    vit_error *error);

/* A named model: vit_find_model finds `name` at `path`. */
typedef struct vit_named_model {
    char *name, *path;
} vit_named_model;

typedef struct vit_model_list {
    vit_named_model *models;
    size_t count, capacity;
} vit_model_list;

/* All named models, in the order of the places above, then of names. Freed by vit_free_model_list.
 */
vit_status vit_list_models(vit_model_list *list, vit_error *error);
void vit_free_model_list(vit_model_list *list);

/* Shows each directory that is looked in for named models, whether it is there or not. */
void vit_show_model_directories(void (*show)(const char *directory, void *context), void *context);

#endif
