/* What vit-evaluate says of features. */
#ifndef VIT_CLI_EVALUATE_PROBE_H
#define VIT_CLI_EVALUATE_PROBE_H

#include "vit/cli/parts/program.h"

/* Accuracy on the test part of features of a model's network alone, by the
 * neighbours' vote (k > 0), and by a logistic regression on the training part (probe). */
typedef struct vit_probe_call {
    const char *data, *name, *class_column, *exclude, *relabel, *tag_branch;
    size_t neighbours;
    bool probe, json;
    int threads;
    vit_precision precision;
    vit_bf16 bf16;
} vit_probe_call;

/* Of the list `guests`. */
typedef struct vit_probe_guest {
    int (*probe)(const vit_command *command, const vit_model *model, const vit_probe_call *call);
} vit_probe_guest;

extern const vit_probe_guest *const vit_probes; /* NULL: there is none */

#endif
