/* The nearest neighbours of features, by the cosine of the angle between them, and their vote. */
#ifndef VIT_FEW_SHOT_VOTE_H
#define VIT_FEW_SHOT_VOTE_H

#include "vit/ops/gemm/gemm.h"

/* A training picture and its cosine. */
typedef struct vit_near {
    size_t index;
    float cosine;
} vit_near;

/* out: [count][width] = rows of length 1; a row of zeros stays one. May be in place. */
void vit_unit_rows(float *out, const float *rows, size_t count, size_t width, int threads);

/* nearest: [count][k], the most similar first, the smaller index first where cosines are equal.
 * train: [trained][width], test: [count][width], both of length 1; k <= trained. Errors: MEMORY. */
vit_status vit_find_nearest(vit_near *nearest, size_t k, const float *test, size_t count,
                            const float *train, size_t trained, size_t width,
                            const vit_kernels *kernels, int threads, vit_error *error);

/* votes: [classes] = the sums of exp(cosine / 0.07) of the neighbours of each class (Caron et al.:
 * Emerging Properties in Self-Supervised Vision Transformers; Wu et al.: Unsupervised Feature
 * Learning via Non-Parametric Instance Discrimination, section 3.4). */
#define VIT_VOTE_TEMPERATURE .07
void vit_vote(double *votes, size_t classes, const vit_near *nearest, size_t k,
              const size_t *labels);

#endif
