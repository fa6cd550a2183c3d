/* --labels and ImageNet's names: what files say, and which published models get them by
 * themselves. */
#include <stdio.h>
#include <string.h>

#include "tests/support/scratch.h"
#include "tests/support/small_model.h"
#include "tests/support/spoiled.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/vit.h"
#include "vit/weights/file/labels.h"
#include "vit/weights/file/model_file.h"

/* A small model without names. */
static void save_model(size_t classes) {
    char changes[40];
    vit_error error;
    snprintf(changes, sizeof changes, "{\"classes\": %zu}", classes);
    vit_model_file m =
        small_model("{\"image\": [8, 8], \"channels\": 3, \"patch\": 4, \"dim\": 6, "
                    "\"depth\": 1, \"heads\": 2, \"mlp\": 10}",
                    changes,
                    "[{\"op\": \"rgb\"}, {\"op\": \"resize\", \"height\": 8, \"width\": "
                    "8, \"filter\": \"bilinear\"}, {\"op\": \"normalize\", \"mean\": [0.5, "
                    "0.5, 0.5], \"std\": [0.5, 0.5, 0.5]}]",
                    NULL, "{}");
    if (vit_model_file_save("model.safetensors", &m, &error) != VIT_OK)
        fail_msg("%s", error.message);
    vit_model_file_clear(&m);
}

static vit_model *load(const char *path, const char *labels) {
    vit_model *model;
    vit_error error;
    const vit_model_options options = {.labels = labels};
    if (vit_model_load_with(&model, path, &options, &error) != VIT_OK)
        fail_msg("%s", error.message);
    return model;
}

static void named(const char *file, const char *text, const char *second) {
    put_file(file, text);
    vit_model *model = load("model.safetensors", file);
    assert_string_equal(vit_model_label(model, 1), second);
    vit_model_free(model);
}

static void refused(const char *text, vit_status status, const char *a, const char *b) {
    vit_model *model;
    vit_error error;
    put_file("names", text);
    const vit_model_options options = {.labels = "names"};
    assert_int_not_equal(vit_model_load_with(&model, "model.safetensors", &options, &error),
                         VIT_OK);
    assert_null(model);
    assert_says(&error, status, a, b);
}

static void test_files(void **state) {
    save_model(3);
    named("a", "tench\ngold fish, a fish\nshark\n", "gold fish, a fish");
    named("a", "tench\r\ngoldfish\r\nshark", "goldfish");
    named("a", "\xef\xbb\xbftench\nd\xc3\xb6g\nshark\n", "d\xc3\xb6g");
    named("a", " [\"x\", \"y\\n\", \"z\"]", "y\n");
    named("a", "{\"0\": \"x\", \"2\": \"z\", \"1\": \"y\"}", "y");
    named("a", "{\"0\": [\"n1\", \"x\"], \"1\": [\"n2\", \"y\"], \"2\": [\"n3\", \"z\"]}", "y");
    named("a",
          "{\"model_type\": \"vit\", \"id2label\": {\"0\": \"x\", \"1\": \"y\", \"2\": \"z\"}}",
          "y");
    named("a", "tench\ngoldfish\nshark\n\n \r\n\n", "goldfish"); /* empty lines at the end */
    named("a", "2 shark\n0 tench\n1 gold fish\n", "gold fish");  /* numbers are the order, */
    named("a", "1,tench\n2,goldfish\n3,shark\n", "goldfish");    /* from 0 or 1 on, */
    named("a", "0\ttench\n1\tgoldfish\n2\tshark\n", "goldfish");
    named("a", "1 cent\n2 cent\n5 cent\n", "2 cent"); /* or belong to the names */
    named("a", "7\n8\n9\n", "8");
    refused("0 a\n1 b\n3 c\n", VIT_ERROR_FORMAT, "numbers stand before its 3 names", "0 to 2");
    refused("0 a\n1 b\n1 c\n", VIT_ERROR_FORMAT, "numbers stand before", "names");
    refused("cat,dog,a red bus\n", VIT_ERROR_FORMAT, "has one line", "one name a line");
    refused("a\nb\tx\nc\n", VIT_ERROR_FORMAT, "line 2 has a tab", "class 1");
    refused("a\nb\xe9\nc\n", VIT_ERROR_FORMAT, "line 2 is Latin-1", "iconv");
    refused("a\nb\n", VIT_ERROR_MISMATCH, "names has 2 names", "3 classes");
    refused("", VIT_ERROR_MISMATCH, "names has 0 names", "3 classes");
    refused("a\n\nc\n", VIT_ERROR_FORMAT, "line 2", "class 1");
    refused("a\nb\xff\nc\n", VIT_ERROR_FORMAT, "line 2", "UTF-8");
    refused("{\"0\": \"x\", \"2\": \"z\"}", VIT_ERROR_FORMAT, "names", "without a gap");
    refused("{\"0\": []}", VIT_ERROR_FORMAT, "names", "without a gap");
    refused("[1, 2, 3]", VIT_ERROR_FORMAT, "entry 0", "string");
    refused("[\"x\"", VIT_ERROR_FORMAT, "line 1", "names");
}

/* Lists as Markdown, YAML, CSV, Python and ImageNet's archives have them are no names alone. */
static void test_marked_lists(void **state) {
    save_model(3);
    named("a", "0. tench\n1. goldfish\n2. shark\n", "goldfish");
    named("a", "1) tench\n2) goldfish\n3) shark\n", "goldfish");
    named("a", " tench\n goldfish \n shark\n", "goldfish");
    named("a", "1.5 V\n2.5 V\n3.5 V\n", "2.5 V");
    named("a", "level 0\nlevel 1\nlevel 2\n", "level 1");
    named("a", "Acura RL 2012\nAudi R8 2013\nBMW M3 2014\n", "Audi R8 2013");
    named("a", "tench, Tinca\ngoldfish, Carassius\nshark, white\n", "goldfish, Carassius");
    named("a", "Pepper,_bell\nPepper,_hot\nTomato,_red\n", "Pepper,_hot");
    named("a", "- x\ny\nz\n", "y");
    refused("- x\n- y\n- z\n", VIT_ERROR_FORMAT, "line 1 is \"- x\": signs of a list", "3 names");
    refused("\"x\",\n\"y\",\n\"z\"\n", VIT_ERROR_FORMAT, "quotes stand around", "alone");
    refused("'x'\n'y'\n'z'\n", VIT_ERROR_FORMAT, "quotes stand around", "alone");
    refused("n01440764 x\nn01443537 y\nn01484850 z\n", VIT_ERROR_FORMAT, "WordNet", "alone");
    refused("name,id\nx,0\ny,1\n", VIT_ERROR_FORMAT, "a row of a table", "alone");
    refused("id;name\n0;x\n1;y\n", VIT_ERROR_FORMAT, "a row of a table", "alone");
    refused("x 0\ny 1\nz 2\n", VIT_ERROR_FORMAT, "numbers stand behind", "alone");
    refused("names:\n  0: x\n  1: y\n", VIT_ERROR_FORMAT, "a key stands before", "alone");
    refused("# names\nx\ny\n", VIT_ERROR_FORMAT, "a comment stands before", "alone");
}

static void test_no_file(void **state) {
    vit_model *model;
    vit_error error;
    save_model(3);
    const vit_model_options options = {.labels = "absent"};
    assert_int_equal(vit_model_load_with(&model, "model.safetensors", &options, &error),
                     VIT_ERROR_IO);
    assert_says(&error, VIT_ERROR_IO, "absent", "");
    const vit_model_options imagenet = {.labels = "imagenet-1k"};
    assert_int_equal(vit_model_load_with(&model, "model.safetensors", &imagenet, &error),
                     VIT_ERROR_MISMATCH);
    assert_says(&error, VIT_ERROR_MISMATCH, "imagenet-1k has 1000 names", "3 classes");
}

/* A layout's directory, whose config is then replaced. */
static void publish(const char *layout, const char *out, const char *config) {
    vit_error error;
    char path[64];
    const vit_convert_options options = {.in = "model.safetensors", .out = out, .layout = layout};
    if (vit_convert(&options, &error) != VIT_OK) fail_msg("%s", error.message);
    snprintf(path, sizeof path, "%s/config.json", out);
    put_file(path, config);
}

#define TIMM                                                                                     \
    "\"num_classes\": 1000, \"global_pool\": \"token\", \"model_args\": {\"img_size\": 8, "      \
    "\"patch_size\": 4, \"embed_dim\": 6, \"depth\": 1, \"num_heads\": 2, \"mlp_ratio\": 1.7}, " \
    "\"pretrained_cfg\": {\"input_size\": [3, 8, 8], \"interpolation\": \"bicubic\", "           \
    "\"crop_pct\": 0.9, \"mean\": [0.5, 0.5, 0.5], \"std\": [0.5, 0.5, 0.5]"

static void second_is(const char *path, const char *label) {
    vit_model *model = load(path, NULL);
    assert_string_equal(vit_model_label(model, 1), label);
    vit_model_free(model);
}

static void test_timm(void **state) {
    save_model(1000);
    publish("timm", "tag",
            "{\"architecture\": \"vit_tiny_patch16_224\", " TIMM
            ", \"tag\": \"augreg2_in21k_ft_in1k\"}}");
    publish("timm", "own",
            "{\"architecture\": \"vit_tiny_patch16_224\", " TIMM ", \"tag\": \"my_plants\"}}");
    second_is("tag", "goldfish");
    second_is("own", "1");
    vit_model *model = load("own", "imagenet-1k");
    assert_string_equal(vit_model_label(model, 999), "toilet tissue");
    vit_model_free(model);
    save_model(999);
    second_is("model.safetensors", "1");
}

#define HF                                                                                        \
    "{\"architectures\": [\"ViTForImageClassification\"], \"model_type\": \"vit\", "              \
    "\"hidden_size\": 6, \"num_hidden_layers\": 1, \"num_attention_heads\": 2, "                  \
    "\"intermediate_size\": 10, \"hidden_act\": \"gelu\", \"image_size\": 8, \"patch_size\": 4, " \
    "\"num_channels\": 3, \"qkv_bias\": true, \"layer_norm_eps\": 1e-06"

/* "id2label" of a thousand, of which one may have a name. */
static char *hf_config(size_t whose, const char *name) {
    size_t size = 64 << 10;
    char *text = vit_alloc(1, size);
    assert_non_null(text);
    size_t used = (size_t)snprintf(text, size, HF ", \"id2label\": {");
    for (size_t i = 0; i < 1000; i++) {
        char label[24];
        snprintf(label, sizeof label, "LABEL_%zu", i);
        used += (size_t)snprintf(text + used, size - used, "%s\"%zu\": \"%s\"", i ? ", " : "", i,
                                 i == whose ? name : label);
    }
    snprintf(text + used, size - used, "}}");
    return text;
}

static void test_hugging_face(void **state) {
    save_model(1000);
    char *numbers = hf_config(1000, ""), *names = hf_config(7, "moss");
    publish("hf", "none", HF "}");
    publish("hf", "numbers", numbers);
    publish("hf", "names", names);
    second_is("none", "goldfish");
    second_is("numbers", "goldfish");
    second_is("names", "LABEL_1");
    vit_free(numbers);
    vit_free(names);
}

static void test_imagenet(void **state) {
    size_t count = 0;
    while (vit_imagenet_classes[count] != NULL) {
        for (size_t i = 0; i < count; i++)
            assert_string_not_equal(vit_imagenet_classes[i] + VIT_SYNSET_LENGTH,
                                    vit_imagenet_classes[count] + VIT_SYNSET_LENGTH);
        count++;
    }
    assert_int_equal(count, VIT_IMAGENET_CLASSES);
    assert_string_equal(vit_imagenet_classes[285], "n02124075 Egyptian cat\n");
}

static void note_label(const vit_evaluated *p, void *user) {
    size_t *seen = user;
    seen[p->label]++;
}

/* The folders of ImageNet's archives are found among its classes; the others are unknown. */
static void test_synsets(void **state) {
    static const char *const folders[] = {"n01440764", "n02124075", "n02124075", "n00000001"};
    vit_evaluation result;
    vit_bytes picture;
    vit_error error;
    size_t seen[VIT_IMAGENET_CLASSES] = {0};
    char path[5000];
    save_model(VIT_IMAGENET_CLASSES);
    snprintf(path, sizeof path, "%s/" PUBLISHED "/picture.png", project);
    assert_int_equal(vit_read_file(&picture, path, 1 << 20, &error), VIT_OK);
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "photos/test/%s/%zu.png", folders[i], i);
        put_bytes(path, picture.data, picture.size);
    }
    vit_free(picture.data);
    const vit_evaluate_options options = {.data = "photos", .picture = note_label, .user = seen};
    vit_model *model = load("model.safetensors", "imagenet-1k");
    if (vit_evaluate(model, &options, &result, &error) != VIT_OK) fail_msg("%s", error.message);
    assert_string_equal(result.matched_by, "name");
    assert_true(seen[0] == 1 && seen[285] == 2 && result.images == 3);
    assert_true(result.unknown_images == 1 && result.unknown_classes == 1);
    assert_string_equal(result.unknown[0].label, "n00000001");
    vit_evaluation_clear(&result);
    vit_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_files),        IN_DIRECTORY(test_marked_lists),
        IN_DIRECTORY(test_no_file),      IN_DIRECTORY(test_timm),
        IN_DIRECTORY(test_hugging_face), cmocka_unit_test(test_imagenet),
        IN_DIRECTORY(test_synsets),
    };
    find_project();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
