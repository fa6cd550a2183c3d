/* The function between the two layers of an MLP, element by element, n of them:
 *   GELU, exact: y = x Phi(x), Phi(x) = (1 + erf(x / sqrt 2)) / 2 (Hendrycks, Gimpel: Gaussian
 * Error Linear Units, section 2), as in a ViT; ReLU: y = max(0, x), as in the original Transformer
 * (Vaswani et al., eq. 2). */
#ifndef VIT_OPS_ACTIVATION_H
#define VIT_OPS_ACTIVATION_H

#include "vit/ops/exec.h"

typedef enum vit_activation {
    VIT_GELU,
    VIT_RELU,
} vit_activation;

/* y may be x. */
void vit_activation_forward(const vit_exec *exec, vit_activation f, float *y, const float *x,
                            size_t n);

/* dx = dy f'(x); dx may be dy. ReLU's slope at 0 is 0. */
void vit_activation_backward(const vit_exec *exec, vit_activation f, float *dx, const float *dy,
                             const float *x, size_t n);

#endif
