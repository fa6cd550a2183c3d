#include "vit/ops/rope.h"
#include "vit/base/math.h"

/* Roughly what a pair of features costs in multiply-adds. */
#define PAIR_COST 8

/* ---- turning ---- */

typedef struct turning {
    const vit_rope_shape *s;
    float *x;
    const float *table;
    float sign;
} turning;

/* One head: pairs are `apart` floats apart, the first features of two pairs `step`. */
static inline void turn_head(float *restrict x, const float *restrict cosines, float sign,
                             size_t half, size_t apart, size_t step) {
    const float *restrict sines = cosines + half;
    for (size_t j = 0; j < half; j++) {
        const float a = x[j * step], b = x[j * step + apart], sine = sign * sines[j];
        x[j * step] = a * cosines[j] - b * sine;
        x[j * step + apart] = b * cosines[j] + a * sine;
    }
}

static void turn_row(size_t index, int thread, void *context) {
    (void)thread;
    const turning *t = context;
    const vit_rope_shape *s = t->s;
    const size_t token = index % s->tokens, half = s->head_dim / 2;
    if (token < s->skip) return;
    const size_t patches = s->tokens - s->skip;
    const float *at = t->table + (token - s->skip) * s->head_dim;
    float *x = t->x + index * s->row;
    for (size_t h = 0; h < s->heads; h++, x += s->head_dim) {
        const float *cosines = at + (s->by_head ? h * patches * s->head_dim : 0);
        if (s->halves)
            turn_head(x, cosines, t->sign, half, half, 1);
        else
            turn_head(x, cosines, t->sign, half, 1, 2);
    }
}

void vit_rope_turn(const vit_exec *exec, float *x, const float *table, const vit_rope_shape *s,
                   bool back) {
    turning t = {s, x, table, back ? -1.0f : 1.0f};
    const size_t pairs = s->rows * s->heads * s->head_dim / 2;
    vit_parallel(vit_exec_threads(exec, pairs * PAIR_COST), s->rows, turn_row, &t);
}

/* ---- learned frequencies ---- */

typedef struct mixing {
    const vit_rope_grid *grid;
    const vit_rope_shape *s; /* of the backward pass */
    size_t half;
    float *table;
    const float *f[2]; /* of a step of a row, and of a column */
    float *d_f[2];
    const float *const *x, *const *dx;
} mixing;

/* The tables of a head: first those of the first row of patches; the others' angles are these and
 * one for the row. */
static void mix_head(size_t head, int thread, void *context) {
    (void)thread;
    const mixing *m = context;
    const size_t columns = m->grid->columns, width = 2 * m->half;
    float *table = m->table + head * m->grid->rows * columns * width;
    for (size_t j = 0; j < m->half; j++) {
        const double by_row = (double)m->f[0][head * m->half + j];
        const double by_column = (double)m->f[1][head * m->half + j];
        for (size_t c = 0; c < columns; c++) {
            table[c * width + j] = (float)vit_cos((double)c * by_column);
            table[c * width + m->half + j] = (float)vit_sin((double)c * by_column);
        }
        for (size_t r = 1; r < m->grid->rows; r++) {
            const double cosine = vit_cos((double)r * by_row), sine = vit_sin((double)r * by_row);
            float *out = table + r * columns * width + j;
            for (size_t c = 0; c < columns; c++, out += width) {
                const double a = (double)table[c * width + j];
                const double b = (double)table[c * width + m->half + j];
                out[0] = (float)(a * cosine - b * sine);
                out[m->half] = (float)(b * cosine + a * sine);
            }
        }
    }
}

void vit_rope_mixed_forward(const vit_exec *exec, float *table, const float *const f[2],
                            const vit_rope_grid *grid, size_t heads, size_t half) {
    const size_t row = grid->columns_first;
    mixing m = {.grid = grid, .half = half, .table = table, .f = {f[row], f[1 - row]}};
    const size_t pairs = heads * half * grid->rows * grid->columns;
    vit_parallel(vit_exec_threads(exec, pairs * PAIR_COST), heads, mix_head, &m);
}

/* A pair (a, b) that was turned by an angle has the derivative (-b, a) with respect to it. */
static void mix_pairs(float *by_row, float *by_column, const mixing *m, size_t patch,
                      const float *x, const float *dx) {
    const vit_rope_shape *s = m->s;
    const size_t half = s->head_dim / 2, apart = s->halves ? half : 1, step = s->halves ? 1 : 2;
    const float r = (float)(patch / m->grid->columns), c = (float)(patch % m->grid->columns);
    for (size_t j = 0; j < half; j++, x += step, dx += step) {
        const float d = dx[apart] * x[0] - dx[0] * x[apart];
        by_row[j] += r * d;
        by_column[j] += c * d;
    }
}

static void mix_head_backward(size_t head, int thread, void *context) {
    (void)thread;
    const mixing *m = context;
    const vit_rope_shape *s = m->s;
    const size_t first = head * s->head_dim / 2;
    for (size_t i = 0; i < s->rows; i++) {
        const size_t token = i % s->tokens, at = i * s->row + head * s->head_dim;
        for (size_t k = 0; k < 2 && token >= s->skip; k++)
            if (m->x[k])
                mix_pairs(m->d_f[0] + first, m->d_f[1] + first, m, token - s->skip, m->x[k] + at,
                          m->dx[k] + at);
    }
}

void vit_rope_mixed_backward(const vit_exec *exec, float *const d_f[2], const float *const dx[2],
                             const float *const x[2], const vit_rope_grid *grid,
                             const vit_rope_shape *s) {
    const size_t row = grid->columns_first;
    mixing m = {.grid = grid, .s = s, .d_f = {d_f[row], d_f[1 - row]}, .x = x, .dx = dx};
    vit_parallel(vit_exec_threads(exec, s->rows * s->heads * s->head_dim / 2 * PAIR_COST), s->heads,
                 mix_head_backward, &m);
}
