/* The decoder's part of a config: checked, read and written. A part of config.c. */
#include "vit/base/size.h"
#include "vit/model/config_parts.h"

#define LONGEST ((size_t)16384) /* tokens of a text: as many as patches of a picture */
#define LARGEST_OFFSET ((size_t)1024)

vit_config vit_config_decoder(const vit_config *c) {
    const vit_decoder_config *d = &c->decoder;
    const bool memory = c->stem != VIT_STEM_NONE;
    return (vit_config){.dim = d->dim,
                        .depth = d->depth,
                        .heads = d->heads,
                        .mlp = d->mlp,
                        .classes = d->vocabulary,
                        .stem = VIT_STEM_TOKENS,
                        .positions = d->positions,
                        .norm_pre = d->norm_pre,
                        .norm = d->norm,
                        .activation = d->activation,
                        .qkv_bias = true,
                        .attention_scale = VIT_SCALE_HEAD_DIM,
                        .norm_eps = d->norm_eps,
                        .final_norm = d->final_norm,
                        .pool = VIT_POOL_TOKENS,
                        .head = VIT_HEAD_LINEAR,
                        .head_bias = d->head_bias,
                        .init = c->init,
                        .vocabulary = d->vocabulary,
                        .length = d->length,
                        .position_offset = d->position_offset,
                        .padding = d->padding,
                        .scale_embedding = d->scale_embedding,
                        .tied = d->tied,
                        .causal = true,
                        .start = d->start,
                        .memory = !memory          ? 0
                                  : d->memory_proj ? d->dim
                                                   : c->dim};
}

size_t vit_config_rows(const vit_config *c) {
    return vit_max(vit_config_tokens(c), vit_config_has_decoder(c) ? c->decoder.length : 0);
}

/* ---- check ---- */

static vit_status check_sizes(const vit_decoder_config *d, vit_error *error) {
    const struct {
        const char *key;
        size_t value, low, high;
    } sizes[] = {{"dim", d->dim, 1, 65536},
                 {"depth", d->depth, 1, 256},
                 {"heads", d->heads, 1, 65536},
                 {"mlp", d->mlp, 1, 65536},
                 {"vocabulary", d->vocabulary, 3, 1000000},
                 {"length", d->length, 1, LONGEST},
                 {"position_offset", d->position_offset, 0, LARGEST_OFFSET}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].value < sizes[i].low || sizes[i].value > sizes[i].high)
            return vit_fail(error, VIT_ERROR_ARGUMENT,
                            "\"decoder\": \"%s\" is %zu, expected %zu to %zu", sizes[i].key,
                            sizes[i].value, sizes[i].low, sizes[i].high);
    if (!(d->norm_eps > 0 && d->norm_eps < 1))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"decoder\": \"norm_eps\" is %g, expected between 0 and 1", d->norm_eps);
    return VIT_OK;
}

/* Values that must suit each other, or the encoder. */
static vit_status check_fit(const vit_config *c, vit_error *error) {
    const vit_decoder_config *d = &c->decoder;
    if (d->dim % d->heads != 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"decoder\": \"heads\" %zu does not divide \"dim\" %zu", d->heads, d->dim);
    if (d->start >= d->vocabulary || d->end >= d->vocabulary)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"decoder\": \"start\" %zu and \"end\" %zu must be ids of its "
                        "\"vocabulary\" of %zu",
                        d->start, d->end, d->vocabulary);
    if (d->positions == VIT_POSITIONS_SINCOS2D)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"decoder\": \"positions\" \"sincos2d\" are for pictures, a decoder's "
                        "are of texts");
    if (d->padding && (d->position_offset == 0 || d->positions == VIT_POSITIONS_LEARNED))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"decoder\": \"padding\" needs fixed \"positions\" and a "
                        "\"position_offset\" of 1 or more");
    if (d->memory_proj && c->stem == VIT_STEM_NONE)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"decoder\": \"memory_proj\" needs an encoder, and there is none");
    if (c->stem != VIT_STEM_NONE && (c->pool != VIT_POOL_TOKENS || c->head != VIT_HEAD_NONE))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "with a \"decoder\", the encoder must have \"pool\" \"tokens\" and "
                        "\"head\" \"none\"");
    return VIT_OK;
}

vit_status vit_config_check_decoder(const vit_config *c, vit_error *error) {
    const bool reads = vit_config_has_decoder(c);
    if (!reads && (c->stem == VIT_STEM_TOKENS || c->stem == VIT_STEM_NONE))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"stem\" \"%s\" is for networks with a \"decoder\", which is missing",
                        c->stem == VIT_STEM_NONE ? "none" : "tokens");
    if (!reads && c->pool == VIT_POOL_TOKENS)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"pool\" \"tokens\" is for networks with a \"decoder\", which is missing");
    if (!reads) return VIT_OK;
    const vit_status status = check_sizes(&c->decoder, error);
    return status == VIT_OK ? check_fit(c, error) : status;
}

/* ---- JSON ---- */

vit_status vit_config_read_decoder(vit_config *config, const json_t *object, const char *name,
                                   vit_error *error) {
    json_t *part = json_object_get(object, "decoder");
    vit_decoder_config *d = &config->decoder;
    int positions = (int)d->positions, norm = (int)d->norm, activation = (int)d->activation;
    const char *activations[VIT_ACTIVATION_COUNT + 1] = {0};
    for (size_t i = 0; i < VIT_ACTIVATION_COUNT; i++) activations[i] = vit_activations[i].name;
    const vit_field fields[] = {
        {"dim", VIT_FIELD_SIZE, &d->dim, NULL},
        {"depth", VIT_FIELD_SIZE, &d->depth, NULL},
        {"heads", VIT_FIELD_SIZE, &d->heads, NULL},
        {"mlp", VIT_FIELD_SIZE, &d->mlp, NULL},
        {"vocabulary", VIT_FIELD_SIZE, &d->vocabulary, NULL},
        {"length", VIT_FIELD_SIZE, &d->length, NULL},
        {"start", VIT_FIELD_SIZE, &d->start, NULL},
        {"end", VIT_FIELD_SIZE, &d->end, NULL},
        {"positions", VIT_FIELD_ENUM, &positions, vit_position_names},
        {"position_offset", VIT_FIELD_SIZE, &d->position_offset, NULL},
        {"padding", VIT_FIELD_BOOL, &d->padding, NULL},
        {"scale_embedding", VIT_FIELD_BOOL, &d->scale_embedding, NULL},
        {"norm_pre", VIT_FIELD_BOOL, &d->norm_pre, NULL},
        {"memory_proj", VIT_FIELD_BOOL, &d->memory_proj, NULL},
        {"norm", VIT_FIELD_ENUM, &norm, vit_norm_place_names},
        {"activation", VIT_FIELD_ENUM, &activation, activations},
        {"norm_eps", VIT_FIELD_DOUBLE, &d->norm_eps, NULL},
        {"final_norm", VIT_FIELD_BOOL, &d->final_norm, NULL},
        {"tied", VIT_FIELD_BOOL, &d->tied, NULL},
        {"head_bias", VIT_FIELD_BOOL, &d->head_bias, NULL},
    };
    if (!part) return VIT_OK;
    if (!json_is_object(part))
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: \"decoder\" must be an object, {...}", name);
    const vit_status status =
        vit_json_read(part, fields, sizeof fields / sizeof *fields, "decoder", error);
    d->positions = (vit_position_kind)positions;
    d->norm = (vit_norm_place)norm;
    d->activation = (vit_activation)activation;
    return status == VIT_OK ? status : vit_fail_prefix(error, status, name);
}

void vit_config_write_decoder(vit_text *t, const vit_config *c) {
    const vit_decoder_config *d = &c->decoder;
    char eps[32];
    vit_text_add(t, ", \"decoder\": {\"dim\": %zu, \"depth\": %zu, \"heads\": %zu, \"mlp\": %zu",
                 d->dim, d->depth, d->heads, d->mlp);
    vit_text_add(t, ", \"vocabulary\": %zu, \"length\": %zu, \"start\": %zu, \"end\": %zu",
                 d->vocabulary, d->length, d->start, d->end);
    vit_text_add(t, ", \"positions\": \"%s\", \"norm\": \"%s\", \"activation\": \"%s\"",
                 vit_position_names[d->positions], vit_norm_place_names[d->norm],
                 vit_activations[d->activation].name);
    vit_text_add(t, ", \"norm_eps\": %s", vit_format_double(eps, d->norm_eps));
    if (d->position_offset > 0) vit_text_add(t, ", \"position_offset\": %zu", d->position_offset);
    vit_config_write_flag(t, "padding", d->padding, false);
    vit_config_write_flag(t, "scale_embedding", d->scale_embedding, false);
    vit_config_write_flag(t, "norm_pre", d->norm_pre, false);
    vit_config_write_flag(t, "memory_proj", d->memory_proj, false);
    vit_config_write_flag(t, "final_norm", d->final_norm, true);
    vit_config_write_flag(t, "tied", d->tied, false);
    vit_config_write_flag(t, "head_bias", d->head_bias, true);
    vit_text_add(t, "}");
}
