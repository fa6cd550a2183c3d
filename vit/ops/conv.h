/* Convolutions of 3x3 with padding 1. As a matrix product: every output pixel has a row of columns,
 * the 9 C numbers below its kernel, and y = columns W^T + b, W being a linear layer's [out][9 C].
 *
 * Of a convolutional stem (Xiao et al.: Early Convolutions Help Transformers See Better) they have
 * stride 2, y: [batch][ceil(height / 2)][ceil(width / 2)][out], and W: [out][C][3][3] as PyTorch
 * stores it. Of a convolutional tokenizer (Hassani et al.: Escaping the Big Data Paradigm with
 * Compact Transformers) they have stride 1, y: [batch][height][width][out], and W: [out][3][3][C],
 * so that the columns are copies of whole pixels: these convolutions are most of such a network.
 *
 * x: [batch][height][width][C].
 */
#ifndef VIT_OPS_CONV_H
#define VIT_OPS_CONV_H

#include "vit/ops/linear.h"

typedef enum vit_conv_kind { VIT_CONV_STEM, VIT_CONV_TOKENIZER } vit_conv_kind;

typedef struct vit_conv_shape {
    size_t batch, height, width, channels; /* of x */
    vit_conv_kind kind;
} vit_conv_shape;

/* Pixels of a picture of y. */
size_t vit_conv_pixels(const vit_conv_shape *s);

/* Floats of the columns of a batch. */
size_t vit_conv_columns(const vit_conv_shape *s);

/* columns: room for vit_conv_columns, its contents are lost. */
void vit_conv_forward(const vit_exec *exec, float *y, const float *x, const vit_linear *w,
                      const vit_conv_shape *s, float *columns);

/* dW += ..., db += ..., dx = ... (may be dy; NULL: not wanted), where an element is one chain over
 * the rows and columns of the kernel, ascending. d_columns: as columns; not used without dx. */
void vit_conv_backward(const vit_exec *exec, float *dx, const vit_linear_gradient *d,
                       const float *dy, const float *x, const vit_linear *w,
                       const vit_conv_shape *s, float *columns, float *d_columns);

#endif
