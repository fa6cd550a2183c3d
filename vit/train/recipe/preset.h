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
    bool says_network;     /* the user has chosen it, and it describes a network */
    bool is_sized_by_data; /* it leaves sizes of the network open: vit_preset_size sets them */
    bool says_epochs, says_flip;
} vit_preset;

/* Loads the preset of that name, or from that file (a name with a '.' or '/' is a file's). ARGUMENT
 * for an unknown name, with the nearest known one. */
vit_status vit_preset_load(vit_preset *out, const char *name_or_path, vit_error *error);

/* The same for name_or_path, or for data_preset if that is NULL. What a file without "model" leaves
 * out is data_preset's. Then each of `sets`, "KEY=VALUE", replaces a value; VALUE is JSON or a
 * word.
 */
vit_status vit_preset_choose(vit_preset *out, const char *name_or_path, const char *data_preset,
                             const char *const *sets, size_t set_count, vit_error *error);

/* Sets sizes of the network that are 0, and epochs and flip unless the preset says them, by the
 * size and the number of the pictures. */
void vit_preset_size(vit_preset *preset, const vit_dataset *data);

/* Fits the preset to the data: vit_preset_size if it is sized by the data; picture size, channels,
 * classes, vocabularies and lengths if it leaves them out. MISMATCH if it says other ones, ARGUMENT
 * for what makes no sense with these data (mirrored digits, ...). Checks the config. */
vit_status vit_preset_fit(vit_preset *preset, const vit_dataset *data, vit_error *error);

/* ---- made from models/presets/ by the Makefile ---- */

typedef struct vit_builtin_preset {
    const char *name, *json;
} vit_builtin_preset;

extern const vit_builtin_preset vit_builtin_presets[]; /* ended by a NULL name */

#endif
