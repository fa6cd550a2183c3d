/* Mean pooling: tokens of a picture -> one vector, in place of the class token. */
#ifndef VIT_OPS_POOL_H
#define VIT_OPS_POOL_H

#include "vit/ops/exec.h"

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

#endif
