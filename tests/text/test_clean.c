/* Texts as OpenCLIP cleans and reads them: tests/fixtures/words/clip/open_clip.json, which
 * tests/fixtures/make_words.py asked open_clip and ftfy for. */
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/text/tokenizer/tokenizer.h"
#include "vit/text/unicode/clean.h"
#include "vit/text/unicode/entities.h"
#include <jansson.h>
#include <string.h>

#define CLIP "tests/fixtures/words/clip"

static void check_cleaning(const json_t *row, const char *name) {
    const json_t *text = json_object_get(row, "text");
    const char *want = json_string_value(json_object_get(row, name));
    vit_cleaning how;
    vit_string out = {0};
    vit_error error;
    assert_true(vit_cleaning_named(&how, name));
    assert_int_equal(
        vit_text_clean(&out, how, json_string_value(text), json_string_length(text), &error),
        VIT_OK);
    if (strcmp(out.text, want) != 0) fail_msg("%s of %s: %s", name, want, out.text);
    vit_string_free(&out);
}

static void check_ids(const vit_tokenizer *t, const json_t *row) {
    const json_t *ids = json_object_get(row, "ids");
    const json_t *text = json_object_get(row, "lower");
    vit_encoding e;
    vit_error error;
    assert_int_equal(
        vit_tokenizer_encode(&e, t, json_string_value(text), json_string_length(text), 0, &error),
        VIT_OK);
    assert_int_equal(e.count, json_array_size(ids));
    for (size_t i = 0; i < e.count; i++)
        assert_int_equal(e.ids[i], json_integer_value(json_array_get(ids, i)));
    vit_free(e.ids);
}

static void test_as_open_clip(void **state) {
    json_t *rows = json_load_file(CLIP "/open_clip.json", JSON_ALLOW_NUL, NULL);
    vit_tokenizer t;
    vit_error error;
    assert_int_equal(vit_tokenizer_load(&t, CLIP, &error), VIT_OK);
    assert_true(vit_tokenizer_is_clip(&t));
    assert_int_equal(vit_tokenizer_read_as_open_clip(&t, CLIP, &error), VIT_OK);
    assert_in_range(json_array_size(rows), 20, 100);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        check_cleaning(row, "whitespace");
        check_cleaning(row, "lower");
        check_cleaning(row, "canonicalize");
        check_ids(&t, row);
    }
    vit_tokenizer_free(&t);
    json_decref(rows);
}

/* What ftfy would guess at, or take long for, is refused; words of many languages are not. */
static void test_refused(void **state) {
    static const char *const refused[] = {"caf\xc3\x83\xc2\xa9",
                                          "it\xc3\xa2\xe2\x82\xac\xe2\x84\xa2s", "a\xc2\x85z"};
    static const char *const taken[] = {"\xc3\x80 la carte, \xc3\x89t\xc3\xa9!", "P\xd1\x91",
                                        "\xc3\x84\xc3\x96\xc3\x9c", "\xe2\x82\xac 5"};
    char nested[600] = "&";
    vit_string out = {0};
    vit_error error;
    for (size_t i = 0; i < VIT_COUNT(refused); i++) {
        assert_int_equal(
            vit_text_clean(&out, VIT_CLEAN_LOWER, refused[i], strlen(refused[i]), &error),
            VIT_ERROR_UNSUPPORTED);
        assert_says(&error, VIT_ERROR_UNSUPPORTED, "wrong encoding", "--emulate hf");
    }
    for (size_t i = 0; i < VIT_COUNT(taken); i++)
        assert_int_equal(vit_text_clean(&out, VIT_CLEAN_LOWER, taken[i], strlen(taken[i]), &error),
                         VIT_OK);
    for (int i = 0; i < 100; i++) strcat(nested, "amp;");
    assert_int_equal(vit_text_clean(&out, VIT_CLEAN_LOWER, nested, strlen(nested), &error),
                     VIT_ERROR_UNSUPPORTED);
    vit_string_free(&out);
}

static void test_entities(void **state) {
    for (size_t i = 1; i < VIT_HTML_ENTITIES; i++) {
        const char *a = vit_html_entities[i - 1], *b = vit_html_entities[i];
        const size_t length = strcspn(a, "=");
        const int order = strncmp(a, b, length);
        assert_true(order < 0 || (order == 0 && b[length] != '='));
    }
    assert_null(vit_html_entities[VIT_HTML_ENTITIES]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_open_clip),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_entities)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
