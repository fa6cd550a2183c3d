/* The patch extractor: x [height][width][channels] -> x_p [patches][patch * patch * channels], the
 * lecture's 28x28x1 -> 4 x 196. Patches are in row-major order; the order of numbers inside a patch
 * is the one that the weights of the linear embedding expect. */
#ifndef VIT_OPS_PATCH_H
#define VIT_OPS_PATCH_H

#include <stddef.h>

typedef enum vit_patch_order {
    VIT_PATCH_CONV,  /* (channel, row, column), as in the kernel of a convolution: timm, ... */
    VIT_PATCH_PIXEL, /* (row, column, channel), as in the picture: the lecture, vit-pytorch */
    VIT_PATCH_COUNT,
} vit_patch_order;

typedef struct vit_patch_shape {
    size_t height, width, channels, patch; /* patch divides height and width */
    vit_patch_order order;
} vit_patch_shape;

/* image: [height][width][channels];
 * patches: [height / patch * width / patch][patch * patch * channels]. */
void vit_patch_extract(float *patches, const float *image, const vit_patch_shape *s);

/* The inverse. Every pixel is in exactly one patch, so this is also the backward pass. */
void vit_patch_join(float *image, const float *patches, const vit_patch_shape *s);

#endif
