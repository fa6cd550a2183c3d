/* Advanced SIMD is part of every AArch64; for another processor there is no such table. */
#include "vit/kernels/kernels.h"

#if defined(__aarch64__)

#include "vit/kernels/v16_neon.h"

#include "vit/kernels/table.inc"

const vit_kernels *vit_kernels_neon(void) {
    static const vit_kernels table = VIT_KERNEL_TABLE(
        VIT_CPU_NEON, [VIT_PRECISION_F32] = &floats, [VIT_PRECISION_INT8] = &vit_quads_neon);
    return &table;
}

#else

const vit_kernels *vit_kernels_neon(void) {
    return NULL;
}

#endif
