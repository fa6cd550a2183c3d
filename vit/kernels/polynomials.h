/* Coefficients of the kernels' transcendental functions, highest power first, found by the Remez
 * exchange: tests/fixtures/polynomials.py derives and prints them. */
#ifndef VIT_KERNELS_POLYNOMIALS_H
#define VIT_KERNELS_POLYNOMIALS_H

/* ln 2 in two parts: n * VIT_LN2_HIGH is exact for |n| <= 256. */
#define VIT_LN2_HIGH 0x1.62e4p-1f
#define VIT_LN2_LOW 0x1.7f7d1cp-20f
#define VIT_INVERSE_SQRT_2PI 0x1.988454p-2f

/* exp(r), |r| <= ln 2 / 2; relative error 3.1e-09, in float arithmetic 6.2e-08. */
#define VIT_EXP_TERMS 7
static const float vit_exp_polynomial[VIT_EXP_TERMS] = {
    0x1.6a5250p-10f, 0x1.12396ep-7f, 0x1.5558aap-5f, 0x1.555492p-3f,
    0x1.fffffcp-2f,  0x1.000000p+0f, 0x1.000000p+0f,
};

/* R(t) = Phi(-t) exp(t^2 / 2) in u = (t - 2.5) / (t + 2.5), 0 <= t <= 14 (beyond, exp(-t^2 / 2) is
 * 0 in float); relative error 9.5e-08, in float arithmetic 5.5e-07. Together with exp: Phi within
 * 1.5e-07, GELU within 2.4e-07 for |x| < 4 and its derivative within 1.7e-07, absolute. */
#define VIT_TAIL_END 14.0f
#define VIT_TAIL_CENTER 2.5f
#define VIT_TAIL_TERMS 9
static const float vit_tail_polynomial[VIT_TAIL_TERMS] = {
    -0x1.4421eep-13f, -0x1.5a5c2ap-12f, 0x1.a34080p-11f, 0x1.81a46ap-9f, -0x1.4f63cap-8f,
    -0x1.9232dcp-6f,  0x1.cf66bep-4f,   -0x1.d31640p-3f, 0x1.217254p-3f,
};

#endif
