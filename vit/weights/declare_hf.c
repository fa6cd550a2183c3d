/* Hugging Face: config.json and preprocessor_config.json of ViT, DeiT, DINOv2 and their kin. */
#include "vit/base/text.h"
#include "vit/weights/declared.h"
#include "vit/weights/labels.h"
#include <stdio.h>
#include <string.h>

/* ---- config.json ---- */

/* The kinds of network whose blocks are ours, and everything in which they differ. */
typedef struct family {
    const char *type; /* "model_type" */
    double norm_eps;  /* the library's default */
    bool is_dinov2; /* the MLPs' width is a ratio; classifiers pool class token and mean; positions
                       are resampled to the size of the pictures */
    int position_rule; /* where it is not that of the library's other networks; or VIT_UNSPECIFIED
                        */
} family;

static const family families[] = {
    {"vit", 1e-12, false, VIT_UNSPECIFIED},
    {"vit_mae", 1e-12, false, VIT_UNSPECIFIED},
    {"vit_msn", 1e-6, false, VIT_UNSPECIFIED},
    {"deit", 1e-12, false, VIT_UNSPECIFIED},
    {"dinov2", 1e-6, true, VIT_UNSPECIFIED},
    {"dinov2_with_registers", 1e-6, true, VIT_POSITIONS_OF_TIMM},
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
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: \"model_type\" \"%s\" is not supported, expected vit, deit, dinov2, "
                    "dinov2_with_registers, vit_mae or vit_msn",
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
static vit_status read_mlp(vit_their_config *d, bool is_dinov2, const json_t *object,
                           vit_error *error) {
    double ratio = 0;
    int gated = false;
    if (!is_dinov2) return vit_read_size(&d->said.mlp, d, object, "intermediate_size", error);
    vit_status status = vit_read_number(&ratio, d, object, "mlp_ratio", error);
    if (status == VIT_OK) status = vit_read_flag(&gated, d, object, "use_swiglu_ffn", error);
    if (gated) d->gate = VIT_SILU;
    VIT_SAY(d, gated, gated);
    if (ratio > 0 && ratio < 1000 && !gated) d->said.mlp = (size_t)((double)d->said.dim * ratio);
    return status;
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
 * are
 * "...ForImageClassification...". */
static bool names_backbone(const json_t *object) {
    const json_t *list = json_object_get(object, "architectures");
    const char *name = json_string_value(json_array_get(list, 0));
    return name && !strstr(name, "ForImageClassification");
}

static vit_status read_config(vit_their_config *d, const family *f, const json_t *object,
                              vit_error *error) {
    const char *act = "gelu";
    d->said.norm_eps = f->norm_eps;
    d->position_rule = f->position_rule;
    vit_status status = read_switches(d, object, error);
    if (status == VIT_OK) status = read_mlp(d, f->is_dinov2, object, error);
    if (status == VIT_OK) status = vit_read_text(&act, d, object, "hidden_act", error);
    if (status == VIT_OK) status = vit_read_activation(d, act, "hidden_act", error);
    if (status != VIT_OK) return status;
    d->is_backbone = names_backbone(object);
    VIT_SAY(d, pool, f->is_dinov2 && !d->is_backbone ? VIT_POOL_CLASS_MEAN : VIT_POOL_CLASS);
    return read_labels(d, object, error);
}

/* ---- preprocessor_config.json ---- */

/* "resample", by the numbers that PIL gives the filters. */
static vit_status read_filter(vit_their_config *d, const json_t *object, vit_error *error) {
    static const vit_filter filters[] = {VIT_FILTER_NEAREST,  VIT_FILTER_LANCZOS,
                                         VIT_FILTER_BILINEAR, VIT_FILTER_BICUBIC,
                                         VIT_FILTER_BOX,      VIT_FILTER_HAMMING};
    size_t number = SIZE_MAX;
    const vit_status status = vit_read_size(&number, d, object, "resample", error);
    if (status != VIT_OK) return status;
    if (number >= sizeof filters / sizeof *filters)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: expected \"resample\", a number of 0 to 5: 2 is bilinear, 3 bicubic",
                        d->name);
    d->prepare.filter = filters[number];
    return VIT_OK;
}

/* "size": {"shortest_edge": S}, or both sides. */
static vit_status read_size(vit_their_config *d, const json_t *object, vit_error *error) {
    vit_prepare *p = &d->prepare;
    const json_t *size = json_object_get(object, "size");
    if (json_object_get(size, "shortest_edge")) {
        p->kind = VIT_PREPARE_SHORTER;
        return vit_read_size(&p->resize[0], d, size, "shortest_edge", error);
    }
    p->kind = VIT_PREPARE_STRETCH;
    const vit_status status = vit_read_sides(p->resize, d, object, "size", error);
    if (status != VIT_OK || p->resize[0] > 0) return status;
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: expected \"size\", to which pictures are resized",
                    d->name);
}

static vit_status read_mean(vit_their_config *d, const json_t *object, vit_error *error) {
    vit_prepare *p = &d->prepare;
    bool has_mean, has_std;
    int normalizes = true;
    vit_status status = vit_read_flag(&normalizes, d, object, "do_normalize", error);
    if (status == VIT_OK)
        status = vit_read_triple(p->mean, &has_mean, d, object, "image_mean", error);
    if (status == VIT_OK) status = vit_read_triple(p->std, &has_std, d, object, "image_std", error);
    if (status != VIT_OK) return status;
    if (normalizes && !(has_mean && has_std))
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: expected \"image_mean\" and \"image_std\", as pictures are normalized",
                        d->name);
    for (size_t i = 0; i < 3 && !normalizes; i++) {
        p->mean[i] = 0;
        p->std[i] = 1;
    }
    p->has_mean = true;
    return VIT_OK;
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
static vit_status read_crop(vit_their_config *d, const json_t *object, vit_error *error) {
    vit_prepare *p = &d->prepare;
    int crops = false;
    vit_status status = vit_read_flag(&crops, d, object, "do_center_crop", error);
    if (status == VIT_OK && crops) status = vit_read_sides(p->crop, d, object, "crop_size", error);
    if (status != VIT_OK || p->crop[0] > 0) return status;
    if (crops)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: expected \"crop_size\", as \"do_center_crop\" is true", d->name);
    if (p->kind != VIT_PREPARE_SHORTER) return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: \"shortest_edge\" without a crop leaves pictures of every shape, which is "
                    "not supported: add \"do_center_crop\": true and \"crop_size\"",
                    d->name);
}

static vit_status read_steps(vit_their_config *d, const json_t *object, vit_error *error) {
    static const char *const refused[] = {"do_pad", "do_grayscale", "do_flip_channel_order"};
    int resizes = true;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (json_is_true(json_object_get(object, refused[i])))
            return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: \"%s\" is not supported", d->name,
                            refused[i]);
    vit_status status = vit_read_flag(&resizes, d, object, "do_resize", error);
    if (status == VIT_OK) status = read_rescale(d, object, error);
    if (status != VIT_OK) return status;
    if (!resizes)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: \"do_resize\" false is not supported: pictures of another size than "
                        "the network's could not be answered",
                        d->name);
    status = read_size(d, object, error);
    if (status == VIT_OK) status = read_filter(d, object, error);
    if (status == VIT_OK) status = read_crop(d, object, error);
    return status == VIT_OK ? read_mean(d, object, error) : status;
}

static vit_status read_processor(vit_their_config *d, const json_t *object, vit_error *error) {
    const char *type = "";
    vit_prepare *p = &d->prepare;
    vit_status status = vit_read_text(&type, d, object, "image_processor_type", error);
    if (status == VIT_OK) status = read_steps(d, object, error);
    p->rounding = VIT_ROUNDING_FLOOR;
    if (!vit_has_ending(type, "Fast")) return status;
    p->arithmetic = VIT_ARITHMETIC_TORCH;
    p->rounding = VIT_ROUNDING_ZERO;
    p->fused = true;
    return status;
}

vit_status vit_read_hf_config(vit_their_config *d, json_t *object, json_t *processor,
                              const char *processor_name, vit_error *error) {
    const char *name = d->name;
    const family *f;
    vit_status status = find_family(&f, d, object, error);
    if (status == VIT_OK) status = read_config(d, f, object, error);
    if (status != VIT_OK || !processor) return status;
    d->name = processor_name;
    status = read_processor(d, processor, error);
    d->name = name;
    if (status != VIT_OK || !f->is_dinov2) return status;
    const size_t *end = d->prepare.crop[0] > 0 ? d->prepare.crop : d->prepare.resize;
    d->input_height = end[0];
    d->input_width = end[1];
    return VIT_OK;
}
