#include "vit/ops/gelu.h"

/* Elements of a task, and what one costs in multiply-adds, roughly. */
#define BLOCK ((size_t)4096)
#define ELEMENT_COST 32

typedef struct elements {
    const vit_kernels *kernels;
    float *y;
    const float *x;
    size_t n;
} elements;

static void forward_task(size_t index, int thread, void *context) {
    (void)thread;
    const elements *e = context;
    const size_t first = index * BLOCK, left = e->n - first;
    e->kernels->gelu(e->y + first, e->x + first, left < BLOCK ? left : BLOCK);
}

void vit_gelu_forward(const vit_exec *exec, float *y, const float *x, size_t n) {
    elements e = {exec->kernels, y, x, n};
    vit_parallel(vit_exec_threads(exec, n * ELEMENT_COST), (n + BLOCK - 1) / BLOCK, forward_task,
                 &e);
}

void vit_gelu_backward(const vit_exec *exec, float *dx, const float *dy, const float *x, size_t n) {
    exec->kernels->gelu_backward(dx, dy, x, n);
}
