/* What vit-evaluate writes about a model of any number of classes a picture. */
#ifndef VIT_CLI_PARTS_LABEL_RESULTS_H
#define VIT_CLI_PARTS_LABEL_RESULTS_H

#include "vit/cli/parts/program.h"
#include "vit/labels.h"

typedef struct vit_label_results {
    const vit_command *command;
    const char *name, *split; /* of the model, as it was given; "test" */
    const vit_model *model;
    const vit_label_evaluation *result;
} vit_label_results;

/* Print them; false: there was no memory. */
bool vit_label_results_text(const vit_label_results *results);
bool vit_label_results_json(const vit_label_results *results);

#endif
