#include "vit/weights/configs/text_config.h"
#include "vit/base/size.h"
#include "vit/weights/configs/pairs.h"
#include <string.h>

/* ---- Hugging Face ---- */

static vit_status read_hugging_face(vit_text_facts *f, vit_their_config *d, json_t *object,
                                    vit_error *error) {
    vit_text_family encoder = {0};
    const char *type = "", *act = NULL;
    json_t *own;
    vit_status status = vit_read_text(&type, d, object, "model_type", error);
    if (status == VIT_OK) status = vit_find_text_family(&encoder, d->name, type, error);
    if (status != VIT_OK) return status;
    status = vit_pair_config(&own, d, object, "text_config", encoder.type, error);
    const vit_their_key keys[] = {{"hidden_size", .size = &d->said.dim},
                                  {"num_hidden_layers", .size = &d->said.depth},
                                  {"num_attention_heads", .size = &d->said.heads},
                                  {"intermediate_size", .size = &d->said.mlp},
                                  {"vocab_size", .size = &d->said.vocabulary},
                                  {"max_position_embeddings", .size = &d->said.length},
                                  {"eos_token_id", .size = &f->end},
                                  {"pad_token_id", .size = &f->pad},
                                  {"layer_norm_eps", .number = &d->said.norm_eps},
                                  {"hidden_act", .text = &act}};
    f->pad = 1;
    if (status == VIT_OK) status = vit_read_keys(keys, VIT_COUNT(keys), d, own, error);
    if (status == VIT_OK) status = vit_read_activation(d, act, "hidden_act", error);
    f->said = d->said;
    f->said.causal = !encoder.is_siglip;
    f->fills = encoder.is_siglip;
    const bool names_no_token = encoder.largest_ends && f->end == 2; /* as old configs do */
    f->pool = names_no_token ? VIT_TEXT_LARGEST : VIT_TEXT_END;
    if (encoder.is_siglip) f->pool = VIT_TEXT_LAST;
    f->hugging_face = true;
    return status;
}

/* ---- OpenCLIP ---- */

/* "pool_type": where the embedding is read. */
static vit_status read_pool(vit_text_facts *f, const vit_their_config *d, const json_t *own,
                            vit_error *error) {
    static const struct {
        const char *name;
        vit_text_pool pool;
        bool fills;
    } pools[] = {{"argmax", VIT_TEXT_LARGEST, false},
                 {"eos", VIT_TEXT_END, false},
                 {"last", VIT_TEXT_LAST, true}};
    const char *name = "argmax";
    const vit_status status = vit_read_text(&name, d, own, "pool_type", error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < VIT_COUNT(pools); i++) {
        f->pool = pools[i].pool;
        f->fills = f->fills || pools[i].fills;
        if (strcmp(pools[i].name, name) == 0) return VIT_OK;
    }
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: \"pool_type\" \"%s\" is not supported, expected argmax, eos or last",
                    d->name, name);
}

/* "quick_gelu" of the whole model; "act_kwargs" {"approximate": "tanh"} of the text encoder. */
static vit_status read_activation(vit_their_config *d, const json_t *model, const json_t *own,
                                  vit_error *error) {
    json_t *more = NULL, *norm = NULL;
    const char *approximate = "none";
    int quick = false;
    vit_status status = vit_read_flag(&quick, d, model, "quick_gelu", error);
    if (status == VIT_OK) status = vit_read_object(&more, d, own, "act_kwargs", error);
    if (status == VIT_OK) status = vit_read_text(&approximate, d, more, "approximate", error);
    if (status == VIT_OK) status = vit_read_object(&norm, d, own, "norm_kwargs", error);
    if (status == VIT_OK) status = vit_read_number(&d->said.norm_eps, d, norm, "eps", error);
    VIT_SAY(d, activation,
            quick                              ? VIT_GELU_QUICK
            : strcmp(approximate, "tanh") == 0 ? VIT_GELU_TANH
                                               : VIT_GELU);
    return status;
}

/* "tokenizer_kwargs" {"clean": how}; models without a tokenizer of Hugging Face have OpenCLIP's. */
static vit_status read_cleaning(vit_text_facts *f, const vit_their_config *d, const json_t *own,
                                vit_error *error) {
    json_t *more = NULL, *value;
    const char *hub = "", *key;
    vit_status status = vit_read_text(&hub, d, own, "hf_tokenizer_name", error);
    if (status == VIT_OK) status = vit_read_object(&more, d, own, "tokenizer_kwargs", error);
    if (status != VIT_OK) return status;
    f->simple = !*hub;
    f->cleaning = f->simple ? VIT_CLEAN_LOWER : VIT_CLEAN_WHITESPACE;
    json_object_foreach(more, key, value) {
        const char *how = json_string_value(value);
        if (vit_json_is_off(value)) continue;
        if (strcmp(key, "clean") != 0 || !how || !vit_cleaning_named(&f->cleaning, how))
            return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                            "%s: \"%s\" in \"tokenizer_kwargs\" is not supported, expected "
                            "\"clean\": whitespace, lower or canonicalize",
                            d->name, key);
    }
    return VIT_OK;
}

static vit_status read_open_clip(vit_text_facts *f, vit_their_config *d, json_t *model,
                                 vit_error *error) {
    /* Other keys mean a network of another kind. */
    static const char *const known[] = {
        "context_length",   "vocab_size",         "width",         "heads",
        "layers",           "mlp_ratio",          "pool_type",     "no_causal_mask",
        "proj_bias",        "act_kwargs",         "norm_kwargs",   "pad_id",
        "eos_id",           "proj_type",          "output_tokens", "hf_tokenizer_name",
        "tokenizer_kwargs", "final_ln_after_pool"};
    json_t *own = NULL;
    int free_mask = false;
    size_t end = 2;
    vit_status status = vit_read_object(&own, d, model, "text_cfg", error);
    if (status == VIT_OK && !own)
        status = vit_fail(error, VIT_ERROR_FORMAT, "%s: expected \"text_cfg\", an object", d->name);
    d->said = (vit_stack){.vocabulary = 49408, .length = 77, .dim = 512, .heads = 8, .depth = 12};
    d->said.norm_eps = 1e-5;
    const vit_their_key keys[] = {{"width", .size = &d->said.dim},
                                  {"layers", .size = &d->said.depth},
                                  {"heads", .size = &d->said.heads},
                                  {"vocab_size", .size = &d->said.vocabulary},
                                  {"context_length", .size = &d->said.length},
                                  {"pad_id", .size = &f->pad},
                                  {"eos_id", .size = &end},
                                  {"no_causal_mask", .flag = &free_mask}};
    if (status == VIT_OK)
        status = vit_check_known(d, own, "text_cfg", known, VIT_COUNT(known), error);
    if (status == VIT_OK) status = vit_read_keys(keys, VIT_COUNT(keys), d, own, error);
    d->said.mlp = 4 * d->said.dim;
    if (status == VIT_OK) status = vit_read_ratio(d, own, error);
    if (status == VIT_OK) status = read_activation(d, model, own, error);
    if (status == VIT_OK) status = read_pool(f, d, own, error);
    if (status == VIT_OK) status = read_cleaning(f, d, own, error);
    f->said = d->said;
    f->said.causal = !free_mask;
    f->fills = f->fills || free_mask;
    f->end = end;
    return status;
}

/* CLIP's ids may be those of either library. */
static vit_status choose_ids(vit_text_facts *f, const char *as, const char *name,
                             vit_error *error) {
    const char *own = f->hugging_face ? "hf" : "open_clip";
    const bool open = as && strcmp(as, "open_clip") == 0;
    if (!as || strcmp(as, own) == 0) return VIT_OK;
    if (f->fills || (!open && strcmp(as, "hf") != 0))
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: texts of this model are read as %s reads them, not as %s; there is a "
                        "choice for CLIP (hf, open_clip)",
                        name, own, as);
    f->simple = open;
    f->cleaning = open ? VIT_CLEAN_LOWER : VIT_CLEAN_NONE;
    return VIT_OK;
}

vit_status vit_read_text_facts(vit_text_facts *f, json_t *object, const char *name, const char *as,
                               vit_error *error) {
    vit_their_config d;
    json_t *model = NULL;
    *f = (vit_text_facts){.end = 49407};
    vit_their_config_init(&d, name);
    vit_status status = vit_read_object(&model, &d, object, "model_cfg", error);
    if (status == VIT_OK)
        status =
            model ? read_open_clip(f, &d, model, error) : read_hugging_face(f, &d, object, error);
    vit_their_config_clear(&d);
    return status == VIT_OK ? choose_ids(f, as, name, error) : status;
}
