#include "vit/few_shot/numbers.h"
#include "vit/base/math.h"
#include "vit/base/random.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/ops/loss.h"
#include "vit/train/measure/calibration.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

vit_status vit_calibrate(double *temperature, double *threshold, const float *without,
                         const vit_samples *x, vit_error *error) {
    uint16_t *labels = vit_alloc(x->pictures, sizeof *labels);
    float *room = vit_alloc(x->pictures, sizeof *room);
    vit_status status = VIT_OK;
    if (!labels || !room) status = vit_fail_memory(error, "labels", x->pictures * sizeof *labels);
    for (size_t i = 0; i < x->pictures && status == VIT_OK; i++) labels[i] = (uint16_t)x->labels[i];
    if (status == VIT_OK) {
        *temperature = vit_temperature_of(without, labels, NULL, x->pictures, x->classes);
        *threshold = vit_threshold_fit(room, without, x->pictures, x->classes, *temperature);
    }
    vit_free(labels);
    vit_free(room);
    return status;
}

/* ---- answers ---- */

/* The most doubtful first; where equal, the first picture. */
static int compare_suspects(const void *a, const void *b) {
    const vit_suspect *x = a, *y = b;
    const double dx = x->probability - x->said, dy = y->probability - y->said;
    if (dx != dy) return dx < dy ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

/* The two classes that are taken for each other most often; counts: [classes][classes]. */
static void find_confused(vit_few_shot_result *out, const size_t *counts, size_t classes) {
    out->confusions = 0;
    for (size_t i = 0; i < classes; i++)
        for (size_t j = i + 1; j < classes; j++) {
            const size_t both = counts[i * classes + j] + counts[j * classes + i];
            if (both <= out->confusions) continue;
            out->confusions = both;
            out->confused[0] = i;
            out->confused[1] = j;
        }
}

/* Pictures that are no copies of earlier ones. */
static size_t count_groups(const vit_samples *x) {
    size_t groups = 0;
    for (size_t i = 0; i < x->pictures; i++) groups += !x->groups || x->groups[i] == i;
    return groups;
}

vit_status vit_count_answers(vit_few_shot_result *out, const float *without, const vit_samples *x,
                             vit_error *error) {
    const size_t c = x->classes;
    vit_suspect *wrong = vit_alloc(x->pictures, sizeof *wrong);
    size_t *counts = vit_alloc(c, c * sizeof *counts), found = 0;
    if (!wrong || !counts) {
        vit_free(wrong);
        vit_free(counts);
        return vit_fail_memory(error, "answers", x->pictures * sizeof *wrong);
    }
    for (size_t i = 0; i < x->pictures; i++) {
        const float *z = without + i * c;
        const size_t label = x->labels[i];
        size_t answer;
        vit_top_k(z, c, 1, &answer);
        counts[label * c + answer]++;
        if (answer == label) continue;
        wrong[found++] = (vit_suspect){i, answer, vit_softmax_one(z, c, answer, out->temperature),
                                       vit_softmax_one(z, c, label, out->temperature)};
    }
    out->pictures = x->pictures;
    out->right = x->pictures - found;
    out->accuracy = (double)out->right / (double)x->pictures;
    vit_wilson_share(&out->low, &out->high, out->accuracy, (double)count_groups(x));
    qsort(wrong, found, sizeof *wrong, compare_suspects);
    out->suspects = vit_min(found, VIT_SUSPECTS);
    memcpy(out->suspect, wrong, out->suspects * sizeof *wrong);
    find_confused(out, counts, c);
    vit_free(wrong);
    vit_free(counts);
    return VIT_OK;
}

/* ---- the learning curve ---- */

enum {
    DRAWS = 10,
    MOST_ROWS = 250
}; /* the rows of a draw: more would take longer than they tell */

typedef struct draw {
    const vit_samples *all;
    uint32_t *order; /* [pictures], classes together, each shuffled */
    size_t *starts;  /* [classes + 1] in order */
    float *features; /* of the pictures drawn */
    size_t *labels;
    uint32_t *groups; /* of the pictures drawn */
    uint32_t *drawn;  /* [pictures] 1 + the first drawn one of the group; 0: none is drawn */
} draw;

static void shuffle(draw *d, uint32_t number) {
    const vit_samples *x = d->all;
    size_t at = 0;
    for (size_t k = 0; k < x->classes; k++) {
        d->starts[k] = at;
        for (size_t i = 0; i < x->pictures; i++)
            if (x->labels[i] == k) d->order[at++] = (uint32_t)i;
        vit_random r = vit_random_start(0, VIT_RANDOM_SPLIT, number, (uint32_t)k);
        vit_random_shuffle(&r, d->order + d->starts[k], (uint32_t)(at - d->starts[k]));
    }
    d->starts[x->classes] = at;
}

static uint32_t group_of(const vit_samples *x, uint32_t picture) {
    return x->groups ? x->groups[picture] : picture;
}

/* The first `count` pictures of each class. */
static vit_samples take(draw *d, size_t count) {
    vit_samples drawn = *d->all;
    const size_t picture = drawn.views * drawn.width;
    drawn.pictures = 0;
    drawn.features = d->features;
    drawn.labels = d->labels;
    drawn.groups = d->groups;
    memset(d->drawn, 0, d->all->pictures * sizeof *d->drawn);
    for (size_t k = 0; k < drawn.classes; k++)
        for (size_t i = d->starts[k]; i < vit_min(d->starts[k] + count, d->starts[k + 1]); i++) {
            memcpy(d->features + drawn.pictures * picture, d->all->features + d->order[i] * picture,
                   picture * sizeof *d->features);
            uint32_t *first = &d->drawn[group_of(d->all, d->order[i])];
            if (*first == 0) *first = (uint32_t)drawn.pictures + 1;
            d->groups[drawn.pictures] = *first - 1;
            d->labels[drawn.pictures++] = k;
        }
    return drawn;
}

/* Which share of the other pictures, copies of drawn ones left out, the head answers right. */
static double answer_others(const draw *d, size_t count, const vit_linear_head *head) {
    const vit_samples *x = d->all;
    size_t right = 0, asked = 0;
    for (size_t k = 0; k < x->classes; k++)
        for (size_t i = d->starts[k] + count; i < d->starts[k + 1]; i++) {
            const float *features = x->features + d->order[i] * x->views * x->width;
            double best = -INFINITY;
            size_t answer = 0;
            if (d->drawn[group_of(x, d->order[i])]) continue;
            for (size_t j = 0; j < x->classes; j++) {
                double z = head->bias[j];
                for (size_t f = 0; f < x->width; f++)
                    z += head->weights[j * x->width + f] * (double)features[f];
                if (z > best) {
                    best = z;
                    answer = j;
                }
            }
            right += answer == k;
            asked++;
        }
    return asked > 0 ? (double)right / (double)asked : (double)NAN;
}

static vit_status measure_point(vit_learning_point *p, draw *d, const vit_kernels *kernels,
                                int threads, vit_error *error) {
    p->accuracy = 0;
    p->lowest = 1;
    p->highest = 0;
    for (uint32_t n = 0; n < DRAWS; n++) {
        vit_solution solution;
        shuffle(d, n);
        const vit_samples drawn = take(d, p->pictures);
        const vit_status status =
            vit_solve(&solution, vit_solve_ridge, &drawn, kernels, threads, error);
        const double share = status == VIT_OK ? answer_others(d, p->pictures, &solution.head) : 0;
        vit_solution_free(&solution);
        if (status != VIT_OK) return status;
        p->accuracy += share / DRAWS;
        p->lowest = fmin(p->lowest, share);
        p->highest = fmax(p->highest, share);
    }
    return VIT_OK;
}

/* The accuracy at twice as many pictures as the last point has, if the error goes on falling as
 * a n^-b, which has the least squares of log error over log n. */
static double extrapolate(const vit_few_shot_result *t) {
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, x = 0;
    for (size_t i = 0; i < t->points; i++) {
        const double wrong = 1 - t->curve[i].accuracy;
        if (!(wrong > 0)) return NAN;
        const double y = vit_log(wrong);
        x = vit_log((double)t->curve[i].pictures);
        n++;
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    const double spread = n * sxx - sx * sx;
    if (n < 2 || !(spread > 0)) return NAN;
    const double slope = fmin(0, (n * sxy - sx * sy) / spread);
    const double last = 1 - t->curve[t->points - 1].accuracy;
    return 1 - last * vit_exp(slope * vit_log(2));
}

/* Pictures of the smallest class. */
static size_t smallest(const draw *d) {
    size_t least = SIZE_MAX;
    for (size_t k = 0; k < d->all->classes; k++)
        least = vit_min(least, d->starts[k + 1] - d->starts[k]);
    return least;
}

static vit_status measure(vit_few_shot_result *out, draw *d, const vit_kernels *kernels,
                          int threads, vit_error *error) {
    static const size_t counts[] = {2, 5, 10, 20, 50};
    const vit_samples *x = d->all;
    const size_t mean = x->pictures / x->classes;
    vit_status status = VIT_OK;
    shuffle(d, 0);
    const size_t least = smallest(d);
    for (size_t i = 0; i < sizeof counts / sizeof *counts && status == VIT_OK; i++) {
        const size_t count = counts[i];
        if (count >= least || 2 * count > mean + 1 || count * x->classes * x->views > MOST_ROWS)
            break;
        vit_learning_point *p = &out->curve[out->points++];
        p->pictures = count;
        status = measure_point(p, d, kernels, threads, error);
    }
    if (status != VIT_OK || mean < 2) return status;
    out->curve[out->points++] = (vit_learning_point){mean, out->accuracy, out->low, out->high};
    out->doubled = extrapolate(out);
    return VIT_OK;
}

vit_status vit_measure_curve(vit_few_shot_result *out, const vit_samples *x,
                             const vit_kernels *kernels, int threads, vit_error *error) {
    const size_t most = vit_min(x->pictures, MOST_ROWS);
    draw d = {.all = x};
    out->points = 0;
    out->doubled = NAN;
    d.order = vit_alloc(x->pictures, sizeof *d.order);
    d.starts = vit_alloc(x->classes + 1, sizeof *d.starts);
    d.features = vit_alloc_unset(most, x->views * x->width * sizeof *d.features);
    d.labels = vit_alloc(most, sizeof *d.labels);
    d.groups = vit_alloc(most, sizeof *d.groups);
    d.drawn = vit_alloc(x->pictures, sizeof *d.drawn);
    vit_status status = VIT_OK;
    if (!d.order || !d.starts || !d.features || !d.labels || !d.groups || !d.drawn)
        status = vit_fail_memory(error, "draws", most * x->views * x->width * sizeof *d.features);
    if (status == VIT_OK) status = measure(out, &d, kernels, threads, error);
    vit_free(d.order);
    vit_free(d.starts);
    vit_free(d.features);
    vit_free(d.labels);
    vit_free(d.groups);
    vit_free(d.drawn);
    return status;
}
