/* Files that are nearly right: tensors of published weights under other names, in other shapes, not
 * there or beside others, and metadata of model files. What is refused is so by a sentence. */
#include "tests/support/scratch.h"
#include "tests/support/small_model.h"
#include "tests/support/spoiled.h"
#include "tests/support/unit.h"
#include "vit/api/internal.h"
#include "vit/tensors/checksum.h"
#include "vit/tensors/safetensors.h"
#include "vit/zero_shot.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What becomes of one tensor: it has the name `to`, or goes where that is NULL; of "=NAME" it has
 * that tensor's values; of "+NAME" one of that name is beside it, with its first values. */
typedef struct change {
    const char *name, *tensor, *to, *a, *b; /* a NULL: the file is taken */
} change;

static void apply(spoiled *s, const change *c, size_t count) {
    vit_tensor *t = tensor_of(s, c->tensor);
    if (!c->to) {
        drop(s, c->tensor);
    } else if (c->to[0] == '=') {
        t->data = tensor_of(s, c->to + 1)->data;
    } else if (c->to[0] != '+') {
        t->name = c->to;
    } else {
        assert_in_range(s->count, 1, 199);
        vit_tensor *more = &s->tensors[s->count++];
        *more = *t;
        more->name = c->to + 1;
        more->dims = 1;
        more->shape[0] = more->count = count;
    }
}

static void test_names(void **state) {
    static const char none[] = "is none of a Vision Transformer in the layout of timm";
    static const change rows[] = {
        {"timm_13_wide", "blocks.0.norm2.bias", "blocks.01.norm2.bias", none, "blocks.01."},
        {"timm_13_wide", "blocks.0.norm2.bias", "blocks.x.norm2.bias", none, "blocks.x."},
        {"timm_13_wide", "blocks.0.norm2.bias", "blocks.:.norm2.bias", none, "blocks.:."},
        {"timm_13_wide", "blocks.0.norm2.bias", "blocks..norm2.bias", none, "blocks..norm2"},
        {"timm_13_wide", "blocks.0.norm2.bias", "blocks.9999.norm2.bias", none, "blocks.9999."},
        {"timm_13_wide", "blocks.0.norm2.bias", "blocks.0.norm2.gain", none, "blocks.0.norm2."},
        {"timm_13_wide", "patch_embed.proj.weight", NULL,
         "tensor patch_embed.proj.weight is missing", ""},
        {"timm_13_wide", "blocks.0.norm1.weight", NULL, "tensor blocks.0.norm1.weight is missing",
         ""},
        {"timm_13_wide", "blocks.0.mlp.fc2.weight", NULL, "blocks.0.mlp.fc2.weight is missing", ""},
        {"timm_13_wide", "pos_embed", NULL, "tensor pos_embed is missing", ""},
        {"hf_4", "vit.embeddings.patch_embeddings.projection.weight", NULL,
         "tensor vit.embeddings.patch_embeddings.projection.weight is missing", ""},
        {"timm_13_wide", "head.bias", "base_model.model.head.bias", "an adapter of PEFT",
         "merge both"},
        {"timm_13_wide", "head.bias", "+blocks.0.attn.qkv.lora_A.weight", "an adapter of PEFT",
         "merge"},
        {"timm_13_wide", "head.bias", "+criterion.weight", NULL, NULL},
        {"timm_13_wide", "head.bias", "+loss_fn.weight", NULL, NULL},
        {"timm_13_wide", "head.bias", "+model.head.bias", "are the same part of a network",
         "head.bias"},
        {"dinov3_authors", "rope_embed.periods", "=norm.weight",
         "the periods in tensor rope_embed.periods", "are not powers of"},
        {"dinov3_authors", "blocks.1.attn.qkv.bias_mask", "=blocks.1.attn.qkv.weight",
         "the mask in tensor blocks.1.attn.qkv.bias_mask", "for queries and values"},
        {"timm_dinov3", "norm.weight", "+blocks.1.attn.qkv.bias_mask",
         "the mask in tensor blocks.1.attn.qkv.bias_mask", "for queries and values"},
        {"timm_naflex", "embeds.pos_embed_x", NULL, "pos_embed", "should be"},
        {"timm_distilled", "dist_token", NULL, "tensor pos_embed has shape [1, 11, 21]",
         "[1, 10, 21]"},
        {"hf_clip", "vision_model.post_layernorm.bias", "vision_model.post_layernorm.gain",
         "is none of a Vision Transformer", "post_layernorm"},
    };
    (void)state;
    for (const change *c = rows; c < rows + sizeof rows / sizeof *rows; c++) {
        vit_model *model;
        vit_error error = {0};
        spoiled s = take(c->name);
        apply(&s, c, 4);
        put_spoiled(&s);
        if (strncmp(c->name, "hf", 2) == 0) put_file("preprocessor_config.json", "{\"size\": 24}");
        const vit_status status = vit_model_load(&model, ".", &error);
        if ((status == VIT_OK) != !c->a) fail_msg("%s %s: %s", c->name, c->to, error.message);
        if (c->a) assert_says(&error, status, c->a, c->b);
        vit_model_free(model);
    }
}

/* A classifier of one class answers with a sigmoid: a softmax of one number is always 1. */
static void test_one_class(void **state) {
    vit_model *model;
    vit_error error;
    (void)state;
    spoiled s = take("timm_13_wide");
    vit_tensor *weight = tensor_of(&s, "head.weight"), *bias = tensor_of(&s, "head.bias");
    weight->shape[0] = bias->shape[0] = bias->count = 1;
    weight->count = weight->shape[1];
    json_object_set_new(s.config, "num_classes", json_integer(1));
    json_object_del(s.config, "label_names");
    put_spoiled(&s);
    if (vit_model_load(&model, ".", &error) != VIT_OK) fail_msg("%s", error.message);
    assert_int_equal(vit_model_describe(model).classes, 1);
    assert_int_equal(vit_model_describe(model).scoring, VIT_SCORING_SIGMOID);
    vit_model_free(model);
}

/* Pictures that are prepared to another size than the network's: the sentence names the option that
 * helps, and it does. */
static void test_size(void **state) {
    vit_model *model;
    vit_error error;
    (void)state;
    spoiled s = take("hf_4");
    put_file("preprocessor_config.json", "{\"size\": {\"height\": 32, \"width\": 40}}");
    refuse(&s, VIT_ERROR_MISMATCH, "prepared to 32 x 40", "--size 32x40 resamples its positions");
    const vit_model_options sizes[] = {{.height = 32, .width = 40}, {.height = 40, .width = 32}};
    if (vit_model_load_with(&model, ".", &sizes[0], &error) != VIT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(model->file.config.width, 40);
    assert_non_null(
        strstr(vit_model_describe(model).preprocessing, "\"height\": 32, \"width\": 40"));
    vit_model_free(model);
    assert_int_equal(vit_model_load_with(&model, ".", &sizes[1], &error), VIT_ERROR_MISMATCH);
    /* of a network of any size the processor's size is taken, or the one that is asked for */
    s = take("hf_dinov2");
    put_spoiled(&s);
    put_file("preprocessor_config.json",
             "{\"image_processor_type\": \"BitImageProcessor\", \"size\": {\"shortest_edge\": 40}, "
             "\"crop_size\": 32}");
    if (vit_model_load_with(&model, ".", &sizes[1], &error) != VIT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(model->file.config.height, 40);
    assert_non_null(
        strstr(vit_model_describe(model).preprocessing, "\"height\": 40, \"width\": 32"));
    vit_model_free(model);
}

/* Files without a config: in which layout it is not needed, and where it would lie. */
static void test_no_config(void **state) {
    static float positions[28 * 28 * 64];
    vit_model *model;
    vit_error error;
    (void)state;
    spoiled s = take("hf_clip");
    json_decref(s.config);
    s.config = NULL;
    refuse(&s, VIT_ERROR_UNSUPPORTED, "put a config.json beside the file", "(the library's own)");
    /* big_vision prepares pictures of 224 otherwise than all others */
    s = take("big_vision");
    vit_tensor *t = tensor_of(&s, "params/pos_embedding");
    const size_t side = 224 / tensor_of(&s, "params/embedding/kernel")->shape[0];
    const size_t dim = t->shape[t->dims - 1];
    assert_true(side * side * dim <= sizeof positions / sizeof *positions);
    t->dims = 3;
    t->shape[0] = 1;
    t->shape[1] = side * side;
    t->shape[2] = dim;
    t->count = side * side * dim;
    t->data = positions;
    put_spoiled(&s);
    if (vit_model_load(&model, "model.safetensors", &error) != VIT_OK)
        fail_msg("%s", error.message);
    const char *list = vit_model_describe(model).preprocessing;
    assert_non_null(strstr(list, "\"height\": 256, \"width\": 256, \"fit\": \"cover\""));
    assert_non_null(strstr(list, "\"center_crop\", \"height\": 224, \"width\": 224"));
    vit_model_free(model);
}

/* timm leaves out the layer before the head of Google's files. */
static void test_pre_logits(void **state) {
    vit_head heads[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        char path[5000], config[5000];
        vit_model *model;
        vit_error error;
        snprintf(path, sizeof path, "%s/" PUBLISHED "/google_pre_logits", project);
        snprintf(config, sizeof config, "%s/" PUBLISHED "/google_timm/config.json", project);
        const vit_model_options options = {.config = i ? config : NULL};
        if (vit_model_load_with(&model, path, &options, &error) != VIT_OK)
            fail_msg("%s", error.message);
        heads[i] = model->file.config.head;
        vit_model_free(model);
    }
    assert_int_equal(heads[0], VIT_HEAD_TANH);
    assert_int_equal(heads[1], VIT_HEAD_LINEAR);
}

/* Names for a network without classes; words for one whose texts are of other features. */
static void test_labels(void **state) {
    char path[5000];
    vit_model *model;
    vit_error error;
    (void)state;
    put_file("names", "a\nb\n");
    snprintf(path, sizeof path, "%s/" PUBLISHED "/timm_backbone", project);
    const vit_model_options names = {.labels = "names"};
    assert_int_equal(vit_model_load_with(&model, path, &names, &error), VIT_ERROR_MISMATCH);
    assert_says(&error, VIT_ERROR_MISMATCH, "names", "which has no classes to name");
    spoiled s = take("../words/clip");
    vit_tensor *t = tensor_of(&s, "text_projection.weight");
    t->count = t->count / t->shape[0] * 12;
    t->shape[0] = 12;
    put_spoiled(&s);
    static const char *const files[] = {"tokenizer.json", "tokenizer_config.json",
                                        "preprocessor_config.json"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/tests/fixtures/words/clip/%s", project, files[i]);
        assert_int_equal(symlink(path, files[i]), 0);
    }
    const vit_model_options words = {.labels = "cat,dog"};
    assert_int_equal(vit_model_load_with(&model, ".", &words, &error), VIT_ERROR_MISMATCH);
    assert_says(&error, VIT_ERROR_MISMATCH, "words cannot be its classes",
                "pictures have 20 features, texts 12 features");
}

/* ---- the encoder of texts ---- */

static void test_texts(void **state) {
    static const float far[] = {INFINITY};
    static const struct {
        const char *to;
        size_t count;
        const float *data;
        const char *says;
    } rows[] = {{NULL, 1, NULL, "tensor logit_scale is missing, by which answers are scaled"},
                {"logit_scale", 2, NULL, "tensor logit_scale has 2 elements, expected one"},
                {"logit_scale", 1, far, "logit_scale"}};
    vit_embedder *e;
    vit_error error;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        spoiled s = take("../words/clip");
        static float two[2];
        vit_tensor *t = tensor_of(&s, "logit_scale");
        if (rows[i].count == 2) {
            t->dims = 1;
            t->shape[0] = t->count = 2;
            t->data = two;
        }
        if (rows[i].data) t->data = rows[i].data;
        if (!rows[i].to) drop(&s, "logit_scale");
        put_spoiled(&s);
        assert_int_not_equal(vit_embedder_load(&e, ".", NULL, &error), VIT_OK);
        assert_says(&error, error.status, rows[i].says, "");
    }
    unlink("config.json");
    assert_int_equal(vit_embedder_load(&e, ".", NULL, &error), VIT_ERROR_UNSUPPORTED);
    assert_says(&error, VIT_ERROR_UNSUPPORTED, "there is no config of a text encoder beside it",
                "");
}

/* ---- metadata of model files ---- */

/* A model file whose metadata has this value; of "head.bias" the name is `tensor`, or if that is ""
 * the shape another. */
static void write_own(const char *key, const char *value, const char *tensor) {
    static const char *const labels[3] = {"a", "b", "c"};
    enum { MOST = 16 };
    vit_metadata all[MOST];
    vit_tensor tensors[100];
    vit_tensors *file;
    char hex[65];
    size_t count = 0;
    vit_model_file m = small_model("{\"image\": [8, 8], \"channels\": 3, \"patch\": 4, \"dim\": 6, "
                                   "\"depth\": 1, \"heads\": 2, \"mlp\": 10}",
                                   "{\"classes\": 3}",
                                   "[{\"op\": \"rgb\"}, {\"op\": \"resize\", \"height\": 8, "
                                   "\"width\": 8, \"filter\": \"bilinear\"}, {\"op\": "
                                   "\"normalize\", \"mean\": [0.5], \"std\": [0.5]}]",
                                   labels, "{}");
    assert_int_equal(vit_model_file_save("own.safetensors", &m, NULL), VIT_OK);
    vit_model_file_clear(&m);
    assert_int_equal(vit_tensors_open(&file, "own.safetensors", NULL), VIT_OK);
    static const char *const keys[] = {"vit.config", "vit.preprocessing", "vit.recipe",
                                       "vit.labels"};
    for (size_t i = 0; i < 4; i++)
        if (strcmp(keys[i], key) != 0)
            all[count++] = (vit_metadata){keys[i], vit_tensors_metadata(file, keys[i])};
    if (value) all[count++] = (vit_metadata){key, value};
    const size_t tensor_count = vit_tensors_count(file);
    assert_in_range(tensor_count, 1, 100);
    for (size_t i = 0; i < tensor_count; i++) {
        vit_tensor *t = &tensors[i];
        *t = *vit_tensors_at(file, i);
        if (!tensor || strcmp(t->name, "head.bias") != 0) continue;
        if (*tensor)
            t->name = tensor;
        else
            t->shape[0] = t->count = 2;
    }
    all[count++] = (vit_metadata){VIT_CHECKSUM_KEY, vit_checksum_zeros};
    assert_int_equal(vit_safetensors_hash(hex, tensors, tensor_count, all, count, NULL), VIT_OK);
    all[count - 1].value = hex;
    assert_int_equal(
        vit_safetensors_write("spoiled.safetensors", tensors, tensor_count, all, count, NULL),
        VIT_OK);
    vit_tensors_close(file);
}

static void test_metadata(void **state) {
    static const char wanted[] = "expected {\"file\": \"NAME\" or \"DIRECTORY/NAME\"";
#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
    static const struct {
        const char *key, *value, *says; /* says NULL: it is taken */
    } rows[] = {
        {"vit.config", NULL, "put a config.json beside the file"},
        {"vit.preprocessing", NULL, "no \"vit.preprocessing\" in its metadata"},
        {"vit.recipe", NULL, NULL},
        {"vit.recipe", "{\n\t\"a\":\r1}", NULL},
        {"vit.recipe", "[]", "vit.recipe"},
        {"vit.labels", NULL, NULL},
        {"vit.labels", "[\"a\"", "vit.labels"},
        {"vit.labels", "[\"a\", \"b\"]", "2 labels for 3 classes"},
        {"vit.labels", "[1, 2, 3]", "vit.labels"},
        {"vit.temperature", "2", NULL},
        {"vit.temperature", "hot", "\"vit.temperature\" is \"hot\", expected a number from 0.001"},
        {"vit.temperature", "0.0001", "\"vit.temperature\" is \"0.0001\""},
        {"vit.temperature", "2000", "\"vit.temperature\" is \"2000\""},
        {"vit.threshold", "0.5", NULL},
        {"vit.threshold", "x", "\"vit.threshold\" is \"x\", expected a number above 0, at most 1"},
        {"vit.threshold", "0", "\"vit.threshold\" is \"0\""},
        {"vit.threshold", "1.5", "\"vit.threshold\" is \"1.5\""},
        {"vit.scoring", "none", NULL},
        {"vit.scoring", "argmax",
         "\"vit.scoring\" is \"argmax\", expected softmax, sigmoid or none"},
        {"vit.backbone", "{}", wanted},
        {"vit.backbone", "[", "vit.backbone"},
        {"vit.backbone", "{\"file\": \"a\", \"sha256\": \"00\"}", wanted},
        {"vit.backbone", "{\"file\": 3, \"sha256\": \"" ZEROS "\"}", wanted},
        {"vit.backbone", "{\"file\": \"a\"}", wanted},
        {"vit.backbone", "{\"file\": \"a\", \"sha256\": \"" ZEROS "\", \"x\": 1}", wanted},
        {"vit.backbone", "{\"file\": \"\", \"sha256\": \"" ZEROS "\"}", wanted},
        {"vit.backbone", "{\"file\": \"/a\", \"sha256\": \"" ZEROS "\"}", wanted},
        {"vit.backbone", "{\"file\": \".a\", \"sha256\": \"" ZEROS "\"}", wanted},
        {"vit.backbone", "{\"file\": \"a/\", \"sha256\": \"" ZEROS "\"}", wanted},
        {"vit.backbone", "{\"file\": \"a/.b\", \"sha256\": \"" ZEROS "\"}", wanted},
        {"vit.backbone", "{\"file\": \"a/b/c\", \"sha256\": \"" ZEROS "\"}", wanted},
        {"vit.backbone", "{\"file\": \"absent\", \"sha256\": \"" ZEROS "\"}",
         "its backbone, absent, is not there"},
        {"vit.backbone", "{\"file\": \"own.safetensors\", \"sha256\": \"" ZEROS "\"}",
         "is another file"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vit_model *model;
        vit_error error = {0};
        write_own(rows[i].key, rows[i].value, NULL);
        const vit_status status = vit_model_load(&model, "spoiled.safetensors", &error);
        if ((status == VIT_OK) != !rows[i].says)
            fail_msg("%s = %s: %s", rows[i].key, rows[i].value, error.message);
        if (rows[i].says) assert_says(&error, status, rows[i].says, "spoiled.safetensors");
        if (!rows[i].says && strcmp(rows[i].key, "vit.recipe") == 0 && rows[i].value)
            assert_string_equal(vit_model_describe(model).recipe, "{  \"a\": 1}");
        vit_model_free(model);
    }
}

static void test_own_tensors(void **state) {
    static const char *const rows[][2] = {
        {"", "tensor head.bias has shape [2], its config asks for [3]"},
        {"ema.head.bias", "tensor ema.head.bias does not belong to the network of its config"},
        {"adamw.head.bias", "tensor adamw.head.bias does not belong to the network"}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        vit_model *model;
        vit_error error = {0};
        write_own("", NULL, rows[i][0]);
        assert_int_equal(vit_model_load(&model, "spoiled.safetensors", &error), VIT_ERROR_MISMATCH);
        assert_says(&error, VIT_ERROR_MISMATCH, rows[i][1], "spoiled.safetensors");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_names),     IN_DIRECTORY(test_one_class),  IN_DIRECTORY(test_size),
        IN_DIRECTORY(test_texts),     IN_DIRECTORY(test_metadata),   IN_DIRECTORY(test_own_tensors),
        IN_DIRECTORY(test_no_config), IN_DIRECTORY(test_pre_logits), IN_DIRECTORY(test_labels),
    };
    find_project();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
