/* How operators run: with which kernels, on how many threads, in which precision. */
#ifndef VIT_OPS_EXEC_H
#define VIT_OPS_EXEC_H

#include "vit/base/parallel.h"
#include "vit/ops/precision.h"
#include <stddef.h>

typedef struct vit_exec {
    const vit_kernels *kernels;
    int threads; /* inside an operator; 1 if each slice of a batch has its own thread */
    float *room; /* [threads][VIT_GEMM_ROOM], where matrix products pack (vit/ops/gemm/gemm.h) */
    vit_precision precision; /* of the products of linear layers and convolutions */
    vit_precision attention; /* of those of attention */
} vit_exec;

/* The kernels for matrix products in exec's precision. */
static inline const vit_product_kernels *vit_products_of(const vit_exec *exec) {
    return exec->kernels->products[exec->precision];
}

/* Its tile. */
static inline const vit_tile_size *vit_tile_of(const vit_exec *exec) {
    const vit_product_kernels *inner = vit_products_of(exec);
    return inner->tile.rows > 0 ? &inner->tile : &exec->kernels->tile;
}

/* How many threads to use for this many multiply-adds: at least 1, at most exec->threads. */
int vit_exec_threads(const vit_exec *exec, size_t multiply_adds);

#endif
