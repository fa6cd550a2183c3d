/* Layer norm over the features of one token (Ba, Kiros, Hinton: Layer Normalization, eq. 4):
 * y = (x - mean) rstd gamma + beta, rstd = 1 / sqrt(variance + eps). x, y: [rows][dim];
 * gamma, beta: [dim]; mean, rstd: [rows], kept for the backward pass. Or an RMS norm (Zhang,
 * Sennrich: Root Mean Square Layer Normalization): y = x rstd gamma, rstd = 1 / sqrt(mean(x^2) +
 * eps). */
#ifndef VIT_OPS_LAYERNORM_H
#define VIT_OPS_LAYERNORM_H

#include "vit/ops/exec.h"
#include <stdbool.h>

typedef struct vit_norm {
    size_t dim;
    float eps;
    bool rms; /* an RMS norm: it has no beta */
    const float *gamma, *beta;
} vit_norm;

typedef struct vit_norm_gradient {
    float *gamma, *beta;
} vit_norm_gradient;

typedef struct vit_norm_state {
    float *mean, *rstd;
} vit_norm_state;

/* y = the layer norm of x; writes state. */
void vit_layernorm_forward(const vit_exec *exec, float *y, const vit_norm_state *state,
                           const float *x, const vit_norm *w, size_t rows);

/* Recomputes the same y from x and state. */
void vit_layernorm_recompute(const vit_exec *exec, float *y, const vit_norm_state *state,
                             const float *x, const vit_norm *w, size_t rows);

/* dx, dgamma, dbeta += their gradients; dx already holds the gradient of the residual path.
 * d->gamma NULL: only dx is wanted. */
void vit_layernorm_backward(const vit_exec *exec, float *dx, const vit_norm_gradient *d,
                            const float *dy, const float *x, const vit_norm_state *state,
                            const vit_norm *w, size_t rows);

/* Rows of `parts` vectors of w->dim floats, each normalised by itself, with the same gamma and
 * beta: qk norm, whose parts are heads (Dehghani et al.: Scaling Vision Transformers to 22 Billion
 * Parameters, section 2). Rows of y and of x are y_row and x_row floats apart. */
typedef struct vit_parts_shape {
    size_t rows, parts, y_row, x_row;
} vit_parts_shape;

/* y = the norms of x, which may be the same array; state: [rows][parts]. */
void vit_layernorm_parts_forward(const vit_exec *exec, float *y, const vit_norm_state *state,
                                 const float *x, const vit_norm *w, const vit_parts_shape *s);

/* dy, rows y_row floats apart, is replaced by dx; dgamma, dbeta as in vit_layernorm_backward.
 * scratch: [parts * w->dim]. */
void vit_layernorm_parts_backward(const vit_exec *exec, float *dy, const vit_norm_gradient *d,
                                  const float *x, const vit_norm_state *state, const vit_norm *w,
                                  const vit_parts_shape *s, float *scratch);

#endif
