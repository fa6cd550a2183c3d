/* A head that is computed from features, for vit-train --head; neighbours for vit-classify; and
 * what vit-evaluate says of features. */
#ifndef VIT_CLI_PARTS_FEW_SHOT_H
#define VIT_CLI_PARTS_FEW_SHOT_H

#include "vit/cli/parts/program.h"
#include "vit/few_shot.h"

typedef struct vit_few_shot_call {
    const char *data, *init, *config, *head; /* init: a model's path; head: as vit_few_shot_options has
                                                it */
    const char *out, *report, *near_duplicates; /* the last two: NULL: none */
    vit_class_choice classes;
    vit_size size;
    size_t views;
    int threads;
    bool balance, overwrite, json;
    const char *lessons; /* their file: written with data, else read, changed, and written again;
                            NULL: none */
    vit_option_list forget, relabel, add; /* NAME, NAME=CLASS, CLASS=FILE */
    bool refers; /* the model file names the backbone's file in place of its weights */
} vit_few_shot_call;

/* Computes the head, writes the model and says how good it is; returns the exit status. */
int vit_few_shot_make(const vit_command *command, const vit_few_shot_call *call);

/* For vit-evaluate: accuracy on the test part of features of a model's network alone, by the
 * neighbours' vote (k > 0), and by a logistic regression on the training part (probe). */
typedef struct vit_probe_call {
    const char *data, *name, *class_column, *exclude, *relabel;
    size_t neighbours;
    bool probe, json;
    int threads;
    vit_precision precision;
    vit_bf16 bf16;
} vit_probe_call;
int vit_probe_model(const vit_command *command, const vit_model *model, const vit_probe_call *call);

#endif
