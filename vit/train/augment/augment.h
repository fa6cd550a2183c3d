/* Augmentation: a picture moved, mirrored, turned, scaled and sheared at random, so that no epoch
 * shows the same one. */
#ifndef VIT_TRAIN_AUGMENT_AUGMENT_H
#define VIT_TRAIN_AUGMENT_AUGMENT_H

#include "vit/base/random.h"
#include <stdbool.h>
#include <stddef.h>

/* What lies outside of a picture. */
typedef enum vit_edges {
    VIT_EDGES_BLACK,   /* bytes that are 0 */
    VIT_EDGES_REFLECT, /* the picture, mirrored at its outermost pixels */
    VIT_EDGES_COUNT,
} vit_edges;

typedef struct vit_augmentation {
    size_t height, width, channels;
    vit_edges edges;
    size_t shift;   /* up to so many pixels each way */
    bool flip;      /* mirrored left to right, every other time */
    double rotate;  /* by up to so many degrees either way */
    double scale;   /* by 1 - scale to 1 + scale */
    double shear;   /* a row goes right by up to so many of its distance from the centre */
    double elastic; /* alpha of Simard et al.: Best Practices for Convolutional Neural Networks:
                       every pixel comes from elsewhere, neighbours from near each other */
    double crop;  /* in place of the others but flip: torchvision's RandomResizedCrop, of this share
                     of the area to all of it, its sides 3:4 to 4:3 */
    double erase; /* so often, torchvision's RandomErasing: a rectangle of .02 to .33 of the area,
                     its sides .3 to 3.3, becomes 0 after normalisation, the mean */
} vit_augmentation;

typedef struct vit_box {
    size_t top, left, height, width;
} vit_box;

/* What is done to one picture, in this order, about its centre. */
typedef struct vit_pose {
    bool mirrored;
    double shear, scale, degrees; /* clockwise */
    int dy, dx;
    const float *bend; /* [2][height][width]: how far below and to the right of there a pixel comes
                          from; NULL: no further */
} vit_pose;

/* Uniform in the ranges above; what is off draws no random numbers. */
vit_pose vit_pose_draw(const vit_augmentation *a, vit_random *r);

/* bend: as above, two fields of numbers from -1 to 1, smoothed by a Gaussian of 4 pixels, outside
 * of the picture being 0, times a->elastic; scratch: as many floats as
 * vit_bend_room says. Of the numbers those of every second row and column are drawn, so much
 * smaller that their smoothed values are as large; between them the fields are linear. */
size_t vit_bend_room(size_t height, size_t width);
void vit_bend_draw(float *bend, float *scratch, const vit_augmentation *a, vit_random *r);

/* image: [height][width][channels] = table[channel][byte] of pixels, posed. Turned, scaled or
 * sheared, the values are interpolated linearly. */
void vit_pose_apply(float *image, const uint8_t *pixels, float table[3][256],
                    const vit_augmentation *a, const vit_pose *pose);

/* The part of a picture that `crop` takes: the first of ten draws that fits, or the largest in the
 * middle whose sides are 3:4 to 4:3. */
vit_box vit_crop_draw(const vit_augmentation *a, vit_random *r);

/* image: that part, interpolated linearly to the whole size, perhaps mirrored. */
void vit_crop_apply(float *image, const uint8_t *pixels, float table[3][256],
                    const vit_augmentation *a, const vit_box *box, bool mirrored);

/* What `erase` takes away: nothing (of no height), or the first of ten draws that fits. */
vit_box vit_erase_draw(const vit_augmentation *a, vit_random *r);

#endif
