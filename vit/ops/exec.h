/* How operators run: with which kernels, on how many threads. */
#ifndef VIT_OPS_EXEC_H
#define VIT_OPS_EXEC_H

#include "vit/base/error.h"
#include "vit/base/parallel.h"
#include "vit/kernels/kernels.h"
#include <stddef.h>

typedef struct vit_exec {
    const vit_kernels *kernels;
    int threads;             /* inside one operator; 1 while slices of a batch have a thread each */
    float *room;             /* [threads][VIT_GEMM_ROOM] for matrix products (gemm.h) */
    vit_precision precision; /* of matrix products; bf16 needs kernels->pairs */
} vit_exec;

/* The kernels that multiply in the exec's precision. */
static inline const vit_product_kernels *vit_products_of(const vit_exec *exec) {
    return exec->precision == VIT_PRECISION_BF16 ? exec->kernels->pairs : &exec->kernels->floats;
}

/* ARGUMENT where the kernels do not have the precision. */
vit_status vit_precision_check(vit_precision precision, const vit_kernels *kernels,
                               vit_error *error);

/* The threads worth waking for `multiply_adds` of work, at most exec's. */
int vit_exec_threads(const vit_exec *exec, size_t multiply_adds);

#endif
