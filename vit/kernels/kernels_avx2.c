/* Compiled with its own flags (see the Makefile); without them, for another processor, there is no
 * such table. */
#include "vit/kernels/kernels.h"

#if defined(__AVX2__) && defined(__FMA__)

#include "vit/kernels/v16_avx2.h"

#include "vit/kernels/table.inc"

const vit_kernels *vit_kernels_avx2(void) {
    static const vit_kernels table = VIT_KERNEL_TABLE(
        VIT_CPU_AVX2, [VIT_PRECISION_F32] = &floats, [VIT_PRECISION_INT8] = &vit_quads_avx2);
    static const vit_kernels with_vnni = VIT_KERNEL_TABLE(
        VIT_CPU_AVX2, [VIT_PRECISION_F32] = &floats, [VIT_PRECISION_INT8] = &vit_quads_avxvnni);
    const bool vnni = vit_quads_avxvnni.gemm_tiles && vit_cpu_has_vnni(VIT_CPU_AVX2);
    return vnni ? &with_vnni : &table;
}

#else

const vit_kernels *vit_kernels_avx2(void) {
    return NULL;
}

#endif
