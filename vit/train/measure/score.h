/* A network's answers to labelled records, counted. */
#ifndef VIT_TRAIN_MEASURE_SCORE_H
#define VIT_TRAIN_MEASURE_SCORE_H

#include "datasets/dataset.h"
#include "vit/cluster/cluster.h"
#include "vit/image/image.h"
#include "vit/model/run/infer.h"
#include "vit/train/measure/calibration.h"

/* Arrays are the caller's and filled if they are not NULL. Of records that list their classes,
 * `correct` counts the pictures of which all classes are right, those whose sigmoid is above a half
 * being the answer, and the loss is the mean binary cross-entropy; there are no confusion,
 * calibration and `each`. */
typedef struct vit_score {
    size_t images, correct, correct5; /* correct5: the label is among the five likeliest classes */
    double loss;                      /* mean cross-entropy; of texts over all tokens */
    size_t *confusion;                /* [classes][classes]: rows truth, columns answer */
    float *logits;                    /* [count][classes] of all pictures */
    vit_calibration *calibration;     /* of softmax(logits / temperature) */
    double temperature;               /* the caller's */
    double threshold;                 /* the caller's; with a calibration, answers below it are */
    size_t below_threshold, below_threshold_wrong; /* counted here, and the wrong ones of them */
    /* With a calibration: called for each picture, in order, if not NULL. logits and probabilities
     * (at the temperature): [classes] */
    void (*each)(size_t record, size_t label, size_t answer, const float *logits,
                 const float *probabilities, void *context);
    void *context;     /* of `each` */
    bool only_numbers; /* an answer that is not finite (vit_check_answer) is an error; else it
                          counts as wrong, and the loss shows it */
    /* Of networks that write texts, `correct` counts whole texts. Tokens (END included) are right
     * if they are the likeliest after the true ones before them; a text with all tokens right is
     * what greedy generation writes. */
    size_t tokens, tokens_right;
    bool *right;          /* [count] of the texts */
    vit_cluster *cluster; /* the caller's: ranks that answer together, each a part of every batch,
                             and all have the same score; NULL: one process */
} vit_score;

/* Scores records[numbers[0 .. count - 1]], or the first `count` for numbers NULL, `batch` at a
 * time. Losses are added in order, in double, so that neither batch nor threads change a figure.
 * All of `score` but the caller's fields is zeroed by the caller. table: normalised value of a
 * byte, per channel. */
vit_status vit_score_records(vit_score *score, vit_inference *inference, const vit_config *config,
                             const vit_dataset *data, const vit_records *records,
                             const uint32_t *numbers, size_t count, float table[3][256],
                             size_t batch, vit_error *error);

#endif
