#include "vit/kernels/v16_scalar.h"

#include "vit/kernels/table.inc"

const vit_kernels *vit_kernels_scalar(void) {
#ifdef VIT_BF16_REFERENCE
    static const vit_kernels table = VIT_KERNEL_TABLE(VIT_CPU_SCALAR, &vit_pairs_reference);
#else
    static const vit_kernels table = VIT_KERNEL_TABLE(VIT_CPU_SCALAR, NULL);
#endif
    return &table;
}
