/* The config files beside weights. This file leads: it finds out what a library can say of a
 * network and its pictures; its parts, describe_hf.c and describe_timm.c, write that down, with the
 * helpers here. */
#include "vit/weights/describe.h"
#include "vit/image/prepare/preprocess.h"

#include "vit/base/sys.h"

#include <math.h>
#include <string.h>

void vit_describe_add(vit_text *list, const char *sentence) {
    vit_text_add(list, "%s%s", list->length > 0 ? "; " : "", sentence);
}

void vit_describe_numbers(vit_text *t, const float *numbers, size_t count) {
    char number[32];
    for (size_t i = 0; i < count; i++)
        vit_text_add(t, "%s%s", i > 0 ? ", " : "[", vit_format_float(number, numbers[i]));
    vit_text_add(t, "]");
}

void vit_describe_labels(vit_text *t, const vit_model_file *m) {
    vit_text_add(t, "[");
    for (size_t i = 0; i < m->config.classes; i++) {
        vit_text_add(t, i > 0 ? ", " : "");
        vit_text_add_json(t, m->labels[i]);
    }
    vit_text_add(t, "]");
}

/* ---- pictures ---- */

/* Sorts the operations by what they are; those that no library has are reasons, those that it does
 * in its own way before are notes. */
static void find_operations(vit_described_pictures *p, vit_description *d,
                            const vit_preprocessing *list) {
    for (size_t i = 0; i < list->count; i++) {
        const vit_operation *op = &list->operations[i];
        switch (op->kind) {
        case VIT_OP_DIGIT:
            p->digit = op;
            vit_describe_add(&d->notes, "its library does not prepare pictures as digits, with "
                                        "what is \"preprocessing\" in config.json");
            break;
        case VIT_OP_ORIENT:
            vit_describe_add(&d->notes, "its library does not turn pictures as EXIF says");
            break;
        case VIT_OP_COMPOSITE:
            vit_describe_add(&d->notes, "its library does not put transparent pictures on a "
                                        "background");
            break;
        case VIT_OP_RESIZE:
            if (p->resize || p->crop)
                vit_describe_add(&d->reasons, "pictures are resized twice, or after cropping");
            p->resize = op;
            break;
        case VIT_OP_CENTER_CROP:
            if (p->crop) vit_describe_add(&d->reasons, "pictures are cropped twice");
            p->crop = op;
            break;
        case VIT_OP_NORMALIZE:
            p->normalize = op;
            break;
        case VIT_OP_GREY:
            vit_describe_add(&d->notes, "its library does not make pictures grey");
            break;
        case VIT_OP_RGB:
            break;
        }
    }
}

/* timm says by which share the crop is smaller than what it is cut from. */
static double share_of(const vit_described_pictures *p, const vit_config *c) {
    const vit_operation *r = p->resize;
    if (!r || !p->crop) return 1;
    if (r->crop_share > 0) return r->crop_share;
    const double whole = (double)(r->shorter > 0 ? r->shorter : r->height);
    const double share = (double)c->height / whole;
    return floor((double)c->height / share) < whole ? nextafter(share, 0) : share;
}

static bool is_crop_of(const vit_described_pictures *p, const vit_config *c) {
    return !p->crop || (p->crop->height == c->height && p->crop->width == c->width);
}

/* What timm makes of its share again. */
static bool has_share(const vit_described_pictures *p, const vit_config *c) {
    const vit_operation *r = p->resize;
    const double height = floor((double)c->height / p->share);
    const double width = floor((double)c->width / p->share);
    if (r->shorter > 0) return (double)r->shorter == height && c->height == c->width;
    return (double)r->height == height && (double)r->width == width;
}

static void check_timm(vit_description *d, const vit_described_pictures *p, const vit_config *c) {
    if (!has_share(p, c))
        vit_describe_add(&d->reasons, "pictures are cropped from a size that timm's crop_pct does "
                                      "not give");
    if (p->crop && p->crop->rounding != VIT_ROUNDING_EVEN)
        vit_describe_add(&d->notes, "the middle of an odd number of pixels may be one pixel off");
}

static void check_hf(vit_description *d, const vit_described_pictures *p) {
    if (p->resize->fit != VIT_FIT_STRETCH)
        vit_describe_add(&d->reasons, "pictures are fitted without being squashed");
    const vit_rounding own =
        p->resize->arithmetic == VIT_ARITHMETIC_TORCH ? VIT_ROUNDING_ZERO : VIT_ROUNDING_FLOOR;
    if (p->crop && p->crop->rounding != own)
        vit_describe_add(&d->notes, "the middle of an odd number of pixels may be one pixel off");
}

static void check_torchvision(vit_description *d, const vit_described_pictures *p,
                              const vit_config *c) {
    if (p->resize->shorter == 0 || !p->crop)
        vit_describe_add(&d->reasons, "pictures are not resized by their shorter side and cropped");
    (void)c;
}

void vit_describe_pictures(vit_described_pictures *p, vit_description *d, vit_target target,
                           const vit_model_file *m) {
    *p = (vit_described_pictures){0};
    find_operations(p, d, &m->preprocessing);
    p->share = share_of(p, &m->config);
    p->squashes = p->resize && p->resize->shorter == 0 && p->resize->fit == VIT_FIT_STRETCH;
    if (!p->resize || !is_crop_of(p, &m->config)) {
        if (!p->digit)
            vit_describe_add(&d->reasons, "pictures are not resized to what the network takes");
        return;
    }
    if (target == VIT_TARGET_HF)
        check_hf(d, p);
    else if (target == VIT_TARGET_TORCHVISION)
        check_torchvision(d, p, &m->config);
    else
        check_timm(d, p, &m->config);
    if (target != VIT_TARGET_HF && p->resize->arithmetic != VIT_ARITHMETIC_PILLOW)
        vit_describe_add(&d->notes, "its library resizes with Pillow, which rounds otherwise");
}

void vit_describe_own(vit_text *t, const vit_description *d, const vit_model_file *m) {
    if (d->reasons.length == 0 && d->notes.length == 0) return;
    char *list = vit_preprocessing_write(&m->preprocessing);
    t->failed = t->failed || !list;
    vit_text_add(t, ",\n  \"preprocessing\": %s", list ? list : "");
    vit_free(list);
}

/* ---- a class of our own ---- */

extern const char *const vit_pytorch_model[]; /* vit/weights/pytorch_model.py, line by line */

static void add_member(vit_text *t, const char *key, char *json) {
    t->failed = t->failed || !json;
    vit_text_add(t, "%s\n  \"%s\": %s", t->length > 1 ? "," : "", key, json ? json : "");
    vit_free(json);
}

static void describe_pytorch(vit_description *d, const vit_model_file *m) {
    vit_text *t = &d->config;
    vit_text_add(t, "{");
    add_member(t, "model", vit_config_write(&m->config));
    add_member(t, "preprocessing", vit_preprocessing_write(&m->preprocessing));
    if (m->labels) {
        vit_text_add(t, ",\n  \"labels\": ");
        vit_describe_labels(t, m);
    }
    vit_text_add(t, "\n}\n");
    for (size_t i = 0; vit_pytorch_model[i]; i++)
        vit_text_add(&d->module, "%s", vit_pytorch_model[i]);
}

/* ---- the whole ---- */

vit_status vit_describe(vit_description *d, vit_target target, const vit_model_file *m,
                        vit_error *error) {
    vit_described_pictures pictures;
    *d = (vit_description){0};
    d->builds = target == VIT_TARGET_ONNX || target == VIT_TARGET_PYTORCH;
    if (!d->builds) {
        d->builds = vit_layout_limits(&d->reasons, target, &m->config);
        vit_describe_pictures(&pictures, d, target, m);
    }
    if (target == VIT_TARGET_HF)
        vit_describe_hf(d, m, &pictures);
    else if (target == VIT_TARGET_PYTORCH)
        describe_pytorch(d, m);
    else if (target == VIT_TARGET_TORCHVISION)
        vit_describe_torchvision(d, m, &pictures);
    else if (target != VIT_TARGET_ONNX)
        vit_describe_timm(d, m, &pictures);
    if (!d->config.failed && !d->processor.failed && !d->module.failed && !d->reasons.failed &&
        !d->notes.failed)
        return VIT_OK;
    vit_description_clear(d);
    return vit_fail_memory(error, "the description of a network", 0);
}

void vit_description_clear(vit_description *d) {
    vit_text_free(&d->config);
    vit_text_free(&d->processor);
    vit_text_free(&d->module);
    vit_text_free(&d->reasons);
    vit_text_free(&d->notes);
}
