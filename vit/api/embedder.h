/* The text encoder of a model that is open already. */
#ifndef VIT_API_EMBEDDER_H
#define VIT_API_EMBEDDER_H

#include "vit/weights/file/open.h"
#include "vit/zero_shot.h"

/* As vit_embedder_load. */
vit_status vit_embedder_new(vit_embedder **out, vit_opened *opened,
                            const vit_embedder_options *options, vit_error *error);

#endif
