#include "vit/ops/int8.h"
#include "vit/base/size.h"
#include <float.h>
#include <math.h>
#include <string.h>

#define NUMBERS ((size_t)4) /* in a quad */

/* ---- weights ---- */

static size_t padded_outputs(size_t out) {
    return vit_ceil_div(out, vit_panel()) * vit_panel();
}

/* Words before the scales. */
static size_t integer_words(size_t out, size_t in) {
    return padded_outputs(out) * vit_ceil_div(in, NUMBERS);
}

size_t vit_int8_words(size_t out, size_t in) {
    return integer_words(out, in) + 2 * padded_outputs(out);
}

const float *vit_int8_scales(const float *packed, size_t out, size_t in) {
    return packed + integer_words(out, in);
}

const int32_t *vit_int8_starts(const float *packed, size_t out, size_t in) {
    return (const int32_t *)(const void *)(vit_int8_scales(packed, out, in) + padded_outputs(out));
}

/* The scale of n numbers, `step` apart. */
static float scale_of(const float *w, size_t step, size_t n) {
    float most = 0;
    for (size_t p = 0; p < n; p++) most = fmaxf(most, fabsf(w[p * step]));
    return most / 127 >= FLT_MIN ? most / 127 : 0;
}

/* |x| <= 128, to nearest, ties to even: beside 1.5 * 2^23 floats are 1 apart. */
static int nearest(float x) {
    const float near = x + 0x1.8p23f;
    return (int)(near - 0x1.8p23f);
}

static int round_one(float x, float scale) {
    return scale > 0 ? nearest(x / scale) : 0;
}

/* Where output o of a packed layer has its first integer, in words; where integer p is from there.
 */
static size_t word_of(size_t in, size_t o) {
    const size_t panel = vit_panel();
    return o / panel * panel * vit_ceil_div(in, NUMBERS) + o % panel;
}

static size_t at(size_t p, size_t panel) {
    return p / NUMBERS * panel * NUMBERS + p % NUMBERS;
}

/* What stands after the integers; sum: of those of output o. */
static void end_output(float *packed, size_t out, size_t in, size_t o, float scale, int32_t sum) {
    float *scales = packed + integer_words(out, in);
    const int32_t start = -128 * sum;
    scales[o] = scale;
    memcpy(scales + padded_outputs(out) + o, &start, sizeof start);
}

/* Output o, of weights that are `step` apart. scale: NULL or negative: by the rule. */
static void pack_output(float *packed, size_t out, size_t in, size_t o, const float *w, size_t step,
                        const float *scale) {
    const float s = scale && *scale >= 0 ? *scale : scale_of(w, step, in);
    int8_t *to = (int8_t *)(packed + word_of(in, o));
    const size_t panel = vit_panel();
    int32_t sum = 0;
    for (size_t p = 0; p < in; p++) sum += to[at(p, panel)] = (int8_t)round_one(w[p * step], s);
    end_output(packed, out, in, o, s, sum);
}

static void clear(float *packed, size_t out, size_t in) {
    if (out % vit_panel() > 0 || in % NUMBERS > 0)
        memset(packed, 0, vit_int8_words(out, in) * sizeof *packed);
}

void vit_int8_pack(float *packed, const float *w, const float *scales, size_t out, size_t in) {
    clear(packed, out, in);
    for (size_t o = 0; o < out; o++)
        pack_output(packed, out, in, o, w + o * in, 1, scales ? scales + o : NULL);
}

void vit_int8_pack_integers(float *packed, const int8_t *w, const float *scales, size_t out,
                            size_t in) {
    const size_t panel = vit_panel();
    clear(packed, out, in);
    for (size_t o = 0; o < out; o++, w += in) {
        int8_t *to = (int8_t *)(packed + word_of(in, o));
        int32_t sum = 0;
        for (size_t p = 0; p < in; p++) sum += to[at(p, panel)] = scales[o] > 0 ? w[p] : 0;
        end_output(packed, out, in, o, scales[o], sum);
    }
}

/* Output o in panels of floats; its weights are vit_panel() apart. */
static size_t in_panels(size_t o, size_t in) {
    const size_t panel = vit_panel();
    return o / panel * panel * in + o % panel;
}

void vit_int8_pack_panels(float *packed, const float *panels, size_t out, size_t in) {
    clear(packed, out, in);
    for (size_t o = 0; o < out; o++)
        pack_output(packed, out, in, o, panels + in_panels(o, in), vit_panel(), NULL);
}

/* The weights of output o, `step` apart. */
static void unpack_output(float *to, size_t step, const float *packed, size_t out, size_t in,
                          size_t o) {
    const float scale = vit_int8_scales(packed, out, in)[o];
    const int8_t *from = (const int8_t *)(packed + word_of(in, o));
    const size_t panel = vit_panel();
    for (size_t p = 0; p < in; p++) to[p * step] = scale * (float)from[at(p, panel)];
}

void vit_int8_unpack_panels(float *panels, const float *packed, size_t out, size_t in) {
    for (size_t o = 0; o < padded_outputs(out); o++)
        unpack_output(panels + in_panels(o, in), vit_panel(), packed, out, in, o);
}

void vit_int8_unpack(float *w, const float *packed, size_t out, size_t in) {
    for (size_t o = 0; o < out; o++) unpack_output(w + o * in, 1, packed, out, in, o);
}

void vit_int8_round(int8_t *integers, float *scales, const float *w, size_t out, size_t in) {
    for (size_t o = 0; o < out; o++, w += in) {
        if (scales[o] < 0) scales[o] = scale_of(w, 1, in);
        for (size_t p = 0; p < in; p++) *integers++ = (int8_t)round_one(w[p], scales[o]);
    }
}

/* ---- y = x W^T ---- */

/* Rows that are converted by one task. */
#define ROWS_A_TASK ((size_t)16)

/* Roughly what a number costs in multiply-adds. */
#define NUMBER_COST 2

/* Rows of x, and where they go: in the threads' room, of which a product in int8 needs nothing
 * else. */
typedef struct quantising {
    const vit_product_kernels *inner;
    const float *x;
    float *words, *scales;
    size_t rows, in, row; /* row: words from row to row */
} quantising;

static void quantise_task(size_t index, int thread, void *context) {
    (void)thread;
    const quantising *q = context;
    const size_t first = index * ROWS_A_TASK, end = vit_min(first + ROWS_A_TASK, q->rows);
    for (size_t i = first; i < end; i++)
        q->inner->quantise(q->words + i * q->row, q->scales + i, q->x + i * q->in, q->in);
}

/* As many rows at a time as fit into the room. 16 words more than a row needs, since rows whose
 * distance is no power of two do not compete for the same sets of the cache. */
void vit_int8_forward(const vit_exec *exec, float *y, const float *x, const vit_linear *w,
                      const vit_epilogue *e, size_t rows) {
    vit_exec with = *exec;
    with.precision = VIT_PRECISION_INT8;
    const vit_product_kernels *inner = vit_products_of(&with);
    const size_t quads = vit_words(VIT_PRECISION_INT8, w->in);
    const size_t row = vit_padded(quads) * inner->a_words + 16;
    const size_t room = (size_t)exec->threads * VIT_GEMM_ROOM;
    const size_t parts = vit_ceil_div(rows, room / (row + 1));
    for (size_t i = 0; i < parts; i++) {
        const size_t first = rows * i / parts, count = rows * (i + 1) / parts - first;
        quantising q = {.inner = inner,
                        .x = x + first * w->in,
                        .words = exec->room,
                        .scales = exec->room + count * row,
                        .rows = count,
                        .in = w->in,
                        .row = row};
        vit_parallel(vit_exec_threads(exec, count * w->in * NUMBER_COST),
                     vit_ceil_div(count, ROWS_A_TASK), quantise_task, &q);
        vit_epilogue part = *e;
        vit_epilogue_move(&part, first, 0);
        part.row_scales = q.scales;
        part.column_scales = w->scales;
        part.start = w->starts;
        vit_gemm(&with, y + first * w->out, w->out, count, w->out, quads,
                 (vit_operand_a){q.words, row, inner->a_words}, vit_b_packed(w->packed, quads),
                 &part);
    }
}
