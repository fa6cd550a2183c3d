#include "vit/kernels/kernels.h"
#include <stdatomic.h>
#include <stdbool.h>

const vit_kernels *vit_kernels_choose(vit_cpu highest) {
    const vit_cpu here = vit_cpu_detect();
    const vit_kernels *best_first[] = {
        vit_kernels_amx(),     vit_kernels_avx512bf16(), vit_kernels_avx512(), vit_kernels_avx2(),
        vit_kernels_simd128(), vit_kernels_neon(),       vit_kernels_sse41()};
    for (size_t i = 0; i < sizeof best_first / sizeof *best_first; i++) {
        const vit_kernels *k = best_first[i];
        if (!k || k->cpu > highest || k->cpu > here) continue;
        if (k->cpu < VIT_CPU_AMX || !vit_cpu_tiles_missing()) return k;
    }
    return vit_kernels_scalar();
}

const vit_kernels *vit_kernels_with(vit_cpu highest, vit_bf16 bf16) {
    const bool tiles = bf16 > VIT_BF16_PAIRS, pairs = bf16 > VIT_BF16_ANY && !tiles;
    const vit_kernels *k =
        vit_kernels_choose(pairs && highest > VIT_CPU_AVX512BF16 ? VIT_CPU_AVX512BF16 : highest);
    return tiles && k->cpu <= VIT_CPU_SCALAR ? vit_kernels_scalar_tiles() : k;
}

size_t vit_panel(void) {
    static _Atomic size_t known;
    size_t panel = atomic_load_explicit(&known, memory_order_relaxed);
    if (panel > 0) return panel;
    panel = vit_kernels_choose(VIT_CPU_AVX512BF16)->tile.cols; /* that of AMX has the same */
    atomic_store_explicit(&known, panel, memory_order_relaxed);
    return panel;
}
