#include "vit/ops/conv.h"
#include "vit/base/size.h"
#include <stdbool.h>
#include <string.h>

#define SIDE ((size_t)3) /* of the kernel */
#define PADDING ((size_t)1)
#define CHUNK_FLOATS ((size_t)1 << 16) /* of columns at a time: 256 KiB, part of a cache */

typedef struct walk {
    vit_conv_shape s;
    size_t stride, out_height, out_width;
    float *to;
    const float *from;
    const vit_kernels *kernels; /* only for dx */
} walk;

static size_t stride_of(vit_conv_kind kind) {
    switch (kind) {
    case VIT_CONV_STEM:
        return 2;
    case VIT_CONV_TOKENIZER:
        break;
    }
    return 1;
}

static walk walk_of(const vit_conv_shape *s, float *to, const float *from) {
    const size_t stride = stride_of(s->kind);
    return (walk){*s,   stride, (s->height - 1) / stride + 1, (s->width - 1) / stride + 1, to,
                  from, NULL};
}

size_t vit_conv_pixels(const vit_conv_shape *s) {
    const walk w = walk_of(s, NULL, NULL);
    return w.out_height * w.out_width;
}

static size_t picture_columns(const vit_conv_shape *s) {
    return vit_conv_pixels(s) * SIDE * SIDE * s->channels;
}

/* Pictures whose columns are made and used at once. */
static size_t chunk_of(const vit_conv_shape *s) {
    return vit_min(vit_max(CHUNK_FLOATS / picture_columns(s), 1), s->batch);
}

size_t vit_conv_columns(const vit_conv_shape *s) {
    return chunk_of(s) * picture_columns(s);
}

/* *in = the input row (or column) under row k of the kernel at output row `out`; false: that is in
 * the padding. */
static bool input_of(size_t *in, size_t stride, size_t out, size_t k, size_t size) {
    *in = stride * out + k - PADDING;
    return stride * out + k >= PADDING && *in < size;
}

/* *out = the output row whose kernel has its row k on input row `in`; false: there is none. */
static bool output_of(size_t *out, size_t stride, size_t in, size_t k, size_t size) {
    *out = (in + PADDING - k) / stride;
    return in + PADDING >= k && (in + PADDING - k) % stride == 0 && *out < size;
}

/* The columns of one row of output pixels, of a stem. */
static void extract_task(size_t index, int thread, void *context) {
    (void)thread;
    const walk *w = context;
    const size_t channels = w->s.channels, row = SIDE * SIDE * channels;
    const float *picture = w->from + index / w->out_height * w->s.height * w->s.width * channels;
    float *to = w->to + index * w->out_width * row;
    for (size_t x = 0; x < w->out_width; x++, to += row) {
        for (size_t k = 0; k < SIDE * SIDE; k++) {
            size_t in_y, in_x;
            const bool there =
                input_of(&in_y, w->stride, index % w->out_height, k / SIDE, w->s.height);
            const bool inside = input_of(&in_x, w->stride, x, k % SIDE, w->s.width) && there;
            const float *pixel = inside ? picture + (in_y * w->s.width + in_x) * channels : NULL;
            for (size_t c = 0; c < channels; c++) to[c * SIDE * SIDE + k] = pixel ? pixel[c] : 0;
        }
    }
}

/* n: a multiple of 3. Few numbers are copied here, since a call of memcpy would cost more. */
static void copy_pixels(float *to, const float *from, size_t n) {
    if (n > 12) {
        memcpy(to, from, n * sizeof *to);
        return;
    }
    for (size_t i = 0; i < n; i += 3) {
        const float a = from[i], b = from[i + 1], c = from[i + 2];
        to[i] = a, to[i + 1] = b, to[i + 2] = c;
    }
}

/* The same for a tokenizer: the three pixels under a row of the kernel are contiguous in x. */
static void extract_pixels_task(size_t index, int thread, void *context) {
    (void)thread;
    const walk *w = context;
    const size_t channels = w->s.channels, width = w->s.width, part = SIDE * channels;
    const float *picture = w->from + index / w->s.height * w->s.height * width * channels;
    float *to = w->to + index * width * SIDE * part;
    for (size_t x = 0; x < width; x++) {
        const size_t left = x == 0 ? channels : 0, right = x + 1 == width ? channels : 0;
        for (size_t k = 0; k < SIDE; k++, to += part) {
            size_t y;
            if (!input_of(&y, 1, index % w->s.height, k, w->s.height)) {
                memset(to, 0, part * sizeof *to);
                continue;
            }
            const float *from = picture + (y * width + x) * channels + left - channels;
            if (left + right == 0) {
                copy_pixels(to, from, part);
                continue;
            }
            memset(to, 0, left * sizeof *to);
            memcpy(to + left, from, (part - left - right) * sizeof *to);
            memset(to + part - right, 0, right * sizeof *to);
        }
    }
}

/* One row of pixels of dx: each gathers its gradient from all columns that it was copied to, at
 * most four with stride 2, nine with stride 1. */
static void gather_task(size_t index, int thread, void *context) {
    (void)thread;
    const walk *w = context;
    const size_t channels = w->s.channels, row = SIDE * SIDE * channels;
    const size_t first = index / w->s.height * w->out_height; /* output row of this picture */
    float *to = w->to + index * w->s.width * channels;
    memset(to, 0, w->s.width * channels * sizeof *to);
    for (size_t x = 0; x < w->s.width; x++, to += channels) {
        for (size_t k = 0; k < SIDE * SIDE; k++) {
            size_t out_y, out_x;
            if (!output_of(&out_y, w->stride, index % w->s.height, k / SIDE, w->out_height))
                continue;
            if (!output_of(&out_x, w->stride, x, k % SIDE, w->out_width)) continue;
            const float *from = w->from + ((first + out_y) * w->out_width + out_x) * row;
            switch (w->s.kind) {
            case VIT_CONV_TOKENIZER:
                w->kernels->add(to, from + k * channels, channels);
                break;
            case VIT_CONV_STEM:
                for (size_t c = 0; c < channels; c++) to[c] += from[c * SIDE * SIDE + k];
                break;
            }
        }
    }
}

static void extract(const vit_exec *exec, float *columns, const float *x, const vit_conv_shape *s) {
    walk w = walk_of(s, columns, x);
    vit_task *task = NULL;
    switch (s->kind) {
    case VIT_CONV_STEM:
        task = extract_task;
        break;
    case VIT_CONV_TOKENIZER:
        task = extract_pixels_task;
        break;
    }
    vit_parallel(vit_exec_threads(exec, s->batch * picture_columns(s)), s->batch * w.out_height,
                 task, &w);
}

void vit_conv_forward(const vit_exec *exec, float *y, const float *x, const vit_linear *w,
                      const vit_conv_shape *s, float *columns) {
    const size_t pixels = vit_conv_pixels(s), chunk = chunk_of(s);
    vit_conv_shape now = *s;
    for (size_t left = s->batch; left > 0; left -= now.batch) {
        now.batch = vit_min(left, chunk);
        extract(exec, columns, x, &now);
        vit_linear_forward(exec, y, columns, w, NULL, now.batch * pixels);
        x += now.batch * s->height * s->width * s->channels;
        y += now.batch * pixels * w->out;
    }
}

void vit_conv_backward(const vit_exec *exec, float *dx, const vit_linear_gradient *d,
                       const float *dy, const float *x, const vit_linear *w,
                       const vit_conv_shape *s, float *columns, float *d_columns) {
    const size_t pixels = vit_conv_pixels(s), chunk = chunk_of(s);
    vit_linear_gradient sum = *d;
    vit_conv_shape now = *s;
    for (size_t left = s->batch; left > 0; left -= now.batch) {
        now.batch = vit_min(left, chunk);
        const size_t inputs = now.batch * s->height * s->width * s->channels;
        extract(exec, columns, x, &now);
        vit_linear_backward(exec, dx ? d_columns : NULL, &sum, dy, columns, w, now.batch * pixels);
        sum.begins = false;
        x += inputs;
        dy += now.batch * pixels * w->out;
        if (!dx) continue;
        walk gather = walk_of(&now, dx, d_columns);
        gather.kernels = exec->kernels;
        vit_parallel(vit_exec_threads(exec, now.batch * picture_columns(s)), now.batch * s->height,
                     gather_task, &gather);
        dx += inputs;
    }
}
