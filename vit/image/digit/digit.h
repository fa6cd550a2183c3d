/* A photographed or drawn digit as MNIST's makers would have prepared it. */
#ifndef VIT_IMAGE_DIGIT_DIGIT_H
#define VIT_IMAGE_DIGIT_DIGIT_H

#include "vit/image/image.h"

enum { VIT_DIGIT_SIZE = 28 };

/* The digit on a picture, of any size, white on black, 28 x 28, grey: found on its background,
 * freed of shadows, ruled lines and specks, fitted into 20 x 20 with its shape kept, strokes of
 * MNIST's width and brightness, the centre of mass in the centre. A picture that is so already is
 * copied. One without ink is resized, and out->warning says so. Alpha is dropped. docs/formats.md
 * has the steps. */
vit_status vit_image_digit(vit_image *out, const vit_image *in, const vit_kernels *kernels,
                           vit_error *error);

#endif
