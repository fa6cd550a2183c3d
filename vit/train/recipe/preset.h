/* Presets: an architecture and a recipe, one JSON file each: {"model": {...}, "train": {...}}.
 * Those of models/presets/ are compiled into the library. */
#ifndef VIT_TRAIN_RECIPE_PRESET_H
#define VIT_TRAIN_RECIPE_PRESET_H

#include "datasets/dataset.h"
#include "vit/model/config.h"
#include "vit/train/recipe/recipe.h"

typedef struct vit_preset {
    char name[64]; /* "mnist", or the file's name without .json */
    vit_config config;
    vit_recipe recipe;
    bool says_network;     /* the user chose one that describes a network */
    bool is_sized_by_data; /* it leaves sizes of the network open: these, and epochs and flip where
                              it does not say them, follow from the size and the number of pictures
                            */
    bool says_epochs, says_flip;
} vit_preset;

/* The preset of that name, or of that file (a name with a '.' or '/' is a file). Unknown names are
 * refused with the nearest known one. */
vit_status vit_preset_load(vit_preset *out, const char *name_or_path, vit_error *error);

/* The same, where it may be NULL: `data_preset` then, which is also the rest of a file that is a
 * recipe alone. Each of `sets`, "KEY=VALUE", then says another value: of JSON, or a word. */
vit_status vit_preset_choose(vit_preset *out, const char *name_or_path, const char *data_preset,
                             const char *const *sets, size_t set_count, vit_error *error);

/* Chooses what is left open of a preset that is sized by the data. */
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
