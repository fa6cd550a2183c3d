/* Matrix products: C = epilogue(A B), one ascending chain over k per element whatever the blocking,
 * the threads or the kernels. */
#ifndef VIT_OPS_GEMM_GEMM_H
#define VIT_OPS_GEMM_GEMM_H

#include "vit/ops/exec.h"
#include <stdbool.h>

/* Element (i, p) at data[i * row + p * col]: A transposed is A with row and col exchanged. */
typedef struct vit_operand_a {
    const float *data;
    size_t row, col;
} vit_operand_a;

/* Element (p, j) at data[j / VIT_PANEL * panel + p * row + j % VIT_PANEL]: a matrix as it lies
 * (vit_b_plain), or packed in panels of VIT_PANEL columns (vit_b_packed). */
typedef struct vit_operand_b {
    const float *data;
    size_t row, panel;
    bool packed;
} vit_operand_b;

/* [k][n], `row` floats from row to row. */
static inline vit_operand_b vit_b_plain(const float *data, size_t row) {
    return (vit_operand_b){data, row, VIT_PANEL, false};
}

/* What vit_pack_transposed or vit_pack_rows made of k steps, or pairs of them. */
static inline vit_operand_b vit_b_packed(const float *data, size_t k) {
    return (vit_operand_b){data, VIT_PANEL, VIT_PANEL * k, true};
}

/* The words of 32 bits, floats or pairs of bfloat16, that k steps are packed in. */
static inline size_t vit_words(vit_precision precision, size_t k) {
    return precision == VIT_PRECISION_BF16 ? (k + 1) / 2 : k;
}

static inline vit_epilogue vit_epilogue_none(void) {
    return (vit_epilogue){.scale = 1};
}

/* The epilogue of the part of C that begins at this row and column. */
static inline void vit_epilogue_move(vit_epilogue *e, size_t row, size_t column) {
    e->row += row;
    if (e->bias) e->bias += column;
    if (e->gamma) e->gamma += column;
    if (e->residual) e->residual += row * e->residual_row + column;
}

/* Words of a block of k, at most, whatever the kernels' tile.depth. */
#define VIT_K_BLOCK ((size_t)512)

/* A product of so many k, at most, whose residual is C is one block of k. */
#define VIT_ONE_BLOCK ((size_t)384)

/* What is packed into a thread's room, in floats, for a second-level cache of 1 MiB: of A a high
 * band (768 KiB), beside two panels of B; or two low bands of A, which, to stay out of each other's
 * way in that cache, do not begin a multiple of 64 KiB apart; or a block of B (640 KiB). */
#define VIT_HIGH_BAND ((size_t)192 << 10)
#define VIT_PACKED_PANEL (VIT_PANEL * VIT_K_BLOCK)
#define VIT_PACKED_B ((size_t)160 << 10)
#define VIT_LOW_BAND ((size_t)20 << 10)

/* Floats of vit_exec.room that one thread packs in. */
#define VIT_GEMM_ROOM (VIT_HIGH_BAND + 2 * VIT_PACKED_PANEL)

/* C: [m][n], rows c_row apart; it holds running values, so none of the inputs may lie in it, but
 * the residual, which may be C, where k is at most VIT_ONE_BLOCK. */
void vit_gemm(const vit_exec *exec, float *c, size_t c_row, size_t m, size_t n, size_t k,
              vit_operand_a a, vit_operand_b b, const vit_epilogue *epilogue);

/* Small products of one size, `products->count` of them, each of any rows and columns, on this
 * thread; A and B are words (floats or pairs of bfloat16) as the exec's precision has them. For
 * heads of attention, whose products take less time than tasks and packing would take to prepare.
 */
void vit_gemm_small(const vit_exec *exec, const vit_tiles *products);

/* Floats that a packed [k][n] takes: n rounded up to whole panels, k to whole pairs; in bf16 half
 * as many. */
size_t vit_packed_size(size_t n, size_t k);

/* packed = W^T for W: [n][k], rows `row` apart, as PyTorch stores the weights of a linear layer, in
 * the exec's precision; columns past n are +0. One thread. */
void vit_pack_transposed(const vit_exec *exec, float *packed, const float *w, size_t n, size_t k,
                         size_t row);

/* packed = W for W: [k][n], rows `row` apart, in the exec's precision; nothing is said of columns
 * past n. One thread. */
void vit_pack_rows(const vit_exec *exec, float *packed, const float *w, size_t n, size_t k,
                   size_t row);

/* packed = what vit_pack_transposed makes of W in the exec's precision, bf16, from what it makes of
 * it in f32. One thread. */
void vit_pack_again(const vit_exec *exec, float *packed, const float *floats, size_t n, size_t k);

#endif
