/* Whether pictures are still those of the calibration: a conformal test martingale. */
#include "vit/base/error.h"
#include "vit/base/fpmode.h"
#include "vit/base/math.h"
#include "vit/base/order.h"
#include "vit/base/random.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/reliance.h"
#include <stdlib.h>
#include <string.h>

/* Bets e p^(e - 1) on small p-values. One bet is begun with every picture, at equal shares of the
 * capital; what is not begun yet is kept. So a change is found as soon after many pictures as after
 * few, and the capital stays a martingale. */
static const double exponents[] = {.1, .2, .3, .4, .5, .6, .7, .8, .9};
enum { BETS = sizeof exponents / sizeof *exponents };

struct vit_drift {
    double *scores; /* [count] ascending: of the calibration, and of pictures since; [capacity] */
    size_t count, calibrated, seen;
    double *first; /* [calibrated] those of the calibration, for beginning again */
    double capital[BETS];
};

vit_status vit_drift_new(vit_drift **out, const double *scores, size_t count, vit_error *error) {
    VIT_ENTRY;
    *out = NULL;
    if (count == 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "drift is found beside a calibration picture");
    vit_drift *d = vit_alloc(1, sizeof *d);
    if (!d) return vit_fail_memory(error, "scores", sizeof *d);
    d->scores = vit_alloc_unset(count + VIT_DRIFT_HORIZON, sizeof *d->scores);
    d->first = vit_alloc_unset(count, sizeof *d->first);
    if (!d->scores || !d->first) {
        vit_drift_free(d);
        return vit_fail_memory(error, "scores", (count + VIT_DRIFT_HORIZON) * sizeof *d->scores);
    }
    memcpy(d->first, scores, count * sizeof *scores);
    qsort(d->first, count, sizeof *d->first, vit_compare_doubles);
    memcpy(d->scores, d->first, count * sizeof *d->scores);
    d->count = d->calibrated = count;
    *out = d;
    return VIT_OK;
}

void vit_drift_free(vit_drift *d) {
    if (!d) return;
    vit_free(d->scores);
    vit_free(d->first);
    vit_free(d);
}

/* Of a number of the picture, in (0, 1]. */
static double random_share(uint64_t number) {
    const uint32_t key[2] = {0x64726966, 0x74},
                   counter[4] = {(uint32_t)number, (uint32_t)(number >> 32)};
    uint32_t block[4];
    vit_philox(block, counter, key);
    return ((double)block[0] + 1) / 4294967296.0;
}

double vit_drift_add(vit_drift *d, double score) {
    VIT_ENTRY;
    if (d->seen == VIT_DRIFT_HORIZON) {
        memcpy(d->scores, d->first, d->calibrated * sizeof *d->scores);
        memset(d->capital, 0, sizeof d->capital);
        d->count = d->calibrated;
        d->seen = 0;
    }
    const size_t from = vit_count_below(d->scores, d->count, score, false);
    const size_t to = vit_count_below(d->scores, d->count, score, true);
    const double larger = (double)(d->count - to), equal = (double)(to - from) + 1;
    const double p = (larger + equal * random_share(d->seen)) / ((double)d->count + 1);
    const double logarithm = vit_log(p), share = 1. / VIT_DRIFT_HORIZON;
    for (size_t i = 0; i < BETS; i++)
        d->capital[i] =
            (d->capital[i] + share) * exponents[i] * vit_exp((exponents[i] - 1) * logarithm);
    memmove(d->scores + to + 1, d->scores + to, (d->count - to) * sizeof *d->scores);
    d->scores[to] = score;
    d->count++;
    d->seen++;
    return vit_drift_value(d);
}

double vit_drift_value(const vit_drift *d) {
    VIT_ENTRY;
    double sum = 0;
    for (size_t i = 0; i < BETS; i++) sum += d->capital[i];
    return sum / BETS + (double)(VIT_DRIFT_HORIZON - d->seen) / VIT_DRIFT_HORIZON;
}
