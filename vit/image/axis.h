/* Inside the image floor: the windows and weights of a resampler along one axis. */
#ifndef VIT_IMAGE_AXIS_H
#define VIT_IMAGE_AXIS_H

#include "vit/image/image.h"
#include "vit/kernels/kernels.h"

/* Output sample x is the sum of the `count[x]` quads (4 samples each) of input from first[x] on,
 * weighted; in fixed point of `bits`. Quads that reach beyond the input have weight 0 there. */
typedef struct vit_axis {
    size_t in, out;
    int bits;
    size_t room;               /* quads from one output sample's weights to the next's */
    size_t *first, *count;     /* [out]; NULL: in == out, nothing to do along this axis */
    vit_quad_weights *weights; /* [out][room] */
} vit_axis;

/* Of `in` samples `out`. `filter` is not NEAREST. On failure there is nothing to free. */
vit_status vit_axis_init(vit_axis *axis, size_t in, size_t out, vit_filter filter,
                         vit_arithmetic arithmetic, vit_error *error);
void vit_axis_free(vit_axis *axis);

/* The input samples that the output samples start .. end - 1 need: from 4 first[start] to this. */
size_t vit_axis_end(const vit_axis *axis, size_t end);

#endif
