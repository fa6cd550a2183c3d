/* Pooling: of the tokens of a picture to one vector, by their mean or by sequence pooling, for
 * networks without a class token; of pixels to a quarter of their number, by max pooling. */
#ifndef VIT_OPS_POOL_H
#define VIT_OPS_POOL_H

#include "vit/ops/linear.h"

typedef struct vit_mean_shape {
    size_t batch, all;        /* x: [batch][all][dim] */
    size_t skip, tokens, dim; /* after `skip` tokens of a picture, the mean is of `tokens` */
    size_t y_row;             /* floats of y from picture to picture */
} vit_mean_shape;

/* y: [batch] rows of dim, the mean over the tokens: a sum as one ascending chain, times 1 / tokens.
 */
void vit_mean_forward(const vit_exec *exec, float *y, const float *x, const vit_mean_shape *s);

/* dx[b][t] = dy[b] / tokens, and 0 for the tokens that are left out. */
void vit_mean_backward(const vit_exec *exec, float *dx, const float *dy, const vit_mean_shape *s);

/* y: [batch] rows of dim, of each feature the largest over the tokens; NaN if one is NaN. */
void vit_largest_forward(float *y, const float *x, const vit_mean_shape *s);

/* dx += factor dy at the token that was the largest, the first of equals. */
void vit_largest_backward(float *dx, const float *dy, float factor, const float *x,
                          const vit_mean_shape *s);

/* Sequence pooling (Hassani et al.: Escaping the Big Data Paradigm with Compact Transformers, eq. 5
 * and 6): y = sum_t p[t] x[t], p = softmax over the tokens of x w^T (a bias would change nothing).
 * scores: [batch][all], scratch; p: [batch] rows of vit_padded(tokens), for the backward
 * pass; w: a layer with one output. */
void vit_sequence_forward(const vit_exec *exec, float *y, float *p, float *scores, const float *x,
                          const vit_linear *w, const vit_mean_shape *s);

/* dx and dw. Scratch: dp, as large as p, and d_scores, as large as scores. */
void vit_sequence_backward(const vit_exec *exec, float *dx, const vit_linear_gradient *d, float *dp,
                           float *d_scores, const float *dy, const float *p, const float *x,
                           const vit_linear *w, const vit_mean_shape *s);

typedef struct vit_max_shape {
    size_t batch, height, width, channels; /* of x; height and width even */
} vit_max_shape;

/* ReLU and max pooling (their order does not matter) of windows of 3x3 pixels, stride 2, padding 1.
 * x: [batch][height][width][C], y and place: [batch][height / 2][width / 2][C]. place, unless it is
 * NULL: which of the nine pixels is the largest, the first of equals, or VIT_NO_PLACE if none is
 * above 0. */
void vit_max_forward(const vit_exec *exec, float *y, uint8_t *place, const float *x,
                     const vit_max_shape *s);

/* dx = the sum of dy over the windows in which this pixel was the largest, in the order of y. */
void vit_max_backward(const vit_exec *exec, float *dx, const float *dy, const uint8_t *place,
                      const vit_max_shape *s);

#endif
