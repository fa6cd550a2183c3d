#include "vit/ops/loss.h"
#include "vit/base/math.h"

static double largest(const float *x, size_t n) {
    double max = x[0];
    for (size_t i = 1; i < n; i++) max = x[i] > max ? x[i] : max;
    return max;
}

/* log sum exp(x - max) */
static double log_sum(const float *x, size_t n, double max) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += vit_exp(x[i] - max);
    return vit_log(sum);
}

double vit_cross_entropy_mixed(float *d_logits, const float *logits, size_t classes,
                               const vit_mixed_label *label, double smoothing, double weight) {
    const double max = largest(logits, classes), log_total = log_sum(logits, classes, max);
    const double even = smoothing / (double)classes;
    double loss = 0;
    for (size_t i = 0; i < classes; i++) {
        const double shown =
            (i == label->label ? 1 - label->share : 0) + (i == label->other ? label->share : 0);
        const double target = shown * (1 - smoothing) + even;
        const double log_p = logits[i] - max - log_total;
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

/* softmax(x / temperature) as x and these two have it: exp((x - max) / temperature - log_total). */
typedef struct softmax_at {
    const float *x;
    double max, temperature, log_total;
} softmax_at;

static softmax_at open_softmax(const float *x, size_t n, double temperature) {
    softmax_at s = {x, largest(x, n), temperature, 0};
    for (size_t i = 0; i < n; i++) s.log_total += vit_exp((x[i] - s.max) / temperature);
    s.log_total = vit_log(s.log_total);
    return s;
}

static double log_probability(const softmax_at *s, size_t i) {
    return (s->x[i] - s->max) / s->temperature - s->log_total;
}

double vit_distillation(float *d_logits, const float *logits, size_t classes,
                        const vit_taught *taught, double temperature, double weight) {
    const double share = taught->other ? taught->share : 0;
    const softmax_at own = open_softmax(logits, classes, temperature);
    const softmax_at first = open_softmax(taught->logits, classes, temperature);
    const softmax_at second = share > 0 ? open_softmax(taught->other, classes, temperature) : first;
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
    const softmax_at s = open_softmax(logits, classes, temperature);
    for (size_t i = 0; i < classes; i++) probabilities[i] = (float)vit_exp(log_probability(&s, i));
}

double vit_softmax_one(const float *logits, size_t classes, size_t index, double temperature) {
    const double max = largest(logits, classes);
    double sum = 0;
    for (size_t i = 0; i < classes; i++) sum += vit_exp((logits[i] - max) / temperature);
    return vit_exp((logits[index] - max) / temperature) / sum;
}
