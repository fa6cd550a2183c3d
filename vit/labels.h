/* Models of pictures that are of any number of classes (VIT_SCORING_SIGMOID): how good they are.
 *
 *     vit_label_evaluation e;
 *     const vit_evaluate_options options = {.data = "photographs"};
 *     if (vit_evaluate_labels(model, &options, &e, &error) == VIT_OK)
 *         printf("mAP %.4f\n", e.mean_average_precision);
 *     vit_label_evaluation_clear(&e);
 *
 * They are trained by vit_train with "multi_label=true" in its `set`, or published so.
 */
#ifndef VIT_LABELS_H
#define VIT_LABELS_H

#include "vit/vit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One class. A picture is said to be of it if its score is above the threshold. */
typedef struct vit_label_score {
    size_t images;            /* pictures of it */
    size_t answered;          /* pictures that are said to be of it */
    size_t right;             /* those of them that are */
    double average_precision; /* of its scores, as scikit-learn's average_precision_score; NaN if no
                                 picture is of it */
} vit_label_score;

typedef struct vit_label_evaluation {
    char data[256];    /* name of the data */
    const char *which; /* the pictures that were scored, in a few words */
    size_t images, classes;
    size_t exact;                  /* pictures of which all classes are right */
    double loss;                   /* mean binary cross-entropy over pictures and classes */
    double threshold;              /* .5 */
    double mean_average_precision; /* over the classes that have pictures */
    double micro_f1;               /* of all classes together */
    double macro_f1;       /* mean over the classes; 0 for one without pictures and answers */
    size_t unknown_images; /* pictures of classes that the model does not know, counted once
                              for each of these; such classes are left out */
    double seconds;
    vit_label_score *scores; /* [classes], owned */
} vit_label_evaluation;

/* Measures a model whose scoring is VIT_SCORING_SIGMOID. The data are a table of pictures, each
 * with any number of classes, or a folder per class (docs/data.md); classes meet by name. Of the
 * options `picture` is ignored. UNSUPPORTED for another scoring; else as vit_evaluate. Fill-in is
 * given back by vit_label_evaluation_clear, which also takes NULL. */
VIT_API vit_status vit_evaluate_labels(const vit_model *model, const vit_evaluate_options *options,
                                       vit_label_evaluation *result, vit_error *error);
VIT_API void vit_label_evaluation_clear(vit_label_evaluation *result);

#ifdef __cplusplus
}
#endif

#endif
