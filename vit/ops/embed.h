/* Tokens: z_0 = [x_class; x_p^1 E; ...; x_p^N E] + E_pos (Dosovitskiy et al.: An Image is Worth
 * 16x16 Words, eq. 1). The lecture's 4 x 128 -> 5 x 128. Before the patches may also stand other
 * tokens that are learned, such as registers. */
#ifndef VIT_OPS_EMBED_H
#define VIT_OPS_EMBED_H

#include "vit/ops/exec.h"

#define VIT_EMBED_PREFIXES 3

typedef struct vit_embed_shape {
    size_t batch, dim, patches;
    size_t prefix[VIT_EMBED_PREFIXES]; /* tokens before the patches, kind by kind */
    bool prefix_positions;             /* those have positions, too */
} vit_embed_shape;

/* z: [batch][tokens][dim]; embedded (x_p E): [batch][patches][dim]; prefix[k]: [s->prefix[k]][dim];
 * positions: [tokens or patches][dim]; tokens: patches and all prefixes. */
void vit_embed_forward(float *z, const float *embedded, const float *const *prefix,
                       const float *positions, const vit_embed_shape *s);

/* d_prefix += ..., d_positions += ... (one ascending chain over the samples), each NULL where there
 * is none to train; d_embedded = ... */
void vit_embed_backward(const vit_exec *exec, float *d_embedded, float *const *d_prefix,
                        float *d_positions, const float *dz, const vit_embed_shape *s);

/* Tokens of texts: row r of z is row ids[r] of the table, times scale, plus row places[r] of
 * positions. Rows of all arrays have `dim` floats. */
typedef struct vit_lookup_shape {
    const uint32_t *ids, *places; /* [rows] */
    size_t rows, dim;
    float scale;
} vit_lookup_shape;

void vit_lookup_forward(const vit_exec *exec, float *z, const float *table, const float *positions,
                        const vit_lookup_shape *s);

/* d_table += ..., d_positions += ... (NULL: fixed), row by row of dz, ascending; dz is overwritten.
 */
void vit_lookup_backward(const vit_exec *exec, float *d_table, float *d_positions, float *dz,
                         const vit_lookup_shape *s);

#endif
