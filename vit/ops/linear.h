/* Linear layer: y = x W^T + b (the lecture's x_p E, X W^Q, ...; PyTorch's nn.Linear).
 *
 * x: [rows][in], y: [rows][out], W: [out][in] as PyTorch stores it, b: [out]. Rows of x and y are
 * contiguous. The caller packs W again whenever it has changed.
 */
#ifndef VIT_OPS_LINEAR_H
#define VIT_OPS_LINEAR_H

#include "vit/ops/gemm/gemm.h"
#include <stdbool.h>

typedef struct vit_linear {
    size_t in, out;
    const float *weight; /* W; NULL if only `packed` is kept, which is enough for forward */
    const float *bias;   /* b, or NULL */
    const float *packed; /* W^T by vit_pack_transposed, or with scales by vit_int8_pack */
    vit_stored stored;   /* halves: by vit_pack_stored, in F32 */
    /* of a layer in 8-bit integers, which only goes forward: vit_int8_scales, vit_int8_starts;
     * scales NULL: it is in the precision of the exec */
    const float *scales;
    const int32_t *starts;
    vit_operand_b packed_rows; /* W by vit_pack_rows, for dx; data NULL: `weight` is read instead */
} vit_linear;

typedef struct vit_linear_gradient {
    float *weight, *bias; /* dW, db; bias may be NULL; both NULL: not wanted */
    bool begins;          /* the product dy^T x replaces what `weight` holds; false: its chains
                             start from that */
} vit_linear_gradient;

/* What follows a layer at the end of a residual branch: y = keep * gamma * (x W^T + b) + residual;
 * what is NULL is left out. */
typedef struct vit_residual_sum {
    const float *gamma;    /* [out], layer scale */
    const float *keep;     /* drop path: a factor for each picture */
    size_t keep_rows;      /* rows of a picture */
    const float *residual; /* [rows][out], not y itself */
} vit_residual_sum;

/* y = x W^T + b, followed by what `sum` says unless it is NULL. */
void vit_linear_forward(const vit_exec *exec, float *y, const float *x, const vit_linear *w,
                        const vit_residual_sum *sum, size_t rows);

/* Outputs first .. first + count - 1 as a layer of their own, which shares the memory of w; for
 * forward, `first` must be a multiple of vit_panel(). */
vit_linear vit_linear_part(const vit_exec *exec, const vit_linear *w, size_t first, size_t count);

/* The gradient of such a part, which shares the memory of d. */
vit_linear_gradient vit_linear_gradient_part(const vit_linear_gradient *d, const vit_linear *w,
                                             size_t first);

/* dW = dy^T x, or += unless d->begins, and db += column sums of dy, whose rows are dy_row floats
 * apart. Does nothing if d->weight is NULL. */
void vit_linear_weight_gradient(const vit_exec *exec, const vit_linear_gradient *d, const float *dy,
                                size_t dy_row, const float *x, const vit_linear *w, size_t rows);

/* dx = dy W; if `accumulate`, the chains start from what dx holds. Rows of dy are dy_row floats
 * apart. */
void vit_linear_input_gradient(const vit_exec *exec, float *dx, bool accumulate, const float *dy,
                               size_t dy_row, const vit_linear *w, size_t rows);

/* Both: the weight gradient and, unless dx is NULL, dx = dy W. Rows of dy are contiguous. */
void vit_linear_backward(const vit_exec *exec, float *dx, const vit_linear_gradient *d,
                         const float *dy, const float *x, const vit_linear *w, size_t rows);

#endif
