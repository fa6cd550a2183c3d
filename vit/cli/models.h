/* Where the model is that a name on the command line means. */
#ifndef VIT_CLI_MODELS_H
#define VIT_CLI_MODELS_H

#include "vit/base/error.h"

/* The model file behind `name`, freed by vit_free. In this order: the file of that name; in the
 * directory of that name, model.safetensors; NAME.safetensors in $VIT_MODELS, beside the installed
 * programs (../share/vit/models), in the source tree (models/). VIT_ERROR_IO when there is none:
 * the message says where was looked, and how to train one. */
vit_status vit_find_model(char **path, const char *name, vit_error *error);

#endif
