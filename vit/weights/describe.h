/* The config files that a library wants beside weights in its layout: declared.h the other way
 * round. */
#ifndef VIT_WEIGHTS_DESCRIBE_H
#define VIT_WEIGHTS_DESCRIBE_H

#include "vit/weights/layout_limits.h"
#include "vit/weights/model_file.h"

typedef struct vit_description {
    vit_text config;    /* config.json */
    vit_text processor; /* preprocessor_config.json; empty: the library has none */
    vit_text module;    /* model.py, the network itself; empty: the library has it */
    vit_text reasons;   /* what the layout cannot express, separated by "; "; empty: nothing */
    bool builds;    /* as from vit_layout_limits: the library can load the result in spite of the
                       reasons */
    vit_text notes; /* what the library does slightly differently, separated likewise */
} vit_description;

/* Describes the network, its labels and its preprocessing in the words of `target`. What cannot be
 * expressed is left out, or said by the nearest word, and named in `reasons`. The only error is
 * MEMORY. */
vit_status vit_describe(vit_description *out, vit_target target, const vit_model_file *model,
                        vit_error *error);
void vit_description_clear(vit_description *description);

/* ---- what describe.c's parts share ---- */

/* How pictures are prepared, as the libraries say it: the shorter side, or both, to `resize`; then,
 * where crop[0] > 0, the middle. */
typedef struct vit_described_pictures {
    const vit_operation *resize, *crop, *normalize; /* resize, crop NULL: there is none */
    const vit_operation *digit;                     /* NULL: they are prepared otherwise */
    bool squashes;                                  /* resize does not keep the shape */
    double share;                                   /* of a side that the crop keeps */
} vit_described_pictures;

/* Adds to d->reasons and d->notes. */
void vit_describe_pictures(vit_described_pictures *out, vit_description *d, vit_target target,
                           const vit_model_file *model);

/* Appends a sentence to the list, after "; " unless it is the first. */
void vit_describe_add(vit_text *list, const char *sentence);

/* "[0.5, 0.25]", one number a channel: shortest digits. */
void vit_describe_numbers(vit_text *t, const float *numbers, size_t count);

/* ["a", "b"]; model->labels is not NULL. */
void vit_describe_labels(vit_text *t, const vit_model_file *model);

/* The list of operations in this program's own form, for what the library's words cannot express.
 */
void vit_describe_own(vit_text *t, const vit_description *d, const vit_model_file *model);

void vit_describe_hf(vit_description *d, const vit_model_file *model,
                     const vit_described_pictures *pictures);
void vit_describe_timm(vit_description *d, const vit_model_file *model,
                       const vit_described_pictures *pictures);
void vit_describe_torchvision(vit_description *d, const vit_model_file *model,
                              const vit_described_pictures *pictures);

#endif
