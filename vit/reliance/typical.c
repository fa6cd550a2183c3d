#include "vit/reliance/typical.h"
#include "vit/base/error.h"
#include "vit/base/random.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include <math.h>
#include <string.h>

/* What is added to each variance, so that features which do not vary, or fewer pictures than
 * features, have an inverse. */
#define RIDGE 1e-6

/* Sums over features are taken in so many lanes, which are added in order. */
enum { LANES = 8, PICTURES_A_NEIGHBOUR = 100, MOST_NEIGHBOURS = 50 };

/* ---- a sample ---- */

/* Drops the pictures whose number is not below half of the limit. */
static void thin_out(vit_typical_sample *s) {
    size_t kept = 0;
    s->limit /= 2;
    for (size_t i = 0; i < s->count; i++) {
        if (s->ranks[i] >= s->limit) continue;
        memmove(s->features + kept * s->width, s->features + i * s->width,
                s->width * sizeof *s->features);
        s->labels[kept] = s->labels[i];
        s->ranks[kept++] = s->ranks[i];
    }
    s->count = kept;
}

static vit_status make_room(vit_typical_sample *s) {
    if (!s->features) {
        s->limit = (uint64_t)1 << 32;
        s->features = vit_alloc_unset(VIT_TYPICAL_MOST, s->width * sizeof *s->features);
        s->labels = vit_alloc_unset(VIT_TYPICAL_MOST, sizeof *s->labels);
        s->ranks = vit_alloc_unset(VIT_TYPICAL_MOST, sizeof *s->ranks);
    }
    return s->features && s->labels && s->ranks
               ? VIT_OK
               : vit_fail_memory(s->error, "features of training pictures",
                                 VIT_TYPICAL_MOST * s->width * sizeof *s->features);
}

void vit_typical_add(vit_typical_sample *s, const float *features, size_t label) {
    if (s->status == VIT_OK) s->status = make_room(s);
    if (s->status != VIT_OK) return;
    vit_random random = vit_random_start(0, VIT_RANDOM_SPLIT, 0, (uint32_t)s->seen++);
    const uint32_t rank = vit_random_u32(&random);
    while (s->count == VIT_TYPICAL_MOST) thin_out(s);
    if (rank >= s->limit) return;
    memcpy(s->features + s->count * s->width, features, s->width * sizeof *features);
    s->labels[s->count] = label;
    s->ranks[s->count++] = rank;
}

void vit_typical_sample_free(vit_typical_sample *s) {
    vit_free(s->features);
    vit_free(s->labels);
    vit_free(s->ranks);
    *s = (vit_typical_sample){0};
}

/* ---- classes and their covariance ---- */

/* Numbers the classes that have pictures from 0 on; returns how many. */
static vit_status number_classes(size_t *classes, vit_typical_sample *s, vit_error *error) {
    size_t most = 0, count = 0;
    for (size_t i = 0; i < s->count; i++) most = vit_max(most, s->labels[i]);
    size_t *numbers = vit_alloc(most + 1, sizeof *numbers);
    if (!numbers) return vit_fail_memory(error, "classes", most * sizeof *numbers);
    for (size_t i = 0; i < s->count; i++) numbers[s->labels[i]] = 1;
    for (size_t k = 0; k <= most; k++) numbers[k] = numbers[k] > 0 ? count++ : 0;
    for (size_t i = 0; i < s->count; i++) s->labels[i] = numbers[s->labels[i]];
    vit_free(numbers);
    *classes = count;
    return VIT_OK;
}

static vit_status find_means(vit_typical *t, const vit_typical_sample *s, vit_error *error) {
    const size_t D = t->width;
    double *counts = vit_alloc(t->classes, sizeof *counts);
    if (!counts) return vit_fail_memory(error, "classes", t->classes * sizeof *counts);
    for (size_t i = 0; i < s->count; i++) {
        double *mean = t->means + s->labels[i] * D;
        counts[s->labels[i]]++;
        for (size_t j = 0; j < D; j++) mean[j] += (double)s->features[i * D + j];
    }
    for (size_t k = 0; k < t->classes; k++)
        for (size_t j = 0; j < D; j++) t->means[k * D + j] /= counts[k];
    vit_free(counts);
    return VIT_OK;
}

/* t->factor = the lower triangle of the covariance within classes, and RIDGE. */
static vit_status find_covariance(vit_typical *t, const vit_typical_sample *s, vit_error *error) {
    const size_t D = t->width;
    double *x = vit_alloc(D, sizeof *x);
    if (!x) return vit_fail_memory(error, "features", D * sizeof *x);
    for (size_t i = 0; i < s->count; i++) {
        const double *mean = t->means + s->labels[i] * D;
        for (size_t j = 0; j < D; j++) x[j] = (double)s->features[i * D + j] - mean[j];
        for (size_t j = 0; j < D; j++)
            for (size_t k = 0; k <= j; k++) t->factor[j * D + k] += x[j] * x[k];
    }
    for (size_t i = 0; i < D * D; i++) t->factor[i] /= (double)s->count;
    for (size_t j = 0; j < D; j++) t->factor[j * D + j] += RIDGE;
    vit_free(x);
    return VIT_OK;
}

/* Cholesky: the lower triangle of a matrix becomes L. */
static vit_status factorise(double *a, size_t D, vit_error *error) {
    for (size_t j = 0; j < D; j++) {
        for (size_t i = j; i < D; i++) {
            double sum = a[i * D + j];
            for (size_t k = 0; k < j; k++) sum -= a[i * D + k] * a[j * D + k];
            if (i == j && !(sum > 0))
                return vit_fail(error, VIT_ERROR_ARGUMENT,
                                "the features of the training pictures vary too much or too little "
                                "for a covariance");
            a[i * D + j] = i == j ? sqrt(sum) : sum / a[j * D + j];
        }
    }
    return VIT_OK;
}

/* x = L^-1 x */
static void solve(double *x, const vit_typical *t) {
    const size_t D = t->width;
    for (size_t i = 0; i < D; i++) {
        double sum = x[i];
        for (size_t k = 0; k < i; k++) sum -= t->factor[i * D + k] * x[k];
        x[i] = sum / t->factor[i * D + i];
    }
}

/* ---- made ---- */

static double length_of(const float *x, size_t D) {
    double sum = 0;
    for (size_t j = 0; j < D; j++) sum += (double)x[j] * (double)x[j];
    return sqrt(sum);
}

static void make_unit(float *features, size_t images, size_t D) {
    for (size_t i = 0; i < images; i++) {
        float *x = features + i * D;
        const double length = length_of(x, D);
        for (size_t j = 0; j < D && length > 0; j++) x[j] = (float)((double)x[j] / length);
    }
}

static vit_status make(vit_typical *t, vit_typical_sample *s, const char *data, vit_error *error) {
    vit_status status = number_classes(&t->classes, s, error);
    if (status != VIT_OK) return status;
    const size_t D = t->width;
    t->images = s->count;
    t->neighbours = vit_max(1, vit_min(s->count / PICTURES_A_NEIGHBOUR, MOST_NEIGHBOURS));
    t->data = vit_strdup(data);
    t->factor = vit_alloc(D, D * sizeof *t->factor);
    t->means = vit_alloc(t->classes, D * sizeof *t->means);
    if (!t->data || !t->factor || !t->means)
        return vit_fail_memory(error, "a covariance", D * D * sizeof *t->factor);
    status = find_means(t, s, error);
    if (status == VIT_OK) status = find_covariance(t, s, error);
    if (status == VIT_OK) status = factorise(t->factor, D, error);
    for (size_t k = 0; k < t->classes && status == VIT_OK; k++) solve(t->means + k * D, t);
    make_unit(s->features, s->count, D);
    t->features = s->features;
    s->features = NULL;
    return status;
}

vit_status vit_typical_new(vit_typical **out, vit_typical_sample *s, const char *data,
                           vit_error *error) {
    vit_typical *t = NULL;
    vit_status status = s->status;
    *out = NULL;
    if (status == VIT_OK && s->count < 2)
        status = vit_fail(error, VIT_ERROR_ARGUMENT,
                          "%s: features of %zu training pictures are too few, expected two or more",
                          data, s->count);
    if (status == VIT_OK && !(t = vit_alloc(1, sizeof *t)))
        status = vit_fail_memory(error, "features", sizeof *t);
    if (status == VIT_OK) {
        t->width = s->width;
        status = make(t, s, data, error);
    }
    if (status == VIT_OK)
        *out = t;
    else
        vit_typical_free(t);
    return status;
}

void vit_typical_free(vit_typical *t) {
    if (!t) return;
    vit_free(t->data);
    vit_free(t->features);
    vit_free(t->factor);
    vit_free(t->means);
    vit_free(t);
}

/* ---- distances ---- */

size_t vit_typical_scratch(const vit_typical *t) {
    return t->width + t->neighbours;
}

static double squared_distance(const double *x, const float *y, size_t D) {
    double lane[LANES] = {0}, sum = 0;
    size_t j = 0;
    for (; j + LANES <= D; j += LANES)
        for (size_t l = 0; l < LANES; l++) {
            const double d = x[j + l] - (double)y[j + l];
            lane[l] += d * d;
        }
    for (; j < D; j++) sum += (x[j] - (double)y[j]) * (x[j] - (double)y[j]);
    for (size_t l = 0; l < LANES; l++) sum += lane[l];
    return sum;
}

/* Puts a value into the ascending list of the `most` smallest. */
static void keep_smallest(double *list, size_t *count, size_t most, double value) {
    if (*count == most && value >= list[most - 1]) return;
    size_t i = *count < most ? (*count)++ : most - 1;
    for (; i > 0 && list[i - 1] > value; i--) list[i] = list[i - 1];
    list[i] = value;
}

double vit_typical_knn(const vit_typical *t, const float *features, double *scratch) {
    const size_t D = t->width;
    const double length = length_of(features, D);
    double *x = scratch, *nearest = scratch + D;
    size_t count = 0;
    for (size_t j = 0; j < D; j++) x[j] = length > 0 ? (double)features[j] / length : 0;
    for (size_t i = 0; i < t->images; i++)
        keep_smallest(nearest, &count, t->neighbours, squared_distance(x, t->features + i * D, D));
    return sqrt(nearest[count - 1]);
}

double vit_typical_mahalanobis(const vit_typical *t, const float *features, double *scratch) {
    const size_t D = t->width;
    double best = INFINITY;
    for (size_t j = 0; j < D; j++) scratch[j] = (double)features[j];
    solve(scratch, t);
    for (size_t k = 0; k < t->classes; k++) {
        double sum = 0;
        for (size_t j = 0; j < D; j++) {
            const double d = scratch[j] - t->means[k * D + j];
            sum += d * d;
        }
        best = fmin(best, sum);
    }
    return best;
}
