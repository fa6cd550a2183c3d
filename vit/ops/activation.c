#include "vit/ops/activation.h"

/* Elements of a task, and what one costs in multiply-adds, roughly. */
#define BLOCK ((size_t)4096)
#define ELEMENT_COST 32

typedef struct elements {
    const vit_kernels *kernels;
    vit_activation f;
    float *y;
    const float *x;
    size_t n;
} elements;

static void forward_task(size_t index, int thread, void *context) {
    (void)thread;
    const elements *e = context;
    const size_t first = index * BLOCK, left = e->n - first, n = left < BLOCK ? left : BLOCK;
    if (e->f == VIT_GELU)
        e->kernels->gelu(e->y + first, e->x + first, n);
    else
        e->kernels->relu(e->y + first, e->x + first, n);
}

void vit_activation_forward(const vit_exec *exec, vit_activation f, float *y, const float *x,
                            size_t n) {
    elements e = {exec->kernels, f, y, x, n};
    vit_parallel(vit_exec_threads(exec, n * ELEMENT_COST), (n + BLOCK - 1) / BLOCK, forward_task,
                 &e);
}

void vit_activation_backward(const vit_exec *exec, vit_activation f, float *dx, const float *dy,
                             const float *x, size_t n) {
    if (f == VIT_GELU)
        exec->kernels->gelu_backward(dx, dy, x, n);
    else
        exec->kernels->relu_backward(dx, dy, x, n);
}
