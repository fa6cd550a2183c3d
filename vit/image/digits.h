/* Digits as MNIST's makers prepared theirs; finding one on any picture is a guest's. */
#ifndef VIT_IMAGE_DIGITS_H
#define VIT_IMAGE_DIGITS_H

#include "vit/image/image.h"

enum { VIT_DIGIT_SIZE = 28 };

typedef struct vit_digit_finder {
    /* vit_image_digit (vit/image/digit/digit.h) */
    vit_status (*find)(vit_image *out, const vit_image *in, const vit_kernels *kernels,
                       vit_error *error);
} vit_digit_finder;

extern const vit_digit_finder *const vit_digit_finders; /* of the list `guests`; NULL: none */

#endif
