#include "vit/ops/layernorm.h"

/* Rows of a task, and what an element costs in multiply-adds, roughly. */
#define ROW_BLOCK 32
#define ELEMENT_COST 8

typedef struct norm_rows {
    const vit_kernels *kernels;
    float *y;
    const vit_norm_state *state;
    const float *x;
    const vit_norm *w;
    size_t rows;
} norm_rows;

static void forward_task(size_t index, int thread, void *context) {
    (void)thread;
    const norm_rows *n = context;
    const size_t first = index * ROW_BLOCK, left = n->rows - first, dim = n->w->dim;
    n->kernels->layernorm(n->y + first * dim, n->state->mean + first, n->state->rstd + first,
                          n->x + first * dim, n->w->gamma, n->w->beta, n->w->eps,
                          left < ROW_BLOCK ? left : ROW_BLOCK, dim);
}

void vit_layernorm_forward(const vit_exec *exec, float *y, const vit_norm_state *state,
                           const float *x, const vit_norm *w, size_t rows) {
    norm_rows n = {exec->kernels, y, state, x, w, rows};
    vit_parallel(vit_exec_threads(exec, rows * w->dim * ELEMENT_COST),
                 (rows + ROW_BLOCK - 1) / ROW_BLOCK, forward_task, &n);
}

void vit_layernorm_backward(const vit_exec *exec, float *dx, const vit_norm_gradient *d,
                            const float *dy, const float *x, const vit_norm_state *state,
                            const vit_norm *w, size_t rows) {
    exec->kernels->layernorm_backward(dx, d->gamma, d->beta, dy, x, state->mean, state->rstd,
                                      w->gamma, rows, w->dim);
}
