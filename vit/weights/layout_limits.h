/* What the libraries' layouts cannot express of a network. */
#ifndef VIT_WEIGHTS_LAYOUT_LIMITS_H
#define VIT_WEIGHTS_LAYOUT_LIMITS_H

#include "vit/base/text.h"
#include "vit/model/config.h"

typedef enum vit_target {
    VIT_TARGET_TIMM,
    VIT_TARGET_HF,
    VIT_TARGET_TORCHVISION,
    VIT_TARGET_NPZ, /* Google's names, with timm's config beside them */
    VIT_TARGET_ONNX,
    VIT_TARGET_PYTORCH, /* our own names, with a class in Python beside them */
    VIT_TARGET_COUNT,
} vit_target;

/* "timm", "hf", "torchvision", "npz", "onnx", "pytorch", NULL */
extern const char *const vit_target_names[];

/* Appends to `reasons`, separated by "; ", what `target` cannot express of the network. Returns
 * whether the library could still load it and would compute almost the same; true if there are no
 * reasons. */
bool vit_layout_limits(vit_text *reasons, vit_target target, const vit_config *config);

#endif
