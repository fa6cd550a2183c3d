/* Layer norm over the features of one token (Ba, Kiros, Hinton: Layer Normalization, eq. 4):
 * y = (x - mean) rstd gamma + beta, rstd = 1 / sqrt(variance + eps). x, y: [rows][dim];
 * gamma, beta: [dim]; mean, rstd: [rows], kept for the backward pass. */
#ifndef VIT_OPS_LAYERNORM_H
#define VIT_OPS_LAYERNORM_H

#include "vit/ops/exec.h"

typedef struct vit_norm {
    size_t dim;
    float eps;
    const float *gamma, *beta;
} vit_norm;

typedef struct vit_norm_gradient {
    float *gamma, *beta;
} vit_norm_gradient;

typedef struct vit_norm_state {
    float *mean, *rstd;
} vit_norm_state;

void vit_layernorm_forward(const vit_exec *exec, float *y, const vit_norm_state *state,
                           const float *x, const vit_norm *w, size_t rows);

/* The same y once more, from what is kept. */
void vit_layernorm_recompute(const vit_exec *exec, float *y, const vit_norm_state *state,
                             const float *x, const vit_norm *w, size_t rows);

/* dx += ..., dgamma += ..., dbeta += ...: dx holds the gradient of the residual path already.
 * d->gamma NULL: only dx is wanted. */
void vit_layernorm_backward(const vit_exec *exec, float *dx, const vit_norm_gradient *d,
                            const float *dy, const float *x, const vit_norm_state *state,
                            const vit_norm *w, size_t rows);

/* A norm of each part of a row, with one gamma and beta for all: qk norm (Dehghani et al.: Scaling
 * Vision Transformers to 22 Billion Parameters, section 2). x, y: [rows] of parts * w->dim floats,
 * x_row and y_row apart, may be one array; state: [rows][parts]. */
typedef struct vit_parts_shape {
    size_t rows, parts, y_row, x_row;
} vit_parts_shape;

void vit_layernorm_parts_forward(const vit_exec *exec, float *y, const vit_norm_state *state,
                                 const float *x, const vit_norm *w, const vit_parts_shape *s);

/* dy becomes dx, y_row apart; scratch: [parts * w->dim]. */
void vit_layernorm_parts_backward(const vit_exec *exec, float *dy, const vit_norm_gradient *d,
                                  const float *x, const vit_norm_state *state, const vit_norm *w,
                                  const vit_parts_shape *s, float *scratch);

#endif
