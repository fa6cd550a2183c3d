/* Split conformal prediction: scores, their quantiles, and sets. Sizes: K classes, n calibration
 * pictures. */
#ifndef VIT_RELIANCE_CONFORMAL_H
#define VIT_RELIANCE_CONFORMAL_H

#include "vit/reliance.h"

/* RAPS: the penalty of each rank beyond RAPS_FREE. */
#define VIT_RAPS_PENALTY .01
#define VIT_RAPS_FREE 5

/* A calibration picture: its true class, that class's score by each rule, and the answer with its
 * probability. */
typedef struct vit_scored_picture {
    size_t label;
    double scores[VIT_CONFORMAL_COUNT];
    size_t answer;
    double confidence;
} vit_scored_picture;

struct vit_calibration {
    char *data, *which;      /* owned */
    char answers_sha256[65]; /* of the model's answer to a drawn picture, and its classes */
    size_t classes, images, capacity;
    vit_scored_picture *pictures; /* [images], owned */
};

struct vit_set_rule {
    vit_conformal_score score;
    size_t classes;
    double *thresholds; /* [K] */
};

/* The scores of class `label`; order: [K], scratch memory. */
void vit_conformal_scores(double scores[VIT_CONFORMAL_COUNT], const float *probabilities,
                          size_t label, size_t *order, size_t classes);

/* The smallest n for which a coverage has a threshold. */
size_t vit_conformal_needs(double coverage);

/* The ceil((n + 1) coverage)-th smallest of values: [n], which it sorts. n >= what it needs. */
double vit_conformal_quantile(double *values, size_t n, double coverage);

#endif
