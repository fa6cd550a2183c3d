/* What the libraries cannot say of a network: the reasons not to write it in their layout. */
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

/* Adds to `reasons`, separated by "; ", what `target` cannot express of the network; nothing if it
 * can express all of it. Returns whether the library could still build a network that computes
 * almost the same. */
bool vit_layout_limits(vit_text *reasons, vit_target target, const vit_config *config);

#endif
