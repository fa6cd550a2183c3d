/* The outputs of KServe's V2 protocol; its inputs are in tensors.h. */
#ifndef VIT_CLI_SERVE_ANSWER_KSERVE_H
#define VIT_CLI_SERVE_ANSWER_KSERVE_H

#include "vit/cli/serve/answer/tensors.h"

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
