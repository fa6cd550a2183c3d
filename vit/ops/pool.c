#include "vit/ops/pool.h"
#include <string.h>

void vit_mean_forward(const vit_exec *exec, float *y, const float *x, size_t batch, size_t tokens,
                      size_t dim) {
    const float share = 1 / (float)tokens;
    memset(y, 0, batch * dim * sizeof *y);
    for (size_t b = 0; b < batch; b++, y += dim, x += tokens * dim) {
        exec->kernels->column_sums(y, x, tokens, dim, dim);
        exec->kernels->scale(y, y, share, dim);
    }
}

void vit_mean_backward(const vit_exec *exec, float *dx, const float *dy, size_t batch,
                       size_t tokens, size_t dim) {
    const float share = 1 / (float)tokens;
    for (size_t b = 0; b < batch; b++, dy += dim)
        for (size_t t = 0; t < tokens; t++, dx += dim) exec->kernels->scale(dx, dy, share, dim);
}
