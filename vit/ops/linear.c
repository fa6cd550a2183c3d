#include "vit/ops/linear.h"
#include "vit/base/size.h"
#include "vit/ops/int8.h"

/* Column sums: columns in a task, and roughly what an element costs in multiply-adds. */
#define COLUMN_BLOCK ((size_t)64)
#define ELEMENT_COST 16

void vit_linear_forward(const vit_exec *exec, float *y, const float *x, const vit_linear *w,
                        const vit_residual_sum *sum, size_t rows) {
    static const vit_residual_sum alone = {0};
    const vit_residual_sum *s = sum ? sum : &alone;
    const vit_epilogue e = {.scale = 1,
                            .bias = w->bias,
                            .gamma = s->gamma,
                            .keep = s->keep,
                            .keep_rows = s->keep_rows,
                            .residual = s->residual,
                            .residual_row = w->out};
    if (w->scales) {
        vit_int8_forward(exec, y, x, w, &e, rows);
        return;
    }
    vit_gemm(exec, y, w->out, rows, w->out, w->in, (vit_operand_a){x, w->in, 1},
             vit_b_stored(w->packed, w->stored, vit_words(exec->precision, w->in)), &e);
}

vit_linear vit_linear_part(const vit_exec *exec, const vit_linear *w, size_t first, size_t count) {
    const size_t words = w->scales ? vit_words(VIT_PRECISION_INT8, w->in)
                                   : vit_stored_words(w->stored, vit_words(exec->precision, w->in));
    vit_linear part = {.in = w->in,
                       .out = count,
                       .weight = w->weight ? w->weight + first * w->in : NULL,
                       .bias = w->bias ? w->bias + first : NULL,
                       .packed = w->packed + first * words,
                       .stored = w->stored,
                       .scales = w->scales ? w->scales + first : NULL,
                       .starts = w->starts ? w->starts + first : NULL};
    /* A word is of several rows of W: a part that begins or ends within one has no packed rows. */
    const size_t numbers = vit_precisions[exec->precision].numbers, end = first + count;
    const bool whole_words = first % numbers == 0 && (end % numbers == 0 || end == w->out);
    if (w->packed_rows.data && whole_words) {
        part.packed_rows = w->packed_rows;
        part.packed_rows.data += vit_words(exec->precision, first) * part.packed_rows.row;
    }
    return part;
}

vit_linear_gradient vit_linear_gradient_part(const vit_linear_gradient *d, const vit_linear *w,
                                             size_t first) {
    return (vit_linear_gradient){d->weight ? d->weight + first * w->in : NULL,
                                 d->bias ? d->bias + first : NULL, d->begins};
}

/* sums: [n] += the columns of x: [rows][n], rows `row` floats apart. */
typedef struct columns {
    const vit_kernels *kernels;
    float *sums;
    const float *x;
    size_t rows, n, row;
} columns;

static void columns_task(size_t index, int thread, void *context) {
    (void)thread;
    const columns *c = context;
    const size_t first = index * COLUMN_BLOCK;
    c->kernels->column_sums(c->sums + first, c->x + first, c->rows,
                            vit_min(c->n - first, COLUMN_BLOCK), c->row);
}

void vit_linear_weight_gradient(const vit_exec *exec, const vit_linear_gradient *d, const float *dy,
                                size_t dy_row, const float *x, const vit_linear *w, size_t rows) {
    if (!d->weight) return;
    /* y = x W^T + b: dW[o][i] = sum over rows of dy[r][o] x[r][i] */
    const vit_epilogue sum = {.accumulate = !d->begins, .scale = 1};
    vit_gemm(exec, d->weight, w->in, w->out, w->in, rows, (vit_operand_a){dy, 1, dy_row},
             vit_b_plain(x, w->in), &sum);
    if (!d->bias) return;
    columns c = {exec->kernels, d->bias, dy, rows, w->out, dy_row};
    vit_parallel(vit_exec_threads(exec, rows * w->out * ELEMENT_COST),
                 vit_ceil_div(w->out, COLUMN_BLOCK), columns_task, &c);
}

void vit_linear_input_gradient(const vit_exec *exec, float *dx, bool accumulate, const float *dy,
                               size_t dy_row, const vit_linear *w, size_t rows) {
    /* dx[r][i] = sum over outputs of dy[r][o] W[o][i] */
    const vit_epilogue e = {.accumulate = accumulate, .scale = 1};
    vit_gemm(exec, dx, w->in, rows, w->in, w->out, (vit_operand_a){dy, dy_row, 1},
             w->packed_rows.data ? w->packed_rows : vit_b_plain(w->weight, w->in), &e);
}

void vit_linear_backward(const vit_exec *exec, float *dx, const vit_linear_gradient *d,
                         const float *dy, const float *x, const vit_linear *w, size_t rows) {
    vit_linear_weight_gradient(exec, d, dy, w->out, x, w, rows);
    if (dx) vit_linear_input_gradient(exec, dx, false, dy, w->out, w, rows);
}
