/* Pooling by attention: one learned query attends to the patches' tokens (Zhai et al.: Scaling
 * Vision Transformers, section 3.2; timm's "map"), then an MLP. x: [batch][T][D], h heads of width
 * d = D / h:
 *
 *     Q = latent W^Q, K = x W^K, V = x W^V
 *     y = softmax(Q K^T / sqrt(d)) V W^O
 *     pooled = y + MLP(LN(y)): [batch][D] */
#ifndef VIT_MODEL_PARTS_MAP_POOL_H
#define VIT_MODEL_PARTS_MAP_POOL_H

#include "vit/model/parts/part.h"
#include "vit/ops/attention.h"

typedef struct vit_map_state {
    float *query;           /* [batch][D] Q = latent W^Q + b, or latent, the same row for each */
    float *kv;              /* [R][2][D] K and V */
    float *p;               /* [batch][heads][1][padded T] attention weights */
    float *o, *y, *norm;    /* [batch][D] */
    float *hidden, *active; /* [batch][M] */
    vit_norm_state stats;   /* [batch] */
    float *d_query, *d_o, *d_y; /* [batch][D] */
    float *d_hidden;            /* [batch][M] */
    float *d_p;                 /* as p: its gradient, wanted for maps; or NULL */
} vit_map_state;

void vit_map_carve(vit_map_state *s, const vit_carving *k);

/* The shape of its attention, which has one query. */
vit_attention_shape vit_map_attention_shape(const vit_config *c, size_t batch);

void vit_map_forward(const vit_call *c, const vit_map_state *s, float *pooled, const float *x);

/* dx = d_x: [R][D], given d_pooled: [batch][D]; adds to g. Overwrites back->d_wide. */
void vit_map_backward(const vit_call *c, const vit_backward *back, const vit_map_state *s,
                      const vit_gradients *g, float *dx, const float *d_pooled, const float *x);

#endif
