#include "vit/image/digit/digit.h"
#include "vit/base/size.h"
#include "vit/image/digit/ink.h"

/* MNIST's digits were fitted into 20 x 20 pixels and placed with their centre of mass in the middle
 * of 28 x 28, on pixel 14. */
enum { SIZE = VIT_DIGIT_SIZE, BOX = 20, MIDDLE = 14 };

/* A picture of at most TINY pixels has less to show, and is searched at ENLARGED times its size. */
enum { TINY = 40, ENLARGED = 3 };

/* If the digit is smaller than 1 / SMALL_PART of the picture, its surroundings are searched again
 * at a larger scale: SEARCHES times altogether. */
enum { SMALL_PART = 3, SEARCHES = 2 };

/* ---- the centre of mass ---- */

typedef struct mass {
    uint64_t total; /* sum of the values of all pixels */
    uint64_t x, y;  /* sums of the values times the coordinates */
} mass;

static mass weigh(const vit_image *in) {
    mass m = {0};
    for (size_t y = 0; y < in->height; y++) {
        for (size_t x = 0; x < in->width; x++) {
            const uint8_t v = in->pixels[y * in->width + x];
            m.total += v;
            m.x += x * v;
            m.y += y * v;
        }
    }
    return m;
}

static bool is_centred(uint64_t moment, uint64_t total) {
    const uint64_t twice = 2 * moment;
    return twice + total / 10 >= (2 * MIDDLE - 1) * total &&
           twice <= (2 * MIDDLE + 1) * total + total / 10;
}

/* Whether the picture is like those of MNIST: light on black, a box of 20, centred to half a pixel
 * and a little, since pixels are rounded. */
static bool is_prepared(const vit_image *in) {
    if (in->width != SIZE || in->height != SIZE) return false;
    const mass m = weigh(in);
    const vit_bounds box = vit_ink_box(in, 1);
    return m.total > 0 && m.total < 255 * SIZE * SIZE / 2 &&
           vit_max(box.right - box.left, box.bottom - box.top) == BOX && is_centred(m.x, m.total) &&
           is_centred(m.y, m.total);
}

/* Where the drawn digit of `size` pixels must begin so that its centre of mass is in the middle. */
static size_t place(uint64_t moment, uint64_t total, size_t size) {
    const uint64_t centre = (2 * moment + total) / (2 * total);
    const size_t start = centre > MIDDLE ? 0 : MIDDLE - (size_t)centre;
    return start + size > SIZE ? SIZE - size : start;
}

static vit_status centre(vit_image *out, const vit_image *in, vit_error *error) {
    const mass m = weigh(in);
    const size_t left = place(m.x, m.total, in->width), top = place(m.y, m.total, in->height);
    return vit_image_crop(out, in, -(ptrdiff_t)left, -(ptrdiff_t)top, SIZE, SIZE, NULL, error);
}

/* ---- searching ---- */

/* *out = a part of the picture, resized for the search. */
static vit_status look(vit_image *out, const vit_image *grey, const vit_bounds *part,
                       const vit_kernels *kernels, vit_error *error) {
    const size_t w = part->right - part->left, h = part->bottom - part->top;
    const size_t longer = vit_max(w, h), least = longer > TINY ? VIT_INK_LEAST : ENLARGED * longer;
    const size_t side = vit_min(vit_max(longer, least), VIT_INK_SIDE);
    vit_image cropped;
    const size_t width = w * side / longer, height = h * side / longer;
    vit_status status = vit_image_crop(&cropped, grey, (ptrdiff_t)part->left, (ptrdiff_t)part->top,
                                       w, h, NULL, error);
    if (status == VIT_OK)
        status = vit_image_resize(out, &cropped, vit_max(width, 1), vit_max(height, 1),
                                  VIT_FILTER_BICUBIC, kernels, error);
    vit_image_free(&cropped);
    return status;
}

/* Widens a span of the small picture by its own length on both sides, and converts it to
 * coordinates of the large one. */
static void widen(size_t *start, size_t *end, size_t small, size_t large) {
    const size_t length = *end - *start;
    const size_t from = *start > length ? *start - length : 0;
    const size_t to = vit_min(*end + length, small);
    *start = from * large / small;
    *end = vit_ceil_div(to * large, small);
}

/* Narrows `part`, which `seen` shows, to the surroundings of the ink; false if the ink is large
 * enough already. */
static bool come_near(vit_bounds *part, const vit_ink *ink, const vit_image *seen) {
    const size_t width = ink->box.right - ink->box.left, height = ink->box.bottom - ink->box.top;
    const size_t longer = vit_max(width, height), side = vit_max(seen->width, seen->height);
    if (longer * SMALL_PART > side) return false;
    vit_bounds near = ink->box;
    const size_t grow = longer - width, more = longer - height; /* to a square, if there is room */
    near.left = near.left > grow / 2 ? near.left - grow / 2 : 0;
    near.right = vit_min(near.right + grow / 2, seen->width);
    near.top = near.top > more / 2 ? near.top - more / 2 : 0;
    near.bottom = vit_min(near.bottom + more / 2, seen->height);
    widen(&near.left, &near.right, seen->width, part->right - part->left);
    widen(&near.top, &near.bottom, seen->height, part->bottom - part->top);
    *part = (vit_bounds){near.left + part->left, near.top + part->top, near.right + part->left,
                         near.bottom + part->top};
    return true;
}

static vit_status find(vit_ink *ink, vit_image *darkness, const vit_image *grey,
                       const vit_kernels *kernels, vit_error *error) {
    vit_bounds part = {0, 0, grey->width, grey->height};
    vit_status status = VIT_OK;
    bool is_far = true;
    for (int i = 0; status == VIT_OK && is_far && i < SEARCHES; i++) {
        vit_image seen = {0};
        vit_image_free(darkness);
        status = look(&seen, grey, &part, kernels, error);
        if (status == VIT_OK) status = vit_ink_find(ink, darkness, &seen, kernels, error);
        is_far = status == VIT_OK && darkness->pixels && come_near(&part, ink, &seen);
        vit_image_free(&seen);
    }
    return status;
}

static vit_status prepare(vit_image *out, const vit_image *grey, const vit_kernels *kernels,
                          vit_error *error) {
    vit_image darkness = {0}, drawn = {0};
    vit_ink ink = {0};
    vit_status status = find(&ink, &darkness, grey, kernels, error);
    if (status == VIT_OK && darkness.pixels) {
        status = vit_ink_draw(&drawn, &darkness, &ink, BOX, kernels, error);
        if (status == VIT_OK) status = centre(out, &drawn, error);
    } else if (status == VIT_OK) {
        status = vit_image_resize(out, grey, SIZE, SIZE, VIT_FILTER_BILINEAR, kernels, error);
        out->warning = "no ink was found on the picture";
    }
    vit_image_free(&darkness);
    vit_image_free(&drawn);
    return status;
}

vit_status vit_image_digit(vit_image *out, const vit_image *in, const vit_kernels *kernels,
                           vit_error *error) {
    vit_image grey;
    *out = (vit_image){0};
    vit_status status = vit_image_convert(&grey, in, 1, error);
    if (status != VIT_OK) return status;
    if (is_prepared(&grey)) {
        *out = grey;
        return VIT_OK;
    }
    if (!kernels) kernels = vit_kernels_choose(VIT_CPU_AVX512);
    status = prepare(out, &grey, kernels, error);
    vit_image_free(&grey);
    return status;
}

const vit_digit_finder vit_digits_by_ink = {vit_image_digit};
