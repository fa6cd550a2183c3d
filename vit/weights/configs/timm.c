/* timm: config.json with "architecture", "model_args" and "pretrained_cfg". */
#include "vit/base/size.h"
#include "vit/base/text.h"
#include "vit/weights/configs/timm_names.h"
#include <stdlib.h>
#include <string.h>

static bool is_among(const char *key, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(key, names[i]) == 0) return true;
    return false;
}

/* ---- model_args ---- */

/* Arguments that change nothing in evaluation. */
static const char *const idle[] = {"drop_rate",       "pos_drop_rate",  "patch_drop_rate",
                                   "proj_drop_rate",  "attn_drop_rate", "drop_path_rate",
                                   "weight_init",     "fix_init",       "dynamic_img_size",
                                   "strict_img_size", "use_naflex",     "dynamic_img_pad"};
/* Arguments that are read below, besides those of vit_switches. */
static const char *const used[] = {"img_size",    "patch_size", "global_pool", "mlp_ratio",
                                   "pos_embed",   "act_layer",  "norm_layer",  "mlp_layer",
                                   "init_values", "pool_heads", "block_fn",    "embed_norm_layer"};

/* All arguments that are read; returns how many. */
static size_t list_used(const char *names[VIT_COUNT(used) + VIT_KEYS]) {
    size_t count = VIT_COUNT(used);
    memcpy(names, used, sizeof used);
    for (size_t i = 0; i < VIT_KEYS; i++)
        if (vit_switches[i].timm)
            names[count++] = vit_switches[i].timm + (vit_switches[i].timm[0] == '!');
    return count;
}

/* An argument that is not known: of the config, or of the architecture's name. */
static vit_status strange(const vit_their_config *d, const char *key, const json_t *value,
                          const json_t *own, const char *near, vit_error *error) {
    if (own && json_object_get(own, key))
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: the argument \"%s\" in \"model_args\" is not supported%s%s%s", d->name,
                        key, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    char *text = json_dumps(value, JSON_ENCODE_ANY);
    const vit_status status =
        vit_fail(error, VIT_ERROR_UNSUPPORTED,
                 "%s: the architecture that is named there has \"%s\" %.60s, which is not "
                 "supported",
                 d->name, key, text ? text : "");
    free(text);
    return status;
}

/* args: all of them; own: those that the config itself has. */
static vit_status check_arguments(const vit_their_config *d, json_t *args, const json_t *own,
                                  vit_error *error) {
    const char *key, *names[VIT_COUNT(used) + VIT_KEYS];
    const size_t count = list_used(names);
    json_t *value;
    json_object_foreach(args, key, value) {
        if (json_typeof(value) == JSON_NULL || is_among(key, idle, VIT_COUNT(idle)) ||
            is_among(key, names, count))
            continue;
        return strange(d, key, value, own, vit_nearest(key, names, count), error);
    }
    return VIT_OK;
}

static vit_status read_numbers(vit_their_config *d, const json_t *args, vit_error *error) {
    double init_values = 0;
    vit_status status = vit_read_image(d, args, "img_size", error);
    if (status == VIT_OK) status = vit_read_patch(d, args, "patch_size", error);
    for (size_t i = 0; i < VIT_KEYS && status == VIT_OK; i++)
        if (vit_switches[i].timm)
            status = vit_read_switch(d, &vit_switches[i], args, vit_switches[i].timm, error);
    /* of a gated MLP this is both halves; its tensors show the width */
    if (status == VIT_OK) status = vit_read_ratio(d, args, error);
    if (status == VIT_OK) status = vit_read_number(&init_values, d, args, "init_values", error);
    if (status == VIT_OK) status = vit_read_size(&d->said.pool_heads, d, args, "pool_heads", error);
    if (init_values > 0) VIT_SAY(d, layer_scale, true); /* not of blocks that norm their sums */
    return status;
}

static vit_status unsupported(const vit_their_config *d, const char *key, const char *value,
                              const char *expected, vit_error *error) {
    return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: \"%s\" \"%s\" is not supported, expected %s",
                    d->name, key, value, expected);
}

/* The first pooling that has the word. */
static vit_status set_pool(vit_their_config *d, const char *pool, vit_error *error) {
    if (!pool) return VIT_OK;
    size_t i = 0;
    while (i < VIT_POOL_COUNT && !(vit_pools[i].timm && strcmp(vit_pools[i].timm, pool) == 0)) i++;
    if (i == VIT_POOL_COUNT)
        return unsupported(d, "global_pool", pool, "token, avg, avgmax, max, map or prr", error);
    VIT_SAY(d, pool, (vit_pool)i);
    return VIT_OK;
}

/* The kinds of norm: all norms of a network are of one. */
static vit_status read_norm(vit_their_config *d, const char *norm, vit_error *error) {
    static const char *const kinds[] = {"layernorm", "LayerNorm", "layernormfp32",
                                        "rmsnorm",   "RmsNorm",   "rmsnormfp32"};
    size_t i = 0;
    if (!norm) return VIT_OK;
    while (i < VIT_COUNT(kinds) && strcmp(kinds[i], norm) != 0) i++;
    if (i == VIT_COUNT(kinds))
        return unsupported(d, "norm_layer", norm, "layernorm or rmsnorm", error);
    VIT_SAY(d, rms_norm, i >= VIT_COUNT(kinds) / 2);
    return VIT_OK;
}

/* The norm of embedded patches, which the tensors show. */
static vit_status check_embed_norm(const vit_their_config *d, const json_t *args,
                                   vit_error *error) {
    const json_t *norm = vit_json_given(args, "embed_norm_layer");
    const json_t *of = json_object_get(norm, "of");
    const char *name = json_string_value(json_is_object(norm) ? of : norm);
    const double eps = json_number_value(json_object_get(norm, "eps"));
    if (!norm) return VIT_OK;
    const bool rms = name && strncmp(name, "Rms", 3) == 0, own = json_is_object(norm);
    if (name && rms == d->said.rms_norm && (!own || eps == d->said.norm_eps)) return VIT_OK;
    return unsupported(d, "embed_norm_layer", name ? name : "", "that of \"norm_layer\"", error);
}

/* How a block is built, by the name of its class. */
static vit_status read_block(vit_their_config *d, const char *block, vit_error *error) {
    static const struct {
        const char *name;
        vit_norm_place norm;
    } kinds[] = {{"Block", VIT_NORM_PRE},
                 {"RelPosBlock", VIT_NORM_PRE},
                 {"ResPostBlock", VIT_NORM_RES_POST},
                 {"ResPostRelPosBlock", VIT_NORM_RES_POST},
                 {"ParallelScalingBlock", VIT_NORM_PARALLEL}};
    size_t i = 0;
    if (!block) return VIT_OK;
    while (i < VIT_COUNT(kinds) && strcmp(kinds[i].name, block) != 0) i++;
    if (i == VIT_COUNT(kinds))
        return unsupported(d, "block_fn", block, "Block, ResPostBlock or ParallelScalingBlock",
                           error);
    VIT_SAY(d, norm, kinds[i].norm);
    if (vit_norms[kinds[i].norm].after) VIT_SAY(d, layer_scale, false);
    return VIT_OK;
}

static vit_status read_words(vit_their_config *d, const json_t *args, vit_error *error) {
    const char *pool = NULL, *act = NULL, *norm = NULL, *mlp = NULL, *positions = NULL,
               *block = NULL;
    const vit_their_key texts[] = {{"global_pool", .text = &pool},    {"act_layer", .text = &act},
                                   {"norm_layer", .text = &norm},     {"mlp_layer", .text = &mlp},
                                   {"pos_embed", .text = &positions}, {"block_fn", .text = &block}};
    vit_status status = vit_read_keys(texts, VIT_COUNT(texts), d, args, error);
    if (status == VIT_OK) status = set_pool(d, pool, error);
    if (status == VIT_OK) status = vit_read_activation(d, act, "act_layer", error);
    if (status == VIT_OK) status = read_norm(d, norm, error);
    if (status == VIT_OK) status = check_embed_norm(d, args, error);
    if (status == VIT_OK) status = read_block(d, block, error);
    if (status != VIT_OK) return status;
    const bool none = positions && (!*positions || strcmp(positions, "none") == 0);
    if (positions && !none && strcmp(positions, "learn") != 0)
        return unsupported(d, "pos_embed", positions, "learn or none", error);
    if (none) VIT_SAY(d, positions, VIT_POSITIONS_NONE);
    const bool is_gated = mlp && (strcmp(mlp, "swiglu") == 0 || strcmp(mlp, "swiglupacked") == 0 ||
                                  strcmp(mlp, "SwiGLU") == 0 || strcmp(mlp, "SwiGLUPacked") == 0);
    if (mlp && !is_gated && strcmp(mlp, "mlp") != 0 && strcmp(mlp, "Mlp") != 0)
        return unsupported(d, "mlp_layer", mlp, "Mlp or SwiGLUPacked", error);
    if (is_gated) d->gate = VIT_SILU;
    if (mlp) VIT_SAY(d, gated, is_gated);
    if (act) d->gate = (int)d->said.activation;
    return VIT_OK;
}

/* ---- pretrained_cfg ---- */

static vit_status set_mode(vit_their_config *d, const char *mode, vit_error *error) {
    if (!mode) return VIT_OK;
    if (strcmp(mode, "center") == 0)
        d->prepare.kind = VIT_PREPARE_CENTER;
    else if (strcmp(mode, "squash") == 0)
        d->prepare.kind = VIT_PREPARE_SQUASH;
    else if (strcmp(mode, "border") == 0)
        d->prepare.kind = VIT_PREPARE_BORDER;
    else
        return unsupported(d, "crop_mode", mode, "center, squash or border", error);
    return VIT_OK;
}

/* "input_size" is the network's size unless the arguments have one. If they do, and the network
 * takes pictures of any size, it is the size of prepared pictures. */
static vit_status read_input_size(vit_their_config *d, const json_t *cfg, const json_t *args,
                                  vit_error *error) {
    const json_t *size = vit_json_given(cfg, "input_size");
    size_t n[3];
    if (!size) return VIT_OK;
    for (size_t i = 0; i < 3; i++) {
        const json_int_t value = json_integer_value(json_array_get(size, i));
        if (json_array_size(size) != 3 || value < 1 || value > 4096)
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "%s: \"input_size\" must be [channels, height, width]", d->name);
        n[i] = (size_t)value;
    }
    if (d->said.channels == 0) d->said.channels = n[0];
    if (!vit_json_given(args, "img_size")) {
        d->said.height = n[1];
        d->said.width = n[2];
    } else if (json_is_true(json_object_get(args, "dynamic_img_size"))) {
        d->input_height = n[1];
        d->input_width = n[2];
    }
    return VIT_OK;
}

static vit_status read_pictures(vit_their_config *d, const json_t *cfg, vit_error *error) {
    vit_prepare *p = &d->prepare;
    bool has_mean, has_std;
    const char *interpolation = NULL, *mode = NULL;
    vit_status status = vit_read_triple(p->mean, &has_mean, d, cfg, "mean", error);
    if (status == VIT_OK) status = vit_read_triple(p->std, &has_std, d, cfg, "std", error);
    if (status == VIT_OK) status = vit_read_number(&p->share, d, cfg, "crop_pct", error);
    if (status == VIT_OK) status = vit_read_text(&interpolation, d, cfg, "interpolation", error);
    if (status == VIT_OK) status = vit_read_text(&mode, d, cfg, "crop_mode", error);
    if (status == VIT_OK) status = set_mode(d, mode, error);
    if (status != VIT_OK) return status;
    if (has_mean != has_std)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: of \"mean\" and \"std\" only one is given, expected both", d->name);
    p->has_mean = p->has_mean || has_mean;
    if (p->kind == VIT_PREPARE_UNKNOWN && p->share > 0) p->kind = VIT_PREPARE_CENTER;
    if (interpolation && !vit_filter_parse(interpolation, &p->filter))
        return unsupported(d, "interpolation", interpolation, "bicubic, bilinear, lanczos, ...",
                           error);
    if (!(p->share > 0 && p->share <= 1) && p->kind != VIT_PREPARE_UNKNOWN)
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: \"crop_pct\" is %g, expected above 0 to 1",
                        d->name, p->share);
    return VIT_OK;
}

/* The arguments of a name in timm's registry, those of the config before them. `named` is what
 * vit_timm_find found; *all is owned. */
static vit_status merge(json_t **all, vit_their_config *d, const json_t *named,
                        const json_t *object, json_t *own, vit_error *error) {
    const char *class = json_string_value(json_object_get(named, "class"));
    json_t *args = json_object_get(named, "args");
    VIT_SAY(d, activation, VIT_GELU);
    const vit_status status = vit_read_number(&d->said.norm_eps, d, args, "norm_eps", error);
    if (status != VIT_OK) return status;
    json_object_del(args, "norm_eps");
    json_t *pool = json_object_get(object, "global_pool");
    if (json_is_string(pool)) json_object_set(args, "global_pool", pool);
    *all = own ? json_deep_copy(own) : json_object();
    if (!*all || json_object_update_missing(*all, args) != 0)
        return vit_fail_memory(error, "arguments", 0);
    if (strcmp(class, "Eva") == 0 || strcmp(class, "Beit") == 0)
        return vit_timm_translate_eva(d, *all, error);
    if (strcmp(class, "VisionTransformerRelPos") == 0)
        return vit_timm_translate_relpos(d, *all, error);
    if (strcmp(class, "NaFlexVit") == 0) return vit_timm_translate_naflex(d, *all, error);
    return VIT_OK;
}

/* What the architecture's name says in timm's registry. *all: all arguments, owned. */
static vit_status read_architecture(json_t **all, vit_their_config *d, const json_t *object,
                                    json_t *own, vit_error *error) {
    const char *name = "";
    json_t *named = NULL;
    vit_status status = vit_read_text(&name, d, object, "architecture", error);
    if (status == VIT_OK) status = vit_timm_find(&named, name, error);
    if (status != VIT_OK) return status;
    if (!named)
        return vit_fail(
            error, VIT_ERROR_UNSUPPORTED,
            "%s: the architecture \"%s\" is not supported: timm's registry has no Vision "
            "Transformer of this name",
            d->name, name);
    const bool has_norm = json_is_string(json_object_get(own, "norm_layer"));
    const json_t *cfg = json_object_get(named, "cfg");
    d->prepare.kind = VIT_PREPARE_UNKNOWN;
    if (!strchr(name, '.')) status = read_input_size(d, cfg, NULL, error);
    if (status == VIT_OK && !strchr(name, '.')) status = read_pictures(d, cfg, error);
    if (status == VIT_OK) status = merge(all, d, named, object, own, error);
    if (has_norm) d->said.norm_eps = 1e-6; /* in place of the name's, which may have its own */
    json_decref(named);
    return status;
}

static bool says_zero(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) && json_integer_value(value) == 0;
}

/* Whether one of the names says that the weights were last trained on ImageNet-1k, like
 * "vit_base_patch16_224.augreg2_in21k_ft_in1k". */
static bool names_imagenet(const json_t *object) {
    static const char *const keys[] = {"architecture", "tag", "hf_hub_id", "url", "file"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *text = json_string_value(json_object_get(object, keys[i]));
        if (text && (strstr(text, "in1k") || strstr(text, "imagenet"))) return true;
    }
    return false;
}

/* ---- TimmWrapper ---- */

static const char wrapper[] = "timm_wrapper";

bool vit_is_timm_wrapper(const json_t *object) {
    const char *type = json_string_value(json_object_get(object, "model_type"));
    return type && strcmp(type, wrapper) == 0;
}

/* What Hugging Face's class has besides timm's network: files are read by its load_image(). */
static vit_status read_wrapper(vit_their_config *d, const json_t *object, vit_error *error) {
    const json_t *names = json_object_get(object, "architectures");
    const char *name = json_string_value(json_array_get(names, 0));
    d->prepare.turns = true;
    if (!name || strcmp(name, "TimmWrapperModel") != 0) return vit_read_problem(d, object, error);
    d->is_backbone = true;
    d->said.classes = 0;
    return VIT_OK;
}

/* ---- the whole ---- */

vit_status vit_read_timm_config(vit_their_config *d, json_t *object, vit_error *error) {
    /* older configs have the keys of "pretrained_cfg" themselves */
    json_t *args = NULL, *cfg = object;
    const json_t *labels = vit_json_given(object, "label_names");
    const char *pool = NULL;
    json_t *all = NULL;
    d->said.norm_eps = 1e-6;
    d->prepare.filter = VIT_FILTER_BICUBIC;
    vit_status status = vit_read_object(&args, d, object, "model_args", error);
    if (status == VIT_OK) status = vit_read_object(&cfg, d, object, "pretrained_cfg", error);
    if (!labels) labels = vit_json_given(cfg, "label_names");
    if (!labels) labels = vit_json_given(object, "labels"); /* until 2022 */
    if (status == VIT_OK) status = read_architecture(&all, d, object, args, error);
    if (status == VIT_OK) status = vit_read_text(&pool, d, object, "global_pool", error);
    if (status == VIT_OK) status = set_pool(d, pool, error);
    if (status == VIT_OK) status = read_input_size(d, cfg, all, error);
    if (status == VIT_OK) status = vit_read_size(&d->said.classes, d, object, "num_classes", error);
    if (status == VIT_OK) status = check_arguments(d, all, args, error);
    if (status == VIT_OK) status = read_numbers(d, all, error);
    if (status == VIT_OK) status = read_words(d, all, error);
    json_decref(all);
    if (status != VIT_OK) return status;
    d->is_backbone = says_zero(args, "num_classes") ||
                     (!json_object_get(args, "num_classes") && says_zero(object, "num_classes"));
    const vit_pool_row *row = &vit_pools[d->said.pool];
    if (row->choice && !row->attends && !d->given[VIT_KEY_norm_before_pool])
        VIT_SAY(d, norm_before_pool, row->refines);
    status = read_pictures(d, cfg, error);
    if (status == VIT_OK && vit_is_timm_wrapper(object)) status = read_wrapper(d, object, error);
    if (status != VIT_OK || d->is_backbone) return status;
    d->is_imagenet = names_imagenet(object) || names_imagenet(cfg);
    return vit_read_labels(d, labels, "label_names", error);
}
