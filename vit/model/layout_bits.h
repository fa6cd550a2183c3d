/* Short names of the layouts in vit_layout_limit.layouts, for the files that have such limits. */
#ifndef VIT_MODEL_LAYOUT_BITS_H
#define VIT_MODEL_LAYOUT_BITS_H

#include "vit/model/switches.h"

enum {
    TIMM = 1 << VIT_TARGET_TIMM,
    HF = 1 << VIT_TARGET_HF,
    TORCHVISION = 1 << VIT_TARGET_TORCHVISION,
    NPZ = 1 << VIT_TARGET_NPZ,
    ALL = TIMM | HF | TORCHVISION | NPZ,
};

#endif
