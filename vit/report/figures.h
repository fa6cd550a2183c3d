/* The figures of an evaluation, for its page. */
#ifndef VIT_REPORT_FIGURES_H
#define VIT_REPORT_FIGURES_H

#include "vit/formats/json_out.h"
#include "vit/reports.h"

typedef struct vit_figures {
    const vit_evaluation *result;
    const vit_page_lists *lists;
} vit_figures;

/* Adds a member to a JSON object: "measured": {"images", "correct", "interval": [low, high],
 * "top5", "loss", "ece", "brier", "temperature", "seen", "unknown_images", "classes": {"images",
 * "right", "answers"}, each a list, "bins": [{"images", "confidence", "accuracy"}, ...], "notes",
 * "files"}. */
void vit_figures_write(vit_json_out *json, const vit_figures *figures);

#endif
