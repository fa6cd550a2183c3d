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
 * Whether a picture is like those of the training: vit_unknown_rule. And labels that are likely
 * wrong: vit_label_issues_find.
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
                           Adaptive Coverage) */
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

/* Answers to the pictures that the model's few-shot head learnt from (vit_evaluation.seen), each by
 * a head that learnt in the same way without it: calls the options' `picture` for each, in the
 * order of the data, without logits. vit_calibration_new and label issues take these for such
 * pictures. folds: as in vit_few_shot_options.
 * *out may be NULL. MISMATCH: the data's classes are not the model's. */
typedef struct vit_left_out {
    size_t images;
    const char *left_out; /* "each picture by itself", "a tenth at a time", "a fold at a time"; a
                             constant */
    double accuracy, low, high; /* of these answers; Wilson's interval of 95 % */
} vit_left_out;
VIT_API vit_status vit_evaluate_left_out(const vit_model *model,
                                         const vit_evaluate_options *options, size_t folds,
                                         vit_left_out *out, vit_error *error);

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
    bool left_out; /* the model's head was computed from them: each was answered by a head without
                      it (the jackknife). The guarantee is then 1 - 2 (1 - coverage) in the worst
                      case, if a picture more or less hardly changes the head (Barber et al.:
                      Predictive Inference with the Jackknife+) */
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

/* ---- out-of-distribution pictures ------------------------------------------------------------ */

/* How unlike the training pictures a picture is: larger is more so. */
typedef enum vit_ood_score {
    VIT_OOD_SOFTMAX,     /* 1 - the largest probability (Hendrycks, Gimpel: A Baseline for Detecting
                            Misclassified and Out-of-Distribution Examples) */
    VIT_OOD_ENERGY,      /* - log sum exp(logits) (Liu et al.: Energy-based Out-of-distribution
                            Detection) */
    VIT_OOD_KNN,         /* the distance of its features, of length 1, to the k-th nearest of
                            training pictures (Sun et al.: Out-of-Distribution Detection with Deep
                            Nearest Neighbors); k: one for each hundred, 1 to 50 */
    VIT_OOD_MAHALANOBIS, /* the squared Mahalanobis distance of its features to the nearest class of
                            the training (Lee et al.: A Simple Unified Framework for Detecting
                            Out-of-Distribution Samples) */
    VIT_OOD_COUNT,
} vit_ood_score;

/* VIT_OOD_COUNT as a number. */
#define VIT_OOD_SCORES 4

/* "softmax", "energy", "knn", "mahalanobis"; constant. */
VIT_API const char *vit_ood_name(vit_ood_score score);

/* How well a score tells outliers from pictures of the distribution. NaN: it was not measured. */
typedef struct vit_ood_figures {
    double auroc; /* the probability that an outlier scores higher; ties count a half */
    double fpr95; /* the share of outliers below the threshold that 95 % of the others are not above
                   */
} vit_ood_figures;
VIT_API vit_ood_figures vit_ood_measure(const double *inside, size_t inside_count,
                                        const double *outliers, size_t outlier_count);

/* A new calibration has SOFTMAX and ENERGY, and takes ENERGY. With training pictures it gets KNN
 * and MAHALANOBIS, too, and takes KNN: features of 8,192 of them at most are kept; those that are
 * among the calibration pictures, which are answered once more, are left out. With outliers,
 * pictures of no class, it takes the score that tells them best. pictures: as for
 * vit_calibration_new; training, outliers: NULL, none. Errors: those of vit_embed_data. */
VIT_API vit_status vit_calibration_compare(vit_calibration *calibration, const vit_model *model,
                                           const vit_evaluate_options *pictures,
                                           const vit_evaluate_options *training,
                                           const vit_evaluate_options *outliers, vit_error *error);

typedef struct vit_ood_info {
    bool prepared;                             /* vit_calibration_compare was called */
    vit_ood_score chosen;                      /* the best score */
    size_t images;                             /* calibration pictures */
    const char *training, *outliers;           /* names of data, or NULL */
    size_t training_images, k, outlier_images; /* kept; of knn */
    vit_ood_figures figures[VIT_OOD_SCORES];   /* with outliers */
} vit_ood_info;
VIT_API vit_ood_info vit_calibration_ood(const vit_calibration *calibration);

typedef struct vit_unknown_options {
    double rate;        /* above 0, below 1: the share of false alarms */
    vit_optional score; /* vit_ood_score; not given: the best */
} vit_unknown_options;

/* When a picture counts as unknown. The calibration must outlive it. *out is freed by
 * vit_unknown_rule_free. ARGUMENT: the rate is out of range, there are too few calibration pictures
 * for it (1 / rate - 1 are needed), or the score is not there. */
typedef struct vit_unknown_rule vit_unknown_rule;
VIT_API vit_status vit_unknown_rule_new(vit_unknown_rule **out, const vit_calibration *calibration,
                                        const vit_unknown_options *options, vit_error *error);
VIT_API void vit_unknown_rule_free(vit_unknown_rule *rule);
VIT_API vit_ood_score vit_unknown_rule_score(const vit_unknown_rule *rule);

/* A picture's scores, NaN for those that the calibration has not, and by the rule's score: */
typedef struct vit_unknown {
    double scores[VIT_OOD_SCORES];
    double score;   /* the rule's among them */
    double p_value; /* (1 + calibration pictures that score as high) / (1 + all): of pictures like
                       them, at most the share p gets a value of p or less */
    bool unknown;   /* p_value <= rate */
} vit_unknown;

/* logits: [K]; features: [features of vit_model_info]. MEMORY. */
VIT_API vit_status vit_unknown_test(const vit_unknown_rule *rule, const vit_model *model,
                                    const float *logits, const float *features, vit_unknown *out,
                                    vit_error *error);

/* ---- drift ----------------------------------------------------------------------------------- */

/* Whether pictures are still exchangeable with those of the calibration: a conformal test
 * martingale (Vovk, Gammerman, Shafer; Volkhonskiy et al.: Inductive Conformal Martingales for
 * Change-point Detection). It bets against every score being a draw from those before, of the
 * calibration and since. While that is so its value, which begins at 1, reaches 100 within
 * VIT_DRIFT_HORIZON pictures in at most one of 100 cases. Then it begins again. A drift serves one
 * thread at a time. */
#define VIT_DRIFT_HORIZON 100000
typedef struct vit_drift vit_drift;

/* scores: [count] of calibration pictures, such as vit_calibration_scores. *out is freed by
 * vit_drift_free. ARGUMENT for none. */
VIT_API vit_status vit_drift_new(vit_drift **out, const double *scores, size_t count,
                                 vit_error *error);
VIT_API void vit_drift_free(vit_drift *drift);

/* Adds the score of the next picture; returns the value of the martingale, as the other does. */
VIT_API double vit_drift_add(vit_drift *drift, double score);
VIT_API double vit_drift_value(const vit_drift *drift);

/* [*count] the ascending scores of the calibration pictures, by the score that was chosen; owned by
 * the calibration. */
VIT_API const double *vit_calibration_scores(const vit_calibration *calibration, size_t *count);

/* ---- defects --------------------------------------------------------------------------------- */

/* Anomaly detection from good pictures alone: a memory bank of the features of their patches. A
 * patch of a new picture is as unlike as the nearest patch of the bank is far, 1 - the cosine of
 * the angle; a picture as the mean of the largest hundredth of these distances (Damm et al.:
 * AnomalyDINO; Roth et al.: Towards Total Recall in Industrial Anomaly Detection, PatchCore). The
 * nearest patch is found exactly, by sums of integers of 16 bits, which are within 1e-4 of the
 * cosine. */
typedef struct vit_bank vit_bank;

typedef struct vit_bank_options {
    double coreset;  /* the share of patches that is kept, those farthest from each other; 0: all */
    int threads;     /* as in vit_session_options; changes no result */
    const char *cpu; /* like it */
    const char *name; /* of the model, for vit_bank_describe; or NULL */
    void (*read)(size_t done, size_t count, void *user); /* called between pictures, or NULL */
    void *user;
} vit_bank_options;

/* Makes a bank of good pictures, with the session of a model, whose head is not used. Every picture
 * is also scored by the patches of the others. answers: [count], the outcome of each; NULL: the
 * first that fails ends the call. *out is freed by vit_bank_free. ARGUMENT for fewer than two
 * pictures that can be read; UNSUPPORTED for a model without patches. */
VIT_API vit_status vit_bank_new(vit_bank **out, const vit_model *model, vit_session *session,
                                const vit_picture *pictures, size_t count,
                                const vit_bank_options *options, vit_answer *answers,
                                vit_error *error);
VIT_API void vit_bank_free(vit_bank *bank);

/* Writes a bank to a file (docs/formats.md), which is replaced at once. A file that is no whole
 * bank is not replaced: MISMATCH. And reads it: FORMAT for a damaged one. */
VIT_API vit_status vit_bank_save(const vit_bank *bank, const char *path, vit_error *error);
VIT_API vit_status vit_bank_load(vit_bank **out, const char *path, vit_error *error);

/* MISMATCH unless the bank was made with a model that computes the same features. */
VIT_API vit_status vit_bank_check(const vit_bank *bank, const vit_model *model,
                                  vit_session *session, vit_error *error);

typedef struct vit_bank_info {
    const char *model;    /* the options' name; lives as long as the bank, as does: */
    const double *scores; /* [pictures] of each good picture by the others, ascending */
    size_t pictures, patches, dim;
    size_t height, width, rows, columns; /* the network's input; the grid of a picture's patches */
    double coreset;                      /* 1: all patches */
} vit_bank_info;
VIT_API vit_bank_info vit_bank_describe(const vit_bank *bank);

/* *threshold = the lowest score with a p-value of at most `rate`, the share of false alarms that is
 * chosen. ARGUMENT: it is out of range, or there are too few good pictures for it: 1 / rate - 1 are
 * needed. */
VIT_API vit_status vit_bank_threshold(const vit_bank *bank, double rate, double *threshold,
                                      vit_error *error);

/* How unlike the good pictures a picture is. */
typedef struct vit_anomaly {
    double score;
    double p_value; /* (1 + good pictures that score as high) / (1 + all); of a good picture that is
                       exchangeable with them, at most the share p gets a value of p or less, if all
                       patches are kept */
} vit_anomaly;

/* Scores pictures. anomalies: [count]; maps: [count][rows][columns], the distances of patches; or
 * NULL. answers: [count], the outcome of each; of one that fails the numbers are NaN. */
VIT_API vit_status vit_bank_test(const vit_bank *bank, const vit_model *model, vit_session *session,
                                 const vit_picture *pictures, size_t count,
                                 const vit_bank_options *options, vit_anomaly *anomalies,
                                 float *maps, vit_answer *answers, vit_error *error);

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
