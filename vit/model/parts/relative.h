/* The relative position bias of a block's scores (vit/ops/relative.h): its table is learned, or
 * made by an MLP of distances, as in Swin Transformer V2 (Liu et al., section 3.3) and timm's
 * vit_relpos: fc2(ReLU(fc1(x))), x being sign(d) log(1 + |d|) of the distance in rows and in
 * columns. There the class token has none. */
#ifndef VIT_MODEL_PARTS_RELATIVE_H
#define VIT_MODEL_PARTS_RELATIVE_H

#include "vit/model/parts/block_call.h"

/* Shared by all blocks. */
typedef struct vit_relative_state {
    float *bias;            /* [heads][T][padded T]; NULL: there is none */
    float *d_scores;        /* [R][heads][padded T], in training */
    float *table;           /* [distances][heads], of an MLP; NULL: it is learned */
    float *places;          /* [distances][2] x */
    float *hidden, *active; /* [distances][width] before and after ReLU */
    float *d_table, *d_mlp; /* as table and hidden, in training */
} vit_relative_state;

void vit_relative_carve(vit_relative_state *s, const vit_carving *k);

/* Fills s->bias. */
void vit_relative_bias_forward(const vit_block_call *c, const vit_relative_state *s);

/* Adds to g, given s->d_scores, which vit_attention_backward made, times `factor`. */
void vit_relative_bias_backward(const vit_block_call *c, const vit_relative_state *s,
                                const vit_block_gradients *g, float factor, size_t queries);

#endif
