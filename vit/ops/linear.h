/* Linear layer: y = x W^T + b (the lecture's x_p E, X W^Q, ...; PyTorch's nn.Linear).
 *
 * x: [rows][in], y: [rows][out], W: [out][in] as PyTorch stores it, b: [out]; packed: W^T as
 * vit_pack_transposed makes it, and perhaps W as vit_pack_rows does, packed anew whenever W has
 * changed. Rows of x and y are contiguous.
 */
#ifndef VIT_OPS_LINEAR_H
#define VIT_OPS_LINEAR_H

#include "vit/ops/gemm/gemm.h"
#include <stdbool.h>

typedef struct vit_linear {
    size_t in, out;
    const float *weight; /* NULL where only `packed` is kept: forward needs no more */
    const float *bias;   /* may be NULL */
    const float *packed;
    vit_operand_b packed_rows; /* for dx; data NULL: W is read where it lies */
} vit_linear;

/* What a product of dW makes of what the weight's gradient holds. */
typedef enum vit_weight_sum {
    VIT_SUM_CONTINUES, /* its chain goes on from there */
    VIT_SUM_BEGINS,    /* nothing is there yet */
    VIT_SUM_ADDS,      /* a chain from +0 is added; of at most VIT_ONE_BLOCK rows */
} vit_weight_sum;

typedef struct vit_linear_gradient {
    float *weight, *bias; /* bias may be NULL; both: not wanted */
    vit_weight_sum sum;
} vit_linear_gradient;

/* Where a layer ends a residual branch: y = keep * gamma * (x W^T + b) + residual, each factor and
 * the residual being absent where it is NULL. */
typedef struct vit_residual_sum {
    const float *gamma;    /* [out], layer scale */
    const float *keep;     /* a factor for every keep_rows rows, drop path */
    size_t keep_rows;      /* of a picture */
    const float *residual; /* [rows][out], not y */
} vit_residual_sum;

/* y = x W^T + b, or the sum that it is part of. */
void vit_linear_forward(const vit_exec *exec, float *y, const float *x, const vit_linear *w,
                        const vit_residual_sum *sum, size_t rows);

/* Outputs first .. first + count - 1 as a layer of their own, forward only where `first` is a
 * multiple of VIT_PANEL; and its gradient. */
vit_linear vit_linear_part(const vit_exec *exec, const vit_linear *w, size_t first, size_t count);
vit_linear_gradient vit_linear_gradient_part(const vit_linear_gradient *d, const vit_linear *w,
                                             size_t first);

/* dW += dy^T x, db += column sums of dy, whose rows are dy_row apart; d->weight NULL: neither is
 * wanted. */
void vit_linear_weight_gradient(const vit_exec *exec, const vit_linear_gradient *d, const float *dy,
                                size_t dy_row, const float *x, const vit_linear *w, size_t rows);

/* dx = dy W, or where it accumulates, the chain of dx goes on. */
void vit_linear_input_gradient(const vit_exec *exec, float *dx, bool accumulate, const float *dy,
                               size_t dy_row, const vit_linear *w, size_t rows);

/* Both, dx = dy W, rows of dy contiguous; dx NULL: not wanted. */
void vit_linear_backward(const vit_exec *exec, float *dx, const vit_linear_gradient *d,
                         const float *dy, const float *x, const vit_linear *w, size_t rows);

#endif
