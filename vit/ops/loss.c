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

void vit_softmax(float *probabilities, const float *logits, size_t classes) {
    vit_softmax_at(probabilities, logits, classes, 1);
}

void vit_softmax_at(float *probabilities, const float *logits, size_t classes, double temperature) {
    const double max = largest(logits, classes);
    double sum = 0;
    for (size_t i = 0; i < classes; i++) sum += vit_exp((logits[i] - max) / temperature);
    const double log_total = vit_log(sum);
    for (size_t i = 0; i < classes; i++)
        probabilities[i] = (float)vit_exp((logits[i] - max) / temperature - log_total);
}
