/* vit_convert: what is written for each library, and that reading it gives the same model. Whether
 * the libraries take it, tests/cli/convert_peers.py asks them. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/fault.h"
#include "tests/support/scratch.h"
#include "tests/support/small_model.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/json.h"
#include "vit/image/prepare/preprocess.h"
#include "vit/tensors/tensors.h"
#include "vit/weights/file/open.h"
#include <stdio.h>

/* ---- models ---- */

static const char pictures[] =
    "[{\"op\": \"rgb\"}, {\"op\": \"resize\", \"shorter\": 10, \"filter\": \"bicubic\", "
    "\"crop_share\": 0.8}, {\"op\": \"center_crop\", \"height\": 8, \"width\": 8}, "
    "{\"op\": \"normalize\", \"mean\": [0.5, 0.4, 0.3], \"std\": [0.2, 0.25, 0.3]}]";
static const char squash[] =
    "[{\"op\": \"orient\"}, {\"op\": \"rgb\"}, {\"op\": \"resize\", \"height\": 8, \"width\": 8, "
    "\"filter\": \"bilinear\"}, {\"op\": \"normalize\", \"mean\": [0.5, 0.5, 0.5], \"std\": [0.5, "
    "0.5, 0.5]}]";
static const char digit[] = "[{\"op\": \"digit\"}, {\"op\": \"normalize\", \"mean\": [0.5, 0.5, "
                            "0.5], \"std\": [0.5, 0.5, 0.5]}]";

/* A small model of random weights; `changes` is JSON of its config. */
/* Its norms and biases, too, are all different. */
static vit_model_file make_model(const char *changes, const char *list) {
    static const char *const names[] = {"a \"cat\"", "dog", "d\xc3\xb6g"};
    vit_model_file m = small_model("{\"image\": [8, 8], \"channels\": 3, \"patch\": 4, \"dim\": 6, "
                                   "\"depth\": 2, \"heads\": 2, \"mlp\": 10, \"classes\": 3}",
                                   changes, list, names, "{}");
    for (size_t i = 0; i < m.table.size; i++) m.values[i] += (float)(i % 61) / 64;
    return m;
}

static void save_model(const char *path, const char *changes, const char *list) {
    vit_model_file m = make_model(changes, list);
    vit_error error;
    if (vit_model_file_save(path, &m, &error) != VIT_OK) fail_msg("%s", error.message);
    vit_model_file_clear(&m);
}

static vit_model_file load(const char *path) {
    vit_model_file m;
    vit_error error;
    if (vit_model_file_open(&m, path, &(vit_wanted){0}, &error) != VIT_OK)
        fail_msg("%s", error.message);
    /* Words without a meaning: where one token is pooled, where there are only patches. */
    if (m.config.pool != VIT_POOL_MEAN && m.config.pool != VIT_POOL_MAP)
        m.config.norm_before_pool = false;
    if (vit_config_prefix(&m.config) == 0) m.config.prefix_positions = true;
    return m;
}

typedef struct notes {
    char text[2048];
} notes;

static void keep_note(const char *text, void *user) {
    notes *n = user;
    strncat(n->text, text, sizeof n->text - strlen(n->text) - 1);
}

static vit_status convert(const char *out, const char *layout, const char *type, bool force,
                          notes *n, vit_error *error) {
    *n = (notes){0};
    const vit_convert_options options = {.in = "model.safetensors",
                                         .out = out,
                                         .layout = layout,
                                         .type = type,
                                         .force = force,
                                         .note = keep_note,
                                         .user = n};
    return vit_convert(&options, error);
}

static void converts(const char *out, const char *layout, const char *type, bool force, notes *n) {
    vit_error error;
    if (convert(out, layout, type, force, n, &error) != VIT_OK) fail_msg("%s", error.message);
}

/* ---- there and back ---- */

static void check_same_model(const vit_model_file *a, const vit_model_file *b) {
    char *one = vit_config_write(&a->config), *other = vit_config_write(&b->config);
    assert_string_equal(one, other);
    vit_free(one);
    vit_free(other);
    assert_int_equal(a->table.count, b->table.count);
    for (size_t i = 0; i < a->table.count; i++) {
        const vit_parameter *p = &a->table.rows[i];
        if (memcmp(a->values + p->offset, b->values + p->offset, p->count * sizeof(float)) != 0)
            fail_msg("tensor %s is another", p->name);
    }
    for (size_t i = 0; i < a->config.classes; i++) assert_string_equal(a->labels[i], b->labels[i]);
}

static void check_same_pictures(const vit_model_file *a, const vit_model_file *b) {
    char *one = vit_preprocessing_write(&a->preprocessing);
    char *other = vit_preprocessing_write(&b->preprocessing);
    assert_string_equal(one, other);
    vit_free(one);
    vit_free(other);
}

static void there_and_back(const char *changes, const char *layout) {
    notes n;
    save_model("model.safetensors", changes, pictures);
    converts("out", layout, NULL, false, &n);
    vit_model_file before = load("model.safetensors"), after = load("out");
    check_same_model(&before, &after);
    if (strcmp(layout, "timm") == 0 || strcmp(layout, "npz") == 0)
        check_same_pictures(&before, &after);
    vit_model_file_clear(&before);
    vit_model_file_clear(&after);
    assert_int_equal(system("rm -r out"), 0);
}

#define MEAN "\"pool\": \"mean\", \"class_token\": false"

static void test_there_and_back(void **state) {
    static const struct {
        const char *changes, *layouts[4];
    } cases[] = {
        {"{\"init\": \"timm\"}", {"timm", "hf", "torchvision", "npz"}},
        {"{\"qkv_bias\": false}", {"timm", "hf"}},
        {"{\"activation\": \"gelu_tanh\"}", {"timm", "hf", "npz"}},
        {"{\"norm_eps\": 1e-12}", {"hf"}},
        {"{\"registers\": 2, \"prefix_positions\": false}", {"timm"}},
        {"{\"layer_scale\": true, \"qk_norm\": true}", {"timm"}},
        {"{" MEAN "}", {"timm"}},
        {"{" MEAN ", \"norm_before_pool\": true}", {"timm", "npz"}},
        {"{\"pool\": \"map\", \"class_token\": false}", {"timm"}},
        {"{\"pool\": \"class_dist\"}", {"timm", "hf"}},
        {"{\"norm_pre\": true, \"patch_bias\": false}", {"timm"}},
        {"{\"gated\": true, \"activation\": \"silu\"}", {"timm"}},
        {"{\"final_norm\": false}", {"timm"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < 4 && cases[i].layouts[k]; k++)
            there_and_back(cases[i].changes, cases[i].layouts[k]);
}

/* The order "pixel" of the patches is another way to write the same convolution. */
static void test_patches_in_the_order_of_pixels(void **state) {
    notes n;
    save_model("model.safetensors", "{\"patch_order\": \"pixel\"}", pictures);
    converts("out", "timm", NULL, false, &n);
    vit_model_file before = load("model.safetensors"), after = load("out");
    const float *ours =
        before.values + vit_table_find(&before.table, "patch_embed.proj.weight")->offset;
    const float *theirs =
        after.values + vit_table_find(&after.table, "patch_embed.proj.weight")->offset;
    for (size_t o = 0; o < 6; o++)
        for (size_t c = 0; c < 3; c++)
            for (size_t i = 0; i < 16; i++)
                assert_true(theirs[(o * 3 + c) * 16 + i] == ours[(o * 16 + i) * 3 + c]);
    vit_model_file_clear(&before);
    vit_model_file_clear(&after);
}

/* ---- names, shapes, JSON ---- */

/* Every line "name [shape]" of `expected` is a tensor, and there are no others. */
static void check_names(const char *path, const char *expected) {
    vit_tensors *file;
    vit_string found = {0};
    vit_error error;
    if (vit_tensors_open(&file, path, &error) != VIT_OK) fail_msg("%s", error.message);
    for (size_t i = 0; i < vit_tensors_count(file); i++) {
        const vit_tensor *t = vit_tensors_at(file, i);
        char shape[128];
        vit_shape_text(shape, t->shape, t->dims);
        vit_string_add(&found, "%s %s\n", t->name, shape);
    }
    assert_string_equal(found.text, expected);
    vit_string_free(&found);
    vit_tensors_close(file);
}

static void test_names(void **state) {
    notes n;
    save_model("model.safetensors", "{\"depth\": 1}", pictures);
    converts("hf", "hf", NULL, false, &n);
    check_names("hf", "classifier.bias [3]\n"
                      "classifier.weight [3, 6]\n"
                      "vit.embeddings.cls_token [1, 1, 6]\n"
                      "vit.embeddings.patch_embeddings.projection.bias [6]\n"
                      "vit.embeddings.patch_embeddings.projection.weight [6, 3, 4, 4]\n"
                      "vit.embeddings.position_embeddings [1, 5, 6]\n"
                      "vit.encoder.layer.0.attention.attention.key.bias [6]\n"
                      "vit.encoder.layer.0.attention.attention.key.weight [6, 6]\n"
                      "vit.encoder.layer.0.attention.attention.query.bias [6]\n"
                      "vit.encoder.layer.0.attention.attention.query.weight [6, 6]\n"
                      "vit.encoder.layer.0.attention.attention.value.bias [6]\n"
                      "vit.encoder.layer.0.attention.attention.value.weight [6, 6]\n"
                      "vit.encoder.layer.0.attention.output.dense.bias [6]\n"
                      "vit.encoder.layer.0.attention.output.dense.weight [6, 6]\n"
                      "vit.encoder.layer.0.intermediate.dense.bias [10]\n"
                      "vit.encoder.layer.0.intermediate.dense.weight [10, 6]\n"
                      "vit.encoder.layer.0.layernorm_after.bias [6]\n"
                      "vit.encoder.layer.0.layernorm_after.weight [6]\n"
                      "vit.encoder.layer.0.layernorm_before.bias [6]\n"
                      "vit.encoder.layer.0.layernorm_before.weight [6]\n"
                      "vit.encoder.layer.0.output.dense.bias [6]\n"
                      "vit.encoder.layer.0.output.dense.weight [6, 10]\n"
                      "vit.layernorm.bias [6]\n"
                      "vit.layernorm.weight [6]\n");
    converts("torchvision", "torchvision", NULL, false, &n);
    check_names("torchvision",
                "class_token [1, 1, 6]\n"
                "conv_proj.bias [6]\n"
                "conv_proj.weight [6, 3, 4, 4]\n"
                "encoder.layers.encoder_layer_0.ln_1.bias [6]\n"
                "encoder.layers.encoder_layer_0.ln_1.weight [6]\n"
                "encoder.layers.encoder_layer_0.ln_2.bias [6]\n"
                "encoder.layers.encoder_layer_0.ln_2.weight [6]\n"
                "encoder.layers.encoder_layer_0.mlp.0.bias [10]\n"
                "encoder.layers.encoder_layer_0.mlp.0.weight [10, 6]\n"
                "encoder.layers.encoder_layer_0.mlp.3.bias [6]\n"
                "encoder.layers.encoder_layer_0.mlp.3.weight [6, 10]\n"
                "encoder.layers.encoder_layer_0.self_attention.in_proj_bias [18]\n"
                "encoder.layers.encoder_layer_0.self_attention.in_proj_weight [18, 6]\n"
                "encoder.layers.encoder_layer_0.self_attention.out_proj.bias [6]\n"
                "encoder.layers.encoder_layer_0.self_attention.out_proj.weight [6, 6]\n"
                "encoder.ln.bias [6]\n"
                "encoder.ln.weight [6]\n"
                "encoder.pos_embedding [1, 5, 6]\n"
                "heads.head.bias [3]\n"
                "heads.head.weight [3, 6]\n");
    converts("npz", "npz", NULL, false, &n);
#define BLOCK "Transformer/encoderblock_0/"
#define NORM "Transformer/encoder_norm/"
    check_names("npz", NORM "bias [6]\n" NORM "scale [6]\n" BLOCK "LayerNorm_0/bias [6]\n" BLOCK
                            "LayerNorm_0/scale [6]\n" BLOCK "LayerNorm_2/bias [6]\n" BLOCK
                            "LayerNorm_2/scale [6]\n" BLOCK "MlpBlock_3/Dense_0/bias [10]\n" BLOCK
                            "MlpBlock_3/Dense_0/kernel [6, 10]\n" BLOCK
                            "MlpBlock_3/Dense_1/bias [6]\n" BLOCK
                            "MlpBlock_3/Dense_1/kernel [10, 6]\n" BLOCK
                            "MultiHeadDotProductAttention_1/key/bias [2, 3]\n" BLOCK
                            "MultiHeadDotProductAttention_1/key/kernel [6, 2, 3]\n" BLOCK
                            "MultiHeadDotProductAttention_1/out/bias [6]\n" BLOCK
                            "MultiHeadDotProductAttention_1/out/kernel [2, 3, 6]\n" BLOCK
                            "MultiHeadDotProductAttention_1/query/bias [2, 3]\n" BLOCK
                            "MultiHeadDotProductAttention_1/query/kernel [6, 2, 3]\n" BLOCK
                            "MultiHeadDotProductAttention_1/value/bias [2, 3]\n" BLOCK
                            "MultiHeadDotProductAttention_1/value/kernel [6, 2, 3]\n"
                            "Transformer/posembed_input/pos_embedding [1, 5, 6]\n"
                            "cls [1, 1, 6]\n"
                            "embedding/bias [6]\n"
                            "embedding/kernel [4, 4, 3, 6]\n"
                            "head/bias [3]\n"
                            "head/kernel [6, 3]\n");
}

/* The file holds the JSON of `expected`, be its keys in any order. */
static void check_json(const char *path, const char *expected) {
    json_error_t reason;
    json_t *found = json_load_file(path, JSON_REJECT_DUPLICATES, &reason);
    json_t *wanted = json_loads(expected, 0, NULL);
    if (!found || !wanted || !json_equal(found, wanted)) {
        char *text = json_dumps(found, JSON_INDENT(1));
        fail_msg("%s: %s %s", path, reason.text, text ? text : "");
    }
    json_decref(found);
    json_decref(wanted);
}

static void read_text(const char *path, char *text, size_t size) {
    FILE *file = fopen(path, "r");
    if (!file) return;
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void test_configs(void **state) {
    notes n;
    save_model("model.safetensors", "{}", pictures);
    converts("timm", "timm", NULL, false, &n);
    assert_string_equal(n.text, "");
    check_json("timm/config.json",
               "{\"architecture\": \"vit_base_patch16_224\", \"num_classes\": 3, "
               "\"num_features\": 6, \"global_pool\": \"token\", \"model_args\": {\"img_size\": "
               "[8, 8], \"patch_size\": 4, \"in_chans\": 3, \"embed_dim\": 6, \"depth\": 2, "
               "\"num_heads\": 2, \"mlp_ratio\": 1.6666666666666667, \"qkv_bias\": true, "
               "\"global_pool\": \"token\", \"class_token\": true, "
               "\"init_values\": null}, \"pretrained_cfg\": {\"input_size\": [3, 8, 8], "
               "\"fixed_input_size\": true, \"interpolation\": \"bicubic\", \"crop_pct\": 0.8, "
               "\"crop_mode\": \"center\", \"mean\": [0.5, 0.4, 0.3], \"std\": [0.2, 0.25, 0.3], "
               "\"num_classes\": 3, \"first_conv\": \"patch_embed.proj\", \"classifier\": "
               "\"head\"}, \"label_names\": [\"a \\\"cat\\\"\", \"dog\", \"d\xc3\xb6g\"]}");
    save_model("model.safetensors", "{}", squash);
    converts("hf", "hf", NULL, false, &n);
    assert_non_null(strstr(n.text, "backend=\"pil\"")); /* Pillow's resizing, which is not theirs */
    check_json("hf/config.json",
               "{\"architectures\": [\"ViTForImageClassification\"], \"model_type\": \"vit\", "
               "\"hidden_size\": 6, \"num_hidden_layers\": 2, \"num_attention_heads\": 2, "
               "\"intermediate_size\": 10, \"hidden_act\": \"gelu\", \"layer_norm_eps\": 1e-06, "
               "\"hidden_dropout_prob\": 0.0, \"attention_probs_dropout_prob\": 0.0, "
               "\"image_size\": 8, \"patch_size\": 4, \"num_channels\": 3, \"qkv_bias\": true, "
               "\"id2label\": {\"0\": \"a \\\"cat\\\"\", \"1\": \"dog\", \"2\": "
               "\"d\xc3\xb6g\"}}");
    check_json("hf/preprocessor_config.json",
               "{\"image_processor_type\": \"ViTImageProcessor\", \"do_resize\": true, \"size\": "
               "{\"height\": 8, \"width\": 8}, \"resample\": 2, \"do_rescale\": true, "
               "\"rescale_factor\": 0.00392156862745098, \"do_normalize\": true, \"image_mean\": "
               "[0.5, 0.5, 0.5], \"image_std\": [0.5, 0.5, 0.5]}");
    /* who turns pictures by their EXIF data */
    converts("turned", "timm", NULL, true, &n);
    assert_non_null(strstr(n.text, "its library does not turn pictures as EXIF says"));
    char upright[sizeof squash];
    snprintf(upright, sizeof upright, "[%s", strchr(squash, ',') + 2);
    save_model("model.safetensors", "{}", upright);
    converts("stored", "hf", NULL, false, &n);
    assert_non_null(strstr(n.text, "its library's pipeline() turns pictures as EXIF says"));
}

/* ---- types ---- */

static size_t file_size(const char *path) {
    vit_bytes bytes;
    assert_int_equal(vit_read_file(&bytes, path, 1 << 24, NULL), VIT_OK);
    vit_free(bytes.data);
    return bytes.size;
}

static void test_types(void **state) {
    notes n;
    save_model("model.safetensors", "{\"dim\": 48, \"mlp\": 192}", pictures);
    const size_t whole = file_size("model.safetensors");
    converts("half.safetensors", NULL, "f16", false, &n);
    converts("brain", "npz", "bf16", false, &n);
    assert_true(file_size("half.safetensors") < whole / 2 + 4096);
    vit_model_file before = load("model.safetensors"), half = load("half.safetensors");
    vit_model_file brain = load("brain");
    for (size_t i = 0; i < before.table.size; i++) {
        const float x = before.values[i], size = x < 0 ? -x : x;
        assert_true(half.values[i] - x <= size / 2048 + 1e-7f);
        assert_true(x - half.values[i] <= size / 2048 + 1e-7f);
        assert_true(brain.values[i] - x <= size / 256 && x - brain.values[i] <= size / 256);
    }
    check_same_pictures(&before, &half);
    vit_model_file_clear(&half);
    vit_model_file_clear(&brain);
    before.values[vit_table_find(&before.table, "norm.bias")->offset + 1] = 1e5f;
    assert_int_equal(vit_model_file_save("model.safetensors", &before, NULL), VIT_OK);
    vit_model_file_clear(&before);
    vit_error error;
    assert_int_equal(convert("large", "timm", "f16", false, &n, &error), VIT_ERROR_UNSUPPORTED);
    assert_says(&error, VIT_ERROR_UNSUPPORTED, "tensor norm.bias: element 1 is 100000", "bf16");
    assert_int_equal(vit_path_look("large"), VIT_PATH_NONE);
}

/* ---- what is refused ---- */

/* Without --force, and where the library could not load it also with that. */
static void refused(const char *changes, const char *list, const char *layout, const char *reason) {
    vit_error error;
    notes n;
    save_model("model.safetensors", changes, list);
    for (int force = 0; force < 2; force++) {
        assert_int_equal(convert("out", layout, NULL, force > 0, &n, &error),
                         VIT_ERROR_UNSUPPORTED);
        assert_says(&error, VIT_ERROR_UNSUPPORTED, reason, "the layouts \"onnx\" and \"pytorch\"");
        assert_int_equal(vit_path_look("out"), VIT_PATH_NONE);
    }
}

/* What --force writes, this library loads; and its own, tests/cli/convert_peers.py. */
static void forced(const char *changes, const char *list, const char *layout, const char *reason) {
    vit_error error;
    notes n;
    save_model("model.safetensors", changes, list);
    assert_int_equal(convert("out", layout, NULL, false, &n, &error), VIT_ERROR_UNSUPPORTED);
    assert_says(&error, VIT_ERROR_UNSUPPORTED, reason, "--force");
    assert_int_equal(vit_path_look("out"), VIT_PATH_NONE);
    converts("out", layout, NULL, true, &n);
    assert_non_null(strstr(n.text, reason));
    vit_model_file loaded = load("out");
    vit_model_file_clear(&loaded);
    assert_int_equal(system("rm -r out"), 0);
}

static void test_refusals(void **state) {
    refused("{\"head\": \"mlp\"}", pictures, "timm", "its head has two layers");
    refused("{\"norm\": \"post\"}", pictures, "hf", "post-norm");
    refused("{\"stem\": \"conv\"}", pictures, "timm", "its stem is of convolutions");
    refused("{\"positions\": \"sinusoidal\"}", pictures, "npz", "its positions are not learned");
    forced("{\"attention_scale\": \"dim\"}", pictures, "torchvision", "scaled by dim^-0.5");
    forced("{\"norm_eps\": 1e-5}", pictures, "timm", "epsilon of its norms is not 1e-6");
    refused("{\"registers\": 1}", pictures, "hf", "it has register tokens");
    refused("{\"pool\": \"class_dist\"}", pictures, "torchvision", "a distillation token");
    refused("{\"layer_scale\": true}", pictures, "npz", "layer scale");
    forced("{\"activation\": \"relu\"}", pictures, "torchvision", "activation is not GELU");
    refused("{" MEAN "}", pictures, "hf", "pools its patches");
    refused("{" MEAN "}", pictures, "npz", "norm comes after pooling");
    forced("{}", squash, "torchvision", "by their shorter side");
}

/* Lists of operations that a library's words cannot say, or say with a note; with {"crop_pct"} it
 * is timm's number that leads to the same pictures. */
static void test_pictures(void **state) {
#define RGB "[{\"op\": \"rgb\"}, "
#define NORMALIZE "{\"op\": \"normalize\", \"mean\": [0.5], \"std\": [0.5]}]"
#define RESIZE(h, w, more) \
    "{\"op\": \"resize\", \"height\": " h ", \"width\": " w ", \"filter\": \"bicubic\"" more "}, "
#define CROP(kind, side, more) \
    "{\"op\": \"" kind "\", \"height\": " side ", \"width\": " side more "}, "
#define CENTER(side) CROP("center_crop", side, "")
    static const struct {
        const char *layout, *list, *says; /* the error, a note or what stands in config.json */
        bool taken;
    } rows[] = {
        {"timm", RGB RESIZE("16", "16", "") RESIZE("8", "8", "") NORMALIZE,
         "pictures are resized twice, or after cropping", false},
        {"timm", RGB RESIZE("16", "16", "") CENTER("12") RESIZE("8", "8", "") NORMALIZE,
         "pictures are resized twice, or after cropping", false},
        {"timm", RGB RESIZE("16", "16", "") CENTER("12") CENTER("8") NORMALIZE,
         "pictures are cropped twice", false},
        {"timm", RGB RESIZE("10", "10", "") CROP("crop", "8", "") NORMALIZE,
         "of its pictures the upper left part is cut out", false},
        {"timm", RGB CENTER("8") NORMALIZE, "pictures are not resized to what the network takes",
         false},
        {"hf", RGB RESIZE("8", "8", ", \"fit\": \"contain\"") CENTER("8") NORMALIZE,
         "pictures are fitted without being squashed", false},
        {"timm", RGB RESIZE("10", "12", "") CENTER("8") NORMALIZE,
         "pictures are cropped from a size that timm's crop_pct does not give", false},
        {"timm", RGB RESIZE("12", "10", "") CENTER("8") NORMALIZE,
         "pictures are cropped from a size that timm's crop_pct does not give", false},
        {"timm", RGB RESIZE("11", "11", "") CENTER("8") NORMALIZE, "\"crop_pct\": 0.727272", true},
        {"timm",
         RGB "{\"op\": \"resize\", \"shorter\": 11, \"filter\": \"bicubic\"}, " CENTER("8")
             NORMALIZE,
         "\"crop_pct\": 0.727272", true},
        {"timm", RGB RESIZE("8", "8", ", \"arithmetic\": \"torch\"") NORMALIZE,
         "its library resizes with Pillow, which rounds otherwise", true},
        {"timm",
         RGB RESIZE("11", "11", "") CROP("center_crop", "8", ", \"rounding\": \"floor\"") NORMALIZE,
         "the middle of an odd number of pixels may be one pixel off", true},
        {"torchvision", RGB RESIZE("10", "10", "") CENTER("8") NORMALIZE,
         "pictures are not resized by their shorter side and cropped", false},
        {"hf", RGB RESIZE("8", "8", ", \"arithmetic\": \"float\"") NORMALIZE,
         "DINOv3ViTImageProcessorFast", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        notes n;
        vit_error error = {0};
        char config[4096] = "", processor[2048] = "";
        save_model("model.safetensors", "{}", rows[i].list);
        const vit_status status = convert("out", rows[i].layout, NULL, false, &n, &error);
        if ((status == VIT_OK) != rows[i].taken) fail_msg("%s: %s", rows[i].list, error.message);
        if (!rows[i].taken) {
            assert_says(&error, VIT_ERROR_UNSUPPORTED, rows[i].says, rows[i].layout);
            continue;
        }
        read_text("out/config.json", config, sizeof config);
        read_text("out/preprocessor_config.json", processor, sizeof processor);
        if (!strstr(n.text, rows[i].says) && !strstr(config, rows[i].says) &&
            !strstr(processor, rows[i].says))
            fail_msg("%s: %s\n%s%s", rows[i].list, n.text, config, processor);
        assert_int_equal(system("rm -r out"), 0);
    }
}

/* What a layout says of scores, of sizes and of digits in 16 bits. */
static void test_scoring(void **state) {
    static const char *const layouts[] = {"timm", "hf"};
    vit_model_file m = make_model("{}", squash);
    vit_error error;
    m.scoring = VIT_SCORING_SIGMOID;
    assert_int_equal(vit_model_file_save("model.safetensors", &m, &error), VIT_OK);
    vit_model_file_clear(&m);
    for (size_t i = 0; i < 2; i++) {
        notes n;
        converts(layouts[i], layouts[i], NULL, true, &n);
        const bool told = strstr(n.text, "does not know that the classes' scores are no softmax");
        assert_int_equal(told, i == 0);
    }
    vit_model_file after = load("hf");
    assert_int_equal(after.scoring, VIT_SCORING_SIGMOID);
    vit_model_file_clear(&after);
}

/* What no library does goes along as the list of operations, which this program then reads. */
static void test_digits(void **state) {
    static const char *const layouts[] = {"timm", "hf", "torchvision", "npz", "pytorch"};
    save_model("model.safetensors", "{}", digit);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        notes n;
        converts("out", layouts[i], NULL, false, &n);
        if (i < 4) assert_non_null(strstr(n.text, "does not prepare pictures as digits"));
        vit_model_file before = load("model.safetensors"), after = load("out");
        check_same_pictures(&before, &after);
        vit_model_file_clear(&before);
        vit_model_file_clear(&after);
        assert_int_equal(system("rm -r out"), 0);
    }
}

static void test_options(void **state) {
    notes n;
    vit_error error;
    save_model("model.safetensors", "{}", pictures);
    assert_int_equal(convert("out", "keras", NULL, false, &n, &error), VIT_ERROR_ARGUMENT);
    assert_says(&error, VIT_ERROR_ARGUMENT, "\"keras\"",
                "timm, hf, torchvision, npz, onnx or pytorch");
    assert_int_equal(convert("out", NULL, "f64", false, &n, &error), VIT_ERROR_ARGUMENT);
    assert_says(&error, VIT_ERROR_ARGUMENT, "\"f64\"", "f32, bf16, f16 or int8");
    assert_int_equal(convert(".", "timm", NULL, false, &n, &error), VIT_ERROR_ARGUMENT);
    assert_says(&error, VIT_ERROR_ARGUMENT, ". is there already", "directory");
    assert_int_equal(convert("no/where", "timm", NULL, false, &n, &error), VIT_ERROR_IO);
    assert_says(&error, VIT_ERROR_IO, "no/where", "cannot make directory");
}

/* Whatever fails, nothing is left. */
static void test_every_failing_call(void **state) {
    static const char *const layouts[] = {"hf", "npz", "onnx", "pytorch"};
    save_model("model.safetensors", "{\"depth\": 1}", pictures);
    for (size_t i = 0; i < 4; i++)
        for (long n = 1;; n++) {
            notes said;
            vit_error error;
            fault_arm(n);
            const vit_status status = convert("out", layouts[i], "bf16", false, &said, &error);
            fault_disarm();
            if (!fault_call()) {
                assert_int_equal(status, VIT_OK);
                assert_int_equal(system("rm -r out"), 0);
                break;
            }
            if (status == VIT_OK)
                assert_int_equal(system("rm -r out"), 0); /* a close after reading */
            else
                assert_int_equal(vit_path_look("out"), VIT_PATH_NONE);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_there_and_back),
        IN_DIRECTORY(test_patches_in_the_order_of_pixels),
        IN_DIRECTORY(test_names),
        IN_DIRECTORY(test_configs),
        IN_DIRECTORY(test_types),
        IN_DIRECTORY(test_refusals),
        IN_DIRECTORY(test_pictures),
        IN_DIRECTORY(test_scoring),
        IN_DIRECTORY(test_digits),
        IN_DIRECTORY(test_options),
        IN_DIRECTORY(test_every_failing_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
