/* Compiled with its own flags (see the Makefile); without them, for another processor, there is no
 * such table. */
#include "vit/kernels/kernels.h"

#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512BW__) && defined(__AVX512DQ__)

#include "vit/kernels/v16_avx512.h"

#include "vit/kernels/table.inc"

const vit_kernels *vit_kernels_avx512(void) {
    static const vit_kernels table =
        VIT_KERNEL_TABLE(VIT_CPU_AVX512, [VIT_PRECISION_F32] = &floats);
    return &table;
}

/* The same table with products of bfloat16, from kernels_avx512bf16.c. */
const vit_kernels *vit_kernels_avx512bf16(void) {
    static const vit_kernels table =
        VIT_KERNEL_TABLE(VIT_CPU_AVX512BF16, [VIT_PRECISION_F32] = &floats,
                         [VIT_PRECISION_BF16] = &vit_pairs_avx512bf16);
    return vit_pairs_avx512bf16.gemm_tiles ? &table : NULL;
}

#else

const vit_kernels *vit_kernels_avx512(void) {
    return NULL;
}

const vit_kernels *vit_kernels_avx512bf16(void) {
    return NULL;
}

#endif
