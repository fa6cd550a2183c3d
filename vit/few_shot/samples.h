/* Features of labelled pictures, and what a few-shot head is made of: their standardised values,
 * turned to the axes in which they are independent of each other. */
#ifndef VIT_FEW_SHOT_SAMPLES_H
#define VIT_FEW_SHOT_SAMPLES_H

#include "vit/few_shot/matrix.h"
#include "vit/ops/gemm/gemm.h"

/* Views of a picture (crops, mirrored ones) are neighbours; the first is the picture itself, and
 * the weight of a picture is shared among them. */
typedef struct vit_samples {
    const float *features; /* [pictures][views][width] */
    const size_t *labels;  /* [pictures] < classes */
    size_t pictures, views, width, classes;
    const uint32_t *groups; /* [pictures] the first picture that each is a copy of, or itself:
                               copies are left out together; NULL: there are none */
    bool balance;           /* each class weighs the same, however many pictures it has */
    size_t most_double;     /* multiply-adds of Z up to which it is computed in double; 0: 4e9 */
    bool (*goes_on)(void *user); /* asked at each step of a solver; false: it ends; or NULL */
    void *user;
} vit_samples;

/* The singular value decomposition of the samples. x: a row of `standard`, (feature - mean) / std
 * of each column; w: its weight; n = pictures * views; Z V^T = sqrt(w) (x - shift). */
typedef struct vit_spectrum {
    const vit_samples *samples;
    vit_exec exec;
    size_t rows, rank;
    double *mean, *std;    /* [width]; std 1 for a column that does not vary */
    float *standard;       /* [rows][width] */
    double *shift, *scale; /* [width] the weighted mean of x; [rows] sqrt(w) */
    double total;          /* sum of the weights */
    double *values;        /* [rank] squared singular values, the largest first */
    double *right;         /* [rank][width]: V, a vector a row */
    double *z;             /* [rows][rank]; NULL: it is in floats */
    float *floats;         /* the same where there are many more rows than features */
} vit_spectrum;

/* Decomposes X^T X or X X^T, the smaller one, in double. Samples must outlive it; freed by
 * vit_spectrum_free, also on failure. The same bytes for any number of threads. Errors: MEMORY;
 * ARGUMENT if a feature is not finite. */
vit_status vit_spectrum_new(vit_spectrum *out, const vit_samples *samples,
                            const vit_kernels *kernels, int threads, vit_error *error);
void vit_spectrum_free(vit_spectrum *s);

/* out: [rows][classes] = Z B, for b: [rank][classes]. CANCELLED if the samples' goes_on says so. */
vit_status vit_spectrum_scores(double *out, const vit_spectrum *s, const double *b,
                               vit_error *error);

/* out: [rank][classes] = Z^T Y, for y: [rows][classes]. */
vit_status vit_spectrum_back(double *out, const vit_spectrum *s, const double *y, vit_error *error);

/* row: [rank] = row i of Z. */
void vit_spectrum_row(double *row, const vit_spectrum *s, size_t i);

/* A linear head on the features as they are: logit c = bias[c] + weights[c] . feature. */
typedef struct vit_linear_head {
    double *weights, *bias; /* [classes][width], [classes] */
} vit_linear_head;

/* The head whose logits are intercept[c] + (x - shift) V b. Errors: MEMORY. */
vit_status vit_spectrum_head(vit_linear_head *out, const vit_spectrum *s, const double *b,
                             const double *intercept, vit_error *error);

#endif
