/* CLIP and SigLIP as Hugging Face publishes them: what is refused, and what each key changes; exact
 * pictures; what stands beside timm's arguments. test_published.c has the libraries' answers. */
#include "tests/support/check.h"
#include "tests/support/fixture.h"
#include "tests/support/scratch.h"
#include "tests/support/spoiled.h"
#include "tests/support/unit.h"
#include "vit/maps.h"
#include "vit/tensors/safetensors.h"
#include "vit/vit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void copy_file(const char *to, const char *name) {
    char path[5000];
    snprintf(path, sizeof path, "%s/" PUBLISHED "/%s", project, name);
    char *text = json_dumps(read_json(path), 0);
    put_file(to, text);
    free(text);
}

static json_t *vision(spoiled *s) {
    return json_object_get(s->config, "vision_config");
}

static void class_is(spoiled *s, const char *name) {
    json_array_set_new(json_object_get(s->config, "architectures"), 0, json_string(name));
}

static void test_tensors(void **state) {
    spoiled s = take("hf_clip");
    drop(&s, "visual_projection.weight");
    refuse(&s, VIT_ERROR_MISMATCH, "visual_projection.weight is missing", "projects the features");
    s = take("hf_clip");
    tensor_of(&s, "text_projection.weight")->name = "text_projektion.weight";
    refuse(&s, VIT_ERROR_MISMATCH, "tensor text_projektion.weight is none", "Hugging Face CLIP");
    s = take("hf_clip");
    tensor_of(&s, "vision_model.pre_layrnorm.bias")->name = "vision_model.pre_layernorm.bias";
    refuse(&s, VIT_ERROR_MISMATCH, "tensor vision_model.pre_layernorm.bias is none",
           "vision_model.pre_layrnorm.bias");
    s = take("hf_siglip");
    drop(&s, "vision_model.head.attention.in_proj_bias");
    refuse(&s, VIT_ERROR_MISMATCH, "vision_model.head.attention.in_proj_bias is missing",
           "config.json");
    s = take("hf_siglip");
    vit_tensor *t = tensor_of(&s, "vision_model.head.attention.in_proj_weight");
    t->shape[0] = 24;
    t->shape[1] = 72;
    refuse(&s, VIT_ERROR_MISMATCH, "in_proj_weight has shape [24, 72]", "should be [72, 24]");
    s = take("hf_clip_classifier");
    drop(&s, "classifier.weight");
    drop(&s, "classifier.bias");
    refuse(&s, VIT_ERROR_MISMATCH, "is missing", "of a backbone without a classifier");
}

static void test_configs(void **state) {
    spoiled s = take("hf_clip");
    json_decref(s.config);
    s.config = json_pack("{s:{s:i, s:{s:s, s:s, s:s}}}", "model_cfg", "embed_dim", 12, "vision_cfg",
                         "timm_model_name", "test_vit", "timm_pool", "", "timm_proj", "none");
    refuse(&s, VIT_ERROR_UNSUPPORTED, "\"timm_pool\" \"\"", "no feature of the picture");
    s = take("hf_siglip_vision");
    json_object_set_new(s.config, "vision_use_head", json_false());
    refuse(&s, VIT_ERROR_UNSUPPORTED, "\"vision_use_head\" false", "no feature of the picture");
    s = take("hf_clip");
    json_object_del(vision(&s), "patch_size");
    refuse(&s, VIT_ERROR_MISMATCH, "patch_embedding.weight has shape [24, 3, 8, 8]", "32, 32]");
    s = take("hf_clip");
    json_object_set_new(s.config, "projection_dim", json_integer(12));
    refuse(&s, VIT_ERROR_MISMATCH, "visual_projection.weight has shape [20, 24]", "[12, 24]");
    s = take("hf_clip");
    class_is(&s, "CLIPVisionModel");
    refuse(&s, VIT_ERROR_MISMATCH, "visual_projection.weight is of a classifier", "there is none");
    s = take("hf_clip");
    class_is(&s, "CLIPTextModelWithProjection");
    refuse(&s, VIT_ERROR_UNSUPPORTED, "\"CLIPTextModelWithProjection\" reads texts", "pictures");
    s = take("hf_clip");
    json_object_set_new(s.config, "vision_config", json_string("large"));
    refuse(&s, VIT_ERROR_FORMAT, "\"vision_config\" must be an object", "config.json");
    s = take("hf_clip");
    json_object_set_new(vision(&s), "hidden_act", json_string("swish2"));
    refuse(&s, VIT_ERROR_UNSUPPORTED, "\"hidden_act\" \"swish2\"", "gelu");
    s = take("hf_siglip");
    json_object_set_new(s.config, "model_type", json_string("siglip2"));
    refuse(&s, VIT_ERROR_UNSUPPORTED, "\"model_type\" \"siglip2\" is not supported", "siglip");
}

/* As another library where there is no choice, or none is known. */
static void test_answered_as(void **state) {
    static const struct {
        const char *emulate, *a, *b;
        vit_status status;
    } cases[] = {{"timm", "are hf's and are not answered as timm", "DINOv3", VIT_ERROR_UNSUPPORTED},
                 {"keras", "as \"keras\": no such library", "timm, hf", VIT_ERROR_ARGUMENT}};
    char path[5000];
    vit_model *model;
    vit_error error;
    snprintf(path, sizeof path, "%s/" PUBLISHED "/hf_clip", project);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const vit_model_options options = {.emulate = cases[i].emulate};
        assert_int_equal(vit_model_load_with(&model, path, &options, &error), cases[i].status);
        assert_says(&error, cases[i].status, cases[i].a, cases[i].b);
    }
    assert_int_equal(
        vit_model_load_with(&model, path, &(vit_model_options){.emulate = "hf"}, &error), VIT_OK);
    vit_model_free(model);
}

/* ---- what each key changes ---- */

/* The features of the fixture's picture; of the model in the current directory, which is `s`. */
static void features_of(float *features, spoiled *s) {
    vit_model *model;
    vit_session *session;
    vit_error error;
    char picture[5000], *config = json_dumps(s->config, 0);
    snprintf(picture, sizeof picture, "%s/" PUBLISHED "/picture.png", project);
    put_file("config.json", config);
    free(config);
    assert_int_equal(
        vit_safetensors_write("model.safetensors", s->tensors, s->count, NULL, 0, &error), VIT_OK);
    if (vit_model_load(&model, ".", &error) != VIT_OK) fail_msg("%s", error.message);
    assert_false(vit_model_describe(model).has_head);
    assert_int_equal(vit_model_describe(model).features, 20);
    assert_int_equal(vit_session_new(&session, model, NULL, &error), VIT_OK);
    float *logits = check_floats(20);
    assert_int_equal(vit_classify_file(session, picture, logits, &error), VIT_OK);
    assert_int_equal(vit_session_features(session, features, &error), VIT_OK);
    assert_memory_equal(features, logits, 20 * sizeof *features); /* what --embed writes */
    free(logits);
    vit_session_free(session);
    vit_model_free(model);
}

/* A wrong reading of any of these would pass the shapes; it must not pass the bound of parity. */
static void test_keys_count(void **state) {
    static const struct {
        const char *key, *value;
    } changes[] = {{"hidden_act", "\"gelu\""},
                   {"hidden_act", "\"gelu_new\""},
                   {"layer_norm_eps", "1e-4"},
                   {"num_attention_heads", "2"}};
    float right[20], wrong[20];
    copy_file("preprocessor_config.json", "hf_clip/preprocessor_config.json");
    spoiled s = take("hf_clip");
    features_of(right, &s);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        json_t *usual = json_incref(json_object_get(vision(&s), changes[i].key));
        json_t *value = json_loads(changes[i].value, JSON_DECODE_ANY, NULL);
        json_object_set_new(vision(&s), changes[i].key, value);
        features_of(wrong, &s);
        const double difference = check_difference(wrong, right, 20);
        if (!(difference > 2e-5)) fail_msg("%s: no difference", changes[i].key);
        json_object_set_new(vision(&s), changes[i].key, usual);
    }
    features_of(wrong, &s);
    assert_memory_equal(wrong, right, sizeof right);
    json_decref(s.config);
    free(s.values);
    vit_tensors_close(s.file);
}

/* A picture that is resized in floating point: its values answer as the picture does, what they are
 * rounded to nearly so, and maps are of the values. */
static void test_values(void **state) {
    enum { PIXELS = 24 * 16 * 3, DIM = 32 };
    (void)state;
    char directory[5000], path[5000];
    snprintf(directory, sizeof directory, "%s/" PUBLISHED "/hf_dinov3_float", project);
    snprintf(path, sizeof path, "%s/" PUBLISHED "/picture.png", project);
    const vit_picture picture = {.name = path};
    uint8_t pixels[PIXELS];
    float values[PIXELS], logits[3][DIM], features[DIM], probabilities[DIM];
    vit_map exact, rounded;
    vit_model *model;
    vit_session *session;
    vit_error error;
    const char *warning;
    if (vit_model_load(&model, directory, &error) != VIT_OK ||
        vit_session_new(&session, model, NULL, &error) != VIT_OK ||
        vit_prepare_values(session, &picture, 0, pixels, values, &warning, &error) != VIT_OK ||
        vit_classify_file(session, picture.name, logits[0], &error) != VIT_OK ||
        vit_embed_normalized(session, values, 1, logits[1], features, &error) != VIT_OK ||
        vit_embed_prepared(session, pixels, 1, logits[2], features, &error) != VIT_OK)
        fail_msg("%s", error.message);
    assert_null(warning);
    assert_memory_equal(logits[1], logits[0], sizeof *logits);
    assert_memory_not_equal(logits[2], logits[0], sizeof *logits);
    vit_map_options o = {.method = VIT_METHOD_RELEVANCE};
    assert_int_equal(vit_explain(session, pixels, &o, &rounded, NULL), VIT_OK);
    o.values = values;
    assert_int_equal(vit_explain(session, pixels, &o, &exact, NULL), VIT_OK);
    vit_model_probabilities(model, logits[0], probabilities);
    assert_float_equal(exact.probability, probabilities[exact.class_index], 0);
    assert_float_not_equal(rounded.probability, exact.probability, 0);
    vit_map_clear(&exact);
    vit_map_clear(&rounded);
    vit_session_free(session);
    vit_model_free(model);
}

/* timm's own files have "global_pool" beside "model_args", or no arguments at all. */
static void test_pool_beside_arguments(void **state) {
    static const char *const names[] = {"timm_eva02_clip", "timm_pe", "timm_eva02"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        vit_model *model;
        vit_error error;
        spoiled s = take(names[i]);
        json_object_del(json_object_get(s.config, "model_args"), "global_pool");
        put_spoiled(&s);
        if (vit_model_load(&model, ".", &error) != VIT_OK) fail_msg("%s", error.message);
        vit_model_free(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_tensors),     IN_DIRECTORY(test_configs),
        IN_DIRECTORY(test_answered_as), IN_DIRECTORY(test_keys_count),
        IN_DIRECTORY(test_values),      IN_DIRECTORY(test_pool_beside_arguments),
    };
    find_project();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
