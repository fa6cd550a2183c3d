/* What a bank says of a picture, as JSON: vit-anomaly --json, and POST /v1/anomaly. */
#ifndef VIT_CLI_PARTS_DEFECTS_H
#define VIT_CLI_PARTS_DEFECTS_H

#include "vit/formats/json_out.h"
#include "vit/reliance.h"

/* The share of good pictures that may be called defective where nobody says it: 0.05, or as little
 * as the good pictures suffice for. */
double vit_bank_usual_rate(const vit_bank_info *bank);

/* Adds score, p_value, threshold, defect, grid and map: [rows][columns]. */
void vit_defect_json(vit_json_out *json, const vit_bank_info *bank, const vit_anomaly *anomaly,
                     double threshold, const float *map);

#endif
