/* Advanced SIMD is part of every AArch64; for another processor there is no such table. */
#include "vit/kernels/quads_neon.h"

#if defined(__aarch64__)

#include "vit/kernels/v16_neon.h"

#include "vit/kernels/table.inc"

const vit_kernels *vit_kernels_neon(void) {
    static const vit_kernels table = VIT_KERNEL_TABLE(
        VIT_CPU_NEON, [VIT_PRECISION_F32] = &floats, [VIT_PRECISION_INT8] = &vit_quads_neon);
    static const vit_kernels with_dot = VIT_KERNEL_TABLE(
        VIT_CPU_NEON, [VIT_PRECISION_F32] = &floats, [VIT_PRECISION_INT8] = &vit_quads_neondot);
    return vit_quads_neondot.gemm_tiles && vit_cpu_has_vnni(VIT_CPU_NEON) ? &with_dot : &table;
}

#else

const vit_kernels *vit_kernels_neon(void) {
    return NULL;
}

#endif
