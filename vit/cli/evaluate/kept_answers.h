/* The answers to all pictures of an evaluation, and those of them whose label is likely wrong. */
#ifndef VIT_CLI_EVALUATE_KEPT_ANSWERS_H
#define VIT_CLI_EVALUATE_KEPT_ANSWERS_H

#include "vit/cli/parts/program.h"
#include "vit/reliance.h"
#include "vit/vit.h"

/* One picture. file: owned; NULL: the pictures are in no files of their own. */
typedef struct vit_kept_answer {
    char *file;
    size_t index, label; /* its place in its part of the data; its given class */
} vit_kept_answer;

typedef struct vit_kept_answers {
    size_t classes, count;
    vit_kept_answer *pictures; /* [count] */
    float *probabilities;      /* [count][classes] */
    size_t picture_room, row_room;
    vit_label_issue *issues; /* [issue_count]; NULL: not searched for */
    size_t issue_count;
    vit_status status; /* MEMORY: not all could be kept, */
    vit_error error;   /* and why */
} vit_kept_answers;

/* What the guest that finds label issues does; of the list `guests`. */
typedef struct vit_issue_guest {
    /* Keeps the answer to a picture; what fails is in `status`. a->classes is set before. */
    void (*keep)(vit_kept_answers *a, const vit_evaluated *picture);
    void (*free)(vit_kept_answers *a);
    /* In place of answers to pictures that the model's head was computed from: those of a head that
     * is computed in the same way without the picture, or without its fold of `folds`. a: the
     * answers of the model's own head, whose probabilities are replaced. options->note says so.
     * MISMATCH: the data are read otherwise than they were then. */
    vit_status (*leave_out)(vit_kept_answers *a, const vit_model *model,
                            const vit_evaluate_options *options, size_t folds, vit_error *error);
    /* a->issues = vit_label_issues_find of them. */
    vit_status (*find)(vit_kept_answers *a, vit_error *error);
    /* What the table of label issues begins with, and the table: a picture a line, the lowest
     * self-confidence first. */
    const char *head;
    vit_status (*write)(const char *path, const vit_kept_answers *a, const vit_model *model,
                        vit_error *error);
} vit_issue_guest;

extern const vit_issue_guest *const vit_issues; /* NULL: there is none */

#endif
