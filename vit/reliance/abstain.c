#include "vit/base/error.h"
#include "vit/base/fpmode.h"
#include "vit/base/math.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/reliance/conformal.h"
#include <stdlib.h>

/* An answer to a calibration picture. */
typedef struct given {
    double confidence;
    bool right;
} given;

static int surest_first(const void *a, const void *b) {
    const double x = ((const given *)a)->confidence, y = ((const given *)b)->confidence;
    return (y > x) - (y < x);
}

/* The answers of class k, or of all if `all`, the surest first; returns how many. */
static size_t gather(given *answers, const vit_calibration *c, size_t k, bool all) {
    size_t n = 0;
    for (size_t i = 0; i < c->images; i++) {
        const vit_scored_picture *p = &c->pictures[i];
        if (all || p->answer == k) answers[n++] = (given){p->confidence, p->answer == p->label};
    }
    qsort(answers, n, sizeof *answers, surest_first);
    return n;
}

/* The lowest threshold with which at least this share of the answers is right. Equal confidences
 * are on the same side of it. */
static double lowest_threshold(const given *answers, size_t n, double share) {
    double threshold = 2;
    size_t right = 0;
    for (size_t i = 0; i < n; i++) {
        right += answers[i].right;
        const bool ends = i + 1 == n || answers[i + 1].confidence < answers[i].confidence;
        if (ends && (double)right >= share * (double)(i + 1)) threshold = answers[i].confidence;
    }
    return threshold;
}

static void count_answers(vit_abstain_figures *f, const vit_calibration *c,
                          const double *thresholds) {
    *f = (vit_abstain_figures){.images = c->images, .high = 1};
    for (size_t i = 0; i < c->images; i++) {
        const vit_scored_picture *p = &c->pictures[i];
        if (p->confidence < thresholds[p->answer]) continue;
        f->answered++;
        f->right += p->answer == p->label;
    }
    if (f->answered > 0) vit_wilson(&f->low, &f->high, f->right, f->answered);
}

vit_status vit_abstain_thresholds(double *thresholds, vit_abstain_figures *figures,
                                  const vit_calibration *c, double right, bool by_class,
                                  vit_error *error) {
    VIT_ENTRY;
    given *answers = vit_alloc(c->images, sizeof *answers);
    vit_status status = VIT_OK;
    char percent[32];
    if (!answers)
        status = vit_fail_memory(error, "answers", c->images * sizeof *answers);
    else if (!(right > 0 && right <= 1))
        status = vit_fail(error, VIT_ERROR_ARGUMENT,
                          "the share of answers that are right is above 0 and at most 1");
    for (size_t k = 0; k < c->classes && status == VIT_OK; k++) {
        if (k > 0 && !by_class) {
            thresholds[k] = thresholds[0];
            continue;
        }
        const size_t n = gather(answers, c, k, !by_class);
        thresholds[k] = lowest_threshold(answers, n, right);
    }
    if (status == VIT_OK) count_answers(figures, c, thresholds);
    if (status == VIT_OK && figures->answered == 0)
        status = vit_fail(error, VIT_ERROR_ARGUMENT,
                          "no confidence threshold makes %s %% of the answers right: the surest "
                          "answers to the %zu calibration pictures are wrong; ask for less",
                          vit_format_fixed(percent, 100 * right, 2), c->images);
    vit_free(answers);
    return status;
}
