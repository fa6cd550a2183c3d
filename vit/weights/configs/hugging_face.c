/* Hugging Face: config.json and preprocessor_config.json of ViT, DeiT, DINOv2 and their kin. */
#include "vit/base/size.h"
#include "vit/base/text.h"
#include "vit/weights/configs/towers.h"
#include "vit/weights/file/labels.h"
#include <stdlib.h>
#include <string.h>

/* ---- config.json ---- */

/* own and object as in read_config. */
typedef vit_status reads(vit_their_config *d, const json_t *own, const json_t *object,
                         vit_error *error);

/* The kinds of network whose blocks are ours, and everything in which they differ. */
typedef struct family {
    const char *type;      /* "model_type" */
    const char *processor; /* the class that the library takes where a file names none */
    bool has_ratio;        /* the MLPs' width is a ratio, "mlp_ratio" */
    bool any_size;         /* positions are resampled to the size of the pictures */
    bool pools_both;       /* classifiers pool class token and mean */
    bool backbone;         /* there are no classifiers */
    int position_rule;     /* VIT_UNSPECIFIED: that of the library's other networks */
    vit_tower tower;       /* CLIP or SigLIP */
    const char *part;      /* of a network of two encoders: "model_type" of that of pictures */
    reads *also;           /* reads what only this kind has */
} family;

static reads read_dinov3, read_mlcd, read_beit, read_ijepa, read_pixio, read_aimv2;

#define USUAL_POSITIONS .position_rule = VIT_UNSPECIFIED
#define IS_CLIP USUAL_POSITIONS, .processor = "CLIP", .tower = VIT_TOWER_CLIP
#define IS_SIGLIP USUAL_POSITIONS, .processor = "Siglip", .tower = VIT_TOWER_SIGLIP
#define IS_DINOV2 .processor = "Bit", .has_ratio = true, .any_size = true, .pools_both = true
#define IS_MLCD .processor = "CLIP", .backbone = true, .any_size = true, .also = read_mlcd
#define IS_PIXIO \
    .processor = "Bit", .backbone = true, .has_ratio = true, .any_size = true, .also = read_pixio
#define IS_TIPS                                                                   \
    .processor = "Tipsv2", .backbone = true, .has_ratio = true, .any_size = true, \
    .position_rule = VIT_POSITIONS_OF_NAFLEX /* linear, antialiased */
#define IS_AIMV2 USUAL_POSITIONS, .processor = "CLIP", .backbone = true, .also = read_aimv2

static const family families[] = {
    {.type = "vit", .processor = "ViT", USUAL_POSITIONS},
    {.type = "vit_mae", .processor = "ViT", USUAL_POSITIONS},
    {.type = "vit_msn", .processor = "ViT", USUAL_POSITIONS},
    {.type = "ijepa", .processor = "ViT", USUAL_POSITIONS, .also = read_ijepa},
    {.type = "deit", .processor = "DeiT", USUAL_POSITIONS},
    {.type = "dinov2", IS_DINOV2, USUAL_POSITIONS},
    {.type = "dinov2_with_registers", IS_DINOV2, .position_rule = VIT_POSITIONS_OF_TIMM},
    {.type = "dinov3_vit",
     .processor = "DINOv3ViT",
     .any_size = true,
     USUAL_POSITIONS,
     .also = read_dinov3},
    {.type = "mlcd_vision_model", IS_MLCD, USUAL_POSITIONS},
    {.type = "pixio", IS_PIXIO, USUAL_POSITIONS},
    {.type = "tipsv2", IS_TIPS, .part = "tipsv2_vision_model"},
    {.type = "tipsv2_vision_model", IS_TIPS},
    {.type = "beit", .processor = "Beit", USUAL_POSITIONS, .also = read_beit},
    {.type = "data2vec-vision", .processor = "Beit", USUAL_POSITIONS, .also = read_beit},
    {.type = "aimv2", IS_AIMV2, .part = "aimv2_vision_model"},
    {.type = "aimv2_vision_model", IS_AIMV2},
    {.type = "clip", IS_CLIP, .part = "clip_vision_model"},
    {.type = "clip_vision_model", IS_CLIP},
    {.type = "metaclip_2", IS_CLIP, .part = "metaclip_2_vision_model"},
    {.type = "metaclip_2_vision_model", IS_CLIP},
    {.type = "siglip", IS_SIGLIP, .part = "siglip_vision_model"},
    {.type = "siglip_vision_model", IS_SIGLIP},
};

/* Networks that people fetch and that are not ours, and why. */
static const struct {
    const char *type, *why;
} others[] = {
    {"siglip2", "its pictures have any shape (NaFlex)"},
    {"siglip2_vision_model", "its pictures have any shape (NaFlex)"},
    {"radio", "it normalises pictures and pools several tokens side by side"},
    {"vitpose_backbone", "its patches overlap the edges, and it finds points of the body"},
    {"sam", "its attention is in windows"},
    {"swin", "its attention is in windows"},
    {"swinv2", "its attention is in windows"},
    {"hiera", "its layers are a hierarchy"},
    {"convnext", "it has no attention"},
    {"resnet", "it has no attention"},
};

static vit_status find_family(const family **found, const vit_their_config *d, const json_t *object,
                              vit_error *error) {
    const char *type = "";
    const vit_status status = vit_read_text(&type, d, object, "model_type", error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        *found = &families[i];
        if (strcmp(families[i].type, type) == 0) return VIT_OK;
    }
    for (size_t i = 0; i < VIT_COUNT(others); i++)
        if (strcmp(others[i].type, type) == 0)
            return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                            "%s: \"model_type\" \"%s\" is not supported: %s", d->name, type,
                            others[i].why);
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: \"model_type\" \"%s\" is not supported, expected vit, deit, dinov2, "
                    "dinov2_with_registers, dinov3_vit, vit_mae, vit_msn, ijepa, beit, "
                    "data2vec-vision, pixio, tipsv2, aimv2, clip, metaclip_2, "
                    "mlcd_vision_model or siglip",
                    d->name, type);
}

static vit_status read_switches(vit_their_config *d, const json_t *object, vit_error *error) {
    vit_status status = vit_read_image(d, object, "image_size", error);
    if (status == VIT_OK) status = vit_read_patch(d, object, "patch_size", error);
    for (size_t i = 0; i < VIT_KEYS && status == VIT_OK; i++)
        if (vit_switches[i].hf)
            status = vit_read_switch(d, &vit_switches[i], object, vit_switches[i].hf, error);
    if (status != VIT_OK) return status;
    if (d->said.heads > 0) return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s does not say how many heads the network has: add \"num_attention_heads\"",
                    d->name);
}

/* The width of the MLPs. DINOv2's configs have a ratio instead, and its gated MLPs are two thirds
 * as wide, which the tensors show. */
static vit_status read_mlp(vit_their_config *d, bool has_ratio, const json_t *object,
                           vit_error *error) {
    double ratio = 0;
    int gated = false;
    if (!has_ratio) return vit_read_size(&d->said.mlp, d, object, "intermediate_size", error);
    vit_status status = vit_read_number(&ratio, d, object, "mlp_ratio", error);
    if (status == VIT_OK) status = vit_read_flag(&gated, d, object, "use_swiglu_ffn", error);
    if (gated) d->gate = VIT_SILU;
    VIT_SAY(d, gated, gated);
    if (ratio > 0 && ratio < 1000 && !gated) d->said.mlp = (size_t)((double)d->said.dim * ratio);
    return status;
}

/* Angles of the patches' places between the edges, and gated MLPs, whose gate is "hidden_act". */
static vit_status read_dinov3(vit_their_config *d, const json_t *own, const json_t *object,
                              vit_error *error) {
    (void)object;
    int gated = false;
    double base = 100;
    vit_status status = vit_read_flag(&gated, d, own, "use_gated_mlp", error);
    if (status == VIT_OK) status = vit_read_number(&base, d, own, "rope_theta", error);
    if (status != VIT_OK) return status;
    VIT_SAY(d, gated, gated);
    if (gated) d->gate = (int)d->said.activation;
    VIT_SAY(d, positions, VIT_POSITIONS_NONE);
    VIT_SAY(d, rope, VIT_ROPE_CENTERED);
    VIT_SAY(d, rope_base, base);
    VIT_SAY(d, rope_halves, true);
    return VIT_OK;
}

/* CLIP's blocks, with angles by rows and columns; those of the class token are a tensor. */
static vit_status read_mlcd(vit_their_config *d, const json_t *own, const json_t *object,
                            vit_error *error) {
    (void)object;
    const char *kind = "axial";
    json_t *rope = NULL;
    double base = 10000;
    size_t groups = 1;
    vit_status status = vit_read_object(&rope, d, own, "rope_parameters", error);
    if (status == VIT_OK) status = vit_read_text(&kind, d, rope, "rope_type", error);
    if (status == VIT_OK) status = vit_read_number(&base, d, rope, "rope_theta", error);
    if (status == VIT_OK) status = vit_read_size(&groups, d, own, "num_key_value_groups", error);
    if (status != VIT_OK) return status;
    if (groups != 1 || strcmp(kind, "axial") != 0)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: \"num_key_value_groups\" is %zu and \"rope_type\" \"%s\", expected "
                        "1 and \"axial\"",
                        d->name, groups, kind);
    VIT_SAY(d, positions, VIT_POSITIONS_NONE);
    VIT_SAY(d, rope, VIT_ROPE_AXIAL);
    VIT_SAY(d, rope_base, base);
    VIT_SAY(d, rope_halves, true);
    return VIT_OK;
}

/* Relative positions, of each block or shared; and what is pooled, in classifiers. */
static vit_status read_beit(vit_their_config *d, const json_t *own, const json_t *object,
                            vit_error *error) {
    (void)object;
    int learned = false, blocks = false, shared = false, mean = true;
    double scale = .1;
    const vit_their_key keys[] = {{"layer_scale_init_value", .number = &scale},
                                  {"use_absolute_position_embeddings", .flag = &learned},
                                  {"use_relative_position_bias", .flag = &blocks},
                                  {"use_shared_relative_position_bias", .flag = &shared},
                                  {"use_mean_pooling", .flag = &mean}};
    const vit_status status = vit_read_keys(keys, VIT_COUNT(keys), d, own, error);
    if (status != VIT_OK) return status;
    const size_t patch = vit_max(d->said.patch, 1);
    const bool square = d->said.height / patch == d->said.width / patch;
    if (d->is_backbone || (blocks && shared) || ((blocks || shared) && !square))
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: of BEiT's networks only classifiers are supported, with a relative "
                        "position bias of each block or one for all, and then of square pictures; "
                        "\"image_size\" is [%zu, %zu]",
                        d->name, d->said.height, d->said.width);
    VIT_SAY(d, positions, learned ? VIT_POSITIONS_LEARNED : VIT_POSITIONS_NONE);
    VIT_SAY(d, relative,
            blocks   ? VIT_RELATIVE_BLOCKS
            : shared ? VIT_RELATIVE_SHARED
                     : VIT_RELATIVE_NONE);
    VIT_SAY(d, pool, mean ? VIT_POOL_MEAN : VIT_POOL_CLASS);
    VIT_SAY(d, norm_before_pool, false);
    VIT_SAY(d, final_norm, true);
    VIT_SAY(d, layer_scale, scale > 0);
    return VIT_OK;
}

/* No class token: a classifier takes the mean of the last states, and so do features here. */
static vit_status read_ijepa(vit_their_config *d, const json_t *own, const json_t *object,
                             vit_error *error) {
    (void)own, (void)object, (void)error;
    VIT_SAY(d, pool, VIT_POOL_MEAN);
    VIT_SAY(d, norm_before_pool, true);
    return VIT_OK;
}

/* Several class tokens are registers here; a single one is what it is. */
static vit_status read_pixio(vit_their_config *d, const json_t *own, const json_t *object,
                             vit_error *error) {
    (void)object;
    size_t tokens = 1;
    const vit_status status = vit_read_size(&tokens, d, own, "n_cls_tokens", error);
    if (tokens == 1) return status;
    d->said.registers = tokens;
    VIT_SAY(d, pool, VIT_POOL_PREFIX_MEAN);
    VIT_SAY(d, norm_before_pool, true);
    return status;
}

/* RMS norms, gated MLPs, and an attention pooling; towers without that have no pooled features in
 * the library, and the mean in timm, which is taken here. */
static vit_status read_aimv2(vit_their_config *d, const json_t *own, const json_t *object,
                             vit_error *error) {
    int pools = true, native = false, qkv = false, mlp = false;
    const vit_their_key keys[] = {{"rms_norm_eps", .number = &d->said.norm_eps},
                                  {"use_head", .flag = &pools},
                                  {"is_native", .flag = &native},
                                  {"qkv_bias", .flag = &qkv},
                                  {"mlp_bias", .flag = &mlp}};
    const vit_status status = vit_read_keys(keys, VIT_COUNT(keys), d, own, error);
    if (status != VIT_OK) return status;
    if (native || qkv != mlp || (own != object && !pools))
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: of AIMv2's encoders those are supported whose \"is_native\" is false, "
                        "whose \"qkv_bias\" is their \"mlp_bias\", and which, beside a text "
                        "encoder, have \"use_head\"",
                        d->name);
    VIT_SAY(d, rms_norm, true);
    VIT_SAY(d, gated, true);
    d->gate = (int)d->said.activation;
    VIT_SAY(d, proj_bias, mlp != 0);
    VIT_SAY(d, pool, pools ? VIT_POOL_MAP : VIT_POOL_MEAN);
    VIT_SAY(d, pool_plain, pools != 0);
    VIT_SAY(d, norm_before_pool, true);
    if (own == object) return VIT_OK;
    VIT_SAY(d, head, VIT_HEAD_PROJECTION);
    return vit_read_size(&d->said.classes, d, object, "projection_dim", error);
}

/* Whether all names are "LABEL_0", "LABEL_1", ..., which the library writes where there are none.
 */
static bool are_numbers(const json_t *labels) {
    static const char start[] = "LABEL_";
    const char *key;
    json_t *label;
    json_object_foreach((json_t *)labels, key, label) {
        const char *text = json_string_value(label);
        if (!text || strncmp(text, start, sizeof start - 1) != 0 ||
            strcmp(text + sizeof start - 1, key) != 0)
            return false;
    }
    return json_object_size(labels) > 0;
}

/* Few files have "num_labels"; all that were fine-tuned have "id2label". */
static vit_status read_labels(vit_their_config *d, const json_t *object, vit_error *error) {
    if (d->is_backbone) return VIT_OK;
    const vit_status status = vit_read_size(&d->said.classes, d, object, "num_labels", error);
    if (status != VIT_OK) return status;
    const json_t *labels = json_object_get(object, "id2label");
    d->is_imagenet = !labels || json_is_null(labels) || are_numbers(labels);
    if (d->is_imagenet && json_object_size(labels) == VIT_IMAGENET_CLASSES) return VIT_OK;
    return vit_read_labels(d, labels, "id2label", error);
}

/* Whether "architectures" names a network without a classifier, such as "ViTModel"; those with one
 * are "...ForImageClassification...". */
static bool names_backbone(const json_t *object) {
    const json_t *list = json_object_get(object, "architectures");
    const char *name = json_string_value(json_array_get(list, 0));
    return name && !strstr(name, "ForImageClassification");
}

/* own: the part of `object` that is about the network for pictures, or all of it. */
static vit_status read_config(vit_their_config *d, const family *f, const json_t *own,
                              const json_t *object, vit_error *error) {
    const char *act = "gelu";
    d->position_rule = f->position_rule;
    vit_status status = read_switches(d, own, error);
    if (status == VIT_OK) status = read_mlp(d, f->has_ratio, own, error);
    if (status == VIT_OK) status = vit_read_text(&act, d, own, "hidden_act", error);
    if (status == VIT_OK) status = vit_read_activation(d, act, "hidden_act", error);
    if (status != VIT_OK) return status;
    d->is_backbone = f->backbone || names_backbone(object);
    VIT_SAY(d, pool, f->pools_both && !d->is_backbone ? VIT_POOL_CLASS_MEAN : VIT_POOL_CLASS);
    if (f->also) status = f->also(d, own, object, error);
    if (status == VIT_OK) status = vit_read_tower(d, f->tower, own, object, error);
    if (status != VIT_OK) return status;
    status = d->is_backbone ? VIT_OK : vit_read_problem(d, object, error);
    return status == VIT_OK ? read_labels(d, object, error) : status;
}

/* ---- preprocessor_config.json ---- */

/* The classes of processors that are read, and their defaults for keys that a file leaves out. */
typedef struct processor {
    const char *name;  /* before "ImageProcessor", "ImageProcessorFast", "FeatureExtractor" */
    bool square;       /* a number as "size" is both sides, else the shorter one */
    size_t size;       /* a number */
    bool stretches;    /* without "size" both sides become that number, else as `square` says */
    bool crops;        /* "do_center_crop" */
    bool has_crop_pct; /* up to 383 the shorter side becomes size / crop_pct, and the middle is cut
                          out; from 384 on pictures are stretched */
    vit_filter filter; /* "resample" */
    size_t means;      /* "image_mean" and "image_std": 0: .5, 1: CLIP's, 2: ImageNet's, 3: none, as
                          "do_normalize" is false */
    bool in_float;     /* pixels are rescaled before they are resized, and are not rounded then */
} processor;

static const processor processors[] = {
    {"ViT", true, 224, true, false, false, VIT_FILTER_BILINEAR, 0, false},
    {"DeiT", true, 256, true, true, false, VIT_FILTER_BICUBIC, 0, false},
    {"Beit", true, 224, true, false, false, VIT_FILTER_BICUBIC, 0, false},
    {"CLIP", false, 224, false, true, false, VIT_FILTER_BICUBIC, 1, false},
    {"Bit", false, 224, false, true, false, VIT_FILTER_BICUBIC, 1, false},
    {"ConvNext", false, 384, false, false, true, VIT_FILTER_BICUBIC, 0, false},
    {"Siglip", false, 224, true, false, false, VIT_FILTER_BICUBIC, 0, false},
    {"DINOv3ViT", true, 224, true, false, false, VIT_FILTER_BILINEAR, 2, true},
    {"Tipsv2", true, 448, true, false, false, VIT_FILTER_BILINEAR, 3, false},
};

/* The class that the file names, else the one that the library takes for the "model_type". */
static vit_status find_processor(const processor **found, const char **type,
                                 const vit_their_config *d, const char *usual, const json_t *object,
                                 vit_error *error) {
    static const char *const endings[] = {"ImageProcessor", "ImageProcessorFast",
                                          "ImageProcessorPil", "FeatureExtractor", ""};
    *type = usual;
    vit_status status = vit_read_text(type, d, object, "feature_extractor_type", error);
    if (status == VIT_OK) status = vit_read_text(type, d, object, "image_processor_type", error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < sizeof processors / sizeof *processors; i++) {
        const size_t n = strlen(processors[i].name);
        *found = &processors[i];
        for (size_t k = 0; strncmp(*type, (*found)->name, n) == 0 && k < 5; k++)
            if (strcmp(*type + n, endings[k]) == 0) return VIT_OK;
    }
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: pictures are prepared by \"%s\", which is not supported: expected the "
                    "ImageProcessor of ViT, DeiT, Beit, CLIP, Bit, ConvNext, Siglip, DINOv3ViT or "
                    "Tipsv2",
                    d->name, *type);
}

/* Refuses keys that are not read below and could change a pixel. */
static vit_status check_keys(const vit_their_config *d, json_t *object, vit_error *error) {
    static const char *const read[] = {
        "size", "crop_size", "crop_pct", "default_to_square", "resample", "rescale_factor",
        "image_mean", "image_std", "do_resize", "do_center_crop", "do_rescale", "do_normalize",
        /* and those that change nothing here */
        "image_processor_type", "feature_extractor_type", "processor_class", "do_convert_rgb",
        "data_format", "input_data_format", "return_tensors", "device", "disable_grouping",
        "do_reduce_labels", "reduce_labels", "_valid_processor_keys", "model_input_names",
        "transformers_version", "preprocessing"};
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        size_t i = 0;
        while (i < sizeof read / sizeof *read && strcmp(read[i], key) != 0) i++;
        if (i < sizeof read / sizeof *read || json_is_null(value)) continue;
        if (strcmp(key, "antialias") == 0 ? json_is_true(value) : json_is_false(value)) continue;
        return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: \"%s\" is not supported", d->name, key);
    }
    return VIT_OK;
}

/* "resample", by the numbers that PIL gives the filters. */
static vit_status read_filter(vit_their_config *d, const processor *c, const json_t *object,
                              vit_error *error) {
    static const vit_filter filters[] = {VIT_FILTER_NEAREST,  VIT_FILTER_LANCZOS,
                                         VIT_FILTER_BILINEAR, VIT_FILTER_BICUBIC,
                                         VIT_FILTER_BOX,      VIT_FILTER_HAMMING};
    size_t number = 0;
    while (filters[number] != c->filter) number++;
    const vit_status status = vit_read_size(&number, d, object, "resample", error);
    if (status != VIT_OK) return status;
    if (number >= VIT_COUNT(filters) || (c->in_float && number != 2 && number != 3))
        return vit_fail(
            error, VIT_ERROR_UNSUPPORTED,
            "%s: \"resample\" %zu is not supported, expected %s: 2 is bilinear, 3 bicubic", d->name,
            number, c->in_float ? "2 or 3" : "0 to 5");
    d->prepare.filter = filters[number];
    return VIT_OK;
}

/* ConvNext's rule. */
static vit_status apply_crop_pct(vit_their_config *d, const json_t *object, vit_error *error) {
    vit_prepare *p = &d->prepare;
    double share = .875;
    const size_t side = p->resize[0];
    const vit_status status = vit_read_number(&share, d, object, "crop_pct", error);
    if (status != VIT_OK) return status;
    if (p->kind != VIT_PREPARE_SHORTER || !(share > 0 && share <= 1))
        return vit_fail(
            error, VIT_ERROR_FORMAT,
            "%s: expected \"size\" {\"shortest_edge\": pixels} and \"crop_pct\" above 0 "
            "to 1",
            d->name);
    if (side >= 384) {
        p->kind = VIT_PREPARE_STRETCH;
        p->resize[1] = side;
        return VIT_OK;
    }
    p->resize[0] = (size_t)((double)side / share);
    p->crop[0] = p->crop[1] = side;
    return VIT_OK;
}

/* "size": both sides, or {"shortest_edge": S}; a number is the one or the other. */
static vit_status read_size(vit_their_config *d, const processor *c, json_t *object,
                            vit_error *error) {
    static const char *const sides[] = {"height", "width", "shortest_edge"};
    vit_prepare *p = &d->prepare;
    json_t *size = json_object_get(object, "size"), *value;
    int square = c->square;
    const char *key;
    vit_status status = vit_read_flag(&square, d, object, "default_to_square", error);
    if (status != VIT_OK) return status;
    json_object_foreach(size, key, value) {
        size_t i = 0;
        while (i < VIT_COUNT(sides) && strcmp(key, sides[i]) != 0) i++;
        if (i == VIT_COUNT(sides) && !json_is_null(value))
            return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: \"%s\" in \"size\" is not supported",
                            d->name, key);
    }
    const bool is_given = size && !json_is_null(size);
    value = json_object_get(size, "shortest_edge");
    const bool is_shorter =
        is_given ? (value && !json_is_null(value)) || (json_is_integer(size) && !square)
                 : !c->stretches;
    p->resize[0] = p->resize[1] = c->size;
    if (is_given && value && is_shorter)
        status = vit_read_size(&p->resize[0], d, size, "shortest_edge", error);
    else
        status = vit_read_sides(p->resize, d, object, "size", error);
    p->kind = is_shorter ? VIT_PREPARE_SHORTER : VIT_PREPARE_STRETCH;
    return status == VIT_OK && c->has_crop_pct ? apply_crop_pct(d, object, error) : status;
}

static vit_status read_mean(vit_their_config *d, const processor *c, const json_t *object,
                            vit_error *error) {
    static const double usual[][2][3] = {
        {{.5, .5, .5}, {.5, .5, .5}},
        {{.48145466, .4578275, .40821073}, {.26862954, .26130258, .27577711}},
        {{.485, .456, .406}, {.229, .224, .225}},
        {{0, 0, 0}, {1, 1, 1}}};
    vit_prepare *p = &d->prepare;
    bool found;
    int normalizes = c->means < 3;
    for (size_t i = 0; i < 3; i++) {
        p->mean[i] = usual[c->means][0][i];
        p->std[i] = usual[c->means][1][i];
    }
    vit_status status = vit_read_flag(&normalizes, d, object, "do_normalize", error);
    if (status == VIT_OK) status = vit_read_triple(p->mean, &found, d, object, "image_mean", error);
    if (status == VIT_OK) status = vit_read_triple(p->std, &found, d, object, "image_std", error);
    for (size_t i = 0; i < 3 && !normalizes; i++) {
        p->mean[i] = 0;
        p->std[i] = 1;
    }
    p->has_mean = true;
    return status;
}

static vit_status read_rescale(vit_their_config *d, const json_t *object, vit_error *error) {
    int rescales = true;
    vit_status status = vit_read_flag(&rescales, d, object, "do_rescale", error);
    d->prepare.rescale = 1 / 255.0;
    if (status == VIT_OK)
        status = vit_read_number(&d->prepare.rescale, d, object, "rescale_factor", error);
    if (status != VIT_OK) return status;
    if (!rescales) d->prepare.rescale = 1;
    if (d->prepare.rescale > 0) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: \"rescale_factor\" is %g, expected above 0",
                    d->name, d->prepare.rescale);
}

/* The centre crop, which pictures that are resized by their shorter side need. */
static vit_status read_crop(vit_their_config *d, const processor *c, const json_t *object,
                            vit_error *error) {
    vit_prepare *p = &d->prepare;
    int crops = c->crops;
    size_t crop[2] = {224, 224};
    vit_status status = vit_read_flag(&crops, d, object, "do_center_crop", error);
    if (status == VIT_OK && crops) status = vit_read_sides(crop, d, object, "crop_size", error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < 2 && crops; i++) {
        if (p->crop[i] > 0 && p->crop[i] != crop[i]) /* two crops: the second is of the first */
            return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                            "%s: \"crop_size\" %zu besides \"size\" %zu is not supported", d->name,
                            crop[i], p->crop[i]);
        p->crop[i] = crop[i];
    }
    if (p->kind != VIT_PREPARE_SHORTER || p->crop[0] > 0) return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: \"shortest_edge\" without a crop leaves pictures of every shape, which is "
                    "not supported: add \"do_center_crop\": true and \"crop_size\"",
                    d->name);
}

static vit_status read_steps(vit_their_config *d, const processor *c, json_t *object,
                             vit_error *error) {
    int resizes = true;
    vit_status status = check_keys(d, object, error);
    if (status == VIT_OK) status = vit_read_flag(&resizes, d, object, "do_resize", error);
    if (status == VIT_OK) status = read_rescale(d, object, error);
    if (status != VIT_OK) return status;
    if (!resizes)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: \"do_resize\" false is not supported: pictures of another size than "
                        "the network's could not be answered",
                        d->name);
    if (c->in_float && d->prepare.rescale == 1)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: \"do_rescale\" false is not supported",
                        d->name);
    status = read_size(d, c, object, error);
    if (status == VIT_OK) status = read_filter(d, c, object, error);
    if (status == VIT_OK) status = read_crop(d, c, object, error);
    return status == VIT_OK ? read_mean(d, c, object, error) : status;
}

/* Whether the processor computes as torchvision does, not as Pillow: where its name ends in "Fast",
 * and from version 5 on, unless it ends in "Pil". */
static bool is_on_torchvision(const char *type, const char *version) {
    static const char *const on_pillow[] = {"Pil", "FeatureExtractor"};
    if (vit_has_ending(type, "Fast")) return true;
    for (size_t i = 0; i < VIT_COUNT(on_pillow); i++)
        if (vit_has_ending(type, on_pillow[i])) return false;
    return version && strtol(version, NULL, 10) >= 5;
}

static vit_status read_processor(vit_their_config *d, const char *usual, json_t *object,
                                 vit_error *error) {
    const processor *c;
    const char *type;
    vit_prepare *p = &d->prepare;
    vit_status status = find_processor(&c, &type, d, usual, object, error);
    if (status == VIT_OK) status = read_steps(d, c, object, error);
    p->turns = true; /* by the library's load_image(), not by the processor */
    p->rounding = VIT_ROUNDING_FLOOR;
    if (status != VIT_OK || !(c->in_float || is_on_torchvision(type, d->version))) return status;
    p->arithmetic = c->in_float ? VIT_ARITHMETIC_FLOAT : VIT_ARITHMETIC_TORCH;
    p->rounding = VIT_ROUNDING_ZERO;
    p->fused = !c->in_float;
    return status;
}

vit_status vit_read_hf_config(vit_their_config *d, json_t *object, json_t *pictures,
                              const char *processor_name, vit_error *error) {
    const char *name = d->name;
    const family *f;
    json_t *own = object;
    if (!d->version)
        d->version = json_string_value(json_object_get(object, "transformers_version"));
    vit_status status = find_family(&f, d, object, error);
    if (status == VIT_OK) status = vit_complete_config(object, f->type, error);
    if (status == VIT_OK && f->part)
        status = vit_tower_config(&own, d, object, "vision_config", f->part, error);
    if (status == VIT_OK) status = read_config(d, f, own, object, error);
    if (status != VIT_OK || !pictures) return status;
    d->name = processor_name;
    status = read_processor(d, f->processor, pictures, error);
    d->name = name;
    if (status != VIT_OK || !f->any_size) return status;
    const size_t *end = d->prepare.crop[0] > 0 ? d->prepare.crop : d->prepare.resize;
    d->input_height = end[0];
    d->input_width = end[1];
    return VIT_OK;
}
