/* Tokens: z_0 = [x_class; x_p^1 E; ...; x_p^N E] + E_pos (Dosovitskiy et al.: An Image is Worth
 * 16x16 Words, eq. 1). The lecture's 4 x 128 -> 5 x 128. */
#ifndef VIT_OPS_EMBED_H
#define VIT_OPS_EMBED_H

#include "vit/ops/exec.h"

/* z: [batch][tokens][dim]; embedded (x_p E): [batch][patches][dim]; class_token: [dim], NULL for
 * none; positions: [tokens][dim]; tokens: patches, and one more with a class token. */
void vit_embed_forward(float *z, const float *embedded, const float *class_token,
                       const float *positions, size_t batch, size_t patches, size_t dim);

/* d_class += ..., d_positions += ... (one ascending chain over the samples), each NULL where there
 * is none to train; d_embedded = ...; tokens: of dz. */
void vit_embed_backward(const vit_exec *exec, float *d_embedded, float *d_class, float *d_positions,
                        const float *dz, size_t batch, size_t tokens, size_t patches, size_t dim);

#endif
