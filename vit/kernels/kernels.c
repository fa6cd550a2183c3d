#include "vit/kernels/kernels.h"
#include <stdatomic.h>

const vit_kernels *vit_kernels_choose(vit_cpu highest) {
    const vit_cpu here = vit_cpu_detect();
    const vit_kernels *best_first[] = {vit_kernels_amx(),     vit_kernels_avx512bf16(),
                                       vit_kernels_avx512(),  vit_kernels_avx2(),
                                       vit_kernels_simd128(), vit_kernels_neon()};
    for (size_t i = 0; i < sizeof best_first / sizeof *best_first; i++) {
        const vit_kernels *k = best_first[i];
        if (k && k->cpu <= highest && k->cpu <= here) return k;
    }
    return vit_kernels_scalar();
}

size_t vit_panel(void) {
    static _Atomic size_t known;
    size_t panel = atomic_load_explicit(&known, memory_order_relaxed);
    if (panel > 0) return panel;
    panel = vit_kernels_choose(VIT_CPU_COUNT - 1)->tile.cols;
    atomic_store_explicit(&known, panel, memory_order_relaxed);
    return panel;
}
