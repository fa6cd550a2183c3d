/* Out-of-distribution pictures in programs: how many of data are unknown, and how well each score
 * tells them. */
#ifndef VIT_CLI_EVALUATE_UNKNOWN_H
#define VIT_CLI_EVALUATE_UNKNOWN_H

#include "vit/cli/parts/coverage.h"

/* Measures and prints it. Returns the exit status. */
int vit_measure_unknown(const vit_command *command, const vit_model *model,
                        const vit_unknown_call *call);

/* What a calibration has for out-of-distribution pictures: lines, or the member "ood". */
void vit_ood_text(vit_string *text, const vit_calibration *calibration);
void vit_ood_json(vit_json_out *json, const vit_calibration *calibration);

#endif
