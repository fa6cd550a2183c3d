#include "vit/kernels/dots.h"

#include "vit/kernels/dots.inc"

vit_dots *vit_dots_choose(vit_cpu highest) {
    const vit_cpu here = vit_cpu_detect(), most = here < highest ? here : highest;
    if (most >= VIT_CPU_AVX512 && vit_dots_avx512()) return vit_dots_avx512();
    if (most >= VIT_CPU_AVX2 && vit_dots_avx2()) return vit_dots_avx2();
    return dots;
}

vit_dots_best *vit_dots_best_choose(vit_cpu highest) {
    const vit_cpu here = vit_cpu_detect(), most = here < highest ? here : highest;
    if (most >= VIT_CPU_AVX512 && vit_dots_best_avx512()) return vit_dots_best_avx512();
    if (most >= VIT_CPU_AVX2 && vit_dots_best_avx2()) return vit_dots_best_avx2();
    return dots_best;
}
