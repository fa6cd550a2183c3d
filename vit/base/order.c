#include "vit/base/order.h"
#include "vit/vit.h"

void vit_top_k(const float *values, size_t count, size_t k, size_t *indices) {
    for (size_t i = 0, held = 0; i < count && k > 0; i++) {
        size_t place = held < k ? held++ : k;
        while (place > 0 && vit_comes_before(values, i, indices[place - 1])) {
            if (place < k) indices[place] = indices[place - 1];
            place--;
        }
        if (place < k) indices[place] = i;
    }
}

int vit_compare_ids(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}
