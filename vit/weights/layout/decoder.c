#include "vit/weights/layout/decoder.h"
#include <stdio.h>
#include <string.h>

/* What only TrOCR has. Its table of learned positions has two unused rows; fixed positions begin
 * after the id of the padding. */
static vit_status read_trocr(vit_stack *c, const vit_their_config *d, const json_t *decoder,
                             vit_error *error) {
    int learned = true, norm_pre = c->norm_pre, scale = false;
    size_t pad = 1;
    vit_status status = vit_read_flag(&norm_pre, d, decoder, "layernorm_embedding", error);
    if (status == VIT_OK) status = vit_read_flag(&scale, d, decoder, "scale_embedding", error);
    if (status == VIT_OK)
        status = vit_read_flag(&learned, d, decoder, "use_learned_position_embeddings", error);
    if (status == VIT_OK) status = vit_read_size(&pad, d, decoder, "pad_token_id", error);
    c->norm_pre = norm_pre;
    c->scale_embedding = scale;
    c->positions = learned ? VIT_POSITIONS_LEARNED : VIT_POSITIONS_SINUSOIDAL_HALVES;
    c->position_offset = learned ? 2 : pad + 1;
    c->padding = !learned;
    return status;
}

/* Everything in which decoders differ: their keys (NULL: there is none), and the values that the
 * library has where a key is missing. */
static const struct decoder_kind {
    const char *type, *layout;
    const char *dim, *depth, *heads, *mlp, *length, *norm_eps;
    vit_stack usual;
    const char *refused[3];  /* keys that must not be true */
    const char *required[2]; /* keys that must not be false */
    vit_status (*more)(vit_stack *c, const vit_their_config *d, const json_t *decoder,
                       vit_error *error); /* reads what only this decoder has; NULL: nothing */
} kinds[] = {
    {.type = "trocr",
     .layout = "TrOCR",
     .dim = "d_model",
     .depth = "decoder_layers",
     .heads = "decoder_attention_heads",
     .mlp = "decoder_ffn_dim",
     .length = "max_position_embeddings",
     .usual = {.dim = 1024,
               .depth = 12,
               .heads = 16,
               .mlp = 4096,
               .vocabulary = 50265,
               .length = 512,
               .start = 2,
               .end = 2,
               .norm = VIT_NORM_POST,
               .activation = VIT_GELU,
               .norm_eps = 1e-5,
               .norm_pre = true},
     .more = read_trocr},
    {.type = "gpt2",
     .layout = "GPT-2",
     .dim = "n_embd",
     .depth = "n_layer",
     .heads = "n_head",
     .mlp = "n_inner",
     .length = "n_positions",
     .norm_eps = "layer_norm_epsilon",
     .usual = {.dim = 768,
               .depth = 12,
               .heads = 12,
               .vocabulary = 50257,
               .length = 1024,
               .start = 50256,
               .end = 50256,
               .norm = VIT_NORM_PRE,
               .activation = VIT_GELU_TANH,
               .norm_eps = 1e-5,
               .final_norm = true},
     .refused = {"scale_attn_by_inverse_layer_idx"},
     .required = {"scale_attn_weights"}},
};

bool vit_is_encoder_decoder(const json_t *object) {
    const char *type = json_string_value(json_object_get(object, "model_type"));
    return type && strcmp(type, "vision-encoder-decoder") == 0;
}

/* ---- the decoder ---- */

static vit_status find_kind(const struct decoder_kind **kind, const vit_their_config *d,
                            const json_t *decoder, vit_error *error) {
    const char *type = "";
    char expected[80] = "";
    const vit_status status = vit_read_text(&type, d, decoder, "model_type", error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t used = strlen(expected);
        *kind = &kinds[i];
        if (strcmp(kinds[i].type, type) == 0) return VIT_OK;
        snprintf(expected + used, sizeof expected - used, "%s%s", i ? " or " : "", kinds[i].type);
    }
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: \"decoder\": \"model_type\" \"%s\" is not supported, expected %s", d->name,
                    type, expected);
}

static vit_status read_sizes(vit_stack *c, const struct decoder_kind *kind,
                             const vit_their_config *d, const json_t *decoder, vit_error *error) {
    const vit_their_key sizes[] = {
        {kind->dim, .size = &c->dim},       {kind->depth, .size = &c->depth},
        {kind->heads, .size = &c->heads},   {kind->mlp, .size = &c->mlp},
        {kind->length, .size = &c->length}, {"vocab_size", .size = &c->vocabulary}};
    vit_status status = vit_read_keys(sizes, sizeof sizes / sizeof *sizes, d, decoder, error);
    if (status == VIT_OK && kind->norm_eps)
        status = vit_read_number(&c->norm_eps, d, decoder, kind->norm_eps, error);
    if (c->mlp == 0) c->mlp = 4 * c->dim;
    return status;
}

static vit_status check_switches(const struct decoder_kind *kind, const vit_their_config *d,
                                 const json_t *decoder, vit_error *error) {
    /* by the value that is not supported, 0 or 1 */
    const char *const *lists[] = {kind->required, kind->refused};
    for (int value = 0; value < 2; value++)
        for (const char *const *key = lists[value]; *key; key++) {
            int flag = !value;
            const vit_status status = vit_read_flag(&flag, d, decoder, *key, error);
            if (status != VIT_OK) return status;
            if (flag == value)
                return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                                "%s: \"decoder\": \"%s\" %s is not supported", d->name, *key,
                                value ? "true" : "false");
        }
    return VIT_OK;
}

static vit_status read_activation(vit_stack *c, const vit_their_config *d, const json_t *decoder,
                                  vit_error *error) {
    vit_their_config named;
    const char *name = NULL;
    vit_their_config_init(&named, d->name);
    vit_status status = vit_read_text(&name, d, decoder, "activation_function", error);
    if (status == VIT_OK) status = vit_read_activation(&named, name, "activation_function", error);
    if (named.given[VIT_KEY_activation]) c->activation = named.said.activation;
    return status;
}

/* Whether the encoder's states are projected: where the widths differ and cross-attention is not
 * declared to have the encoder's. */
static vit_status read_memory(vit_stack *c, const vit_their_config *d, const json_t *decoder,
                              vit_error *error) {
    size_t width = 0;
    const vit_status status =
        vit_read_size(&width, d, decoder, "cross_attention_hidden_size", error);
    c->memory_proj = width == 0 && d->said.dim != c->dim;
    if (status != VIT_OK || width == 0 || width == d->said.dim) return status;
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "%s: \"cross_attention_hidden_size\" is %zu, the encoder's \"hidden_size\" %zu",
                    d->name, width, d->said.dim);
}

/* ---- how texts are written ---- */

/* The objects that may have a key; the first that has it counts. */
typedef struct key_sources {
    vit_their_config d; /* with their name, for messages */
    const json_t *objects[2];
} key_sources;

/* The object that has the key; NULL: none. */
static const json_t *where(const key_sources *s, const char *key) {
    for (size_t i = 0; i < 2; i++)
        if (vit_json_given(s->objects[i], key)) return s->objects[i];
    return NULL;
}

/* Refuses keys of ways of writing that are not supported, unless their value changes nothing: for
 * the numbers the value in the table, for the others null, false or an empty list. */
static vit_status refuse_others(const key_sources *s, vit_error *error) {
    static const struct {
        const char *key;
        double nothing;
    } numbers[] = {{"min_length", 0},         {"min_new_tokens", 0},
                   {"repetition_penalty", 1}, {"encoder_repetition_penalty", 1},
                   {"diversity_penalty", 0},  {"encoder_no_repeat_ngram_size", 0},
                   {"num_beam_groups", 1},    {"num_return_sequences", 1}};
    static const char *const others[] = {
        "do_sample",          "bad_words_ids",         "force_words_ids",
        "constraints",        "forced_bos_token_id",   "forced_eos_token_id",
        "suppress_tokens",    "begin_suppress_tokens", "sequence_bias",
        "penalty_alpha",      "guidance_scale",        "stop_strings",
        "renormalize_logits", "dola_layers",           "exponential_decay_length_penalty"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        double value = numbers[i].nothing;
        const char *key = numbers[i].key;
        const vit_status status = vit_read_number(&value, &s->d, where(s, key), key, error);
        if (status != VIT_OK) return status;
        if (value < numbers[i].nothing || value > numbers[i].nothing)
            return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: \"%s\" %g is not supported",
                            s->d.name, key, value);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const json_t *object = where(s, others[i]), *value = json_object_get(object, others[i]);
        if (object && !json_is_false(value) && !(json_is_array(value) && !json_array_size(value)))
            return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: \"%s\" is not supported%s",
                            s->d.name, others[i],
                            i == 0 ? ": take it out, --sample draws by chance" : "");
    }
    return VIT_OK;
}

/* An id, or a list of one id. *found: whether it is there. */
static vit_status read_id(size_t *id, bool *found, const key_sources *s, const char *key,
                          vit_error *error) {
    const json_t *object = where(s, key), *value = json_object_get(object, key);
    *found = object && !(json_is_array(value) && json_array_size(value) == 0);
    if (!*found) return VIT_OK;
    if (json_array_size(value) > 1)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: \"%s\" are %zu ids, of which one is supported", s->d.name, key,
                        json_array_size(value));
    if (!json_is_array(value)) return vit_read_size(id, &s->d, object, key, error);
    json_t *one = json_pack("{s:O}", key, json_array_get(value, 0));
    if (!one) return vit_fail_memory(error, "an id", 0);
    const vit_status status = vit_read_size(id, &s->d, one, key, error);
    json_decref(one);
    return status;
}

/* START and END. usual: the decoder's defaults; NULL: a missing id is an error. */
static vit_status read_ids(vit_stack *c, const key_sources *s, const vit_stack *usual,
                           vit_error *error) {
    bool starts = false, begins, ends;
    size_t bos = usual ? usual->start : 0;
    vit_status status = read_id(&c->start, &starts, s, "decoder_start_token_id", error);
    if (status == VIT_OK) status = read_id(&bos, &begins, s, "bos_token_id", error);
    if (status == VIT_OK) status = read_id(&c->end, &ends, s, "eos_token_id", error);
    if (status != VIT_OK) return status;
    if (!starts && (begins || !usual)) c->start = bos;
    if (usual || ((starts || begins) && ends)) return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s does not say with which id texts %s: add \"%s\"", s->d.name,
                    ends ? "start" : "end", ends ? "decoder_start_token_id" : "eos_token_id");
}

/* The greatest length, START included. If nothing is declared, the library writes 20 tokens. */
static vit_status read_length(vit_generation *w, const vit_stack *c, const key_sources *s,
                              vit_error *error) {
    size_t length = 0, more = 0;
    vit_status status = vit_read_size(&length, &s->d, where(s, "max_length"), "max_length", error);
    if (status == VIT_OK)
        status = vit_read_size(&more, &s->d, where(s, "max_new_tokens"), "max_new_tokens", error);
    if (more > 0) length = more + 1;
    w->length = length > 0 ? length : c->length < 20 ? c->length + 1 : 21;
    return status;
}

static vit_status read_stopping(vit_generation *w, const key_sources *s, vit_error *error) {
    static const char key[] = "early_stopping";
    const json_t *object = where(s, key), *value = json_object_get(object, key);
    const char *text = json_string_value(value);
    int early = false;
    if (text && strcmp(text, "never") == 0) {
        w->early_stopping = VIT_EARLY_STOPPING_NEVER;
        return VIT_OK;
    }
    const vit_status status = vit_read_flag(&early, &s->d, object, key, error);
    w->early_stopping = early ? VIT_EARLY_STOPPING_TRUE : VIT_EARLY_STOPPING_FALSE;
    return status;
}

static vit_status read_writing(vit_decoder_facts *out, const key_sources *s, vit_error *error) {
    vit_generation *w = &out->writing;
    *w = (vit_generation){
        .beams = 1, .length_penalty = 1, .end = out->decoder.end, .temperature = 1};
    vit_status status = refuse_others(s, error);
    if (status == VIT_OK) status = read_length(w, &out->decoder, s, error);
    if (status == VIT_OK)
        status = vit_read_size(&w->beams, &s->d, where(s, "num_beams"), "num_beams", error);
    if (status == VIT_OK)
        status = vit_read_number(&w->length_penalty, &s->d, where(s, "length_penalty"),
                                 "length_penalty", error);
    if (status == VIT_OK)
        status = vit_read_size(&w->no_repeat, &s->d, where(s, "no_repeat_ngram_size"),
                               "no_repeat_ngram_size", error);
    if (w->beams == 0) w->beams = 1;
    return status == VIT_OK ? read_stopping(w, s, error) : status;
}

/* ---- the whole ---- */

vit_status vit_read_decoder_config(vit_decoder_facts *out, vit_their_config *d,
                                   const json_t *object, const json_t *generation,
                                   const char *generation_name, vit_error *error) {
    const struct decoder_kind *kind = NULL;
    json_t *decoder = NULL;
    int ties = true;
    *out = (vit_decoder_facts){0};
    vit_status status = vit_read_object(&decoder, d, object, "decoder", error);
    if (status == VIT_OK && !decoder)
        status = vit_fail(error, VIT_ERROR_FORMAT, "%s: expected \"decoder\", the config of one",
                          d->name);
    if (status == VIT_OK) status = find_kind(&kind, d, decoder, error);
    if (status != VIT_OK) return status;
    out->layout = kind->layout;
    out->decoder = kind->usual;
    out->decoder.qkv_bias = out->decoder.key_bias = out->decoder.proj_bias = true;
    status = read_sizes(&out->decoder, kind, d, decoder, error);
    if (status == VIT_OK) status = check_switches(kind, d, decoder, error);
    if (status == VIT_OK && kind->more) status = kind->more(&out->decoder, d, decoder, error);
    if (status == VIT_OK) status = read_activation(&out->decoder, d, decoder, error);
    if (status == VIT_OK) status = read_memory(&out->decoder, d, decoder, error);
    if (status == VIT_OK) status = vit_read_flag(&ties, d, decoder, "tie_word_embeddings", error);
    if (status != VIT_OK) return status;
    out->ties = ties;
    key_sources s = {.objects = {generation ? generation : object, generation ? NULL : decoder}};
    vit_their_config_init(&s.d, generation ? generation_name : d->name);
    status = read_ids(&out->decoder, &s, generation ? NULL : &kind->usual, error);
    if (status == VIT_OK) status = read_writing(out, &s, error);
    d->is_backbone = true;
    VIT_SAY(d, pool, VIT_POOL_TOKENS);
    d->said.classes = 0;
    return status;
}

vit_status vit_complete_decoder(vit_config *c, const vit_decoder_facts *r,
                                const vit_their_config *d, const vit_binding *decoder,
                                vit_error *error) {
    if (strcmp(decoder->layout->name, r->layout) != 0)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s describes a decoder in the layout of %s, the tensors of %s are in that "
                        "of %s",
                        d->name, r->layout, vit_tensors_name(decoder->file), decoder->layout->name);
    c->classes = 0;
    c->decoder = r->decoder;
    c->decoder.tied = r->ties && !vit_binding_find(decoder, "head.weight");
    c->decoder.head_bias = vit_binding_find(decoder, "head.bias");
    return VIT_OK;
}
