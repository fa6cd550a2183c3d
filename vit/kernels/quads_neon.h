/* Products of 8-bit integers for AArch64 whose processor has SDOT (vit_cpu_has_vnni); all functions
 * NULL where the compiler cannot make them. */
#ifndef VIT_KERNELS_QUADS_NEON_H
#define VIT_KERNELS_QUADS_NEON_H

#include "vit/kernels/kernels.h"

extern const vit_product_kernels vit_quads_neondot;

#endif
