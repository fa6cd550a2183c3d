#include "vit/model/config.h"
#include "vit/base/size.h"
#include "vit/model/switches.h"
#include <math.h>

static vit_status check_stem(const vit_config *c, vit_error *error) {
    if (!vit_stems[c->stem].convolves) return VIT_OK;
    if (c->patch < 2 || (c->patch & (c->patch - 1)) != 0) /* no power of two */
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"stem\" \"%s\" halves the picture's sides with each convolution: "
                        "\"patch\" must be 2, 4, 8, ..., not %zu",
                        vit_stems[c->stem].name, c->patch);
    if (c->dim % (c->patch / 2) != 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"stem\" \"%s\" doubles its width %zu times to \"dim\": that must be "
                        "divisible by %zu, not %zu",
                        vit_stems[c->stem].name, vit_config_convs(c) - 1, c->patch / 2, c->dim);
    return VIT_OK;
}

static vit_status check_picture(const vit_config *c, vit_error *error) {
    if (c->channels != 1 && c->channels != 3)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "\"channels\" is %zu, expected 1 or 3",
                        c->channels);
    if (c->height % c->patch != 0 || c->width % c->patch != 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"patch\" %zu does not divide the picture, %zu x %zu", c->patch, c->height,
                        c->width);
    if (vit_config_patches(c) > VIT_MOST_PATCHES)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"patch\" %zu cuts the picture, %zu x %zu, into %zu patches, expected at "
                        "most %zu",
                        c->patch, c->height, c->width, vit_config_patches(c), VIT_MOST_PATCHES);
    return VIT_OK;
}

/* Values that must suit each other. */
static vit_status check_choices(const vit_config *c, vit_error *error) {
    if (c->head_dim == 0 && c->dim % c->heads != 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "\"heads\" %zu does not divide \"dim\" %zu",
                        c->heads, c->dim);
    if (vit_config_attention_dim(c) > 65536)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"heads\" %zu of \"head_dim\" %zu are wider than 65536", c->heads,
                        c->head_dim);
    if ((vit_pools[c->pool].attends || vit_pools[c->pool].refines) &&
        c->dim % vit_config_pool_heads(c) != 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"pool\" \"%s\" needs \"heads\" that divide \"dim\", %zu does not divide "
                        "%zu",
                        vit_pools[c->pool].name, vit_config_pool_heads(c), c->dim);
    if (!c->class_token && !vit_pools[c->pool].patches)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"pool\" \"%s\" needs a class token, but \"class_token\" is false",
                        vit_pools[c->pool].name);
    if (vit_pools[c->pool].prefix && vit_config_prefix(c) == 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"pool\" \"%s\" needs a class token or registers",
                        vit_pools[c->pool].name);
    if (c->patch_norm && (c->stem != VIT_STEM_LINEAR || c->patch_order != VIT_PATCH_PIXEL))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"patch_norm\" needs \"stem\" \"linear\" and \"patch_order\" \"pixel\"");
    if (c->embed_norm && (c->patch_norm || c->stem != VIT_STEM_LINEAR))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"embed_norm\" needs \"stem\" \"linear\" and no \"patch_norm\", which "
                        "has the same norm");
    if (vit_positions[c->positions].grid && c->dim % 4 != 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"positions\" \"%s\" needs a \"dim\" divisible by 4, not %zu",
                        vit_positions[c->positions].name, c->dim);
    const vit_relative_row *relative = &vit_relatives[c->relative];
    if ((relative->blocks || relative->shared) && vit_config_prefix(c) > (size_t)c->class_token)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"relative\" \"%s\" is for networks without \"registers\" and "
                        "distillation token",
                        relative->name);
    if (c->relative_mlp > 0 && !relative->blocks && !relative->shared)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"relative_mlp\" %zu makes the table of \"relative\", which is \"%s\"",
                        c->relative_mlp, relative->name);
    if (c->layer_scale && vit_norms[c->norm].after)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"norm\" \"%s\" scales its branches by its norms, \"layer_scale\" cannot "
                        "be beside it",
                        vit_norms[c->norm].name);
    if (vit_ropes[c->rope].turns && vit_config_head_dim(c) % 4 != 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"rope\" \"%s\" needs heads of a width divisible by 4, not %zu",
                        vit_ropes[c->rope].name, vit_config_head_dim(c));
    if (vit_ropes[c->rope].turns &&
        !(c->rope_base > 0 && c->rope_base <= 1e9 && fabs(c->rope_offset) <= 4096))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"rope_base\" is %g and \"rope_offset\" %g, expected above 0 to 1e9 and "
                        "-4096 to 4096",
                        c->rope_base, c->rope_offset);
    if (c->rope_class && !(vit_ropes[c->rope].fixed && c->class_token))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"rope_class\" needs a class token, and \"rope\" \"axial\" or "
                        "\"centered\", not \"%s\"",
                        vit_ropes[c->rope].name);
    if (c->projection > 0 && !vit_heads[c->head].unit)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"projection\" %zu is of \"head\" \"cosine\", which is \"%s\"",
                        c->projection, vit_heads[c->head].name);
    if (vit_heads[c->head].layers == 0 && !vit_config_has_decoder(c) &&
        c->classes != vit_config_features(c))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"classes\" is %zu, but with \"head\" \"none\" there are as many as "
                        "features, %zu",
                        c->classes, vit_config_features(c));
    return VIT_OK;
}

/* A decoder's values must suit each other, and the encoder. */
static vit_status check_decoder(const vit_config *c, vit_error *error) {
    const vit_stack *d = &c->decoder;
    const bool fixed = vit_positions[d->positions].fixed;
    if (d->dim % d->heads != 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"decoder\": \"heads\" %zu does not divide \"dim\" %zu", d->heads, d->dim);
    if (d->start >= d->vocabulary || d->end >= d->vocabulary)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"decoder\": \"start\" %zu and \"end\" %zu must be ids of its "
                        "\"vocabulary\" of %zu",
                        d->start, d->end, d->vocabulary);
    if (vit_positions[d->positions].grid)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"decoder\": \"positions\" \"%s\" are for pictures, a decoder's "
                        "are of texts",
                        vit_positions[d->positions].name);
    if (vit_norms[d->norm].after || vit_norms[d->norm].one)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"decoder\": \"norm\" is \"%s\", expected \"pre\" or \"post\"",
                        vit_norms[d->norm].name);
    if (d->padding && (d->position_offset == 0 || !fixed))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"decoder\": \"padding\" needs fixed \"positions\" and a "
                        "\"position_offset\" of 1 or more");
    if (d->memory_proj && !vit_config_has_encoder(c))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"decoder\": \"memory_proj\" needs an encoder, and there is none");
    if (vit_config_has_encoder(c) && !(vit_pools[c->pool].tokens && !vit_heads[c->head].layers))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "with a \"decoder\", the encoder must have \"pool\" \"tokens\" and "
                        "\"head\" \"none\"");
    return VIT_OK;
}

/* What needs a decoder, and there is none; a text encoder does not. */
static vit_status check_alone(const vit_config *c, vit_error *error) {
    if (c->tower) return VIT_OK;
    if (!vit_config_takes_pictures(c))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"stem\" \"%s\" is for networks with a \"decoder\", which is missing",
                        vit_stems[c->stem].name);
    if (vit_pools[c->pool].tokens)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"pool\" \"%s\" is for networks with a \"decoder\", which is missing",
                        vit_pools[c->pool].name);
    return VIT_OK;
}

vit_status vit_config_check(const vit_config *c, vit_error *error) {
    vit_status status = VIT_OK;
    if (!vit_config_has_decoder(c)) {
        status = check_alone(c, error);
    } else {
        status = vit_switches_check(c, true, error);
        if (status == VIT_OK) status = check_decoder(c, error);
    }
    if (status != VIT_OK || !vit_config_has_encoder(c)) return status;
    status = vit_switches_check(c, false, error);
    if (status == VIT_OK && vit_config_takes_pictures(c)) status = check_picture(c, error);
    if (status == VIT_OK) status = check_choices(c, error);
    return status == VIT_OK ? check_stem(c, error) : status;
}

vit_config vit_config_decoder(const vit_config *c) {
    vit_config d = {.encoder = c->decoder};
    d.stem = VIT_STEM_TOKENS;
    d.pool = VIT_POOL_TOKENS;
    d.class_token = false;
    d.qkv_bias = d.causal = true;
    d.classes = d.vocabulary;
    d.init = c->init;
    d.memory = vit_config_has_encoder(c) ? d.memory_proj ? d.dim : c->dim : 0;
    return d;
}

size_t vit_config_rows(const vit_config *c) {
    return vit_max(vit_config_tokens(c), vit_config_has_decoder(c) ? c->decoder.length : 0);
}

size_t vit_config_patches(const vit_config *c) {
    if (!vit_config_has_encoder(c)) return 0;
    if (vit_stems[c->stem].texts) return c->length;
    return c->height / c->patch * (c->width / c->patch);
}

size_t vit_config_prefix(const vit_config *c) {
    return (size_t)c->class_token + vit_pools[c->pool].dist + c->registers;
}

size_t vit_config_tokens(const vit_config *c) {
    return vit_config_patches(c) + vit_config_prefix(c);
}

size_t vit_config_positions(const vit_config *c) {
    if (vit_stems[c->stem].texts) return c->length + c->position_offset;
    return c->prefix_positions ? vit_config_tokens(c) : vit_config_patches(c);
}

size_t vit_config_head_dim(const vit_config *c) {
    return c->head_dim > 0 ? c->head_dim : c->dim / c->heads;
}

size_t vit_config_attention_dim(const vit_config *c) {
    return c->heads * vit_config_head_dim(c);
}

size_t vit_config_pool_heads(const vit_config *c) {
    return c->pool_heads > 0 ? c->pool_heads : c->heads;
}

size_t vit_config_pool_mlp(const vit_config *c) {
    return c->pool_mlp > 0 ? c->pool_mlp : c->mlp;
}

size_t vit_config_hidden(const vit_config *c) {
    return c->gated ? 2 * c->mlp : c->mlp;
}

size_t vit_config_features(const vit_config *c) {
    return vit_pools[c->pool].two ? 2 * c->dim : c->dim;
}

size_t vit_config_head_inputs(const vit_config *c) {
    if (vit_heads[c->head].layers > 1) return c->mlp;
    return vit_heads[c->head].unit && c->projection > 0 ? c->projection : vit_config_features(c);
}

size_t vit_config_embedding(const vit_config *c) {
    if (vit_heads[c->head].projects) return c->classes;
    return vit_heads[c->head].unit ? vit_config_head_inputs(c) : vit_config_features(c);
}

bool vit_config_norms_embedding(const vit_config *c) {
    return c->patch_norm || c->embed_norm;
}

bool vit_config_norms_tokens(const vit_config *c) {
    const vit_pool_row *pool = &vit_pools[c->pool];
    return c->final_norm && (pool->normed || (pool->choice && c->norm_before_pool));
}

vit_relative_shape vit_config_relative(const vit_config *c) {
    if (c->patch == 0) return (vit_relative_shape){0}; /* a network of texts */
    return (vit_relative_shape){c->height / c->patch, c->width / c->patch, c->heads,
                                c->class_token};
}

vit_patch_shape vit_config_patch_shape(const vit_config *c) {
    return (vit_patch_shape){c->height, c->width, c->channels, c->patch, c->patch_order};
}

size_t vit_config_convs(const vit_config *c) {
    size_t convs = 0;
    for (size_t patch = c->patch; vit_stems[c->stem].convolves && patch > 1; patch /= 2) convs++;
    return convs;
}

size_t vit_config_conv_width(const vit_config *c, size_t i) {
    return c->dim >> (vit_config_convs(c) - 1 - i);
}

static size_t stem_multiply_adds(const vit_config *c) {
    const size_t patches = vit_config_patches(c), convs = vit_config_convs(c);
    if (!vit_stems[c->stem].pictures) return 0;
    if (convs == 0) return c->height * c->width * c->channels * c->dim;
    const size_t cct = vit_stems[c->stem].pools, stride = cct ? 0 : 1; /* log2 of the stride */
    size_t sum = cct ? 0 : patches * c->dim * c->dim, channels = c->channels;
    for (size_t i = 0; i < convs; i++) {
        const size_t width = vit_config_conv_width(c, i);
        sum += (c->height >> (i + stride)) * (c->width >> (i + stride)) * 9 * channels * width;
        channels = width;
    }
    return sum;
}

/* Of the longest text: the decoder's blocks, keys and values of the encoder's states, head. */
static size_t decoder_multiply_adds(const vit_config *c) {
    const vit_stack *d = &c->decoder;
    const size_t t = d->length, m = vit_config_tokens(c), w = d->dim;
    const size_t width = d->memory_proj ? w : c->dim;
    const size_t cross = 2 * t * w * w + 2 * m * width * w + 2 * t * m * w;
    const size_t block = 4 * t * w * w + t * t * w + 2 * t * w * d->mlp;
    const size_t projection = d->memory_proj ? m * c->dim * w : 0;
    return d->depth * (block + (m > 0 ? cross : 0)) + projection + t * w * d->vocabulary;
}

size_t vit_config_multiply_adds(const vit_config *c) {
    const size_t decoder = vit_config_has_decoder(c) ? decoder_multiply_adds(c) : 0;
    if (!vit_config_has_encoder(c)) return decoder;
    const size_t t = vit_config_tokens(c), d = c->dim, a = vit_config_attention_dim(c);
    const size_t gemms = c->gated ? 3 : 2, features = vit_config_features(c);
    const size_t block = 4 * t * d * a + 2 * t * t * a + gemms * t * d * c->mlp;
    const size_t map = 2 * t * d * d + 2 * t * d +
                       (c->pool_plain ? d * d : 2 * d * d + 2 * d * vit_config_pool_mlp(c));
    const size_t tanh = vit_heads[c->head].squashes ? features * features : 0;
    const size_t heads[] = {0, features * c->classes, features * c->mlp + c->mlp * c->classes};
    const size_t unit = c->projection * (features + c->classes);
    return stem_multiply_adds(c) + c->depth * block + (vit_pools[c->pool].attends ? map : 0) +
           (c->projection > 0 ? unit : heads[vit_heads[c->head].layers]) + tanh + decoder;
}
