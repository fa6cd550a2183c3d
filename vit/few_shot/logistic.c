/* Multinomial logistic regression by L-BFGS (Nocedal, Wright: Numerical Optimization, section 7.2).
 * On the axes of the spectrum the Hessian has a simple upper bound, which is diagonal (Boehning:
 * Multinomial logistic regression algorithm): half the squared singular value, plus the strength.
 * It is the first guess of the Hessian, so that few steps are needed. */
#include "vit/base/math.h"
#include "vit/base/parallel.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/few_shot/solve.h"
#include <math.h>
#include <string.h>

static const double strengths[] = {1e4, 1e3, 1e2, 1e1, 1e0, 1e-1};

enum { HISTORY = 12, MOST_STEPS = 3000, MOST_TRIES = 30, NO_FOLD = VIT_FOLDS, CHUNK = 32 };

/* How far the fits without a fold go, and the last one. */
#define ENOUGH 1e-5
#define EXACT 1e-22
#define ROUNDING 1e-13

/* After this many steps with neither a smaller slope nor a smaller value only rounding is left. */
#define STALE 25

typedef struct logistic {
    const vit_spectrum *s;
    double strength, precision; /* ends where a step promises less than this share of the value */
    int fold;                   /* the pictures that are left out; NO_FOLD: none */
    uint8_t *folds;             /* [pictures] */
    size_t count;               /* (rank + 1) classes: b, then the intercept */
    double *scores, *excess;    /* [rows][classes]: logits; w (probability - truth) */
    double *losses;             /* [rows] */
} logistic;

/* A point, its gradient and what is minimised there. */
typedef struct point {
    double *x, *gradient, value;
} point;

static size_t picture_of(const logistic *l, size_t row) {
    return row / l->s->samples->views;
}

/* -log of the probability of the label; p: [classes] = the probabilities, and may be z. */
static double softmax(double *p, const double *z, size_t classes, size_t label) {
    const double right = z[label];
    double largest = z[0], sum = 0;
    for (size_t k = 1; k < classes; k++) largest = z[k] > largest ? z[k] : largest;
    for (size_t k = 0; k < classes; k++) {
        p[k] = vit_exp(z[k] - largest);
        sum += p[k];
    }
    for (size_t k = 0; k < classes; k++) p[k] /= sum;
    return vit_log(sum) - (right - largest);
}

/* Rows of Z have the square root of the weight in them; logits do not. */
static void row_logits(double *z, const logistic *l, const double *x, size_t row) {
    const size_t c = l->s->samples->classes;
    const double *intercept = x + l->s->rank * c;
    for (size_t k = 0; k < c; k++) z[k] = l->scores[row * c + k] / l->s->scale[row] + intercept[k];
}

typedef struct evaluation {
    const logistic *l;
    const double *x;
} evaluation;

static void row_chunk(size_t index, int thread, void *context) {
    (void)thread;
    const evaluation *e = context;
    const logistic *l = e->l;
    const vit_samples *x = l->s->samples;
    const size_t c = x->classes, last = vit_min((index + 1) * CHUNK, l->s->rows);
    for (size_t i = index * CHUNK; i < last; i++) {
        double *excess = l->excess + i * c;
        const size_t label = x->labels[picture_of(l, i)];
        const double weight = l->s->scale[i] * l->s->scale[i];
        if (l->folds[picture_of(l, i)] == l->fold) {
            memset(excess, 0, c * sizeof *excess);
            l->losses[i] = 0;
            continue;
        }
        row_logits(excess, l, e->x, i);
        l->losses[i] = weight * softmax(excess, excess, c, label);
        excess[label] -= 1;
        for (size_t k = 0; k < c; k++) excess[k] *= weight;
    }
}

static vit_status evaluate(point *p, const logistic *l, vit_error *error) {
    const vit_spectrum *s = l->s;
    const size_t c = s->samples->classes, weights = s->rank * c;
    double *intercept = p->gradient + weights;
    vit_status status = vit_spectrum_scores(l->scores, s, p->x, error);
    if (status != VIT_OK) return status;
    vit_parallel(s->exec.threads, vit_ceil_div(s->rows, CHUNK), row_chunk, &(evaluation){l, p->x});
    p->value = 0;
    memset(intercept, 0, c * sizeof *intercept);
    for (size_t i = 0; i < s->rows; i++) {
        p->value += l->losses[i];
        for (size_t k = 0; k < c; k++) {
            intercept[k] += l->excess[i * c + k];
            l->excess[i * c + k] /= s->scale[i];
        }
    }
    status = vit_spectrum_back(p->gradient, s, l->excess, error);
    for (size_t i = 0; i < weights; i++) {
        p->gradient[i] += l->strength * p->x[i];
        p->value += l->strength / 2 * p->x[i] * p->x[i];
    }
    return status;
}

static double dot(const double *a, const double *b, size_t count) {
    double sums[8] = {0};
    for (size_t i = 0; i < count; i++) sums[i % 8] += a[i] * b[i];
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) +
           ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

/* The steps behind, the latest in place (steps - 1) % HISTORY. */
typedef struct history {
    double *moved, *bent; /* [HISTORY][count]: differences of x, of gradients */
    double inverse[HISTORY];
    size_t steps;
} history;

static void precondition(double *d, const logistic *l) {
    const size_t c = l->s->samples->classes;
    for (size_t j = 0; j <= l->s->rank; j++) {
        const double bound = j < l->s->rank ? l->s->values[j] / 2 + l->strength : l->s->total / 2;
        for (size_t k = 0; k < c; k++) d[j * c + k] /= bound;
    }
}

/* d = -(an estimate of the Hessian)^-1 gradient. */
static void direction(double *d, const double *gradient, const history *h, const logistic *l) {
    const size_t n = l->count, first = h->steps > HISTORY ? h->steps - HISTORY : 0;
    double shares[HISTORY] = {0};
    for (size_t i = 0; i < n; i++) d[i] = -gradient[i];
    for (size_t step = h->steps; step-- > first;) {
        const size_t at = step % HISTORY;
        shares[at] = h->inverse[at] * dot(h->moved + at * n, d, n);
        for (size_t i = 0; i < n; i++) d[i] -= shares[at] * h->bent[at * n + i];
    }
    precondition(d, l);
    for (size_t step = first; step < h->steps; step++) {
        const size_t at = step % HISTORY;
        const double share = shares[at] - h->inverse[at] * dot(h->bent + at * n, d, n);
        for (size_t i = 0; i < n; i++) d[i] += share * h->moved[at * n + i];
    }
}

static void remember(history *h, const point *from, const point *to, size_t n) {
    const size_t at = h->steps % HISTORY;
    double *moved = h->moved + at * n, *bent = h->bent + at * n;
    for (size_t i = 0; i < n; i++) {
        moved[i] = to->x[i] - from->x[i];
        bent[i] = to->gradient[i] - from->gradient[i];
    }
    const double curvature = dot(moved, bent, n);
    if (!(curvature > 0)) return; /* rounding has the last word there */
    h->inverse[at] = 1 / curvature;
    h->steps++;
}

/* A step along d that lowers the value enough: the whole one, or a half, a quarter, ... of it.
 * *found: there is one. */
static vit_status step(bool *found, point *to, const point *from, const double *d, double slope,
                       const logistic *l, vit_error *error) {
    double length = 1;
    *found = false;
    for (int tries = 0; tries < MOST_TRIES && !*found; tries++, length /= 2) {
        for (size_t i = 0; i < l->count; i++) to->x[i] = from->x[i] + length * d[i];
        const vit_status status = evaluate(to, l, error);
        if (status != VIT_OK) return status;
        /* Near the minimum the value is all rounding: there its slope decides (Hager, Zhang: A New
         * Conjugate Gradient Method, section 3). */
        *found = to->value <= from->value + 1e-4 * length * slope ||
                 (to->value <= from->value * (1 + ROUNDING) &&
                  dot(d, to->gradient, l->count) <= (2e-4 - 1) * slope);
    }
    return VIT_OK;
}

typedef struct rooms {
    point at, next;
    double *direction;
    history past;
} rooms;

/* Minimises from room->at.x on; *room then has the minimum there. */
static vit_status minimise(rooms *room, const logistic *l, vit_error *error) {
    bool found = true;
    double best = INFINITY, value = INFINITY;
    int stale = 0;
    room->past.steps = 0;
    vit_status status = evaluate(&room->at, l, error);
    for (int steps = 0; steps < MOST_STEPS && status == VIT_OK; steps++) {
        direction(room->direction, room->at.gradient, &room->past, l);
        const double slope = dot(room->direction, room->at.gradient, l->count);
        const bool gains = room->at.value < value * (1 - ROUNDING);
        value = fmin(value, room->at.value);
        stale = -slope < best || gains ? 0 : stale + 1;
        best = fmin(best, -slope);
        if (!(slope < -l->precision * room->at.value) || stale == STALE) break;
        status = step(&found, &room->next, &room->at, room->direction, slope, l, error);
        if (status != VIT_OK || (!found && room->past.steps == 0)) break;
        if (!found) { /* once more along the gradient alone */
            room->past.steps = 0;
            continue;
        }
        remember(&room->past, &room->at, &room->next, l->count);
        const point before = room->at;
        room->at = room->next;
        room->next = before;
    }
    return status;
}

/* ---- folds ---- */

/* The logits of the pictures that were left out, at x. Returns the sum of their cross-entropies, at
 * most 20 each: a class all of whose pictures are left out would have an infinite one. */
static vit_status take_left_out(double *sum, float *without, const logistic *l, const double *x,
                                vit_error *error) {
    const vit_samples *samples = l->s->samples;
    const size_t c = samples->classes;
    const vit_status status = vit_spectrum_scores(l->scores, l->s, x, error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < samples->pictures; i++) {
        double *z = l->excess;
        if (l->folds[i] != l->fold) continue;
        row_logits(z, l, x, i * samples->views);
        for (size_t k = 0; k < c; k++) without[i * c + k] = (float)z[k];
        const double loss = softmax(z, z, c, samples->labels[i]);
        *sum += loss < 20 ? loss : 20;
    }
    return VIT_OK;
}

/* *sum: the cross-entropies of left-out pictures at l->strength, over the first `folds` folds. */
static vit_status cross_validate(double *sum, float *without, rooms *room, logistic *l, int folds,
                                 vit_error *error) {
    vit_status status = VIT_OK;
    *sum = 0;
    for (l->fold = 0; l->fold < folds && status == VIT_OK; l->fold++) {
        status = minimise(room, l, error);
        if (status == VIT_OK) status = take_left_out(sum, without, l, room->at.x, error);
    }
    l->fold = NO_FOLD;
    return status;
}

static vit_status solve(vit_solution *out, logistic *l, rooms *room, vit_error *error) {
    const vit_spectrum *s = l->s;
    const int folds = s->samples->pictures > VIT_FEW ? 1 : VIT_FOLDS;
    double best = INFINITY, sum = 0;
    l->precision = ENOUGH;
    vit_status status = vit_deal_folds(l->folds, s->samples, VIT_FOLDS, error);
    for (size_t i = 0; i < sizeof strengths / sizeof *strengths && status == VIT_OK; i++) {
        l->strength = strengths[i];
        status = cross_validate(&sum, out->without, room, l, folds, error);
        if (sum > 1.5 * best) break; /* it only gets worse */
        if (!(sum < best)) continue;
        best = sum;
        out->strength = strengths[i];
    }
    l->strength = out->strength;
    memset(room->at.x, 0, l->count * sizeof *room->at.x);
    if (status == VIT_OK) status = cross_validate(&sum, out->without, room, l, VIT_FOLDS, error);
    l->precision = EXACT;
    if (status == VIT_OK) status = minimise(room, l, error);
    if (status != VIT_OK) return status;
    return vit_spectrum_head(&out->head, s, room->at.x, room->at.x + s->rank * s->samples->classes,
                             error);
}

vit_status vit_solve_logistic(vit_solution *out, const vit_spectrum *s, vit_error *error) {
    const vit_samples *x = s->samples;
    const size_t n = (s->rank + 1) * x->classes, outputs = s->rows * x->classes;
    logistic l = {.s = s, .fold = NO_FOLD, .count = n};
    rooms room = {0};
    const size_t count = (5 + 2 * HISTORY) * n + 2 * outputs + s->rows;
    double *block = vit_alloc(count, sizeof *block);
    l.folds = vit_alloc(x->pictures, sizeof *l.folds);
    vit_status status = VIT_OK;
    if (!block || !l.folds)
        status = vit_fail_memory(error, "a logistic regression", count * sizeof *block);
    if (status == VIT_OK) {
        room.at = (point){.x = block, .gradient = block + n};
        room.next = (point){.x = block + 2 * n, .gradient = block + 3 * n};
        room.direction = block + 4 * n;
        room.past.moved = block + 5 * n;
        room.past.bent = room.past.moved + HISTORY * n;
        l.scores = room.past.bent + HISTORY * n;
        l.excess = l.scores + outputs;
        l.losses = l.excess + outputs;
        status = solve(out, &l, &room, error);
    }
    vit_free(block);
    vit_free(l.folds);
    return status;
}
