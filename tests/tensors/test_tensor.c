/* Element types: names, sizes, and the conversion to float32, exact for every bit pattern. */
#include <math.h>
#include <string.h>

#include "tests/support/unit.h"
#include "vit/tensors/safetensors.h"

static vit_tensor vector(vit_dtype dtype, const void *data, size_t count) {
    return (vit_tensor){
        .name = "w", .dtype = dtype, .dims = 1, .shape = {count}, .count = count, .data = data};
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void test_names_and_sizes(void **state) {
    static const char *const names[] = {"F64", "F32", "F16", "BF16", "I64",
                                        "I32", "I16", "I8",  "U8",   "BOOL"};
    static const size_t sizes[] = {8, 4, 2, 2, 8, 4, 2, 1, 1, 1};
    for (vit_dtype dtype = VIT_F64; dtype <= VIT_BOOL; dtype++) {
        assert_string_equal(vit_dtype_name(dtype), names[dtype]);
        assert_int_equal(vit_dtype_size(dtype), sizes[dtype]);
    }
}

/* What IEEE 754 says the half `bits` is; NaN apart. */
static double half_value(unsigned bits) {
    int exponent = (int)(bits >> 10 & 31);
    double fraction = bits & 1023, sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 31) return sign * (double)INFINITY;
    return exponent == 0 ? sign * ldexp(fraction, -24)
                         : sign * ldexp(1024 + fraction, exponent - 25);
}

static void test_every_half(void **state) {
    static uint16_t halves[65536];
    static float values[65536];
    for (unsigned i = 0; i < 65536; i++) halves[i] = (uint16_t)i;
    vit_tensor tensor = vector(VIT_F16, halves, 65536);
    assert_int_equal(vit_tensor_floats(&tensor, values, NULL), VIT_OK);
    for (unsigned i = 0; i < 65536; i++) {
        bool nan = (i & 0x7c00) == 0x7c00 && (i & 0x3ff) != 0;
        uint32_t expected = nan ? (i & 0x8000) << 16 | 0x7f800000 | (i & 0x3ff) << 13
                                : bits_of((float)half_value(i));
        if (bits_of(values[i]) != expected)
            fail_msg("half 0x%04x is 0x%08x, expected 0x%08x", i, bits_of(values[i]), expected);
    }
}

static void test_every_bfloat16(void **state) {
    static uint16_t shorts[65536];
    static float values[65536];
    for (unsigned i = 0; i < 65536; i++) shorts[i] = (uint16_t)i;
    vit_tensor tensor = vector(VIT_BF16, shorts, 65536);
    assert_int_equal(vit_tensor_floats(&tensor, values, NULL), VIT_OK);
    for (unsigned i = 0; i < 65536; i++) assert_int_equal(bits_of(values[i]), i << 16);
    assert_true(values[0x3fc0] == 1.5f && values[0x0001] == ldexpf(1, -133));
}

static void test_float32_keeps_its_bits(void **state) {
    const uint32_t bits[] = {0x80000000, 1, 0x7f800001, 0xffffffff, 0x3dcccccd, 0xff800000};
    float values[6];
    vit_tensor tensor = vector(VIT_F32, bits, 6);
    assert_int_equal(vit_tensor_floats(&tensor, values, NULL), VIT_OK);
    assert_memory_equal(values, bits, sizeof bits);
}

static void test_float64_is_rounded(void **state) {
    const double data[] = {1.5,
                           -0.0,
                           0.1,
                           1e-320,
                           1 + 0x1p-24,
                           1 + 0x3p-24,
                           -0x1.fffffep127,
                           (double)INFINITY,
                           (double)-INFINITY,
                           (double)NAN};
    const float expected[] = {1.5f,     -0.0f,    0.1f, 0, 1, 1 + 0x1p-22f, -0x1.fffffep127f,
                              INFINITY, -INFINITY};
    float values[10];
    vit_tensor tensor = vector(VIT_F64, data, 10);
    assert_int_equal(vit_tensor_floats(&tensor, values, NULL), VIT_OK);
    assert_memory_equal(values, expected, sizeof expected);
    assert_true(isnan(values[9]));
}

static void test_integers(void **state) {
    const int64_t i64[] = {0, -1, 16777216, -16777216, 16777218, INT64_C(1) << 62, INT64_MIN};
    const int32_t i32[] = {INT32_MIN, 7, -16777215};
    const int16_t i16[] = {INT16_MIN, INT16_MAX};
    const int8_t i8[] = {-128, 127};
    const uint8_t u8[] = {0, 255, 128};
    const vit_tensor tensors[] = {vector(VIT_I64, i64, 7), vector(VIT_I32, i32, 3),
                                  vector(VIT_I16, i16, 2), vector(VIT_I8, i8, 2),
                                  vector(VIT_U8, u8, 3)};
    const float expected[][7] = {{0, -1, 16777216, -16777216, 16777218, 0x1p62f, -0x1p63f},
                                 {-0x1p31f, 7, -16777215},
                                 {-32768, 32767},
                                 {-128, 127},
                                 {0, 255, 128}};
    for (size_t t = 0; t < 5; t++) {
        float values[7] = {0};
        assert_int_equal(vit_tensor_floats(&tensors[t], values, NULL), VIT_OK);
        assert_memory_equal(values, expected[t], sizeof values);
    }
}

static void refused(vit_dtype dtype, const void *data, size_t count, const char *message) {
    float values[4];
    vit_error error;
    vit_tensor tensor = vector(dtype, data, count);
    assert_int_equal(vit_tensor_floats(&tensor, values, &error), VIT_ERROR_UNSUPPORTED);
    assert_string_equal(error.message, message);
}

static void test_refuses_what_float32_cannot_hold(void **state) {
    refused(VIT_BOOL, (const uint8_t[]){1}, 1, "tensor 'w' is of type BOOL, expected numbers");
    refused(VIT_I32, (const int32_t[]){1, 16777217}, 2,
            "tensor 'w': element 1 of type I32 is 16777217, expected a number that float32 can "
            "hold");
    refused(VIT_I64, (const int64_t[]){INT64_MAX}, 1,
            "tensor 'w': element 0 of type I64 is 9223372036854775807, expected a number that "
            "float32 can hold");
    refused(VIT_I64, (const int64_t[]){0, 0, INT64_MIN + 1}, 3,
            "tensor 'w': element 2 of type I64 is -9223372036854775807, expected a number that "
            "float32 can hold");
    refused(VIT_F64, (const double[]){1, -1e39}, 2,
            "tensor 'w': element 1 of type F64 is -1e+39, expected a number that float32 can hold");
}

static void test_unaligned_data(void **state) {
    static const vit_dtype dtypes[] = {VIT_F64, VIT_F32, VIT_F16, VIT_BF16,
                                       VIT_I64, VIT_I32, VIT_I16};
    const double f64[] = {-2, 3};
    const float f32[] = {-2, 3};
    const uint16_t f16[] = {0xc000, 0x4200}, bf16[] = {0xc000, 0x4040};
    const int64_t i64[] = {-2, 3};
    const int32_t i32[] = {-2, 3};
    const int16_t i16[] = {-2, 3};
    const void *const data[] = {f64, f32, f16, bf16, i64, i32, i16};
    for (size_t d = 0; d < 7; d++) {
        _Alignas(8) unsigned char buffer[1 + sizeof f64];
        memcpy(buffer + 1, data[d], 2 * vit_dtype_size(dtypes[d]));
        vit_tensor tensor = vector(dtypes[d], buffer + 1, 2);
        float values[2];
        assert_int_equal(vit_tensor_floats(&tensor, values, NULL), VIT_OK);
        assert_true(values[0] == -2 && values[1] == 3);
    }
}

/* ---- float32 as elements ---- */

static uint16_t encode(vit_dtype dtype, float value) {
    uint16_t element = 0xdead;
    vit_tensor_encode(&element, dtype, &value, 1);
    return element;
}

static bool is_nan_half(uint16_t half) {
    return (half & 0x7c00) == 0x7c00 && (half & 0x3ff) != 0;
}

/* Every half and every number halfway between two, and just beside that. */
static void test_encodes_every_half(void **state) {
    for (uint32_t h = 0; h < 0x7c00; h++) {
        const uint16_t halves[2] = {(uint16_t)h, (uint16_t)(h + 1)};
        vit_tensor tensor = vector(VIT_F16, halves, 2);
        float x[2];
        assert_int_equal(vit_tensor_floats(&tensor, x, NULL), VIT_OK);
        assert_int_equal(encode(VIT_F16, x[0]), h);
        assert_int_equal(encode(VIT_F16, -x[0]), h | 0x8000);
        if (h + 1 == 0x7c00) continue; /* beyond the largest: below */
        const float middle = x[0] + (x[1] - x[0]) / 2;
        assert_int_equal(encode(VIT_F16, middle), h + (h & 1));
        assert_int_equal(encode(VIT_F16, nextafterf(middle, 0)), h);
        assert_int_equal(encode(VIT_F16, nextafterf(middle, INFINITY)), h + 1);
    }
    assert_int_equal(encode(VIT_F16, INFINITY), 0x7c00);
    assert_int_equal(encode(VIT_F16, -INFINITY), 0xfc00);
    assert_true(is_nan_half(encode(VIT_F16, NAN)));
    assert_int_equal(encode(VIT_F16, 65519.996f), 0x7bff);
}

static void test_refuses_what_a_half_cannot_hold(void **state) {
    const float values[] = {1, -65520, 2};
    uint16_t halves[3];
    assert_int_equal(vit_tensor_encode(halves, VIT_F16, values, 3), 1);
    assert_int_equal(vit_tensor_encode(halves, VIT_F16, values, 1), 1);
    assert_int_equal(vit_tensor_encode(halves, VIT_BF16, values, 3), 3);
}

static float from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void test_encodes_bfloat16(void **state) {
    for (uint32_t high = 0; high < 0x10000; high++) {
        const bool is_nan = (high & 0x7f80) == 0x7f80 && (high & 0x7f) != 0;
        const bool is_special = (high & 0x7f80) == 0x7f80;
        if (is_nan) {
            const uint16_t found = encode(VIT_BF16, from_bits(high << 16));
            assert_true((found & 0x7f80) == 0x7f80 && (found & 0x7f) != 0);
            continue;
        }
        assert_int_equal(encode(VIT_BF16, from_bits(high << 16)), high);
        if (is_special) continue;
        assert_int_equal(encode(VIT_BF16, from_bits(high << 16 | 0x8000)), high + (high & 1));
        assert_int_equal(encode(VIT_BF16, from_bits(high << 16 | 0x7fff)), high);
        assert_int_equal(encode(VIT_BF16, from_bits(high << 16 | 0x8001)), high + 1);
    }
    assert_int_equal(encode(VIT_BF16, from_bits(0x7f800001)) & 0x7fff, 0x7fc0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_and_sizes),
        cmocka_unit_test(test_every_half),
        cmocka_unit_test(test_every_bfloat16),
        cmocka_unit_test(test_float32_keeps_its_bits),
        cmocka_unit_test(test_float64_is_rounded),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_refuses_what_float32_cannot_hold),
        cmocka_unit_test(test_unaligned_data),
        cmocka_unit_test(test_encodes_every_half),
        cmocka_unit_test(test_refuses_what_a_half_cannot_hold),
        cmocka_unit_test(test_encodes_bfloat16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
