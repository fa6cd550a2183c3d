/* WebAssembly with its vectors of 128 bits; for another processor there is no such table. */
#include "vit/kernels/kernels.h"

#if defined(__wasm__)

#include "vit/kernels/v16_simd128.h"

#include "vit/kernels/table.inc"

const vit_kernels *vit_kernels_simd128(void) {
    static const vit_kernels table = VIT_KERNEL_TABLE(
        VIT_CPU_SIMD128, [VIT_PRECISION_F32] = &floats, [VIT_PRECISION_INT8] = &vit_quads_simd128);
    return &table;
}

#else

const vit_kernels *vit_kernels_simd128(void) {
    return NULL;
}

#endif
