#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/image/digit/ink.h"
#include "vit/image/pixels.h"

#include <math.h>

/* Strokes are processed at this size, those of a tiny picture at a smaller one, with a margin into
 * which they may grow: a quarter. */
enum { LARGE = 160, SMALL = 96, MARGIN_PART = 4 };

/* The width of strokes in MNIST's training pictures as a part of the longer side: nine of ten
 * digits are between these. */
static const double thinnest = 0.075, thickest = 0.17;

/* Distances along a column are at most this: its square and another fit 16 bits together, and no
 * ink is as far from its edge. */
enum { FAR = 181 };
_Static_assert(2 * FAR * FAR <= UINT16_MAX && LARGE / 2 < FAR, "squared distances fit 16 bits");

typedef struct strokes {
    size_t margin;
    size_t width, height; /* margins included */
    uint8_t *is_ink;
    uint16_t *distance; /* squared, to the nearest pixel of the other kind, at most FAR^2 */
    uint16_t *row;      /* scratch: [FAR + width + FAR] */
} strokes;

/* A row one pixel further along the columns: 0 at a pixel of the other kind. */
static void step_down(uint16_t *restrict to, const uint16_t *from, const uint8_t *is_ink,
                      uint8_t kind, size_t width) {
    for (size_t x = 0; x < width; x++) {
        const uint16_t next = from[x] < FAR ? (uint16_t)(from[x] + 1) : FAR;
        const uint16_t here = is_ink[x] == kind ? next : 0;
        to[x] = here < to[x] ? here : to[x];
    }
}

/* distance = along the columns alone, not squared. */
static void column_distances(strokes *s, uint8_t kind) {
    const size_t w = s->width, h = s->height;
    for (size_t i = 0; i < w * h; i++) s->distance[i] = FAR;
    for (size_t y = 0; y < h; y++)
        step_down(s->distance + y * w, y > 0 ? s->distance + (y - 1) * w : s->row,
                  s->is_ink + y * w, kind, w);
    for (size_t y = h; y-- > 0;)
        step_down(s->distance + y * w, y + 1 < h ? s->distance + (y + 1) * w : s->row,
                  s->is_ink + y * w, kind, w);
}

/* least[x] = the smaller of it and of what the columns `offset` to the left and right give. Returns
 * the greatest. */
static uint16_t look_aside(uint16_t *restrict least, const uint16_t *squares, size_t offset,
                           size_t width) {
    const uint16_t *left = squares - offset, *right = squares + offset;
    const uint16_t added = (uint16_t)(offset * offset);
    uint16_t most = 0;
    for (size_t x = 0; x < width; x++) {
        const uint16_t nearer = left[x] < right[x] ? left[x] : right[x];
        const uint16_t there = (uint16_t)(nearer + added);
        least[x] = there < least[x] ? there : least[x];
        most = least[x] > most ? least[x] : most;
    }
    return most;
}

/* distance[i] = the exact squared distance to the nearest pixel of the other kind, or `most` if
 * that is less, for all pixels with is_ink == kind; 0 for others. First along columns, then the
 * smallest of column distance^2 + offset^2 in the row. */
static void distances(strokes *s, uint8_t kind, uint16_t most) {
    uint16_t *squares = s->row + FAR;
    for (size_t x = 0; x < s->width + 2 * FAR; x++) s->row[x] = FAR;
    column_distances(s, kind);
    for (size_t x = 0; x < s->width + 2 * FAR; x++) s->row[x] = FAR * FAR;
    for (size_t y = 0; y < s->height; y++) {
        uint16_t *least = s->distance + y * s->width, greatest = 0;
        for (size_t x = 0; x < s->width; x++) {
            squares[x] = (uint16_t)(least[x] * least[x]);
            least[x] = squares[x] < most ? squares[x] : most;
            greatest = least[x] > greatest ? least[x] : greatest;
        }
        for (size_t o = 1; o * o < greatest; o++)
            greatest = look_aside(least, squares, o, s->width);
    }
}

/* Four times the mean distance to the edge, which for a long stroke is its width. */
static double stroke_width(const strokes *s) {
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < s->width * s->height; i++) {
        if (!s->is_ink[i]) continue;
        sum += sqrt(s->distance[i]) - 0.5;
        count++;
    }
    return count ? 4 * sum / (double)count : 0;
}

/* By how much, g, the edges must move outwards so that strokes of width w in a digit of size l have
 * a width within MNIST's bounds: (w + 2 g) / (l + 2 g) = bound. */
static double growth(double w, double l, size_t margin) {
    const double bound = w < thinnest * l ? thinnest : thickest;
    if (w >= thinnest * l && w <= thickest * l) return 0;
    const double g = (bound * l - w) / (2 * (1 - bound));
    const double most = (double)margin - 4,
                 least = -w / 4; /* thin parts of strokes must not vanish */
    return g > most ? most : g < least ? least : g;
}

/* Draws the strokes with edges moved outwards by g and antialiased. The pixels of one kind change,
 * those near an edge. */
static void redraw(vit_image *out, strokes *s, double g) {
    const uint8_t kind = g < 0;
    const double reach = ceil(fabs(g)) + 1;
    const uint16_t most = (uint16_t)(reach * reach);
    if (kind == 0) distances(s, 0, most);
    for (size_t i = 0; i < s->width * s->height; i++) {
        out->pixels[i] = s->is_ink[i] ? 255 : 0;
        if (s->is_ink[i] != kind || s->distance[i] >= most) continue;
        const double to_edge = sqrt(s->distance[i]) - 0.5;
        const double inside = (kind ? to_edge : -to_edge) + g + 0.5;
        out->pixels[i] = (uint8_t)(inside <= 0 ? 0 : inside >= 1 ? 255 : (int)(inside * 255 + 0.5));
    }
}

/* Resizes so that the longer side becomes `longest`; the other has at least 1 pixel. */
static vit_status fit(vit_image *out, const vit_image *in, size_t longest, vit_filter filter,
                      const vit_kernels *kernels, vit_error *error) {
    const size_t w = in->width, h = in->height, longer = vit_max(w, h);
    const size_t width = (2 * w * longest + longer) / (2 * longer);
    const size_t height = (2 * h * longest + longer) / (2 * longer);
    return vit_image_resize(out, in, vit_max(width, 1), vit_max(height, 1), filter, kernels, error);
}

static vit_status crop_box(vit_image *out, const vit_image *in, const vit_bounds *b,
                           vit_error *error) {
    return vit_image_crop(out, in, (ptrdiff_t)b->left, (ptrdiff_t)b->top, b->right - b->left,
                          b->bottom - b->top, NULL, error);
}

/* Cuts out the box and resizes it to `side`. If it gets smaller, strokes are dilated before, so
 * that thin ones do not vanish. */
static vit_status enlarge_part(vit_image *out, size_t side, const vit_image *darkness,
                               const vit_bounds *box, const vit_kernels *kernels,
                               vit_error *error) {
    vit_image part;
    const size_t width = box->right - box->left, height = box->bottom - box->top;
    vit_status status = crop_box(&part, darkness, box, error);
    if (status == VIT_OK)
        status = vit_ink_widen(&part, vit_max(width, height) / (2 * side), kernels, error);
    if (status == VIT_OK) status = fit(out, &part, side, VIT_FILTER_BICUBIC, kernels, error);
    vit_image_free(&part);
    return status;
}

/* Sets is_ink: the ink, larger, with margins. */
static vit_status enlarge(strokes *s, const vit_image *darkness, const vit_ink *ink,
                          const vit_kernels *kernels, vit_error *error) {
    vit_image large = {0};
    const size_t longer = vit_max(ink->box.right - ink->box.left, ink->box.bottom - ink->box.top);
    const bool is_tiny = vit_max(darkness->width, darkness->height) < VIT_INK_LEAST;
    const size_t side = is_tiny && longer <= SMALL ? SMALL : LARGE;
    s->margin = side / MARGIN_PART;
    vit_status status = enlarge_part(&large, side, darkness, &ink->box, kernels, error);
    if (status == VIT_OK) {
        const size_t w = s->width = large.width + 2 * s->margin;
        const size_t h = s->height = large.height + 2 * s->margin;
        s->is_ink = vit_alloc(w * h, 1);
        s->distance = vit_alloc(w * h, sizeof *s->distance);
        s->row = vit_alloc(w + 2 * FAR, sizeof *s->row);
        if (!s->is_ink || !s->distance || !s->row)
            status = vit_fail_memory(error, "digit", w * h * sizeof *s->distance);
    }
    /* A lower threshold if strokes became lighter when they were resized. */
    const unsigned most = status != VIT_OK ? 0 : (3 * vit_ink_greatest(&large) + 3) / 4;
    const unsigned threshold = ink->threshold < most ? ink->threshold : most;
    for (size_t y = 0; status == VIT_OK && y < large.height; y++) {
        for (size_t x = 0; x < large.width; x++)
            s->is_ink[(y + s->margin) * s->width + x + s->margin] =
                large.pixels[y * large.width + x] >= threshold;
    }
    vit_image_free(&large);
    return status;
}

static vit_status draw(vit_image *out, strokes *s, size_t side, const vit_kernels *kernels,
                       vit_error *error) {
    vit_image drawn, part = {0};
    vit_status status = vit_image_new(&drawn, "digit", s->width, s->height, 1, error);
    if (status != VIT_OK) return status;
    distances(s, 1, FAR * FAR);
    const size_t longer = vit_max(s->width, s->height);
    const double g = growth(stroke_width(s), (double)(longer - 2 * s->margin), s->margin);
    redraw(&drawn, s, g);
    const vit_bounds box = vit_ink_box(&drawn, 128);
    status = crop_box(&part, &drawn, &box, error);
    if (status == VIT_OK) status = fit(out, &part, side, VIT_FILTER_BILINEAR, kernels, error);
    vit_image_free(&part);
    vit_image_free(&drawn);
    return status;
}

vit_status vit_ink_draw(vit_image *out, const vit_image *darkness, const vit_ink *ink, size_t side,
                        const vit_kernels *kernels, vit_error *error) {
    strokes s = {0};
    *out = (vit_image){0};
    vit_status status = enlarge(&s, darkness, ink, kernels, error);
    if (status == VIT_OK) status = draw(out, &s, side, kernels, error);
    vit_free(s.is_ink);
    vit_free(s.distance);
    vit_free(s.row);
    return status;
}
