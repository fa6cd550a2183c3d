/* The lists of named models and of presets: vit-classify --list, vit-train --list-presets. */
#ifndef VIT_CLI_MODELS_MODEL_LIST_H
#define VIT_CLI_MODELS_MODEL_LIST_H

#include "vit/cli/parts/options.h"

/* Writes them to standard output, as a table or as one JSON object a line, with the accuracy that
 * the card beside a model states (docs/formats.md); returns the exit status. A model or card with a
 * fault is reported, and the others are listed. */
int vit_show_models(const vit_command *command, bool json);

/* Writes the presets to standard output; returns the exit status. */
int vit_show_presets(const vit_command *command);

#endif
