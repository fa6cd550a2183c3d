/* A picture without some of its patches, which become 0, the mean picture's. */
#ifndef VIT_EXPLAIN_OCCLUDE_H
#define VIT_EXPLAIN_OCCLUDE_H

#include "vit/explain/explainer.h"

typedef enum vit_occlude_kind {
    VIT_OCCLUDE_ONE,  /* picture i lacks patch i */
    VIT_OCCLUDE_MORE, /* picture i of count lacks the first i / (count - 1) of the patches by rank
                       */
    VIT_OCCLUDE_LESS, /* picture i has only those */
    VIT_OCCLUDE_COUNT,
} vit_occlude_kind;

typedef struct vit_occluded {
    vit_occlude_kind kind;
    size_t count;       /* pictures */
    const size_t *rank; /* [N], of each patch, from 0; not of ONE */
} vit_occluded;

/* doubts: [count], 1 - probability of class `index`; image: normalised. */
vit_status vit_occlude(double *doubts, const vit_explainer *explainer, const float *image,
                       const vit_occluded *pictures, size_t index, vit_error *error);

/* How faithful a map is (Samek et al.: Evaluating the Visualization of What a Deep Neural Network
 * Has Learned): the class's probability as the map's patches are taken away, the largest value
 * first, or are put on the mean picture. curve: [points], from nothing done to all done; values:
 * [N], of which the first of equals comes first, NaN last. Returns in *area the curve's, by the
 * trapezoid rule, over 0..1. points > 1. */
vit_status vit_map_curve(float *curve, double *area, const vit_explainer *explainer,
                         const float *image, const float *values, bool insertion, size_t points,
                         size_t index, vit_error *error);

#endif
