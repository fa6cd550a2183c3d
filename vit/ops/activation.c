#include "vit/ops/activation.h"
#include "vit/base/math.h"
#include "vit/base/size.h"

/* Elements in a task, and roughly what an element costs in multiply-adds. */
#define BLOCK ((size_t)4096)
#define ELEMENT_COST 32

/* ---- the activations ---- */

static void gelu(const vit_kernels *k, float *y, const float *x, size_t n) {
    k->gelu(y, x, n);
}

static void gelu_backward(const vit_kernels *k, float *dx, float *y, const float *dy,
                          const float *x, size_t n) {
    k->gelu_backward(dx, y, dy, x, n);
}

static void relu(const vit_kernels *k, float *y, const float *x, size_t n) {
    k->relu(y, x, n);
}

static void relu_backward(const vit_kernels *k, float *dx, float *y, const float *dy,
                          const float *x, size_t n) {
    k->relu_backward(dx, y, dy, x, n);
}

/* The others are y = x sigma(a x + b x^3), since (1 + tanh(t)) / 2 = sigma(2 t):
 * a = 2 sqrt(2 / pi), b = 0.044715 a for the approximation of GELU by tanh. */
#define SWISH(name, a, b)                                                                   \
    static void name(const vit_kernels *k, float *y, const float *x, size_t n) {            \
        k->swish(y, x, a, b, n);                                                            \
    }                                                                                       \
    static void name##_backward(const vit_kernels *k, float *dx, float *y, const float *dy, \
                                const float *x, size_t n) {                                 \
        k->swish_backward(dx, y, dy, x, a, b, n);                                           \
    }

SWISH(gelu_tanh, 1.5957691216F, 0.0713548163F)
SWISH(gelu_quick, 1.702F, 0)
SWISH(silu, 1, 0)

const vit_activation_row vit_activations[] = {
    {VIT_GELU, "gelu", "gelu", "gelu", {"gelu_python"}, gelu, gelu_backward},
    {VIT_RELU, "relu", "relu", "relu", {NULL}, relu, relu_backward},
    {VIT_GELU_TANH,
     "gelu_tanh",
     "gelu_pytorch_tanh",
     "gelu_tanh",
     {"gelu_new", "gelu_fast", "gelu_accurate"},
     gelu_tanh,
     gelu_tanh_backward},
    {VIT_GELU_QUICK,
     "gelu_quick",
     "quick_gelu",
     "quick_gelu",
     {NULL},
     gelu_quick,
     gelu_quick_backward},
    {VIT_SILU, "silu", "silu", "silu", {"swish"}, silu, silu_backward},
};
VIT_CHECK_ROWS(vit_activations, VIT_ACTIVATION_COUNT);

/* ---- element by element ---- */

/* n: the elements of an array, or of a row of a gated MLP. */
typedef struct elements {
    const vit_kernels *kernels;
    const vit_activation_row *f;
    float *y;
    const float *x;
    size_t n;
    float *dx; /* dx and dy only in the backward pass, in which y may be NULL */
    const float *dy;
} elements;

static void forward_task(size_t index, int thread, void *context) {
    (void)thread;
    const elements *e = context;
    const size_t first = index * BLOCK, n = vit_min(e->n - first, BLOCK);
    e->f->forward(e->kernels, e->y + first, e->x + first, n);
}

void vit_activation_forward(const vit_exec *exec, vit_activation f, float *y, const float *x,
                            size_t n) {
    elements e = {.kernels = exec->kernels, .f = &vit_activations[f], .y = y, .x = x, .n = n};
    vit_parallel(vit_exec_threads(exec, n * ELEMENT_COST), vit_ceil_div(n, BLOCK), forward_task,
                 &e);
}

static void backward_task(size_t index, int thread, void *context) {
    (void)thread;
    const elements *e = context;
    const size_t first = index * BLOCK, n = vit_min(e->n - first, BLOCK);
    e->f->backward(e->kernels, e->dx + first, e->y ? e->y + first : NULL, e->dy + first,
                   e->x + first, n);
}

void vit_activation_backward(const vit_exec *exec, vit_activation f, float *dx, float *y,
                             const float *dy, const float *x, size_t n) {
    elements e = {exec->kernels, &vit_activations[f], y, x, n, dx, dy};
    vit_parallel(vit_exec_threads(exec, n * ELEMENT_COST), vit_ceil_div(n, BLOCK), backward_task,
                 &e);
}

/* ---- gated ---- */

static void gate_forward_task(size_t row, int thread, void *context) {
    (void)thread;
    const elements *e = context;
    const float *x = e->x + row * 2 * e->n;
    float *y = e->y + row * e->n;
    e->f->forward(e->kernels, y, x, e->n);
    e->kernels->multiply(y, y, x + e->n, e->n);
}

void vit_gate_forward(const vit_exec *exec, vit_activation f, float *y, const float *x, size_t rows,
                      size_t n) {
    elements e = {.kernels = exec->kernels, .f = &vit_activations[f], .y = y, .x = x, .n = n};
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
    e->f->backward(k, dx, dx + n, dx, x, n);
    k->multiply(y, dx + n, x + n, n);
    k->multiply(dx + n, dx + n, dy, n);
}

void vit_gate_backward(const vit_exec *exec, vit_activation f, float *dx, float *y, const float *dy,
                       const float *x, size_t rows, size_t n) {
    elements e = {exec->kernels, &vit_activations[f], y, x, n, dx, dy};
    vit_parallel(vit_exec_threads(exec, rows * n * ELEMENT_COST), rows, gate_backward_task, &e);
}

/* ---- tanh ---- */

/* 1 - 2 / (e^2x + 1), which is 1 to the last digit of float from 10 on. */
void vit_tanh_forward(float *y, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const double at = x[i] > 10 ? 10 : x[i] < -10 ? -10 : (double)x[i];
        y[i] = (float)(1 - 2 / (vit_exp(2 * at) + 1));
    }
}

void vit_tanh_backward(float *dx, const float *dy, const float *y, size_t n) {
    for (size_t i = 0; i < n; i++) dx[i] = dy[i] * (1 - y[i] * y[i]);
}
