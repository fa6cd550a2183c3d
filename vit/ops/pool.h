/* Mean pooling: all tokens of a picture -> one vector, in place of the class token. */
#ifndef VIT_OPS_POOL_H
#define VIT_OPS_POOL_H

#include "vit/ops/exec.h"

/* y: [batch][dim], x: [batch][tokens][dim]: a column's sum is one ascending chain over the tokens,
 * multiplied by 1 / tokens. */
void vit_mean_forward(const vit_exec *exec, float *y, const float *x, size_t batch, size_t tokens,
                      size_t dim);

/* dx[b][t] = dy[b] / tokens. */
void vit_mean_backward(const vit_exec *exec, float *dx, const float *dy, size_t batch,
                       size_t tokens, size_t dim);

#endif
