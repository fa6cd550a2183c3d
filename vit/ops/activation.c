#include "vit/ops/activation.h"
#include "vit/base/size.h"

/* Elements of a task, and what one costs in multiply-adds, roughly. */
#define BLOCK ((size_t)4096)
#define ELEMENT_COST 32

/* y = x sigma(a x + b x^3): sqrt(2 / pi) (1 + tanh) / 2 is a sigmoid of twice the argument. */
static const struct {
    float a, b;
} swish[] = {
    [VIT_GELU_TANH] = {1.5957691216F, 0.0713548163F},
    [VIT_GELU_QUICK] = {1.702F, 0},
    [VIT_SILU] = {1, 0},
};

static void forward(const vit_kernels *k, vit_activation f, float *y, const float *x, size_t n) {
    if (f == VIT_GELU)
        k->gelu(y, x, n);
    else if (f == VIT_RELU)
        k->relu(y, x, n);
    else
        k->swish(y, x, swish[f].a, swish[f].b, n);
}

static void backward(const vit_kernels *k, vit_activation f, float *dx, float *y, const float *dy,
                     const float *x, size_t n) {
    if (f == VIT_GELU)
        k->gelu_backward(dx, y, dy, x, n);
    else if (f == VIT_RELU)
        k->relu_backward(dx, y, dy, x, n);
    else
        k->swish_backward(dx, y, dy, x, swish[f].a, swish[f].b, n);
}

/* Of the n elements of an array, or of a row of a gated MLP. */
typedef struct elements {
    const vit_kernels *kernels;
    vit_activation f;
    float *y;
    const float *x;
    size_t n;
    float *dx; /* this and dy: backward, where y may be NULL */
    const float *dy;
} elements;

static void forward_task(size_t index, int thread, void *context) {
    (void)thread;
    const elements *e = context;
    const size_t first = index * BLOCK, n = vit_min(e->n - first, BLOCK);
    forward(e->kernels, e->f, e->y + first, e->x + first, n);
}

void vit_activation_forward(const vit_exec *exec, vit_activation f, float *y, const float *x,
                            size_t n) {
    elements e = {.kernels = exec->kernels, .f = f, .y = y, .x = x, .n = n};
    vit_parallel(vit_exec_threads(exec, n * ELEMENT_COST), vit_ceil_div(n, BLOCK), forward_task,
                 &e);
}

static void backward_task(size_t index, int thread, void *context) {
    (void)thread;
    const elements *e = context;
    const size_t first = index * BLOCK, n = vit_min(e->n - first, BLOCK);
    backward(e->kernels, e->f, e->dx + first, e->y ? e->y + first : NULL, e->dy + first,
             e->x + first, n);
}

void vit_activation_backward(const vit_exec *exec, vit_activation f, float *dx, float *y,
                             const float *dy, const float *x, size_t n) {
    elements e = {exec->kernels, f, y, x, n, dx, dy};
    vit_parallel(vit_exec_threads(exec, n * ELEMENT_COST), vit_ceil_div(n, BLOCK), backward_task,
                 &e);
}

/* ---- gated ---- */

static void gate_forward_task(size_t row, int thread, void *context) {
    (void)thread;
    const elements *e = context;
    const float *x = e->x + row * 2 * e->n;
    float *y = e->y + row * e->n;
    forward(e->kernels, e->f, y, x, e->n);
    e->kernels->multiply(y, y, x + e->n, e->n);
}

void vit_gate_forward(const vit_exec *exec, vit_activation f, float *y, const float *x, size_t rows,
                      size_t n) {
    elements e = {.kernels = exec->kernels, .f = f, .y = y, .x = x, .n = n};
    vit_parallel(vit_exec_threads(exec, rows * n * ELEMENT_COST), rows, gate_forward_task, &e);
}

/* y = f(x1) x2: dx2 = dy f(x1), dx1 = dy x2 f'(x1). */
static void gate_backward_task(size_t row, int thread, void *context) {
    (void)thread;
    const elements *e = context;
    const vit_kernels *k = e->kernels;
    const size_t n = e->n;
    const float *dy = e->dy + row * n, *x = e->x + row * 2 * n;
    float *dx = e->dx + row * 2 * n, *y = e->y + row * n;
    k->multiply(dx, dy, x + n, n);
    backward(k, e->f, dx, dx + n, dx, x, n);
    k->multiply(y, dx + n, x + n, n);
    k->multiply(dx + n, dx + n, dy, n);
}

void vit_gate_backward(const vit_exec *exec, vit_activation f, float *dx, float *y, const float *dy,
                       const float *x, size_t rows, size_t n) {
    elements e = {exec->kernels, f, y, x, n, dx, dy};
    vit_parallel(vit_exec_threads(exec, rows * n * ELEMENT_COST), rows, gate_backward_task, &e);
}
