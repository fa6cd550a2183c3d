#include "vit/reliance/conformal.h"
#include "vit/base/error.h"
#include "vit/base/fpmode.h"
#include "vit/base/order.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"lac", "aps", "raps"};
VIT_CHECK_ROWS(names, VIT_CONFORMAL_COUNT);

const char *vit_conformal_name(vit_conformal_score score) {
    return names[score];
}

/* ---- scores ---- */

static double penalty(vit_conformal_score score, size_t rank) {
    const bool regularised = score == VIT_CONFORMAL_RAPS && rank > VIT_RAPS_FREE;
    return regularised ? VIT_RAPS_PENALTY * (double)(rank - VIT_RAPS_FREE) : 0;
}

void vit_conformal_scores(double scores[VIT_CONFORMAL_COUNT], const float *probabilities,
                          size_t label, size_t *order, size_t classes) {
    double sum = 0;
    size_t rank = 0;
    vit_top_k(probabilities, classes, classes, order);
    do sum += (double)probabilities[order[rank]];
    while (order[rank++] != label);
    scores[VIT_CONFORMAL_LAC] = 1 - (double)probabilities[label];
    scores[VIT_CONFORMAL_APS] = sum;
    scores[VIT_CONFORMAL_RAPS] = sum + penalty(VIT_CONFORMAL_RAPS, rank);
}

/* ---- thresholds ---- */

/* So that (n + 1) .95 is 19 and not a little more for n = 19. */
#define ROUNDING 1e-9

size_t vit_conformal_needs(double coverage) {
    const double needed = coverage / (1 - coverage);
    return (size_t)ceil(needed - ROUNDING * (1 + needed));
}

double vit_conformal_quantile(double *values, size_t n, double coverage) {
    const size_t rank = (size_t)ceil((double)(n + 1) * coverage - ROUNDING);
    qsort(values, n, sizeof *values, vit_compare_doubles);
    return values[vit_max(rank, 1) - 1];
}

/* The scores of pictures of one class, or of all if `all`; returns how many. */
static size_t gather(double *values, const vit_calibration *c, vit_conformal_score score,
                     size_t label, bool all) {
    size_t n = 0;
    for (size_t i = 0; i < c->images; i++)
        if (all || c->pictures[i].label == label) values[n++] = c->pictures[i].scores[score];
    return n;
}

static vit_status fail_too_few(size_t n, double coverage, const char *of, vit_error *error) {
    char percent[32];
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    "a coverage of %s %% needs at least %zu calibration pictures%s, and there are "
                    "%zu; calibrate with more, or ask for less",
                    vit_format_fixed(percent, 100 * coverage, 2), vit_conformal_needs(coverage), of,
                    n);
}

static vit_status find_thresholds(vit_set_rule *r, double *values, const vit_calibration *c,
                                  const vit_set_options *o, vit_error *error) {
    for (size_t k = 0; k < r->classes; k++) {
        if (k > 0 && !o->by_class) {
            r->thresholds[k] = r->thresholds[0];
            continue;
        }
        const size_t n = gather(values, c, o->score, k, !o->by_class);
        if (n < vit_conformal_needs(o->coverage))
            return fail_too_few(n, o->coverage, o->by_class ? " of each class" : "", error);
        r->thresholds[k] = vit_conformal_quantile(values, n, o->coverage);
    }
    return VIT_OK;
}

vit_status vit_set_rule_new(vit_set_rule **out, const vit_calibration *c, const vit_set_options *o,
                            vit_error *error) {
    VIT_ENTRY;
    static const vit_set_options none;
    vit_status status = VIT_OK;
    vit_set_rule *r = NULL;
    double *values = NULL;
    *out = NULL;
    if (!o) o = &none;
    if (!(o->coverage > 0 && o->coverage < 1)) {
        status = vit_fail(error, VIT_ERROR_ARGUMENT, "coverage is a share above 0 and below 1");
    } else {
        r = vit_alloc(1, sizeof *r);
        values = vit_alloc(vit_max(c->images, 1), sizeof *values);
        if (r) *r = (vit_set_rule){o->score, c->classes, vit_alloc(c->classes, sizeof(double))};
        status = r && r->thresholds && values
                     ? find_thresholds(r, values, c, o, error)
                     : vit_fail_memory(error, "thresholds", c->classes * sizeof(double));
    }
    vit_free(values);
    if (status == VIT_OK)
        *out = r;
    else
        vit_set_rule_free(r);
    return status;
}

void vit_set_rule_free(vit_set_rule *r) {
    if (r) vit_free(r->thresholds);
    vit_free(r);
}

/* ---- sets ---- */

/* Classes in the order of their probabilities. */
size_t vit_prediction_set(const vit_set_rule *r, const float *probabilities, size_t *set) {
    VIT_ENTRY;
    const bool sums = r->score != VIT_CONFORMAL_LAC;
    double sum = 0;
    size_t count = 0;
    vit_top_k(probabilities, r->classes, r->classes, set);
    for (size_t i = 0; i < r->classes; i++) {
        const size_t k = set[i];
        sum += (double)probabilities[k];
        const double score = sums ? sum + penalty(r->score, i + 1) : 1 - (double)probabilities[k];
        if (score <= r->thresholds[k]) set[count++] = k;
    }
    return count;
}
