/* The head: features -> logits, by none, one or two linear layers (the lecture's MLP head); between
 * those of the head "cosine" rows get the length 1. */
#ifndef VIT_MODEL_PARTS_HEAD_H
#define VIT_MODEL_PARTS_HEAD_H

#include "vit/model/parts/part.h"

typedef struct vit_head_state {
    /* MLP head: [batch][M], before and after GELU; tanh: [batch][F]; cosine: before and after the
     * norm, [batch][vit_config_head_inputs] */
    float *hidden, *active;
    float *logits;   /* [batch][classes]; of texts [R][classes]; an encoder has none: NULL */
    float *d_logits; /* as logits; set by the caller before the backward pass */
} vit_head_state;

void vit_head_carve(vit_head_state *s, const vit_carving *k);

/* Fills s->logits. */
void vit_head_forward(const vit_call *c, const vit_head_state *s, const float *features);

/* back->d_branch = d_features, given s->d_logits; adds to g. Overwrites back->d_wide. */
void vit_head_backward(const vit_call *c, const vit_backward *back, const vit_head_state *s,
                       const vit_gradients *g, const float *features);

#endif
