/* How operators run: with which kernels, on how many threads, in which precision. */
#ifndef VIT_OPS_EXEC_H
#define VIT_OPS_EXEC_H

#include "vit/base/error.h"
#include "vit/base/parallel.h"
#include "vit/kernels/kernels.h"
#include <stddef.h>

typedef struct vit_exec {
    const vit_kernels *kernels;
    int threads;             /* inside an operator; 1 if each slice of a batch has its own thread */
    float *room;             /* [threads][VIT_GEMM_ROOM], where matrix products pack (gemm.h) */
    vit_precision precision; /* of matrix products; bf16 needs kernels->pairs */
} vit_exec;

/* The kernels for matrix products in exec's precision. */
static inline const vit_product_kernels *vit_products_of(const vit_exec *exec) {
    return exec->precision == VIT_PRECISION_BF16 ? exec->kernels->pairs : &exec->kernels->floats;
}

/* VIT_ERROR_ARGUMENT if the kernels do not have this precision. */
vit_status vit_precision_check(vit_precision precision, const vit_kernels *kernels,
                               vit_error *error);

/* How many threads to use for this many multiply-adds: at least 1, at most exec->threads. */
int vit_exec_threads(const vit_exec *exec, size_t multiply_adds);

#endif
