/* Compiled with its own flags (see the Makefile); without them, for another processor, there is no
 * such table. */
#include "vit/kernels/kernels.h"

#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512BW__) && defined(__AVX512DQ__)

#include "vit/kernels/v16_avx512.h"

#include "vit/kernels/table.inc"

static bool has_vnni(void) {
    return vit_quads_avx512vnni.gemm_tiles && vit_cpu_has_vnni(VIT_CPU_AVX512);
}

const vit_kernels *vit_kernels_avx512(void) {
    static const vit_kernels table = VIT_KERNEL_TABLE(
        VIT_CPU_AVX512, [VIT_PRECISION_F32] = &floats, [VIT_PRECISION_INT8] = &vit_quads_avx512);
    static const vit_kernels with_vnni =
        VIT_KERNEL_TABLE(VIT_CPU_AVX512, [VIT_PRECISION_F32] = &floats,
                         [VIT_PRECISION_INT8] = &vit_quads_avx512vnni);
    return has_vnni() ? &with_vnni : &table;
}

/* The same table with products of bfloat16, from kernels_avx512bf16.c. */
const vit_kernels *vit_kernels_avx512bf16(void) {
    static const vit_kernels table = VIT_KERNEL_TABLE(
        VIT_CPU_AVX512BF16, [VIT_PRECISION_F32] = &floats,
        [VIT_PRECISION_BF16] = &vit_pairs_avx512bf16, [VIT_PRECISION_INT8] = &vit_quads_avx512);
    static const vit_kernels with_vnni = VIT_KERNEL_TABLE(
        VIT_CPU_AVX512BF16, [VIT_PRECISION_F32] = &floats,
        [VIT_PRECISION_BF16] = &vit_pairs_avx512bf16, [VIT_PRECISION_INT8] = &vit_quads_avx512vnni);
    if (!vit_pairs_avx512bf16.gemm_tiles) return NULL;
    return has_vnni() ? &with_vnni : &table;
}

/* The same table with products by AMX, from kernels_bf16_amx.c and kernels_int8_amx.c. */
const vit_kernels *vit_kernels_amx(void) {
    static const vit_kernels table = VIT_KERNEL_TABLE(
        VIT_CPU_AMX, [VIT_PRECISION_F32] = &floats, [VIT_PRECISION_BF16] = &vit_pairs_amx,
        [VIT_PRECISION_INT8] = &vit_quads_amx);
    return vit_pairs_amx.gemm_tiles && vit_quads_amx.gemm_tiles ? &table : NULL;
}

#else

const vit_kernels *vit_kernels_avx512(void) {
    return NULL;
}

const vit_kernels *vit_kernels_avx512bf16(void) {
    return NULL;
}

const vit_kernels *vit_kernels_amx(void) {
    return NULL;
}

#endif
