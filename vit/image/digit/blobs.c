#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/image/digit/ink.h"

#include <string.h>

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
    size_t area;    /* its pixels; 0: it has become a part of another blob */
    size_t rim;     /* those at its edge */
    size_t contact; /* those at the border of the picture */
    size_t whole;   /* itself, or the blob that it has become a part of, or one on the way there */
    double score;
    bool left, top, right, bottom; /* whether it touches these sides of the picture */
    bool chosen;
} blob;

/* Neighbouring pixels of a row. */
typedef struct run {
    uint16_t row, start, end;
    uint32_t blob;
} run;

/* ---- what a blob is worth ---- */

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
    return (double)b->edge * border_share(b) * (is_flat(&b->box) ? 0.02 : 1) *
           (is_patch(b) ? 0.05 : 1);
}

/* ---- finding them ---- */

/* The blob that this one is a part of. */
static size_t whole_of(blob *list, size_t i) {
    for (; list[i].whole != i; i = list[i].whole) list[i].whole = list[list[i].whole].whole;
    return i;
}

static void add(blob *to, const blob *b) {
    to->box =
        (vit_bounds){vit_min(to->box.left, b->box.left), vit_min(to->box.top, b->box.top),
                     vit_max(to->box.right, b->box.right), vit_max(to->box.bottom, b->box.bottom)};
    to->edge += b->edge;
    to->area += b->area;
    to->rim += b->rim;
    to->contact += b->contact;
}

/* Makes one of two blobs, the one that begins first. */
static void join(blob *list, size_t i, size_t k) {
    i = whole_of(list, i);
    k = whole_of(list, k);
    if (i == k) return;
    const size_t first = vit_min(i, k), second = vit_max(i, k);
    add(&list[first], &list[second]);
    list[second] = (blob){.whole = first};
}

/* The ink of a word with a neighbour that is none; there is nothing beyond the picture. */
static uint64_t edge_of(const vit_bits *ink, size_t y, size_t i) {
    const size_t bottom = vit_min(y + 1, ink->height - 1);
    const uint64_t inside = vit_bits_between(i, 0, ink->width);
    uint64_t beside = 0;
    for (size_t v = y ? y - 1 : 0; v <= bottom; v++) {
        const uint64_t *row = ink->words + v * ink->row, blank = ~row[i] & inside;
        beside |= blank | blank << 1 | blank >> 1;
        if (i > 0) beside |= ~row[i - 1] >> 63;
        if (i + 1 < ink->row) beside |= ~row[i + 1] << 63;
    }
    return ink->words[y * ink->row + i] & beside;
}

/* A blob of one run. */
static blob blob_of(const run *r, const vit_bits *ink, const vit_image *steps) {
    const size_t row = r->row, area = (size_t)(r->end - r->start);
    const size_t sides = (size_t)(r->start == 0) + (r->end == ink->width);
    blob b = {.box = {r->start, row, r->end, row + 1}, .area = area, .whole = r->blob};
    b.contact = row == 0 || row + 1 == ink->height ? area : vit_min(area, sides);
    for (size_t i = r->start / 64; i * 64 < r->end; i++) {
        const uint8_t *step = steps->pixels + row * ink->width + i * 64;
        uint64_t edge = edge_of(ink, row, i) & vit_bits_between(i, r->start, r->end);
        for (; edge; edge &= edge - 1, b.rim++) {
            const uint64_t here = step[vit_bits_first(edge)];
            b.edge += here * here;
        }
    }
    return b;
}

/* Appends a run that belongs to this blob; one that is new is appended, too. */
static vit_status append(vit_ink_blobs *all, const run *r, const blob *b, vit_error *error) {
    if (!VIT_MAKE_ROOM(all->runs, all->run_count, all->run_room, "digit", error))
        return VIT_ERROR_MEMORY;
    all->runs[all->run_count++] = *r;
    if (r->blob < all->count) {
        add(&all->list[r->blob], b);
        return VIT_OK;
    }
    if (!VIT_MAKE_ROOM(all->list, all->count, all->room, "digit", error)) return VIT_ERROR_MEMORY;
    all->list[all->count++] = *b;
    return VIT_OK;
}

/* Finds the runs of a row and joins them with those of the row above, which are runs above .. end -
 * 1, by sides or corners. */
static vit_status find_row(vit_ink_blobs *all, const vit_bits *ink, const vit_image *steps,
                           size_t y, size_t above, size_t end, vit_error *error) {
    vit_status status = VIT_OK;
    size_t from, to = 0;
    while (status == VIT_OK && vit_bits_run(ink->words + y * ink->row, ink->row, &from, &to)) {
        while (above < end && all->runs[above].end < from) above++;
        const bool is_new = above == end || all->runs[above].start > to;
        const size_t index = is_new ? all->count : whole_of(all->list, all->runs[above].blob);
        const run r = {(uint16_t)y, (uint16_t)from, (uint16_t)to, (uint32_t)index};
        const blob b = blob_of(&r, ink, steps);
        status = append(all, &r, &b, error);
        for (size_t i = above; status == VIT_OK && i < end && all->runs[i].start <= to; i++)
            join(all->list, all->runs[i].blob, index);
    }
    return status;
}

static vit_status find_blobs(vit_ink_blobs *all, const vit_bits *ink, const vit_image *steps,
                             vit_error *error) {
    vit_status status = VIT_OK;
    size_t above = 0;
    all->count = all->run_count = 0;
    for (size_t y = 0; status == VIT_OK && y < ink->height; y++) {
        const size_t end = all->run_count;
        status = find_row(all, ink, steps, y, above, end, error);
        above = end;
    }
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < all->run_count; i++)
        all->runs[i].blob = (uint32_t)whole_of(all->list, all->runs[i].blob);
    for (size_t i = 0; i < all->count; i++) {
        blob *b = &all->list[i];
        b->left = b->box.left == 0;
        b->top = b->box.top == 0;
        b->right = b->box.right == ink->width;
        b->bottom = b->box.bottom == ink->height;
        b->score = score(b);
    }
    return VIT_OK;
}

/* ---- which of them are the digit ---- */

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
static bool is_hollow(const vit_ink_blobs *all, size_t index) {
    const blob *b = &all->list[index];
    const size_t width = b->box.right - b->box.left, height = b->box.bottom - b->box.top;
    const size_t left = b->box.left + width / 4 + 1,
                 right = b->box.left + vit_ceil_div(3 * width, 4);
    size_t inside = 0;
    for (const run *r = all->runs; r < all->runs + all->run_count; r++) {
        const size_t row = r->row - b->box.top;
        if (r->blob != index || row * 4 <= height || row * 4 >= 3 * height) continue;
        const size_t start = vit_max(r->start, left), end = vit_min(r->end, right);
        inside += end > start ? end - start : 0;
    }
    return inside * 30 < b->area;
}

/* Whether the blob is a frame: the edge of the paper and its shadow surround what is written. */
static bool is_frame(const vit_ink_blobs *all, size_t index) {
    const blob *b = &all->list[index];
    bool has_content = false;
    for (size_t i = 0; !has_content && i < all->count; i++) {
        const blob *c = &all->list[i];
        has_content = is_around(&b->box, &c->box) && c->score * FRAMED_SCORE >= b->score &&
                      longer_side(&c->box) * FRAMED_SIZE >= longer_side(&b->box);
    }
    return has_content && is_hollow(all, index);
}

/* The blob with the best score that is no frame. */
static blob *find_best(vit_ink_blobs *all) {
    for (;;) {
        size_t best = 0;
        for (size_t i = 1; i < all->count; i++)
            if (all->list[i].score > all->list[best].score) best = i;
        blob *b = &all->list[best];
        if (b->score <= 0 || !is_frame(all, best)) return b;
        b->score = 0;
    }
}

/* Chooses the best blob, then all that belong to it. */
static void choose(vit_ink *out, vit_ink_blobs *all) {
    blob sum = *find_best(all);
    all->list[sum.whole].chosen = true;
    for (size_t i = 0; i < all->count; i++) {
        blob *b = &all->list[i];
        if (!belongs(&sum.box, sum.edge, b)) continue;
        if (is_around(&b->box, &sum.box) && is_hollow(all, i)) continue;
        b->chosen = true;
        sum.score += b->score;
        add(&sum, b);
        i = (size_t)-1; /* from the first again: others may be near the larger box */
    }
    out->box = sum.box;
    out->score = sum.score;
}

vit_status vit_ink_choose(vit_ink *out, vit_ink_blobs *blobs, const vit_bits *ink,
                          const vit_image *steps, unsigned threshold, vit_error *error) {
    *out = (vit_ink){.threshold = threshold};
    vit_status status = find_blobs(blobs, ink, steps, error);
    if (status == VIT_OK && blobs->count > 0) choose(out, blobs);
    return status;
}

void vit_ink_measure(vit_ink *out, const vit_ink_blobs *blobs, const vit_image *darkness) {
    size_t histogram[256] = {0}, above = 0;
    for (size_t i = 0; i < blobs->run_count; i++) {
        const run *r = &blobs->runs[i];
        if (!blobs->list[r->blob].chosen) continue;
        const uint8_t *row = darkness->pixels + r->row * darkness->width;
        for (size_t x = r->start; x < r->end; x++) histogram[row[x]]++;
        out->area += (size_t)(r->end - r->start);
    }
    out->peak = 255;
    while (out->peak > 0 && (above += histogram[out->peak]) * 10 < out->area) out->peak--;
}

void vit_ink_clear_others(vit_image *darkness, const vit_ink_blobs *blobs) {
    for (size_t i = 0; i < blobs->run_count; i++) {
        const run *r = &blobs->runs[i];
        if (blobs->list[r->blob].chosen) continue;
        memset(darkness->pixels + r->row * darkness->width + r->start, 0,
               (size_t)(r->end - r->start));
    }
}

void vit_ink_blobs_free(vit_ink_blobs *blobs) {
    vit_free(blobs->list);
    vit_free(blobs->runs);
}
