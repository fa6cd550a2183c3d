/* The order of answers: larger values first, of equal ones the smaller index; NaN comes last. */
#ifndef VIT_BASE_ORDER_H
#define VIT_BASE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether values[a] comes before values[b]. */
static inline bool vit_comes_before(const float *values, size_t a, size_t b) {
    const float x = values[a], y = values[b];
    if (x != x || y != y) return y != y && (x == x || a < b);
    return x > y || (x == y && a < b);
}

/* For qsort of numbers, of 32 bits, of type size_t, ...: the smallest first. */
int vit_compare_ids(const void *a, const void *b);
int vit_compare_sizes(const void *a, const void *b);
int vit_compare_floats(const void *a, const void *b);
int vit_compare_doubles(const void *a, const void *b);
/* The same of pointers to texts. */
int vit_compare_texts(const void *a, const void *b);

/* How many of ascending values are below x, or `up_to` it. */
size_t vit_count_below(const double *values, size_t count, double x, bool up_to);

#endif
