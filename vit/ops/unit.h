/* Rows of length 1: y = x / |x|. x, y: [rows][dim]. The sum of squares is one ascending chain in
 * double; a row of zeros becomes NaN. */
#ifndef VIT_OPS_UNIT_H
#define VIT_OPS_UNIT_H

#include <stddef.h>

/* y may be x. */
void vit_unit_forward(float *y, const float *x, size_t rows, size_t dim);

/* dy is replaced by dx = (dy - y (y . dy)) / |x|. */
void vit_unit_backward(float *dy, const float *y, const float *x, size_t rows, size_t dim);

#endif
