/* Configs of vit-pytorch and torchvision, which write none, in a form of our own; OpenCLIP's
 * config; what holds for Google's files without any. */
#include "vit/base/size.h"
#include "vit/weights/configs/their_config.h"
#include <string.h>

static vit_status check_keys(const vit_their_config *d, json_t *object, const char *const *keys,
                             size_t count, vit_error *error) {
    vit_field fields[32];
    for (size_t i = 0; i < count; i++)
        fields[i] = (vit_field){keys[i], VIT_FIELD_OTHER, NULL, NULL};
    return vit_json_read(object, fields, count, d->name, error);
}

/* "mean" and "std", both or none; has_usual: the library's own are set where there are none. */
static vit_status read_mean(vit_their_config *d, const json_t *object, bool has_usual,
                            vit_error *error) {
    bool has_mean, has_std;
    vit_prepare *p = &d->prepare;
    vit_status status = vit_read_triple(p->mean, &has_mean, d, object, "mean", error);
    if (status == VIT_OK) status = vit_read_triple(p->std, &has_std, d, object, "std", error);
    if (status != VIT_OK) return status;
    p->has_mean = has_mean && has_std;
    if (p->has_mean || (has_usual && !has_mean && !has_std)) {
        p->has_mean = true;
        return VIT_OK;
    }
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: add \"mean\" and \"std\", by which pixels of 0 to 1 are normalized",
                    d->name);
}

static vit_status read_filter(vit_their_config *d, const json_t *object, vit_error *error) {
    const char *name = NULL;
    const vit_status status = vit_read_text(&name, d, object, "interpolation", error);
    if (status != VIT_OK || !name || vit_filter_parse(name, &d->prepare.filter)) return status;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: \"interpolation\" \"%s\" is not known, expected bilinear, bicubic, ...",
                    d->name, name);
}

/* ---- vit-pytorch ---- */

/* "pool", and "attention_scale": its first versions divide scores by sqrt(D), later ones by
 * sqrt(d_k).
 */
static vit_status read_attention(vit_their_config *d, const json_t *object, vit_error *error) {
    const char *scale = NULL, *pool = "cls";
    vit_status status = vit_read_text(&scale, d, object, "attention_scale", error);
    if (status == VIT_OK) status = vit_read_text(&pool, d, object, "pool", error);
    if (status != VIT_OK) return status;
    if (scale && strcmp(scale, "dim") == 0)
        VIT_SAY(d, attention_scale, VIT_SCALE_DIM);
    else if (scale && strcmp(scale, "head_dim") == 0)
        VIT_SAY(d, attention_scale, VIT_SCALE_HEAD_DIM);
    else if (scale)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: \"attention_scale\" is \"%s\", expected \"dim\" or \"head_dim\"",
                        d->name, scale);
    if (strcmp(pool, "cls") != 0 && strcmp(pool, "mean") != 0)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: \"pool\" is \"%s\", expected \"cls\" or \"mean\"", d->name, pool);
    VIT_SAY(d, pool, strcmp(pool, "cls") == 0 ? VIT_POOL_CLASS : VIT_POOL_MEAN);
    VIT_SAY(d, pool_prefix, vit_pools[d->said.pool].patches);
    return VIT_OK;
}

vit_status vit_read_lucidrains_config(vit_their_config *d, json_t *object, vit_error *error) {
    static const char *const keys[] = {
        "architecture", "image_size", "patch_size", "channels", "num_classes",   "dim",
        "depth",        "heads",      "dim_head",   "mlp_dim",  "pool",          "attention_scale",
        "label_names",  "mean",       "std",        "resize",   "interpolation", "preprocessing"};
    const vit_their_key sizes[] = {
        {"patch_size", .size = &d->said.patch},    {"channels", .size = &d->said.channels},
        {"num_classes", .size = &d->said.classes}, {"dim", .size = &d->said.dim},
        {"depth", .size = &d->said.depth},         {"heads", .size = &d->said.heads},
        {"dim_head", .size = &d->said.head_dim},   {"mlp_dim", .size = &d->said.mlp}};
    vit_status status = check_keys(d, object, keys, VIT_COUNT(keys), error);
    if (status == VIT_OK) status = vit_read_image(d, object, "image_size", error);
    if (status == VIT_OK) status = vit_read_keys(sizes, VIT_COUNT(sizes), d, object, error);
    if (status == VIT_OK) status = read_attention(d, object, error);
    if (status != VIT_OK) return status;
    d->said.norm_eps = 1e-5;
    VIT_SAY(d, activation, VIT_GELU);
    d->prepare.kind = VIT_PREPARE_STRETCH;
    d->prepare.filter = VIT_FILTER_BILINEAR;
    if (!json_object_get(object, "preprocessing")) status = read_mean(d, object, false, error);
    if (status == VIT_OK) status = read_filter(d, object, error);
    if (status != VIT_OK) return status;
    return vit_read_labels(d, vit_json_given(object, "label_names"), "label_names", error);
}

/* ---- torchvision ---- */

vit_status vit_read_torchvision_config(vit_their_config *d, json_t *object, vit_error *error) {
    static const char *const keys[] = {
        "architecture", "num_heads",     "image_size",  "resize",      "crop",         "mean",
        "std",          "interpolation", "label_names", "num_classes", "preprocessing"};
    const vit_prepare usual = {.kind = VIT_PREPARE_SHORTER,
                               .filter = VIT_FILTER_BILINEAR,
                               .mean = {.485, .456, .406},
                               .std = {.229, .224, .225}};
    vit_prepare *p = &d->prepare;
    *p = usual;
    d->said.norm_eps = 1e-6;
    VIT_SAY(d, activation, VIT_GELU);
    VIT_SAY(d, pool, VIT_POOL_CLASS);
    vit_status status = check_keys(d, object, keys, VIT_COUNT(keys), error);
    if (status == VIT_OK) status = vit_read_size(&d->said.heads, d, object, "num_heads", error);
    if (status == VIT_OK) status = vit_read_size(&d->said.classes, d, object, "num_classes", error);
    if (status == VIT_OK) status = vit_read_image(d, object, "image_size", error);
    if (status == VIT_OK) status = vit_read_size(&p->resize[0], d, object, "resize", error);
    if (status == VIT_OK) status = vit_read_sides(p->crop, d, object, "crop", error);
    if (status == VIT_OK) status = read_mean(d, object, true, error);
    if (status == VIT_OK) status = read_filter(d, object, error);
    if (status != VIT_OK) return status;
    if (d->said.height == 0) d->said.height = p->crop[0];
    if (d->said.width == 0) d->said.width = p->crop[1];
    if (p->resize[0] == 0 || p->crop[0] == 0) p->kind = VIT_PREPARE_UNKNOWN;
    return vit_read_labels(d, vit_json_given(object, "label_names"), "label_names", error);
}

/* ---- OpenCLIP ---- */

static vit_status read_tower(vit_their_config *d, json_t *vision, vit_error *error) {
    /* The keys of an image encoder that is ours; others mean a network of another kind. Those with
     * a star mean something only together with "attentional_pool" and "timm_model_name". */
    static const char *const known[] = {
        "layers",        "width",     "head_width",    "mlp_ratio",           "patch_size",
        "image_size",    "pool_type", "ls_init_value", "patch_dropout",       "no_ln_pre",
        "output_tokens", "timm_*",    "attn_pooler_*", "final_ln_after_pool", "pos_embed_type"};
    size_t head_width = 64;
    int norms_pooled = false;
    const char *pool = "tok";
    const vit_their_key keys[] = {
        {"layers", .size = &d->said.depth},     {"width", .size = &d->said.dim},
        {"patch_size", .size = &d->said.patch}, {"head_width", .size = &head_width},
        {"pool_type", .text = &pool},           {"final_ln_after_pool", .flag = &norms_pooled}};
    vit_status status = vit_check_known(d, vision, "vision_cfg", known, VIT_COUNT(known), error);
    if (status == VIT_OK) status = vit_read_image(d, vision, "image_size", error);
    if (status == VIT_OK) status = vit_read_keys(keys, VIT_COUNT(keys), d, vision, error);
    if (status == VIT_OK) status = vit_read_ratio(d, vision, error);
    if (status != VIT_OK) return status;
    if (head_width == 0 || d->said.dim % head_width != 0)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: \"head_width\" %zu does not divide \"width\" %zu", d->name, head_width,
                        d->said.dim);
    if (strcmp(pool, "tok") != 0 && strcmp(pool, "avg") != 0)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: \"pool_type\" \"%s\" is not supported, expected tok or avg", d->name,
                        pool);
    d->said.heads = d->said.dim / head_width;
    VIT_SAY(d, pool, strcmp(pool, "tok") == 0 ? VIT_POOL_CLASS : VIT_POOL_MEAN);
    VIT_SAY(d, norm_before_pool, !norms_pooled);
    return VIT_OK;
}

/* ---- OpenCLIP's encoders that are timm's ---- */

/* A word of "vision_cfg"; absent: `usual`; null: "". */
static vit_status read_word(const char **word, const char *usual, const vit_their_config *d,
                            const json_t *vision, const char *key, vit_error *error) {
    *word = json_object_get(vision, key) ? "" : usual;
    return vit_read_text(word, d, vision, key, error);
}

/* The features are projected by the trunk's own head, by a layer after it, or not at all. */
static vit_status read_trunk(vit_their_config *d, json_t *model, json_t *vision, vit_error *error) {
    const char *name, *pool, *proj;
    size_t width = 0;
    vit_status status = read_word(&name, "", d, vision, "timm_model_name", error);
    if (status == VIT_OK) status = read_word(&pool, "avg", d, vision, "timm_pool", error);
    if (status == VIT_OK) status = read_word(&proj, "linear", d, vision, "timm_proj", error);
    if (status == VIT_OK) status = vit_read_size(&width, d, model, "embed_dim", error);
    if (status != VIT_OK) return status;
    if (strcmp(proj, "mlp") == 0)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: \"timm_proj\" \"mlp\" is not supported, expected \"linear\", \"none\" "
                        "or null",
                        d->name);
    if (!*pool && strcmp(proj, "linear") != 0)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: \"timm_pool\" \"\" is not supported without \"timm_proj\" \"linear\": "
                        "the library gives the states of all tokens, and no feature of the picture",
                        d->name);
    json_t *timm = json_pack("{s:s, s:i}", "architecture", name, "num_classes", 0);
    if (timm && *pool) json_object_set_new(timm, "global_pool", json_string(pool));
    if (!timm || json_object_set_new(model, "timm", timm) != 0) /* which keeps it */
        return vit_fail_memory(error, "a config", 0);
    status = vit_read_timm_config(d, timm, error);
    if (status != VIT_OK || strcmp(proj, "none") == 0) return status;
    VIT_SAY(d, head, VIT_HEAD_PROJECTION);
    d->said.classes = width;
    return VIT_OK;
}

static vit_status read_tower_pictures(vit_their_config *d, const json_t *pictures,
                                      vit_error *error) {
    const char *mode = "shortest";
    vit_prepare *p = &d->prepare;
    vit_status status = read_mean(d, pictures, false, error);
    if (status == VIT_OK) status = read_filter(d, pictures, error);
    if (status == VIT_OK) status = vit_read_text(&mode, d, pictures, "resize_mode", error);
    if (status != VIT_OK) return status;
    p->crop[0] = p->resize[0] = d->said.height;
    p->crop[1] = d->said.width;
    if (strcmp(mode, "shortest") == 0 && p->crop[0] != p->crop[1]) {
        p->kind = VIT_PREPARE_CENTER;
        p->share = 1;
        p->filter = VIT_FILTER_BICUBIC; /* whatever the config says, as in the library */
        return VIT_OK;
    }
    p->kind = VIT_PREPARE_SHORTER;
    if (strcmp(mode, "shortest") == 0) return VIT_OK;
    p->kind = VIT_PREPARE_STRETCH;
    p->resize[1] = d->said.width;
    if (strcmp(mode, "squash") == 0) return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: \"resize_mode\" \"%s\" is not supported, expected shortest or squash",
                    d->name, mode);
}

vit_status vit_read_open_clip_config(vit_their_config *d, json_t *object, vit_error *error) {
    json_t *model = NULL, *vision = NULL, *pictures = NULL;
    int quick = false;
    d->prepare.filter = VIT_FILTER_BICUBIC;
    vit_status status = vit_read_object(&model, d, object, "model_cfg", error);
    if (status == VIT_OK) status = vit_read_object(&vision, d, model, "vision_cfg", error);
    if (status == VIT_OK) status = vit_read_object(&pictures, d, object, "preprocess_cfg", error);
    if (status != VIT_OK) return status;
    if (vit_json_given(vision, "timm_model_name")) {
        status = read_trunk(d, model, vision, error);
        return status == VIT_OK ? read_tower_pictures(d, pictures, error) : status;
    }
    status = read_tower(d, vision, error);
    if (status == VIT_OK) status = vit_read_size(&d->said.classes, d, model, "embed_dim", error);
    if (status == VIT_OK) status = vit_read_flag(&quick, d, model, "quick_gelu", error);
    if (status == VIT_OK) status = read_tower_pictures(d, pictures, error);
    d->said.norm_eps = 1e-5;
    VIT_SAY(d, activation, quick ? VIT_GELU_QUICK : VIT_GELU);
    VIT_SAY(d, head, VIT_HEAD_PROJECTION);
    d->is_backbone = true;
    return status;
}

/* ---- Google ---- */

void vit_google_config(vit_their_config *d) {
    d->said.norm_eps = 1e-6;
    VIT_SAY(d, activation, VIT_GELU_TANH);
    d->prepare = (vit_prepare){.kind = VIT_PREPARE_STRETCH,
                               .filter = VIT_FILTER_BILINEAR,
                               .has_mean = true,
                               .mean = {.5, .5, .5},
                               .std = {.5, .5, .5}};
}

void vit_big_vision_config(vit_their_config *d) {
    vit_google_config(d);
    d->prepare.kind = VIT_PREPARE_BIG_VISION;
    d->prepare.rounding = VIT_ROUNDING_FLOOR;
}
