#include "vit/few_shot/samples.h"
#include "vit/base/parallel.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include <math.h>
#include <string.h>

/* Singular values below this share of the largest are those of rounding. */
#define NOTHING 1e-14

/* With this many rows for each feature no picture decides alone, and Z in float is enough where
 * double would take seconds. */
#define MANY 8
#define MOST_DOUBLE ((size_t)4000000000)

/* ---- standardising ---- */

enum { COLUMNS = 16, ROWS = 512 };

/* Mean and deviation of some columns, each one chain over the rows. */
static void measure_columns(size_t index, int thread, void *context) {
    (void)thread;
    const vit_spectrum *s = context;
    const size_t d = s->samples->width, first = index * COLUMNS;
    const size_t count = vit_min(COLUMNS, d - first);
    const double n = (double)s->rows;
    double *mean = s->mean + first, *std = s->std + first;
    for (size_t i = 0; i < s->rows; i++)
        for (size_t j = 0; j < count; j++)
            mean[j] += (double)s->samples->features[i * d + first + j];
    for (size_t j = 0; j < count; j++) mean[j] /= n;
    for (size_t i = 0; i < s->rows; i++)
        for (size_t j = 0; j < count; j++) {
            const double x = (double)s->samples->features[i * d + first + j] - mean[j];
            std[j] += x * x;
        }
    for (size_t j = 0; j < count; j++) {
        std[j] = sqrt(std[j] / n);
        if (std[j] <= 1e-12 * fabs(mean[j])) std[j] = 1; /* it does not vary, except by rounding */
    }
}

static void standardise_row(size_t i, int thread, void *context) {
    (void)thread;
    const vit_spectrum *s = context;
    const size_t d = s->samples->width;
    for (size_t j = 0; j < d; j++)
        s->standard[i * d + j] =
            (float)(((double)s->samples->features[i * d + j] - s->mean[j]) / s->std[j]);
}

static void shift_columns(size_t index, int thread, void *context) {
    (void)thread;
    const vit_spectrum *s = context;
    const size_t d = s->samples->width, first = index * COLUMNS;
    const size_t count = vit_min(COLUMNS, d - first);
    for (size_t i = 0; i < s->rows; i++)
        for (size_t j = 0; j < count; j++)
            s->shift[first + j] +=
                s->scale[i] * s->scale[i] * (double)s->standard[i * d + first + j];
    for (size_t j = 0; j < count; j++) s->shift[first + j] /= s->total;
}

/* scale[i] = sqrt of the weight of row i. */
static vit_status weigh(vit_spectrum *s, vit_error *error) {
    const vit_samples *x = s->samples;
    size_t *counts = vit_alloc(x->classes, sizeof *counts);
    if (!counts) return vit_fail_memory(error, "classes", x->classes * sizeof *counts);
    size_t present = 0;
    for (size_t i = 0; i < x->pictures; i++) present += counts[x->labels[i]]++ == 0;
    for (size_t i = 0; i < s->rows; i++) {
        const size_t label = x->labels[i / x->views];
        const double even = (double)x->pictures / (double)(present * counts[label]);
        const double weight = (x->balance ? even : 1) / (double)x->views;
        s->scale[i] = sqrt(weight);
        s->total += weight;
    }
    vit_free(counts);
    return VIT_OK;
}

static vit_status standardise(vit_spectrum *s, vit_error *error) {
    const size_t d = s->samples->width, chunks = vit_ceil_div(d, COLUMNS);
    for (size_t i = 0; i < s->rows * d; i++)
        if (!isfinite(s->samples->features[i]))
            return vit_fail(error, VIT_ERROR_ARGUMENT,
                            "feature %zu of picture %zu is not a finite number", i % d,
                            i / d / s->samples->views);
    const vit_status status = weigh(s, error);
    if (status != VIT_OK) return status;
    vit_parallel(s->exec.threads, chunks, measure_columns, s);
    vit_parallel(s->exec.threads, s->rows, standardise_row, s);
    vit_parallel(s->exec.threads, chunks, shift_columns, s);
    return VIT_OK;
}

/* ---- decomposing ---- */

/* The rows sqrt(w) (x - shift). */
static vit_matrix centred(const vit_spectrum *s) {
    return (vit_matrix){.floats = s->standard,
                        .row = s->samples->width,
                        .column = 1,
                        .shift = s->shift,
                        .scale = s->scale};
}

static size_t rank_of(const double *values, size_t n) {
    size_t rank = 0;
    while (rank < n && values[rank] > NOTHING * values[0] && values[rank] > 0) rank++;
    return rank;
}

/* Fewer rows than features: X X^T = U diag(values) U^T, Z = U sqrt(values), V = X^T U /
 * sqrt(values). */
static vit_status decompose_rows(vit_spectrum *s, vit_error *error) {
    const size_t n = s->rows, d = s->samples->width;
    const vit_matrix x = centred(s);
    double *u = vit_alloc(n, n * sizeof *u);
    if (!u) return vit_fail_memory(error, "a decomposition", n * n * sizeof *u);
    s->values = vit_alloc(n, sizeof *s->values);
    vit_status status = s->values ? vit_matrix_gram(u, n, d, &x, true, s->exec.threads, error)
                                  : vit_fail_memory(error, "a decomposition", n * sizeof *u);
    if (status == VIT_OK) status = vit_matrix_eigen(u, s->values, n, s->exec.threads, error);
    if (status == VIT_OK) {
        s->rank = rank_of(s->values, n);
        s->right = vit_alloc(s->rank, d * sizeof *s->right);
        s->z = vit_alloc(n, s->rank * sizeof *s->z);
        if (!s->right || !s->z)
            status = vit_fail_memory(error, "a decomposition", s->rank * (n + d) * sizeof *u);
    }
    const vit_matrix rows = vit_matrix_of(u, n);
    if (status == VIT_OK)
        status = vit_matrix_product(s->right, s->rank, d, n, &rows, &x, s->exec.threads, error);
    for (size_t j = 0; j < s->rank && status == VIT_OK; j++) {
        const double root = sqrt(s->values[j]);
        for (size_t k = 0; k < d; k++) s->right[j * d + k] /= root;
        for (size_t i = 0; i < n; i++) s->z[i * s->rank + j] = u[j * n + i] * root;
    }
    vit_free(u);
    return status;
}

/* Z in float: X V by the library's product, with the shift taken off afterwards. */
static vit_status turn_many(vit_spectrum *s, vit_error *error) {
    const size_t d = s->samples->width, r = s->rank;
    float *axes = vit_alloc(d, r * sizeof *axes);
    double *off = vit_alloc(r, sizeof *off);
    s->floats = vit_alloc_unset(s->rows, r * sizeof *s->floats);
    vit_status status = VIT_OK;
    if (!axes || !off || !s->floats)
        status = vit_fail_memory(error, "turned features", s->rows * r * sizeof *axes);
    if (status == VIT_OK) {
        for (size_t j = 0; j < r; j++)
            for (size_t k = 0; k < d; k++) {
                axes[k * r + j] = (float)s->right[j * d + k];
                off[j] += s->shift[k] * s->right[j * d + k];
            }
        const vit_epilogue plain = vit_epilogue_none();
        vit_gemm(&s->exec, s->floats, r, s->rows, r, d, (vit_operand_a){s->standard, d, 1},
                 vit_b_plain(axes, r), &plain);
        for (size_t i = 0; i < s->rows; i++)
            for (size_t j = 0; j < r; j++) {
                float *z = &s->floats[i * r + j];
                *z = (float)(((double)*z - off[j]) * s->scale[i]);
            }
    }
    vit_free(axes);
    vit_free(off);
    return status;
}

/* X^T X = V diag(values) V^T, Z = X V. */
static vit_status decompose_columns(vit_spectrum *s, vit_error *error) {
    const size_t n = s->rows, d = s->samples->width;
    const vit_matrix x = centred(s);
    s->right = vit_alloc(d, d * sizeof *s->right);
    s->values = vit_alloc(d, sizeof *s->values);
    if (!s->right || !s->values)
        return vit_fail_memory(error, "a decomposition", d * d * sizeof *s->right);
    vit_status status = vit_matrix_gram(s->right, n, d, &x, false, s->exec.threads, error);
    if (status == VIT_OK) status = vit_matrix_eigen(s->right, s->values, d, s->exec.threads, error);
    if (status != VIT_OK) return status;
    s->rank = rank_of(s->values, d);
    const size_t most = s->samples->most_double > 0 ? s->samples->most_double : MOST_DOUBLE;
    if (n >= MANY * d && n * d * d > most) return turn_many(s, error);
    const vit_matrix axes = {.doubles = s->right, .row = 1, .column = d};
    s->z = vit_alloc(n, s->rank * sizeof *s->z);
    if (!s->z) return vit_fail_memory(error, "turned features", n * s->rank * sizeof *s->z);
    return vit_matrix_product(s->z, n, s->rank, d, &x, &axes, s->exec.threads, error);
}

vit_status vit_spectrum_new(vit_spectrum *s, const vit_samples *samples, const vit_kernels *kernels,
                            int threads, vit_error *error) {
    const size_t rows = samples->pictures * samples->views, d = samples->width;
    *s = (vit_spectrum){.samples = samples, .rows = rows};
    s->exec = (vit_exec){.kernels = kernels, .threads = threads};
    s->exec.room = vit_alloc_unset((size_t)threads, VIT_GEMM_ROOM * sizeof *s->exec.room);
    s->mean = vit_alloc(3 * d + rows, sizeof *s->mean);
    s->standard = vit_alloc_unset(rows, d * sizeof *s->standard);
    if (!s->exec.room || !s->mean || !s->standard)
        return vit_fail_memory(error, "standardised features", rows * d * sizeof *s->standard);
    s->std = s->mean + d;
    s->shift = s->std + d;
    s->scale = s->shift + d;
    const vit_status status = standardise(s, error);
    if (status != VIT_OK) return status;
    return rows <= d ? decompose_rows(s, error) : decompose_columns(s, error);
}

void vit_spectrum_free(vit_spectrum *s) {
    vit_free(s->exec.room);
    vit_free(s->mean);
    vit_free(s->standard);
    vit_free(s->values);
    vit_free(s->right);
    vit_free(s->z);
    vit_free(s->floats);
    *s = (vit_spectrum){0};
}

/* ---- products with it ---- */

void vit_spectrum_row(double *row, const vit_spectrum *s, size_t i) {
    if (s->z) {
        memcpy(row, s->z + i * s->rank, s->rank * sizeof *row);
        return;
    }
    for (size_t j = 0; j < s->rank; j++) row[j] = (double)s->floats[i * s->rank + j];
}

static void to_floats(float *out, const double *in, size_t count) {
    for (size_t i = 0; i < count; i++) out[i] = (float)in[i];
}

vit_status vit_spectrum_scores(double *out, const vit_spectrum *s, const double *b,
                               vit_error *error) {
    const size_t r = s->rank, c = s->samples->classes;
    if (s->samples->goes_on && !s->samples->goes_on(s->samples->user))
        return vit_fail(error, VIT_ERROR_CANCELLED, "the computation of a head was cancelled");
    if (s->z) {
        const vit_matrix z = vit_matrix_of(s->z, r), right = vit_matrix_of(b, c);
        return vit_matrix_product(out, s->rows, c, r, &z, &right, s->exec.threads, error);
    }
    const vit_epilogue plain = vit_epilogue_none();
    float *rounded = vit_alloc_unset(s->rows + r, c * sizeof *rounded);
    if (!rounded) return vit_fail_memory(error, "scores", (s->rows + r) * c * sizeof *rounded);
    float *scores = rounded + r * c;
    to_floats(rounded, b, r * c);
    vit_gemm(&s->exec, scores, c, s->rows, c, r, (vit_operand_a){s->floats, r, 1},
             vit_b_plain(rounded, c), &plain);
    for (size_t i = 0; i < s->rows * c; i++) out[i] = (double)scores[i];
    vit_free(rounded);
    return VIT_OK;
}

/* Chains in float are short: they are summed in double. */
static vit_status back_many(double *out, const vit_spectrum *s, const double *y, vit_error *error) {
    const size_t r = s->rank, c = s->samples->classes;
    const vit_epilogue plain = vit_epilogue_none();
    float *rounded = vit_alloc_unset(ROWS + r, c * sizeof *rounded);
    if (!rounded) return vit_fail_memory(error, "a gradient", (ROWS + r) * c * sizeof *rounded);
    float *part = rounded + ROWS * c;
    memset(out, 0, r * c * sizeof *out);
    for (size_t first = 0; first < s->rows; first += ROWS) {
        const size_t count = vit_min(ROWS, s->rows - first);
        to_floats(rounded, y + first * c, count * c);
        vit_gemm(&s->exec, part, c, r, c, count, (vit_operand_a){s->floats + first * r, 1, r},
                 vit_b_plain(rounded, c), &plain);
        for (size_t i = 0; i < r * c; i++) out[i] += (double)part[i];
    }
    vit_free(rounded);
    return VIT_OK;
}

vit_status vit_spectrum_back(double *out, const vit_spectrum *s, const double *y,
                             vit_error *error) {
    const size_t r = s->rank, c = s->samples->classes;
    if (!s->z) return back_many(out, s, y, error);
    const vit_matrix z = {.doubles = s->z, .row = 1, .column = r}, right = vit_matrix_of(y, c);
    return vit_matrix_product(out, r, c, s->rows, &z, &right, s->exec.threads, error);
}

vit_status vit_spectrum_head(vit_linear_head *out, const vit_spectrum *s, const double *b,
                             const double *intercept, vit_error *error) {
    const size_t d = s->samples->width, c = s->samples->classes;
    const vit_matrix turned = {.doubles = b, .row = 1, .column = c};
    const vit_matrix axes = vit_matrix_of(s->right, d);
    const vit_status status =
        vit_matrix_product(out->weights, c, d, s->rank, &turned, &axes, s->exec.threads, error);
    for (size_t i = 0; i < c && status == VIT_OK; i++) {
        double *w = out->weights + i * d;
        out->bias[i] = intercept[i];
        for (size_t j = 0; j < d; j++) {
            out->bias[i] -= w[j] * (s->shift[j] + s->mean[j] / s->std[j]);
            w[j] /= s->std[j];
        }
    }
    return status;
}
