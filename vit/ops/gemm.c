#include "vit/ops/gemm.h"
#include <stdbool.h>

/* A panel of B of this many rows (32 KiB) stays in the first-level cache under the tiles of A.
 * Blocking over k stores and reloads the running value, so it is not part of the result. */
#define K_BLOCK 256

/* Rows of C that one task of a parallel product computes. */
#define M_BLOCK 96

typedef struct product {
    const vit_kernels *kernels;
    float *c;
    size_t c_row, m, n, k;
    vit_left a;
    vit_right b;
    vit_epilogue epilogue;
    size_t panels; /* of the whole product, for tasks */
} product;

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Column tile j0, rows i0 .. i1, for k in [k0, k0 + depth). */
static void column_tile(const product *p, size_t i0, size_t i1, size_t j0, size_t width, size_t k0,
                        size_t depth) {
    const size_t rows = p->kernels->tile_rows;
    const float *b = p->b.data + j0 / VIT_PANEL * p->b.panel + k0 * p->b.row + j0 % VIT_PANEL;
    const bool last = k0 + depth == p->k;
    vit_epilogue e = last ? p->epilogue : vit_epilogue_none();
    e.accumulate = p->epilogue.accumulate || k0 > 0;
    if (e.bias) e.bias += j0;
    for (size_t i = i0; i < i1; i += rows) {
        if (e.residual) e.residual = p->epilogue.residual + i * e.residual_row + j0;
        p->kernels->gemm_tile(p->c + i * p->c_row + j0, p->c_row, smaller(rows, i1 - i), width,
                              depth, p->a.data + i * p->a.row + k0 * p->a.col, p->a.row, p->a.col,
                              b, p->b.row, &e);
    }
}

/* Rows i0 .. i1, columns j0 .. j1 of C. */
static void block(const product *p, size_t i0, size_t i1, size_t j0, size_t j1) {
    size_t k0 = 0;
    do {
        const size_t depth = smaller(K_BLOCK, p->k - k0);
        for (size_t j = j0; j < j1; j += p->kernels->tile_cols)
            column_tile(p, i0, i1, j, smaller(p->kernels->tile_cols, j1 - j), k0, depth);
        k0 += depth;
    } while (k0 < p->k);
}

static void block_task(size_t index, int thread, void *context) {
    (void)thread;
    const product *p = context;
    const size_t i0 = index / p->panels * M_BLOCK, j0 = index % p->panels * VIT_PANEL;
    block(p, i0, smaller(i0 + M_BLOCK, p->m), j0, smaller(j0 + VIT_PANEL, p->n));
}

void vit_gemm(const vit_exec *exec, float *c, size_t c_row, size_t m, size_t n, size_t k,
              vit_left a, vit_right b, const vit_epilogue *epilogue) {
    product p = {exec->kernels, c, c_row, m, n, k, a, b, *epilogue, 0};
    if (m == 0 || n == 0) return;
    const int threads = vit_exec_threads(exec, m * n * k);
    if (threads == 1) {
        block(&p, 0, m, 0, n);
        return;
    }
    p.panels = (n + VIT_PANEL - 1) / VIT_PANEL;
    vit_parallel(threads, (m + M_BLOCK - 1) / M_BLOCK * p.panels, block_task, &p);
}

size_t vit_packed_size(size_t n, size_t k) {
    return (n + VIT_PANEL - 1) / VIT_PANEL * VIT_PANEL * k;
}

void vit_pack_transposed(float *packed, const float *w, size_t n, size_t k, size_t row) {
    for (size_t j0 = 0; j0 < n; j0 += VIT_PANEL, packed += VIT_PANEL * k) {
        const size_t width = smaller(VIT_PANEL, n - j0);
        for (size_t p = 0; p < k; p++) {
            float *to = packed + p * VIT_PANEL;
            for (size_t j = 0; j < width; j++) to[j] = w[(j0 + j) * row + p];
            for (size_t j = width; j < VIT_PANEL; j++) to[j] = 0;
        }
    }
}
