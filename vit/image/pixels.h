/* Making images, for vit/image only. */
#ifndef VIT_IMAGE_PIXELS_H
#define VIT_IMAGE_PIXELS_H

#include "vit/image/image.h"

/* An image of zeros. Messages begin with `what`. Errors: ARGUMENT unless 1 <= width, height <=
 * VIT_IMAGE_MAX_SIDE, width * height <= VIT_IMAGE_MAX_PIXELS, and for channels outside 1..4;
 * MEMORY.
 */
vit_status vit_image_new(vit_image *out, const char *what, size_t width, size_t height,
                         size_t channels, vit_error *error);

#endif
