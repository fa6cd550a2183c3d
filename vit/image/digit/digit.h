/* Preparing a photographed or drawn digit the way MNIST's digits were prepared. */
#ifndef VIT_IMAGE_DIGIT_DIGIT_H
#define VIT_IMAGE_DIGIT_DIGIT_H

#include "vit/image/digits.h"

/* *out = the digit of a picture of any size, white on black, 28 x 28, grey: found on its
 * background, without shadows, ruled lines and specks, fitted into 20 x 20 with its aspect ratio
 * kept, with strokes of MNIST's width and brightness, its centre of mass in the centre. A picture
 * that is like this already is copied. One without ink is resized, and out->warning says so. Alpha
 * is dropped.
 *
 * 1. It becomes grey, the longer side 256 to 640 pixels (at most 40 pixels: three times the size).
 * 2. The ground is the picture without dark, narrow things (a morphological closing, at two
 *    widths); ink is darker. Light ink is found on the negative.
 * 3. At several thresholds printed lines are removed; the digit is the connected part with the
 *    longest sharp edges, and the strokes near it.
 * 4. Strokes become 0.075 to 0.17 of the longer side thick; the digit is shrunk to 20 on the longer
 *    side, and its centre of mass comes to pixel 14. */
vit_status vit_image_digit(vit_image *out, const vit_image *in, const vit_kernels *kernels,
                           vit_error *error);

#endif
