/* Sizes and counts. */
#ifndef VIT_BASE_SIZE_H
#define VIT_BASE_SIZE_H

#include <stddef.h>

static inline size_t vit_min(size_t a, size_t b) {
    return a < b ? a : b;
}

static inline size_t vit_max(size_t a, size_t b) {
    return a > b ? a : b;
}

/* a / b rounded up; a + b must fit. */
static inline size_t vit_ceil_div(size_t a, size_t b) {
    return (a + b - 1) / b;
}

/* The elements of an array, which must be no pointer. */
#define VIT_COUNT(array) (sizeof(array) / sizeof *(array))

/* Stops the build unless the table has a row for every value of an enum. */
#define VIT_CHECK_ROWS(table, count) \
    _Static_assert(VIT_COUNT(table) == (count), "one row for every value: " #table)

#endif
