#include "vit/kernels/v16_scalar.h"

#include "vit/kernels/table.inc"

/* Whether the processor has FMA, with which the references of bfloat16 are compiled on x86. */
static bool runs_references(void) {
    return vit_cpu_detect() > VIT_CPU_SSE41;
}

const vit_kernels *vit_kernels_scalar(void) {
    static const vit_kernels table = VIT_KERNEL_TABLE(
        VIT_CPU_SCALAR, [VIT_PRECISION_F32] = &floats, [VIT_PRECISION_INT8] = &vit_quads_scalar);
    static const vit_kernels with_reference = VIT_KERNEL_TABLE(
        VIT_CPU_SCALAR, [VIT_PRECISION_F32] = &floats, [VIT_PRECISION_BF16] = &vit_pairs_reference,
        [VIT_PRECISION_INT8] = &vit_quads_scalar);
    return runs_references() ? &with_reference : &table;
}

const vit_kernels *vit_kernels_scalar_tiles(void) {
    static const vit_kernels table = VIT_KERNEL_TABLE(
        VIT_CPU_SCALAR, [VIT_PRECISION_F32] = &floats,
        [VIT_PRECISION_BF16] = &vit_pairs_amx_reference, [VIT_PRECISION_INT8] = &vit_quads_scalar);
    return runs_references() ? &table : vit_kernels_scalar();
}
