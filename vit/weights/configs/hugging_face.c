/* Hugging Face: config.json of ViT, DeiT, DINOv2 and their kin. */
#include "vit/base/size.h"
#include "vit/base/text.h"
#include "vit/weights/configs/pairs.h"
#include "vit/weights/file/labels.h"
#include <stdlib.h>
#include <string.h>

/* own and object as in read_config. */
typedef vit_status reads(vit_their_config *d, const json_t *own, const json_t *object,
                         vit_error *error);

/* The kinds of network whose blocks are ours, and everything in which they differ. This is the one
 * list of them: scripts/hugging_face_models.py makes hugging_face_models.json of it, `make lint`
 * compares the two, and scripts/check_classes.py has a class of each. */
typedef struct family {
    const char *type;      /* "model_type" */
    const char *processor; /* the class that the library takes where a file names none */
    bool has_ratio;        /* the MLPs' width is a ratio, "mlp_ratio" */
    bool any_size;         /* positions are resampled to the size of the pictures */
    bool pools_both;       /* classifiers pool class token and mean */
    bool backbone;         /* there are no classifiers */
    int position_rule;     /* VIT_UNSPECIFIED: that of the library's other networks */
    vit_pair pair;         /* CLIP or SigLIP */
    const char *part;      /* of a network of two encoders: "model_type" of that of pictures */
    const char *text;      /* and of that of texts, if it is known here */
    bool largest_ends;     /* "eos_token_id" 2 stands for the largest id, as in old configs */
    reads *also;           /* reads what only this kind has */
} family;

static reads read_dinov3, read_mlcd, read_beit, read_ijepa, read_pixio, read_aimv2;

#define USUAL_POSITIONS .position_rule = VIT_UNSPECIFIED
#define IS_CLIP USUAL_POSITIONS, .processor = "CLIP", .pair = VIT_PAIR_CLIP
#define IS_SIGLIP USUAL_POSITIONS, .processor = "Siglip", .pair = VIT_PAIR_SIGLIP
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
    {.type = "clip",
     IS_CLIP,
     .part = "clip_vision_model",
     .text = "clip_text_model",
     .largest_ends = true},
    {.type = "clip_vision_model", IS_CLIP},
    {.type = "metaclip_2",
     IS_CLIP,
     .part = "metaclip_2_vision_model",
     .text = "metaclip_2_text_model"},
    {.type = "metaclip_2_vision_model", IS_CLIP},
    {.type = "siglip", IS_SIGLIP, .part = "siglip_vision_model", .text = "siglip_text_model"},
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
    vit_string known = {0};
    for (size_t i = 0; i < VIT_COUNT(families); i++) {
        *found = &families[i];
        if (strcmp(families[i].type, type) == 0) return VIT_OK;
    }
    for (size_t i = 0; i < VIT_COUNT(others); i++)
        if (strcmp(others[i].type, type) == 0)
            return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                            "%s: \"model_type\" \"%s\" is not supported: %s", d->name, type,
                            others[i].why);
    for (size_t i = 0; i < VIT_COUNT(families); i++)
        vit_string_add(&known, "%s%s", i > 0 ? ", " : "", families[i].type);
    vit_fail(error, VIT_ERROR_UNSUPPORTED,
             "%s: \"model_type\" \"%s\" is not supported, expected one of %s", d->name, type,
             known.failed ? "..." : known.text);
    vit_string_free(&known);
    return VIT_ERROR_UNSUPPORTED;
}

vit_status vit_find_text_family(vit_text_family *out, const char *name, const char *type,
                                vit_error *error) {
    for (size_t i = 0; i < VIT_COUNT(families); i++) {
        const family *f = &families[i];
        if (!f->text || strcmp(f->type, type) != 0) continue;
        *out = (vit_text_family){f->text, f->pair == VIT_PAIR_SIGLIP, f->largest_ends};
        return VIT_OK;
    }
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: \"model_type\" \"%s\" has no text encoder that is known here: words "
                    "need a model of CLIP, MetaCLIP 2 or SigLIP (clip, metaclip_2, siglip)",
                    name, *type ? type : "none");
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
    int gated = false;
    if (!has_ratio) return vit_read_size(&d->said.mlp, d, object, "intermediate_size", error);
    const vit_status status = vit_read_flag(&gated, d, object, "use_swiglu_ffn", error);
    if (status != VIT_OK) return status;
    if (gated) d->gate = VIT_SILU;
    VIT_SAY(d, gated, gated);
    return gated ? VIT_OK : vit_read_ratio(d, object, error);
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

/* RMS norms, gated MLPs, and an attention pooling; encoders without that have no pooled features in
 * the library, and the mean in timm, which is taken here. */
static vit_status read_aimv2(vit_their_config *d, const json_t *own, const json_t *object,
                             vit_error *error) {
    int pools = true, native = false, qkv = false, mlp = false;
    const vit_their_key keys[] = {{"use_head", .flag = &pools},
                                  {"is_native", .flag = &native},
                                  {"qkv_bias", .flag = &qkv},
                                  {"mlp_bias", .flag = &mlp}};
    vit_status status = vit_read_keys(keys, VIT_COUNT(keys), d, own, error);
    if (status == VIT_OK)
        status = vit_read_switch(d, &vit_switches[VIT_KEY_norm_eps], own, "rms_norm_eps", error);
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
    const json_t *labels = vit_json_given(object, "id2label");
    d->is_imagenet = !labels || are_numbers(labels);
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
    if (status == VIT_OK) status = vit_read_pair(d, f->pair, own, object, error);
    if (status != VIT_OK) return status;
    status = d->is_backbone ? VIT_OK : vit_read_problem(d, object, error);
    return status == VIT_OK ? read_labels(d, object, error) : status;
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
        status = vit_pair_config(&own, d, object, "vision_config", f->part, error);
    if (status == VIT_OK) status = read_config(d, f, own, object, error);
    if (status != VIT_OK || !pictures) return status;
    d->name = processor_name;
    status = vit_read_hf_processor(d, f->processor, pictures, error);
    d->name = name;
    if (status != VIT_OK || !f->any_size) return status;
    const size_t *end = d->prepare.crop[0] > 0 ? d->prepare.crop : d->prepare.resize;
    d->input_height = end[0];
    d->input_width = end[1];
    return VIT_OK;
}
