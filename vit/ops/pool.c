#include "vit/ops/pool.h"
#include <string.h>

void vit_mean_forward(const vit_exec *exec, float *y, const float *x, const vit_mean_shape *s) {
    const float share = 1 / (float)s->tokens;
    for (size_t b = 0; b < s->batch; b++, y += s->y_row, x += s->all * s->dim) {
        memset(y, 0, s->dim * sizeof *y);
        exec->kernels->column_sums(y, x + s->skip * s->dim, s->tokens, s->dim, s->dim);
        exec->kernels->scale(y, y, share, s->dim);
    }
}

void vit_mean_backward(const vit_exec *exec, float *dx, const float *dy, const vit_mean_shape *s) {
    const float share = 1 / (float)s->tokens;
    memset(dx, 0, s->batch * s->all * s->dim * sizeof *dx);
    for (size_t b = 0; b < s->batch; b++, dy += s->y_row, dx += s->all * s->dim)
        for (size_t t = s->skip; t < s->skip + s->tokens; t++)
            exec->kernels->scale(dx + t * s->dim, dy, share, s->dim);
}

/* ---- the largest ---- */

/* The token of x: [tokens][dim] whose feature j is the largest. */
static size_t largest_token(const float *x, size_t j, const vit_mean_shape *s) {
    size_t best = 0;
    for (size_t t = 1; t < s->tokens; t++) {
        const float value = x[t * s->dim + j];
        if (value > x[best * s->dim + j] || value != value) best = t;
    }
    return best;
}

void vit_largest_forward(float *y, const float *x, const vit_mean_shape *s) {
    for (size_t b = 0; b < s->batch; b++, y += s->y_row) {
        const float *from = x + (b * s->all + s->skip) * s->dim;
        for (size_t j = 0; j < s->dim; j++) y[j] = from[largest_token(from, j, s) * s->dim + j];
    }
}

void vit_largest_backward(float *dx, const float *dy, float factor, const float *x,
                          const vit_mean_shape *s) {
    for (size_t b = 0; b < s->batch; b++, dy += s->y_row) {
        const size_t at = (b * s->all + s->skip) * s->dim;
        for (size_t j = 0; j < s->dim; j++)
            dx[at + largest_token(x + at, j, s) * s->dim + j] += factor * dy[j];
    }
}

/* ---- sequence pooling ---- */

void vit_sequence_forward(const vit_exec *exec, float *y, float *p, float *scores, const float *x,
                          const vit_linear *w, const vit_mean_shape *s) {
    const size_t all = s->all, row = vit_padded(s->tokens);
    const vit_epilogue none = vit_epilogue_none();
    vit_linear_forward(exec, scores, x, w, NULL, s->batch * all);
    for (size_t b = 0; b < s->batch; b++)
        memcpy(p + b * row, scores + b * all + s->skip, s->tokens * sizeof *p);
    exec->kernels->softmax(p, s->batch, s->tokens);
    for (size_t b = 0; b < s->batch; b++)
        vit_gemm(exec, y + b * s->y_row, s->dim, 1, s->dim, s->tokens,
                 (vit_operand_a){p + b * row, row, 1},
                 vit_b_plain(x + (b * all + s->skip) * s->dim, s->dim), &none);
}

void vit_sequence_backward(const vit_exec *exec, float *dx, const vit_linear_gradient *d, float *dp,
                           float *d_scores, const float *dy, const float *p, const float *x,
                           const vit_linear *w, const vit_mean_shape *s) {
    const size_t all = s->all, row = vit_padded(s->tokens), dim = s->dim;
    const vit_epilogue none = vit_epilogue_none();
    for (size_t b = 0; b < s->batch; b++) /* dp[t] = x[t] . dy */
        vit_gemm(exec, dp + b * row, 1, s->tokens, 1, dim,
                 (vit_operand_a){x + (b * all + s->skip) * dim, dim, 1},
                 vit_b_plain(dy + b * s->y_row, 1), &none);
    exec->kernels->softmax_backward(dp, p, 1, s->batch, s->tokens);
    memset(dx, 0, s->batch * all * dim * sizeof *dx);
    memset(d_scores, 0, s->batch * all * sizeof *d_scores);
    for (size_t b = 0; b < s->batch; b++) {
        const size_t first = b * all + s->skip;
        memcpy(d_scores + first, dp + b * row, s->tokens * sizeof *dp);
        for (size_t t = 0; t < s->tokens; t++)
            exec->kernels->scale(dx + (first + t) * dim, dy + b * s->y_row, p[b * row + t], dim);
    }
    vit_linear_weight_gradient(exec, d, d_scores, 1, x, w, s->batch * all);
    vit_linear_input_gradient(exec, dx, true, d_scores, 1, w, s->batch * all);
}

/* ---- ReLU and max pooling ---- */

#define SIDE ((size_t)3)

typedef struct maxima {
    const vit_kernels *kernels;
    vit_max_shape s;
    float *y, *dx;
    uint8_t *place;
    const float *x, *dy;
    const uint8_t *found; /* `place` in the backward pass */
} maxima;

/* *pixel = the pixel of x at place k of the window of output (y, x); false: that is in the padding.
 */
static bool pixel_of(size_t *pixel, const vit_max_shape *s, size_t y, size_t x, size_t k) {
    /* -1 wraps around to a number that is too large. */
    const size_t row = 2 * y + k / SIDE - 1, column = 2 * x + k % SIDE - 1;
    *pixel = row * s->width + column;
    return row < s->height && column < s->width;
}

/* One row of output pixels. */
static void max_task(size_t index, int thread, void *context) {
    (void)thread;
    const maxima *m = context;
    const size_t channels = m->s.channels, height = m->s.height / 2, width = m->s.width / 2;
    const float *picture = m->x + index / height * m->s.height * m->s.width * channels;
    for (size_t x = 0; x < width; x++) {
        const float *rows[VIT_LARGEST_ROWS];
        const size_t at = (index * width + x) * channels;
        for (size_t k = 0; k < VIT_LARGEST_ROWS; k++) {
            size_t pixel;
            const bool inside = pixel_of(&pixel, &m->s, index % height, x, k);
            rows[k] = inside ? picture + pixel * channels : NULL;
        }
        m->kernels->largest(m->y + at, m->place ? m->place + at : NULL, rows, channels);
    }
}

void vit_max_forward(const vit_exec *exec, float *y, uint8_t *place, const float *x,
                     const vit_max_shape *s) {
    maxima m = {.kernels = exec->kernels, .s = *s, .y = y, .place = place, .x = x};
    const size_t values = s->batch * s->height * s->width * s->channels;
    vit_parallel(vit_exec_threads(exec, 9 * values), s->batch * (s->height / 2), max_task, &m);
}

/* One picture. */
static void max_backward_task(size_t b, int thread, void *context) {
    (void)thread;
    const maxima *m = context;
    const size_t channels = m->s.channels, height = m->s.height / 2, width = m->s.width / 2;
    float *dx = m->dx + b * m->s.height * m->s.width * channels;
    memset(dx, 0, m->s.height * m->s.width * channels * sizeof *dx);
    for (size_t y = 0; y < height; y++) {
        for (size_t x = 0; x < width; x++) {
            const size_t at = ((b * height + y) * width + x) * channels;
            for (size_t c = 0; c < channels; c++) {
                size_t pixel;
                const uint8_t k = m->found[at + c];
                if (k == VIT_NO_PLACE) continue;
                pixel_of(&pixel, &m->s, y, x, k);
                dx[pixel * channels + c] += m->dy[at + c];
            }
        }
    }
}

void vit_max_backward(const vit_exec *exec, float *dx, const float *dy, const uint8_t *place,
                      const vit_max_shape *s) {
    maxima m = {.s = *s, .dx = dx, .dy = dy, .found = place};
    vit_parallel(vit_exec_threads(exec, s->batch * s->height * s->width * s->channels), s->batch,
                 max_backward_task, &m);
}
