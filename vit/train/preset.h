/* Presets: an architecture and a recipe, one JSON file each: {"model": {...}, "train": {...}}.
 * Those of models/presets/ are compiled into the library. */
#ifndef VIT_TRAIN_PRESET_H
#define VIT_TRAIN_PRESET_H

#include "datasets/dataset.h"
#include "vit/model/config.h"
#include "vit/train/recipe.h"

typedef struct vit_preset {
    char name[64]; /* "mnist", or the file's name without .json */
    vit_config config;
    vit_recipe recipe;
    bool is_sized_by_data; /* the builtin preset "folder": its network, epochs and flip follow from
                              the size and the number of the pictures */
} vit_preset;

/* The preset of that name, or of that file (a name with a '.' or '/' is a file). Unknown names are
 * refused with the nearest known one. */
vit_status vit_preset_load(vit_preset *out, const char *name_or_path, vit_error *error);

/* Chooses network, epochs and flip of a preset that is sized by the data. */
void vit_preset_size(vit_preset *preset, const vit_dataset *data);

/* Does that where the preset is such a one, and gives the config the data's
 * picture size, channels and classes where the preset leaves them out; MISMATCH where it says
 * something else, ARGUMENT where digits would be mirrored. Checks the result. */
vit_status vit_preset_fit(vit_preset *preset, const vit_dataset *data, vit_error *error);

/* ---- made from models/presets/ by the Makefile ---- */

typedef struct vit_builtin_preset {
    const char *name, *json;
} vit_builtin_preset;

extern const vit_builtin_preset vit_builtin_presets[]; /* ended by a NULL name */

#endif
