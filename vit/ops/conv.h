/* Convolutions of 3x3 with padding 1, computed as a matrix product (im2col): an output pixel has a
 * row of `columns`, the 9 C numbers under its kernel, and y = columns W^T + b, where W: [out][9 C]
 * is a linear layer.
 *
 * x: [batch][height][width][C]. There are two kinds:
 *   - of a convolutional stem (Xiao et al.: Early Convolutions Help Transformers See Better):
 * stride 2, y: [batch][ceil(height / 2)][ceil(width / 2)][out], W: [out][C][3][3] as in PyTorch;
 *   - of a convolutional tokenizer (Hassani et al.: Escaping the Big Data Paradigm with Compact
 *     Transformers): stride 1, y: [batch][height][width][out], W: [out][3][3][C], so that columns
 *     are copies of whole pixels, since such a network spends most of its time here.
 */
#ifndef VIT_OPS_CONV_H
#define VIT_OPS_CONV_H

#include "vit/ops/linear.h"

typedef enum vit_conv_kind { VIT_CONV_STEM, VIT_CONV_TOKENIZER } vit_conv_kind;

typedef struct vit_conv_shape {
    size_t batch, height, width, channels; /* of x */
    vit_conv_kind kind;
} vit_conv_shape;

/* The pixels of one picture of y. */
size_t vit_conv_pixels(const vit_conv_shape *s);

/* The floats of `columns`: of one picture, or of as many as are together at most 256 KiB, since
 * columns are made and used in such portions, to stay in the cache. */
size_t vit_conv_columns(const vit_conv_shape *s);

/* y = the convolution of x. columns: scratch of vit_conv_columns floats. */
void vit_conv_forward(const vit_exec *exec, float *y, const float *x, const vit_linear *w,
                      const vit_conv_shape *s, float *columns);

/* dW, db: as vit_linear_weight_gradient, a portion after the other, in bfloat16 with pairs that
 * begin anew with each. dx, unless it is NULL, lies
 * apart from dy; each element is one chain over the rows and columns of the kernel, ascending.
 * columns, d_columns: scratch of vit_conv_columns floats each; d_columns is unused without dx. */
void vit_conv_backward(const vit_exec *exec, float *dx, const vit_linear_gradient *d,
                       const float *dy, const float *x, const vit_linear *w,
                       const vit_conv_shape *s, float *columns, float *d_columns);

#endif
