/* Matrix products: C = epilogue(A B), one ascending chain over k per element whatever the blocking,
 * the threads or the kernels. */
#ifndef VIT_OPS_GEMM_H
#define VIT_OPS_GEMM_H

#include "vit/ops/exec.h"

/* Element (i, p) at data[i * row + p * col]: A transposed is A with row and col exchanged. */
typedef struct vit_left {
    const float *data;
    size_t row, col;
} vit_left;

/* Element (p, j) at data[j / VIT_PANEL * panel + p * row + j % VIT_PANEL]: a matrix as it lies
 * (vit_right_plain), or packed in panels of VIT_PANEL columns (vit_right_packed). */
typedef struct vit_right {
    const float *data;
    size_t row, panel;
} vit_right;

/* [k][n], `row` floats from row to row. */
static inline vit_right vit_right_plain(const float *data, size_t row) {
    return (vit_right){data, row, VIT_PANEL};
}

/* What vit_pack_transposed made. */
static inline vit_right vit_right_packed(const float *data, size_t k) {
    return (vit_right){data, VIT_PANEL, VIT_PANEL * k};
}

static inline vit_epilogue vit_epilogue_none(void) {
    return (vit_epilogue){.scale = 1};
}

/* C: [m][n], rows c_row apart; it holds running values, so none of the inputs may lie in it. */
void vit_gemm(const vit_exec *exec, float *c, size_t c_row, size_t m, size_t n, size_t k,
              vit_left a, vit_right b, const vit_epilogue *epilogue);

/* Floats that a packed [k][n] takes: n rounded up to whole panels. */
size_t vit_packed_size(size_t n, size_t k);

/* packed = W^T for W: [n][k], rows `row` apart, as PyTorch stores the weights of a linear layer;
 * columns past n are +0. */
void vit_pack_transposed(float *packed, const float *w, size_t n, size_t k, size_t row);

#endif
