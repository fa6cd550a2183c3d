/* A network's weights as pictures, for the report: the filters of its first layer, and how similar
 * its positions are. */
#ifndef VIT_REPORT_WEIGHTS_H
#define VIT_REPORT_WEIGHTS_H

#include "vit/model/parameters.h"
#include "vit/report/answer_rows.h"

typedef struct vit_shown_weights {
    const vit_config *config;
    const vit_table *table;
    const float *values; /* [table->size] */
} vit_shown_weights;

/* Filters as a sheet, 16 in a row, with a pixel between them. */
typedef struct vit_filters {
    vit_sheet sheet;
    size_t size, count,
        of; /* pixels of a filter's side; filters on the sheet; filters altogether */
} vit_filters;

/* The filters of the first layer, be it linear or a convolution, each as the picture of a patch:
 * the 128 with the largest norm, the largest first. Each is divided by its largest weight, and 0 is
 * the middle grey. Where there are not 1 or 3 channels, the picture is their mean. out->sheet.png
 * is freed by vit_free. Errors: MEMORY. */
vit_status vit_filters_new(vit_filters *out, const vit_shown_weights *weights, vit_error *error);

/* Adds two members to a JSON object: "filters": {"png", "width", "height", "size", "count",
 * "of"} and "positions": {"rows", "columns", "cosine": base64 of [N][N] bytes, 127.5 (cosine + 1)};
 * each is null if there are none, "positions" also for more than 784. Errors: MEMORY. */
vit_status vit_weights_write(vit_json_out *json, const vit_shown_weights *weights,
                             vit_error *error);

#endif
