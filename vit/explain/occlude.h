/* A picture without some of its patches, which become 0, the mean picture's. */
#ifndef VIT_EXPLAIN_OCCLUDE_H
#define VIT_EXPLAIN_OCCLUDE_H

#include "vit/explain/explainer.h"
#include "vit/maps.h"

typedef enum vit_occlude_kind {
    VIT_OCCLUDE_ONE,  /* picture i lacks patch i */
    VIT_OCCLUDE_MORE, /* picture i lacks the first i * step patches by rank */
    VIT_OCCLUDE_LESS, /* picture i has only those */
    VIT_OCCLUDE_COUNT,
} vit_occlude_kind;

typedef struct vit_occluded {
    vit_occlude_kind kind;
    size_t count, step;             /* pictures; patches from one to the next, of MORE and LESS */
    const size_t *rank;             /* [N], of each patch, from 0; not of ONE */
    const vit_map_options *options; /* asked whether it goes on; or NULL */
} vit_occluded;

/* doubts: [count], 1 - probability of class `index`; image: normalised. */
vit_status vit_occlude(double *doubts, const vit_explainer *explainer, const float *image,
                       const vit_occluded *pictures, size_t index, vit_error *error);

/* Points of a curve of vit_map_curve. */
size_t vit_curve_points(size_t patches, size_t step);

/* A curve of vit_map_curves. curve: [vit_curve_points], from nothing done to all done; values: [N],
 * of which the first of equals comes first, NaN last. Returns in *area the curve's, by the
 * trapezoid rule, over 0..1. */
vit_status vit_map_curve(float *curve, double *area, const vit_explainer *explainer,
                         const float *image, const float *values, bool insertion, size_t step,
                         size_t index, vit_error *error);

#endif
