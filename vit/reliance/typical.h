/* What features of training pictures look like, and how far others are from them: the distance to
 * the k-th nearest (Sun et al.: Out-of-Distribution Detection with Deep Nearest Neighbors), and the
 * Mahalanobis distance to the nearest class (Lee et al.: A Simple Unified Framework for Detecting
 * Out-of-Distribution Samples). Sizes: D = width. All is computed in double, in a fixed order. */
#ifndef VIT_RELIANCE_TYPICAL_H
#define VIT_RELIANCE_TYPICAL_H

#include "vit/vit.h"

/* Pictures that are kept at most: more are drawn from, evenly and always the same. */
#define VIT_TYPICAL_MOST 8192

typedef struct vit_typical {
    char *data;           /* the name of the training data, owned like all below */
    size_t width, images; /* D; kept pictures */
    size_t classes;       /* of the training data, those with pictures */
    size_t neighbours;    /* k: one for each hundred pictures, 1 to 50 */
    float *features;      /* [images][D], of length 1 */
    double *factor;       /* [D][D], lower triangular: the covariance within classes is L L^T */
    double *means;        /* [classes][D]: L^-1 times the mean of each class */
} vit_typical;

/* Features of training pictures as they come. */
typedef struct vit_typical_sample {
    size_t width, seen, count, room, label_room;
    float *features; /* [count][D] as the model gives them */
    size_t *labels;  /* [count] */
    uint32_t *ranks; /* [count] random numbers, those below `limit` are kept */
    uint64_t limit;
    vit_status status;
    vit_error *error;
} vit_typical_sample;

/* Keeps a picture, or not; what fails is in `status`. Zeroed first, with width and error set. */
void vit_typical_add(vit_typical_sample *sample, const float *features, size_t label);
void vit_typical_sample_free(vit_typical_sample *sample);

/* *out: of the sample, whose features it uses up; freed by vit_typical_free. ARGUMENT for fewer
 * than two pictures, or features that do not vary. */
vit_status vit_typical_new(vit_typical **out, vit_typical_sample *sample, const char *data,
                           vit_error *error);
void vit_typical_free(vit_typical *typical);

/* Doubles of scratch memory for the next two. */
size_t vit_typical_scratch(const vit_typical *typical);

/* The distance of features, made of length 1, to the k-th nearest ones. */
double vit_typical_knn(const vit_typical *typical, const float *features, double *scratch);

/* The smallest squared Mahalanobis distance to the mean of a class. */
double vit_typical_mahalanobis(const vit_typical *typical, const float *features, double *scratch);

#endif
