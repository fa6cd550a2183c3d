/* The tensors of KServe's V2 protocol: names, types and shapes. */
#ifndef VIT_CLI_SERVE_ANSWER_KSERVE_H
#define VIT_CLI_SERVE_ANSWER_KSERVE_H

#include "vit/cli/parts/json_out.h"
#include "vit/cli/serve/work/served.h"

/* The inputs, one of which is sent. */
typedef enum serve_input {
    SERVE_INPUT_PICTURES, /* BYTES [n], PNG or JPEG files */
    SERVE_INPUT_PIXELS,   /* UINT8 [n][height][width][channels], prepared */
    SERVE_INPUT_VALUES,   /* FP32 [n][channels][height][width], prepared and normalised */
    SERVE_INPUT_COUNT,
} serve_input;

extern const char *const serve_input_names[], *const serve_input_types[];

/* shape [3]: the dimensions after n of an input; returns how many these are, 3 or 0. */
size_t serve_input_shape(const serve_model *model, serve_input input, size_t *shape);

typedef enum serve_output {
    SERVE_OUTPUT_LOGITS,        /* FP32 [n][classes] */
    SERVE_OUTPUT_PROBABILITIES, /* FP32 [n][classes] */
    SERVE_OUTPUT_FEATURES,      /* FP32 [n][features] */
    SERVE_OUTPUT_COUNT,
} serve_output;

extern const char *const serve_output_names[];

/* The dimension after n of an output. */
size_t serve_output_width(const serve_model *model, serve_output output);

#endif
