/* Answers to labelled pictures of a set. */
#ifndef VIT_DATASETS_ANSWERS_H
#define VIT_DATASETS_ANSWERS_H

#include "datasets/dataset.h"

typedef struct vit_answers {
    const char *which; /* the pictures in a few words: "the 10,000 test pictures" */
    const vit_dataset *data;
    const vit_records *records;
    const uint32_t *numbers; /* [count] of the records; NULL: the first `count` */
    size_t count, classes;
    const float *logits;                /* [count][classes] */
    double temperature;                 /* probabilities are softmax(logits / temperature) */
    const struct vit_page_lists *lists; /* of a page of an evaluation; or NULL */
} vit_answers;

#endif
