/* How good scores are of pictures that are of several classes, or of none. */
#ifndef VIT_TRAIN_MEASURE_LABELS_H
#define VIT_TRAIN_MEASURE_LABELS_H

#include "vit/base/error.h"

/* A picture's score for a class, and whether it is of that class. */
typedef struct vit_scored {
    float score;
    bool is_positive;
} vit_scored;

/* The average precision: the mean over the positives of the share of positives among the pictures
 * that score at least as high (scikit-learn's average_precision_score). NaN if there are none, or a
 * score is NaN. Sorts scored, [count]. */
double vit_average_precision(vit_scored *scored, size_t count);

/* F1, 2 right / (answered + images): of `answered` pictures that were said to be of a class,
 * `right` are, and `images` are in truth. 0 if there are neither, as in scikit-learn. */
double vit_f1(size_t right, size_t answered, size_t images);

#endif
