/* Split conformal prediction: scores, their quantiles, and sets. Sizes: K classes, n calibration
 * pictures. */
#ifndef VIT_RELIANCE_CONFORMAL_H
#define VIT_RELIANCE_CONFORMAL_H

#include "vit/formats/json.h"
#include "vit/formats/json_out.h"
#include "vit/reliance.h"
#include "vit/reliance/typical.h"

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
    /* of vit_calibration_compare: */
    vit_typical *typical;       /* owned; NULL: without training pictures */
    double *ood[VIT_OOD_COUNT]; /* [ood_images] ascending, owned; NULL: that score is not there */
    size_t ood_images;
    vit_ood_score chosen;
    char *outliers; /* the name of their data, owned; NULL: there were none */
    size_t outlier_images;
    vit_ood_figures figures[VIT_OOD_COUNT];
};

struct vit_set_rule {
    vit_conformal_score score;
    size_t classes;
    double *thresholds; /* [K] */
};

/* The scores of class `label`; order: [K], scratch memory. */
void vit_conformal_scores(double scores[VIT_CONFORMAL_COUNT], const float *probabilities,
                          size_t label, size_t *order, size_t classes);

/* A picture's scores by its answer; the others are NaN. */
void vit_ood_scores(double scores[VIT_OOD_COUNT], const float *logits, const float *probabilities,
                    size_t classes);

/* Keeps such scores of `count` calibration pictures, and chooses KNN or else ENERGY. */
vit_status vit_ood_keep(vit_calibration *calibration, double (*scores)[VIT_OOD_COUNT], size_t count,
                        vit_error *error);

/* Frees what vit_calibration_compare made. */
void vit_ood_clear(vit_calibration *calibration);

/* In the order of vit_ood_score, and NULL. */
extern const char *const vit_ood_names[];

/* The member "ood" of the file, null without it: written, and read and checked. */
void vit_ood_write(vit_json_out *json, const vit_calibration *calibration);
vit_status vit_ood_read(vit_calibration *calibration, const json_t *ood, const char *path,
                        vit_error *error);

/* The smallest n for which a coverage has a threshold. */
size_t vit_conformal_needs(double coverage);

/* The ceil((n + 1) coverage)-th smallest of values: [n], which it sorts. n >= what it needs. */
double vit_conformal_quantile(double *values, size_t n, double coverage);

#endif
