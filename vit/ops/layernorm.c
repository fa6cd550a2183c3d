#include "vit/ops/layernorm.h"
#include "vit/base/size.h"
#include <string.h>

/* Rows in a task, columns in a task that sums over rows, and roughly what an element costs in
 * multiply-adds: most of it is the transfer from the cache of the thread that wrote it. */
#define ROW_BLOCK ((size_t)32)
#define COLUMN_BLOCK ((size_t)64)
#define ELEMENT_COST 48

typedef struct norm_rows {
    const vit_kernels *kernels;
    float *y; /* dx in the backward pass */
    const vit_norm_state *state;
    const float *x, *dy; /* dy: only in the backward pass */
    const vit_norm *w;
    const vit_norm_gradient *d; /* only in the backward pass */
    size_t rows;
    bool again; /* of the forward pass: the state is there, and y is made again */
} norm_rows;

/* The means from row `first` on; NULL: of an RMS norm, which has none. */
static float *mean_at(const norm_rows *n, size_t first) {
    return n->w->rms ? NULL : n->state->mean + first;
}

/* Runs the task for every block of rows. */
static void each_block(const vit_exec *exec, vit_task *task, norm_rows *n) {
    vit_parallel(vit_exec_threads(exec, n->rows * n->w->dim * ELEMENT_COST),
                 vit_ceil_div(n->rows, ROW_BLOCK), task, n);
}

static void forward_task(size_t index, int thread, void *context) {
    (void)thread;
    const norm_rows *n = context;
    const size_t first = index * ROW_BLOCK, at = first * n->w->dim;
    const size_t rows = vit_min(n->rows - first, ROW_BLOCK);
    if (n->again)
        n->kernels->layernorm_recompute(n->y + at, n->x + at, mean_at(n, first),
                                        n->state->rstd + first, n->w->gamma, n->w->beta, rows,
                                        n->w->dim);
    else
        n->kernels->layernorm(n->y + at, mean_at(n, first), n->state->rstd + first, n->x + at,
                              n->w->gamma, n->w->beta, n->w->eps, rows, n->w->dim);
}

void vit_layernorm_forward(const vit_exec *exec, float *y, const vit_norm_state *state,
                           const float *x, const vit_norm *w, size_t rows) {
    norm_rows n = {.kernels = exec->kernels, .y = y, .state = state, .x = x, .w = w, .rows = rows};
    each_block(exec, forward_task, &n);
}

void vit_layernorm_recompute(const vit_exec *exec, float *y, const vit_norm_state *state,
                             const float *x, const vit_norm *w, size_t rows) {
    norm_rows n = {exec->kernels, y, state, x, NULL, w, NULL, rows, .again = true};
    each_block(exec, forward_task, &n);
}

static void backward_task(size_t index, int thread, void *context) {
    (void)thread;
    const norm_rows *n = context;
    const size_t first = index * ROW_BLOCK, at = first * n->w->dim;
    n->kernels->layernorm_backward(n->y + at, n->dy + at, n->x + at, mean_at(n, first),
                                   n->state->rstd + first, n->w->gamma,
                                   vit_min(n->rows - first, ROW_BLOCK), n->w->dim);
}

static void sums_task(size_t index, int thread, void *context) {
    (void)thread;
    const norm_rows *n = context;
    const size_t first = index * COLUMN_BLOCK;
    float *d_beta = n->w->rms ? NULL : n->d->beta + first;
    n->kernels->layernorm_sums(n->d->gamma + first, d_beta, n->dy + first, n->x + first,
                               mean_at(n, 0), n->state->rstd, n->rows,
                               vit_min(n->w->dim - first, COLUMN_BLOCK), n->w->dim);
}

void vit_layernorm_backward(const vit_exec *exec, float *dx, const vit_norm_gradient *d,
                            const float *dy, const float *x, const vit_norm_state *state,
                            const vit_norm *w, size_t rows) {
    norm_rows n = {exec->kernels, dx, state, x, dy, w, d, rows, .again = false};
    each_block(exec, backward_task, &n);
    if (!d->gamma) return;
    vit_parallel(vit_exec_threads(exec, rows * w->dim * ELEMENT_COST),
                 vit_ceil_div(w->dim, COLUMN_BLOCK), sums_task, &n);
}

/* ---- parts of rows ---- */

typedef struct norm_parts {
    norm_rows n;
    vit_parts_shape s;
} norm_parts;

static void parts_task(size_t row, int thread, void *context) {
    (void)thread;
    const norm_parts *p = context;
    const norm_rows *n = &p->n;
    n->kernels->layernorm(n->y + row * p->s.y_row, mean_at(n, row * p->s.parts),
                          n->state->rstd + row * p->s.parts, n->x + row * p->s.x_row, n->w->gamma,
                          n->w->beta, n->w->eps, p->s.parts, n->w->dim);
}

void vit_layernorm_parts_forward(const vit_exec *exec, float *y, const vit_norm_state *state,
                                 const float *x, const vit_norm *w, const vit_parts_shape *s) {
    norm_parts p = {
        {.kernels = exec->kernels, .y = y, .state = state, .x = x, .w = w, .rows = s->rows}, *s};
    vit_parallel(vit_exec_threads(exec, s->rows * s->parts * w->dim * ELEMENT_COST), s->rows,
                 parts_task, &p);
}

void vit_layernorm_parts_backward(const vit_exec *exec, float *dy, const vit_norm_gradient *d,
                                  const float *x, const vit_norm_state *state, const vit_norm *w,
                                  const vit_parts_shape *s, float *scratch) {
    const size_t bytes = s->parts * w->dim * sizeof *scratch;
    for (size_t i = 0; i < s->rows; i++, dy += s->y_row, x += s->x_row) {
        memcpy(scratch, dy, bytes);
        memset(dy, 0, bytes);
        const float *mean = w->rms ? NULL : state->mean + i * s->parts;
        const float *rstd = state->rstd + i * s->parts;
        exec->kernels->layernorm_backward(dy, scratch, x, mean, rstd, w->gamma, s->parts, w->dim);
        if (d->gamma)
            exec->kernels->layernorm_sums(d->gamma, d->beta, scratch, x, mean, rstd, s->parts,
                                          w->dim, w->dim);
    }
}
