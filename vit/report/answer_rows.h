/* Answers to labelled pictures, for the report: the confusion matrix with pictures of its cells,
 * and the pictures that were answered most wrong. */
#ifndef VIT_REPORT_ANSWER_ROWS_H
#define VIT_REPORT_ANSWER_ROWS_H

#include "datasets/answers.h"
#include "vit/base/sys.h"
#include "vit/formats/json_out.h"
#include "vit/reports.h"

/* Adds two members to a JSON object:
 *   "answers": {"which", "count", "right", "size": [height, width], "cells": [{"truth", "answer",
 *     "count", "pictures": [...]}, ...] sorted by (truth, answer), "worst": [...]}
 *   "pictures": [{"number", "truth", "answer", "probability", "truth_probability", "png"}, ...],
 * whose numbers, from 0, are in "pictures" and "worst" of the first. Pictures are as the network
 * sees them, before they are normalised, and at most 96 pixels a side. A cell has up to 12: the
 * wrong answers of the highest probability, the right ones of the lowest; all together take at most
 * 3 MB. An evaluation has more of the worst, each picture its "file", and two more members of the
 * first: "issues": {"count", "pictures": [...], "likely": [...]}, or null, "copies" and "risk":
 * {"answered", "right", "confidence"}, each a list, of the answers of the highest confidence.
 * Errors: MEMORY, those of reading a record. */
vit_status vit_answers_write(vit_json_out *json, const vit_answers *answers, vit_error *error);

/* Several pictures side by side in one PNG. */
typedef struct vit_sheet {
    vit_bytes png; /* data freed by vit_free; NULL: there are no pictures */
    size_t width, height, channels;
} vit_sheet;

/* The pictures answered most wrong, up to 24; none where all answers are right. Errors as above. */
vit_status vit_answers_sheet(vit_sheet *out, const vit_answers *answers, vit_error *error);

#endif
