/* What a network's first weights look like: the patterns of its first layer, and which positions
 * are alike. */
#ifndef VIT_REPORT_WEIGHTS_H
#define VIT_REPORT_WEIGHTS_H

#include "vit/model/parameters.h"
#include "vit/report/answers.h"

typedef struct vit_shown_weights {
    const vit_config *config;
    const vit_table *table;
    const float *values; /* [table->size] */
} vit_shown_weights;

/* A sheet of filters: 16 in a row, a pixel between them. */
typedef struct vit_filters {
    vit_sheet sheet;
    size_t size, count, of; /* pixels of a side; how many of them are here, of how many */
} vit_filters;

/* The weights of the first layer, of a linear stem or of convolutions, as pictures of one patch:
 * the largest (by their norm) 128, largest first, each divided by its largest weight, 0 being the
 * middle grey; those of other than 1 or 3 channels as their mean. */
vit_status vit_filters_new(vit_filters *out, const vit_shown_weights *weights, vit_error *error);

/* Appends "filters": {"png", "width", "height", "size", "count", "of"} and "positions": {"rows",
 * "columns", "cosine": base64 of [N][N] bytes, (cosine + 1) 127.5}, or null, where there are none
 * or more than 784. */
vit_status vit_weights_write(vit_text *json, const vit_shown_weights *weights, vit_error *error);

#endif
