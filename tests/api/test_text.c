/* Models that write texts through vit/vit.h: written, opened, asked; what is refused. */
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/texts.h"
#include "vit/weights/file/model_file.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const digits[] = {"0123456789"}, *const words[] = {"one two three"};

#define DECODER                                                                                \
    "\"decoder\": {\"dim\": 12, \"depth\": 2, \"heads\": 2, \"mlp\": 16, \"vocabulary\": 12, " \
    "\"length\": 7}}"

static const char *const configs[] = {
    "{\"image\": [8, 16], \"channels\": 1, \"patch\": 4, \"dim\": 12, \"depth\": 1, \"heads\": 2, "
    "\"mlp\": 16, \"pool\": \"tokens\", \"head\": \"none\", \"init\": \"torch\", " DECODER,
    "{\"stem\": \"tokens\", \"vocabulary\": 5, \"length\": 4, \"dim\": 12, \"depth\": 1, "
    "\"heads\": 2, \"mlp\": 16, \"pool\": \"tokens\", \"head\": \"none\", \"init\": "
    "\"torch\", " DECODER,
    "{\"stem\": \"none\", \"init\": \"torch\", " DECODER};
enum { PICTURES, TEXTS, NOTHING, KINDS };

/* A model with random weights, times `scale`, in a file. */
static void make_scaled(const char *path, int kind, float scale) {
    vit_model_file f = {.config = vit_config_default(), .recipe = vit_strdup("{}")};
    vit_operation operations[] = {
        {.kind = VIT_OP_GREY},
        {.kind = VIT_OP_RESIZE, .height = 8, .width = 16},
        {.kind = VIT_OP_NORMALIZE, .mean = {.5F, .5F, .5F}, .std = {.25F, .25F, .25F}}};
    vit_error error;
    if (vit_config_read(&f.config, configs[kind], "", &error) != VIT_OK ||
        vit_table_new(&f.table, &f.config, &error) != VIT_OK)
        fail_msg("%s", error.message);
    f.preprocessing.count = kind == PICTURES ? 3 : 0;
    memcpy(f.preprocessing.operations, operations, sizeof operations);
    assert_int_equal(vit_vocabulary_new(&f.vocabulary, VIT_SIGNS_CHARACTERS, digits, 1, NULL),
                     VIT_OK);
    if (kind == TEXTS)
        assert_int_equal(vit_vocabulary_new(&f.source_vocabulary, VIT_SIGNS_WORDS, words, 1, NULL),
                         VIT_OK);
    f.values = vit_alloc(f.table.size, sizeof(float));
    vit_table_init(1, f.values, &f.table, f.config.init, 5);
    for (size_t i = 0; i < f.table.size; i++) f.values[i] *= scale;
    assert_int_equal(vit_model_file_save(path, &f, &error), VIT_OK);
    vit_model_file_clear(&f);
}

static void make_model(const char *path, int kind) {
    make_scaled(path, kind, 1);
}

/* Of this process alone. */
static const char *model_path(void) {
    static char path[64];
    snprintf(path, sizeof path, "/tmp/vit-texts-%ld.safetensors", (long)getpid());
    return path;
}

typedef struct subject {
    vit_model *model;
    vit_text_session *session;
} subject;

static subject subject_new(int kind, const vit_text_options *options) {
    subject s = {0};
    vit_error error;
    make_model(model_path(), kind);
    if (vit_model_load(&s.model, model_path(), &error) != VIT_OK ||
        vit_text_session_new(&s.session, s.model, options, &error) != VIT_OK)
        fail_msg("%s", error.message);
    return s;
}

static void subject_free(subject *s) {
    vit_text_session_free(s->session);
    vit_model_free(s->model);
    remove(model_path());
}

static void check_answer(const vit_text_answer *a) {
    assert_int_equal(a->error.status, VIT_OK);
    const char *at = a->text; /* START, which random weights may write, is no text */
    for (size_t i = 0; i < a->count; i++)
        if (a->ids[i] >= VIT_ID_FIRST) assert_int_equal(*at++, '0' + (int)a->ids[i] - VIT_ID_FIRST);
    assert_int_equal(*at, 0);
    assert_true(a->score < 0 && isfinite(a->score));
}

static void test_texts(void **state) {
    static const char *const asked[] = {"one", "three two", "four", "", "one one one one one"};
    static const vit_status status[] = {VIT_OK, VIT_OK, VIT_ERROR_MISMATCH, VIT_ERROR_ARGUMENT,
                                        VIT_ERROR_MISMATCH};
    vit_text_answer answers[5], alone;
    vit_error error;
    subject s = subject_new(TEXTS, NULL);
    const vit_text_info info = vit_text_describe(s.model);
    assert_true(info.writes && info.reads_texts && !info.reads_pictures);
    assert_int_equal(vit_model_describe(s.model).classes, 0);
    assert_int_equal(vit_read_texts(s.session, asked, 5, answers, &error), VIT_OK);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(answers[i].error.status, status[i]);
        if (status[i] == VIT_OK) check_answer(&answers[i]);
    }
    assert_non_null(strstr(answers[2].error.message, "\"four\""));
    assert_int_equal(vit_read_texts(s.session, asked + 1, 1, &alone, &error), VIT_OK);
    assert_string_equal(alone.text, answers[1].text);
    assert_true(memcmp(&alone.score, &answers[1].score, sizeof alone.score) == 0);
    vit_text_answers_clear(answers, 5);
    vit_text_answers_clear(&alone, 1);
    const vit_picture picture = {.name = "x.png"};
    assert_int_equal(vit_read_pictures(s.session, &picture, 1, answers, &error),
                     VIT_ERROR_MISMATCH);
    subject_free(&s);
}

static void test_pictures(void **state) {
    const vit_picture pictures[] = {{.name = "tests/fixtures/image_rgb.png"},
                                    {.name = "there is none.png"},
                                    {.name = "tests/fixtures/image_grey.jpg"}};
    vit_text_answer answers[3];
    vit_error error;
    subject s = subject_new(PICTURES, &(vit_text_options){.beams = 3, .threads = 2});
    assert_int_equal(vit_read_pictures(s.session, pictures, 3, answers, &error), VIT_OK);
    check_answer(&answers[0]);
    assert_int_equal(answers[1].error.status, VIT_ERROR_IO);
    assert_null(answers[1].text);
    check_answer(&answers[2]);
    vit_text_answers_clear(answers, 3);
    const char *const text = "one";
    assert_int_equal(vit_read_texts(s.session, &text, 1, answers, &error), VIT_ERROR_MISMATCH);
    vit_session *session;
    assert_int_equal(vit_session_new(&session, s.model, NULL, &error), VIT_ERROR_MISMATCH);
    assert_non_null(strstr(error.message, "vit-read"));
    subject_free(&s);
}

static void test_language(void **state) {
    vit_text_answer answers[4], again[4];
    vit_error error;
    const vit_text_options options = {.sample = true, .seed = 3};
    subject s = subject_new(NOTHING, &options);
    assert_int_equal(vit_read_texts(s.session, NULL, 4, answers, &error), VIT_OK);
    for (size_t i = 0; i < 4; i++) check_answer(&answers[i]);
    vit_text_session_free(s.session);
    assert_int_equal(vit_text_session_new(&s.session, s.model, &options, &error), VIT_OK);
    bool all_alike = true;
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(vit_read_texts(s.session, NULL, 1, &again[i], &error), VIT_OK);
        assert_string_equal(again[i].text, answers[i].text);
        all_alike = all_alike && strcmp(answers[i].text, answers[0].text) == 0;
    }
    assert_false(all_alike);
    vit_text_answers_clear(answers, 4);
    vit_text_answers_clear(again, 4);
    subject_free(&s);
}

static void test_options(void **state) {
    static const vit_text_options bad[] = {{.beams = 65},
                                           {.length = 9},
                                           {.sample = true, .beams = 2},
                                           {.sample = true, .temperature = 1e-9},
                                           {.beams = 2, .length_penalty = {true, NAN}},
                                           {.length_penalty = {true, 1}},
                                           {.early_stopping = {true, 1}},
                                           {.temperature = 1},
                                           {.top_k = 5}};
    subject s = subject_new(NOTHING, NULL);
    vit_error error;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        vit_text_session *session;
        assert_int_equal(vit_text_session_new(&session, s.model, &bad[i], &error),
                         VIT_ERROR_ARGUMENT);
        assert_null(session);
    }
    subject_free(&s);
}

static void replace(const vit_bytes *file, const char *from, const char *to) {
    const size_t n = strlen(from);
    size_t at = 0;
    while (at + n <= file->size && memcmp(file->data + at, from, n) != 0) at++;
    assert_true(at + n <= file->size);
    memcpy(file->data + at, to, n);
}

/* A vocabulary that does not fit the embedding, or is not there. */
static void test_damaged(void **state) {
    vit_bytes file;
    vit_model *model;
    vit_error error;
    make_model(model_path(), NOTHING);
    assert_int_equal(vit_read_file(&file, model_path(), 1 << 20, NULL), VIT_OK);
    replace(&file, "\\\"9\\\"]", "\\\"8\\\"]"); /* 8 twice: not in order */
    assert_int_equal(vit_model_load_memory(&model, file.data, file.size, "m", NULL, &error),
                     VIT_ERROR_FORMAT);
    replace(&file, "vit.vocabulary", "vit.vocabularz");
    assert_int_equal(vit_model_load_memory(&model, file.data, file.size, "m", NULL, &error),
                     VIT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "vit.vocabulary"));
    vit_free(file.data);
    remove(model_path());
}

/* Layouts are of classifiers. */
static void test_not_exported(void **state) {
    static const char *const layouts[] = {"timm", "hf", "torchvision", "npz", "onnx", "pytorch"};
    make_model(model_path(), NOTHING);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        vit_error error;
        const vit_convert_options o = {
            .in = model_path(), .out = "/tmp/not-exported", .layout = layouts[i], .force = true};
        assert_int_equal(vit_convert(&o, &error), VIT_ERROR_UNSUPPORTED);
        assert_non_null(strstr(error.message, layouts[i]));
    }
    remove(model_path());
}

/* Weights that are numbers, and logits that are none: no text, however it is looked for. */
static void test_no_numbers(void **state) {
    vit_model *m;
    vit_error error;
    make_scaled(model_path(), NOTHING, 1e30F);
    assert_int_equal(vit_model_load(&m, model_path(), NULL), VIT_OK);
    const vit_text_options ways[] = {{.beams = 1}, {.beams = 3}, {.sample = true, .top_k = 2}};
    for (size_t i = 0; i < 3; i++) {
        vit_text_session *s;
        vit_text_answer answer;
        assert_int_equal(vit_text_session_new(&s, m, &ways[i], &error), VIT_OK);
        assert_int_equal(vit_read_texts(s, NULL, 1, &answer, &error), VIT_OK);
        assert_null(answer.text);
        assert_says(&answer.error, VIT_ERROR_FORMAT, "answer is not finite", "checkpoint");
        vit_text_answers_clear(&answer, 1);
        vit_text_session_free(s);
    }
    vit_model_free(m);
    remove(model_path());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_exported), cmocka_unit_test(test_texts),
        cmocka_unit_test(test_pictures),     cmocka_unit_test(test_language),
        cmocka_unit_test(test_options),      cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_no_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
