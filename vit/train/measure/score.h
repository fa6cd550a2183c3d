/* Answers of a network on labelled records, counted. */
#ifndef VIT_TRAIN_MEASURE_SCORE_H
#define VIT_TRAIN_MEASURE_SCORE_H

#include "datasets/dataset.h"
#include "vit/image/image.h"
#include "vit/model/infer.h"
#include "vit/train/measure/calibration.h"

typedef struct vit_score {
    size_t images, correct, correct5;
    double loss;       /* mean cross-entropy, of texts over all tokens */
    size_t *confusion; /* [classes][classes] rows: truth, columns: answer; NULL: not wanted */
    float *logits;     /* [count][classes] of all pictures; NULL: not wanted */
    vit_calibration *calibration; /* of softmax(logits / temperature); NULL: not wanted */
    double temperature;
    double threshold; /* with the calibration: of a probability below it are */
    size_t unsure, unsure_wrong;
    /* NULL, or called for each picture in order. Both arrays: [classes]; probabilities are at the
     * temperature, which calibration must be wanted for */
    void (*each)(size_t record, size_t label, size_t answer, const float *logits,
                 const float *probabilities, void *context);
    void *context;     /* of `each` */
    bool only_numbers; /* an answer that is none (vit_check_answer) ends it; else it is wrong, and
                          the loss tells */
    /* Of networks that write texts `correct` are whole texts, and of their tokens, each text's END
     * with them: how many there are, and how many are right given the true ones before them. A text
     * all of whose tokens are right is what greedy generation writes. */
    size_t tokens, tokens_right;
    bool *right; /* [count] of the texts; NULL: not wanted */
} vit_score;

/* Scores records[numbers[0..count)], or the first `count` when numbers is NULL, `batch` at a time.
 * Losses are added in order, in double: neither batch nor threads change a figure. `score` comes
 * zeroed but for what is wanted. */
vit_status vit_score_records(vit_score *score, vit_inference *inference, const vit_config *config,
                             const vit_dataset *data, const vit_records *records,
                             const uint32_t *numbers, size_t count, float table[3][256],
                             size_t batch, vit_error *error);

#endif
