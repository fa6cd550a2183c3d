/* The answers to a picture some of whose patches are removed: set to 0, the mean picture. */
#ifndef VIT_EXPLAIN_OCCLUDE_H
#define VIT_EXPLAIN_OCCLUDE_H

#include "vit/explain/explainer.h"
#include "vit/maps.h"

typedef enum vit_occlude_kind {
    VIT_OCCLUDE_ONE,  /* picture i: patch i is removed */
    VIT_OCCLUDE_MORE, /* picture i: the i * step patches of the lowest rank are removed */
    VIT_OCCLUDE_LESS, /* picture i: all but these are removed */
    VIT_OCCLUDE_COUNT,
} vit_occlude_kind;

/* A series of such pictures. */
typedef struct vit_occluded {
    vit_occlude_kind kind;
    size_t count, step;             /* pictures; of MORE and LESS: patches from one to the next */
    const size_t *rank;             /* [N] of each patch, from 0; of MORE and LESS */
    const vit_map_options *options; /* whose callback may cancel; or NULL */
} vit_occluded;

/* doubts: [count] = 1 - probability of class `index`; image: [height][width][channels], normalised.
 * Errors: CANCELLED, MEMORY, FORMAT. */
vit_status vit_occlude(double *doubts, const vit_explainer *explainer, const float *image,
                       const vit_occluded *pictures, size_t index, vit_error *error);

/* Points of a curve of vit_map_curve: none of the patches, step, 2 step, ..., all. */
size_t vit_curve_points(size_t patches, size_t step);

/* One of the two curves of vit_map_curves. curve: [vit_curve_points] = probabilities of class
 * `index`; values: [N], the map: the patch of the largest value comes first, of equal ones the
 * first, NaN last. *area: the area below the curve over the share of patches, 0..1, by the
 * trapezoid rule. Errors: MEMORY, FORMAT. */
vit_status vit_map_curve(float *curve, double *area, const vit_explainer *explainer,
                         const float *image, const float *values, bool insertion, size_t step,
                         size_t index, vit_error *error);

#endif
