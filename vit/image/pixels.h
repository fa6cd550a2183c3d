/* Making images and checking their sizes, for vit/image only. */
#ifndef VIT_IMAGE_PIXELS_H
#define VIT_IMAGE_PIXELS_H

#include "vit/image/image.h"

/* ARGUMENT unless 1 <= width, height <= VIT_IMAGE_MAX_SIDE and width * height <=
 * VIT_IMAGE_MAX_PIXELS; sizes that pass can be multiplied without overflow. Messages begin with
 * `what`. */
vit_status vit_image_check_size(const char *what, size_t width, size_t height, vit_error *error);

/* An image of zeros. Errors: ARGUMENT as above and for channels outside 1..4, MEMORY. */
vit_status vit_image_new(vit_image *out, const char *what, size_t width, size_t height,
                         size_t channels, vit_error *error);

#endif
