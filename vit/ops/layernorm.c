#include "vit/ops/layernorm.h"
#include "vit/base/size.h"
#include <string.h>

/* Rows of a task, and what an element costs in multiply-adds, roughly: most of it is the way from
 * the cache of the thread that made it. */
#define ROW_BLOCK 32
#define ELEMENT_COST 48

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
                 vit_ceil_div(rows, ROW_BLOCK), forward_task, &n);
}

void vit_layernorm_backward(const vit_exec *exec, float *dx, const vit_norm_gradient *d,
                            const float *dy, const float *x, const vit_norm_state *state,
                            const vit_norm *w, size_t rows) {
    exec->kernels->layernorm_backward(dx, d->gamma, d->beta, dy, x, state->mean, state->rstd,
                                      w->gamma, rows, w->dim);
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
    n->kernels->layernorm(n->y + row * p->s.y_row, n->state->mean + row * p->s.parts,
                          n->state->rstd + row * p->s.parts, n->x + row * p->s.x_row, n->w->gamma,
                          n->w->beta, n->w->eps, p->s.parts, n->w->dim);
}

void vit_layernorm_parts_forward(const vit_exec *exec, float *y, const vit_norm_state *state,
                                 const float *x, const vit_norm *w, const vit_parts_shape *s) {
    norm_parts p = {{exec->kernels, y, state, x, w, s->rows}, *s};
    vit_parallel(vit_exec_threads(exec, s->rows * s->parts * w->dim * ELEMENT_COST), s->rows,
                 parts_task, &p);
}

void vit_layernorm_parts_backward(const vit_exec *exec, float *dy, const vit_norm_gradient *d,
                                  const float *x, const vit_norm_state *state, const vit_norm *w,
                                  const vit_parts_shape *s, float *room) {
    const size_t bytes = s->parts * w->dim * sizeof *room;
    for (size_t i = 0; i < s->rows; i++, dy += s->y_row, x += s->x_row) {
        memcpy(room, dy, bytes);
        memset(dy, 0, bytes);
        exec->kernels->layernorm_backward(dy, d->gamma, d->beta, room, x,
                                          state->mean + i * s->parts, state->rstd + i * s->parts,
                                          w->gamma, s->parts, w->dim);
    }
}
