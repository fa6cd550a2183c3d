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

/* A task compares some patches, whose integers stay in the second-level cache, with a share of the
 * rows; the rows of a bank are read once for so many patches. */
enum { QUERIES = 256, SHARES = 8, LEAST_ROWS = 256 };

typedef struct finding {
    const vit_bank *bank;
    int16_t *packed;  /* the patches, as vit_dots_best reads them */
    int32_t *largest; /* [shares][room] */
    size_t patches, room, first, end, shares;
    vit_dots_best *best;
} finding;

static void find_task(size_t task, int thread, void *context) {
    const finding *f = context;
    const vit_bank *b = f->bank;
    const size_t share = task % f->shares, from = task / f->shares * QUERIES;
    const size_t count = vit_min(QUERIES, f->patches - from),
                 step = vit_ceil_div(b->rows, f->shares);
    const size_t begin = vit_min(share * step, b->rows), end = vit_min(begin + step, b->rows);
    /* Without rows first .. end - 1 of the bank. */
    const size_t before = vit_max(vit_min(end, f->first), begin);
    const size_t behind = vit_min(vit_max(begin, f->end), end);
    const int16_t *packed = f->packed + from * (b->dim + b->dim % 2);
    int32_t *largest = f->largest + share * f->room + from;
    (void)thread;
    for (size_t i = 0; i < vit_min(QUERIES, f->room - from); i++) largest[i] = INT32_MIN;
    f->best(largest, b->features + begin * b->dim, before - begin, packed, count, b->dim);
    f->best(largest, b->features + behind * b->dim, end - behind, packed, count, b->dim);
}

vit_status vit_bank_distances(double *distances, const vit_bank *bank, const int16_t *queries,
                              size_t patches, size_t first, size_t end, int threads,
                              vit_cpu highest, vit_error *error) {
    finding f = {.bank = bank,
                 .patches = patches,
                 .room = vit_ceil_div(patches, VIT_DOTS_QUERIES) * VIT_DOTS_QUERIES,
                 .first = first,
                 .end = end,
                 .shares = vit_min(vit_ceil_div(bank->rows, LEAST_ROWS), SHARES),
                 .best = vit_dots_choose(highest)->best};
    f.largest = vit_alloc_unset(f.shares * f.room, sizeof *f.largest);
    f.packed = vit_alloc_unset(f.room, (bank->dim + bank->dim % 2) * sizeof *f.packed);
    const bool whole = f.largest && f.packed;
    if (whole) {
        vit_dots_pack(f.packed, queries, patches, bank->dim);
        vit_parallel(threads, vit_ceil_div(patches, QUERIES) * f.shares, find_task, &f);
    }
    for (size_t i = 0; i < patches && whole; i++) {
        int32_t largest = f.largest[i];
        for (size_t k = 1; k < f.shares; k++)
            if (f.largest[k * f.room + i] > largest) largest = f.largest[k * f.room + i];
        distances[i] = fmax(1 - (double)largest / SQUARE, 0);
    }
    vit_free(f.largest);
    vit_free(f.packed);
    return whole ? VIT_OK : vit_fail_memory(error, "distances", f.room * bank->dim * 2);
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
    vit_dots_wide *dots;
} thinning;

static void thin_task(size_t task, int thread, void *context) {
    const thinning *t = context;
    const size_t from = task * ROWS, end = vit_min(from + ROWS, t->count);
    int32_t products[ROWS];
    (void)thread;
    t->dots(products, t->rows + from * t->dim, end - from, t->rows + t->last * t->dim, t->dim);
    size_t farthest = from;
    for (size_t i = from; i < end; i++) {
        if (products[i - from] > t->nearest[i]) t->nearest[i] = products[i - from];
        if (t->nearest[i] < t->nearest[farthest]) farthest = i;
    }
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
                  .dots = vit_dots_choose(VIT_CPU_COUNT)->wide};
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
