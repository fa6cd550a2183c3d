#include "vit/ops/pool.h"
#include <string.h>

void vit_mean_forward(const vit_exec *exec, float *y, const float *x, const vit_mean_shape *s) {
    const float share = 1 / (float)s->tokens;
    for (size_t b = 0; b < s->batch; b++, y += s->y_row, x += (s->skip + s->tokens) * s->dim) {
        memset(y, 0, s->dim * sizeof *y);
        exec->kernels->column_sums(y, x + s->skip * s->dim, s->tokens, s->dim, s->dim);
        exec->kernels->scale(y, y, share, s->dim);
    }
}

void vit_mean_backward(const vit_exec *exec, float *dx, const float *dy, const vit_mean_shape *s) {
    const float share = 1 / (float)s->tokens;
    for (size_t b = 0; b < s->batch; b++, dy += s->y_row) {
        memset(dx, 0, s->skip * s->dim * sizeof *dx);
        dx += s->skip * s->dim;
        for (size_t t = 0; t < s->tokens; t++, dx += s->dim)
            exec->kernels->scale(dx, dy, share, s->dim);
    }
}
