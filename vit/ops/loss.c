#include "vit/ops/loss.h"
#include "vit/base/math.h"
#include "vit/base/size.h"

/* softmax(x / temperature) in two steps: probability i is exp((x[i] - max) / temperature) / total.
 */
typedef struct softmax_of {
    const float *x;
    double temperature, max, total, log_total;
} softmax_of;

static softmax_of open_softmax(const float *x, size_t n, double temperature) {
    softmax_of s = {.x = x, .temperature = temperature, .max = x[0]};
    for (size_t i = 1; i < n; i++) s.max = x[i] > s.max ? x[i] : s.max;
    for (size_t i = 0; i < n; i++) s.total += vit_exp((x[i] - s.max) / temperature);
    s.log_total = vit_log(s.total);
    return s;
}

static double log_probability(const softmax_of *s, size_t i) {
    return (s->x[i] - s->max) / s->temperature - s->log_total;
}

double vit_cross_entropy_mixed(float *d_logits, const float *logits, size_t classes,
                               const vit_mixed_label *label, double smoothing, double weight) {
    const softmax_of s = open_softmax(logits, classes, 1);
    const double even = smoothing / (double)classes;
    double loss = 0;
    for (size_t i = 0; i < classes; i++) {
        const double shown =
            (i == label->label ? 1 - label->share : 0) + (i == label->other ? label->share : 0);
        const double target = shown * (1 - smoothing) + even;
        const double log_p = log_probability(&s, i);
        if (target > 0) loss -= target * log_p;
        if (d_logits) d_logits[i] = (float)(weight * (vit_exp(log_p) - target));
    }
    return loss;
}

double vit_cross_entropy(float *d_logits, const float *logits, size_t classes, size_t label,
                         double smoothing, double weight) {
    const vit_mixed_label alone = {label, label, 0};
    return vit_cross_entropy_mixed(d_logits, logits, classes, &alone, smoothing, weight);
}

static bool is_in(const uint32_t *list, size_t count, size_t class) {
    for (size_t i = 0; i < count; i++)
        if (list[i] == class) return true;
    return false;
}

double vit_binary_cross_entropy(float *d_logits, const float *logits, size_t classes,
                                const vit_class_lists *l, double smoothing, double weight) {
    double loss = 0;
    for (size_t i = 0; i < classes; i++) {
        const double z = logits[i], size = z < 0 ? -z : z;
        const double shown = (is_in(l->classes, l->count, i) ? 1 - l->share : 0) +
                             (is_in(l->others, l->other_count, i) ? l->share : 0);
        const double target = shown * (1 - smoothing) + smoothing / 2;
        const double small = vit_exp(-size); /* 1 + small cannot overflow */
        loss += (z > 0 ? z : 0) - z * target + vit_log(1 + small);
        const double p = z < 0 ? small / (1 + small) : 1 / (1 + small);
        if (d_logits) d_logits[i] = (float)(weight * (p - target) / (double)classes);
    }
    return loss / (double)classes;
}

double vit_distillation(float *d_logits, const float *logits, size_t classes,
                        const vit_taught *taught, double temperature, double weight) {
    const double share = taught->other ? taught->share : 0;
    const softmax_of own = open_softmax(logits, classes, temperature);
    const softmax_of first = open_softmax(taught->logits, classes, temperature);
    const softmax_of second = share > 0 ? open_softmax(taught->other, classes, temperature) : first;
    double loss = 0;
    for (size_t i = 0; i < classes; i++) {
        double target = (1 - share) * vit_exp(log_probability(&first, i));
        if (share > 0) target += share * vit_exp(log_probability(&second, i));
        const double log_p = log_probability(&own, i);
        if (target > 0) loss += target * (vit_log(target) - log_p);
        d_logits[i] += (float)(weight * temperature * (vit_exp(log_p) - target));
    }
    return temperature * temperature * loss;
}

void vit_softmax(float *probabilities, const float *logits, size_t classes) {
    vit_softmax_at(probabilities, logits, classes, 1);
}

void vit_softmax_at(float *probabilities, const float *logits, size_t classes, double temperature) {
    const softmax_of s = open_softmax(logits, classes, temperature);
    for (size_t i = 0; i < classes; i++) probabilities[i] = (float)vit_exp(log_probability(&s, i));
}

double vit_softmax_one(const float *logits, size_t classes, size_t index, double temperature) {
    const softmax_of s = open_softmax(logits, classes, temperature);
    return vit_exp((logits[index] - s.max) / temperature) / s.total;
}

/* ---- scores ---- */

static const char *const scorings[] = {"softmax", "sigmoid", "none"};
VIT_CHECK_ROWS(scorings, VIT_SCORING_COUNT);

const char *vit_scoring_name(vit_scoring scoring) {
    return scorings[scoring];
}

double vit_score_one(const float *logits, size_t classes, size_t index, double temperature,
                     vit_scoring scoring) {
    const double logit = logits[index];
    switch (scoring) {
    case VIT_SCORING_SOFTMAX:
        return vit_softmax_one(logits, classes, index, temperature);
    case VIT_SCORING_SIGMOID:
        return 1 / (1 + vit_exp(-logit));
    case VIT_SCORING_NONE:
    case VIT_SCORING_COUNT:
        break;
    }
    return logit;
}

void vit_scores(float *scores, const float *logits, size_t classes, double temperature,
                vit_scoring scoring) {
    if (scoring == VIT_SCORING_SOFTMAX) {
        vit_softmax_at(scores, logits, classes, temperature);
        return;
    }
    for (size_t i = 0; i < classes; i++)
        scores[i] = (float)vit_score_one(logits, classes, i, temperature, scoring);
}
