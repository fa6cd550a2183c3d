#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/image/digit/ink.h"

#include <string.h>

/* Printed lines are thin and run nearly straight over most of the picture. A path goes over ink
 * from column to column and may change its row only every few columns. The longest path through
 * each pixel is found by walking over the columns once in either direction; the pixels of long
 * paths are lines. Where other ink crosses a line it is thicker than the line, and stays. Vertical
 * lines are found in the same way with rows and columns exchanged. */

enum {
    LEAST_PART = 45, /* the length of a line, in per cent of the picture */
    STEADY = 2,      /* columns that a path stays in its row before it may change it again */
    GAP = 3,         /* columns without ink that it may cross */
};

/* The longest path that ends in a pixel. */
typedef struct path {
    uint16_t length; /* in columns */
    uint8_t steady;  /* columns since it changed its row */
    uint8_t gap;     /* columns without ink at its end */
} path;

/* The part of the picture that has ink, as it is or with rows and columns exchanged. */
typedef struct view {
    const uint8_t *darkness;
    uint8_t *marks; /* 1 for pixels of lines */
    size_t start;   /* the index of the first pixel */
    size_t width, height;
    size_t step_x, step_y;          /* from column to column, from row to row */
    size_t full_width, full_height; /* of the whole picture */
    unsigned threshold;
} view;

/* The index of a pixel. */
static size_t place(const view *v, size_t x, size_t y) {
    return v->start + x * v->step_x + y * v->step_y;
}

static size_t least_length(const view *v) {
    return v->full_width * LEAST_PART / 100;
}

/* *best = the path `from` extended to a pixel of the next column, if that is longer. is_turn: the
 * pixel is in another row. */
static void extend(path *best, const path *from, bool is_ink, bool is_turn) {
    if (from->length == 0 || (is_turn && from->steady < STEADY)) return;
    path next = {.length = (uint16_t)(from->length + 1), .gap = 0};
    next.steady = is_turn ? 0 : (uint8_t)(from->steady < STEADY ? from->steady + 1 : STEADY);
    if (!is_ink) next.gap = (uint8_t)(from->gap + 1);
    if (next.gap > GAP || next.length <= best->length) return;
    *best = next;
}

/* `to` = the paths that end in column x, given those that end in the column before. */
static void walk_column(path *to, const path *from, const view *v, size_t x) {
    for (size_t y = 0; y < v->height; y++) {
        const bool is_ink = v->darkness[place(v, x, y)] >= v->threshold;
        path best = {.length = is_ink ? 1 : 0, .steady = STEADY};
        extend(&best, &from[y], is_ink, false);
        if (y > 0) extend(&best, &from[y - 1], is_ink, true);
        if (y + 1 < v->height) extend(&best, &from[y + 1], is_ink, true);
        to[y] = best;
    }
}

/* Adds the length of the longest path from the left, or from the right, to each pixel's lengths.
 * Returns the largest. */
static size_t walk(uint16_t *lengths, path *columns, const view *v, bool from_right) {
    path *before = columns, *now = columns + v->height;
    size_t longest = 0;
    memset(columns, 0, v->height * sizeof *columns);
    for (size_t i = 0; i < v->width; i++) {
        const size_t x = from_right ? v->width - 1 - i : i;
        walk_column(now, before, v, x);
        for (size_t y = 0; y < v->height; y++) {
            lengths[place(v, x, y)] = (uint16_t)(lengths[place(v, x, y)] + now[y].length);
            if (now[y].length > longest) longest = now[y].length;
        }
        path *other = before;
        before = now;
        now = other;
    }
    return longest;
}

typedef void run_function(void *context, const view *v, size_t x, size_t top, size_t length);

/* Calls the function for each vertical run of ink in column x that a line goes through. Returns the
 * number of them. */
static size_t each_run(const view *v, const uint16_t *lengths, size_t x, run_function *function,
                       void *context) {
    const size_t least = least_length(v);
    size_t top = 0, found = 0;
    bool is_line = false, is_in = false;
    for (size_t y = 0; y <= v->height; y++) {
        const size_t at = place(v, x, y);
        const bool is_ink = y < v->height && v->darkness[at] >= v->threshold;
        if (is_ink && !is_in) {
            top = y;
            is_line = false;
        }
        is_line |= is_ink && lengths[at] >= least;
        if (!is_ink && is_in && is_line) {
            function(context, v, x, top, y - top);
            found++;
        }
        is_in = is_ink;
    }
    return found;
}

static void count_run(void *context, const view *v, size_t x, size_t top, size_t length) {
    size_t *histogram = context;
    (void)v;
    (void)x;
    (void)top;
    histogram[length < 255 ? length : 255]++;
}

static void mark_run(void *context, const view *v, size_t x, size_t top, size_t length) {
    const size_t *most = context;
    for (size_t y = top; length <= *most && y < top + length; y++) v->marks[place(v, x, y)] = 1;
}

/* Marks the runs that are no thicker than lines. Returns how many lines there are per column. */
static size_t mark_lines(const view *v, const uint16_t *lengths) {
    size_t histogram[256] = {0}, total = 0, seen = 0, median = 0;
    for (size_t x = 0; x < v->width; x++) total += each_run(v, lengths, x, count_run, histogram);
    if (total == 0) return 0;
    while ((seen += histogram[median]) * 2 < total) median++;
    if (median * 30 > v->full_height) return 0; /* too thick for lines */
    size_t most = median + median / 2 + 1;
    for (size_t x = 0; x < v->width; x++) each_run(v, lengths, x, mark_run, &most);
    return (total + v->full_width / 2) / v->full_width;
}

/* Marks the lines from left to right. Paths from the right are the same as those from the left,
 * except for columns without ink at their ends, so the second walk is needed only if the first
 * finds a path of at least half the length. */
static size_t find_lines(const view *v, uint16_t *lengths, path *columns) {
    if (v->width + 2 * GAP < least_length(v)) return 0;
    memset(lengths, 0, v->full_width * v->full_height * sizeof *lengths);
    const size_t longest = walk(lengths, columns, v, false);
    if (2 * longest + GAP < least_length(v)) return 0;
    walk(lengths, columns, v, true);
    return mark_lines(v, lengths);
}

static size_t find_all_lines(uint8_t *marks, const vit_image *darkness, const vit_bounds *box,
                             unsigned threshold, uint16_t *lengths, path *columns) {
    const size_t w = darkness->width, h = darkness->height;
    const size_t width = box->right - box->left, height = box->bottom - box->top;
    view v = {.darkness = darkness->pixels, .marks = marks, .threshold = threshold};
    v.start = box->top * w + box->left;
    view turned = v;
    v.full_width = turned.full_height = w;
    v.full_height = turned.full_width = h;
    v.width = turned.height = width;
    v.height = turned.width = height;
    v.step_x = turned.step_y = 1;
    v.step_y = turned.step_x = w;
    return find_lines(&v, lengths, columns) + find_lines(&turned, lengths, columns);
}

vit_status vit_ink_remove_lines(size_t *lines, vit_image *darkness, unsigned threshold,
                                vit_error *error) {
    const size_t w = darkness->width, h = darkness->height;
    const vit_bounds box = vit_ink_box(darkness, threshold);
    *lines = 0;
    if (box.bottom == 0) return VIT_OK;
    uint16_t *lengths = vit_alloc(w * h, sizeof *lengths);
    uint8_t *marks = vit_alloc(w * h, 1);
    path *columns = vit_alloc(2 * vit_max(w, h), sizeof *columns);
    const bool is_ready = lengths && marks && columns;
    if (is_ready) *lines = find_all_lines(marks, darkness, &box, threshold, lengths, columns);
    for (size_t i = 0; *lines > 0 && i < w * h; i++)
        if (marks[i]) darkness->pixels[i] = 0;
    vit_free(lengths);
    vit_free(marks);
    vit_free(columns);
    return is_ready ? VIT_OK : vit_fail_memory(error, "digit", w * h * sizeof *lengths);
}
