#include "vit/cli/parts/defects.h"

#include <math.h>

double vit_bank_usual_rate(const vit_bank_info *bank) {
    return fmax(.05, 1 / (double)(bank->pictures + 1));
}

void vit_defect_json(vit_json_out *json, const vit_bank_info *bank, const vit_anomaly *anomaly,
                     double threshold, const float *map) {
    vit_json_number(json, "score", anomaly->score);
    vit_json_number(json, "p_value", anomaly->p_value);
    vit_json_number(json, "threshold", threshold);
    vit_json_bool(json, "defect", anomaly->score >= threshold);
    vit_json_counts(json, "grid", (size_t[]){bank->rows, bank->columns}, 2);
    vit_json_floats(json, "map", map, bank->rows * bank->columns);
}
