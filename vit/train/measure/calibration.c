#include "vit/train/measure/calibration.h"
#include "vit/base/math.h"
#include "vit/base/order.h"
#include "vit/ops/loss.h"
#include <math.h>
#include <stdlib.h>

/* ---- how well probabilities match accuracy ---- */

void vit_calibration_add(vit_calibration *c, const float *probabilities, size_t classes,
                         size_t label) {
    size_t best = 0;
    double squares = 0;
    for (size_t i = 0; i < classes; i++) {
        const double miss = (double)probabilities[i] - (i == label);
        if (probabilities[i] > probabilities[best]) best = i;
        squares += miss * miss;
    }
    if (isnan(squares)) return;
    const double confidence = probabilities[best];
    const double place = ceil(confidence * VIT_CALIBRATION_BINS) - 1;
    const size_t last = VIT_CALIBRATION_BINS - 1;
    const size_t bin = place < 0 ? 0 : (size_t)place > last ? last : (size_t)place;
    c->images[bin]++;
    c->right[bin] += best == label;
    c->confidence[bin] += confidence;
    c->squares += squares;
}

static size_t images_of(const vit_calibration *c) {
    size_t images = 0;
    for (size_t i = 0; i < VIT_CALIBRATION_BINS; i++) images += c->images[i];
    return images;
}

double vit_calibration_error(const vit_calibration *c) {
    double sum = 0;
    for (size_t i = 0; i < VIT_CALIBRATION_BINS; i++)
        sum += fabs((double)c->right[i] - c->confidence[i]);
    return sum / (double)images_of(c);
}

double vit_calibration_brier(const vit_calibration *c) {
    return c->squares / (double)images_of(c);
}

/* ---- the temperature ---- */

#define LOWEST .05
#define HIGHEST 20.
#define HALVINGS 30

/* The slope, at b = 1 / T, of the cross-entropy of one picture: sum_i (p_i - target_i) z_i with
 * p = softmax(b z). */
static double slope(const float *z, size_t classes, size_t label, double b, double off) {
    double max = z[0], total = 0, mean = 0, target = 0;
    const double even = classes > 1 ? off / (double)(classes - 1) : 0;
    for (size_t i = 1; i < classes; i++) max = z[i] > max ? z[i] : max;
    for (size_t i = 0; i < classes; i++) {
        const double p = vit_exp(b * (z[i] - max));
        total += p;
        mean += p * (z[i] - max);
        target += (i == label ? 1 - off : even) * (z[i] - max);
    }
    return mean / total - target;
}

/* The cross-entropy is convex in b, so its slope rises: halving finds where it is 0. */
double vit_temperature_of(const float *logits, const uint16_t *labels, const uint32_t *numbers,
                          size_t count, size_t classes) {
    double low = vit_log(1 / HIGHEST), high = vit_log(1 / LOWEST);
    const double off = 1 / (double)(count + 2);
    for (size_t i = 0; i < count * classes; i++)
        if (!isfinite(logits[i])) return 1;
    for (int k = 0; k < HALVINGS; k++) {
        const double middle = (low + high) / 2, b = vit_exp(middle);
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += slope(logits + i * classes, classes, labels[numbers ? numbers[i] : i], b, off);
        if (sum < 0)
            low = middle;
        else
            high = middle;
    }
    return floor(1000 * vit_exp(-low) + .5) / 1000;
}

double vit_temperature_fit(const float *logits, const uint16_t *labels, const uint32_t *numbers,
                           size_t count, size_t classes) {
    if (count < VIT_TEMPERATURE_PICTURES) return 1;
    return vit_temperature_of(logits, labels, numbers, count, classes);
}

/* ---- the threshold ---- */

double vit_threshold_fit(float *confidences, const float *logits, size_t count, size_t classes,
                         double temperature) {
    if (count < VIT_BELOW_THRESHOLD) return 0;
    for (size_t i = 0; i < count * classes; i++)
        if (!isfinite(logits[i])) return 0;
    for (size_t i = 0; i < count; i++) {
        const float *z = logits + i * classes;
        size_t best = 0;
        for (size_t k = 1; k < classes; k++) best = z[k] > z[best] ? k : best;
        confidences[i] = (float)vit_softmax_one(z, classes, best, temperature);
    }
    qsort(confidences, count, sizeof *confidences, vit_compare_floats);
    return (double)confidences[count / VIT_BELOW_THRESHOLD];
}
