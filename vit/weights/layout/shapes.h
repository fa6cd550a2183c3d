/* The config of a published network, from the shapes of its tensors and its config file. */
#ifndef VIT_WEIGHTS_LAYOUT_SHAPES_H
#define VIT_WEIGHTS_LAYOUT_SHAPES_H

#include "vit/weights/configs/their_config.h"
#include "vit/weights/layout/layout.h"

/* *out follows from the shapes of the tensors; what the config file declares takes precedence.
 * Whether the two agree is checked when the tensors are loaded. Errors: UNSUPPORTED, saying what to
 * add, where neither tells; MISMATCH, naming the tensor, where one is missing or contradicts the
 * config. */
vit_status vit_config_of_tensors(vit_config *out, const vit_binding *b, const vit_their_config *d,
                                 vit_error *error);

#endif
