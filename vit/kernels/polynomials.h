/* Coefficients of the kernels' transcendental functions, highest power first, found by the Remez
 * exchange: tests/fixtures/polynomials.py derives and prints them. */
#ifndef VIT_KERNELS_POLYNOMIALS_H
#define VIT_KERNELS_POLYNOMIALS_H

/* ln 2 in two parts: n * VIT_LN2_HIGH is exact for |n| <= 256. */
#define VIT_LN2_HIGH 0x1.62e4p-1f
#define VIT_LN2_LOW 0x1.7f7d1cp-20f
#define VIT_INVERSE_SQRT_2PI 0x1.988454p-2f

/* exp(r), |r| <= ln 2 / 2; relative error 2e-9 before rounding. */
#define VIT_EXP_TERMS 7
static const float vit_exp_polynomial[VIT_EXP_TERMS] = {
    0x1.6ab286p-10f, 0x1.127402p-7f, 0x1.5558bcp-5f, 0x1.5553fep-3f,
    0x1.fffffap-2f,  0x1.000000p+0f, 0x1.000000p+0f,
};

/* R(t) = Phi(-t) exp(t^2 / 2) in u = (t - 2.5) / (t + 2.5), 0 <= t <= 14 (beyond, exp(-t^2 / 2) is
 * 0 in float); relative error 8e-8 before rounding. */
#define VIT_TAIL_END 14.0f
#define VIT_TAIL_CENTER 2.5f
#define VIT_TAIL_TERMS 9
static const float vit_tail_polynomial[VIT_TAIL_TERMS] = {
    -0x1.446990p-13f, -0x1.59ae6ep-12f, 0x1.a38c3ap-11f, 0x1.818b1ap-9f, -0x1.4f6a32p-8f,
    -0x1.9231b8p-6f,  0x1.cf66d0p-4f,   -0x1.d31644p-3f, 0x1.217254p-3f,
};

#endif
