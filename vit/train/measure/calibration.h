/* Probabilities that mean something: a temperature that is fitted on pictures the training has not
 * seen (Guo et al.: On Calibration of Modern Neural Networks), and what tells how far a model's
 * probabilities are from how often it is right. */
#ifndef VIT_TRAIN_MEASURE_CALIBRATION_H
#define VIT_TRAIN_MEASURE_CALIBRATION_H

#include "datasets/dataset.h"

#define VIT_CALIBRATION_BINS 15

/* Sums over pictures; zeroed at the start. */
typedef struct vit_calibration {
    size_t images[VIT_CALIBRATION_BINS]; /* by confidence, the largest probability: bin i is */
    size_t right[VIT_CALIBRATION_BINS];  /* (i / bins, (i + 1) / bins]; right answers of these */
    double confidence[VIT_CALIBRATION_BINS];
    double squares; /* sum over classes of (probability - truth)^2 */
} vit_calibration;

/* Adds a picture. probabilities: [classes]; with NaN among them it is not counted. */
void vit_calibration_add(vit_calibration *c, const float *probabilities, size_t classes,
                         size_t label);

/* Expected calibration error: sum over bins of |right - confidence| / pictures. And the Brier
 * score, the mean of `squares`. */
double vit_calibration_error(const vit_calibration *c);
double vit_calibration_brier(const vit_calibration *c);

/* The T that makes the mean cross-entropy of softmax(logits / T) least; logits: [count][classes],
 * labels[numbers[i]] of picture i, or labels[i] where numbers is NULL. As in Platt scaling the
 * target is 1 - 1 / (count + 2) for the label and the rest for the others, so that a few right
 * answers do not make everything certain. Between .05 and 20, rounded to a thousandth; 1 for fewer
 * than 50 pictures, and where logits are not finite. */
double vit_temperature_fit(const float *logits, const uint16_t *labels, const uint32_t *numbers,
                           size_t count, size_t classes);

/* The probability that the likeliest class of one picture in VIT_UNSURE stays below: answers below
 * it are unsure. confidences: [count], for work; logits: [count][classes]. 0 for fewer than 100
 * pictures, and where logits are not finite. */
#define VIT_UNSURE 100
double vit_threshold_fit(float *confidences, const float *logits, size_t count, size_t classes,
                         double temperature);

#endif
