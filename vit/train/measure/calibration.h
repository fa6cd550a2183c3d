/* Calibration (Guo et al.: On Calibration of Modern Neural Networks): how well a model's
 * probabilities match its accuracy, and the temperature and threshold that are fitted on pictures
 * held back from training. */
#ifndef VIT_TRAIN_MEASURE_CALIBRATION_H
#define VIT_TRAIN_MEASURE_CALIBRATION_H

#include "datasets/dataset.h"

#define VIT_CALIBRATION_BINS 15

/* Sums over pictures, by confidence, which is the largest probability of a picture: bin i is
 * (i / bins, (i + 1) / bins]. Zeroed at the start. */
typedef struct vit_calibration {
    size_t images[VIT_CALIBRATION_BINS];     /* pictures */
    size_t right[VIT_CALIBRATION_BINS];      /* those answered right */
    double confidence[VIT_CALIBRATION_BINS]; /* sum of their confidences */
    double squares; /* over all pictures and classes: (probability - truth)^2, truth 1 or 0 */
} vit_calibration;

/* Adds a picture. probabilities: [classes]; if one of them is NaN it is not counted. */
void vit_calibration_add(vit_calibration *c, const float *probabilities, size_t classes,
                         size_t label);

/* The expected calibration error: sum over bins of |right - confidence|, divided by all pictures.
 */
double vit_calibration_error(const vit_calibration *c);

/* The Brier score: the mean of `squares` over the pictures. */
double vit_calibration_brier(const vit_calibration *c);

#define VIT_TEMPERATURE_PICTURES 50

/* The temperature T that minimises the mean cross-entropy of softmax(logits / T). logits: [count]
 * [classes]; the label of picture i is labels[numbers[i]], or labels[i] for numbers NULL. As in
 * Platt scaling the target is 1 - 1 / (count + 2) for the label and the rest for the others, so
 * that T does not go to 0 where all answers are right. Between .05 and 20, rounded to a thousandth;
 * 1 for fewer than VIT_TEMPERATURE_PICTURES, and if a logit is not finite. */
double vit_temperature_fit(const float *logits, const uint16_t *labels, const uint32_t *numbers,
                           size_t count, size_t classes);

/* The same for any number of pictures from one on: 1 only if a logit is not finite. */
double vit_temperature_of(const float *logits, const uint16_t *labels, const uint32_t *numbers,
                          size_t count, size_t classes);

/* The confidence threshold that one picture in VIT_BELOW_THRESHOLD stays below: answers below it
 * are reported as unreliable. logits: [count][classes]; confidences: [count], scratch. 0 for fewer
 * than VIT_BELOW_THRESHOLD pictures, and if a logit is not finite. */
#define VIT_BELOW_THRESHOLD 100
double vit_threshold_fit(float *confidences, const float *logits, size_t count, size_t classes,
                         double temperature);

#endif
