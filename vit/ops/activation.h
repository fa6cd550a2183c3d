/* Activation functions, applied to every element between the two layers of an MLP:
 *   - GELU: y = x Phi(x), Phi(x) = (1 + erf(x / sqrt 2)) / 2 (Hendrycks, Gimpel: Gaussian Error
 *     Linear Units, section 2), as in a ViT;
 *   - ReLU: y = max(0, x), as in the original Transformer (Vaswani et al., eq. 2);
 *   - two approximations of GELU from the same paper, for weights that were trained with them:
 *     y = x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2 and y = x sigma(1.702 x);
 *   - SiLU: y = x sigma(x), in gated MLPs. */
#ifndef VIT_OPS_ACTIVATION_H
#define VIT_OPS_ACTIVATION_H

#include "vit/ops/exec.h"

typedef enum vit_activation {
    VIT_GELU,
    VIT_RELU,
    VIT_GELU_TANH,
    VIT_GELU_QUICK,
    VIT_SILU,
    VIT_ACTIVATION_COUNT,
} vit_activation;

/* A row for each activation, in the order of vit_activation. */
typedef struct vit_activation_row {
    vit_activation value;
    const char *name, *hf, *timm; /* our name, and those in Hugging Face's and timm's configs; NULL:
                                     the library has it not */
    const char *aliases[4];       /* other names in such configs; the rest is NULL */
    void (*forward)(const vit_kernels *k, float *y, const float *x, size_t n);
    void (*backward)(const vit_kernels *k, float *dx, float *y, const float *dy, const float *x,
                     size_t n);
} vit_activation_row;

extern const vit_activation_row vit_activations[];

/* y = f(x), n elements; y may be x. */
void vit_activation_forward(const vit_exec *exec, vit_activation f, float *y, const float *x,
                            size_t n);

/* dx = dy f'(x), n elements, and y = f(x) is recomputed unless it is NULL. dx may be dy. The slope
 * of ReLU at 0 is 0. */
void vit_activation_backward(const vit_exec *exec, vit_activation f, float *dx, float *y,
                             const float *dy, const float *x, size_t n);

/* The activation of a gated MLP (Shazeer: GLU Variants Improve Transformer): y = f(x1) x2 for
 * x = [x1, x2]. x: [rows][2][n], y: [rows][n]. */
void vit_gate_forward(const vit_exec *exec, vit_activation f, float *y, const float *x, size_t rows,
                      size_t n);

/* dx: [rows][2][n], given dy: [rows][n], and y is recomputed. No two arrays may overlap. */
void vit_gate_backward(const vit_exec *exec, vit_activation f, float *dx, float *y, const float *dy,
                       const float *x, size_t rows, size_t n);

/* y = tanh(x), computed in double and rounded once; n is small: features of a head. y may be x. */
void vit_tanh_forward(float *y, const float *x, size_t n);

/* dx = dy (1 - y^2), with the y of the forward pass. dx may be dy. */
void vit_tanh_backward(float *dx, const float *dy, const float *y, size_t n);

#endif
