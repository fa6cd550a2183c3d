/* The config files that a library needs beside weights in its layout: the opposite direction of
 * vit/weights/configs/their_config.h. */
#ifndef VIT_WEIGHTS_EXPORT_DESCRIBE_H
#define VIT_WEIGHTS_EXPORT_DESCRIBE_H

#include "vit/formats/json_out.h"
#include "vit/model/switches.h"
#include "vit/weights/file/model_file.h"

typedef struct vit_description {
    vit_string config;    /* config.json */
    vit_string processor; /* preprocessor_config.json; empty: the library has none */
    vit_string module;    /* model.py, the network itself; empty: the library has it */
    vit_string reasons;   /* what the layout cannot express, separated by "; "; empty: nothing */
    bool builds;          /* the library can load the result in spite of the reasons */
    vit_string notes;     /* what the library does slightly differently, separated likewise */
} vit_description;

/* "f32", "bf16", "f16", "int8", NULL: the `type` of vit_convert. */
extern const char *const vit_written_types[];

/* dtype: of the weights, I8 as in vit/weights/file/rounded.h. Describes the network, its labels and
 * its preprocessing as `target` does. What cannot be expressed is left out, or replaced by what
 * comes closest, and named in `reasons`. Freed by vit_description_clear. Errors: MEMORY. */
vit_status vit_describe(vit_description *out, vit_target target, const vit_model_file *model,
                        vit_dtype dtype, vit_error *error);
void vit_description_clear(vit_description *description);

/* Adds "quantization_config", what compressed-tensors needs to know of weights in 8-bit integers:
 * which linear layers they are not of, and how activations are rounded, as vit/ops/int8.h does it.
 * ignore: a JSON list of the names of these layers; NULL: there was no memory for it. */
void vit_describe_rounded(vit_json_out *json, const char *ignore);

#endif
