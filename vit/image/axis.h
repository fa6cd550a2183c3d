/* The windows and weights of a resampler along one axis, for resize.c. */
#ifndef VIT_IMAGE_AXIS_H
#define VIT_IMAGE_AXIS_H

#include "vit/image/image.h"
#include "vit/kernels/kernels.h"

/* Output sample x is a weighted sum of count[x] quads (4 input samples each) from quad first[x] on,
 * in fixed point with `bits` fractional bits. Samples of quads past the input have weight 0. */
typedef struct vit_axis {
    size_t in, out; /* samples */
    int bits;
    size_t room;               /* quads of weights for each output sample */
    size_t *first, *count;     /* [out]; NULL: in == out, nothing to do along this axis */
    vit_quad_weights *weights; /* [out][room] */
} vit_axis;

/* Makes `out` samples of `in`. `filter` is not NEAREST. On failure there is nothing to free. */
vit_status vit_axis_init(vit_axis *axis, size_t in, size_t out, vit_filter filter,
                         vit_arithmetic arithmetic, vit_error *error);
void vit_axis_free(vit_axis *axis);

/* Output samples start .. end - 1 need input samples 4 * first[start] up to this one, exclusive. */
size_t vit_axis_end(const vit_axis *axis, size_t end);

#endif
