/* Published readers: directories of Hugging Face's VisionEncoderDecoder compute and write what
 * transformers does with them (tests/fixtures/make_readers.py), and those that are nearly right are
 * refused with a sentence. VIT_READER: such a directory, of which only the
 * logits are compared (scripts/check-readers). */
#include "tests/support/check.h"
#include "tests/support/fixture.h"
#include "tests/support/unit.h"
#include "vit/api/internal.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/tensors/tensors.h"
#include "vit/texts.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOT "tests/fixtures/readers"
#define BOUND 2e-5 /* of the largest logit */

static const char *const names[] = {"trocr_base", "trocr_large", "trocr_small", "gpt2"};

static vit_model *load(const char *directory) {
    vit_model *model;
    vit_error error;
    if (vit_model_load(&model, directory, &error) != VIT_OK) fail_msg("%s", error.message);
    return model;
}

/* ---- logits ---- */

static float *floats(const vit_tensors *file, const char *name, size_t count) {
    const vit_tensor *t = vit_tensors_find(file, name);
    assert_non_null(t);
    assert_int_equal(t->count, count);
    float *values = check_floats(count);
    assert_int_equal(vit_tensor_floats(t, values, NULL), VIT_OK);
    return values;
}

static vit_ids ids_of(const vit_tensors *file, uint32_t *ids, size_t most) {
    const vit_tensor *t = vit_tensors_find(file, "ids");
    assert_true(t && t->dtype == VIT_I64 && t->count <= most);
    for (size_t i = 0; i < t->count; i++) {
        int64_t id;
        memcpy(&id, (const char *)t->data + i * sizeof id, sizeof id);
        ids[i] = (uint32_t)id;
    }
    return (vit_ids){ids, t->count};
}

/* A text that is given, whole; want: [its tokens and START][ids]. */
static void check_logits(const vit_network *n, const float *image, vit_ids text,
                         const float *want) {
    const vit_config *c = &n->config;
    vit_arena arena = vit_arena_count();
    vit_state state;
    vit_state_carve(&state, &arena, c, 1, 1, VIT_KEPT_NOTHING, 0);
    assert_int_equal(vit_arena_init(&arena, arena.peak, "a test", NULL), VIT_OK);
    vit_state_carve(&state, &arena, c, 1, 1, VIT_KEPT_NOTHING, 0);
    state.decoder->texts = &text;
    const vit_exec exec = vit_network_exec(n, &state, vit_kernels_choose(VIT_CPU_AVX512), 1);
    vit_network_forward(n, &exec, &state, image, 1);
    const double difference = check_difference(state.decoder->head.logits, want,
                                               (text.count + 1) * c->decoder.vocabulary);
    if (!(difference <= BOUND)) fail_msg("logits differ by %.3g of the largest", difference);
    vit_arena_free(&arena);
}

static void test_logits(void **state) {
    const char *directory = *state;
    char path[300];
    vit_model *model = load(directory);
    const vit_config *c = &model->file.config;
    vit_tensors *file;
    uint32_t *ids = vit_alloc(c->decoder.length, sizeof *ids);
    snprintf(path, sizeof path, "%s/expected.safetensors", directory);
    assert_int_equal(vit_tensors_open(&file, path, NULL), VIT_OK);
    const vit_ids text = ids_of(file, ids, c->decoder.length);
    float *image = floats(file, "image", c->height * c->width * c->channels);
    float *want = floats(file, "logits", (text.count + 1) * c->decoder.vocabulary);
    check_logits(&model->network, image, text, want);
    free(image);
    free(want);
    vit_free(ids);
    vit_tensors_close(file);
    vit_model_free(model);
}

/* ---- texts ---- */

/* As vit-read takes them. */
static vit_text_options options_of(const json_t *arguments) {
    vit_text_options o = {.threads = 2};
    for (size_t i = 0; i + 1 < json_array_size(arguments); i += 2) {
        const char *name = json_string_value(json_array_get(arguments, i));
        const char *value = json_string_value(json_array_get(arguments, i + 1));
        assert_string_equal(name, "--beams");
        uint64_t beams;
        assert_true(vit_parse_u64(value, &beams));
        o.beams = (size_t)beams;
    }
    return o;
}

static void check_answer(const vit_text_answer *a, const json_t *expected, const char *directory) {
    const json_t *tokens = json_object_get(expected, "tokens");
    const double score = json_number_value(json_object_get(expected, "score"));
    if (a->error.status != VIT_OK) fail_msg("%s", a->error.message);
    if (a->count != json_array_size(tokens))
        fail_msg("%s: %zu tokens, expected %zu", directory, a->count, json_array_size(tokens));
    for (size_t i = 0; i < a->count; i++)
        assert_int_equal(a->ids[i], json_integer_value(json_array_get(tokens, i)));
    assert_string_equal(a->text, json_string_value(json_object_get(expected, "text")));
    assert_true(fabs(a->score - score) <= 1e-4 * fmax(1, fabs(score)));
}

/* Alone, and several at once. */
static void test_texts(void **state) {
    const char *directory = *state;
    char path[300], picture[300];
    vit_model *model = load(directory);
    size_t i;
    const json_t *one;
    snprintf(path, sizeof path, "%s/expected.json", directory);
    snprintf(picture, sizeof picture, "%s/picture.png", directory);
    json_t *expected = read_json(path);
    const vit_picture pictures[3] = {{.name = picture}, {.name = path}, {.name = picture}};
    json_array_foreach(json_object_get(expected, "cases"), i, one) {
        const vit_text_options o = options_of(json_object_get(one, "arguments"));
        vit_text_session *session;
        vit_text_answer answers[3];
        vit_error error;
        if (vit_text_session_new(&session, model, &o, &error) != VIT_OK)
            fail_msg("%s", error.message);
        assert_int_equal(vit_read_pictures(session, pictures, 3, answers, &error), VIT_OK);
        check_answer(&answers[0], one, directory);
        check_answer(&answers[2], one, directory);
        assert_int_equal(answers[1].error.status, VIT_ERROR_UNSUPPORTED);
        vit_text_answers_clear(answers, 3);
        vit_text_session_free(session);
    }
    json_decref(expected);
    vit_model_free(model);
}

/* ---- what is refused ---- */

/* A copy of a fixture's directory, in which `from` in `file` becomes `to`, all of it where from is
 * NULL; to NULL: the file is not there. */
static char scratch[] = "/tmp/vit_readers_XXXXXX";

static int make_scratch(void **state) {
    return mkdtemp(scratch) ? 0 : -1;
}

static int remove_scratch(void **state) {
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", scratch);
    return system(command);
}

static void spoil(char *directory, const char *fixture, const char *file, const char *from,
                  const char *to) {
    char command[700];
    snprintf(directory, 300, "%s/reader", scratch);
    snprintf(command, sizeof command, "rm -rf '%s' && cp -r " ROOT "/%s '%s'", directory, fixture,
             directory);
    assert_int_equal(system(command), 0);
    if (!to)
        snprintf(command, sizeof command, "rm '%s/%s'", directory, file);
    else if (!from)
        snprintf(command, sizeof command, "printf '%%s' '%s' > '%s/%s'", to, directory, file);
    else
        snprintf(command, sizeof command, "grep -q '%s' '%s/%s' && sed -i 's/%s/%s/' '%s/%s'", from,
                 directory, file, from, to, directory, file);
    assert_int_equal(system(command), 0);
}

static void test_refused(void **state) {
    static const struct {
        const char *fixture, *file, *from, *to;
        vit_status status;
        const char *says;
    } cases[] = {
        {"trocr_base", "vocab.json", NULL, NULL, VIT_ERROR_IO, "holds no tokenizer"},
        {"trocr_small", "sentencepiece.bpe.model", NULL, NULL, VIT_ERROR_IO, "tokenizer.json"},
        {"trocr_base", "added_tokens.json", NULL, "{\"far\": 330}", VIT_ERROR_MISMATCH,
         "tokens up to id 330, the network of texts ids up to 329"},
        {"trocr_base", "vocab.json", NULL, "{\"a\": 0}", VIT_ERROR_MISMATCH,
         "no token of id 2, with which texts end"},
        {"trocr_base", "config.json", "\"trocr\"", "\"bert\"", VIT_ERROR_UNSUPPORTED,
         "\"decoder\": \"model_type\" \"bert\" is not supported, expected trocr or gpt2"},
        {"trocr_base", "config.json", "\"vit\"", "\"swin\"", VIT_ERROR_UNSUPPORTED,
         "\"model_type\" \"swin\" is not supported"},
        {"trocr_base", "config.json", "\"trocr\"", "\"gpt2\"", VIT_ERROR_MISMATCH,
         "describes a decoder in the layout of GPT-2"},
        {"trocr_base", "config.json", "\"decoder_layers\": 2", "\"decoder_layers\": 3",
         VIT_ERROR_MISMATCH,
         "decoder.model.decoder.layers.2.self_attn_layer_norm.weight is missing"},
        {"trocr_base", "config.json", "\"decoder_layers\": 2", "\"decoder_layers\": 1",
         VIT_ERROR_MISMATCH, "tensor decoder.model.decoder.layers.1."},
        {"trocr_base", "config.json", "\"vocab_size\": 330", "\"vocab_size\": 331",
         VIT_ERROR_MISMATCH, "decoder.model.decoder.embed_tokens.weight has shape [330, 20]"},
        {"trocr_base", "config.json", "\"cross_attention_hidden_size\": 16",
         "\"cross_attention_hidden_size\": 18", VIT_ERROR_MISMATCH,
         "is 18, the encoder's \"hidden_size\" 16"},
        {"trocr_base", "config.json", "\"activation_function\": \"gelu\"",
         "\"activation_function\": \"tanh\"", VIT_ERROR_UNSUPPORTED, "\"tanh\" is not supported"},
        {"gpt2", "config.json", "\"scale_attn_weights\": true", "\"scale_attn_weights\": false",
         VIT_ERROR_UNSUPPORTED, "\"scale_attn_weights\" false is not supported"},
        {"gpt2", "generation_config.json", "\"max_length\": 16", "\"do_sample\": true",
         VIT_ERROR_UNSUPPORTED, "\"do_sample\" is not supported: take it out"},
        {"gpt2", "generation_config.json", "\"max_length\": 16", "\"min_length\": 5",
         VIT_ERROR_UNSUPPORTED, "\"min_length\" 5 is not supported"},
        {"gpt2", "generation_config.json", "\"eos_token_id\": 2", "\"eos_token_id\": [2, 3]",
         VIT_ERROR_UNSUPPORTED, "are 2 ids, of which one is supported"},
        {"gpt2", "generation_config.json", "\"eos_token_id\": 2", "\"eos_token_id\": null",
         VIT_ERROR_UNSUPPORTED, "does not say with which id texts end: add \"eos_token_id\""},
        {"gpt2", "generation_config.json", "\"num_beams\": 4", "\"num_beams\": \"x\"",
         VIT_ERROR_FORMAT, "\"num_beams\" must be a whole number"},
        {"gpt2", "preprocessor_config.json", NULL, NULL, VIT_ERROR_UNSUPPORTED,
         "does not say how pictures are prepared"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char directory[300];
        vit_model *model;
        vit_error error = {0};
        spoil(directory, cases[i].fixture, cases[i].file, cases[i].from, cases[i].to);
        assert_int_equal(vit_model_load(&model, directory, &error), cases[i].status);
        if (!strstr(error.message, cases[i].says))
            fail_msg("\"%s\", expected \"%s\"", error.message, cases[i].says);
    }
}

/* A key that says nothing, or one id in a list, is as good as none. */
static void test_accepted(void **state) {
    static const char *const pairs[][2] = {{"\"max_length\": 16", "\"do_sample\": false"},
                                           {"\"max_length\": 16", "\"repetition_penalty\": 1.0"},
                                           {"\"max_length\": 16", "\"max_new_tokens\": 15"},
                                           {"\"eos_token_id\": 2", "\"eos_token_id\": [2]"},
                                           {"\"bos_token_id\": 0", "\"bos_token_id\": []"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char directory[300];
        spoil(directory, "gpt2", "generation_config.json", pairs[i][0], pairs[i][1]);
        vit_model *model = load(directory);
        assert_int_equal(model->file.writing.length, i == 0 || i == 1 ? 21 : 16);
        assert_int_equal(model->file.config.decoder.end, 2);
        vit_model_free(model);
    }
}

/* As transformers writes it where a tokenizer has no longest text. */
static void test_no_longest(void **state) {
    char directory[300];
    spoil(directory, "trocr_base", "tokenizer_config.json", NULL,
          "{\"model_max_length\": 1000000000000000019884624838656, \"pad_token\": \"<pad>\"}");
    vit_model_free(load(directory));
}

/* What vit-info shows of one; a model file has no place for its tokenizer. */
static void test_described(void **state) {
    vit_model *model = load(ROOT "/trocr_small");
    const vit_text_info t = vit_text_describe(model);
    char path[300];
    vit_error error;
    assert_true(t.writes && t.reads_pictures && !t.reads_texts);
    assert_true(t.beams == 3 && t.length == 21 && t.no_repeat == 3 &&
                t.early_stopping == VIT_EARLY_STOPPING_TRUE);
    assert_true(t.length_penalty == 2.0 && t.tokens > 4);
    snprintf(path, sizeof path, "%s/own.safetensors", scratch);
    assert_int_equal(vit_model_file_save(path, &model->file, &error), VIT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "no place for the tokenizer"));
    assert_int_equal(access(path, F_OK), -1);
    vit_model_free(model);
}

/* Models of the two kinds say to whom they belong. */
static void test_other_kind(void **state) {
    vit_model *reader = load(ROOT "/gpt2"), *classifier = load("tests/fixtures/published/hf_4");
    vit_session *session;
    vit_text_session *texts;
    vit_error error;
    assert_int_equal(vit_session_new(&session, reader, NULL, &error), VIT_ERROR_MISMATCH);
    assert_non_null(strstr(error.message, "it is one for vit-read"));
    assert_int_equal(vit_text_session_new(&texts, classifier, NULL, &error), VIT_ERROR_MISMATCH);
    assert_non_null(strstr(error.message, "it is one for vit-classify"));
    vit_model_free(reader);
    vit_model_free(classifier);
}

int main(void) {
    static char directories[sizeof names / sizeof *names][100];
    struct CMUnitTest tests[32];
    size_t count = 0;
    char *given = getenv("VIT_READER");
    for (size_t i = 0; i < sizeof names / sizeof *names && !given; i++) {
        snprintf(directories[i], sizeof directories[i], ROOT "/%s", names[i]);
        tests[count++] = (struct CMUnitTest){names[i], test_logits, NULL, NULL, directories[i]};
        tests[count++] = (struct CMUnitTest){names[i], test_texts, NULL, NULL, directories[i]};
    }
    const struct CMUnitTest others[] = {
        cmocka_unit_test(test_described), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_accepted), cmocka_unit_test(test_no_longest),
        cmocka_unit_test(test_other_kind)};
    for (size_t i = 0; i < sizeof others / sizeof *others && !given; i++)
        tests[count++] = others[i];
    if (given) tests[count++] = (struct CMUnitTest){given, test_logits, NULL, NULL, given};
    return _cmocka_run_group_tests("readers", tests, count, make_scratch, remove_scratch);
}
