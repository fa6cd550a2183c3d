/* Names and sizes of the tensors that the V2 protocol speaks of. */
#ifndef VIT_CLI_SERVE_KSERVE_H
#define VIT_CLI_SERVE_KSERVE_H

#include "vit/cli/json_out.h"
#include "vit/cli/serve/served.h"

/* One of them is sent: "pictures", BYTES [n], files as they are; or "pixels", UINT8 [n][height]
 * [width][channels], prepared. */
extern const char serve_input_pictures[], serve_input_pixels[];

typedef enum serve_output {
    SERVE_OUTPUT_LOGITS,        /* FP32 [n][classes] */
    SERVE_OUTPUT_PROBABILITIES, /* FP32 [n][classes] */
    SERVE_OUTPUT_FEATURES,      /* FP32 [n][features] */
    SERVE_OUTPUT_COUNT,
} serve_output;

extern const char *const serve_output_names[];

size_t serve_output_width(const serve_model *model, serve_output output);

#endif
