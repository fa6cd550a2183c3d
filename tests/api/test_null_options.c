/* `options` may be NULL: for every function of the public headers that takes them, it is as if all
 * were zero. A function that is not in the table, but in a header, fails the test. */
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/few_shot.h"
#include "vit/labels.h"
#include "vit/maps.h"
#include "vit/reliance.h"
#include "vit/reports.h"
#include "vit/texts.h"
#include "vit/zero_shot.h"
#include <glob.h>
#include <string.h>

#define MNIST "models/mnist.safetensors"

static vit_model *model;
static vit_session *session;
static uint8_t digit[28 * 28];

/* Each calls its function with NULL or with zeroed options. */
typedef vit_status call(bool null, vit_error *error);
#define OPTIONS(type) (null ? NULL : &(type){0})

static vit_status load_with(bool null, vit_error *error) {
    vit_model *m;
    const vit_status status = vit_model_load_with(&m, MNIST, OPTIONS(vit_model_options), error);
    vit_model_free(m);
    return status;
}

static vit_status load_memory(bool null, vit_error *error) {
    vit_bytes bytes;
    vit_model *m;
    assert_int_equal(vit_read_file(&bytes, MNIST, 1 << 26, NULL), VIT_OK);
    const vit_status status =
        vit_model_load_memory(&m, bytes.data, bytes.size, MNIST, OPTIONS(vit_model_options), error);
    vit_free(bytes.data);
    vit_model_free(m);
    return status;
}

static vit_status convert(bool null, vit_error *error) {
    return vit_convert(OPTIONS(vit_convert_options), error);
}

static vit_status new_session(bool null, vit_error *error) {
    vit_session *s;
    const vit_status status = vit_session_new(&s, model, OPTIONS(vit_session_options), error);
    vit_session_free(s);
    return status;
}

static vit_status explain(bool null, vit_error *error) {
    vit_map map;
    const vit_status status = vit_explain(session, digit, OPTIONS(vit_map_options), &map, error);
    vit_map_clear(&map);
    return status;
}

static vit_status page(bool null, vit_error *error) {
    vit_buffer html;
    const vit_status status =
        vit_explain_page(session, digit, OPTIONS(vit_page_options), &html, error);
    vit_buffer_clear(&html);
    return status;
}

static vit_status evaluate(bool null, vit_error *error) {
    vit_evaluation result;
    const vit_status status = vit_evaluate(model, OPTIONS(vit_evaluate_options), &result, error);
    vit_evaluation_clear(&result);
    return status;
}

static vit_status evaluate_labels(bool null, vit_error *error) {
    vit_label_evaluation result;
    const vit_status status =
        vit_evaluate_labels(model, OPTIONS(vit_evaluate_options), &result, error);
    vit_label_evaluation_clear(&result);
    return status;
}

static vit_status teach(bool null, vit_error *error) {
    vit_few_shot *teaching;
    const vit_status status =
        vit_few_shot_new(&teaching, model, OPTIONS(vit_few_shot_options), error);
    if (status == VIT_OK) vit_few_shot_free(teaching);
    return status;
}

static vit_status report(bool null, vit_error *error) {
    return vit_write_report(OPTIONS(vit_report_options), error);
}

static vit_status train(bool null, vit_error *error) {
    return vit_train(NULL, OPTIONS(vit_train_options), error);
}

static vit_status find_lr(bool null, vit_error *error) {
    vit_lr_search search;
    return vit_find_lr(&search, OPTIONS(vit_train_options), error);
}

static vit_status text_session(bool null, vit_error *error) {
    vit_text_session *s;
    const vit_status status = vit_text_session_new(&s, model, OPTIONS(vit_text_options), error);
    vit_text_session_free(s);
    return status;
}

static vit_status load_embedder(bool null, vit_error *error) {
    vit_embedder *words;
    const vit_status status = vit_embedder_load(&words, "tests/fixtures/words/clip",
                                                OPTIONS(vit_embedder_options), error);
    vit_embedder_free(words);
    return status;
}

static vit_status load_words(bool null, vit_error *error) {
    vit_model *m;
    const vit_status status =
        vit_model_load_zero_shot(&m, MNIST, OPTIONS(vit_model_options), NULL, 0, error);
    vit_model_free(m);
    return status;
}

static vit_status convert_words(bool null, vit_error *error) {
    return vit_convert_zero_shot(OPTIONS(vit_convert_options), NULL, 0, error);
}

static vit_status embed_texts(bool null, vit_error *error) {
    const char *const texts[] = {"a cat"};
    float features[512];
    vit_embedder *words;
    vit_status status = vit_embedder_load(&words, "tests/fixtures/words/clip", NULL, error);
    if (status == VIT_OK)
        status =
            vit_embed_texts(words, texts, 1, OPTIONS(vit_embed_texts_options), features, error);
    vit_embedder_free(words);
    return status;
}

static vit_status calibrate(bool null, vit_error *error) {
    vit_calibration *c;
    return vit_calibration_new(&c, model, OPTIONS(vit_evaluate_options), error);
}

static vit_status embed_data(bool null, vit_error *error) {
    return vit_embed_data(model, OPTIONS(vit_evaluate_options), NULL, NULL, NULL, error);
}

static vit_status left_out(bool null, vit_error *error) {
    return vit_evaluate_left_out(model, OPTIONS(vit_evaluate_options), 0, NULL, error);
}

static vit_status unknown_rule(bool null, vit_error *error) {
    const uint8_t pixels[2 * 28 * 28] = {0};
    const int64_t labels[2] = {0, 1};
    const vit_arrays two = {
        .height = 28, .width = 28, .channels = 1, .classes = 10, .test = {pixels, labels, 2}};
    const vit_evaluate_options pictures = {.arrays = &two};
    vit_calibration *c;
    vit_unknown_rule *rule;
    vit_status status = vit_calibration_new(&c, model, &pictures, error);
    assert_int_equal(status, VIT_OK);
    status = vit_unknown_rule_new(&rule, c, OPTIONS(vit_unknown_options), error);
    vit_calibration_free(c);
    return status;
}

static vit_status bank_new(bool null, vit_error *error) {
    vit_bank *b;
    const vit_status status =
        vit_bank_new(&b, model, session, NULL, 0, OPTIONS(vit_bank_options), NULL, error);
    vit_bank_free(b);
    return status;
}

static vit_status bank_test(bool null, vit_error *error) {
    const vit_picture pictures[] = {
        {.name = "a", .pixels = digit, .width = 28, .height = 28, .channels = 1, .stride = 28},
        {.name = "b", .pixels = digit, .width = 28, .height = 28, .channels = 1, .stride = 28}};
    vit_bank *b;
    vit_anomaly anomaly;
    vit_answer answer;
    vit_status status = vit_bank_new(&b, model, session, pictures, 2, NULL, NULL, error);
    assert_int_equal(status, VIT_OK);
    status = vit_bank_test(b, model, session, pictures, 1, OPTIONS(vit_bank_options), &anomaly,
                           NULL, &answer, error);
    vit_bank_free(b);
    return status;
}

static vit_status set_rule(bool null, vit_error *error) {
    const int64_t label = 3;
    const vit_arrays one = {
        .height = 28, .width = 28, .channels = 1, .classes = 10, .test = {digit, &label, 1}};
    const vit_evaluate_options picture = {.arrays = &one};
    vit_calibration *c;
    vit_set_rule *rule;
    vit_status status = vit_calibration_new(&c, model, &picture, error);
    if (status != VIT_OK) return status;
    status = vit_set_rule_new(&rule, c, OPTIONS(vit_set_options), error);
    vit_calibration_free(c);
    return status;
}

static vit_status evaluation_page(bool null, vit_error *error) {
    const vit_evaluation_page page = {.out = "page.html"};
    vit_evaluation result;
    return vit_evaluate_page(model, OPTIONS(vit_evaluate_options), &page, &result, error);
}

static vit_status compare_runs(bool null, vit_error *error) {
    return vit_write_comparison(OPTIONS(vit_comparison_options), error);
}

static const struct {
    const char *name;
    call *call;
    vit_status status;
    const char *says; /* where it fails, as something is needed */
} functions[] = {
    {"vit_model_load_with", load_with, VIT_OK, ""},
    {"vit_model_load_memory", load_memory, VIT_OK, ""},
    {"vit_embedder_load", load_embedder, VIT_OK, ""},
    {"vit_embed_texts", embed_texts, VIT_OK, ""},
    {"vit_model_load_zero_shot", load_words, VIT_OK, ""},
    {"vit_convert_zero_shot", convert_words, VIT_ERROR_ARGUMENT, "a model to read"},
    {"vit_convert", convert, VIT_ERROR_ARGUMENT, "a model to read"},
    {"vit_session_new", new_session, VIT_OK, ""},
    {"vit_explain", explain, VIT_OK, ""},
    {"vit_explain_page", page, VIT_OK, ""},
    {"vit_evaluate", evaluate, VIT_ERROR_ARGUMENT, "no data was named"},
    {"vit_evaluate_labels", evaluate_labels, VIT_ERROR_UNSUPPORTED, "any number of classes"},
    {"vit_calibration_new", calibrate, VIT_ERROR_ARGUMENT, "no data was named"},
    {"vit_embed_data", embed_data, VIT_ERROR_ARGUMENT, "no data was named"},
    {"vit_evaluate_left_out", left_out, VIT_ERROR_ARGUMENT, "no data was named"},
    {"vit_unknown_rule_new", unknown_rule, VIT_ERROR_ARGUMENT, "rate of false alarms"},
    {"vit_bank_new", bank_new, VIT_ERROR_ARGUMENT, "two good pictures"},
    {"vit_bank_test", bank_test, VIT_OK, ""},
    {"vit_set_rule_new", set_rule, VIT_ERROR_ARGUMENT, "coverage is a share"},
    {"vit_evaluate_page", evaluation_page, VIT_ERROR_ARGUMENT, "no data was named"},
    {"vit_write_comparison", compare_runs, VIT_ERROR_ARGUMENT, "two logs or more"},
    {"vit_few_shot_new", teach, VIT_OK, ""},
    {"vit_write_report", report, VIT_ERROR_ARGUMENT, "needs a log"},
    {"vit_train", train, VIT_ERROR_ARGUMENT, "no data was named"},
    {"vit_find_lr", find_lr, VIT_ERROR_ARGUMENT, "no data was named"},
    {"vit_text_session_new", text_session, VIT_ERROR_MISMATCH, "writes no texts"},
};
#define COUNT (sizeof functions / sizeof *functions)

static void test_calls(void **state) {
    for (size_t i = 0; i < 2 * COUNT; i++) {
        vit_error error = {0};
        const vit_status status = functions[i / 2].call(i % 2 == 0, &error);
        if (status != functions[i / 2].status || !strstr(error.message, functions[i / 2].says))
            fail_msg("%s: %s: %s", functions[i / 2].name, vit_status_name(status), error.message);
    }
}

/* ---- none is left out ---- */

static size_t place_of(const char *name, size_t length) {
    size_t i = 0;
    while (i < COUNT &&
           (strncmp(functions[i].name, name, length) != 0 || functions[i].name[length]))
        i++;
    return i;
}

/* A prototype runs from VIT_API to its semicolon. Returns how many take options. */
static size_t check_header(const char *text, const char *path) {
    size_t found = 0;
    for (const char *at = strstr(text, "\nVIT_API "); at; at = strstr(at + 1, "\nVIT_API ")) {
        const char *end = strchr(at, ';'), *options = strstr(at, "_options *options");
        const char *name = strstr(at + 9, "vit_");
        assert_non_null(end);
        if (!options || options > end) continue;
        if (strncmp(name, "vit_status ", 11) == 0) name += 11;
        const size_t length = strcspn(name, "(");
        if (place_of(name, length) == COUNT)
            fail_msg("%s: %.*s takes options and is not tried with NULL", path, (int)length, name);
        found++;
    }
    return found;
}

static void test_headers(void **state) {
    glob_t headers;
    size_t found = 0;
    assert_int_equal(glob("vit/*.h", 0, NULL, &headers), 0);
    for (size_t i = 0; i < headers.gl_pathc; i++) {
        vit_bytes bytes;
        char *text;
        assert_int_equal(vit_read_file(&bytes, headers.gl_pathv[i], 1 << 20, NULL), VIT_OK);
        text = vit_alloc(bytes.size + 1, 1);
        assert_non_null(text);
        memcpy(text, bytes.data, bytes.size);
        found += check_header(text, headers.gl_pathv[i]);
        vit_free(bytes.data);
        vit_free(text);
    }
    globfree(&headers);
    assert_int_equal(found, COUNT);
}

static int open_model(void **state) {
    vit_draw_digit(digit, 3, 1);
    return vit_model_load(&model, MNIST, NULL) != VIT_OK ||
           vit_session_new(&session, model, NULL, NULL) != VIT_OK;
}

static int close_model(void **state) {
    vit_session_free(session);
    vit_model_free(model);
    return 0;
}

/* Nothing is cleared or freed without a fault. */
static void test_nothing(void **state) {
    vit_evaluation_clear(NULL);
    vit_map_clear(NULL);
    vit_curves_clear(NULL);
    vit_buffer_clear(NULL);
    vit_text_answers_clear(NULL, 0);
    vit_model_free(NULL);
    vit_session_free(NULL);
    vit_text_session_free(NULL);
    vit_tensor_list_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, open_model, close_model);
}
