/* What the authors of DINOv3 store besides its weights: the periods of its rotary positions, and
 * masks of the biases of queries, keys and values, with which these are multiplied. */
#ifndef VIT_WEIGHTS_LAYOUT_DINOV3_H
#define VIT_WEIGHTS_LAYOUT_DINOV3_H

#include "vit/weights/layout/layout.h"

/* Sets rope_rounded if the file's periods are rounded, and key_bias to false if it has masks, which
 * take the keys' bias away. Errors: UNSUPPORTED for other periods and masks; those of reading;
 * MEMORY. */
vit_status vit_read_dinov3(vit_config *config, const vit_binding *binding, vit_error *error);

#endif
