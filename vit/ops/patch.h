/* The patch extractor: x [height][width][channels] -> x_p [patches][patch * patch * channels], the
 * lecture's 28x28x1 -> 4 x 196. Patches go row by row; what is inside one is ordered as the weights
 * of the linear embedding expect it. */
#ifndef VIT_OPS_PATCH_H
#define VIT_OPS_PATCH_H

#include <stddef.h>

typedef enum vit_patch_order {
    VIT_PATCH_CONV,  /* (channel, row, column), as the kernel of a convolution: timm, ... */
    VIT_PATCH_PIXEL, /* (row, column, channel), as the picture lies: the lecture, vit-pytorch */
    VIT_PATCH_COUNT,
} vit_patch_order;

typedef struct vit_patch_shape {
    size_t height, width, channels, patch; /* patch divides height and width */
    vit_patch_order order;
} vit_patch_shape;

/* patches: [height / patch * width / patch][patch * patch * channels] */
void vit_patch_extract(float *patches, const float *image, const vit_patch_shape *s);

/* The way back: every pixel is in one patch. */
void vit_patch_join(float *image, const float *patches, const vit_patch_shape *s);

#endif
