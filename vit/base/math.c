#include "vit/base/math.h"

#include <math.h>
#include <stddef.h>

/* Everything here is +, -, *, /, fma, rint and scaling by powers of 2, in double and in the order
 * written. Constants in two parts: the first is so short that its product with any multiple that
 * occurs is exact, or is used in a single fma that is; the second is the rest. */
#define LN2_HIGH 0x1.62e42fefp-1 /* 33 bits */
#define LN2_LOW 0x1.473de6af278edp-34
#define HALF_PI_HIGH 0x1.921fb54442d18p+0
#define HALF_PI_LOW 0x1.1a62633145c07p-54

/* c[0] + c[1] x + ... + c[n - 1] x^(n - 1) */
static double polynomial(double x, const double *c, size_t n) {
    double sum = c[n - 1];
    for (size_t i = n - 1; i > 0; i--) sum = fma(sum, x, c[i - 1]);
    return sum;
}

#define POLYNOMIAL(x, c) polynomial(x, c, sizeof(c) / sizeof((c)[0]))

/* exp(x) = 2^n exp(r) with |r| <= ln(2) / 2; exp(r) - 1 - r by Taylor's series, whose first term
 * left out, r^14 / 14!, is below 2^-57. */
double vit_exp(double x) {
    static const double c[] = {
        1.0 / 2,     1.0 / 6,      1.0 / 24,      1.0 / 120,      1.0 / 720,       1.0 / 5040,
        1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800,
    };
    if (isnan(x)) return x;
    if (x > 710) return INFINITY;
    if (x < -746) return 0;
    double n = rint(x * (1 / (LN2_HIGH + LN2_LOW)));
    double r = fma(-n, LN2_LOW, x - n * LN2_HIGH);
    return ldexp(1 + fma(r * r, POLYNOMIAL(r, c), r), (int)n);
}

/* x = 2^n (1 + f) with 1 + f between sqrt(1/2) and sqrt(2). With s = f / (2 + f),
 *     log(1 + f) = 2 atanh(s) = 2 s + s p,    p = 2 s^2 / 3 + 2 s^4 / 5 + ...
 * As 2 s = f - f s and f s = h - h s with h = f^2 / 2, this is f - (h - s (h + p)): f is exact,
 * and what is taken from it is smaller. */
double vit_log(double x) {
    static const double c[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                               2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
    if (isnan(x) || x < 0) return NAN;
    if (x == 0) return -INFINITY;
    if (isinf(x)) return x;
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2;
        exponent--;
    }
    double n = exponent;
    double f = m - 1;
    double s = f / (2 + f);
    double p = s * s * POLYNOMIAL(s * s, c);
    double h = 0.5 * f * f;
    double correction = h - fma(s, h + p, n * LN2_LOW);
    return n * LN2_HIGH - (correction - f);
}

/* x = quarters * pi/2 + r + low with |r| <= pi/4; quarters modulo 4. */
static int reduce(double x, double *r, double *low) {
    double n = rint(x * (1 / HALF_PI_HIGH));
    /* Exact: x and the product are multiples of 2^-53, their difference is below 1. */
    double high = fma(-n, HALF_PI_HIGH, x);
    *r = fma(-n, HALF_PI_LOW, high);
    *low = fma(-n, HALF_PI_LOW, high - *r);
    return (int)lrint(n) & 3;
}

/* Taylor's series; the terms left out are below r^19 / 19! < 2^-63. */
static double sine(double r, double low) {
    static const double c[] = {
        -1.0 / 6,        1.0 / 120,        -1.0 / 5040,          1.0 / 362880,
        -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000,
    };
    double square = r * r;
    return r + fma(r * square, POLYNOMIAL(square, c), low);
}

/* The terms left out are below r^18 / 18! < 2^-58. What 1 - r^2 / 2 loses is added again. */
static double cosine(double r, double low) {
    static const double c[] = {
        1.0 / 24,        -1.0 / 720,         1.0 / 40320,          -1.0 / 3628800,
        1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000,
    };
    double square = r * r;
    double half = 0.5 * square;
    double sum = 1 - half;
    double lost = (1 - sum) - half;
    return sum + (lost + fma(square * square, POLYNOMIAL(square, c), -r * low));
}

/* sin(x + shift * pi/2) */
static double sine_shifted(double x, int shift) {
    if (!(fabs(x) <= 1e5)) return NAN;
    double r, low;
    int quarter = (reduce(x, &r, &low) + shift) & 3;
    double value = quarter % 2 == 0 ? sine(r, low) : cosine(r, low);
    return quarter < 2 ? value : -value;
}

double vit_sin(double x) {
    return sine_shifted(x, 0);
}

double vit_cos(double x) {
    return sine_shifted(x, 1);
}

double vit_triangle(double x) {
    x = fabs(x);
    return x < 1 ? 1 - x : 0;
}

double vit_cubic(double x, double a) {
    x = fabs(x);
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

void vit_wilson(double *low, double *high, size_t right, size_t count) {
    vit_wilson_share(low, high, (double)right / (double)count, (double)count);
}

void vit_wilson_share(double *low, double *high, double p, double n) {
    const double z = 1.959963984540054;
    const double middle = p + z * z / (2 * n);
    const double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    *low = fmax(0, (middle - half) / (1 + z * z / n));
    *high = fmin(1, (middle + half) / (1 + z * z / n));
}
