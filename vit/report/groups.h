/* Recipes of several trainings: which are the same, and in what the others differ. */
#ifndef VIT_REPORT_GROUPS_H
#define VIT_REPORT_GROUPS_H

#include "vit/base/error.h"

#include <stddef.h>

/* group[i]: the place of recipes[i] among the different ones, in the order in which they first
 * appear; returns how many these are. recipes: [count] texts. */
size_t vit_recipes_group(size_t *group, const char *const *recipes, size_t count);

/* *out: what recipes[which] has that not all of them have, "lr 0.002, batch 64"; a key that it
 * lacks is "no mixup". Owned by the caller. Errors: FORMAT if a text is no JSON object, MEMORY. */
vit_status vit_recipe_differs(char **out, const char *const *recipes, size_t count, size_t which,
                              vit_error *error);

#endif
