/* Rotary positions (Su et al.: RoFormer; of pictures Heo et al.: Rotary Position Embedding for
 * Vision Transformer): pairs of features of each query and key are turned by angles that depend on
 * where the patch is, so that Q K^T depends on where two patches are to each other. Class token and
 * registers are not turned.
 *
 * A table has the angles' cosines and sines: [heads or 1][patches][2][head_dim / 2], of each patch
 * first the cosines. */
#ifndef VIT_OPS_ROPE_H
#define VIT_OPS_ROPE_H

#include "vit/ops/exec.h"
#include <stdbool.h>

typedef struct vit_rope_shape {
    size_t rows, tokens; /* rows of all samples; those of one sample */
    size_t skip;         /* tokens of a sample before its patches */
    size_t heads, head_dim;
    size_t row;   /* floats from row to row */
    bool halves;  /* pairs are features j and j + head_dim / 2 of a head; else 2 j and 2 j + 1 */
    bool by_head; /* the table has angles for each head */
} vit_rope_shape;

/* Turns the heads of the rows of x in place: (a, b) = (a cos - b sin, b cos + a sin); `back`: by
 * the negative angles, which is the backward pass. */
void vit_rope_turn(const vit_exec *exec, float *x, const float *table, const vit_rope_shape *s,
                   bool back);

/* A grid of patches: in angles, the number of a patch's row is the first coordinate and that of its
 * column the second, or the other way round. */
typedef struct vit_rope_grid {
    size_t rows, columns;
    bool columns_first;
} vit_rope_grid;

/* Learned frequencies ("mixed"): table = those of the angles t_0 f_0 + t_1 f_1, where f_0, f_1:
 * [heads][half], and t are the coordinates. */
void vit_rope_mixed_forward(const vit_exec *exec, float *table, const float *const f[2],
                            const vit_rope_grid *grid, size_t heads, size_t half);

/* d_f += their gradient, given queries and keys x after vit_rope_turn and dx, the gradients of
 * that; both as `s` says; x[k] NULL: it was not turned. One chain over the rows, ascending, of each
 * row first x[0]. */
void vit_rope_mixed_backward(const vit_exec *exec, float *const d_f[2], const float *const dx[2],
                             const float *const x[2], const vit_rope_grid *grid,
                             const vit_rope_shape *s);

#endif
