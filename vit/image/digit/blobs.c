#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/image/digit/ink.h"

vit_bounds vit_ink_box(const vit_image *image, unsigned threshold) {
    const size_t w = image->width, h = image->height;
    vit_bounds box = {.left = w, .top = h};
    for (size_t y = 0; y < h; y++) {
        const uint8_t *row = image->pixels + y * w;
        size_t first = 0, end = w;
        while (first < w && row[first] < threshold) first++;
        if (first == w) continue;
        while (row[end - 1] < threshold) end--;
        box.left = vit_min(box.left, first);
        box.right = vit_max(box.right, end);
        box.top = vit_min(box.top, y);
        box.bottom = y + 1;
    }
    return box;
}

/* A set of connected pixels. */
typedef struct blob {
    vit_bounds box;
    uint64_t edge;  /* how long and sharp its edge is: the sum of squared steps along it */
    size_t area;    /* its pixels */
    size_t rim;     /* those at its edge */
    size_t contact; /* those at the border of the picture */
    bool left, top, right, bottom; /* whether it touches these sides of the picture */
    bool chosen, is_frame;
} blob;

typedef struct blobs {
    blob *list; /* label l is list[l - 1] */
    size_t count, room;
    size_t width, height;
} blobs;

/* The blob of all pixels that are connected with pixel `start` by sides or corners; they get the
 * label. */
static blob fill(const vit_ink_map *map, unsigned threshold, uint32_t *labels, uint32_t *queue,
                 size_t start, uint32_t label) {
    const vit_image *darkness = &map->darkness;
    const size_t width = darkness->width, height = darkness->height;
    blob b = {.box = {.left = width, .top = height}};
    size_t head = 0, tail = 0;
    queue[tail++] = (uint32_t)start;
    labels[start] = label;
    while (head < tail) {
        const size_t at = queue[head++], x = at % width, y = at / width;
        bool is_edge = false;
        b.box.left = vit_min(b.box.left, x);
        b.box.top = vit_min(b.box.top, y);
        b.box.right = vit_max(b.box.right, x + 1);
        b.box.bottom = vit_max(b.box.bottom, y + 1);
        b.contact += x == 0 || y == 0 || x == width - 1 || y == height - 1;
        const size_t bottom = vit_min(y + 1, height - 1), right = vit_min(x + 1, width - 1);
        for (size_t v = y ? y - 1 : 0; v <= bottom; v++) {
            for (size_t u = x ? x - 1 : 0; u <= right; u++) {
                const size_t next = v * width + u;
                const bool is_out = darkness->pixels[next] < threshold;
                is_edge |= is_out;
                if (labels[next] || is_out) continue;
                labels[next] = label;
                queue[tail++] = (uint32_t)next;
            }
        }
        const uint64_t step = map->steps.pixels[at];
        if (is_edge) b.edge += step * step;
        b.rim += is_edge;
    }
    b.area = tail;
    b.left = b.box.left == 0;
    b.top = b.box.top == 0;
    b.right = b.box.right == width;
    b.bottom = b.box.bottom == height;
    return b;
}

static vit_status find_blobs(blobs *all, const vit_ink_map *map, unsigned threshold,
                             uint32_t *labels, uint32_t *queue, vit_error *error) {
    const vit_image *darkness = &map->darkness;
    const size_t count = darkness->width * darkness->height;
    *all = (blobs){.width = darkness->width, .height = darkness->height};
    for (size_t i = 0; i < count; i++) labels[i] = 0;
    for (size_t i = 0; i < count; i++) {
        if (labels[i] || darkness->pixels[i] < threshold) continue;
        blob *list = vit_make_room(all->list, all->count, &all->room, sizeof *list, "digit", error);
        if (!list) return VIT_ERROR_MEMORY;
        all->list = list;
        list[all->count] = fill(map, threshold, labels, queue, i, (uint32_t)all->count + 1);
        all->count++;
    }
    return VIT_OK;
}

/* ---- which of them are the digit ---- */

static size_t longer_side(const vit_bounds *b) {
    return vit_max(b->right - b->left, b->bottom - b->top);
}

/* A factor of the score for blobs at the border of the picture. One that the border cuts off over a
 * long distance is the table or a hand. A digit may touch the border, but what goes from one side
 * to the opposite one is more likely a line or the edge of the paper. */
static double border_share(const blob *b) {
    const size_t half = b->box.right - b->box.left + b->box.bottom - b->box.top;
    if (b->contact * 4 > half) return 0.002;
    if ((b->left && b->right) || (b->top && b->bottom)) return 0.5;
    return b->left || b->right || b->top || b->bottom ? 0.7 : 1;
}

/* Strokes are narrower than 1 / PATCH_PART of the digit. */
enum { PATCH_PART = 3 };

/* Digits are seldom wider than high; lines of print and underlines are. */
static bool is_flat(const vit_bounds *b) {
    return b->right - b->left > 3 * (b->bottom - b->top);
}

/* The width of a stroke is twice its area divided by the length of its rim. If that is a large part
 * of its box, the blob is a patch: a shadow, a corner of the table. */
static bool is_patch(const blob *b) {
    return 2 * b->area * PATCH_PART > b->rim * longer_side(&b->box);
}

/* A digit has long and sharp edges (shadows have no sharp ones) and is away from the border. */
static double score(const blob *b) {
    if (b->is_frame) return 0;
    return (double)b->edge * border_share(b) * (is_flat(&b->box) ? 0.02 : 1) *
           (is_patch(b) ? 0.05 : 1);
}

/* The distance of two intervals. */
static size_t gap(size_t a_start, size_t a_end, size_t b_start, size_t b_end) {
    if (b_start > a_end) return b_start - a_end;
    return a_start > b_end ? a_start - b_end : 0;
}

/* Whether a separate blob is a part of the digit, whose box and edge so far these are: it is near,
 * more than a speck, not much longer than the rest, and no underline. */
static bool belongs(const vit_bounds *box, uint64_t edge, const blob *b) {
    const size_t reach = longer_side(box) / 4;
    const bool is_underline = is_flat(&b->box) && b->box.top + reach / 2 >= box->bottom;
    return !b->chosen && b->edge * 16 > edge && border_share(b) > 0.2 && !is_underline &&
           longer_side(&b->box) <= 2 * longer_side(box) &&
           gap(box->left, box->right, b->box.left, b->box.right) <= reach &&
           gap(box->top, box->bottom, b->box.top, b->box.bottom) <= reach;
}

/* ---- frames ---- */

/* A blob inside a frame is the digit if its size and score are at least these parts (1 / 12, 1 /
 * 40) of those of the frame. */
enum { FRAMED_SIZE = 12, FRAMED_SCORE = 40 };

static bool is_around(const vit_bounds *frame, const vit_bounds *b) {
    return b->left > frame->left && b->top > frame->top && b->right < frame->right &&
           b->bottom < frame->bottom;
}

/* Whether less than a thirtieth of the blob is in the middle half of its box. */
static bool is_hollow(const blob *b, uint32_t label, const blobs *all, const uint32_t *labels) {
    const size_t width = b->box.right - b->box.left, height = b->box.bottom - b->box.top;
    size_t total = 0, inside = 0;
    for (size_t y = b->box.top; y < b->box.bottom; y++) {
        for (size_t x = b->box.left; x < b->box.right; x++) {
            if (labels[y * all->width + x] != label) continue;
            const size_t u = x - b->box.left, v = y - b->box.top;
            total++;
            inside += u * 4 > width && u * 4 < 3 * width && v * 4 > height && v * 4 < 3 * height;
        }
    }
    return inside * 30 < total;
}

/* Whether the blob is a frame: the edge of the paper and its shadow surround what is written. */
static bool is_frame(const blob *b, uint32_t label, const blobs *all, const uint32_t *labels) {
    bool has_content = false;
    for (size_t i = 0; !has_content && i < all->count; i++) {
        const blob *c = &all->list[i];
        has_content = is_around(&b->box, &c->box) && score(c) * FRAMED_SCORE >= score(b) &&
                      longer_side(&c->box) * FRAMED_SIZE >= longer_side(&b->box);
    }
    return has_content && is_hollow(b, label, all, labels);
}

/* The blob with the best score that is no frame. */
static blob *find_best(blobs *all, const uint32_t *labels) {
    for (;;) {
        size_t best = 0;
        for (size_t i = 1; i < all->count; i++)
            if (score(&all->list[i]) > score(&all->list[best])) best = i;
        blob *b = &all->list[best];
        if (score(b) <= 0 || !is_frame(b, (uint32_t)best + 1, all, labels)) return b;
        b->is_frame = true;
    }
}

/* Chooses the best blob, then all that belong to it. */
static void choose(vit_ink *out, blobs *all, const uint32_t *labels) {
    blob *best = find_best(all, labels);
    best->chosen = true;
    out->box = best->box;
    out->score = score(best);
    uint64_t edge = best->edge;
    for (size_t i = 0; i < all->count; i++) {
        blob *b = &all->list[i];
        if (!belongs(&out->box, edge, b)) continue;
        if (is_around(&b->box, &out->box) && is_hollow(b, (uint32_t)i + 1, all, labels)) continue;
        b->chosen = true;
        out->box = (vit_bounds){
            vit_min(out->box.left, b->box.left), vit_min(out->box.top, b->box.top),
            vit_max(out->box.right, b->box.right), vit_max(out->box.bottom, b->box.bottom)};
        out->score += score(b);
        edge += b->edge;
        i = (size_t)-1; /* from the first again: others may be near the larger box */
    }
}

/* Sets area and peak, of the pixels with label 1. */
static void measure(vit_ink *out, const vit_image *darkness, const uint32_t *labels) {
    const size_t count = darkness->width * darkness->height;
    size_t histogram[256] = {0}, above = 0;
    for (size_t i = 0; i < count; i++) {
        if (labels[i] != 1) continue;
        histogram[darkness->pixels[i]]++;
        out->area++;
    }
    out->peak = 255;
    while (out->peak > 0 && (above += histogram[out->peak]) * 10 < out->area) out->peak--;
}

vit_status vit_ink_choose(vit_ink *out, const vit_ink_map *map, unsigned threshold,
                          uint32_t *labels, uint32_t *queue, vit_error *error) {
    const vit_image *darkness = &map->darkness;
    blobs all;
    *out = (vit_ink){.threshold = threshold};
    vit_status status = find_blobs(&all, map, threshold, labels, queue, error);
    if (status == VIT_OK && all.count > 0) {
        choose(out, &all, labels);
        for (size_t i = 0; i < darkness->width * darkness->height; i++)
            labels[i] = labels[i] ? (all.list[labels[i] - 1].chosen ? 1 : 2) : 0;
        measure(out, darkness, labels);
    }
    vit_free(all.list);
    return status;
}
