/* Augmentation: a picture is moved, mirrored, rotated, scaled, sheared, bent or cropped at random,
 * so that the network sees another one in each epoch. */
#ifndef VIT_TRAIN_AUGMENT_AUGMENT_H
#define VIT_TRAIN_AUGMENT_AUGMENT_H

#include "vit/base/random.h"
#include <stdbool.h>
#include <stddef.h>

/* What is outside of the picture. */
typedef enum vit_edges {
    VIT_EDGES_BLACK,   /* bytes of 0 */
    VIT_EDGES_REFLECT, /* the picture, mirrored at its outermost pixels */
    VIT_EDGES_COUNT,
} vit_edges;

typedef struct vit_picture_shape {
    size_t height, width, channels; /* 1 or 3 */
} vit_picture_shape;

/* A part of a recipe. Ranges; 0: off. */
typedef struct vit_augmentation {
    vit_edges edges;
    size_t shift;   /* moved by at most this many pixels in each direction */
    bool flip;      /* mirrored left to right with probability 1/2 */
    double rotate;  /* by at most this many degrees, left or right */
    double scale;   /* by a factor of 1 - scale to 1 + scale */
    double shear;   /* rows move right by up to this factor times their distance from the centre */
    double elastic; /* alpha of an elastic distortion (Simard et al.: Best Practices for
                       Convolutional Neural Networks): smoothed random displacements */
    double crop;    /* replaces all of these but flip by torchvision's RandomResizedCrop: of this
                       share of the area to all of it, aspect ratio 3:4 to 4:3 */
    double erase;   /* probability of torchvision's RandomErasing: a rectangle of .02 to .33 of the
                       area, aspect ratio .3 to 3.3, becomes 0 after normalisation (the mean) */
} vit_augmentation;

typedef struct vit_box {
    size_t top, left, height, width;
} vit_box;

/* What is done to one picture, in this order, about its centre. */
typedef struct vit_pose {
    bool mirrored;
    double shear, scale, degrees; /* clockwise */
    int dy, dx;
    const float *bend; /* [2][height][width]: added to the y, and to the x, where a pixel of the
                          result is read; NULL: 0 */
} vit_pose;

/* Draws a pose, without a bend, uniformly from the ranges; what is off draws no random numbers. */
vit_pose vit_pose_draw(const vit_augmentation *a, vit_random *r);

/* bend [2][height][width]: two fields of uniform numbers from -1 to 1, smoothed by a Gaussian with
 * sigma = 4 pixels (0 outside of the picture), times a->elastic. For speed they are drawn and
 * smoothed at every second row and column, scaled to keep their standard deviation, and
 * interpolated linearly. scratch: [vit_bend_room] floats. */
size_t vit_bend_room(size_t height, size_t width);
void vit_bend_draw(float *bend, float *scratch, const vit_picture_shape *s,
                   const vit_augmentation *a, vit_random *r);

/* image [height][width][channels] = table[channel][byte] of the pixels, posed. Unless the picture
 * is only moved and mirrored, values are interpolated linearly. */
void vit_pose_apply(float *image, const uint8_t *pixels, float table[3][256],
                    const vit_picture_shape *s, const vit_augmentation *a, const vit_pose *pose);

/* Draws the part of a picture for `crop`: the first of ten tries that fits, else the largest
 * centred one with an aspect ratio of 3:4 to 4:3. */
vit_box vit_crop_draw(const vit_picture_shape *s, const vit_augmentation *a, vit_random *r);

/* image [height][width][channels]: that part, interpolated linearly to the whole size. */
void vit_crop_apply(float *image, const uint8_t *pixels, float table[3][256],
                    const vit_picture_shape *s, const vit_augmentation *a, const vit_box *box,
                    bool mirrored);

/* Draws the rectangle that `erase` removes: the first of ten tries that fits; height 0: none. */
vit_box vit_erase_draw(const vit_picture_shape *s, const vit_augmentation *a, vit_random *r);

#endif
