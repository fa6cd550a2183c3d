/* Preparing a photographed or drawn digit the way MNIST's digits were prepared. */
#ifndef VIT_IMAGE_DIGIT_DIGIT_H
#define VIT_IMAGE_DIGIT_DIGIT_H

#include "vit/image/image.h"

enum { VIT_DIGIT_SIZE = 28 };

/* *out = the digit of a picture of any size, white on black, 28 x 28, grey: found on its
 * background, without shadows, ruled lines and specks, fitted into 20 x 20 with its aspect ratio
 * kept, with strokes of MNIST's width and brightness, its centre of mass in the centre. A picture
 * that is like this already is copied. One without ink is resized, and out->warning says so. Alpha
 * is dropped. docs/formats.md describes the steps. */
vit_status vit_image_digit(vit_image *out, const vit_image *in, const vit_kernels *kernels,
                           vit_error *error);

#endif
