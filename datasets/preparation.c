/* The size to which pictures of any sizes are brought, and how. */
#include "datasets/folders/tree.h"
#include "datasets/reader.h"
#include "vit/base/order.h"
#include "vit/base/sys.h"

#include <stdlib.h>
#include <string.h>

/* Sides of prepared pictures, which can be cut into 8 x 8 patches or into patches of 16 pixels. */
static const size_t sides[] = {32, 48, 64, 96, 128, 160, 224};
#define SIDES (sizeof sides / sizeof *sides)

#define SIDE_MULTIPLE 8
#define LEAST_SIDE 16
#define MOST_KEPT_SIDE 96

static vit_preparation preparation_of(size_t side) {
    /* Those of ImageNet, which are close to those of any colour photographs. */
    const vit_operation normalize = {.kind = VIT_OP_NORMALIZE,
                                     .mean = {0.485f, 0.456f, 0.406f},
                                     .std = {0.229f, 0.224f, 0.225f}};
    vit_preparation p = {.height = side, .width = side, .channels = 3};
    const vit_operation operations[] = {
        {.kind = VIT_OP_ORIENT},
        {.kind = VIT_OP_COMPOSITE, .background = {255, 255, 255}},
        {.kind = VIT_OP_RGB},
        {.kind = VIT_OP_RESIZE, .shorter = side, .filter = VIT_FILTER_BILINEAR},
        {.kind = VIT_OP_CENTER_CROP, .height = side, .width = side},
        normalize};
    p.preprocessing.count = sizeof operations / sizeof *operations;
    memcpy(p.preprocessing.operations, operations, sizeof operations);
    return p;
}

static size_t side_within(size_t shorter) {
    size_t side = sides[0];
    for (size_t i = 0; i < SIDES && sides[i] <= shorter; i++) side = sides[i];
    return side;
}

vit_preparation vit_square_preparation(size_t shorter) {
    return preparation_of(side_within(shorter));
}

/* The side of all pictures, if they are squares of the same size and it can be kept; else 0. */
static size_t common_side(const vit_tree_part *part) {
    size_t side = part->files[0].width;
    for (size_t i = 0; i < part->count; i++)
        if (part->files[i].width != side || part->files[i].height != side) return 0;
    bool is_kept = side >= LEAST_SIDE && side <= MOST_KEPT_SIDE && side % SIDE_MULTIPLE == 0;
    return is_kept ? side : 0;
}

/* *median = that of the shorter sides. */
static vit_status median_side(size_t *median, const vit_tree_part *part, vit_error *error) {
    size_t *all = vit_alloc(part->count, sizeof *all);
    if (!all) return vit_fail_memory(error, "sizes", part->count * sizeof *all);
    for (size_t i = 0; i < part->count; i++) {
        const vit_tree_file *file = &part->files[i];
        all[i] = file->width < file->height ? file->width : file->height;
    }
    qsort(all, part->count, sizeof *all, vit_compare_sizes);
    *median = all[part->count / 2];
    vit_free(all);
    return VIT_OK;
}

void vit_fitted_preparation(vit_preparation *p, size_t height, size_t width) {
    *p = preparation_of(height);
    if (height == width) return;
    p->width = width;
    for (size_t i = 0; i < p->preprocessing.count; i++) {
        vit_operation *o = &p->preprocessing.operations[i];
        if (o->kind == VIT_OP_RESIZE)
            *o = (vit_operation){.kind = VIT_OP_RESIZE,
                                 .height = height,
                                 .width = width,
                                 .filter = VIT_FILTER_BILINEAR};
        if (o->kind == VIT_OP_CENTER_CROP) o->width = width;
    }
}

vit_status vit_tree_choose(vit_preparation *out, const vit_tree *tree, const vit_dataset_options *o,
                           vit_error *error) {
    const vit_tree_part *part = tree->train.count > 0  ? &tree->train
                                : tree->test.count > 0 ? &tree->test
                                                       : &tree->val;
    if (o->height > 0) {
        vit_fitted_preparation(out, o->height, o->width);
        return VIT_OK;
    }
    size_t side = common_side(part), median = 0;
    if (side == 0) {
        vit_status status = median_side(&median, part, error);
        if (status != VIT_OK) return status;
        side = side_within(median);
    }
    *out = preparation_of(side);
    return VIT_OK;
}
