/* Embeddings of texts by a text encoder: of each the head's row of one token. Short texts are
 * computed together, and there is no padding but what the caller puts there. */
#ifndef VIT_MODEL_RUN_TOWER_H
#define VIT_MODEL_RUN_TOWER_H

#include "vit/model/run/network.h"

typedef struct vit_tower_run vit_tower_run;

/* A text, and the token whose row it is. */
typedef struct vit_tower_text {
    vit_ids ids; /* 1 to config.length of them */
    size_t token;
} vit_tower_text;

/* The network is borrowed; freed by vit_tower_run_free, which takes NULL. One caller at a time.
 * Errors: MEMORY. */
vit_status vit_tower_run_new(vit_tower_run **out, const vit_network *network,
                             const vit_kernels *kernels, int threads, vit_error *error);
void vit_tower_run_free(vit_tower_run *run);

/* embeddings: [count][config.classes]. They do not depend on which texts are computed together, nor
 * on the threads. Errors: MEMORY. */
vit_status vit_tower_embed(vit_tower_run *run, float *embeddings, const vit_tower_text *texts,
                           size_t count, vit_error *error);

#endif
