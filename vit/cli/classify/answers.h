/* What vit-classify writes about a picture, in each of its formats. Functions return false if there
 * was no memory, as vit_print does. */
#ifndef VIT_CLI_CLASSIFY_ANSWERS_H
#define VIT_CLI_CLASSIFY_ANSWERS_H

#include "vit/cli/classify/neighbours.h"
#include "vit/cli/parts/coverage.h"

typedef struct vit_answered {
    const char *name; /* of the picture */
    bool is_frame;    /* of a stream: its number and time are written, not its name */
    uint64_t frame;
    double time;              /* seconds; NaN: it has none */
    const vit_error *failure; /* why there is no answer; NULL: there is one, and the rest is set */
    const char *warning;      /* or NULL */
    const vit_model *model;
    const float *probabilities, *logits; /* [classes]; logits NULL: not asked for */
    size_t classes, top;
    const size_t *best;    /* [top] classes, the likeliest first */
    const float *features; /* [tokens][width / tokens]; tokens 0: [width], pooled */
    size_t width, tokens;
    const vit_few_shot *among; /* the training pictures that it is compared with, or NULL */
    const vit_few_shot_neighbour *neighbours; /* [neighbour_count], the most similar first */
    size_t neighbour_count;
    double coverage;   /* of the set below; 0: there is none */
    const size_t *set; /* [set_count] classes, the likeliest first */
    size_t set_count;
    const vit_unknown *unknown; /* with --unknown; or NULL */
    const double *thresholds; /* [classes], below which the model abstains; or NULL: it does not */
    const char *to;           /* where the picture, or its tags, were brought; or NULL */
} vit_answered;

/* Whether the model does not answer: below its thresholds, or, without any, below the probability
 * that it counts as unsure; or the set is asked for, and is not of one class. */
bool vit_answer_abstains(const vit_answered *answer);

/* A paragraph with a line for each of the top classes; an empty line before it unless it is the
 * first. */
bool vit_answer_text(const vit_command *command, const vit_answered *answer, bool is_first);

/* {"file": ..., "predictions": [{"index": ..., "label": ..., "probability": ...}, ...]}, also
 * "logits" "set" and "warning" if there are any; or {"file": ..., "error": ...}. The second one
 * appends the object to *json and writes nothing. */
bool vit_answer_json(const vit_command *command, const vit_answered *answer);
void vit_answer_add_json(vit_json_out *json, const vit_answered *answer);

/* Adds what the calibration and the thresholds say: "abstains", "p_value" and "unknown", "coverage"
 * and "set", if they were asked for. */
void vit_answer_add_reliance(vit_json_out *json, const vit_answered *answer);

/* Adds the member "neighbours": [{"picture", "file", "label", "cosine"}, ...]. */
void vit_answer_add_neighbours(vit_json_out *json, const vit_few_shot *among,
                               const vit_few_shot_neighbour *neighbours, size_t count);

/* The heading file,label,probability,label2,probability2,...,abstains,set,p_value,unknown,error,
 * and a line of it for a picture, as CSV (vit/formats/csv.h). */
bool vit_answer_csv_head(const vit_command *command, size_t top, const vit_coverage_choice *sets);
bool vit_answer_csv(const vit_command *command, const vit_answered *answer);

/* {"file": ..., "embedding": [...]}, of tokens a list of lists; or {"file": ..., "error": ...}. */
bool vit_answer_embedding(const vit_command *command, const vit_answered *answer);

/* {"file": ..., "row": ...} for a picture whose features are that row of a matrix; with "error" if
 * it failed. */
bool vit_answer_row(const vit_command *command, const vit_answered *answer, uint64_t row);

#endif
