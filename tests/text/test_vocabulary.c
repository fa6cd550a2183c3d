/* Vocabularies: signs of texts, ids and back, JSON, and what is refused. */
#include <stdio.h>
#include <string.h>

#include "tests/support/fault.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/text/vocabulary.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const texts[] = {"tayo ay masaya", "süß", "we are happy", "tayo  ay", ""};

static vit_vocabulary make(vit_signs signs) {
    vit_vocabulary v;
    vit_error error;
    assert_int_equal(vit_vocabulary_new(&v, signs, texts, COUNT(texts), &error), VIT_OK);
    return v;
}

static void test_signs(void **state) {
    static const char *const characters[] = {" ", "a", "e", "h", "m", "o", "p",
                                             "r", "s", "t", "w", "y", "ß", "ü"};
    static const char *const words[] = {"are", "ay", "happy", "masaya", "süß", "tayo", "we"};
    vit_vocabulary v = make(VIT_SIGNS_CHARACTERS);
    assert_int_equal(v.count, VIT_ID_FIRST + COUNT(characters));
    assert_string_equal(v.texts[VIT_ID_START], "");
    assert_string_equal(v.texts[VIT_ID_END], "");
    for (size_t i = 0; i < COUNT(characters); i++)
        assert_string_equal(v.texts[VIT_ID_FIRST + i], characters[i]);
    vit_vocabulary_free(&v);
    v = make(VIT_SIGNS_WORDS);
    assert_int_equal(v.count, VIT_ID_FIRST + COUNT(words));
    for (size_t i = 0; i < COUNT(words); i++)
        assert_string_equal(v.texts[VIT_ID_FIRST + i], words[i]);
    vit_vocabulary_free(&v);
}

static void check_back(vit_signs signs, const char *text, const char *expected, size_t length) {
    vit_vocabulary v = make(signs);
    uint32_t ids[32];
    size_t count;
    vit_error error;
    assert_int_equal(vit_vocabulary_encode(ids, &count, COUNT(ids), &v, text, &error), VIT_OK);
    assert_int_equal(count, length);
    char *back = vit_vocabulary_decode(&v, ids, count);
    assert_string_equal(back, expected);
    vit_free(back);
    vit_vocabulary_free(&v);
}

static void test_there_and_back(void **state) {
    check_back(VIT_SIGNS_CHARACTERS, "tayo süß", "tayo süß", 8);
    check_back(VIT_SIGNS_CHARACTERS, "", "", 0);
    check_back(VIT_SIGNS_WORDS, " happy  we are ", "happy we are", 3);
    check_back(VIT_SIGNS_WORDS, "  ", "", 0);
}

static void check_refused(vit_signs signs, const char *text, vit_status status, const char *why) {
    vit_vocabulary v = make(signs);
    uint32_t ids[4];
    size_t count;
    vit_error error;
    assert_int_equal(vit_vocabulary_encode(ids, &count, COUNT(ids), &v, text, &error), status);
    if (!strstr(error.message, why)) fail_msg("\"%s\" lacks \"%s\"", error.message, why);
    vit_vocabulary_free(&v);
}

static void test_refused(void **state) {
    check_refused(VIT_SIGNS_CHARACTERS, "taxi", VIT_ERROR_MISMATCH, "the character \"x\"");
    check_refused(VIT_SIGNS_WORDS, "we were", VIT_ERROR_MISMATCH, "the word \"were\"");
    check_refused(VIT_SIGNS_WORDS, "we we we we we", VIT_ERROR_MISMATCH, "longer than 4 words");
    check_refused(VIT_SIGNS_CHARACTERS, "ta\xff", VIT_ERROR_FORMAT, "byte 2");
    vit_vocabulary v;
    vit_error error;
    const char *const broken = "a\xc3";
    assert_int_equal(vit_vocabulary_new(&v, VIT_SIGNS_WORDS, &broken, 1, &error), VIT_ERROR_FORMAT);
}

static void test_json(void **state) {
    for (int signs = 0; signs < VIT_SIGNS_COUNT; signs++) {
        vit_vocabulary v = make((vit_signs)signs), again;
        vit_error error;
        char *json = vit_vocabulary_write(&v);
        assert_int_equal(vit_vocabulary_read(&again, json, "here", &error), VIT_OK);
        assert_int_equal(again.signs, v.signs);
        assert_int_equal(again.count, v.count);
        for (size_t i = 0; i < v.count; i++) assert_string_equal(again.texts[i], v.texts[i]);
        vit_free(json);
        vit_vocabulary_free(&v);
        vit_vocabulary_free(&again);
    }
    static const char *const bad[] = {"{}",
                                      "[]",
                                      "{\"texts\": [\"b\", \"a\"]}",
                                      "{\"texts\": [\"a\", \"a\"]}",
                                      "{\"texts\": [\"ab\"]}",
                                      "{\"texts\": [\"\"]}",
                                      "{\"texts\": [1]}",
                                      "{\"signs\": \"bytes\", \"texts\": []}",
                                      "{\"signs\": \"words\", \"texts\": [\"a b\"]}"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        vit_vocabulary v;
        vit_error error = {0};
        assert_int_not_equal(vit_vocabulary_read(&v, bad[i], "here", &error), VIT_OK);
        assert_non_null(strstr(error.message, "here"));
        assert_null(v.texts);
    }
}

static void test_copy(void **state) {
    vit_error error;
    vit_vocabulary v = make(VIT_SIGNS_WORDS), copy;
    const vit_vocabulary none = {.signs = VIT_SIGNS_WORDS};
    assert_int_equal(vit_vocabulary_copy(&copy, &v, &error), VIT_OK);
    assert_true(vit_vocabulary_equal(&copy, &v));
    vit_vocabulary_free(&v);
    assert_string_equal(copy.texts[VIT_ID_FIRST], "are"); /* it has texts of its own */
    vit_vocabulary_free(&copy);
    assert_int_equal(vit_vocabulary_copy(&copy, &none, &error), VIT_OK);
    assert_int_equal(copy.count, VIT_ID_FIRST);
    vit_vocabulary_free(&copy);
}

/* More signs than are collected at once, again and again. */
static void test_many(void **state) {
    enum { TEXTS = 3000, SIGNS = 9 };
    static char rows[TEXTS][64];
    static const char *list[TEXTS];
    for (size_t i = 0; i < TEXTS; i++) {
        snprintf(rows[i], sizeof rows[i], "a b c d e f g h %zu", i % 100);
        list[i] = rows[i];
    }
    vit_vocabulary v;
    vit_error error;
    assert_int_equal(vit_vocabulary_new(&v, VIT_SIGNS_WORDS, list, TEXTS, &error), VIT_OK);
    assert_int_equal(v.count, VIT_ID_FIRST + 100 + SIGNS - 1);
    vit_vocabulary_free(&v);
}

static void test_memory(void **state) {
    for (long n = 1;; n++) {
        vit_vocabulary v;
        vit_error error;
        fault_arm(n);
        const vit_status status =
            vit_vocabulary_new(&v, VIT_SIGNS_WORDS, texts, COUNT(texts), &error);
        fault_disarm();
        if (status == VIT_OK) vit_vocabulary_free(&v);
        if (fault_call() == NULL) break;
        assert_int_equal(status, VIT_ERROR_MEMORY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signs),   cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_json),
        cmocka_unit_test(test_copy),    cmocka_unit_test(test_many),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
