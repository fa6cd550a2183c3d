/* Compiled with its own flags (see the Makefile), as kernels_avx512.c. */
#include "vit/kernels/dots.h"

#ifdef __AVX512BW__

#include "vit/kernels/dots.inc"

vit_dots *vit_dots_avx512(void) {
    return dots;
}

vit_dots_best *vit_dots_best_avx512(void) {
    return dots_best;
}

#else

vit_dots *vit_dots_avx512(void) {
    return NULL;
}

vit_dots_best *vit_dots_best_avx512(void) {
    return NULL;
}

#endif
