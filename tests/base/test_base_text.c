/* Text and error messages. */
#include <errno.h>
#include <float.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/fault.h"
#include "tests/support/unit.h"
#include "vit/base/error.h"
#include "vit/base/random.h"
#include "vit/base/text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void test_parse_u64(void **state) {
    uint64_t v = 7;
    assert_true(vit_parse_u64("0", &v) && v == 0);
    assert_true(vit_parse_u64("0042", &v) && v == 42);
    assert_true(vit_parse_u64("18446744073709551615", &v) && v == UINT64_MAX);
    static const char *const bad[] = {"",   " 1", "1 ",   "+1",  "-1",  "18446744073709551616",
                                      "1x", "x",  "0x10", "1.0", "1e3", "99999999999999999999999"};
    for (size_t i = 0; i < COUNT(bad); i++) assert_false(vit_parse_u64(bad[i], &v));
    assert_true(v == UINT64_MAX);
}

static void test_parse_double(void **state) {
    static const struct {
        const char *text;
        double value;
    } good[] = {
        {"0", 0},
        {"-0", -0.0},
        {"1", 1},
        {"00012.50", 12.5},
        {".5", 0.5},
        {"5.", 5},
        {"-1e-5", -1e-5},
        {"1E+2", 100},
        {"1e0000000000000000000002", 100},
        {"0e999999999999999999999999", 0},
        {"0.000e-999999999999999999999999", 0},
        {"1.7976931348623157e308", DBL_MAX},
        {"1.7976931348623158079e308", DBL_MAX},
        {"5e-324", 0x1p-1074},
        {"2.4703282292062328e-324", 0x1p-1074},
        {"2.2250738585072011e-308", 0x0.fffffffffffffp-1022},
        {"9007199254740993", 9007199254740992.0},
        {"9007199254740993.00000000000000000000000000000000000001", 9007199254740994.0},
        {"0.1", 0x1.999999999999ap-4},
    };
    for (size_t i = 0; i < COUNT(good); i++) {
        double v = 7;
        assert_true(vit_parse_double(good[i].text, &v));
        assert_memory_equal(&v, &good[i].value, sizeof v);
    }
    static const char *const bad[] = {
        "",      ".",   "-",     "e5",     "1e",     "1e+",      "1,5",   "+1",
        " 1",    "1 ",  "nan",   "NaN",    "inf",    "infinity", "0x1",   "1.2.3",
        "1e5.0", "--1", "1e400", "-1e400", "1e-400", "1d5",      "1_000", "1e99999999999999999999",
        "1e-5x", "- 1"};
    double v = 7;
    for (size_t i = 0; i < COUNT(bad); i++) assert_false(vit_parse_double(bad[i], &v));
    assert_true(v == 7);
}

/* 2^53 + 1 written with thousands of zeros lies exactly between two doubles and goes to the even
 * one; a single digit at the very end decides otherwise. */
static void test_parse_long_texts(void **state) {
    static const struct {
        const char *before;
        char repeated;
        const char *after;
        double value;
    } cases[] = {
        {"9007199254740993.", '0', "0", 9007199254740992.0},
        {"9007199254740993.", '0', "1", 9007199254740994.0},
        {"", '0', "12e-1", 1.2},
        {".", '0', "12e5001", 1.2},
        {"", '1', "e-5000", 0x1.c71c71c71c71cp-4},
        {"0.", '9', "", 1},
        {"1e", '0', "2", 100},
    };
    enum { TIMES = 5000 };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char repeated[TIMES + 1], text[TIMES + 64];
        memset(repeated, cases[i].repeated, TIMES);
        repeated[TIMES] = '\0';
        snprintf(text, sizeof text, "%s%s%s", cases[i].before, repeated, cases[i].after);
        double v = 7;
        assert_true(vit_parse_double(text, &v) && v == cases[i].value);
    }
}

static void test_format_known(void **state) {
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {12, "12"},
        {-100, "-100"},
        {0.1, "0.1"},
        {0.5, "0.5"},
        {-2.25, "-2.25"},
        {1e-4, "0.0001"},
        {1e-5, "1e-05"},
        {1.5e-5, "1.5e-05"},
        {1.0 / 3, "0.3333333333333333"},
        {1e15, "1000000000000000"},
        {1e16, "1e+16"},
        {123456789012345.678, "123456789012345.67"},
        {9007199254740993.0, "9007199254740992"},
        {5e-324, "5e-324"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {-DBL_MIN, "-2.2250738585072014e-308"},
        {-0.00012345678901234567, "-0.00012345678901234567"},
        {NAN, "nan"},
        {-NAN, "nan"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
    };
    char text[32];
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_ptr_equal(vit_format_double(text, cases[i].value), text);
        assert_string_equal(text, cases[i].text);
    }
    assert_string_equal(vit_format_float(text, 0.1f), "0.1");
    assert_string_equal(vit_format_float(text, 16777216), "16777216");
    assert_string_equal(vit_format_float(text, 3e10f), "30000000000");
    assert_string_equal(vit_format_float(text, 1e-45f), "1e-45");
    assert_string_equal(vit_format_float(text, FLT_MAX), "3.4028235e+38");
    assert_string_equal(vit_format_g9(text, 0.1f), "0.100000001");
    assert_string_equal(vit_format_g9(text, -1e-20f), "-9.99999968e-21");
    assert_string_equal(vit_format_g9(text, -NAN), "nan");
    assert_string_equal(vit_format_fixed(text, 3.14159, 2), "3.14");
    assert_string_equal(vit_format_fixed(text, -0.5, 3), "-0.500");
    assert_string_equal(vit_format_fixed(text, 97.25, 0), "97");
    assert_string_equal(vit_format_fixed(text, INFINITY, 2), "inf");
    assert_string_equal(vit_format_fixed(text, 1e300, 2), "1e+300");
    assert_string_equal(vit_format_fixed(text, -DBL_MAX, 20), "-1.7976931348623157e+308");
}

/* Over all magnitudes: what is written reads back (by the C library, in the C locale), and with
 * one digit less nothing would. */
static void test_format_is_shortest(void **state) {
    vit_random r = vit_random_start(1, VIT_RANDOM_TEST, 0, 0);
    for (int i = 0; i < 30000; i++) {
        uint64_t bits = (uint64_t)vit_random_u32(&r) << 32 | vit_random_u32(&r);
        double value, back;
        memcpy(&value, &bits, sizeof value);
        char text[32], shorter[64];
        vit_format_double(text, value);
        assert_true(strlen(text) <= 31);
        if (!isfinite(value)) continue;
        assert_true(vit_parse_double(text, &back) && back == value && strtod(text, NULL) == value);
        int digits = 0;
        for (const char *p = text; *p != '\0' && *p != 'e'; p++) digits += *p >= '0' && *p <= '9';
        if (digits > 1 && digits <= 17 && strchr(text, 'e') != NULL) {
            snprintf(shorter, sizeof shorter, "%.*e", digits - 2, value);
            assert_true(strtod(shorter, NULL) != value);
        }
    }
}

static void test_format_float_reads_back(void **state) {
    vit_random r = vit_random_start(2, VIT_RANDOM_TEST, 0, 0);
    for (int i = 0; i < 30000; i++) {
        uint32_t bits = vit_random_u32(&r);
        float value;
        memcpy(&value, &bits, sizeof value);
        char text[32];
        vit_format_float(text, value);
        assert_true(strlen(text) <= 31);
        if (!isfinite(value)) continue;
        assert_true(strtof(text, NULL) == value);
        assert_true((float)strtod(text, NULL) == value);
        assert_true(strtof(vit_format_g9(text, value), NULL) == value);
    }
}

/* A locale with a comma: the system's, or one made here. False when there is none to be had. */
static bool set_comma_locale(void) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    for (size_t i = 0; i < COUNT(names); i++)
        if (setlocale(LC_ALL, names[i]) != NULL) return true;
    char directory[] = "/tmp/vit-locale-XXXXXX";
    char command[256];
    if (mkdtemp(directory) == NULL) return false;
    snprintf(command, sizeof command,
             "localedef -c -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", directory);
    bool made = system(command) >= 0 && setenv("LOCPATH", directory, 1) == 0 &&
                setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command) == 0 && made;
}

static void test_comma_locale_changes_nothing(void **state) {
    if (!set_comma_locale()) {
        print_message("no locale with a decimal comma here and none can be made\n");
        skip();
    }
    char text[32];
    snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0,5"); /* the locale is what it was taken for */
    test_parse_double(state);
    test_format_known(state);
    double v;
    assert_true(vit_parse_double("1234.5", &v) && v == 1234.5);
    assert_false(vit_parse_double("1234,5", &v));
    assert_false(vit_parse_double("1.234,5", &v));
    vit_random r = vit_random_start(3, VIT_RANDOM_TEST, 0, 0);
    for (int i = 0; i < 1000; i++) {
        double value = vit_random_normal(&r);
        assert_true(vit_parse_double(vit_format_double(text, value), &v) && v == value);
        assert_null(strchr(text, ','));
    }
    assert_string_equal(localeconv()->decimal_point, ",");
}

static int restore_locale(void **state) {
    return setlocale(LC_ALL, "C") == NULL;
}

static void test_text_grows(void **state) {
    vit_string t = {0};
    vit_string_add(&t, "%s-%d", "abc", 7);
    assert_string_equal(t.text, "abc-7");
    vit_string_add_bytes(&t, "\0x", 2);
    assert_int_equal(t.length, 7);
    assert_memory_equal(t.text, "abc-7\0x", 8);
    vit_string_add_bytes(&t, NULL, 0);
    for (int i = 0; i < 10000; i++) vit_string_add(&t, "%04d", i);
    assert_int_equal(t.length, 40007);
    assert_string_equal(t.text + 40003, "9999");
    assert_false(t.failed);
    vit_string_free(&t);
    assert_null(t.text);
    vit_string_add(&t, "%s", "");
    assert_string_equal(t.text, "");
    vit_string_free(&t);
    vit_string_free(&t);
}

static void test_text_remembers_failure(void **state) {
    vit_string t = {0};
    vit_string_add_bytes(&t, "abc", 3);
    vit_string_add_bytes(&t, "abc", SIZE_MAX - 3);
    assert_true(t.failed);
    vit_string_add(&t, "more");
    assert_int_equal(t.length, 3);
    vit_string_free(&t);
    assert_false(t.failed);
    long n = 1;
    for (;; n++) {
        fault_arm(n);
        for (int i = 0; i < 100; i++) vit_string_add_json(&t, "0123456789\n");
        fault_disarm();
        if (fault_call() == NULL) break;
        assert_true(t.failed);
        assert_true(t.text == NULL || strlen(t.text) == t.length);
        vit_string_free(&t);
    }
    assert_true(n > 3);
    assert_int_equal(t.length, 1400);
    vit_string_free(&t);
}

static void check_json(const char *text, const char *expected) {
    vit_string t = {0};
    vit_string_add_json(&t, text);
    assert_string_equal(t.text, expected);
    json_t *read = json_loads(t.text, JSON_DECODE_ANY, NULL);
    assert_non_null(read);
    json_decref(read);
    vit_string_free(&t);
}

#define BAD "\xef\xbf\xbd"

static void test_json_strings(void **state) {
    check_json("", "\"\"");
    check_json("a/b \x7f", "\"a/b \x7f\"");
    check_json("\"\\\b\f\n\r\t\x01\x1f", "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\"");
    check_json("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf",
               "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf\"");
    check_json("\xff"
               "a\x80",
               "\"" BAD "a" BAD "\"");
    check_json("\xc3", "\"" BAD "\"");
    check_json("\xe2\x82", "\"" BAD BAD "\"");
    check_json("\xc0\xaf", "\"" BAD BAD "\"");                 /* overlong */
    check_json("\xe0\x80\x80", "\"" BAD BAD BAD "\"");         /* overlong */
    check_json("\xed\xa0\x80", "\"" BAD BAD BAD "\"");         /* surrogate */
    check_json("\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\""); /* beyond U+10FFFF */
}

static void test_utf8_against_jansson(void **state) {
    for (unsigned i = 1; i < 0x10000; i++) {
        const char text[] = {(char)(i >> 8), (char)(i & 0xff), 0};
        size_t length = vit_utf8_length(text);
        bool whole =
            length == 2 || (length == 1 && (text[1] == 0 || vit_utf8_length(text + 1) == 1));
        json_t *string = json_string(text);
        assert_int_equal(whole || text[0] == 0, string != NULL);
        json_decref(string);
    }
}

static void test_nearest(void **state) {
    static const char *const names[] = {"--data", "--preset", "--epochs", "--steps", "--seed",
                                        "--json", "--batch",  "avx2",     "avx512",  "lr"};
    static const struct {
        const char *word, *expected;
    } cases[] = {
        {"--dta", "--data"},
        {"--eopchs", "--epochs"},
        {"--Preset", "--preset"},
        {"--step", "--steps"},
        {"AVX2", "avx2"},
        {"avx521", "avx512"},
        {"--prest", "--preset"},
        {"rl", "lr"},
        {"lt", "lr"},
        {"--frobnicate", NULL},
        {"xy", NULL},
        {"gps", NULL},
        {"", NULL},
        {"q", NULL},
        {"--jsno", "--json"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *found = vit_nearest(cases[i].word, names, COUNT(names));
        if (cases[i].expected == NULL) {
            assert_null(found);
        } else {
            assert_non_null(found);
            assert_string_equal(found, cases[i].expected);
        }
    }
    char endless[5000];
    memset(endless, 'a', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    const char *const list[] = {endless};
    assert_null(vit_nearest(endless, names, COUNT(names)));
    assert_null(vit_nearest("aaaa", list, 1));
    assert_null(vit_nearest("lr", NULL, 0));
}

static void test_errors(void **state) {
    vit_error e;
    assert_int_equal(vit_fail(&e, VIT_ERROR_FORMAT, "%s: width is %zu", "a.png", (size_t)7),
                     VIT_ERROR_FORMAT);
    assert_int_equal(e.status, VIT_ERROR_FORMAT);
    assert_string_equal(e.message, "a.png: width is 7");
    assert_int_equal(vit_fail_prefix(&e, VIT_ERROR_IO, "row 3"), VIT_ERROR_FORMAT);
    assert_string_equal(e.message, "row 3: a.png: width is 7");
    vit_fail(&e, VIT_ERROR_IO, "again: %s", e.message);
    assert_string_equal(e.message, "again: row 3: a.png: width is 7");
    assert_int_equal(vit_fail_errno(&e, ENOSPC, "cannot write %s", "x"), VIT_ERROR_IO);
    assert_string_equal(e.message, "cannot write x: No space left on device");
    assert_int_equal(vit_fail_errno(&e, ENOMEM, "x"), VIT_ERROR_MEMORY);
    assert_int_equal(vit_fail_errno(&e, 123456, "x"), VIT_ERROR_IO);
    assert_non_null(strstr(e.message, "123456"));
    assert_int_equal(vit_fail_memory(&e, "a picture", 99), VIT_ERROR_MEMORY);
    assert_string_equal(e.message, "out of memory: a picture needs 99 bytes");
    assert_int_equal(vit_fail(NULL, VIT_ERROR_IO, "x"), VIT_ERROR_IO);
    assert_int_equal(vit_fail_errno(NULL, EIO, "x"), VIT_ERROR_IO);
    assert_int_equal(vit_fail_prefix(NULL, VIT_ERROR_IO, "x"), VIT_ERROR_IO);
}

/* One sentence, valid UTF-8, no newline, whatever a file's name is. */
static void test_messages_are_clean(void **state) {
    vit_error e;
    vit_fail(&e, VIT_ERROR_IO, "cannot open %s", "a\nb\x1b[31m\xff\xc3\xa9\xed\xa0\x80.png");
    assert_string_equal(e.message, "cannot open a?b?[31m?\xc3\xa9???.png");
    char name[4000];
    for (size_t length = 1000; length < 1040; length++) {
        memset(name, 'n', length);
        memcpy(name + length, "\xe2\x82\xac\xe2\x82\xac", 7);
        vit_fail(&e, VIT_ERROR_IO, "%s", name);
        size_t used = strlen(e.message);
        assert_true(used < sizeof e.message);
        bool cut = strcmp(e.message + used - 3, "...") == 0;
        assert_int_equal(cut, length + 6 >= sizeof e.message);
        assert_true(used >= length || used >= sizeof e.message - 6);
        for (const char *p = e.message; *p != '\0'; p += vit_utf8_length(p))
            assert_true(vit_utf8_length(p) > 0);
        vit_fail_errno(&e, EIO, "%s", name);
        vit_fail_prefix(&e, VIT_ERROR_IO, "prefix");
        assert_true(strlen(e.message) < sizeof e.message);
    }
}

static void test_status_names(void **state) {
    for (int i = VIT_OK; i <= VIT_ERROR_CANCELLED; i++) {
        const char *name = vit_status_name((vit_status)i);
        assert_true(strlen(name) > 0 && strcmp(name, "unknown") != 0);
        for (int j = 0; j < i; j++) assert_string_not_equal(name, vit_status_name((vit_status)j));
    }
    assert_string_equal(vit_status_name(VIT_ERROR_FORMAT), "format");
    assert_string_equal(vit_status_name((vit_status)99), "unknown");
}

static void test_endings(void **state) {
    assert_true(vit_has_ending("a.png", ".png") && vit_has_ending("a.b.png", ".png"));
    assert_false(vit_has_ending(".png", ".png") || vit_has_ending("a.PNG", ".png"));
    assert_false(vit_has_ending("ng", ".png") || vit_has_ending("", ".png"));
    assert_int_equal(vit_stem_length("model.safetensors", ".safetensors"), 5);
    assert_int_equal(vit_stem_length("model", ".safetensors"), 5);
    assert_int_equal(vit_stem_length(".json", ".json"), 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_u64),
        cmocka_unit_test(test_parse_double),
        cmocka_unit_test(test_parse_long_texts),
        cmocka_unit_test(test_format_known),
        cmocka_unit_test(test_format_is_shortest),
        cmocka_unit_test(test_format_float_reads_back),
        cmocka_unit_test_teardown(test_comma_locale_changes_nothing, restore_locale),
        cmocka_unit_test(test_text_grows),
        cmocka_unit_test(test_text_remembers_failure),
        cmocka_unit_test(test_json_strings),
        cmocka_unit_test(test_utf8_against_jansson),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_endings),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_messages_are_clean),
        cmocka_unit_test(test_status_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
