/* Ids -> text as transformers has it: tests/fixtures/make_tokenizers.py made the cases. */
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/formats/json.h"
#include "vit/text/tokenizer/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIXTURES "tests/fixtures/tokenizers"

static vit_tokenizer open_fixture(const char *name) {
    char path[256];
    vit_tokenizer t;
    vit_error error;
    snprintf(path, sizeof path, FIXTURES "/%s", name);
    if (vit_tokenizer_open(&t, path, &error) != VIT_OK) fail_msg("%s", error.message);
    return t;
}

/* "name <tab> ids <tab> JSON string", cut up at the tabs. */
static void check_case(char *line) {
    char *ids_text = strchr(line, '\t'), *json;
    uint32_t ids[256];
    size_t count = 0;
    *ids_text++ = 0;
    json = strchr(ids_text, '\t');
    *json++ = 0;
    for (char *at = ids_text; *at != 0;) ids[count++] = (uint32_t)strtoul(at, &at, 10);
    json_t *expected = json_loads(json, JSON_DECODE_ANY, NULL);
    vit_tokenizer t = open_fixture(line);
    char *text = vit_tokenizer_decode(&t, ids, count);
    assert_string_equal(text, json_string_value(expected));
    vit_free(text);
    vit_tokenizer_free(&t);
    json_decref(expected);
}

static void test_as_transformers(void **state) {
    vit_bytes file;
    size_t cases = 0;
    assert_int_equal(vit_read_file(&file, FIXTURES "/cases.txt", 1 << 20, NULL), VIT_OK);
    char *text = vit_alloc(file.size + 1, 1);
    memcpy(text, file.data, file.size);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), cases++)
        check_case(line);
    assert_int_equal(cases, 330);
    vit_free(text);
    vit_free(file.data);
}

static void test_odd_ids(void **state) {
    vit_tokenizer t = open_fixture("bpe");
    const uint32_t ids[] = {UINT32_MAX, 1u << 20, 0, 2};
    char *text = vit_tokenizer_decode(&t, ids, 4), *nothing = vit_tokenizer_decode(&t, NULL, 0);
    assert_string_equal(text, "");
    assert_string_equal(nothing, "");
    vit_free(text);
    vit_free(nothing);
    vit_tokenizer_free(&t);
}

/* ---- files that are refused ---- */

static void refuse_json(const char *json, vit_status expected, const char *says) {
    vit_tokenizer t;
    vit_error error;
    assert_int_equal(
        vit_tokenizer_read_json(&t, (const uint8_t *)json, strlen(json), "t.json", &error),
        expected);
    assert_non_null(strstr(error.message, "t.json: "));
    assert_non_null(strstr(error.message, says));
}

static void test_damaged_json(void **state) {
    refuse_json("{", VIT_ERROR_FORMAT, "line 1");
    refuse_json("{}", VIT_ERROR_FORMAT, "model.vocab");
    refuse_json("{\"model\": {\"vocab\": {\"a\": -1}}}", VIT_ERROR_FORMAT, "whole number");
    refuse_json("{\"model\": {\"vocab\": {\"a\": 99999999}}}", VIT_ERROR_UNSUPPORTED, "99999999");
    refuse_json("{\"model\": {\"vocab\": [[1, 2]]}}", VIT_ERROR_FORMAT, "a token in double quotes");
    refuse_json("{\"model\": {\"vocab\": {\"a\": 1}}, \"decoder\": {\"type\": \"CTC\"}}",
                VIT_ERROR_UNSUPPORTED, "\"CTC\"");
    refuse_json("{\"model\": {\"vocab\": {\"a\": 1}}, \"added_tokens\": [{\"id\": 3}]}",
                VIT_ERROR_FORMAT, "added token 0");
}

/* Cut off anywhere it is refused, or ends between two pieces. */
static void test_cut_sentencepiece(void **state) {
    vit_bytes file;
    size_t whole = 0;
    assert_int_equal(vit_read_file(&file, FIXTURES "/xlmr/sentencepiece.bpe.model", 1 << 20, NULL),
                     VIT_OK);
    for (size_t size = 0; size < file.size; size++) {
        vit_tokenizer t;
        vit_error error;
        uint8_t *cut = vit_alloc(size + 1, 1); /* of its own, so that sanitizers see its end */
        memcpy(cut, file.data, size);
        whole += vit_tokenizer_read_sentencepiece(&t, cut, size, true, "m", &error) == VIT_OK;
        vit_tokenizer_free(&t);
        vit_free(cut);
    }
    assert_int_equal(whole, 74); /* after each piece but the last, and after what follows them */
    vit_free(file.data);
}

static void test_no_tokenizer(void **state) {
    vit_tokenizer t;
    vit_error error;
    assert_int_equal(vit_tokenizer_open(&t, "tests", &error), VIT_ERROR_IO);
    assert_non_null(strstr(error.message, "tests: holds no tokenizer"));
    assert_non_null(strstr(error.message, "tokenizer.json"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_transformers), cmocka_unit_test(test_odd_ids),
        cmocka_unit_test(test_damaged_json),    cmocka_unit_test(test_cut_sentencepiece),
        cmocka_unit_test(test_no_tokenizer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
