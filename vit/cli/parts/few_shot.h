/* A few-shot head, computed from features, for vit-train --head. */
#ifndef VIT_CLI_PARTS_FEW_SHOT_H
#define VIT_CLI_PARTS_FEW_SHOT_H

#include "vit/cli/parts/program.h"
#include "vit/few_shot.h"

typedef struct vit_few_shot_call {
    const char *data, *init, *config, *head; /* init: a model's path; head: as vit_few_shot_options
                                                has it */
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

#endif
