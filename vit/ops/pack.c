/* Weights in panels, as a matrix product reads them. */
#include "vit/base/size.h"
#include "vit/ops/gemm.h"
#include <string.h>

size_t vit_packed_size(size_t n, size_t k) {
    return vit_ceil_div(n, VIT_PANEL) * VIT_PANEL * vit_ceil_div(k, 2) * 2;
}

void vit_pack_transposed(const vit_exec *exec, float *packed, const float *w, size_t n, size_t k,
                         size_t row) {
    const vit_product_kernels *inner = vit_products_of(exec);
    const size_t panel = VIT_PANEL * vit_words(exec->precision, k);
    for (size_t j = 0; j < n; j += VIT_PANEL, packed += panel) {
        const size_t width = vit_min(VIT_PANEL, n - j);
        if (width < VIT_PANEL) memset(packed, 0, panel * sizeof *packed);
        inner->transpose(packed, VIT_PANEL, w + j * row, row, width, k);
    }
}

void vit_pack_rows(const vit_exec *exec, float *packed, const float *w, size_t n, size_t k,
                   size_t row) {
    const vit_product_kernels *inner = vit_products_of(exec);
    const size_t panel = VIT_PANEL * vit_words(exec->precision, k);
    for (size_t j = 0; j < n; j += VIT_PANEL, packed += panel)
        inner->copy_across(packed, VIT_PANEL, w + j, row, k, vit_min(VIT_PANEL, n - j));
}

void vit_pack_again(const vit_exec *exec, float *packed, const float *floats, size_t n, size_t k) {
    const vit_product_kernels *inner = vit_products_of(exec);
    const size_t panel = VIT_PANEL * vit_words(exec->precision, k);
    for (size_t j = 0; j < n; j += VIT_PANEL, packed += panel, floats += VIT_PANEL * k)
        inner->copy_across(packed, VIT_PANEL, floats, VIT_PANEL, k, VIT_PANEL);
}
