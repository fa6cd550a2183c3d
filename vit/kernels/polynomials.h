/* Coefficients of the kernels' transcendental functions, highest power first, found by the Remez
 * exchange: tests/fixtures/polynomials.py derives and prints them. */
#ifndef VIT_KERNELS_POLYNOMIALS_H
#define VIT_KERNELS_POLYNOMIALS_H

/* ln 2 in two parts: n * VIT_LN2_HIGH is exact for |n| <= 256. */
#define VIT_LN2_HIGH 0x1.62e4p-1f
#define VIT_LN2_LOW 0x1.7f7d1cp-20f

/* exp(r), |r| <= ln 2 / 2; relative error 3.1e-09, in float arithmetic 6.2e-08. */
#define VIT_EXP_TERMS 7
static const float vit_exp_polynomial[VIT_EXP_TERMS] = {
    0x1.6a5250p-10f, 0x1.12396ep-7f, 0x1.5558aap-5f, 0x1.555492p-3f,
    0x1.fffffcp-2f,  0x1.000000p+0f, 0x1.000000p+0f,
};

/* The left tail of the normal distribution as a function of t >= 0, piece by piece: column i is a
 * polynomial in r = VIT_TAIL_STEPS t - i, |r| <= 1/2. The last piece, from t = 6.11 on, is 0:
 * there both functions are smaller than the errors below. */
#define VIT_TAIL_STEPS 2.375f
#define VIT_TAIL_END 6.27f
#define VIT_TAIL_TERMS 6

/* Phi(-t); in float arithmetic within 3e-08. */
static const float vit_tail_polynomial[VIT_TAIL_TERMS][16] = {
    {-0x1.0cc9b4p-13f, -0x1.460ddap-14f, 0x1.8d6dbap-16f, 0x1.4acc42p-14f, 0x1.062fd8p-14f,
     0x1.362ebep-16f, -0x1.4d643ap-17f, -0x1.f30dd8p-17f, -0x1.3c693ep-17f, -0x1.0d585ap-18f,
     -0x1.5496e2p-20f, -0x1.4d9fb8p-22f, -0x1.02c016p-24f, -0x1.420bf6p-27f, -0x1.44718ep-30f,
     0x0p+0f},
    {-0x1.75b854p-19f, -0x1.26e078p-11f, -0x1.6fc9f2p-11f, -0x1.b41b10p-12f, -0x1.37b7acp-15f,
     0x1.630812p-13f, 0x1.7f070ep-13f, 0x1.ddc37cp-14f, 0x1.aab876p-15f, 0x1.2381b2p-16f,
     0x1.39f3d8p-18f, 0x1.0f076cp-20f, 0x1.7afe4cp-23f, 0x1.b0341ap-26f, 0x1.93efe8p-29f, 0x0p+0f},
    {0x1.4552dcp-8f, 0x1.e9c426p-9f, 0x1.096612p-10f, -0x1.5cecaap-10f, -0x1.214040p-9f,
     -0x1.e6dea8p-10f, -0x1.1ff8d4p-10f, -0x1.03e0e2p-11f, -0x1.72463cp-13f, -0x1.a7fb08p-15f,
     -0x1.8a59fcp-17f, -0x1.2c0564p-19f, -0x1.773524p-22f, -0x1.830380p-25f, -0x1.4a1b44p-28f,
     0x0p+0f},
    {-0x1.7a7e80p-24f, 0x1.be80eep-7f, 0x1.563f92p-6f, 0x1.4992fap-6f, 0x1.d88e24p-7f,
     0x1.0a022cp-7f, 0x1.e19446p-9f, 0x1.62f3b0p-10f, 0x1.ad4634p-12f, 0x1.ac0020p-14f,
     0x1.60f83cp-16f, 0x1.e2b0f4p-19f, 0x1.121e18p-21f, 0x1.02ece4p-24f, 0x1.973876p-28f, 0x0p+0f},
    {-0x1.5803a4p-3f, -0x1.3ad514p-3f, -0x1.e2a268p-4f, -0x1.35d644p-4f, -0x1.4d2f22p-5f,
     -0x1.2c1530p-6f, -0x1.c4b980p-8f, -0x1.1e061ap-9f, -0x1.2eb1c6p-11f, -0x1.0c4b0cp-13f,
     -0x1.8e550cp-16f, -0x1.ef4ff6p-19f, -0x1.01ea48p-21f, -0x1.c1e87ap-25f, -0x1.48a48ep-28f,
     0x0p+0f},
    {0x1.000000p-1f, 0x1.58f164p-2f, 0x1.995292p-3f, 0x1.a6fa7cp-4f, 0x1.7968d4p-5f, 0x1.20eb32p-6f,
     0x1.79b3f6p-8f, 0x1.a412fcp-10f, 0x1.8c5cc4p-12f, 0x1.3c99f0p-14f, 0x1.ab7268p-17f,
     0x1.e710dap-20f, 0x1.d3e888p-23f, 0x1.7aa296p-26f, 0x1.01e6fep-29f, 0x0p+0f},
};

/* GELU'(-t); in float arithmetic within 8.1e-08. */
static const float vit_slope_polynomial[VIT_TAIL_TERMS][16] = {
    {-0x1.8da812p-11f, -0x1.8b474cp-12f, 0x1.4bed00p-12f, 0x1.11ec08p-11f, 0x1.d032e8p-13f,
     -0x1.741d30p-14f, -0x1.3dad2ep-13f, -0x1.30f9dap-14f, -0x1.aff934p-18f, 0x1.9f2912p-17f,
     0x1.2a2540p-17f, 0x1.d64c1ap-19f, 0x1.02ae34p-20f, 0x1.ab3634p-23f, 0x1.11fa58p-25f, 0x0p+0f},
    {-0x1.ae5e8ap-16f, -0x1.a287a8p-9f, -0x1.ac8d1ep-9f, -0x1.d660f2p-11f, 0x1.199e36p-10f,
     0x1.5a34dcp-10f, 0x1.47e15ap-11f, 0x1.8dc1e2p-15f, -0x1.10eb76p-13f, -0x1.a25ae6p-14f,
     -0x1.696546p-15f, -0x1.b85c66p-17f, -0x1.95b4c8p-19f, -0x1.23e414p-21f, -0x1.4e0542p-24f,
     0x0p+0f},
    {0x1.45658cp-6f, 0x1.9f4f9cp-7f, -0x1.a49624p-10f, -0x1.52908cp-7f, -0x1.338bdep-7f,
     -0x1.05d142p-8f, 0x1.886ef4p-17f, 0x1.3b51a8p-10f, 0x1.dce20ap-11f, 0x1.b2d3c2p-12f,
     0x1.1db9e4p-13f, 0x1.1f3354p-15f, 0x1.c648ecp-18f, 0x1.1f4802p-20f, 0x1.258056p-23f, 0x0p+0f},
    {-0x1.ef9646p-21f, 0x1.aab270p-5f, 0x1.1990fcp-4f, 0x1.8c3a6ep-5f, 0x1.12ed38p-6f,
     -0x1.cba6f2p-9f, -0x1.1ed0c0p-7f, -0x1.9ff370p-8f, -0x1.8a41eep-9f, -0x1.1531a4p-10f,
     -0x1.2ef094p-12f, -0x1.0750b2p-14f, -0x1.70f0acp-17f, -0x1.a43316p-20f, -0x1.874900p-23f,
     0x0p+0f},
    {-0x1.5803a2p-2f, -0x1.1eecbep-2f, -0x1.3781acp-3f, -0x1.f53b92p-6f, 0x1.16bae8p-5f,
     0x1.6cebb0p-5f, 0x1.effd78p-6f, 0x1.de28c6p-7f, 0x1.61a27ap-8f, 0x1.9e863cp-10f,
     0x1.87974ep-12f, 0x1.2d1ba2p-14f, 0x1.7b5890p-17f, 0x1.893d5ap-20f, 0x1.507c48p-23f, 0x0p+0f},
    {0x1.000000p-1f, 0x1.770db8p-3f, -0x1.253f54p-5f, -0x1.fa8852p-4f, -0x1.dda9d0p-4f,
     -0x1.2edfacp-4f, -0x1.24548cp-5f, -0x1.c00854p-7f, -0x1.15ec6ep-8f, -0x1.1a0c4ap-10f,
     -0x1.d73918p-13f, -0x1.4556d2p-15f, -0x1.7451e2p-18f, -0x1.61d4c6p-21f, -0x1.17a602p-24f,
     0x0p+0f},
};

#endif
