/* fma of doubles for posix.h: that of mingw-w64 is not rounded once. */
#ifdef _WIN32

#include "vit/base/windows/posix.h"

typedef struct pair {
    double high, low;
} pair;

/* a + b = high + low, exactly (Knuth). */
static pair sum_of(double a, double b) {
    const double sum = a + b, part = sum - a;
    return (pair){sum, (a - (sum - part)) + (b - part)};
}

/* A double of the upper 26 bits, and the rest (Veltkamp). */
static pair halves_of(double x) {
    const double scaled = 134217729 * x, high = scaled - (scaled - x);
    return (pair){high, x - high};
}

/* a b = high + low, exactly (Dekker). */
static pair product_of(double a, double b) {
    const double high = a * b;
    const pair x = halves_of(a), y = halves_of(b);
    return (pair){high,
                  x.low * y.low - (((high - x.high * y.high) - x.low * y.high) - x.high * y.low)};
}

/* As vit/base/fused.h: the last sum but one is rounded to odd (Boldo and Melquiond). Exact where
 * nothing overflows or is denormal on the way; the sources only have such numbers. */
double vit_posix_fma(double a, double b, double c) {
    const pair product = product_of(a, b);
    const pair low = sum_of(c, product.low), high = sum_of(product.high, low.high);
    if (!isfinite(high.high) || !isfinite(high.low) || !isfinite(product.low)) return a * b + c;
    const pair rest = sum_of(high.low, low.low);
    const double side = rest.low * rest.high;
    uint64_t bits;
    double odd;
    memcpy(&bits, &rest.high, sizeof bits);
    bits = (bits - (side < 0)) | (side < 0 || side > 0);
    memcpy(&odd, &bits, sizeof odd);
    return high.high + odd;
}

#endif
