#include "vit/base/order.h"

#include "vit/base/fpmode.h"
#include "vit/vit.h"
#include <string.h>

void vit_top_k(const float *values, size_t count, size_t k, size_t *indices) {
    VIT_ENTRY;
    for (size_t i = 0, held = 0; i < count && k > 0; i++) {
        size_t place = held < k ? held++ : k;
        while (place > 0 && vit_comes_before(values, i, indices[place - 1])) {
            if (place < k) indices[place] = indices[place - 1];
            place--;
        }
        if (place < k) indices[place] = i;
    }
}

#define COMPARE(name, type)                                    \
    int name(const void *a, const void *b) {                   \
        const type x = *(const type *)a, y = *(const type *)b; \
        return (x > y) - (x < y);                              \
    }
COMPARE(vit_compare_ids, uint32_t)
COMPARE(vit_compare_sizes, size_t)
COMPARE(vit_compare_floats, float)
COMPARE(vit_compare_doubles, double)

int vit_compare_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

size_t vit_count_below(const double *values, size_t count, double x, bool up_to) {
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (values[middle] < x || (up_to && values[middle] <= x))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
