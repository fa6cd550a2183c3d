#include "vit/model/resample_positions.h"
#include "vit/base/math.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include <math.h>
#include <string.h>

typedef struct method {
    bool cubic, antialiased, corners;
    bool square; /* to a square, of which the first rows and columns are taken */
} method;

static const method methods[] = {
    [VIT_POSITIONS_OF_TIMM] = {.cubic = true, .antialiased = true},
    [VIT_POSITIONS_OF_TIMM_NPZ] = {0},
    [VIT_POSITIONS_OF_HUGGING_FACE] = {.cubic = true},
    [VIT_POSITIONS_OF_TORCHVISION] = {.cubic = true, .corners = true},
    [VIT_POSITIONS_OF_GOOGLE] = {.corners = true},
    [VIT_POSITIONS_OF_NAFLEX] = {.antialiased = true},
    [VIT_POSITIONS_OF_NAFLEX_CUBIC] = {.cubic = true, .antialiased = true, .square = true},
    [VIT_POSITIONS_OF_NAFLEX_LINEAR] = {.square = true},
    [VIT_POSITIONS_OF_NAFLEX_CORNERS] = {.corners = true, .square = true},
};
VIT_CHECK_ROWS(methods, VIT_POSITIONS_OF_COUNT);

/* Resampling along one axis: output cell x is the sum of weight[x][i] * input cell index[x][i] over
 * i < count[x]. */
typedef struct axis {
    size_t in, out;
    size_t taps;           /* input cells of one output cell, at most */
    size_t *count, *index; /* [out], [out][taps] */
    double *weight;        /* [out][taps] */
} axis;

static double kernel(const method *m, double x) {
    return m->cubic ? vit_cubic(x, m->antialiased ? -0.5 : -0.75) : vit_triangle(x);
}

static double support(const method *m) {
    return m->cubic ? 2 : 1;
}

/* Weights of the window around `center`, in cells from the grid's edge. What lies beyond the edge
 * is left out; the weights are divided by their sum. vit/image/axis.c has the same in double, as
 * Pillow does. */
static void fill_antialiased(axis *a, const method *m, size_t x, float center, float stretch) {
    const float reach = (float)support(m) * stretch, inverse = 1 / stretch;
    const float low = center - reach + 0.5f, high = center + reach + 0.5f;
    const size_t first = low < 0 ? 0 : (size_t)low;
    const size_t end = high > (float)a->in ? a->in : (size_t)high;
    double sum = 0;
    a->count[x] = end - first;
    for (size_t i = 0; i < end - first; i++) {
        const double weight = kernel(m, ((float)(first + i) - center + 0.5f) * inverse);
        a->index[x * a->taps + i] = first + i;
        a->weight[x * a->taps + i] = weight;
        sum += weight;
    }
    for (size_t i = 0; i < end - first; i++) a->weight[x * a->taps + i] /= sum;
}

/* Weights around the point `at`, in cells from the first cell's centre; beyond the edge its cell is
 * repeated. */
static void fill_plain(axis *a, const method *m, size_t x, double at) {
    const int taps = m->cubic ? 4 : 2, before = taps / 2 - 1;
    if (!m->cubic && at < 0) at = 0;
    const double below = floor(at);
    a->count[x] = (size_t)taps;
    for (int i = 0; i < taps; i++) {
        const double cell = below - before + i;
        a->index[x * a->taps + (size_t)i] = cell < 0                     ? 0
                                            : cell > (double)(a->in - 1) ? a->in - 1
                                                                         : (size_t)cell;
        a->weight[x * a->taps + (size_t)i] = kernel(m, cell - at);
    }
}

/* torch computes coordinates in float, scipy, which Google's libraries use, in double: in a grid of
 * 50 cells that is a difference of 1e-5 of a cell. */
static void fill(axis *a, const method *m, size_t x) {
    const float scale = (float)a->in / (float)a->out, at = (float)x + 0.5f;
    if (m->antialiased)
        fill_antialiased(a, m, x, scale * at, scale > 1 ? scale : 1);
    else if (!m->corners)
        fill_plain(a, m, x, scale * at - 0.5f);
    else if (a->out == 1)
        fill_plain(a, m, x, 0);
    else if (m->cubic)
        fill_plain(a, m, x, (float)(a->in - 1) / (float)(a->out - 1) * (float)x);
    else
        fill_plain(a, m, x, (double)(x * (a->in - 1)) / (double)(a->out - 1));
}

static void axis_free(axis *a) {
    vit_free(a->count);
    vit_free(a->index);
    vit_free(a->weight);
}

static vit_status axis_init(axis *a, size_t in, size_t out, const method *m, vit_error *error) {
    const double stretch = m->antialiased && in > out ? (float)in / (float)out : 1;
    *a = (axis){.in = in, .out = out, .taps = 2 * (size_t)ceil(support(m) * stretch) + 1};
    a->count = vit_alloc(out, sizeof *a->count);
    a->index = vit_alloc(out * a->taps, sizeof *a->index);
    a->weight = vit_alloc(out * a->taps, sizeof *a->weight);
    if (!a->count || !a->index || !a->weight)
        return vit_fail_memory(error, "positions", out * a->taps * sizeof *a->weight);
    for (size_t x = 0; x < out; x++) fill(a, m, x);
    return VIT_OK;
}

/* out: [dim], the positions of output cell (y, x); sums: [dim] of scratch. */
static void mix(float *out, double *sums, const float *in, size_t dim, const axis *v, size_t y,
                const axis *h, size_t x) {
    memset(sums, 0, dim * sizeof *sums);
    for (size_t i = 0; i < v->count[y]; i++) {
        for (size_t j = 0; j < h->count[x]; j++) {
            const size_t row = v->index[y * v->taps + i], column = h->index[x * h->taps + j];
            const double weight = v->weight[y * v->taps + i] * h->weight[x * h->taps + j];
            const float *from = in + (row * h->in + column) * dim;
            for (size_t k = 0; k < dim; k++) sums[k] += weight * (double)from[k];
        }
    }
    for (size_t k = 0; k < dim; k++) out[k] = (float)sums[k];
}

static vit_status resample(float *out, const float *in, size_t dim, vit_grid to, vit_grid from,
                           const method *m, vit_error *error) {
    axis v = {0}, h = {0};
    const size_t side = vit_max(to.height, to.width);
    double *sums = vit_alloc(dim, sizeof *sums);
    vit_status status = sums ? VIT_OK : vit_fail_memory(error, "positions", dim * sizeof *sums);
    if (status == VIT_OK)
        status = axis_init(&v, from.height, m->square ? side : to.height, m, error);
    if (status == VIT_OK) status = axis_init(&h, from.width, m->square ? side : to.width, m, error);
    for (size_t y = 0; status == VIT_OK && y < to.height; y++)
        for (size_t x = 0; x < to.width; x++, out += dim) mix(out, sums, in, dim, &v, y, &h, x);
    axis_free(&v);
    axis_free(&h);
    vit_free(sums);
    return status;
}

vit_status vit_positions_resample(float *out, const float *in, size_t prefix, size_t dim,
                                  vit_grid to, vit_grid from, vit_position_rule rule,
                                  vit_error *error) {
    const bool same = to.height == from.height && to.width == from.width;
    const size_t copied = (prefix + (same ? from.height * from.width : 0)) * dim;
    memcpy(out, in, copied * sizeof *out);
    if (same) return VIT_OK;
    return resample(out + copied, in + copied, dim, to, from, &methods[rule], error);
}
