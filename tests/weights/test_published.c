/* Published weights: every layout and option answers a picture as its own library does
 * (tests/fixtures/make_published.py), and files that are nearly right are refused with a sentence
 * that names what is wrong. */
#include "tests/support/check.h"
#include "tests/support/fixture.h"
#include "tests/support/scratch.h"
#include "tests/support/spoiled.h"
#include "tests/support/unit.h"
#include "vit/tensors/safetensors.h"
#include "vit/tensors/tensors.h"
#include "vit/vit.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOT PUBLISHED
#define BOUND 2e-5 /* of the largest logit */

static float *logits_of(const vit_model *model, vit_precision precision) {
    const vit_session_options options = {.precision = precision};
    vit_session *session;
    vit_error error;
    float *logits = check_floats(vit_model_describe(model).classes);
    assert_int_equal(vit_session_new(&session, model, &options, &error), VIT_OK);
    if (vit_classify_file(session, ROOT "/picture.png", logits, &error) != VIT_OK)
        fail_msg("%s", error.message);
    vit_session_free(session);
    return logits;
}

/* ---- the same numbers ---- */

/* Weights that stay in the file give the same bytes. */
static void check_in_place(const char *path, vit_model_options how, float *logits, int precision) {
    vit_model *model;
    how.in_place = true;
    assert_int_equal(vit_model_load_with(&model, path, &how, NULL), VIT_OK);
    float *got = logits_of(model, (vit_precision)precision);
    assert_true(check_difference(got, logits, vit_model_describe(model).classes) == 0);
    free(logits);
    free(got);
    vit_model_free(model);
}

static void compare_logits(const char *name) {
    char directory[200], expected_path[220];
    vit_model *model;
    vit_error error;
    if (strcmp(name, "picture") == 0) return; /* which they all answer */
    snprintf(directory, sizeof directory, "%s/%s", ROOT, name);
    snprintf(expected_path, sizeof expected_path, "%s/expected.json", directory);
    json_t *expected = read_json(expected_path), *list = json_object_get(expected, "logits");
    const vit_model_options options = {.emulate =
                                           json_string_value(json_object_get(expected, "as"))};
    if (vit_model_load_with(&model, directory, &options, &error) != VIT_OK)
        fail_msg("%s", error.message);
    if (options.emulate) assert_non_null(strstr(vit_model_describe(model).recipe, options.emulate));
    const size_t classes = vit_model_describe(model).classes;
    assert_int_equal(classes, json_array_size(list));
    float *logits = logits_of(model, VIT_PRECISION_F32), *want = check_floats(classes);
    for (size_t i = 0; i < classes; i++) want[i] = (float)json_real_value(json_array_get(list, i));
    const double off = check_difference(logits, want, classes);
    if (!(off <= BOUND)) fail_msg("%s: logits differ by %.3g of the largest", name, off);
    check_in_place(directory, options, logits, VIT_PRECISION_F32);
    check_in_place(directory, options, logits_of(model, VIT_PRECISION_INT8), VIT_PRECISION_INT8);
    free(want);
    json_decref(expected);
    vit_model_free(model);
}

static void test_parity(void **state) {
    fixture_each(ROOT, compare_logits);
}

static void test_labels(void **state) {
    static const struct {
        const char *directory, *label;
    } cases[] = {{ROOT "/timm_13_wide", "thing 1"},
                 {ROOT "/timm_wrapper", "bee"},
                 {ROOT "/hf_4", "animal 1"},
                 {ROOT "/lucidrains_course", "b"},
                 {ROOT "/google", "1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vit_model *model;
        assert_int_equal(vit_model_load(&model, cases[i].directory, NULL), VIT_OK);
        assert_string_equal(vit_model_label(model, 1), cases[i].label);
        vit_model_free(model);
    }
}

/* ---- what is refused ---- */

static void test_unexpected(void **state) {
    spoiled s = take("timm_13_wide");
    tensor_of(&s, "blocks.0.attn.qkv.weight")->name = "blocks.0.attn.qvk.weight";
    refuse(&s, VIT_ERROR_MISMATCH, "tensor blocks.0.attn.qvk.weight is none",
           "nearest known name is blocks.0.attn.qkv.weight");
    s = take("hf_4");
    tensor_of(&s, "vit.encoder.layer.1.layernorm_before.bias")->name =
        "vit.encoder.layer.1.layernorm_befor.bias";
    refuse(&s, VIT_ERROR_MISMATCH, "vit.encoder.layer.1.layernorm_befor.bias",
           "nearest known name is vit.encoder.layer.1.layernorm_before.bias");
    s = take("timm_13_wide");
    for (size_t i = 0; i < s.count; i++) s.tensors[i].name = i > 0 ? "" : "x";
    s.count = 1;
    refuse(&s, VIT_ERROR_MISMATCH, "tensor x is of no Vision Transformer", "timm, Hugging Face");
}

static void test_missing(void **state) {
    spoiled s = take("timm_13_wide");
    drop(&s, "blocks.0.norm2.bias");
    refuse(&s, VIT_ERROR_MISMATCH, "tensor blocks.0.norm2.bias is missing", "config.json");
    s = take("hf_4");
    drop(&s, "vit.encoder.layer.1.attention.attention.key.weight");
    refuse(&s, VIT_ERROR_MISMATCH, "tensor vit.encoder.layer.1.attention", "is missing");
    s = take("hf_4");
    drop(&s, "classifier.weight");
    refuse(&s, VIT_ERROR_MISMATCH, "tensor classifier.weight is missing", "backbone");
}

static void test_misshapen(void **state) {
    spoiled s = take("timm_13_wide");
    vit_tensor *t = tensor_of(&s, "blocks.0.attn.proj.weight");
    t->shape[0] = 13;
    t->shape[1] = 117;
    refuse(&s, VIT_ERROR_MISMATCH, "tensor blocks.0.attn.proj.weight has shape [13, 117]",
           "should be [39, 39]");
    s = take("timm_13_wide");
    t = tensor_of(&s, "head.bias");
    t->dtype = VIT_I32;
    refuse(&s, VIT_ERROR_UNSUPPORTED, "head.bias", "I32");
}

/* ---- configs ---- */

static void set_argument(spoiled *s, const char *key, json_t *value) {
    assert_int_equal(json_object_set_new(json_object_get(s->config, "model_args"), key, value), 0);
}

static void test_config_disagrees(void **state) {
    spoiled s = take("timm_13_wide");
    set_argument(&s, "depth", json_integer(2));
    refuse(&s, VIT_ERROR_MISMATCH, "tensor blocks.1.norm1.weight is missing", "config.json");
    s = take("hf_4");
    json_object_set_new(s.config, "num_hidden_layers", json_integer(1));
    refuse(&s, VIT_ERROR_MISMATCH, "tensor vit.encoder.layer.1.", "does not belong");
    s = take("timm_13_wide");
    set_argument(&s, "embed_dim", json_integer(42));
    refuse(&s, VIT_ERROR_MISMATCH, "tensor cls_token has shape [1, 1, 39]", "[1, 1, 42]");
    s = take("timm_13_wide");
    json_object_set_new(s.config, "num_classes", json_integer(6));
    set_argument(&s, "num_classes", json_integer(6));
    refuse(&s, VIT_ERROR_MISMATCH, "tensor head.weight has shape [5, 39]", "[6, 39]");
    s = take("timm_13_wide");
    set_argument(&s, "img_size", json_integer(48));
    refuse(&s, VIT_ERROR_MISMATCH, "tensor pos_embed has shape [1, 16, 39]", "[1, 37, 39]");
    s = take("timm_13_wide");
    set_argument(&s, "num_heads", json_integer(4));
    refuse(&s, VIT_ERROR_ARGUMENT, "config.json: \"heads\" 4 does not divide", "39");
    s = take("timm_13_wide");
    json_array_remove(json_object_get(s.config, "label_names"), 0);
    refuse(&s, VIT_ERROR_MISMATCH, "4 labels", "5 classes");
}

/* What a config says is not passed over because the tensors would do without it. */
static void test_config_strict(void **state) {
    spoiled s = take("timm_13_wide");
    set_argument(&s, "global_pool", json_string("avg"));
    refuse(&s, VIT_ERROR_MISMATCH, "tensor norm.weight is there", "should be fc_norm.weight");
    s = take("timm_13_wide");
    set_argument(&s, "mlp_layer", json_string("SwiGLUPacked"));
    refuse(&s, VIT_ERROR_MISMATCH, "MLPs are gated", "blocks.0.mlp.fc1.weight is of a plain one");
    s = take("timm_13_wide");
    set_argument(&s, "mlp_ratio", json_real(-4));
    refuse(&s, VIT_ERROR_FORMAT, "\"mlp_ratio\" is -4", "above 0");
    s = take("timm_13_wide");
    set_argument(&s, "proj_bias", json_false());
    refuse(&s, VIT_ERROR_MISMATCH, "tensor blocks.0.attn.proj.bias", "does not belong");
    s = take("timm_13_wide");
    json_object_set_new(s.config, "pretrained_cfg", json_string("augreg"));
    refuse(&s, VIT_ERROR_FORMAT, "\"pretrained_cfg\" must be an object", "config.json");
    s = take("timm_13_wide");
    json_object_set_new(json_object_get(s.config, "pretrained_cfg"), "std", json_integer(0));
    refuse(&s, VIT_ERROR_FORMAT, "\"std\"", "is 0, expected above 0");
    s = take("timm_13_wide");
    json_object_set_new(s.config, "architecture", json_string("torchvision"));
    for (const char *const *key = (const char *const[]){"num_features", "global_pool", "model_args",
                                                        "pretrained_cfg", "num_classes", NULL};
         *key; key++)
        json_object_del(s.config, *key);
    json_object_set_new(s.config, "num_heads", json_integer(3));
    refuse(&s, VIT_ERROR_MISMATCH, "layout of torchvision", "in that of timm");
    for (int eps = 0; eps >= -1; eps--) {
        s = take("hf_aimv2_vision");
        json_object_set_new(s.config, "rms_norm_eps", json_integer(eps));
        refuse(&s, VIT_ERROR_ARGUMENT, "config.json: \"norm_eps\" is", "expected between 0 and 1");
    }
}

/* Preparations that are none of a Vision Transformer's, or leave pictures of any shape. */
static void test_processor(void **state) {
    static const char head[] =
        "{\"resample\": 2, \"image_mean\": [0.5, 0.5, 0.5], \"image_std\": [0.5, 0.5, 0.5], ";
    static const struct {
        const char *rest, *a, *b;
        vit_status status;
    } cases[] = {
        {"\"size\": {\"shortest_edge\": 24}}", "\"shortest_edge\" without a crop", "\"crop_size\"",
         VIT_ERROR_UNSUPPORTED},
        {"\"size\": 24, \"image_processor_type\": \"SwinImageProcessor\"}",
         "\"SwinImageProcessor\"", "Siglip", VIT_ERROR_UNSUPPORTED},
        {"\"size\": 24, \"image_processor_type\": \"DINOv3ImageProcessor\"}",
         "\"DINOv3ImageProcessor\"", "DINOv3ViT", VIT_ERROR_UNSUPPORTED},
        {"\"size\": {\"shortest_edge\": 24, \"longest_edge\": 48}}", "\"longest_edge\" in \"size\"",
         "not supported", VIT_ERROR_UNSUPPORTED},
        {"\"size\": 24, \"rescale_offset\": true}", "\"rescale_offset\" is not supported",
         "preprocessor_config", VIT_ERROR_UNSUPPORTED},
        {"\"size\": 24, \"feature_extractor_type\": \"CLIPFeatureExtractor\"}",
         "pictures are prepared to 224 x 224", "24 x 24", VIT_ERROR_MISMATCH},
        {"\"size\": 24, \"do_pad\": true}", "\"do_pad\" is not supported", "preprocessor_config",
         VIT_ERROR_UNSUPPORTED},
        {"\"size\": 24, \"rescale_factor\": 0}", "\"rescale_factor\" is 0", "above 0",
         VIT_ERROR_FORMAT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        snprintf(text, sizeof text, "%s%s", head, cases[i].rest);
        put_file("preprocessor_config.json", text);
        spoiled s = take("hf_4");
        refuse(&s, cases[i].status, cases[i].a, cases[i].b);
    }
}

/* The processor in `text` prepares as the list in `want`, for a network of 24 x 24. */
static void check_processor(const char *text, const char *want) {
    vit_model *model;
    vit_error error;
    spoiled s = take("hf_4");
    put_spoiled(&s);
    put_file("preprocessor_config.json", text);
    if (vit_model_load(&model, ".", &error) != VIT_OK) fail_msg("%s: %s", text, error.message);
    if (!strstr(vit_model_describe(model).preprocessing, want))
        fail_msg("%s:\n%s", text, vit_model_describe(model).preprocessing);
    vit_model_free(model);
}

/* A key means what the class of the processor means by it, and each class has its defaults. */
static void test_processor_classes(void **state) {
    check_processor(
        "{\"size\": 24}",
        "{\"op\": \"resize\", \"height\": 24, \"width\": 24, \"filter\": \"bilinear\"}");
    check_processor("{\"image_processor_type\": \"CLIPImageProcessor\", \"size\": 32, "
                    "\"crop_size\": 24}",
                    "{\"op\": \"resize\", \"shorter\": 32, \"filter\": \"bicubic\"}, "
                    "{\"op\": \"center_crop\", \"height\": 24, \"width\": 24, ");
    check_processor(
        "{\"image_processor_type\": \"CLIPImageProcessor\", \"size\": 24, "
        "\"default_to_square\": true, \"do_center_crop\": false}",
        "\"height\": 24, \"width\": 24, \"filter\": \"bicubic\"}, {\"op\": \"normalize\", "
        "\"mean\": [0.48145467");
    check_processor("{\"feature_extractor_type\": \"ConvNextFeatureExtractor\", \"size\": 24, "
                    "\"crop_pct\": 0.75, \"resample\": 2}",
                    "{\"op\": \"resize\", \"shorter\": 32, \"filter\": \"bilinear\"}, "
                    "{\"op\": \"center_crop\", \"height\": 24, \"width\": 24, ");
    check_processor("{\"image_processor_type\": \"SiglipImageProcessorFast\", "
                    "\"size\": {\"height\": 24, \"width\": 24}}",
                    "\"width\": 24, \"filter\": \"bicubic\", \"arithmetic\": \"torch\"}");
}

/* Which library resizes: by the class's name, else by the version that saved the model. */
static void test_processor_versions(void **state) {
    (void)state;
    static const struct {
        const char *type, *version, *end;
    } cases[] = {
        {"ViTImageProcessor", "4.57.0", "\"bilinear\"}, "},
        {"ViTImageProcessor", "5.0.0", "\"torch\"}, "},
        {"ViTImageProcessor", "12.1.0.dev0", "\"torch\"}, "},
        {"ViTImageProcessor", NULL, "\"bilinear\"}, "},
        {"ViTImageProcessorFast", "4.57.0", "\"torch\"}, "},
        {"ViTImageProcessorPil", "5.0.0", "\"bilinear\"}, "},
        {"ViTFeatureExtractor", "5.0.0", "\"bilinear\"}, "},
        {NULL, "5.24.0", "\"torch\"}, "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vit_model *model;
        vit_error error;
        char text[200] = "{\"size\": 24}";
        spoiled s = take("hf_4");
        json_t *version = cases[i].version ? json_string(cases[i].version) : json_null();
        json_object_set_new(s.config, "transformers_version", version);
        put_spoiled(&s);
        if (cases[i].type)
            snprintf(text, sizeof text, "{\"size\": 24, \"image_processor_type\": \"%s\"}",
                     cases[i].type);
        put_file("preprocessor_config.json", text);
        if (vit_model_load(&model, ".", &error) != VIT_OK) fail_msg("%s", error.message);
        if (!strstr(vit_model_describe(model).preprocessing, cases[i].end))
            fail_msg("case %zu: %s", i, vit_model_describe(model).preprocessing);
        vit_model_free(model);
    }
}

/* What timm_wrapper has besides timm's config. */
static void test_timm_wrapper(void **state) {
    static const struct {
        const char *name;
        vit_scoring scoring;
        bool has_head;
    } cases[] = {{"/timm_wrapper", VIT_SCORING_SIGMOID, true},
                 {"/timm_wrapper_model", VIT_SCORING_SOFTMAX, false}};
    for (size_t i = 0; i < 2; i++) {
        char path[5000];
        vit_model *model;
        vit_error error;
        snprintf(path, sizeof path, "%s/" ROOT "%s", project, cases[i].name);
        if (vit_model_load(&model, path, &error) != VIT_OK) fail_msg("%s", error.message);
        const vit_model_info info = vit_model_describe(model);
        assert_int_equal(info.scoring, cases[i].scoring);
        assert_int_equal(info.has_head, cases[i].has_head);
        assert_non_null(strstr(info.preprocessing, "[{\"op\": \"orient\"}, "));
        vit_model_free(model);
    }
}

/* The scores are what the pipeline makes of the logits for this type of problem, also in a file
 * written from it. */
static void test_problem_types(void **state) {
    static const char *const types[] = {"single_label_classification", "multi_label_classification",
                                        "regression"};
    static const float logits[7] = {0, 1, -2, 3, 0, 0, 0};
    float scores[7];
    for (int i = 0; i < VIT_SCORING_COUNT; i++) {
        vit_model *model;
        vit_error error;
        spoiled s = take("hf_4");
        json_object_set_new(s.config, "problem_type", json_string(types[i]));
        put_spoiled(&s);
        put_file("preprocessor_config.json", "{\"size\": 24}");
        for (int again = 0; again < 2; again++) {
            if (vit_model_load(&model, again ? "own.safetensors" : ".", &error) != VIT_OK)
                fail_msg("%s: %s", types[i], error.message);
            assert_int_equal(vit_model_describe(model).scoring, i);
            assert_true(vit_model_describe(model).classes <= 7);
            vit_model_probabilities(model, logits, scores);
            if (i == VIT_SCORING_SIGMOID) assert_float_equal(scores[1], .7310586, 1e-6);
            if (i == VIT_SCORING_NONE) assert_float_equal(scores[2], -2, 0);
            if (i == VIT_SCORING_SOFTMAX) assert_true(scores[1] < .5F);
            vit_model_free(model);
            const vit_convert_options options = {.in = ".", .out = "own.safetensors"};
            if (!again && vit_convert(&options, &error) != VIT_OK) fail_msg("%s", error.message);
        }
    }
    spoiled s = take("hf_4");
    json_object_set_new(s.config, "problem_type", json_string("ranking"));
    refuse(&s, VIT_ERROR_UNSUPPORTED, "\"problem_type\" \"ranking\"", "regression");
}

static void test_foreign(void **state) {
    spoiled s = take("hf_4");
    json_object_set_new(s.config, "model_type", json_string("swin"));
    tensor_of(&s, "vit.embeddings.cls_token")->name = "swin.layers.0.blocks.0.bias";
    refuse(&s, VIT_ERROR_UNSUPPORTED, "\"model_type\" \"swin\" is not supported", "windows");
    s = take("hf_4");
    json_object_set_new(s.config, "model_type", json_string("bert"));
    refuse(&s, VIT_ERROR_UNSUPPORTED, "\"model_type\" \"bert\" is not supported", "ijepa");
}

/* timm's networks of other families are refused by name, whatever the tensors and arguments are. */
static void test_families(void **state) {
    static const struct {
        const char *name, *a, *b;
    } cases[] = {{"vit_relpos_tiny_patch16_224", "not supported", "no Vision Transformer"},
                 {"naflexvit_tiny_patch16_gap", "not supported", "\"naflexvit_tiny_patch16_gap\""},
                 {"swin_tiny_patch4_window7_224", "not supported", "no Vision Transformer"},
                 {"vit_base_patch16_18x2_224", "\"block_fn\"", "ParallelThingsBlock"},
                 {"vit_dwee_patch16_reg1_gap_256", "\"attn_layer\"", "diff"},
                 {"resnet50", "not supported", "\"resnet50\""},
                 {"vit_base_patch16_new_224", "not supported", "no Vision Transformer"},
                 {"my_vit", "not supported", "\"my_vit\""}};
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        spoiled s = take("timm_13_wide");
        json_object_set_new(s.config, "architecture", json_string(cases[i / 2].name));
        if (i % 2) tensor_of(&s, "blocks.0.attn.qkv.weight")->name = "blocks.0.attn.q_bias";
        refuse(&s, VIT_ERROR_UNSUPPORTED, cases[i / 2].a, cases[i / 2].b);
    }
}

static void test_not_finite(void **state) {
    static const float values[5] = {0, 1, NAN, 3, INFINITY};
    spoiled s = take("timm_13_wide");
    tensor_of(&s, "head.bias")->data = (const uint8_t *)(const void *)values;
    refuse(&s, VIT_ERROR_FORMAT, "tensor head.bias: element 2 is nan", "damaged");
    /* Of several the first is named, whichever thread reads it. */
    static const float many[4096] = {[7] = NAN};
    for (int i = 0; i < 20; i++) {
        s = take("timm_13_wide");
        tensor_of(&s, "head.bias")->data = (const uint8_t *)(const void *)values;
        tensor_of(&s, "norm.weight")->data = (const uint8_t *)(const void *)many;
        refuse(&s, VIT_ERROR_FORMAT, "tensor norm.weight: element 7 is nan", "damaged");
    }
}

/* A config with a classifier or without one, and weights that are the other. */
static void test_backbone_disagrees(void **state) {
    spoiled s = take("timm_13_wide");
    json_object_set_new(s.config, "num_classes", json_integer(0));
    refuse(&s, VIT_ERROR_MISMATCH, "tensor head.weight is of a classifier", "config.json");
    s = take("timm_backbone");
    json_object_set_new(s.config, "num_classes", json_integer(5));
    refuse(&s, VIT_ERROR_MISMATCH, "tensor head.weight is missing", "\"num_classes\" 0");
    s = take("hf_4");
    json_array_set_new(json_object_get(s.config, "architectures"), 0, json_string("ViTModel"));
    refuse(&s, VIT_ERROR_MISMATCH, "tensor classifier.weight is of a classifier", "config.json");
}

static void test_config_silent(void **state) {
    spoiled s = take("timm_13_wide");
    set_argument(&s, "num_head", json_integer(3));
    refuse(&s, VIT_ERROR_UNSUPPORTED, "\"num_head\" in \"model_args\" is not supported",
           "did you mean \"num_heads\"?");
    s = take("hf_4");
    json_object_del(s.config, "num_attention_heads");
    refuse(&s, VIT_ERROR_ARGUMENT, "\"heads\" 12 does not divide \"dim\" 20", "config.json");
    s = take("hf_4");
    refuse(&s, VIT_ERROR_UNSUPPORTED, "how pictures are prepared", "add \"preprocessing\"");
    s = take("hf_beit");
    json_object_set_new(s.config, "image_size", json_pack("[i, i]", 24, 16));
    refuse(&s, VIT_ERROR_UNSUPPORTED, "of square pictures", "\"image_size\" is [24, 16]");
}

static void test_no_config(void **state) {
    vit_model *model;
    vit_error error;
    spoiled s = take("timm_13_wide");
    assert_int_equal(
        vit_safetensors_write("model.safetensors", s.tensors, s.count, NULL, 0, &error), VIT_OK);
    assert_int_equal(vit_model_load(&model, "model.safetensors", &error), VIT_ERROR_UNSUPPORTED);
    assert_says(&error, VIT_ERROR_UNSUPPORTED, "put a config.json beside the file", "--config");
    char path[5000];
    snprintf(path, sizeof path, "%s/" ROOT "/timm_13_wide/config.json", project);
    const vit_model_options options = {.config = path};
    assert_int_equal(vit_model_load_with(&model, "model.safetensors", &options, &error), VIT_OK);
    vit_model_free(model);
    json_decref(s.config);
    free(s.values);
    vit_tensors_close(s.file);
}

/* vit-pytorch's first versions and the later ones look alike. */
static void test_attention_scale(void **state) {
    vit_model *model;
    vit_error error;
    char path[5000];
    snprintf(path, sizeof path, "%s/" ROOT "/lucidrains_course/config.json", project);
    json_t *config = read_json(path);
    json_object_del(config, "attention_scale");
    char *text = json_dumps(config, 0);
    put_file("other.json", text);
    free(text);
    json_decref(config);
    snprintf(path, sizeof path, "%s/" ROOT "/lucidrains_course", project);
    const vit_model_options options = {.config = "other.json"};
    assert_int_equal(vit_model_load_with(&model, path, &options, &error), VIT_ERROR_UNSUPPORTED);
    assert_says(&error, VIT_ERROR_UNSUPPORTED, "other.json", "add \"attention_scale\"");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_parity),        cmocka_unit_test(test_labels),
    IN_DIRECTORY(test_unexpected),        IN_DIRECTORY(test_missing),
    IN_DIRECTORY(test_misshapen),         IN_DIRECTORY(test_config_disagrees),
    IN_DIRECTORY(test_config_strict),     IN_DIRECTORY(test_processor),
    IN_DIRECTORY(test_processor_classes), IN_DIRECTORY(test_problem_types),
    IN_DIRECTORY(test_timm_wrapper),      IN_DIRECTORY(test_processor_versions),
    IN_DIRECTORY(test_foreign),           IN_DIRECTORY(test_families),
    IN_DIRECTORY(test_not_finite),        IN_DIRECTORY(test_backbone_disagrees),
    IN_DIRECTORY(test_config_silent),     IN_DIRECTORY(test_no_config),
    IN_DIRECTORY(test_attention_scale),
};

int main(void) {
    find_project();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
