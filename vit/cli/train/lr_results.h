/* What vit-train --find-lr prints. */
#ifndef VIT_CLI_TRAIN_LR_RESULTS_H
#define VIT_CLI_TRAIN_LR_RESULTS_H

#include "vit/cli/parts/program.h"

/* The suggestion and a table of rates and losses, or one JSON object. False: no memory, or standard
 * output cannot be written; it says so. */
bool vit_lr_results(const vit_command *command, const vit_lr_search *found, bool in_json);

#endif
