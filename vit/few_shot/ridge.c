#include "vit/base/parallel.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/few_shot/solve.h"
#include <math.h>

/* The strengths that are tried. */
static const double strengths[] = {1e-2, 3.1622776601683795e-2, 1e-1, 3.1622776601683795e-1,
                                   1e0,  3.1622776601683795e0,  1e1,  3.1622776601683795e1,
                                   1e2,  3.1622776601683795e2,  1e3,  3.1622776601683795e3,
                                   1e4,  3.1622776601683795e4,  1e5,  3.1622776601683795e5,
                                   1e6,  3.1622776601683795e6,  1e7};

typedef struct ridge {
    const vit_spectrum *s;
    double *mean;    /* [classes] weighted mean of the targets */
    double *product; /* [rank][classes] Z^T Y */
    double *b;       /* [rank][classes] of the strength that is tried */
    double *fitted;  /* [rows][classes] Z b */
    double strength;
    double *inverse; /* [rank] 1 / (squared singular value + strength) */
    double *rooms;   /* [threads][room]: of a group's rows of Z, M_GG, e_G and scales */
    size_t room;
    uint32_t *members; /* [pictures], those of a group one after the other */
    size_t *starts;    /* [groups + 1] in members */
    size_t groups, largest;
    double *errors;   /* [pictures] weighted squared errors */
    float *without;   /* [pictures][classes], or NULL */
    bool *determined; /* [pictures] */
} ridge;

static double target(const vit_samples *x, size_t picture, size_t class) {
    return x->labels[picture] == class ? 1 : -1;
}

/* The sum of a b w, as eight chains. */
static double weighted(const double *a, const double *b, const double *w, size_t count) {
    double sums[8] = {0};
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (size_t k = 0; k < 8; k++) sums[k] += a[i + k] * b[i + k] * w[i + k];
    for (; i < count; i++) sums[i % 8] += a[i] * b[i] * w[i];
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) +
           ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

/* Residuals of the pictures of a group that are left out together, in double, from those of all. */
static void leave_out(size_t group, int thread, void *context) {
    const ridge *r = context;
    const vit_spectrum *s = r->s;
    const vit_samples *x = s->samples;
    const size_t views = x->views, c = x->classes, rank = s->rank;
    const uint32_t *members = r->members + r->starts[group];
    const size_t pictures = r->starts[group + 1] - r->starts[group], rows = pictures * views;
    double *z = r->rooms + (size_t)thread * r->room, *m = z + rows * rank, *e = m + rows * rows;
    double *scale = e + rows * c;
    for (size_t v = 0; v < rows; v++) {
        const size_t picture = members[v / views], row = picture * views + v % views;
        vit_spectrum_row(z + v * rank, s, row);
        scale[v] = s->scale[row];
        for (size_t k = 0; k < c; k++)
            e[v * c + k] = scale[v] * (target(x, picture, k) - r->mean[k]) - r->fitted[row * c + k];
    }
    for (size_t v = 0; v < rows; v++)
        for (size_t u = 0; u <= v; u++) {
            const double hat = weighted(z + v * rank, z + u * rank, r->inverse, rank) +
                               scale[v] * scale[u] / s->total;
            m[v * rows + u] = m[u * rows + v] = (v == u) - hat;
        }
    const bool determined = vit_matrix_solve(m, rows, e, c);
    for (size_t i = 0; i < pictures; i++) {
        const size_t picture = members[i], v = i * views;
        r->determined[picture] = determined;
        r->errors[picture] = 0;
        for (size_t k = 0; k < c; k++) {
            const double left = e[v * c + k];
            r->errors[picture] += left * left;
            if (r->without)
                r->without[picture * c + k] = (float)(target(x, picture, k) - left / scale[v]);
        }
    }
}

/* *error: the mean squared error of leave-one-out for r->strength; infinite if a picture cannot be
 * left out. */
static vit_status try_strength(double *mean, ridge *r, vit_error *error) {
    const vit_spectrum *s = r->s;
    const size_t c = s->samples->classes, pictures = s->samples->pictures;
    for (size_t j = 0; j < s->rank; j++) {
        r->inverse[j] = 1 / (s->values[j] + r->strength);
        for (size_t k = 0; k < c; k++) r->b[j * c + k] = r->product[j * c + k] * r->inverse[j];
    }
    const vit_status status = vit_spectrum_scores(r->fitted, s, r->b, error);
    if (status != VIT_OK) return status;
    vit_parallel(s->exec.threads, r->groups, leave_out, r);
    *mean = 0;
    for (size_t i = 0; i < pictures; i++) *mean += r->determined[i] ? r->errors[i] : INFINITY;
    *mean /= (double)pictures;
    return VIT_OK;
}

/* Z^T Y = V^T X^T Y: sums of features by class, in double. The targets' mean has no part in it. */
static vit_status correlate(ridge *r, vit_error *error) {
    const vit_spectrum *s = r->s;
    const vit_samples *x = s->samples;
    const size_t d = x->width, c = x->classes;
    double *sums = vit_alloc(d, c * sizeof *sums);
    if (!sums) return vit_fail_memory(error, "sums of classes", d * c * sizeof *sums);
    for (size_t i = 0; i < s->rows; i++) {
        const size_t label = x->labels[i / x->views];
        const double weight = s->scale[i] * s->scale[i];
        for (size_t j = 0; j < d; j++)
            sums[j * c + label] += 2 * weight * ((double)s->standard[i * d + j] - s->shift[j]);
        for (size_t k = 0; k < c; k++) r->mean[k] += weight * target(x, i / x->views, k);
    }
    for (size_t k = 0; k < c; k++) r->mean[k] /= s->total;
    const vit_matrix axes = vit_matrix_of(s->right, d), right = vit_matrix_of(sums, c);
    const vit_status status =
        vit_matrix_product(r->product, s->rank, c, d, &axes, &right, s->exec.threads, error);
    vit_free(sums);
    return status;
}

static vit_status solve(vit_solution *out, ridge *r, vit_error *error) {
    double best = INFINITY, tried;
    vit_status status = correlate(r, error);
    out->strength = strengths[sizeof strengths / sizeof *strengths - 1];
    for (size_t i = 0; i < sizeof strengths / sizeof *strengths && status == VIT_OK; i++) {
        r->strength = strengths[i];
        status = try_strength(&tried, r, error);
        if (status != VIT_OK || !(tried < best)) continue;
        best = tried;
        out->strength = strengths[i];
    }
    r->strength = out->strength;
    r->without = out->without;
    if (status == VIT_OK) status = try_strength(&tried, r, error);
    return status == VIT_OK ? vit_spectrum_head(&out->head, r->s, r->b, r->mean, error) : status;
}

/* Lists the pictures that are left out together. */
static vit_status list_groups(ridge *r, vit_error *error) {
    const vit_samples *x = r->s->samples;
    uint32_t *number = vit_alloc(x->pictures, sizeof *number); /* of the group */
    r->members = vit_alloc(x->pictures, sizeof *r->members);
    r->starts = vit_alloc(x->pictures + 2, sizeof *r->starts);
    if (!number || !r->members || !r->starts) {
        vit_free(number);
        return vit_fail_memory(error, "groups of copies", x->pictures * sizeof *r->starts);
    }
    for (size_t i = 0; i < x->pictures; i++) {
        const bool leads = !x->groups || x->groups[i] == i;
        number[i] = leads ? (uint32_t)r->groups++ : number[x->groups[i]];
        r->starts[number[i] + 2]++;
    }
    for (size_t g = 0; g < r->groups; g++) {
        r->largest = vit_max(r->largest, r->starts[g + 2]);
        r->starts[g + 2] += r->starts[g + 1];
    }
    for (size_t i = 0; i < x->pictures; i++) r->members[r->starts[number[i] + 1]++] = (uint32_t)i;
    vit_free(number);
    return VIT_OK;
}

vit_status vit_solve_ridge(vit_solution *out, const vit_spectrum *s, vit_error *error) {
    const vit_samples *x = s->samples;
    const size_t c = x->classes, threads = (size_t)s->exec.threads;
    ridge r = {.s = s};
    vit_status status = list_groups(&r, error);
    const size_t rows = r.largest * x->views;
    r.room = rows * (s->rank + rows + c + 1);
    const size_t count = c + s->rank * (2 * c + 1) + s->rows * c + threads * r.room + x->pictures;
    double *block = vit_alloc(count, sizeof *block);
    r.determined = vit_alloc(x->pictures, sizeof *r.determined);
    if (status == VIT_OK && (!block || !r.determined))
        status = vit_fail_memory(error, "a ridge regression", count * sizeof *block);
    if (status == VIT_OK) {
        r.mean = block;
        r.product = r.mean + c;
        r.b = r.product + s->rank * c;
        r.fitted = r.b + s->rank * c;
        r.rooms = r.fitted + s->rows * c;
        r.errors = r.rooms + threads * r.room;
        r.inverse = r.errors + x->pictures;
        status = solve(out, &r, error);
    }
    vit_free(block);
    vit_free(r.determined);
    vit_free(r.members);
    vit_free(r.starts);
    return status;
}
