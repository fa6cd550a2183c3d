#include "vit/ops/unit.h"
#include <math.h>

static double dot(const float *a, const float *b, size_t dim) {
    double sum = 0;
    for (size_t i = 0; i < dim; i++) sum += (double)a[i] * (double)b[i];
    return sum;
}

void vit_unit_forward(float *y, const float *x, size_t rows, size_t dim) {
    for (size_t r = 0; r < rows; r++, x += dim, y += dim) {
        const double length = sqrt(dot(x, x, dim));
        for (size_t i = 0; i < dim; i++) y[i] = (float)((double)x[i] / length);
    }
}

void vit_unit_backward(float *dy, const float *y, const float *x, size_t rows, size_t dim) {
    for (size_t r = 0; r < rows; r++, dy += dim, y += dim, x += dim) {
        const double length = sqrt(dot(x, x, dim)), along = dot(y, dy, dim);
        for (size_t i = 0; i < dim; i++)
            dy[i] = (float)(((double)dy[i] - along * (double)y[i]) / length);
    }
}
