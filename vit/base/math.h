/* Transcendental functions in double for tables, schedules, initial weights and losses. Those of
 * the system's libm differ between machines, as it chooses variants by processor; these use only
 * operations that IEEE 754 defines to the bit. Errors: at most 2 units in the last place for exp
 * and log, 2e-16 absolute for sin and cos with |x| <= 1e5.
 */
#ifndef VIT_BASE_MATH_H
#define VIT_BASE_MATH_H

#include <stddef.h>

double vit_exp(double x);
double vit_log(double x); /* -infinity for 0, NaN below */
double vit_sin(double x); /* |x| <= 1e5; NaN beyond */
double vit_cos(double x);

/* Interpolation kernels: a triangle, which is 0 for |x| >= 1, and cubic convolution with the slope
 * a at 1, which is 0 for |x| >= 2 (Keys: Cubic Convolution Interpolation for Digital Image
 * Processing). */
double vit_triangle(double x);
double vit_cubic(double x, double a);

/* Wilson's interval of 95 % for a share of `right` out of `count` (Wilson: Probable Inference, the
 * Law of Succession, and Statistical Inference). */
void vit_wilson(double *low, double *high, size_t right, size_t count);

/* The same for a share of `count` independent ones. */
void vit_wilson_share(double *low, double *high, double share, double count);

#define VIT_PI 3.14159265358979323846

#endif
