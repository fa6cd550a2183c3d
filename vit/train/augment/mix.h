/* MixUp and CutMix: a picture is mixed with another one, and so is its target. */
#ifndef VIT_TRAIN_AUGMENT_MIX_H
#define VIT_TRAIN_AUGMENT_MIX_H

#include "vit/train/augment/augment.h"

/* What a picture takes from another one. */
typedef struct vit_mix {
    double share; /* of the other's label in the target; 0: the picture is not mixed */
    vit_box box; /* CutMix (Yun et al.): the other's pixels replace these; height 0: MixUp (Zhang et
                    al.), each value is (1 - share) times its own + share times the other's */
} vit_mix;

/* alpha of MixUp and of CutMix, 0: off; if both are on, each is chosen half of the time. */
typedef struct vit_mixing {
    double mixup, cutmix;
    double pictures; /* the share of the pictures that are mixed */
} vit_mixing;

/* Draws lambda ~ Beta(alpha, alpha); the share is 1 - lambda. CutMix's box has that share of the
 * area and its centre anywhere in the picture; it is cut at the picture's edges, and the share is
 * then that of what is left. */
vit_mix vit_mix_draw(const vit_mixing *mixing, size_t height, size_t width, vit_random *r);

/* Mixes `other` into `image`, [height][width][channels] both. */
void vit_mix_apply(float *image, const float *other, const vit_mix *mix, size_t height,
                   size_t width, size_t channels);

/* A number from Beta(alpha, alpha), by Jöhnk's rejection method. */
double vit_random_beta(vit_random *r, double alpha);

#endif
