/* What vit-evaluate writes about an evaluation: a table with a row for each figure, from which both
 * forms are made. */
#ifndef VIT_CLI_EVALUATE_RESULTS_H
#define VIT_CLI_EVALUATE_RESULTS_H

#include "vit/cli/parts/coverage.h"
#include "vit/labels.h"

typedef struct vit_results {
    const vit_command *command;
    const char *name, *split; /* of the model, as it was given; "test" */
    bool confusion;           /* also the confusion matrix */
    const vit_model *model;
    const vit_set_counts *sets; /* prediction sets for `choice`; or NULL */
    const vit_coverage_choice *choice;
    const vit_evaluation *result;       /* or NULL, and */
    const vit_label_evaluation *labels; /* of a model of any number of classes a picture */
} vit_results;

/* Print them; false: there was no memory. */
bool vit_results_text(const vit_results *results);
bool vit_results_json(const vit_results *results);

#endif
