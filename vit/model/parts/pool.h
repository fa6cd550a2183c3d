/* From the last block's output z to the features that the head sees: final norm and pooling.
 * Pooling by attention is map_pool.h. */
#ifndef VIT_MODEL_PARTS_POOL_H
#define VIT_MODEL_PARTS_POOL_H

#include "vit/model/parts/map_pool.h"
#include "vit/model/parts/prr_pool.h"

typedef struct vit_pool_state {
    size_t outputs;       /* tokens of a picture that the last block computes: T or 1 */
    float *normed;        /* [R][D] z after a final norm of all tokens; without one z itself */
    vit_norm_state stats; /* of the final norm: [R] each if of all tokens, [batch] after pooling */
    vit_map_state map;
    vit_prr_state prr;
    float *scores;         /* [R], sequence pooling */
    float *p;              /* [batch][padded T] their softmax */
    float *pooled;         /* [batch][F] */
    float *features;       /* [batch][F] what the head sees; of VIT_POOL_TOKENS [R][D] */
    float *d_scores, *d_p; /* as scores and p */
    const float *d_pooled; /* [batch][F], where the backward pass left it; for maps */
} vit_pool_state;

/* z: [batch][outputs][D], the last block's output. */
void vit_pool_carve(vit_pool_state *s, const vit_carving *k, float *z);

/* Fills s->features, given z. */
void vit_pool_forward(const vit_call *c, const vit_pool_state *s, const float *z);

/* back->d_z = d_z, [batch][outputs][D], given d_features, in back->d_branch; adds to g. Overwrites
 * back->d_narrow and back->d_wide. */
void vit_pool_backward(const vit_call *c, const vit_backward *back, vit_pool_state *s,
                       const vit_gradients *g, const float *z);

#endif
