/* Relative position bias (Bao et al.: BEiT; Liu et al.: Swin Transformer): a learned number for
 * each head and each distance of two patches, which is added to their score. With a class token
 * there are three more: of its query and any key, of any query and its key, and of both.
 *
 * table: [(2 rows - 1)(2 columns - 1) + 3][heads], without a class token 3 less. */
#ifndef VIT_OPS_RELATIVE_H
#define VIT_OPS_RELATIVE_H

#include "vit/ops/exec.h"
#include <stdbool.h>

typedef struct vit_relative_shape {
    size_t rows, columns, heads; /* of the grid of patches */
    bool class_token;            /* there is one before the patches */
} vit_relative_shape;

/* Rows of the table; those of them that are of two patches, which come first; tokens of a picture.
 */
size_t vit_relative_rows(const vit_relative_shape *s);
size_t vit_relative_distances(const vit_relative_shape *s);
size_t vit_relative_tokens(const vit_relative_shape *s);

/* The table's row for the pair of a query and a key. */
size_t vit_relative_index(const vit_relative_shape *s, size_t query, size_t key);

/* places: [vit_relative_distances][2], of each such row sign(d) log(1 + |d|), d being the distance
 * in rows and that in columns. */
void vit_relative_places(float *places, const vit_relative_shape *s);

/* bias: [heads][T][vit_padded(T)], what is added to the score of each query and key. */
void vit_relative_forward(const vit_exec *exec, float *bias, const float *table,
                          const vit_relative_shape *s);

/* d_table += factor d_scores, summed over the pairs of one distance; d_scores:
 * [batch][heads][queries][vit_padded(T)], queries being T or the first alone. One chain over the
 * pictures, ascending. */
void vit_relative_backward(const vit_exec *exec, float *d_table, const float *d_scores,
                           float factor, size_t batch, size_t queries, const vit_relative_shape *s);

#endif
