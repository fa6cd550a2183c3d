/* timm's architectures by name: what each is built of, from timm_models.json, which
 * scripts/timm_models.py makes. */
#ifndef VIT_WEIGHTS_CONFIGS_TIMM_NAMES_H
#define VIT_WEIGHTS_CONFIGS_TIMM_NAMES_H

#include "vit/weights/configs/their_config.h"

/* *out: {"class", "args", "cfg"} of the architecture, owned; NULL: there is none of that name. What
 * follows a dot in the name, the tag of some weights, does not count. Errors: MEMORY. */
vit_status vit_timm_find(json_t **out, const char *architecture, vit_error *error);

/* Arguments of timm's classes Eva and Beit -> those of its VisionTransformer, in place; what that
 * class has not is said of the network in *d. `own`: the arguments that the config itself has.
 * Errors: UNSUPPORTED, naming the argument. */
vit_status vit_timm_translate_eva(vit_their_config *d, json_t *args, vit_error *error);

/* The same of VisionTransformerRelPos, and of NaFlexVit, whose pictures have one size here. */
vit_status vit_timm_translate_relpos(vit_their_config *d, json_t *args, vit_error *error);
vit_status vit_timm_translate_naflex(vit_their_config *d, json_t *args, vit_error *error);

#endif
