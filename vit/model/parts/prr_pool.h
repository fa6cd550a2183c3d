/* Patch representation refinement, timm's pooling "prr": attention of all tokens among each other
 * without weights, queries, keys and values being the tokens themselves; then the class token, or
 * without one the mean of all. */
#ifndef VIT_MODEL_PARTS_PRR_POOL_H
#define VIT_MODEL_PARTS_PRR_POOL_H

#include "vit/model/parts/part.h"
#include "vit/ops/attention.h"

typedef struct vit_prr_state {
    float *p;          /* [batch][heads][queries][padded T] attention weights; queries: 1 or T */
    float *o;          /* [batch][queries][D] */
    float *d_o, *d_kv; /* as o; [2][R][D] */
} vit_prr_state;

void vit_prr_carve(vit_prr_state *s, const vit_carving *k);

vit_attention_shape vit_prr_attention_shape(const vit_config *c, size_t batch);

/* pooled: [batch][D], x: [batch][T][D]. */
void vit_prr_forward(const vit_call *c, const vit_prr_state *s, float *pooled, const float *x);

/* dx = d_x, given d_pooled. */
void vit_prr_backward(const vit_call *c, const vit_prr_state *s, float *dx, const float *d_pooled,
                      const float *x);

#endif
