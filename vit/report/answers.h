/* Answers to labelled pictures, and the pictures themselves: what was taken for what, and which
 * were answered most wrong. */
#ifndef VIT_REPORT_ANSWERS_H
#define VIT_REPORT_ANSWERS_H

#include "datasets/dataset.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"

typedef struct vit_answers {
    const char *which; /* a few words: "the 10,000 test pictures" */
    const vit_dataset *data;
    const vit_records *records;
    const uint32_t *numbers; /* of the records; NULL: the first `count` */
    size_t count, classes;
    const float *logits; /* [count][classes] */
    double temperature;  /* of the probabilities */
} vit_answers;

/* Appends, as members of a JSON object, "answers": {"which", "count", "right", "size": [height,
 * width], "cells": [{"truth", "answer", "count", "pictures": [...]}, ...] in the order of (truth,
 * answer), "worst": [...]}, and "pictures": [{"number", "truth", "answer", "probability",
 * "truth_probability", "png"}, ...], which the others name by their place. Pictures are as the
 * network sees them, before they are normalised, and no larger than 96 pixels. A cell has up to 12,
 * the most certain wrong answers and the least certain right ones, as long as all of them together
 * take at most 3 MB. */
vit_status vit_answers_write(vit_text *json, const vit_answers *answers, vit_error *error);

/* A picture in memory, as PNG. */
typedef struct vit_sheet {
    vit_bytes png; /* png.data NULL: there is none; freed by vit_free */
    size_t width, height, channels;
} vit_sheet;

/* The pictures answered most wrong, up to 24 side by side; none where all answers are right. */
vit_status vit_answers_sheet(vit_sheet *out, const vit_answers *answers, vit_error *error);

#endif
