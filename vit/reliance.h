/* Answers that say how far to trust them: sets of classes that hold the truth with a probability
 * that is chosen beforehand (split conformal prediction; Vovk, Gammerman, Shafer: Algorithmic
 * Learning in a Random World; Angelopoulos, Bates: A Gentle Introduction to Conformal Prediction).
 *
 *     vit_calibration_new(&calibration, model, &options, &error); (once, with labelled pictures)
 *     vit_calibration_save(calibration, "model.calibration", &error);
 *
 *     vit_calibration_load(&calibration, "model.calibration", model, session, &error);
 *     vit_set_rule_new(&rule, calibration, &(vit_set_options){.coverage = .95}, &error);
 *     size_t count = vit_prediction_set(rule, probabilities, set);
 *
 * And labels that are likely wrong: vit_label_issues_find.
 *
 * The guarantee: of new pictures, at least the share `coverage` have their true class in the set,
 * if they and the calibration pictures are exchangeable: drawn in the same way, in any order, none
 * of them used to train the model. It holds on average over calibrations and pictures, not for each
 * class or kind of picture; with `by_class` it holds for each class. It says nothing of pictures of
 * another kind.
 *
 * Sizes in the comments: K = classes of the model. Functions may be called from several threads;
 * calibrations and rules are only read once they are made.
 */
#ifndef VIT_RELIANCE_H
#define VIT_RELIANCE_H

#include "vit/vit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How badly a class fits a picture. p_k: its probability; r_k: its rank, 1 for the likeliest. */
typedef enum vit_conformal_score {
    VIT_CONFORMAL_LAC,  /* 1 - p_k: the smallest sets on average (Sadinle, Lei, Wasserman: Least
                           Ambiguous Set-Valued Classifiers). A set may be empty */
    VIT_CONFORMAL_APS,  /* the sum of p over classes up to rank r_k: larger sets, whose size follows
                           the difficulty (Romano, Sesia, Candes: Classification with Valid and
                           Adaptive Coverage). Never empty */
    VIT_CONFORMAL_RAPS, /* that plus .01 max(0, r_k - 5): without its long tails (Angelopoulos et
                           al.: Uncertainty Sets for Image Classifiers) */
    VIT_CONFORMAL_COUNT,
} vit_conformal_score;

/* "lac", "aps", "raps"; constant. */
VIT_API const char *vit_conformal_name(vit_conformal_score score);

/* The scores of the true classes of labelled pictures, and which model gave them. */
typedef struct vit_calibration vit_calibration;

/* Classifies the pictures that `options` names, as vit_evaluate does, and keeps their scores. Its
 * callback `picture` is ignored. *out is freed by vit_calibration_free. Errors: those of
 * vit_evaluate; UNSUPPORTED for a model that is not of one class a picture. */
VIT_API vit_status vit_calibration_new(vit_calibration **out, const vit_model *model,
                                       const vit_evaluate_options *options, vit_error *error);
VIT_API void vit_calibration_free(vit_calibration *calibration);

/* Writes a calibration to a file (docs/formats.md), which is replaced at once. A file that is no
 * calibration is not replaced: MISMATCH. */
VIT_API vit_status vit_calibration_save(const vit_calibration *calibration, const char *path,
                                        vit_error *error);

/* Reads a calibration for a model and a session of it, which classifies one picture. FORMAT: the
 * file is damaged; MISMATCH: it was made with other weights, classes, preprocessing or another
 * precision. */
VIT_API vit_status vit_calibration_load(vit_calibration **out, const char *path,
                                        const vit_model *model, vit_session *session,
                                        vit_error *error);

typedef struct vit_calibration_info {
    const char *data, *which; /* name of the data, and which of its pictures, in a few words; valid
                                 as long as the calibration */
    size_t images, classes;   /* calibration pictures; K */
    size_t fewest;            /* of a class, calibration pictures */
} vit_calibration_info;
VIT_API vit_calibration_info vit_calibration_describe(const vit_calibration *calibration);

typedef struct vit_set_options {
    double coverage; /* above 0, below 1: the share of sets that hold the truth */
    vit_conformal_score score;
    bool by_class; /* a threshold for each class (Mondrian conformal prediction): coverage holds for
                      each, and every class needs enough calibration pictures */
} vit_set_options;

/* The thresholds for one coverage. *out is freed by vit_set_rule_free; the calibration may be freed
 * before. ARGUMENT: coverage out of range, or too few calibration pictures for it; the message says
 * how many are needed: coverage / (1 - coverage), rounded up. */
typedef struct vit_set_rule vit_set_rule;
VIT_API vit_status vit_set_rule_new(vit_set_rule **out, const vit_calibration *calibration,
                                    const vit_set_options *options, vit_error *error);
VIT_API void vit_set_rule_free(vit_set_rule *rule);

/* The set of a picture, the likeliest class first. probabilities: [K], by vit_model_probabilities;
 * set: [K]. Returns how many classes are in it. */
VIT_API size_t vit_prediction_set(const vit_set_rule *rule, const float *probabilities,
                                  size_t *set);

/* ---- a reject option ------------------------------------------------------------------------- */

/* What a threshold does to the calibration pictures (selective classification; Chow: On Optimum
 * Recognition Error and Reject Tradeoff). Shares, 0..1. */
typedef struct vit_abstain_figures {
    size_t images, answered, right; /* calibration pictures; those answered; those of them right */
    double low, high; /* Wilson's interval of 95 % for the share of answers that are right */
} vit_abstain_figures;

/* The lowest confidence thresholds with which the share `right` of the answers to the calibration
 * pictures is right: of all answers, or with `by_class` of the answers of each class. thresholds:
 * [K], by the answered class; above 1 where the model must abstain always. The model abstains where
 * the probability of its answer is below. ARGUMENT: `right` is not between 0 and 1, or there is no
 * such threshold. */
VIT_API vit_status vit_abstain_thresholds(double *thresholds, vit_abstain_figures *figures,
                                          const vit_calibration *calibration, double right,
                                          bool by_class, vit_error *error);

/* ---- wrong labels ---------------------------------------------------------------------------- */

/* A picture whose label is likely wrong. */
typedef struct vit_label_issue {
    size_t picture, label, likely; /* row of the probabilities; its given class; its likeliest */
    /* label-quality scores, 0..1, low for a label that is likely wrong: the probability of the
     * given class; and half of one more than what that exceeds the likeliest other class by */
    double self_confidence, normalized_margin;
} vit_label_issue;

/* Finds label issues by confident learning (Northcutt, Jiang, Chuang: Confident Learning:
 * Estimating Uncertainty in Dataset Labels), as cleanlab's find_label_issues does
 * (prune_by_noise_rate): how many labels of each class are of each other class is estimated from
 * the answers that are confident, and so many pictures are listed, those of the largest margin.
 * probabilities: [images][classes], of a model that was not trained on these pictures; labels:
 * [images], their given classes. *issues: [*count], the lowest self_confidence first; freed by
 * vit_label_issues_free. ARGUMENT: no picture, fewer than two classes, or a label beyond them. */
VIT_API vit_status vit_label_issues_find(vit_label_issue **issues, size_t *count,
                                         const float *probabilities, const size_t *labels,
                                         size_t images, size_t classes, vit_error *error);
VIT_API void vit_label_issues_free(vit_label_issue *issues);

#ifdef __cplusplus
}
#endif

#endif
