#include "vit/weights/text_encoder.h"
#include "vit/base/math.h"
#include "vit/base/size.h"
#include "vit/base/utf8.h"
#include "vit/text/tokenizer/tokenizer.h"
#include "vit/weights/layout/layout.h"
#include <math.h>
#include <string.h>

/* ---- weights ---- */

/* The network that the config describes; the width of the embedding shows in the tensors. */
static vit_config config_of(const vit_text_facts *f, const vit_binding *b) {
    vit_config c = vit_config_default();
    const vit_stack *said = &f->said;
    const size_t dim = vit_max(said->dim, 1);
    c.stem = VIT_STEM_TOKENS;
    c.pool = VIT_POOL_TOKENS;
    c.head = VIT_HEAD_LINEAR;
    c.tower = true;
    c.class_token = false;
    c.vocabulary = said->vocabulary;
    c.length = said->length;
    c.dim = said->dim;
    c.depth = said->depth;
    c.heads = said->heads;
    c.mlp = said->mlp;
    c.norm_eps = said->norm_eps;
    c.activation = said->activation;
    c.causal = said->causal;
    c.head_bias = vit_binding_find(b, "head.bias") != NULL;
    c.classes = vit_binding_elements(b, "head.weight") / dim;
    return c;
}

/* The number in a tensor of one element, which may be absent. */
static vit_status read_number(double *number, bool *found, const vit_tensors *file,
                              const char *name, vit_error *error) {
    const vit_tensor *t = vit_tensors_find(file, name);
    float value;
    *found = t;
    if (!t) return VIT_OK;
    if (t->count != 1)
        return vit_fail(error, VIT_ERROR_MISMATCH, "%s: tensor %s has %zu elements, expected one",
                        vit_tensors_name(file), name, t->count);
    const vit_status status = vit_tensors_read(file, t, &value, error);
    if (status != VIT_OK) return status;
    *number = (double)value;
    if (isfinite(value)) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: tensor %s is not finite", vit_tensors_name(file),
                    name);
}

static vit_status read_score(vit_text_encoder *t, const vit_tensors *file, vit_error *error) {
    double scale = 0;
    bool found, sigmoid;
    vit_status status = read_number(&scale, &found, file, "logit_scale", error);
    if (status == VIT_OK) status = read_number(&t->bias, &sigmoid, file, "logit_bias", error);
    if (status != VIT_OK) return status;
    if (!found)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s: tensor logit_scale is missing, by which answers are scaled",
                        vit_tensors_name(file));
    t->scale = vit_exp(scale);
    t->scoring = sigmoid ? VIT_SCORING_SIGMOID : VIT_SCORING_SOFTMAX;
    return VIT_OK;
}

static vit_status load_weights(vit_text_encoder *t, const vit_tensors *file, const char *config,
                               const vit_wanted *wanted, vit_error *error) {
    vit_binding b = {0};
    vit_status status = vit_binding_new(&b, file, VIT_PART_TEXTS, VIT_CONFIG_COUNT, error);
    if (status != VIT_OK) return status;
    t->file.config = config_of(&t->facts, &b);
    status = vit_published_values(&t->file, &b, 1, config, wanted, error);
    vit_binding_free(&b);
    return status == VIT_OK ? read_score(t, file, error) : status;
}

/* ---- the tokenizer ---- */

static vit_status load_tokenizer(vit_text_encoder *t, const char *config, vit_error *error) {
    vit_status status =
        vit_published_tokenizer(&t->file, config, t->file.config.vocabulary, false, error);
    if (status != VIT_OK || !t->facts.simple) return status;
    if (!vit_tokenizer_is_clip(t->file.tokenizer)) {
        t->facts.cleaning = VIT_CLEAN_NONE; /* OpenCLIP has no own one of this kind */
        return VIT_OK;
    }
    char *directory = vit_path_directory(config);
    if (!directory) return vit_fail_memory(error, "a path", strlen(config));
    status = vit_tokenizer_read_as_open_clip(t->file.tokenizer, directory, error);
    vit_free(directory);
    return status;
}

/* ---- the whole ---- */

static vit_status no_config(const char *path, vit_error *error) {
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: there is no config of a text encoder beside it: words need the "
                    "directory of a CLIP or SigLIP model, with config.json and a tokenizer",
                    path);
}

vit_status vit_text_encoder_load(vit_text_encoder *t, vit_opened *opened, const vit_wanted *wanted,
                                 vit_error *error) {
    const char *name = vit_tensors_name(opened->file);
    *t = (vit_text_encoder){.scale = 1};
    if (vit_tensors_metadata(opened->file, "vit.config")) return no_config(name, error);
    vit_status status = vit_published_config(opened, wanted->config, error);
    if (status == VIT_OK && !opened->config) status = no_config(name, error);
    if (status == VIT_OK)
        status = vit_read_text_facts(&t->facts, opened->config, opened->config_path,
                                     wanted->emulate, error);
    if (status == VIT_OK)
        status = load_weights(t, opened->file, opened->config_path, wanted, error);
    return status == VIT_OK ? load_tokenizer(t, opened->config_path, error) : status;
}

/* Whether "architectures" names a network of both encoders, or nothing. */
static bool names_both(const json_t *object) {
    const char *name =
        json_string_value(json_array_get(json_object_get(object, "architectures"), 0));
    return !name || !(strstr(name, "ForImageClassification") || strstr(name, "VisionModel"));
}

bool vit_text_encoder_is_in(vit_opened *opened, const char *config) {
    vit_text_facts facts;
    return !vit_tensors_metadata(opened->file, "vit.config") &&
           vit_published_config(opened, config, NULL) == VIT_OK && opened->config &&
           names_both(opened->config) &&
           vit_read_text_facts(&facts, opened->config, opened->config_path, NULL, NULL) == VIT_OK;
}

void vit_text_encoder_clear(vit_text_encoder *t) {
    vit_model_file_clear(&t->file);
}

/* ---- texts ---- */

/* Fills the ids up to the greatest length. */
static vit_status fill(vit_encoding *e, const vit_text_encoder *t, vit_error *error) {
    const size_t length = t->file.config.length;
    const uint32_t pad =
        t->file.tokenizer->pad != VIT_NO_ID ? t->file.tokenizer->pad : (uint32_t)t->facts.pad;
    if (e->count >= length) return VIT_OK;
    uint32_t *ids = vit_realloc(e->ids, e->count, length, sizeof *ids);
    if (!ids) return vit_fail_memory(error, "a text", length * sizeof *ids);
    e->ids = ids;
    while (e->count < length) e->ids[e->count++] = pad;
    return VIT_OK;
}

static size_t largest(const vit_encoding *e) {
    size_t at = 0;
    for (size_t i = 1; i < e->count; i++)
        if (e->ids[i] > e->ids[at]) at = i;
    return at;
}

/* The place of the token that is read. Those behind it are cut off where nothing looks at them. */
static vit_status find_token(vit_text_ids *out, vit_encoding *e, const vit_text_encoder *t,
                             vit_error *error) {
    size_t at = e->count - 1;
    switch (t->facts.pool) {
    case VIT_TEXT_LARGEST:
        at = largest(e);
        break;
    case VIT_TEXT_END:
        for (at = 0; at < e->count && e->ids[at] != t->facts.end; at++) continue;
        break;
    case VIT_TEXT_LAST:
    case VIT_TEXT_POOL_COUNT:
        break;
    }
    if (at >= e->count)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "the tokenizer puts no token of id %zu, \"eos_token_id\", behind a text, "
                        "where the encoder reads: it is of another model",
                        t->facts.end);
    if (t->file.config.causal) e->count = at + 1;
    *out = (vit_text_ids){{e->ids, e->count}, at};
    return VIT_OK;
}

static vit_status check_ids(const vit_encoding *e, const vit_text_encoder *t, vit_error *error) {
    for (size_t i = 0; i < e->count; i++)
        if (e->ids[i] >= t->file.config.vocabulary)
            return vit_fail(error, VIT_ERROR_MISMATCH,
                            "the tokenizer gives id %u, the text encoder has ids up to %zu: they "
                            "are of different models",
                            (unsigned)e->ids[i], t->file.config.vocabulary - 1);
    if (e->count > 0) return VIT_OK;
    return vit_fail(error, VIT_ERROR_ARGUMENT, "the text is empty: it has no tokens");
}

/* The ids of a text that is cleaned first. */
static vit_status encode(vit_encoding *e, const vit_text_encoder *t, const char *text,
                         size_t length, vit_error *error) {
    const vit_tokenizer *k = t->file.tokenizer;
    const size_t most = t->file.config.length;
    vit_string clean = {0};
    const bool cleans = length <= VIT_MOST_TEXT && vit_utf8_valid(text, length) == length;
    if (!cleans) return vit_tokenizer_encode(e, k, text, length, most, error);
    vit_status status = vit_text_clean(&clean, t->facts.cleaning, text, length, error);
    if (status == VIT_OK)
        status = vit_tokenizer_encode(e, k, clean.text, clean.length, most, error);
    vit_string_free(&clean);
    return status;
}

vit_status vit_text_encoder_encode(vit_text_ids *out, bool *cut, const vit_text_encoder *t,
                                   const char *text, size_t length, vit_error *error) {
    vit_encoding e = {0};
    *out = (vit_text_ids){0};
    vit_status status = encode(&e, t, text, length, error);
    *cut = e.cut;
    if (status == VIT_OK && t->facts.fills) status = fill(&e, t, error);
    if (status == VIT_OK) status = check_ids(&e, t, error);
    if (status == VIT_OK) status = find_token(out, &e, t, error);
    if (status != VIT_OK) vit_free(e.ids);
    return status;
}
