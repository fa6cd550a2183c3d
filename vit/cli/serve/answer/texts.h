/* Texts of a request: their features, by the encoder beside the model. */
#ifndef VIT_CLI_SERVE_ANSWER_TEXTS_H
#define VIT_CLI_SERVE_ANSWER_TEXTS_H

#include "vit/cli/serve/request.h"
#include "vit/cli/serve/work/served.h"

/* The texts of a request, borrowed. */
typedef struct serve_texts {
    const char **texts; /* [count], owned */
    size_t count;
    bool cut; /* those that are too long are cut; else they are refused */
} serve_texts;

/* *features: [count][features of the model], owned, vit_free; *tokens: of all together. False:
 * `reply` is an error. */
bool serve_embed_texts(float **features, size_t *tokens, serve_model *model,
                       const serve_texts *texts, serve_reply *reply);

#endif
