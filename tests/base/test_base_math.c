#include <float.h>
#include <math.h>
#include <string.h>

#include "tests/support/unit.h"
#include "vit/base/fused.h"
#include "vit/base/math.h"
#include "vit/base/random.h"

typedef struct point {
    double x, y;
} point;

/* Correctly rounded, by mpmath with 300 bits. */
static const point exp_points[] = {
    {1, 0x1.5bf0a8b145769p+1},
    {-1, 0x1.78b56362cef38p-2},
    {0.5, 0x1.a61298e1e069cp+0},
    {0x1.56e1fc2f8f359p-997, 1},
    {-0x1.62e42fefa39efp-2, 0x1.6a09e667f3bcdp-1},
    {0x1.62e42fefa39efp-2, 0x1.6a09e667f3bccp+0},
    {0x1.5e1p+9, 0x1.0c24ed83b8e53p+1010},
    {-0x1.5e1p+9, 0x1.e8cfc0420616bp-1011},
    {0x1.62e42fefa39efp+9, 0x1.fffffffffff2ap+1023},
    {-0x1.74385446d71c3p+9, 0x1p-1074},
    {-0x1.7490a3d70a3d7p+9, 0x1p-1074},
    {-0x1.684p+9, 0x0.00005cf08fffp-1022},
    {0x1.12e0be826d695p-30, 0x1.000000044b83p+0},
    {0x1.2a66666666666p+5, 0x1.c19bbcf406a4ep+53},
};

static const point log_points[] = {
    {2, 0x1.62e42fefa39efp-1},
    {0.5, -0x1.62e42fefa39efp-1},
    {10, 0x1.26bb1bbb55516p+1},
    {0x1.0000000000001p+0, 0x1.fffffffffffffp-53},
    {0x1.fffffffffffffp-1, -0x1p-53},
    {0x1.6a09e667f3bccp-1, -0x1.62e42fefa39f1p-2},
    {0x1.6a09e667f3bcdp-1, -0x1.62e42fefa39eep-2},
    {0x1.6a09e667f3bcdp+0, 0x1.62e42fefa39fp-2},
    {0x1.6a09e667f3bcbp+0, 0x1.62e42fefa39ebp-2},
    {0x1.fffffffffffffp+1023, 0x1.62e42fefa39efp+9},
    {0x1p-1074, -0x1.74385446d71c3p+9},
    {0x1p-1022, -0x1.6232bdd7abcd2p+9},
    {3, 0x1.193ea7aad030bp+0},
    {0x1.b7cdfd9d7bdbbp-34, -0x1.7069e2aa2aa5bp+4},
};

static const struct {
    double x, sine, cosine;
} circle_points[] = {
    {1, 0x1.aed548f090ceep-1, 0x1.14a280fb5068cp-1},
    {0.5, 0x1.eaee8744b05fp-2, 0x1.c1528065b7d5p-1},
    {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53, -1},
    {0x1.921fb54442d18p+0, 1, 0x1.1a62633145c07p-54},
    {0x1.921fb54442d18p-1, 0x1.6a09e667f3bccp-1, 0x1.6a09e667f3bcdp-1},
    {0x1.921fb54442d19p-1, 0x1.6a09e667f3bcdp-1, 0x1.6a09e667f3bccp-1},
    {-2.5, -0x1.326af0dcfcab1p-1, -0x1.9a2f7ef858b7dp-1},
    {0x1.921fb54442d18p+2, -0x1.1a62633145c07p-52, 1},
    {0x1.5798ee2308c3ap-27, 0x1.5798ee2308c3ap-27, 1},
    {99999, 0x1.b8727670dd45p-1, -0x1.050e628324337p-1},
    {-100000, -0x1.24daa9c527e96p-5, -0x1.ffac3841b3da7p-1},
    {11, -0x1.fffeb762e93ebp-1, 0x1.220ae41ee2fdfp-8},
    {355, -0x1.f9bd0307d1de3p-16, -0x1.fffffffc18e4cp-1},
    {52174, -0x1.ffffffffdea62p-1, 0x1.719a47d413c35p-18},
    {78256, -0x1.c1dcc1cd276bdp-1, 0x1.e8f30cb9134d8p-2},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Units in the last place of `want` that `got` is away; NaN when either is. */
static double ulps(double got, long double want) {
    if (isinf(got) && got == (double)want) return 0;
    int exponent;
    frexpl(want, &exponent);
    exponent = exponent < -1021 ? -1021 : exponent;
    return (double)(fabsl(got - want) / ldexpl(1, exponent - 53));
}

static void test_exp_and_log_at_known_points(void **state) {
    for (size_t i = 0; i < COUNT(exp_points); i++)
        assert_true(ulps(vit_exp(exp_points[i].x), exp_points[i].y) <= 1);
    for (size_t i = 0; i < COUNT(log_points); i++)
        assert_true(ulps(vit_log(log_points[i].x), log_points[i].y) <= 1);
    assert_true(vit_exp(0) == 1 && vit_exp(-0.0) == 1);
    assert_true(vit_log(1) == 0);
}

static void test_sin_and_cos_at_known_points(void **state) {
    for (size_t i = 0; i < COUNT(circle_points); i++) {
        const double x = circle_points[i].x;
        assert_true(fabs(vit_sin(x) - circle_points[i].sine) < 2e-16);
        assert_true(fabs(vit_cos(x) - circle_points[i].cosine) < 2e-16);
        assert_true(vit_sin(-x) == -vit_sin(x));
        assert_true(vit_cos(-x) == vit_cos(x));
    }
    /* Near its zeros the sine is known to many digits, not only to 2e-16. */
    assert_true(ulps(vit_sin(0x1.921fb54442d18p+1), 0x1.1a62633145c07p-53L) <= 1);
    assert_true(ulps(vit_sin(355), -0x1.f9bd0307d1de3p-16L) <= 1);
    assert_true(vit_sin(0) == 0 && vit_cos(0) == 1);
}

static void test_edges(void **state) {
    assert_true(isnan(vit_exp(NAN)));
    assert_true(vit_exp(INFINITY) == INFINITY && vit_exp(-INFINITY) == 0);
    assert_true(vit_exp(709.79) == INFINITY && vit_exp(1e308) == INFINITY);
    assert_true(vit_exp(-745.2) == 0 && vit_exp(-1e308) == 0);
    assert_true(vit_exp(709.78) < INFINITY && vit_exp(-745.1) > 0);
    assert_true(isnan(vit_log(NAN)) && isnan(vit_log(-1)) && isnan(vit_log(-INFINITY)));
    assert_true(vit_log(0) == -INFINITY && vit_log(-0.0) == -INFINITY);
    assert_true(vit_log(INFINITY) == INFINITY);
    static const double outside[] = {NAN, INFINITY, -INFINITY, 100000.1, -1e300};
    for (size_t i = 0; i < COUNT(outside); i++)
        assert_true(isnan(vit_sin(outside[i])) && isnan(vit_cos(outside[i])));
    assert_false(isnan(vit_sin(1e5)) || isnan(vit_cos(-1e5)));
}

static double worst(double so_far, double error) {
    return isnan(so_far) || error <= so_far ? so_far : error; /* NaN stays */
}

/* Against the system's libm in long double, where that knows 11 bits more. */
static void test_errors_over_the_whole_range(void **state) {
    if (LDBL_MANT_DIG < 64) skip();
    vit_random r = vit_random_start(1, VIT_RANDOM_TEST, 0, 0);
    double exp_error = 0, log_error = 0, circle_error = 0;
    for (int i = 0; i < 300000; i++) {
        const double u = vit_random_uniform(&r);
        const double exponents[] = {-746 + u * 1455.7, -746 + u * 38, u - 0.5};
        for (int j = 0; j < 3; j++)
            exp_error = worst(exp_error, ulps(vit_exp(exponents[j]), expl(exponents[j])));
        const double any = ldexp(1 + u, (int)vit_random_below(&r, 2098) - 1074);
        const double numbers[] = {any, 0.5 + u * 1.5, 1 + (u - 0.5) * 1e-6};
        for (int j = 0; j < 3; j++)
            log_error = worst(log_error, ulps(vit_log(numbers[j]), logl(numbers[j])));
        const double angles[] = {(u - 0.5) * 2e5, (u - 0.5) * 20, (u - 0.5) * 1e-3};
        for (int j = 0; j < 3; j++) {
            const double x = angles[j];
            circle_error = worst(circle_error, (double)fabsl(vit_sin(x) - sinl(x)));
            circle_error = worst(circle_error, (double)fabsl(vit_cos(x) - cosl(x)));
        }
    }
    print_message("exp %.3f ulp, log %.3f ulp, sin and cos %.3g\n", exp_error, log_error,
                  circle_error);
    assert_true(exp_error <= 1.1);
    assert_true(log_error <= 1.1);
    assert_true(circle_error < 1.2e-16);
}

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return isnan(x) ? 0x7fc00000 : bits;
}

/* A float with one of a few exponents around `middle`, and few or all bits of its fraction: sums
 * then cancel, and fall on ties or beside them, more often than by chance. */
static float near(vit_random *r, int middle, int spread) {
    const uint32_t bits = vit_random_u32(r), kept = 0x7fffffu << vit_random_below(r, 23);
    const uint32_t fraction = bits & kept & 0x7fffff;
    const int exponent = middle - spread + (int)vit_random_below(r, 2 * (uint32_t)spread + 1);
    const uint32_t field = (uint32_t)(exponent < 0 ? 0 : exponent > 254 ? 254 : exponent);
    return float_of(vit_random_u32(r) << 31 | field << 23 | fraction);
}

/* a b is a half of the last place of c, or a hundred millionth more or less: a = 1 + d, b = 1 - d,
 * and 2^n. Or a b is a tie by itself, an odd number of 25 bits, and c is small beside it. Results
 * are of any size, some below the smallest normal float. */
static void draw_beside_a_tie(vit_random *r, float x[3]) {
    const int place = 1 - (int)vit_random_below(r, 149), sign = vit_random_below(r, 2) ? 1 : -1;
    const uint32_t last = vit_random_below(r, 1u << 12), first = vit_random_below(r, 1u << 23);
    if (vit_random_below(r, 2)) {
        const int down = 12 + (int)vit_random_below(r, 12);
        const double d = ldexp(1 + vit_random_below(r, 3), -down);
        x[0] = (float)ldexp(1 + d, place / 2 - 12);
        x[1] = (float)ldexp(sign * (1 - d), place - place / 2 - 12);
        x[2] = (float)ldexp(1 + ldexp(first, -23), place + (int)vit_random_below(r, 2) - 1);
    } else {
        x[0] = (float)ldexp(1 + 2 * last, place / 2);
        x[1] = (float)ldexp(4097 + 2 * last, place - place / 2);
        x[2] = (float)ldexp(sign * (1 + ldexp(first, -23)), place - 20 - (int)first % 40);
    }
}

static void draw_triple(vit_random *r, float x[3]) {
    const int kind = (int)vit_random_below(r, 5);
    const int middle = kind == 1 ? 127 : kind == 2 ? 64 : 190;
    if (kind == 4) draw_beside_a_tie(r, x);
    for (int i = 0; i < 3 && kind < 4; i++) {
        if (kind == 0)
            x[i] = float_of(vit_random_u32(r));
        else if (i < 2)
            x[i] = near(r, middle, 3);
        else
            x[i] = near(r, 2 * middle - 127, 28);
    }
    if (vit_random_below(r, 8) == 0) x[2] = -x[0] * x[1]; /* what is left is the rounding */
}

/* Where the C library's fmaf is exact, that is what it is compared with; everywhere, with what came
 * out there. Rounding to double and then to float gets 171,198 of them wrong. */
static void test_fused_multiply_add_without_the_instruction(void **state) {
    const uint64_t expected = 1433509068268794255u;
    vit_random r = vit_random_start(1, VIT_RANDOM_TEST, 0, 1);
    uint64_t hash = 14695981039346656037u; /* FNV-1a over words */
    size_t other = 0;
    for (int i = 0; i < 10000000; i++) {
        float x[3] = {0};
        draw_triple(&r, x);
        const uint32_t bits = bits_of(vit_fused_by_double(x[0], x[1], x[2]));
        hash = (hash ^ bits) * 1099511628211u;
#ifndef __wasm__
        other += bits != bits_of(fmaf(x[0], x[1], x[2]));
#endif
    }
    assert_int_equal(other, 0);
    assert_int_equal(hash, expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exp_and_log_at_known_points),
        cmocka_unit_test(test_sin_and_cos_at_known_points),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_fused_multiply_add_without_the_instruction),
        cmocka_unit_test(test_errors_over_the_whole_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
