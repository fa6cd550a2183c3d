/* Models by their names on the Hugging Face hub, found in the cache that huggingface_hub keeps. */
#ifndef VIT_CLI_MODELS_HUB_H
#define VIT_CLI_MODELS_HUB_H

#include "vit/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* The part of `name` behind "hub:" or, as timm writes it, "hf-hub:", which is
 * OWNER/NAME[@REVISION]; NULL: it begins with neither. */
const char *vit_hub_name(const char *name);

/* The length of OWNER/NAME at the beginning of a name of the hub. */
size_t vit_hub_repository_length(const char *name);

/* The directory of the cache for all revisions of a name, whether it is there or not; NULL: such a
 * name cannot be, or MEMORY. Freed by vit_free. */
char *vit_hub_repository(const char *name);

/* *path: the directory of the cache that holds it, freed by vit_free; one line on standard error
 * says the revision. The cache is $HF_HUB_CACHE, $HF_HOME/hub or ~/.cache/huggingface/hub. Nothing
 * is downloaded. ARGUMENT: such a name cannot be; IO: it is not there, and the message has the
 * command that downloads it. */
vit_status vit_find_in_hub(char **path, const char *name, vit_error *error);

#endif
