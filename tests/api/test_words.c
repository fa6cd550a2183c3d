/* Texts beside pictures: features and logits as transformers and open_clip compute them
 * (tests/fixtures/make_words.py), the same numbers for any batch and threads, and what is refused.
 */
#include "tests/support/check.h"
#include "tests/support/fixture.h"
#include "tests/support/scratch.h"
#include "tests/support/spoiled.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/zero_shot.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOT "tests/fixtures/words"
#define BOUND 2e-5 /* of the largest number */

typedef struct texts {
    const char *list[16];
    size_t count;
} texts;

static texts strings(const json_t *object, const char *key) {
    texts t = {.count = json_array_size(json_object_get(object, key))};
    assert_in_range(t.count, 1, 16);
    for (size_t i = 0; i < t.count; i++)
        t.list[i] = json_string_value(json_array_get(json_object_get(object, key), i));
    return t;
}

static void read_row(float *out, const json_t *row) {
    for (size_t i = 0; i < json_array_size(row); i++)
        out[i] = (float)json_number_value(json_array_get(row, i));
}

static void assert_close(const char *name, const float *found, const json_t *row) {
    const size_t count = json_array_size(row);
    float *want = check_floats(count);
    read_row(want, row);
    const double difference = check_difference(found, want, count);
    if (!(difference <= BOUND)) fail_msg("%s: differs by %.3g of the largest", name, difference);
    free(want);
}

static json_t *expected_of(const char *name) {
    char path[200];
    snprintf(path, sizeof path, ROOT "/%s/expected.json", name);
    return read_json(path);
}

static vit_embedder *open_words(const char *name, int threads) {
    char path[200];
    vit_embedder *e;
    vit_error error;
    const vit_embedder_options options = {.threads = threads};
    snprintf(path, sizeof path, ROOT "/%s", name);
    if (vit_embedder_load(&e, path, &options, &error) != VIT_OK) fail_msg("%s", error.message);
    return e;
}

static void test_features(void **state) {
    const char *name = *state;
    json_t *expected = expected_of(name);
    const texts t = strings(expected, "texts");
    vit_embedder *e = open_words(name, 2);
    const size_t width = vit_embedder_describe(e).features;
    const vit_embed_texts_options cut = {.cut = true};
    float *features = check_floats(t.count * width), *one = check_floats(width);
    vit_error error;
    if (vit_embed_texts(e, t.list, t.count, &cut, features, &error) != VIT_OK)
        fail_msg("%s", error.message);
    for (size_t i = 0; i < t.count; i++) {
        assert_close(t.list[i], features + i * width,
                     json_array_get(json_object_get(expected, "features"), i));
        assert_int_equal(vit_embed_texts(e, &t.list[i], 1, &cut, one, &error), VIT_OK);
        assert_memory_equal(one, features + i * width, width * sizeof *one);
    }
    vit_embedder_free(e);
    free(features);
    free(one);
    json_decref(expected);
}

/* The logits of the picture beside the labels, joined by commas. */
static void check_logits(const char *name, const texts *labels, const texts *templates,
                         const json_t *want) {
    char path[200], list[200] = "";
    vit_model *model;
    vit_session *session;
    vit_error error;
    snprintf(path, sizeof path, ROOT "/%s", name);
    for (size_t i = 0; i < labels->count; i++) {
        strcat(list, i > 0 ? "," : "");
        strcat(list, labels->list[i]);
    }
    const vit_model_options options = {.labels = list};
    if (vit_model_load_zero_shot(&model, path, &options, templates ? templates->list : NULL,
                                 templates ? templates->count : 0, &error) != VIT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(vit_model_describe(model).classes, labels->count);
    assert_string_equal(vit_model_label(model, 2), labels->list[2]);
    const bool sigmoid = strstr(name, "siglip");
    assert_int_equal(vit_model_describe(model).scoring,
                     sigmoid ? VIT_SCORING_SIGMOID : VIT_SCORING_SOFTMAX);
    assert_int_equal(vit_session_new(&session, model, NULL, &error), VIT_OK);
    float *logits = check_floats(labels->count);
    assert_int_equal(vit_classify_file(session, PUBLISHED "/picture.png", logits, &error), VIT_OK);
    assert_close(name, logits, want);
    free(logits);
    vit_session_free(session);
    vit_model_free(model);
}

static void test_logits(void **state) {
    const char *name = *state;
    json_t *expected = expected_of(name);
    const texts labels = strings(expected, "labels"), templates = strings(expected, "templates");
    check_logits(name, &labels, NULL, json_object_get(expected, "logits"));
    check_logits(name, &labels, &templates, json_object_get(expected, "averaged"));
    json_decref(expected);
}

/* Frozen into a file, the same words give the same bytes. */
static void test_frozen(void **state) {
    vit_model *model;
    vit_session *session;
    vit_error error;
    float logits[2][3];
    char clip[5000], picture[5000];
    const char *labels = "cat,dog,a red bus";
    snprintf(clip, sizeof clip, "%s/" ROOT "/clip", project);
    snprintf(picture, sizeof picture, "%s/" PUBLISHED "/picture.png", project);
    const vit_convert_options convert = {.in = clip, .out = "words.safetensors", .labels = labels};
    if (vit_convert(&convert, &error) != VIT_OK) fail_msg("%s", error.message);
    const vit_model_options words = {.labels = labels};
    for (int i = 0; i < 2; i++) {
        const char *path = i == 0 ? clip : convert.out;
        if (vit_model_load_with(&model, path, i == 0 ? &words : NULL, &error) != VIT_OK)
            fail_msg("%s", error.message);
        assert_int_equal(vit_session_new(&session, model, NULL, &error), VIT_OK);
        assert_int_equal(vit_classify_file(session, picture, logits[i], &error), VIT_OK);
        assert_string_equal(vit_model_label(model, 2), "a red bus");
        vit_session_free(session);
        vit_model_free(model);
    }
    assert_memory_equal(logits[0], logits[1], sizeof logits[0]);
}

static void classify_with(float logits[2], const char *const *templates, size_t count) {
    const vit_model_options options = {.labels = "cat,dog"};
    vit_model *model;
    vit_session *session;
    vit_error error;
    assert_int_equal(
        vit_model_load_zero_shot(&model, ROOT "/clip", &options, templates, count, &error), VIT_OK);
    assert_int_equal(vit_session_new(&session, model, NULL, &error), VIT_OK);
    assert_int_equal(vit_classify_file(session, PUBLISHED "/picture.png", logits, &error), VIT_OK);
    vit_session_free(session);
    vit_model_free(model);
}

/* "imagenet" is the file with the 80, "imagenet-simple" these seven. */
static void test_named_templates(void **state) {
    static const char *const named[] = {"imagenet", "imagenet-simple"},
                             *const file[] = {"vit/weights/file/imagenet-templates.txt"},
                             *const simple[] = {
                                 "itap of a {}.",           "a bad photo of the {}.",
                                 "a origami {}.",           "a photo of the large {}.",
                                 "a {} in a video game.",   "art of the {}.",
                                 "a photo of the small {}."};
    float logits[4][2];
    classify_with(logits[0], &named[0], 1);
    classify_with(logits[1], file, 1);
    classify_with(logits[2], &named[1], 1);
    classify_with(logits[3], simple, 7);
    assert_memory_equal(logits[0], logits[1], sizeof logits[0]);
    assert_memory_equal(logits[2], logits[3], sizeof logits[0]);
    assert_memory_not_equal(logits[0], logits[2], sizeof logits[0]);
}

static void refuse_words(const char *path, const char *labels, const char *template,
                         vit_status status, const char *a, const char *b) {
    vit_model *model;
    vit_error error = {0};
    const vit_model_options options = {.labels = labels};
    assert_int_equal(
        vit_model_load_zero_shot(&model, path, &options, &template, template ? 1 : 0, &error),
        status);
    assert_says(&error, status, a, b);
}

static void test_labels(void **state) {
    char long_label[600] = "";
    for (int i = 0; i < 90; i++) strcat(long_label, "word ");
    strcat(long_label, ",cat");
    refuse_words(ROOT "/clip", "cat,,dog", NULL, VIT_ERROR_ARGUMENT, "one of them is empty",
                 "cat,dog");
    refuse_words(ROOT "/clip", long_label, NULL, VIT_ERROR_UNSUPPORTED, "more than the 77 tokens",
                 "shorten it");
    refuse_words(ROOT "/clip", "cat,dog,cat", NULL, VIT_ERROR_ARGUMENT, "\"cat\" is there twice",
                 "leave one out");
    refuse_words(ROOT "/clip", "words.txt", NULL, VIT_ERROR_IO, "words.txt", "labels");
    refuse_words(ROOT "/clip", "dog", NULL, VIT_ERROR_ARGUMENT, "\"dog\" is the only class",
                 "dog,something else");
    refuse_words(ROOT "/clip", "cat,dog", "a photo", VIT_ERROR_ARGUMENT, "\"a photo\" has no {}",
                 "a photo of a {}");
    refuse_words(ROOT "/clip", "cat,dog", "{} and {}", VIT_ERROR_ARGUMENT, "must have one {}",
                 "and");
    refuse_words(ROOT "/clip", NULL, "a {}", VIT_ERROR_ARGUMENT, "add --labels", "cat,dog");
    refuse_words(PUBLISHED "/hf_4", "cat,dog", NULL, VIT_ERROR_MISMATCH, "classes of its own",
                 "CLIP or SigLIP");
    refuse_words(PUBLISHED "/hf_4", "cat,dog", "a {}", VIT_ERROR_ARGUMENT, "leave --template out",
                 "CLIP or SigLIP");
    refuse_words(PUBLISHED "/hf_clip", "cat,dog", NULL, VIT_ERROR_IO, "tokenizer.json", "hf_clip");
}

/* CLIP's texts get the ids of either library; OpenCLIP takes ligatures apart. */
static void test_as(void **state) {
    static const char *const fish[] = {"\xef\xac\x81sh", "fish"};
    float features[2 * 20];
    vit_error error;
    const vit_model_options options = {.labels = "cat,dog", .emulate = "open_clip"};
    for (int open = 0; open < 4; open++) {
        vit_embedder *e;
        const vit_embedder_options as = {.emulate = open % 2 ? "open_clip" : "hf"};
        assert_int_equal(
            vit_embedder_load(&e, open < 2 ? ROOT "/clip" : ROOT "/open_clip", &as, &error),
            VIT_OK);
        assert_int_equal(vit_embed_texts(e, fish, 2, NULL, features, &error), VIT_OK);
        assert_int_equal(memcmp(features, features + 20, 20 * sizeof *features) == 0, open % 2);
        vit_embedder_free(e);
    }
    vit_embedder *none;
    const vit_embedder_options timm = {.emulate = "timm"}, open = {.emulate = "open_clip"};
    assert_int_equal(vit_embedder_load(&none, ROOT "/clip", &timm, &error), VIT_ERROR_UNSUPPORTED);
    assert_says(&error, VIT_ERROR_UNSUPPORTED, "not as timm", "hf, open_clip");
    assert_int_equal(vit_embedder_load(&none, ROOT "/siglip", &open, &error),
                     VIT_ERROR_UNSUPPORTED);
    vit_model *model;
    assert_int_equal(vit_model_load_zero_shot(&model, ROOT "/clip", &options, NULL, 0, &error),
                     VIT_OK);
    vit_model_free(model);
}

static void test_texts(void **state) {
    static const char *const damaged[] = {"a cat", "\xff\xfe"};
    char long_text[600] = "";
    const char *long_texts[] = {long_text};
    float features[2 * 20];
    vit_error error;
    vit_embedder *e = open_words("clip", 1);
    const vit_embedder_info info = vit_embedder_describe(e);
    assert_int_equal(info.features, 20);
    assert_int_equal(info.length, 77);
    assert_true(info.scale > 22 && info.scale < 23); /* e^3.1 */
    assert_int_equal(vit_embedder_tokens(e, ""), 2);
    for (int i = 0; i < 90; i++) strcat(long_text, "word ");
    assert_int_equal(vit_embed_texts(e, damaged, 2, NULL, features, &error), VIT_ERROR_FORMAT);
    assert_int_equal(vit_embed_texts(e, long_texts, 1, NULL, features, &error),
                     VIT_ERROR_UNSUPPORTED);
    assert_says(&error, VIT_ERROR_UNSUPPORTED, "word word", "77 tokens");
    assert_int_equal(vit_embed_texts(e, NULL, 0, NULL, features, &error), VIT_OK);
    vit_embedder_free(e);
    assert_int_equal(vit_embedder_load(&e, PUBLISHED "/hf_4", NULL, &error), VIT_ERROR_UNSUPPORTED);
    assert_says(&error, VIT_ERROR_UNSUPPORTED, "no text encoder", "CLIP");
    assert_null(e);
    vit_embedder_free(NULL);
}

/* A tokenizer with more ids than the tower has rows for. */
static void test_other_tokenizer(void **state) {
    static const char *const names[] = {"config.json", "model.safetensors"};
    vit_embedder *e;
    vit_error error;
    vit_bytes bytes;
    for (size_t i = 0; i < 3; i++) {
        const char *name = i < 2 ? names[i] : "tokenizer.json";
        char path[5000];
        snprintf(path, sizeof path, "%s/" ROOT "/%s/%s", project, i < 2 ? "siglip" : "clip", name);
        assert_int_equal(vit_read_file(&bytes, path, 1 << 24, &error), VIT_OK);
        assert_int_equal(vit_write_file(name, bytes.data, bytes.size, &error), VIT_OK);
        vit_free(bytes.data);
    }
    assert_int_equal(vit_embedder_load(&e, ".", NULL, &error), VIT_ERROR_MISMATCH);
    assert_says(&error, VIT_ERROR_MISMATCH, "the tokenizer has tokens up to id",
                "tokenizer's files of the same model");
}

#define CASE(name)                                         \
    {"features " name, test_features, NULL, NULL, name}, { \
        "logits " name, test_logits, NULL, NULL, name      \
    }

int main(void) {
    find_project();
    const struct CMUnitTest tests[] = {
        CASE("clip"),
        CASE("clip_old"),
        CASE("metaclip_2"),
        CASE("siglip"),
        CASE("open_clip"),
        CASE("open_clip_siglip"),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_named_templates),
        cmocka_unit_test(test_as),
        cmocka_unit_test(test_texts),
        IN_DIRECTORY(test_frozen), /* these leave the project's directory */
        IN_DIRECTORY(test_other_tokenizer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
