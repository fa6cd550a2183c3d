/* GELU, exact: y = x Phi(x), Phi(x) = (1 + erf(x / sqrt 2)) / 2 (Hendrycks, Gimpel: Gaussian Error
 * Linear Units, section 2). Element by element, n of them. */
#ifndef VIT_OPS_GELU_H
#define VIT_OPS_GELU_H

#include "vit/ops/exec.h"

void vit_gelu_forward(const vit_exec *exec, float *y, const float *x, size_t n);

/* dx = dy (Phi(x) + x Phi'(x)); dx may be dy. */
void vit_gelu_backward(const vit_exec *exec, float *dx, const float *dy, const float *x, size_t n);

#endif
