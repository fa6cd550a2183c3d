/* What vit-classify writes about a picture, in each of its formats. Functions return false when
 * memory had run out, as vit_print does. */
#ifndef VIT_CLI_ANSWERS_H
#define VIT_CLI_ANSWERS_H

#include "vit/cli/program.h"

typedef struct vit_answered {
    const char *name;         /* of the picture */
    const vit_error *failure; /* NULL: it was answered, and the rest is there */
    const char *warning;      /* or NULL */
    const vit_model *model;
    const float *probabilities, *logits; /* [classes]; logits NULL: not asked for */
    size_t classes, top;
    const size_t *best;    /* [top] classes, the likeliest first */
    const float *features; /* [width] */
    size_t width;
} vit_answered;

/* A block with a line a class; an empty line before it unless it is the first. */
bool vit_answer_text(const vit_command *command, const vit_answered *answer, bool is_first);

/* {"file": ..., "predictions": [{"index": ..., "label": ..., "probability": ...}, ...]}, with
 * "logits" and "warning" where there are; or {"file": ..., "error": ...}. */
bool vit_answer_json(const vit_command *command, const vit_answered *answer);
void vit_answer_add_json(vit_json_out *json, const vit_answered *answer); /* only makes it */

/* file,label,probability,label2,probability2,...,error; fields that hold a comma, a quote or a line
 * end are quoted as RFC 4180 has it, lines end with a line feed. */
bool vit_answer_csv_head(const vit_command *command, size_t top);
bool vit_answer_csv(const vit_command *command, const vit_answered *answer);

/* {"file": ..., "embedding": [...]}; or with "error". */
bool vit_answer_embedding(const vit_command *command, const vit_answered *answer);

/* {"file": ..., "row": ...}, and "error" where it failed: a row of a matrix. */
bool vit_answer_row(const vit_command *command, const vit_answered *answer, uint64_t row);

#endif
