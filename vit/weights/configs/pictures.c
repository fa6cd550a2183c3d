/* From what a config declares about pictures to the list of operations. */
#include "vit/weights/configs/their_config.h"
#include <math.h>
#include <stdlib.h>

static void add(vit_preprocessing *p, vit_operation operation) {
    p->operations[p->count++] = operation;
}

/* floor(side / share), as Python divides. */
static size_t enlarged(size_t side, double share) {
    return (size_t)floor((double)side / share);
}

static void add_timm(vit_preprocessing *out, const vit_prepare *p, const vit_config *c) {
    const size_t h = enlarged(c->height, p->share), w = enlarged(c->width, p->share);
    vit_operation resize = {.kind = VIT_OP_RESIZE,
                            .filter = p->filter,
                            .crop_share = p->share,
                            .height = h,
                            .width = w};
    vit_operation crop = {.kind = VIT_OP_CENTER_CROP, .height = c->height, .width = c->width};
    switch (p->kind) {
    case VIT_PREPARE_CENTER:
        resize.fit = VIT_FIT_COVER;
        if (c->height != c->width) break;
        resize.fit = VIT_FIT_STRETCH;
        resize.height = resize.width = 0;
        resize.shorter = h;
        break;
    case VIT_PREPARE_BORDER:
        resize.fit = VIT_FIT_CONTAIN;
        for (size_t i = 0; i < 3; i++) crop.background[i] = (uint8_t)nearbyint(255 * p->mean[i]);
        break;
    case VIT_PREPARE_SQUASH:
    case VIT_PREPARE_UNKNOWN:
    case VIT_PREPARE_STRETCH:
    case VIT_PREPARE_SHORTER:
    case VIT_PREPARE_BIG_VISION:
        break;
    }
    add(out, resize);
    add(out, crop);
}

static void add_given(vit_preprocessing *out, const vit_prepare *p, const vit_config *c) {
    vit_operation resize = {.kind = VIT_OP_RESIZE,
                            .filter = p->filter,
                            .arithmetic = p->arithmetic,
                            .height = p->resize[0] ? p->resize[0] : c->height,
                            .width = p->resize[1] ? p->resize[1] : c->width};
    const vit_operation crop = {.kind = VIT_OP_CENTER_CROP,
                                .rounding = p->rounding,
                                .height = c->height,
                                .width = c->width};
    bool crops = p->crop[0] > 0;
    switch (p->kind) {
    case VIT_PREPARE_SHORTER:
        resize.shorter = p->resize[0];
        resize.height = resize.width = 0;
        crops = true;
        break;
    case VIT_PREPARE_BIG_VISION:
        if (c->height != 224 || c->width != 224) break;
        resize.height = resize.width = 256;
        resize.fit = VIT_FIT_COVER;
        crops = true;
        break;
    case VIT_PREPARE_STRETCH:
    case VIT_PREPARE_UNKNOWN:
    case VIT_PREPARE_CENTER:
    case VIT_PREPARE_SQUASH:
    case VIT_PREPARE_BORDER:
        break;
    }
    add(out, resize);
    if (crops) add(out, crop);
}

/* The list that a config may have in our own form. */
static vit_status read_own(vit_preprocessing *out, const vit_their_config *d, vit_error *error) {
    char *text = json_dumps(d->preprocessing, JSON_REAL_PRECISION(17));
    if (!text) return vit_fail_memory(error, "preprocessing", 0);
    const vit_status status = vit_preprocessing_read(out, text, "preprocessing", error);
    free(text);
    return status == VIT_OK ? status : vit_fail_prefix(error, status, d->name);
}

/* The size of prepared pictures, height and width; 0: the network's. */
static const size_t *end_of(const vit_prepare *p) {
    const bool stretched = p->kind == VIT_PREPARE_STRETCH && p->resize[0] > 0 && p->crop[0] == 0;
    return stretched ? p->resize : p->crop;
}

bool vit_prepares_to(const vit_their_config *d, size_t height, size_t width) {
    const size_t *end = end_of(&d->prepare);
    return height > 0 && end[0] == height && end[1] == width;
}

static vit_status check_size(const vit_their_config *d, const vit_config *c, vit_error *error) {
    const size_t *end = end_of(&d->prepare);
    if (end[0] == 0 || (end[0] == c->height && end[1] == c->width)) return VIT_OK;
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "%s: pictures are prepared to %zu x %zu (height x width), the network takes "
                    "%zu x %zu; --size %zux%zu resamples its positions",
                    d->name, end[0], end[1], c->height, c->width, end[0], end[1]);
}

/* The side of prepared pictures, where a network's convolution does not reach their last pixels,
 * fewer than a patch. */
static size_t whole_side(size_t said, size_t side, size_t patch) {
    return said > side && said - said % patch == side ? said : side;
}

vit_status vit_prepare_list(vit_preprocessing *out, const vit_their_config *d,
                            const vit_config *config, vit_error *error) {
    const vit_prepare *p = &d->prepare;
    vit_config whole = *config, *c = &whole;
    whole.height = whole_side(d->said.height, config->height, config->patch);
    whole.width = whole_side(d->said.width, config->width, config->patch);
    *out = (vit_preprocessing){0};
    if (d->preprocessing) return read_own(out, d, error);
    if (p->kind == VIT_PREPARE_UNKNOWN || !p->has_mean)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s does not say how pictures are prepared: add \"preprocessing\", a list "
                        "such as [{\"op\": \"rgb\"}, {\"op\": \"resize\", \"height\": %zu, "
                        "\"width\": %zu, \"filter\": \"bicubic\"}, {\"op\": \"normalize\", "
                        "\"mean\": [0.5], \"std\": [0.5]}]",
                        d->name, c->height, c->width);
    const vit_status status = check_size(d, c, error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < 3; i++)
        if (!(p->std[i] > 0))
            return vit_fail(
                error, VIT_ERROR_FORMAT,
                "%s: a standard deviation by which pixels are divided (\"std\", \"image_std\") "
                "is %g, expected above 0",
                d->name, p->std[i]);
    if (p->turns) add(out, (vit_operation){.kind = VIT_OP_ORIENT});
    add(out, (vit_operation){.kind = c->channels == 1 ? VIT_OP_GREY : VIT_OP_RGB});
    switch (p->kind) {
    case VIT_PREPARE_CENTER:
    case VIT_PREPARE_SQUASH:
    case VIT_PREPARE_BORDER:
        add_timm(out, p, c);
        break;
    case VIT_PREPARE_STRETCH:
    case VIT_PREPARE_SHORTER:
    case VIT_PREPARE_BIG_VISION:
        add_given(out, p, c);
        break;
    case VIT_PREPARE_UNKNOWN:
        break; /* refused above */
    }
    if (c->height != config->height || c->width != config->width)
        add(out,
            (vit_operation){.kind = VIT_OP_CROP, .height = config->height, .width = config->width});
    vit_operation normalize = {.kind = VIT_OP_NORMALIZE, .rescale = p->rescale, .fused = p->fused};
    for (size_t i = 0; i < 3; i++) {
        normalize.mean[i] = (float)p->mean[i];
        normalize.std[i] = (float)p->std[i];
    }
    add(out, normalize);
    return VIT_OK;
}
