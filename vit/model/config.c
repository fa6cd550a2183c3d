#include "vit/model/config.h"
#include "vit/base/json.h"
#include "vit/base/size.h"
#include "vit/base/text.h"
#include "vit/model/config_parts.h"
#include <string.h>

/* More patches could overflow the sizes of activations; their attention would take weeks anyway. */
#define MOST_PATCHES ((size_t)16384)

#define MOST_IDS ((size_t)1000000)

static const char *const stems[] = {"linear", "conv", "cct", "tokens", "none", NULL};
static const char *const patch_orders[] = {"conv", "pixel", NULL};
const char *const vit_position_names[] = {"learned", "sinusoidal", "sincos2d", "sinusoidal_halves",
                                          NULL};
const char *const vit_norm_place_names[] = {"pre", "post", NULL};
static const char *const pools[] = {"class",      "mean", "map",    "class_mean",
                                    "class_dist", "seq",  "tokens", NULL};
static const char *const attention_scales[] = {"head_dim", "dim", NULL};
static const char *const heads[] = {"linear", "mlp", "none", NULL};
static const char *const inits[] = {"timm", "torch", NULL};
VIT_CHECK_ROWS(stems, VIT_STEM_COUNT + 1);
VIT_CHECK_ROWS(patch_orders, VIT_PATCH_COUNT + 1);
VIT_CHECK_ROWS(vit_position_names, VIT_POSITIONS_COUNT + 1);
VIT_CHECK_ROWS(vit_norm_place_names, VIT_NORM_COUNT + 1);
VIT_CHECK_ROWS(pools, VIT_POOL_COUNT + 1);
VIT_CHECK_ROWS(attention_scales, VIT_SCALE_COUNT + 1);
VIT_CHECK_ROWS(heads, VIT_HEAD_COUNT + 1);
VIT_CHECK_ROWS(inits, VIT_INIT_COUNT + 1);

vit_config vit_config_default(void) {
    return (vit_config){
        .patch_order = VIT_PATCH_CONV,
        .patch_bias = true,
        .prefix_positions = true,
        .class_token = true,
        .qkv_bias = true,
        .attention_scale = VIT_SCALE_HEAD_DIM,
        .norm_eps = 1e-6,
        .final_norm = true,
        .head = VIT_HEAD_LINEAR,
        .head_bias = true,
        .init = VIT_INIT_TIMM,
        .decoder = {.start = 0, .end = 1, .norm_eps = 1e-6, .final_norm = true, .head_bias = true}};
}

static vit_status in_range(const char *key, size_t value, size_t low, size_t high,
                           vit_error *error) {
    if (value >= low && value <= high) return VIT_OK;
    if (value == 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "\"%s\" is missing: expected %zu to %zu", key,
                        low, high);
    return vit_fail(error, VIT_ERROR_ARGUMENT, "\"%s\" is %zu, expected %zu to %zu", key, value,
                    low, high);
}

typedef struct range {
    const char *key;
    size_t value, high; /* 1 .. high */
} range;

static vit_status check_each(const range *ranges, size_t count, vit_error *error) {
    vit_status status = VIT_OK;
    for (size_t i = 0; i < count && status == VIT_OK; i++)
        status = in_range(ranges[i].key, ranges[i].value, 1, ranges[i].high, error);
    return status;
}

static vit_status check_ranges(const vit_config *c, vit_error *error) {
    const bool text = c->stem == VIT_STEM_TOKENS;
    const range picture[] = {{"image height", c->height, 4096},
                             {"image width", c->width, 4096},
                             {"patch", c->patch, 4096}};
    const range tokens[] = {{"vocabulary", c->vocabulary, MOST_IDS},
                            {"length", c->length, MOST_PATCHES}};
    const range sizes[] = {{"dim", c->dim, 65536},
                           {"depth", c->depth, 256},
                           {"heads", c->heads, 65536},
                           {"mlp", c->mlp, 65536},
                           {"classes", c->classes, MOST_IDS}};
    vit_status status = text ? check_each(tokens, 2, error) : check_each(picture, 3, error);
    const size_t count = vit_config_has_decoder(c) ? 4 : 5; /* an encoder has no classes */
    if (status == VIT_OK) status = check_each(sizes, count, error);
    if (status == VIT_OK) status = in_range("head_dim", c->head_dim, 0, 65536, error);
    return status == VIT_OK ? in_range("registers", c->registers, 0, 4096, error) : status;
}

static bool pools_patches(vit_pool pool) {
    return pool == VIT_POOL_MEAN || pool == VIT_POOL_MAP || pool == VIT_POOL_SEQ ||
           pool == VIT_POOL_TOKENS;
}

bool vit_config_pools_patches(const vit_config *c) {
    return pools_patches(c->pool);
}

static vit_status check_stem(const vit_config *c, vit_error *error) {
    if (c->stem != VIT_STEM_CONV && c->stem != VIT_STEM_CCT) return VIT_OK;
    if (c->patch < 2 || (c->patch & (c->patch - 1)) != 0) /* no power of two */
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"stem\" \"%s\" halves the picture's sides with each convolution: "
                        "\"patch\" must be 2, 4, 8, ..., not %zu",
                        stems[c->stem], c->patch);
    if (c->dim % (c->patch / 2) != 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"stem\" \"%s\" doubles its width %zu times to \"dim\": that must be "
                        "divisible by %zu, not %zu",
                        stems[c->stem], vit_config_convs(c) - 1, c->patch / 2, c->dim);
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
    if (vit_config_patches(c) > MOST_PATCHES)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"patch\" %zu cuts the picture, %zu x %zu, into %zu patches, expected at "
                        "most %zu",
                        c->patch, c->height, c->width, vit_config_patches(c), MOST_PATCHES);
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
    if (c->pool == VIT_POOL_MAP && c->dim % c->heads != 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"pool\" \"map\" needs \"heads\" that divide \"dim\", %zu does not divide "
                        "%zu",
                        c->heads, c->dim);
    if (!c->class_token && !vit_config_pools_patches(c))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"pool\" \"%s\" needs a class token, but \"class_token\" is false",
                        pools[c->pool]);
    if (c->patch_norm && (c->stem != VIT_STEM_LINEAR || c->patch_order != VIT_PATCH_PIXEL))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"patch_norm\" needs \"stem\" \"linear\" and \"patch_order\" \"pixel\"");
    if (c->head == VIT_HEAD_NONE && !vit_config_has_decoder(c) &&
        c->classes != vit_config_features(c))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"classes\" is %zu, but with \"head\" \"none\" there are as many as "
                        "features, %zu",
                        c->classes, vit_config_features(c));
    return VIT_OK;
}

vit_status vit_config_check(const vit_config *c, vit_error *error) {
    vit_status status = vit_config_check_decoder(c, error);
    if (status != VIT_OK || c->stem == VIT_STEM_NONE) return status;
    status = check_ranges(c, error);
    if (status == VIT_OK && c->stem != VIT_STEM_TOKENS) status = check_picture(c, error);
    if (status == VIT_OK) status = check_choices(c, error);
    if (status != VIT_OK) return status;
    if (!(c->norm_eps > 0 && c->norm_eps < 1))
        return vit_fail(error, VIT_ERROR_ARGUMENT, "\"norm_eps\" is %g, expected between 0 and 1",
                        c->norm_eps);
    if (c->positions == VIT_POSITIONS_SINCOS2D && c->dim % 4 != 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"positions\" \"sincos2d\" needs a \"dim\" divisible by 4, not %zu",
                        c->dim);
    return check_stem(c, error);
}

static vit_status read_image(vit_config *config, const json_t *object, const char *name,
                             vit_error *error) {
    const json_t *image = json_object_get(object, "image");
    if (!image) return VIT_OK;
    const json_int_t h = json_integer_value(json_array_get(image, 0));
    const json_int_t w = json_integer_value(json_array_get(image, 1));
    if (json_array_size(image) != 2 || h < 1 || w < 1 || h > 4096 || w > 4096)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: \"image\" must be [height, width], each 1 to 4096", name);
    config->height = (size_t)h;
    config->width = (size_t)w;
    return VIT_OK;
}

enum { MOST_FIELDS = 48 };

/* The config's enums as the int that VIT_FIELD_ENUM reads into. */
typedef struct choices {
    int stem, order, positions, norm, activation, pool, scale, head, init;
    const char *activations[VIT_ACTIVATION_COUNT + 1];
} choices;

/* Every key of the JSON object with where its value goes; returns how many. */
static size_t list_fields(vit_field out[MOST_FIELDS], vit_config *config, choices *c) {
    *c = (choices){.stem = (int)config->stem,
                   .order = (int)config->patch_order,
                   .positions = (int)config->positions,
                   .norm = (int)config->norm,
                   .activation = (int)config->activation,
                   .pool = (int)config->pool,
                   .scale = (int)config->attention_scale,
                   .head = (int)config->head,
                   .init = (int)config->init};
    for (size_t i = 0; i < VIT_ACTIVATION_COUNT; i++) c->activations[i] = vit_activations[i].name;
    const vit_field fields[MOST_FIELDS] = {
        {"image", VIT_FIELD_OTHER, NULL, NULL},
        {"channels", VIT_FIELD_SIZE, &config->channels, NULL},
        {"patch", VIT_FIELD_SIZE, &config->patch, NULL},
        {"dim", VIT_FIELD_SIZE, &config->dim, NULL},
        {"depth", VIT_FIELD_SIZE, &config->depth, NULL},
        {"heads", VIT_FIELD_SIZE, &config->heads, NULL},
        {"head_dim", VIT_FIELD_SIZE, &config->head_dim, NULL},
        {"registers", VIT_FIELD_SIZE, &config->registers, NULL},
        {"mlp", VIT_FIELD_SIZE, &config->mlp, NULL},
        {"classes", VIT_FIELD_SIZE, &config->classes, NULL},
        {"stem", VIT_FIELD_ENUM, &c->stem, stems},
        {"patch_order", VIT_FIELD_ENUM, &c->order, patch_orders},
        {"patch_bias", VIT_FIELD_BOOL, &config->patch_bias, NULL},
        {"patch_norm", VIT_FIELD_BOOL, &config->patch_norm, NULL},
        {"positions", VIT_FIELD_ENUM, &c->positions, vit_position_names},
        {"prefix_positions", VIT_FIELD_BOOL, &config->prefix_positions, NULL},
        {"class_token", VIT_FIELD_BOOL, &config->class_token, NULL},
        {"norm_pre", VIT_FIELD_BOOL, &config->norm_pre, NULL},
        {"norm", VIT_FIELD_ENUM, &c->norm, vit_norm_place_names},
        {"activation", VIT_FIELD_ENUM, &c->activation, c->activations},
        {"gated", VIT_FIELD_BOOL, &config->gated, NULL},
        {"qkv_bias", VIT_FIELD_BOOL, &config->qkv_bias, NULL},
        {"qk_norm", VIT_FIELD_BOOL, &config->qk_norm, NULL},
        {"layer_scale", VIT_FIELD_BOOL, &config->layer_scale, NULL},
        {"attention_scale", VIT_FIELD_ENUM, &c->scale, attention_scales},
        {"norm_eps", VIT_FIELD_DOUBLE, &config->norm_eps, NULL},
        {"final_norm", VIT_FIELD_BOOL, &config->final_norm, NULL},
        {"norm_before_pool", VIT_FIELD_BOOL, &config->norm_before_pool, NULL},
        {"pool", VIT_FIELD_ENUM, &c->pool, pools},
        {"pool_prefix", VIT_FIELD_BOOL, &config->pool_prefix, NULL},
        {"head", VIT_FIELD_ENUM, &c->head, heads},
        {"head_bias", VIT_FIELD_BOOL, &config->head_bias, NULL},
        {"init", VIT_FIELD_ENUM, &c->init, inits},
        {"vocabulary", VIT_FIELD_SIZE, &config->vocabulary, NULL},
        {"length", VIT_FIELD_SIZE, &config->length, NULL},
        {"position_offset", VIT_FIELD_SIZE, &config->position_offset, NULL},
        {"scale_embedding", VIT_FIELD_BOOL, &config->scale_embedding, NULL},
        {"decoder", VIT_FIELD_OTHER, NULL, NULL},
    };
    size_t count = 0;
    for (; fields[count].key; count++) out[count] = fields[count];
    return count;
}

size_t vit_config_keys(const char **keys, size_t most) {
    vit_field fields[MOST_FIELDS];
    vit_config config = vit_config_default();
    choices c;
    const size_t count = list_fields(fields, &config, &c);
    for (size_t i = 0; i < count && i < most; i++) keys[i] = fields[i].key;
    return count < most ? count : most;
}

vit_status vit_config_read(vit_config *config, const char *json, const char *name,
                           vit_error *error) {
    vit_field fields[MOST_FIELDS];
    choices c;
    const size_t count = list_fields(fields, config, &c);
    json_t *object;
    vit_status status = vit_json_parse(&object, json, strlen(json), name, error);
    if (status != VIT_OK) return status;
    status = vit_json_read(object, fields, count, name, error);
    if (status == VIT_OK) status = read_image(config, object, name, error);
    if (status == VIT_OK) status = vit_config_read_decoder(config, object, name, error);
    if (!json_object_get(object, "class_token"))
        config->class_token = !pools_patches((vit_pool)c.pool);
    json_decref(object);
    config->stem = (vit_stem)c.stem;
    config->patch_order = (vit_patch_order)c.order;
    config->positions = (vit_position_kind)c.positions;
    config->norm = (vit_norm_place)c.norm;
    config->activation = (vit_activation)c.activation;
    config->pool = (vit_pool)c.pool;
    config->attention_scale = (vit_attention_scale)c.scale;
    config->head = (vit_head)c.head;
    config->init = (vit_init)c.init;
    return status;
}

static const char *truth(bool value) {
    return value ? "true" : "false";
}

void vit_config_write_flag(vit_text *t, const char *key, bool value, bool usual) {
    if (value != usual) vit_text_add(t, ", \"%s\": %s", key, truth(value));
}

/* Keys that are written only where they differ from the default. */
static void write_rare(vit_text *t, const vit_config *c) {
    if (c->head_dim > 0) vit_text_add(t, ", \"head_dim\": %zu", c->head_dim);
    if (c->registers > 0) vit_text_add(t, ", \"registers\": %zu", c->registers);
    vit_config_write_flag(t, "patch_bias", c->patch_bias, true);
    vit_config_write_flag(t, "patch_norm", c->patch_norm, false);
    vit_config_write_flag(t, "prefix_positions", c->prefix_positions, true);
    vit_config_write_flag(t, "class_token", c->class_token, !pools_patches(c->pool));
    vit_config_write_flag(t, "norm_pre", c->norm_pre, false);
    vit_config_write_flag(t, "gated", c->gated, false);
    vit_config_write_flag(t, "qk_norm", c->qk_norm, false);
    vit_config_write_flag(t, "layer_scale", c->layer_scale, false);
    vit_config_write_flag(t, "norm_before_pool", c->norm_before_pool, false);
    vit_config_write_flag(t, "pool_prefix", c->pool_prefix, false);
    vit_config_write_flag(t, "head_bias", c->head_bias, true);
}

char *vit_config_write(const vit_config *c) {
    char eps[32];
    vit_text t = {0};
    if (c->stem == VIT_STEM_NONE) {
        vit_text_add(&t, "{\"stem\": \"none\", \"init\": \"%s\"", inits[c->init]);
        vit_config_write_decoder(&t, c);
        vit_text_add(&t, "}");
        return t.text;
    }
    if (c->stem == VIT_STEM_TOKENS)
        vit_text_add(&t, "{\"vocabulary\": %zu, \"length\": %zu, ", c->vocabulary, c->length);
    else
        vit_text_add(&t, "{\"image\": [%zu, %zu], \"channels\": %zu, \"patch\": %zu, ", c->height,
                     c->width, c->channels, c->patch);
    vit_text_add(&t, "\"dim\": %zu, \"depth\": %zu, \"heads\": %zu, \"mlp\": %zu, ", c->dim,
                 c->depth, c->heads, c->mlp);
    if (!vit_config_has_decoder(c)) vit_text_add(&t, "\"classes\": %zu, ", c->classes);
    vit_text_add(&t, "\"stem\": \"%s\", \"patch_order\": \"%s\", ", stems[c->stem],
                 patch_orders[c->patch_order]);
    vit_text_add(&t, "\"positions\": \"%s\", ", vit_position_names[c->positions]);
    vit_text_add(&t, "\"norm\": \"%s\", \"activation\": \"%s\", \"qkv_bias\": %s, ",
                 vit_norm_place_names[c->norm], vit_activations[c->activation].name,
                 truth(c->qkv_bias));
    vit_text_add(&t, "\"attention_scale\": \"%s\", \"norm_eps\": %s, \"final_norm\": %s, ",
                 attention_scales[c->attention_scale], vit_format_double(eps, c->norm_eps),
                 truth(c->final_norm));
    vit_text_add(&t, "\"pool\": \"%s\", \"head\": \"%s\", \"init\": \"%s\"", pools[c->pool],
                 heads[c->head], inits[c->init]);
    write_rare(&t, c);
    if (c->position_offset > 0) vit_text_add(&t, ", \"position_offset\": %zu", c->position_offset);
    vit_config_write_flag(&t, "scale_embedding", c->scale_embedding, false);
    if (vit_config_has_decoder(c)) vit_config_write_decoder(&t, c);
    vit_text_add(&t, "}");
    if (t.failed) vit_text_free(&t);
    return t.text;
}

size_t vit_config_patches(const vit_config *c) {
    if (c->stem == VIT_STEM_NONE) return 0;
    if (c->stem == VIT_STEM_TOKENS) return c->length;
    return c->height / c->patch * (c->width / c->patch);
}

size_t vit_config_prefix(const vit_config *c) {
    return (size_t)c->class_token + (c->pool == VIT_POOL_CLASS_DIST) + c->registers;
}

size_t vit_config_tokens(const vit_config *c) {
    return vit_config_patches(c) + vit_config_prefix(c);
}

size_t vit_config_positions(const vit_config *c) {
    if (c->stem == VIT_STEM_TOKENS) return c->length + c->position_offset;
    return c->prefix_positions ? vit_config_tokens(c) : vit_config_patches(c);
}

size_t vit_config_head_dim(const vit_config *c) {
    return c->head_dim > 0 ? c->head_dim : c->dim / c->heads;
}

size_t vit_config_attention_dim(const vit_config *c) {
    return c->heads * vit_config_head_dim(c);
}

size_t vit_config_hidden(const vit_config *c) {
    return c->gated ? 2 * c->mlp : c->mlp;
}

static bool is_double(vit_pool pool) {
    return pool == VIT_POOL_CLASS_MEAN || pool == VIT_POOL_CLASS_DIST;
}

size_t vit_config_features(const vit_config *c) {
    return is_double(c->pool) ? 2 * c->dim : c->dim;
}

bool vit_config_norms_tokens(const vit_config *c) {
    const bool asked = c->norm_before_pool && c->pool != VIT_POOL_CLASS;
    const bool all = c->pool == VIT_POOL_SEQ || c->pool == VIT_POOL_TOKENS;
    return c->final_norm && (asked || all || is_double(c->pool));
}

vit_patch_shape vit_config_patch_shape(const vit_config *c) {
    return (vit_patch_shape){c->height, c->width, c->channels, c->patch, c->patch_order};
}

size_t vit_config_convs(const vit_config *c) {
    size_t convs = 0;
    const bool convolves = c->stem == VIT_STEM_CONV || c->stem == VIT_STEM_CCT;
    for (size_t patch = c->patch; convolves && patch > 1; patch /= 2) convs++;
    return convs;
}

size_t vit_config_conv_width(const vit_config *c, size_t i) {
    return c->dim >> (vit_config_convs(c) - 1 - i);
}

static size_t stem_multiply_adds(const vit_config *c) {
    const size_t patches = vit_config_patches(c), convs = vit_config_convs(c);
    if (c->stem == VIT_STEM_TOKENS) return 0;
    if (convs == 0) return c->height * c->width * c->channels * c->dim;
    const size_t cct = c->stem == VIT_STEM_CCT, stride = cct ? 0 : 1; /* log2 of the stride */
    size_t sum = cct ? 0 : patches * c->dim * c->dim, channels = c->channels;
    for (size_t i = 0; i < convs; i++) {
        const size_t width = vit_config_conv_width(c, i);
        sum += (c->height >> (i + stride)) * (c->width >> (i + stride)) * 9 * channels * width;
        channels = width;
    }
    return sum;
}

/* Of the longest text: the decoder's blocks, keys and values of the memory, head. */
static size_t decoder_multiply_adds(const vit_config *c) {
    const vit_decoder_config *d = &c->decoder;
    const size_t t = d->length, m = vit_config_tokens(c), w = d->dim;
    const size_t width = d->memory_proj ? w : c->dim;
    const size_t cross = 2 * t * w * w + 2 * m * width * w + 2 * t * m * w;
    const size_t block = 4 * t * w * w + t * t * w + 2 * t * w * d->mlp;
    const size_t projection = d->memory_proj ? m * c->dim * w : 0;
    return d->depth * (block + (m > 0 ? cross : 0)) + projection + t * w * d->vocabulary;
}

size_t vit_config_multiply_adds(const vit_config *c) {
    const size_t decoder = vit_config_has_decoder(c) ? decoder_multiply_adds(c) : 0;
    if (c->stem == VIT_STEM_NONE) return decoder;
    const size_t t = vit_config_tokens(c), d = c->dim, a = vit_config_attention_dim(c);
    const size_t gemms = c->gated ? 3 : 2, features = vit_config_features(c);
    const size_t block = 4 * t * d * a + 2 * t * t * a + gemms * t * d * c->mlp;
    const size_t map = 2 * t * d * d + 2 * t * d + 2 * d * d + 2 * d * c->mlp;
    const size_t products[] = {[VIT_HEAD_LINEAR] = features * c->classes,
                               [VIT_HEAD_MLP] = features * c->mlp + c->mlp * c->classes,
                               [VIT_HEAD_NONE] = 0};
    return stem_multiply_adds(c) + c->depth * block + (c->pool == VIT_POOL_MAP ? map : 0) +
           products[c->head] + decoder;
}
