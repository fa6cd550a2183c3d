/* Embeddings of texts by a text encoder: of each the head's row of one token. Short texts are
 * computed together, and there is no padding but what the caller puts there. */
#ifndef VIT_MODEL_RUN_TEXT_FEATURES_H
#define VIT_MODEL_RUN_TEXT_FEATURES_H

#include "vit/model/run/infer.h"

/* A text, and the token whose row it is. */
typedef struct vit_text_ids {
    vit_ids ids; /* 1 to config.length of them */
    size_t token;
} vit_text_ids;

/* embeddings: [count][config->classes], of the network of `run`. They do not depend on which texts
 * are computed together, nor on the threads. Errors: MEMORY. */
vit_status vit_text_features(vit_inference *run, const vit_config *config, float *embeddings,
                             const vit_text_ids *texts, size_t count, vit_error *error);

#endif
