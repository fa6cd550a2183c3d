/* The models that have names, for a person or a program. */
#ifndef VIT_CLI_MODEL_LIST_H
#define VIT_CLI_MODEL_LIST_H

#include "vit/cli/options.h"

/* Writes what is known of each to standard output, as a table or one JSON object a line; returns
 * the exit status. A model's accuracy is what the card beside it says (docs/formats.md). What is
 * wrong with a model or a card is said, and the rest go on. */
int vit_show_models(const vit_command *command, bool json);

#endif
