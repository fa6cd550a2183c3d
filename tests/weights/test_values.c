/* Configs of which some values are others, beside the weights that they belong to: what each
 * is taken for, or the sentence that refuses it. Names are in single quotes; '(out)': the key is
 * taken out. */
#include "tests/support/fixture.h"
#include "tests/support/scratch.h"
#include "tests/support/spoiled.h"
#include "tests/support/unit.h"
#include "vit/api/internal.h"
#include "vit/zero_shot.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct values {
    const char *name;              /* of the fixture */
    const char *config, *pictures; /* what changes in config.json, in preprocessor_config.json */
    const char *says;              /* the error, or the model's config and preprocessing */
    const char *as;
} values;

/* ---- changes ---- */

static json_t *read_quoted(const char *text) {
    char *copy = strdup(text);
    for (char *c = copy; *c; c++)
        if (*c == '\'') *c = '"';
    json_error_t why;
    json_t *object = json_loads(copy, 0, &why);
    if (!object) fail_msg("%s: %s", text, why.text);
    free(copy);
    return object;
}

static void change(json_t *object, json_t *by) {
    const char *key;
    json_t *value;
    json_object_foreach(by, key, value) {
        json_t *old = json_object_get(object, key);
        if (json_is_object(value) && json_is_object(old))
            change(old, value);
        else if (json_is_string(value) && strcmp(json_string_value(value), "(out)") == 0)
            json_object_del(object, key);
        else
            json_object_set(object, key, value);
    }
}

/* Writes the fixture's file, changed; without `by` the fixture's own is linked, if there is one. */
static void put_changed(const char *to, const char *directory, const char *name, const char *by) {
    char path[5000];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    unlink(to);
    if (access(path, R_OK) != 0 && !by) return;
    if (!by) {
        assert_int_equal(symlink(path, to), 0);
        return;
    }
    json_t *object = access(path, R_OK) == 0 ? read_json(path) : json_object();
    json_t *changes = read_quoted(by);
    change(object, changes);
    char *text = json_dumps(object, 0);
    put_file(to, text);
    free(text);
    json_decref(changes);
    json_decref(object);
}

/* Puts the configs of the row into the current directory; directory: of its weights. */
static void put_row(char directory[4500], const values *v) {
    static const char *const beside[] = {"generation_config.json", "tokenizer.json",
                                         "tokenizer_config.json", "vocab.json", "merges.txt"};
    char path[5000];
    snprintf(directory, 4500, "%s/tests/fixtures/%s%s", project,
             strchr(v->name, '/') ? "" : "published/", v->name);
    snprintf(path, sizeof path, "%s/open_clip_config.json", directory);
    put_changed("config.json", directory,
                access(path, R_OK) == 0 ? "open_clip_config.json" : "config.json", v->config);
    put_changed("preprocessor_config.json", directory, "preprocessor_config.json", v->pictures);
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
        put_changed(beside[i], directory, beside[i], NULL);
}

/* ---- the pictures' side ---- */

static vit_status load(vit_model **model, const values *v, vit_error *error) {
    char directory[4500];
    put_row(directory, v);
    const vit_model_options options = {.config = "config.json", .emulate = v->as};
    return vit_model_load_with(model, directory, &options, error);
}

static const values refused[] = {
#include "tests/weights/values_refused.inc"
};

static void test_refused(void **state) {
    (void)state;
    for (const values *v = refused; v < refused + sizeof refused / sizeof *refused; v++) {
        vit_model *model;
        vit_error error = {0};
        if (load(&model, v, &error) == VIT_OK)
            fail_msg("%s %s %s: taken", v->name, v->config ? v->config : "",
                     v->pictures ? v->pictures : "");
        assert_says(&error, error.status, v->says, "");
    }
}

static const values taken[] = {
#include "tests/weights/values_taken.inc"
};

static void test_taken(void **state) {
    (void)state;
    for (const values *v = taken; v < taken + sizeof taken / sizeof *taken; v++) {
        vit_model *model;
        vit_error error = {0};
        if (load(&model, v, &error) != VIT_OK)
            fail_msg("%s %s: %s", v->name, v->config ? v->config : v->pictures, error.message);
        char *config = vit_config_write(&model->file.config);
        if (!strstr(config, v->says) && !strstr(vit_model_describe(model).preprocessing, v->says))
            fail_msg("%s %s: %s\n%s", v->name, v->config ? v->config : v->pictures, config,
                     vit_model_describe(model).preprocessing);
        free(config);
        vit_model_free(model);
    }
}

/* How positions are resampled. */
static void test_rules(void **state) {
    static const struct {
        const char *mode, *antialias, *corners, *square;
        vit_position_rule rule;
    } rows[] = {
        {"bicubic", "true", "false", "false", VIT_POSITIONS_OF_TIMM},
        {"bicubic", "false", "false", "false", VIT_POSITIONS_OF_HUGGING_FACE},
        {"bilinear", "true", "false", "false", VIT_POSITIONS_OF_NAFLEX},
        {"bilinear", "false", "false", "false", VIT_POSITIONS_OF_TIMM_NPZ},
        {"bilinear", "false", "true", "false", VIT_POSITIONS_OF_GOOGLE},
        {"bicubic", "true", "false", "true", VIT_POSITIONS_OF_NAFLEX_CUBIC},
        {"bilinear", "false", "false", "true", VIT_POSITIONS_OF_NAFLEX_LINEAR},
        {"bilinear", "false", "true", "true", VIT_POSITIONS_OF_NAFLEX_CORNERS},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char changes[300];
        vit_model *model;
        vit_error error;
        snprintf(changes, sizeof changes,
                 "{'model_args': {'pos_embed_interp_mode': '%s', 'pos_embed_antialias': %s, "
                 "'pos_embed_align_corners': %s, 'pos_embed_ar_preserving': %s}}",
                 rows[i].mode, rows[i].antialias, rows[i].corners, rows[i].square);
        const values v = {"timm_naflex_map", changes, NULL, NULL, NULL};
        if (load(&model, &v, &error) != VIT_OK) fail_msg("%s: %s", changes, error.message);
        assert_int_equal(model->file.position_rule, rows[i].rule);
        vit_model_free(model);
    }
}

/* ---- that of texts ---- */

static vit_status embed(const values *v, float features[64], vit_error *error) {
    static const char *const text[] = {"a cat"};
    char directory[4500];
    vit_embedder *e;
    put_row(directory, v);
    const vit_embedder_options options = {.config = "config.json", .emulate = v->as};
    vit_status status = vit_embedder_load(&e, directory, &options, error);
    if (status == VIT_OK) status = vit_embed_texts(e, text, 1, NULL, features, error);
    vit_embedder_free(e);
    return status;
}

static void test_texts(void **state) {
    static const values rows[] = {
        {"words/clip", "{'model_type': 'vit'}", NULL, "\"vit\" has no text encoder", NULL},
        {"words/clip", "{'model_type': '(out)'}", NULL, "\"none\" has no text encoder", NULL},
        {"hf_4", "{'model_type': 'clip', 'text_config': {}}", NULL,
         "holds no text encoder that is known here", NULL},
        {"words/clip", "{'text_config': {'eos_token_id': 5}}", NULL,
         "puts no token of id 5, \"eos_token_id\"", NULL},
        {"words/open_clip", "{'model_cfg': {'text_cfg': {'pool_type': 'max'}}}", NULL,
         "\"pool_type\" \"max\" is not supported, expected argmax, eos or last", NULL},
        {"words/open_clip", "{'model_cfg': {'text_cfg': '(out)'}}", NULL,
         "expected \"text_cfg\", an object", NULL},
        {"words/open_clip", "{'model_cfg': {'text_cfg': {'embed_cls': true}}}", NULL,
         "\"embed_cls\" in \"text_cfg\" is not supported", NULL},
        {"words/open_clip", "{'model_cfg': {'text_cfg': {'mlp_ratio': 0}}}", NULL,
         "\"mlp_ratio\" is", NULL},
        {"words/open_clip", "{'model_cfg': {'text_cfg': {'mlp_ratio': 1e9}}}", NULL,
         "\"mlp_ratio\" is", NULL},
        {"words/open_clip_siglip",
         "{'model_cfg': {'text_cfg': {'tokenizer_kwargs': {'clean': 'none'}}}}", NULL,
         "expected \"clean\": whitespace, lower or canonicalize", NULL},
        {"words/open_clip_siglip",
         "{'model_cfg': {'text_cfg': {'tokenizer_kwargs': {'clean': 3}}}}", NULL,
         "\"clean\" in \"tokenizer_kwargs\" is not supported", NULL},
        {"words/open_clip_siglip",
         "{'model_cfg': {'text_cfg': {'tokenizer_kwargs': {'strip': true}}}}", NULL,
         "\"strip\" in \"tokenizer_kwargs\" is not supported", NULL},
    };
    float features[64];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vit_error error = {0};
        if (embed(&rows[i], features, &error) == VIT_OK) fail_msg("%s: taken", rows[i].config);
        assert_says(&error, error.status, rows[i].says, "");
    }
}

/* Which of these leave the features as they are, and which make others. */
static void test_texts_change(void **state) {
    static const struct {
        values row;
        bool same;
    } rows[] = {
        {{"words/open_clip", "{'model_cfg': {'text_cfg': {'embed_cls': false, 'x': null}}}", NULL,
          NULL, NULL},
         true},
        {{"words/open_clip", "{'model_cfg': {'text_cfg': {'eos_id': 561, 'pool_type': 'eos'}}}",
          NULL, NULL, NULL},
         true},
        {{"words/open_clip", "{'model_cfg': {'quick_gelu': false}}", NULL, NULL, NULL}, false},
        {{"words/open_clip",
          "{'model_cfg': {'quick_gelu': false, 'text_cfg': {'act_kwargs': {'approximate': "
          "'tanh'}}}}",
          NULL, NULL, NULL},
         false},
        {{"words/open_clip", "{'model_cfg': {'text_cfg': {'no_causal_mask': true}}}", NULL, NULL,
          NULL},
         false},
        {{"words/open_clip_siglip", "{'model_cfg': {'text_cfg': {'hf_tokenizer_name': '(out)'}}}",
          NULL, NULL, NULL},
         true},
        {{"words/open_clip_siglip",
          "{'model_cfg': {'text_cfg': {'tokenizer_kwargs': {'strip': false, 'x': null}}}}", NULL,
          NULL, NULL},
         true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const values usual = {rows[i].row.name, NULL, NULL, NULL, NULL};
        float was[64] = {0}, is[64] = {0};
        vit_error error = {0};
        assert_int_equal(embed(&usual, was, &error), VIT_OK);
        if (embed(&rows[i].row, is, &error) != VIT_OK)
            fail_msg("%s: %s", rows[i].row.config, error.message);
        if ((memcmp(was, is, sizeof was) == 0) != rows[i].same)
            fail_msg("%s: other features than expected", rows[i].row.config);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {IN_DIRECTORY(test_refused), IN_DIRECTORY(test_taken),
                                       IN_DIRECTORY(test_rules), IN_DIRECTORY(test_texts),
                                       IN_DIRECTORY(test_texts_change)};
    find_project();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
