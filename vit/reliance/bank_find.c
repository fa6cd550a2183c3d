/* The nearest rows of a bank, by exact sums of integers, and greedy coresets. */
#include "vit/base/error.h"
#include "vit/base/order.h"
#include "vit/base/parallel.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/kernels/dots.h"
#include "vit/reliance/bank.h"
#include <math.h>
#include <stdlib.h>

#define SQUARE ((double)VIT_BANK_LENGTH * (double)VIT_BANK_LENGTH)

void vit_bank_integers(int16_t *integers, const float *features, size_t count, size_t dim) {
    for (size_t i = 0; i < count; i++, integers += dim, features += dim) {
        double sum = 0;
        for (size_t j = 0; j < dim; j++) sum += (double)features[j] * (double)features[j];
        const double scale = sum > 0 ? VIT_BANK_LENGTH / sqrt(sum) : 0;
        for (size_t j = 0; j < dim; j++) integers[j] = (int16_t)rint((double)features[j] * scale);
    }
}

/* ---- nearest ---- */

enum { QUERIES = 16 }; /* patches of a task */

typedef struct finding {
    const vit_bank *bank;
    const int16_t *queries;
    double *distances;
    size_t patches, first, end;
    vit_dots_best *best;
} finding;

static void find_task(size_t task, int thread, void *context) {
    const finding *f = context;
    const vit_bank *b = f->bank;
    const size_t from = task * QUERIES, count = vit_min(QUERIES, f->patches - from);
    int32_t best[QUERIES];
    (void)thread;
    for (size_t i = 0; i < count; i++) best[i] = INT32_MIN;
    f->best(best, b->features, f->first, f->queries + from * b->dim, count, b->dim);
    f->best(best, b->features + f->end * b->dim, b->rows - f->end, f->queries + from * b->dim,
            count, b->dim);
    for (size_t i = 0; i < count; i++)
        f->distances[from + i] = fmax(1 - (double)best[i] / SQUARE, 0);
}

void vit_bank_distances(double *distances, const vit_bank *bank, const int16_t *queries,
                        size_t patches, size_t first, size_t end, int threads, vit_cpu highest) {
    finding f = {bank, queries, distances, patches, first, end, vit_dots_best_choose(highest)};
    vit_parallel(threads, vit_ceil_div(patches, QUERIES), find_task, &f);
}

double vit_bank_score(double *distances, size_t patches) {
    const size_t count = vit_max(patches / 100, 1);
    double sum = 0;
    qsort(distances, patches, sizeof *distances, vit_compare_doubles);
    for (size_t i = 0; i < count; i++) sum += distances[patches - 1 - i];
    return sum / (double)count;
}

/* ---- coreset ---- */

enum { ROWS = 1024 }; /* of a task */

typedef struct thinning {
    const int16_t *rows;
    size_t count, dim, last; /* last: the row that was kept last */
    int32_t *nearest;        /* [count] the largest product with a kept row; INT32_MAX: kept */
    size_t *farthest;        /* [tasks] */
    vit_dots_best *best;
} thinning;

static void thin_task(size_t task, int thread, void *context) {
    const thinning *t = context;
    const size_t from = task * ROWS, end = vit_min(from + ROWS, t->count);
    (void)thread;
    t->best(t->nearest + from, t->rows + t->last * t->dim, 1, t->rows + from * t->dim, end - from,
            t->dim);
    size_t farthest = from;
    for (size_t i = from; i < end; i++)
        if (t->nearest[i] < t->nearest[farthest]) farthest = i;
    t->farthest[task] = farthest;
}

vit_status vit_bank_coreset(size_t *kept, size_t keep, const int16_t *rows, size_t count,
                            size_t dim, int threads, vit_error *error) {
    const size_t tasks = vit_ceil_div(count, ROWS);
    thinning t = {.rows = rows,
                  .count = count,
                  .dim = dim,
                  .nearest = vit_alloc(count, sizeof *t.nearest),
                  .farthest = vit_alloc(tasks, sizeof *t.farthest),
                  .best = vit_dots_best_choose(VIT_CPU_COUNT)};
    vit_status status = VIT_OK;
    if (!t.nearest || !t.farthest)
        status = vit_fail_memory(error, "a coreset", count * sizeof *t.nearest);
    for (size_t i = 0; i < count && status == VIT_OK; i++) t.nearest[i] = INT32_MIN;
    for (size_t k = 0; k < keep && status == VIT_OK; k++) {
        kept[k] = t.last;
        t.nearest[t.last] = INT32_MAX;
        vit_parallel(threads, tasks, thin_task, &t);
        t.last = t.farthest[0];
        for (size_t i = 1; i < tasks; i++)
            if (t.nearest[t.farthest[i]] < t.nearest[t.last]) t.last = t.farthest[i];
    }
    if (status == VIT_OK) qsort(kept, keep, sizeof *kept, vit_compare_sizes);
    vit_free(t.nearest);
    vit_free(t.farthest);
    return status;
}
