/* Headers of .npy arrays, hand-made: each rule, and what a nearly right one says. */
#include <stdio.h>
#include <string.h>

#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/formats/npy.h"
#include "vit/tensors/container.h"

/* "\x93NUMPY", a version, the length, the text; in memory that ends with it. */
static uint8_t *make_header(unsigned version, const char *text, size_t *size) {
    const size_t prefix = version > 1 ? 12 : 10, length = strlen(text);
    *size = prefix + length;
    uint8_t *header = vit_alloc(*size, 1);
    assert_non_null(header);
    memcpy(header, "\x93NUMPY", 6);
    header[6] = (uint8_t)version;
    header[8] = (uint8_t)length;
    header[9] = (uint8_t)(length >> 8);
    memcpy(header + prefix, text, length);
    return header;
}

static vit_status parse(vit_tensor *tensor, vit_npy *a, const uint8_t *header, size_t size,
                        vit_error *error) {
    const vit_status status = vit_npy_parse(a, header, size, VIT_NPY_WEIGHTS, error);
    return status == VIT_OK ? vit_npy_tensor(tensor, a, error) : status;
}

static void check(unsigned version, const char *text, vit_dtype dtype, bool fortran, size_t dims,
                  size_t count) {
    size_t size, found;
    uint8_t *header = make_header(version, text, &size);
    vit_tensor tensor = {0};
    vit_npy a;
    vit_error error;
    assert_int_equal(vit_npy_header_size(&found, header, NULL), VIT_OK);
    assert_int_equal(found, size);
    if (parse(&tensor, &a, header, size, &error) != VIT_OK) fail_msg("%s", error.message);
    assert_int_equal(tensor.dtype, dtype);
    assert_int_equal(a.fortran, fortran);
    assert_int_equal(tensor.dims, dims);
    assert_int_equal(tensor.count, count);
    vit_free(header);
}

static void refused(const char *text, vit_status status, const char *part) {
    size_t size;
    uint8_t *header = make_header(1, text, &size);
    vit_tensor tensor = {0};
    vit_npy a;
    vit_error error = {0};
    if (parse(&tensor, &a, header, size, &error) != status || !strstr(error.message, part))
        fail_msg("expected %s \"%s\", found \"%s\"", vit_status_name(status), part, error.message);
    vit_free(header);
}

#define ORDER "'fortran_order': False, "

static void test_headers(void **state) {
    check(1, "{'descr': '<f4', " ORDER "'shape': (3, 4), }  \n", VIT_F32, false, 2, 12);
    check(2, "{'descr': '<f8', 'fortran_order': True, 'shape': (3,)}", VIT_F64, true, 1, 3);
    check(3, "{\"shape\":(),\"fortran_order\":False,\"descr\":\"<f2\"}", VIT_F16, false, 0, 1);
    check(1, "{'descr': '|V2', " ORDER "'shape': (3L, 0L)}", VIT_BF16, false, 2, 0);
    check(1, "{'descr': '<V2', " ORDER "'shape': (2)}", VIT_BF16, false, 1, 2);
    check(1, "{'descr': '<i8', " ORDER "'shape': (1,1,1,1,1,1,1,1)}", VIT_I64, false, 8, 1);
    check(1, "{'descr': '|b1', " ORDER "'shape': ()}", VIT_BOOL, false, 0, 1);
}

static void test_types(void **state) {
    refused("{'descr': '>f4', " ORDER "'shape': ()}", VIT_ERROR_UNSUPPORTED,
            "'>f4' (big-endian), expected <f4");
    refused("{'descr': '<c8', ", VIT_ERROR_UNSUPPORTED, "'<c8', expected <f4");
    refused("{'descr': '|O', ", VIT_ERROR_UNSUPPORTED, "'|O'");
    refused("{'descr': [('x', '<f4')], ", VIT_ERROR_UNSUPPORTED, "an array of records");
    refused("{'descr': <f4, ", VIT_ERROR_FORMAT, "expected the type in quotes");
    refused("{'descr': '<f4", VIT_ERROR_FORMAT, "expected the type in quotes");
    refused("{'descr': '0123456789012345678901234567890123456789', ", VIT_ERROR_FORMAT, "the type");
}

static void test_shapes(void **state) {
    refused("{'shape': 3", VIT_ERROR_FORMAT, "byte 20 of the .npy header: expected the shape");
    refused("{'shape': (-1,)", VIT_ERROR_FORMAT, "expected a dimension");
    refused("{'shape': (3 4)", VIT_ERROR_FORMAT, "expected ')' or ','");
    refused("{'shape': (3", VIT_ERROR_FORMAT, "expected ')' or ','");
    refused("{'shape': (99999999999999999999,)", VIT_ERROR_FORMAT, "64 bits");
    refused("{'shape': (1,1,1,1,1,1,1,1,1)", VIT_ERROR_UNSUPPORTED, "more than 8 dimensions");
    refused("{'descr': '<f4', " ORDER "'shape': (4294967296, 4294967296)}", VIT_ERROR_FORMAT,
            "[4294967296, 4294967296] needs more bytes than 64 bits can count");
    refused("{'descr': '<f4', " ORDER "'shape': (4611686018427387904,)}", VIT_ERROR_FORMAT,
            "needs more bytes");
}

static void test_dictionaries(void **state) {
    refused("", VIT_ERROR_FORMAT, "expected '{'");
    refused("{}", VIT_ERROR_FORMAT, "has no 'descr'");
    refused("{'descr': '<f4'}", VIT_ERROR_FORMAT, "has no 'fortran_order'");
    refused("{'descr': '<f4', " ORDER "}", VIT_ERROR_FORMAT, "has no 'shape'");
    refused("{" ORDER ORDER "}", VIT_ERROR_FORMAT, "'fortran_order' twice");
    refused("{'other': 1}", VIT_ERROR_FORMAT, "the key 'other', expected descr");
    refused("{'fortran_order': 0}", VIT_ERROR_FORMAT, "expected True or False");
    refused("{'fortran_order' False}", VIT_ERROR_FORMAT, "expected ':'");
    refused("{'fortran_order': False 1", VIT_ERROR_FORMAT, "expected ',' or '}'");
    refused("{'descr': '<f4', " ORDER "'shape': ()} x", VIT_ERROR_FORMAT, "only spaces");
}

static void test_prefixes(void **state) {
    uint8_t prefix[VIT_NPY_PREFIX] = "\x93NUMPY\4";
    size_t size;
    vit_error error;
    assert_int_equal(vit_npy_header_size(&size, prefix, &error), VIT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "version 4"));
    prefix[6] = 2;
    prefix[10] = 1;
    assert_int_equal(vit_npy_header_size(&size, prefix, &error), VIT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "65548 bytes"));
    prefix[0] = 'N';
    assert_int_equal(vit_npy_header_size(&size, prefix, &error), VIT_ERROR_FORMAT);
}

/* Integers of every width and order, and what does not fit the widest. */
static void test_integers(void **state) {
    static const struct {
        const char *type;
        uint8_t bytes[8];
        int64_t value;
        bool fits;
    } cases[] = {{"|b1", {1}, 1, true},
                 {"|u1", {200}, 200, true},
                 {"|i1", {200}, -56, true},
                 {"<i2", {1, 255}, -255, true},
                 {">i2", {255, 1}, -255, true},
                 {"<u2", {1, 255}, 65281, true},
                 {">u4", {0, 0, 1, 2}, 258, true},
                 {"<i4", {2, 1, 0, 0}, 258, true},
                 {">i8", {255, 255, 255, 255, 255, 255, 255, 254}, -2, true},
                 {"<u8", {7}, 7, true},
                 {"<u8", {0, 0, 0, 0, 0, 0, 0, 128}, INT64_MIN, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[100];
        size_t size;
        int64_t value;
        vit_npy a;
        snprintf(text, sizeof text, "{'descr': '%s', " ORDER "'shape': ()}", cases[i].type);
        uint8_t *header = make_header(1, text, &size);
        assert_int_equal(vit_npy_parse(&a, header, size, "", NULL), VIT_OK);
        assert_int_equal(vit_npy_integer(&value, &a, cases[i].bytes), cases[i].fits);
        assert_int_equal(value, cases[i].value);
        vit_free(header);
    }
}

/* As numpy.lib.format.write_array_header_1_0 writes it. */
static void test_written(void **state) {
    static const char *const shapes[] = {"()", "(3,)", "(3, 40)"};
    const size_t shape[] = {3, 40};
    for (size_t dims = 0; dims < 3; dims++) {
        vit_string t = {0};
        char text[160];
        vit_string_add_npy(&t, "<f8", shape, dims);
        snprintf(text, sizeof text, "{'descr': '<f8', " ORDER "'shape': %s, }%80s", shapes[dims],
                 "");
        text[117] = '\n';
        assert_int_equal(t.length, 128);
        assert_memory_equal(t.text, "\x93NUMPY\1\0\x76\0", 10);
        assert_memory_equal(t.text + 10, text, 118);
        vit_string_free(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers),  cmocka_unit_test(test_types),
        cmocka_unit_test(test_shapes),   cmocka_unit_test(test_dictionaries),
        cmocka_unit_test(test_prefixes), cmocka_unit_test(test_integers),
        cmocka_unit_test(test_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
