/* Matrix products: C = epilogue(A B). Every element is one chain over k in ascending order,
 * whatever the blocking, the number of threads and the kernels. */
#ifndef VIT_OPS_GEMM_GEMM_H
#define VIT_OPS_GEMM_GEMM_H

#include "vit/ops/exec.h"
#include <stdbool.h>

/* A: element (i, p) is data[i * row + p * col]; exchanging row and col transposes it. */
typedef struct vit_operand_a {
    const float *data;
    size_t row, col;
} vit_operand_a;

/* B: element (p, j) is data[j / w * panel + p * row + j % w * column], w being vit_panel(): an
 * ordinary matrix (vit_b_plain), or one packed in panels of w columns (vit_b_packed), in F32
 * perhaps in halves, of which a word is elements (p, j) and (p + 1, j), or transposed
 * (vit_b_stored). */
typedef struct vit_operand_b {
    const float *data;
    size_t row, column, panel;
    bool packed;
    vit_stored stored;
} vit_operand_b;

/* The words that k numbers take, stored so; whether floats are made of them before tiles read them.
 */
size_t vit_stored_words(vit_stored stored, size_t k);
bool vit_stored_is_made(vit_stored stored);

/* B from a matrix [k][n], `row` floats from row to row. */
static inline vit_operand_b vit_b_plain(const float *data, size_t row) {
    return (vit_operand_b){.data = data, .row = row, .column = 1, .panel = vit_panel()};
}

/* B as packed by vit_pack_stored. */
vit_operand_b vit_b_stored(const float *data, vit_stored stored, size_t k);

/* B as packed by vit_pack_transposed or vit_pack_rows; k in words. */
static inline vit_operand_b vit_b_packed(const float *data, size_t k) {
    return vit_b_stored(data, VIT_STORED_FLOATS, k);
}

static inline vit_epilogue vit_epilogue_none(void) {
    return (vit_epilogue){.scale = 1};
}

/* Turns the epilogue of C into that of the part of C that begins at this row and column. */
static inline void vit_epilogue_move(vit_epilogue *e, size_t row, size_t column) {
    e->row += row;
    if (e->row_scales) e->row_scales += row;
    if (e->column_scales) e->column_scales += column;
    if (e->start) e->start += column;
    if (e->bias) e->bias += column;
    if (e->gamma) e->gamma += column;
    if (e->residual) e->residual += row * e->residual_row + column;
}

/* The most words in a block of k, for any kernels. */
#define VIT_K_BLOCK ((size_t)512)

/* The most of a second-level cache that blocks are made for, in floats: 1 MiB. */
#define VIT_LARGEST_CACHE ((size_t)256 << 10)

/* Sizes in floats of what is packed into a thread's room: a high band of A and two panels of B; or
 * two low bands of A, whose distance is no multiple of 64 KiB so that they do not compete for the
 * same sets of that cache; or a block of B, which is smaller than a high band. */
#define VIT_HIGH_BAND (VIT_LARGEST_CACHE / 4 * 3)
#define VIT_PACKED_PANEL (VIT_MOST_PANEL * VIT_K_BLOCK)
#define VIT_LOW_BAND ((size_t)20 << 10)

/* Floats of vit_exec.room for one thread. */
#define VIT_GEMM_ROOM (VIT_HIGH_BAND + 2 * VIT_PACKED_PANEL)

/* c: [m][n], rows c_row floats apart; a: [m][k], b: [k][n]. In int8, k counts quads, and A is what
 * `quantise` made, so that a.col is the words of a quad. C holds running values between blocks
 * of k, so no input may overlap it. */
void vit_gemm(const vit_exec *exec, float *c, size_t c_row, size_t m, size_t n, size_t k,
              vit_operand_a a, vit_operand_b b, const vit_epilogue *epilogue);

/* Computes `products->count` small products of the same size on this thread; unlike tiles of a
 * kernel, they may have any number of rows and columns. A and B hold words of exec's precision.
 * Used for the heads of attention, whose products take less time than planning and packing would.
 */
void vit_gemm_small(const vit_exec *exec, const vit_tiles *products);

/* Numbers in a packed matrix [k][n]: n rounded up to whole panels, k to whole words of every
 * precision. It takes vit_words(precision, this) words. */
size_t vit_packed_size(size_t n, size_t k);

/* packed = W^T in exec's precision, for w: [n][k], rows `row` floats apart, as PyTorch stores the
 * weights of a linear layer. Columns past n become +0. Uses one thread. */
void vit_pack_transposed(const vit_exec *exec, float *packed, const float *w, size_t n, size_t k,
                         size_t row);

/* The same in F32, stored so; in halves numbers of w must be such, and a panel has one more of 0
 * where k is odd. In rows it is w itself, [n][k]; in halves k is even then. */
void vit_pack_stored(const vit_exec *exec, float *packed, const float *w, vit_stored stored,
                     size_t n, size_t k, size_t row);

/* to: [rows][vit_panel()] = rows first, first + 1, ... of panel `panel` of B [k][n], which
 * vit_pack_stored made; `first` is even. Columns past n are 0. */
void vit_read_panel(const vit_kernels *kernels, float *to, const vit_operand_b *b, size_t n,
                    size_t panel, size_t first, size_t rows);

/* w: [n][k] = the W of a W^T that vit_pack_stored packed. */
void vit_unpack_transposed(const vit_kernels *kernels, float *w, const float *packed,
                           vit_stored stored, size_t n, size_t k);

/* packed = W in exec's precision, for w: [k][n], rows `row` floats apart. Columns past n are
 * unspecified. Uses one thread. */
void vit_pack_rows(const vit_exec *exec, float *packed, const float *w, size_t n, size_t k,
                   size_t row);

/* Converts a W^T [k][n] that was packed in f32 by vit_pack_transposed to exec's precision: packed =
 * the same bits as vit_pack_transposed gives for W. Uses one thread. */
void vit_pack_rounded(const vit_exec *exec, float *packed, const float *floats, size_t n, size_t k);

#endif
