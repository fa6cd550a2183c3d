/* Positions: z_0 = [x_class; x_p E] + E_pos, the tokens that enter the first block, and the layer
 * norm that some networks have of them (norm_pre: CLIP). E_pos is a parameter or a fixed table. */
#ifndef VIT_MODEL_PARTS_POSITIONS_H
#define VIT_MODEL_PARTS_POSITIONS_H

#include "vit/model/parts/part.h"

typedef struct vit_positions_state {
    float *tokens;        /* [R][D] the input of norm_pre; without it z_0 itself */
    vit_norm_state stats; /* [R] each, of norm_pre */
} vit_positions_state;

/* z0: [R][D], where z_0 will be. */
void vit_positions_carve(vit_positions_state *s, const vit_carving *k, float *z0);

/* Of pictures: s->tokens = [x_class; x_p E] + E_pos, embedded: [batch][N][D] being x_p E. Those of
 * texts are added in token_embedding.c. */
void vit_positions_forward(const vit_call *c, const vit_positions_state *s, const float *embedded);

/* d_embedded: [batch][N][D], given d_tokens: [R][D]; adds to g. */
void vit_positions_backward(const vit_call *c, const vit_gradients *g, float *d_embedded,
                            const float *d_tokens);

/* z0 = LN(s->tokens), where the config has norm_pre. */
void vit_norm_pre_forward(const vit_call *c, const vit_positions_state *s, float *z0);

/* The gradient of s->tokens: [R][D], given back->d_z, that of z_0; it is in back->d_branch, or with
 * no norm_pre back->d_z itself. Adds to g. */
float *vit_norm_pre_backward(const vit_call *c, const vit_backward *back,
                             const vit_positions_state *s, const vit_gradients *g);

#endif
