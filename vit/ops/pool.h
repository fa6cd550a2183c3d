/* Pooling: of the tokens of a picture to one vector, in place of the class token, by their mean or
 * by weights of their own; of pixels to a quarter as many. */
#ifndef VIT_OPS_POOL_H
#define VIT_OPS_POOL_H

#include "vit/ops/linear.h"

typedef struct vit_mean_shape {
    size_t batch, skip, tokens,
        dim;      /* x: [batch][skip + tokens][dim], the first `skip` not taken */
    size_t y_row; /* floats of y from picture to picture */
} vit_mean_shape;

/* y: [batch] rows of dim: a column's sum is one ascending chain over the tokens, multiplied by
 * 1 / tokens. */
void vit_mean_forward(const vit_exec *exec, float *y, const float *x, const vit_mean_shape *s);

/* dx[b][t] = dy[b] / tokens, 0 for the tokens that are not taken. */
void vit_mean_backward(const vit_exec *exec, float *dx, const float *dy, const vit_mean_shape *s);

/* Sequence pooling (Hassani et al.: Escaping the Big Data Paradigm with Compact Transformers, eq. 5
 * and 6): y = sum_t p[t] x[t], p = softmax over the tokens of x w^T (a bias would change nothing).
 * scores: [batch][skip + tokens]; p: [batch] rows of vit_padded(tokens); w: one output. */
void vit_sequence_forward(const vit_exec *exec, float *y, float *p, float *scores, const float *x,
                          const vit_linear *w, const vit_mean_shape *s);

/* dp: as p, d_scores: as scores; both are scratch. */
void vit_sequence_backward(const vit_exec *exec, float *dx, const vit_linear_gradient *d, float *dp,
                           float *d_scores, const float *dy, const float *p, const float *x,
                           const vit_linear *w, const vit_mean_shape *s);

typedef struct vit_max_shape {
    size_t batch, height, width, channels; /* of x; height and width even */
} vit_max_shape;

/* y = max(0, x) of 3x3 pixels, stride 2, padding 1: ReLU and max pooling, in either order.
 * x: [batch][height][width][C], y and place: [batch][height / 2][width / 2][C]. place: which of the
 * nine it is, the first of equals, or VIT_NO_PLACE where all are at most 0; NULL: not wanted. */
void vit_max_forward(const vit_exec *exec, float *y, uint8_t *place, const float *x,
                     const vit_max_shape *s);

/* dx += dy where y was found, 0 elsewhere; sums in ascending order of y. */
void vit_max_backward(const vit_exec *exec, float *dx, const float *dy, const uint8_t *place,
                      const vit_max_shape *s);

#endif
