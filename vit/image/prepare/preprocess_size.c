#include "vit/base/size.h"
#include "vit/image/digits.h"
#include "vit/image/prepare/preprocess.h"

#include <math.h>

/* Sizes of the network's input, before and after. */
typedef struct change {
    size_t height, width, new_height, new_width;
} change;

/* What a resize to `side` becomes when the network's input changes from `before` to `after`; share:
 * crop_share, or 0 to scale. Returns 0 for sizes beyond the limits. */
static size_t scale_side(size_t side, size_t before, size_t after, double share) {
    const double scaled =
        share > 0 ? floor((double)after / share) : (double)(side * after / before);
    return scaled >= 1 && scaled <= (double)VIT_IMAGE_MAX_SIDE ? (size_t)scaled : 0;
}

/* timm's rule: if the network's input is square, the shorter side is resized, else both are. */
static bool resize_at(vit_operation *op, const change *c) {
    const size_t old = vit_min(c->height, c->width);
    const bool is_square = c->new_height == c->new_width, was_shorter = op->shorter > 0;
    const bool covers_for_timm = op->fit == VIT_FIT_COVER && op->crop_share > 0;
    op->height = scale_side(was_shorter ? op->shorter : op->height, was_shorter ? old : c->height,
                            c->new_height, op->crop_share);
    op->width = scale_side(was_shorter ? op->shorter : op->width, was_shorter ? old : c->width,
                           c->new_width, op->crop_share);
    const bool is_possible = op->height > 0 && op->width > 0;
    op->shorter = 0;
    if (is_square && (was_shorter || covers_for_timm)) {
        op->shorter = op->height;
        op->height = op->width = 0;
        op->fit = VIT_FIT_STRETCH;
    } else if (was_shorter) {
        op->fit = VIT_FIT_COVER;
    }
    return is_possible;
}

vit_status vit_preprocessing_at(vit_preprocessing *p, size_t height, size_t width,
                                size_t new_height, size_t new_width, vit_error *error) {
    const change c = {height, width, new_height, new_width};
    vit_preprocessing changed = *p;
    for (size_t i = 0; i < p->count; i++) {
        vit_operation *op = &changed.operations[i];
        if (op->kind == VIT_OP_DIGIT)
            return vit_fail(error, VIT_ERROR_ARGUMENT,
                            "the model prepares digits of %d x %d pixels and takes no other size",
                            VIT_DIGIT_SIZE, VIT_DIGIT_SIZE);
        bool is_possible = true;
        if (op->kind == VIT_OP_RESIZE) is_possible = resize_at(op, &c);
        if (op->kind == VIT_OP_CENTER_CROP || op->kind == VIT_OP_CROP) {
            op->height = scale_side(op->height, height, new_height, 0);
            op->width = scale_side(op->width, width, new_width, 0);
            is_possible = op->height > 0 && op->width > 0;
        }
        if (!is_possible)
            return vit_fail(error, VIT_ERROR_ARGUMENT,
                            "the model's preprocessing cannot be scaled from %zu x %zu to %zu x "
                            "%zu: a side would be outside 1 to %zu",
                            height, width, new_height, new_width, VIT_IMAGE_MAX_SIDE);
    }
    *p = changed;
    return VIT_OK;
}

vit_status vit_preprocessing_turn(vit_preprocessing *p, bool turns, vit_error *error) {
    vit_preprocessing changed = {.operations = {{.kind = VIT_OP_ORIENT}}, .count = turns};
    size_t turned = 0;
    for (size_t i = 0; i < p->count; i++) turned += p->operations[i].kind == VIT_OP_ORIENT;
    if (turns && turned > 0) return VIT_OK;
    if (turns && p->count == VIT_MAX_OPERATIONS)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "the model's preprocessing has %d operations, the most there may be, and "
                        "no room to turn pictures",
                        VIT_MAX_OPERATIONS);
    for (size_t i = 0; i < p->count; i++)
        if (p->operations[i].kind != VIT_OP_ORIENT)
            changed.operations[changed.count++] = p->operations[i];
    *p = changed;
    return VIT_OK;
}
