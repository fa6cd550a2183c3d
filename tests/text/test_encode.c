/* Text -> ids as tokenizers, transformers and sentencepiece have it: the cases are of
 * tests/fixtures/make_encodings.py; scripts/check-tokenizers compares whole vocabularies. */
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/text/tokenizer/encoder.h"
#include "vit/text/unicode/regex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIXTURES "tests/fixtures/encodings"

static vit_tokenizer load(const char *path) {
    vit_tokenizer t;
    vit_error error;
    if (vit_tokenizer_load(&t, path, &error) != VIT_OK) fail_msg("%s", error.message);
    return t;
}

static void check_ids(const vit_tokenizer *t, const char *text, size_t length, const char *ids) {
    vit_encoding e;
    vit_error error;
    char *end = (char *)(uintptr_t)ids;
    if (vit_tokenizer_encode(&e, t, text, length, 0, &error) != VIT_OK)
        fail_msg("%s", error.message);
    for (size_t i = 0; i < e.count; i++) {
        const char *at = end;
        const unsigned long expected = strtoul(at, &end, 10);
        if (at == end || e.ids[i] != expected)
            fail_msg("\"%s\": id %zu is %u, expected %lu", text, i, e.ids[i], expected);
    }
    assert_int_equal(*end, 0);
    assert_false(e.cut);
    vit_free(e.ids);
}

/* "name <tab> ids <tab> JSON string" */
static void test_as_the_libraries(void **state) {
    vit_bytes file;
    vit_tokenizer t = {0};
    char name[64] = "";
    size_t cases = 0;
    assert_int_equal(vit_read_file(&file, FIXTURES "/cases.txt", 1 << 20, NULL), VIT_OK);
    char *text = vit_alloc(file.size + 1, 1);
    memcpy(text, file.data, file.size);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), cases++) {
        char *ids = strchr(line, '\t'), *json = strchr(ids + 1, '\t');
        *ids++ = *json++ = 0;
        if (strcmp(name, line) != 0) {
            char path[128];
            vit_tokenizer_free(&t);
            snprintf(name, sizeof name, "%s", line);
            snprintf(path, sizeof path, FIXTURES "/%s", name);
            t = load(path);
        }
        json_t *value = json_loads(json, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        check_ids(&t, json_string_value(value), json_string_length(value), ids);
        json_decref(value);
    }
    assert_int_equal(cases, 2328);
    vit_tokenizer_free(&t);
    vit_free(text);
    vit_free(file.data);
}

/* What a text is cut to, with the tokens around it; padding and limits that the files name. */
static void test_cut(void **state) {
    vit_tokenizer t = load(FIXTURES "/clip_files");
    vit_encoding e, whole;
    vit_error error;
    const char *text = "a photo of a cat";
    assert_int_equal(vit_tokenizer_encode(&whole, &t, text, strlen(text), 0, &error), VIT_OK);
    assert_int_equal(vit_tokenizer_encode(&e, &t, text, strlen(text), 5, &error), VIT_OK);
    assert_int_equal(e.count, 5);
    assert_true(e.cut);
    assert_memory_equal(e.ids, whole.ids, 4 * sizeof *e.ids);
    assert_int_equal(e.ids[4], whole.ids[whole.count - 1]);
    assert_int_equal(t.pad, e.ids[4]); /* CLIP fills up with its end token */
    vit_free(e.ids);
    assert_int_equal(vit_tokenizer_encode(&e, &t, text, strlen(text), whole.count, &error), VIT_OK);
    assert_false(e.cut);
    vit_free(e.ids);
    assert_int_equal(vit_tokenizer_encode(&e, &t, text, strlen(text), 1, &error),
                     VIT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "no room for the 2"));
    vit_free(whole.ids);
    vit_tokenizer_free(&t);
}

/* The same tokenizer encodes and decodes. */
static void test_there_and_back(void **state) {
    vit_tokenizer t = load(FIXTURES "/roberta");
    const char *text = " naïve 東京 \xf0\x9f\x90\xb1!";
    vit_encoding e;
    assert_int_equal(vit_tokenizer_encode(&e, &t, text, strlen(text), 0, NULL), VIT_OK);
    char *back = vit_tokenizer_decode(&t, e.ids, e.count);
    assert_string_equal(back, text);
    vit_free(back);
    vit_free(e.ids);
    vit_tokenizer_free(&t);
}

static void test_bad_text(void **state) {
    vit_tokenizer t = load(FIXTURES "/clip");
    vit_encoding e;
    vit_error error;
    const char *const bad[] = {"ab\xff",         "ab\xc3",
                               "ab\xed\xa0\x80", "ab\xf8\x88\x80\x80\x80",
                               "ab\xc0\x80",     "ab\xf4\x90\x80\x80",
                               "ab\xe2\x82"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(vit_tokenizer_encode(&e, &t, bad[i], strlen(bad[i]), 0, &error),
                         VIT_ERROR_FORMAT);
        assert_string_equal(error.message, "\"ab\": byte 2 is not valid UTF-8");
        assert_null(e.ids);
    }
    char *large = vit_alloc(VIT_MOST_TEXT + 1, 1);
    memset(large, 'a', VIT_MOST_TEXT + 1);
    assert_int_equal(vit_tokenizer_encode(&e, &t, large, VIT_MOST_TEXT + 1, 0, &error),
                     VIT_ERROR_UNSUPPORTED);
    /* a long word does not take long */
    assert_int_equal(vit_tokenizer_encode(&e, &t, large, 1 << 18, 0, &error), VIT_OK);
    vit_free(e.ids);
    vit_free(large);
    vit_tokenizer_free(&t);
}

/* ---- files that are refused ---- */

/* Loads a tokenizer.json in the current directory, a scratch one. */
static vit_status load_json(const char *json, vit_error *error) {
    vit_tokenizer t;
    put_file("tokenizer.json", json);
    const vit_status status = vit_tokenizer_load(&t, "tokenizer.json", error);
    vit_tokenizer_free(&t);
    return status;
}

static void refuse(const char *json, vit_status expected, const char *says) {
    vit_error error;
    const vit_status status = load_json(json, &error);
    if (status != expected || !strstr(error.message, says))
        fail_msg("%s: status %d, \"%s\"", json, (int)status, error.message);
}

#define BPE "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 1, \"ab\": 2}, "

static void test_unknown_parts(void **state) {
    vit_error error;
    assert_int_equal(load_json(BPE "\"merges\": [\"a b\"]}}", &error), VIT_OK);
    assert_int_equal(load_json(BPE "\"merges\": [[\"a\", \"b\"]]}}", &error), VIT_OK);
    refuse(BPE "\"merges\": [\"a c\"]}}", VIT_ERROR_FORMAT, "merge 1: \"c\" is not in the vocab");
    refuse(BPE "\"merges\": [\"b a\"]}}", VIT_ERROR_FORMAT, "\"ba\" is not in the vocabulary");
    refuse(BPE "\"merges\": [\"ab\"]}}", VIT_ERROR_FORMAT, "with a space between");
    refuse(BPE "\"merges\": [[\"a\"]]}}", VIT_ERROR_FORMAT, "',' in a merge");
    refuse(BPE "\"dropout\": 0.1, \"merges\": []}}", VIT_ERROR_FORMAT, "dropout");
    refuse(BPE "\"unk_token\": \"[UNK]\", \"merges\": []}}", VIT_ERROR_UNSUPPORTED, "\"[UNK]\"");
    refuse("{\"model\": {\"type\": \"Maximum\", \"vocab\": {\"a\": 0}}}", VIT_ERROR_UNSUPPORTED,
           "its model \"Maximum\" is not known");
    refuse(BPE "\"merges\": []}, \"normalizer\": {\"type\": \"Odd\"}}", VIT_ERROR_UNSUPPORTED,
           "its normalizer \"Odd\" is not known");
    refuse(BPE "\"merges\": []}, \"pre_tokenizer\": {\"type\": \"UnicodeScripts\"}}",
           VIT_ERROR_UNSUPPORTED, "its pre_tokenizer \"UnicodeScripts\" is not known");
    refuse(BPE "\"merges\": []}, \"post_processor\": {\"type\": \"Odd\"}}", VIT_ERROR_UNSUPPORTED,
           "its post_processor \"Odd\" is not known");
    refuse("{\"model\": {\"type\": \"Unigram\", \"vocab\": {\"a\": 0}}}", VIT_ERROR_FORMAT,
           "another form");
    refuse("{\"model\": {\"type\": \"BPE\", \"vocab\": [[\"a\", 0]]}}", VIT_ERROR_FORMAT,
           "another form");
    refuse("{\"model\": {\"type\": \"Unigram\", \"unk_id\": 7, \"vocab\": [[\"a\", 0]]}}",
           VIT_ERROR_FORMAT, "unk_id");
    refuse("{\"model\": {\"vocab\": {\"a\": 0, \"a\": 1}}}", VIT_ERROR_FORMAT, "\"a\" is twice");
    refuse(BPE "\"merges\": []}, \"normalizer\": {\"type\": \"Precompiled\", "
               "\"precompiled_charsmap\": \"/////w==\"}}",
           VIT_ERROR_FORMAT, "replaces characters is damaged");
}

static void test_other_files(void **state) {
    vit_tokenizer t;
    vit_error error;
    assert_int_equal(vit_tokenizer_load(&t, "tests", &error), VIT_ERROR_IO);
    assert_non_null(strstr(error.message, "tests: holds no tokenizer"));
    assert_int_equal(vit_tokenizer_load(&t, "tests/fixtures/tokenizers/nothing.model", &error),
                     VIT_ERROR_IO);
    assert_int_equal(vit_tokenizer_load(&t, "README.md", &error), VIT_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "is no SentencePiece model"));
}

/* ---- expressions ---- */

static void matches(const char *pattern, const char *text, const char *expected) {
    vit_regex *r;
    vit_error error;
    vit_string all = {0};
    size_t at = 0, start, end, steps = VIT_REGEX_STEPS;
    bool found;
    if (vit_regex_new(&r, pattern, "test", &error) != VIT_OK) fail_msg("%s", error.message);
    vit_string_add(&all, "%s", "");
    while (at <= strlen(text)) {
        assert_int_equal(
            vit_regex_find(&found, &start, &end, r, text, strlen(text), at, &steps, &error),
            VIT_OK);
        if (!found) break;
        vit_string_add(&all, "[%.*s]", (int)(end - start), text + start);
        at = end > start ? end : end + 1;
    }
    assert_string_equal(all.text, expected);
    vit_string_free(&all);
    vit_regex_free(r);
}

static void test_expressions(void **state) {
    matches("a|ab", "ab", "[a]");
    matches("ab|a", "abа", "[ab]");
    matches("[^\\s\\p{L}]+", "a1!? b\xc3\xa9.", "[1!?][.]");
    matches("\\s+(?!\\S)|\\s+", "a   b ", "[  ][ ][ ]");
    matches("x(?:ab|c)*y", "xabcabyxy", "[xabcaby][xy]");
    matches("x(?:ab|c)+?y?", "xabcaby", "[xab]");
    matches("(?i:'LL)", "'ll 'Ll", "['ll]['Ll]");
    matches("\\p{N}{1,3}", "12345", "[123][45]");
    matches("a{2}", "aaaaa", "[aa][aa]");
    matches("a++b", "aab", "[aab]");
    matches("a++a", "aaa", "");
    matches("[a-c\\]]+", "ab]d", "[ab]]");
    matches("^a|b$", "aab", "[a][b]");
    matches("\\p{Lu}\\P{Lu}*", "AbcDe", "[Abc][De]");
}

static void test_refused_expressions(void **state) {
    static const char *const patterns[][2] = {{"(?<=a)b", "unknown kind"},
                                              {"(a*)*", "may be empty"},
                                              {"(?:a?b?)+", "may be empty"},
                                              {"\\bx", "an escape"},
                                              {"[a", "without its end"},
                                              {"(a", "without its end"},
                                              {"a)", "without its ("},
                                              {"*a", "quantifier of nothing"},
                                              {"[[:alpha:]]", "a class in a class"},
                                              {"\\p{Greek}", "no category"},
                                              {"[b-a]", "ends before it begins"},
                                              {"a{5000}", "a quantifier"},
                                              {"\xff", "not UTF-8"}};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        vit_regex *r;
        vit_error error;
        assert_int_equal(vit_regex_new(&r, patterns[i][0], "t", &error), VIT_ERROR_UNSUPPORTED);
        assert_null(r);
        if (!strstr(error.message, patterns[i][1])) fail_msg("%s", error.message);
    }
}

/* An expression that goes back for ever is stopped. */
static void test_slow_expression(void **state) {
    vit_regex *r;
    vit_error error;
    char text[65];
    size_t start, end, steps = 1 << 20;
    bool found;
    memset(text, 'a', 64);
    text[64] = 0;
    assert_int_equal(vit_regex_new(&r, "(?:a|aa)+b", "t", &error), VIT_OK);
    assert_int_equal(vit_regex_find(&found, &start, &end, r, text, 64, 0, &steps, &error),
                     VIT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "takes too long"));
    vit_regex_free(r);
}

/* ---- normal forms: cases of UAX 15 ---- */

static void form(vit_form f, const char *text, const char *expected) {
    vit_string out = {0};
    vit_string_add_form(&out, text, strlen(text), f);
    assert_string_equal(out.text, expected);
    vit_string_free(&out);
}

static void test_forms(void **state) {
    form(VIT_FORM_NFC, "D\xcc\x87\xcc\xa3", "\xe1\xb8\x8c\xcc\x87"); /* the lower mark first */
    form(VIT_FORM_NFD, "\xe1\xb8\x8c\xcc\x87", "D\xcc\xa3\xcc\x87");
    form(VIT_FORM_NFC, "\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8", "\xea\xb0\x81"); /* Hangul */
    form(VIT_FORM_NFD, "\xea\xb0\x81", "\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8");
    form(VIT_FORM_NFC, "\xe2\x84\xab", "\xc3\x85"); /* the Angstrom sign */
    form(VIT_FORM_NFC, "\xef\xac\x81", "\xef\xac\x81");
    form(VIT_FORM_NFKC, "\xef\xac\x81\xc2\xbd",
         "fi1\xe2\x81\x84"
         "2");
    form(VIT_FORM_NFKD, "\xe1\xba\x9b\xcc\xa3", "s\xcc\xa3\xcc\x87");
    form(VIT_FORM_NFC, "\xe0\xa5\x98", "\xe0\xa4\x95\xe0\xa4\xbc"); /* is not composed again */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_the_libraries),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_bad_text),
        cmocka_unit_test(test_other_files),
        cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_refused_expressions),
        cmocka_unit_test(test_slow_expression),
        IN_DIRECTORY(test_unknown_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
