/* Pictures mixed of two, whose target is mixed as well. */
#ifndef VIT_TRAIN_AUGMENT_MIX_H
#define VIT_TRAIN_AUGMENT_MIX_H

#include "vit/train/augment/augment.h"

/* What a picture takes of another. */
typedef struct vit_mix {
    double share; /* of the other's label in the target; 0: it is not mixed */
    vit_box box; /* CutMix (Yun et al.): these pixels are the other's; of no height: MixUp (Zhang et
                    al.): every value is (1 - share) its own + share the other's */
} vit_mix;

/* Which pictures are mixed, and how: alpha of MixUp and of CutMix, 0: not in that way; where both
 * are above 0, each is chosen every other time. */
typedef struct vit_mixing {
    double mixup, cutmix;
    double pictures; /* the share of them that is mixed */
} vit_mixing;

/* lambda ~ Beta(alpha, alpha); the share is 1 - lambda. A box has that share of the area, its
 * centre anywhere; what is outside of the picture is cut off, and the share becomes that of the
 * rest. */
vit_mix vit_mix_draw(const vit_mixing *mixing, size_t height, size_t width, vit_random *r);

/* image and other: [height][width][channels]. */
void vit_mix_apply(float *image, const float *other, const vit_mix *mix, size_t height,
                   size_t width, size_t channels);

/* Beta(alpha, alpha) by Johnk's rejection. */
double vit_random_beta(vit_random *r, double alpha);

#endif
