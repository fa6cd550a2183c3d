/* The tokens that enter the first block: z_0 = [x_class; x_p^1 E; ...; x_p^N E] + E_pos
 * (Dosovitskiy et al.: An Image is Worth 16x16 Words, eq. 1), the lecture's 4 x 128 -> 5 x 128.
 * Instead of or beside the class token there may be other learned tokens before the patches, such
 * as registers: all these are called prefixes. */
#ifndef VIT_OPS_EMBED_H
#define VIT_OPS_EMBED_H

#include "vit/ops/exec.h"

#define VIT_EMBED_PREFIXES 3

typedef struct vit_embed_shape {
    size_t batch, dim, patches;
    size_t prefix[VIT_EMBED_PREFIXES]; /* tokens of each kind of prefix, in order */
    bool prefix_positions;             /* prefixes have position embeddings, too */
} vit_embed_shape;

/* z: [batch][tokens][dim], tokens being prefixes and patches; embedded (x_p E):
 * [batch][patches][dim]; prefix[k]: [s->prefix[k]][dim]; positions (E_pos): [tokens][dim], or
 * [patches][dim] if prefixes have none; NULL: there are none. */
void vit_embed_forward(float *z, const float *embedded, const float *const *prefix,
                       const float *positions, const vit_embed_shape *s);

/* d_embedded = the patches' rows of dz; d_prefix, d_positions += theirs, one chain over the
 * samples, ascending. Those that are NULL are not trained. */
void vit_embed_backward(const vit_exec *exec, float *d_embedded, float *const *d_prefix,
                        float *d_positions, const float *dz, const vit_embed_shape *s);

/* Tokens of texts. */
typedef struct vit_lookup_shape {
    const uint32_t *ids, *positions; /* [rows] */
    size_t rows, dim;
    float scale;
} vit_lookup_shape;

/* z[r] = scale * table[ids[r]] + positions[s->positions[r]], without positions where they are NULL;
 * rows of all arrays have s->dim floats. */
void vit_lookup_forward(const vit_exec *exec, float *z, const float *table, const float *positions,
                        const vit_lookup_shape *s);

/* d_table += its gradient, and d_positions, unless it is NULL, since positions are fixed; the rows
 * of dz are added in ascending order. dz is overwritten. */
void vit_lookup_backward(const vit_exec *exec, float *d_table, float *d_positions, float *dz,
                         const vit_lookup_shape *s);

#endif
