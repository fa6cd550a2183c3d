/* Augmentation: a picture moved, mirrored, turned, scaled and sheared at random, so that no epoch
 * shows the same one. */
#ifndef VIT_TRAIN_AUGMENT_H
#define VIT_TRAIN_AUGMENT_H

#include "vit/base/random.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct vit_augmentation {
    size_t height, width, channels;
    size_t shift;  /* up to so many pixels each way */
    bool flip;     /* mirrored left to right, every other time */
    double rotate; /* by up to so many degrees either way */
    double scale;  /* by 1 - scale to 1 + scale */
    double shear;  /* a row goes right by up to so many of its distance from the centre */
} vit_augmentation;

/* What is done to one picture, in this order, about its centre. */
typedef struct vit_pose {
    bool mirrored;
    double shear, scale, degrees; /* clockwise */
    int dy, dx;
} vit_pose;

/* Uniform in the ranges above; what is off draws no random numbers. */
vit_pose vit_pose_draw(const vit_augmentation *a, vit_random *r);

/* image: [height][width][channels] = table[channel][byte] of pixels, posed; bytes that come in from
 * outside are 0. Turned, scaled or sheared, the values are interpolated linearly. */
void vit_pose_apply(float *image, const uint8_t *pixels, float table[3][256],
                    const vit_augmentation *a, const vit_pose *pose);

#endif
