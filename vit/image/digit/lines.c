#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/image/digit/ink.h"

#include <string.h>

/* Printed lines are thin and run nearly straight over most of the picture. A path goes over ink
 * from row to row and may change its column only every few rows. The longest path through each
 * pixel is found by walking over the rows once in either direction; runs of ink in a row that long
 * paths go through are lines. Where other ink crosses a line it is thicker than the line, and
 * stays. Lines from left to right are found in the same way with rows and columns exchanged. */

enum {
    LEAST_PART = 45, /* the length of a line, in per cent of the picture */
    STEADY = 2,      /* rows that a path stays in its column before it may change it again */
    GAP = 3,         /* rows without ink that it may cross */
};

/* The longest path that ends in a pixel: its length in rows, the rows since it changed its column
 * (STEADY: at least these), and the rows without ink at its end. 0: there is none. Of two paths the
 * greater one is taken: the longer, then the one that went straight on, then the one from the left,
 * which LEFT marks while they are compared. */
enum { ROW = 32, STEP = 8, LEFT = 4, START = ROW + STEADY * STEP };
_Static_assert((int)GAP < LEFT && (STEADY + 1) * STEP <= ROW,
               "the parts of a path have their bits");
_Static_assert(VIT_INK_SIDE *ROW <= INT16_MAX, "a path may be as long as the picture");

/* Columns are processed 64 at a time, a word of ink. */
typedef struct lanes {
    uint16_t of[64];
} lanes;

/* lane = 0xffff where there is a one. */
static void spread(lanes *out, uint64_t word) {
    static const uint16_t bit[16] = {1 << 0,  1 << 1,  1 << 2,  1 << 3, 1 << 4,  1 << 5,
                                     1 << 6,  1 << 7,  1 << 8,  1 << 9, 1 << 10, 1 << 11,
                                     1 << 12, 1 << 13, 1 << 14, 1 << 15};
    for (size_t i = 0; i < 64; i += 16) {
        const uint16_t part = (uint16_t)(word >> i);
        for (size_t k = 0; k < 16; k++) out->of[i + k] = part & bit[k] ? 0xffff : 0;
    }
}

/* 0 if the path ends in as many rows without ink as it may, and there is none again. */
static inline int16_t alive(int16_t path, int16_t ink) {
    return (path & GAP) == GAP && !ink ? 0 : path;
}

static inline int16_t straight_on(int16_t path) {
    return path ? (int16_t)(path + ROW + STEP - ((path >> 1) & STEP)) : 0;
}

/* Into a neighbouring column. */
static inline int16_t aside(int16_t path) {
    return path & (STEADY * STEP) ? (int16_t)(path + ROW - STEADY * STEP) : 0;
}

static inline int16_t larger(int16_t a, int16_t b) {
    return a > b ? a : b;
}

/* to[0..64) = the paths that end in these pixels of a row, given those that end in the row before,
 * of which from[-1] and from[64] are read too. Returns the largest of them. */
static int16_t walk_word(int16_t *restrict to, const int16_t *restrict from, uint64_t word,
                         uint64_t inside) {
    lanes ink, in;
    int16_t most = 0;
    spread(&ink, word);
    spread(&in, inside);
    for (ptrdiff_t i = 0; i < 64; i++) {
        const int16_t is_ink = (int16_t)ink.of[i];
        const int16_t left = (int16_t)(aside(alive(from[i - 1], is_ink)) | LEFT);
        const int16_t right = aside(alive(from[i + 1], is_ink));
        const int16_t on = straight_on(alive(from[i], is_ink));
        const int16_t best = (int16_t)(larger(on, larger(left, right)) & ~LEFT);
        const int16_t with_ink = larger((int16_t)(best & ~GAP), START);
        const int16_t without = best ? (int16_t)(best + 1) : 0;
        to[i] = (int16_t)((is_ink ? with_ink : without) & in.of[i]);
        most = larger(most, to[i]);
    }
    return most;
}

/* A picture, as it is or turned, and where its ink is. */
typedef struct view {
    const vit_bits *ink;
    vit_bounds box;
    size_t width, height; /* of the picture */
} view;

static size_t least_length(const view *v) {
    return v->height * LEAST_PART / 100;
}

/* The paths of a row. paths: [1 + 64 words + 1]; is_live: [1 + words + 1], whether there are any
 * in a word. Words without ink, to which no path leads, are passed over. */
typedef struct front {
    int16_t *paths;
    uint8_t *is_live;
} front;

/* Returns the largest path. */
static int16_t walk_row(front to, front from, const view *v, size_t y) {
    const uint64_t *ink = v->ink->words + y * v->ink->row;
    int16_t most = 0;
    for (size_t i = v->box.left / 64; i * 64 < v->box.right; i++) {
        const bool may_go = from.is_live[i] | from.is_live[i + 1] | from.is_live[i + 2];
        int16_t longest = 0;
        if (ink[i] || may_go)
            longest = walk_word(to.paths + 1 + 64 * i, from.paths + 1 + 64 * i, ink[i],
                                vit_bits_between(i, v->box.left, v->box.right));
        else if (to.is_live[i + 1])
            memset(to.paths + 1 + 64 * i, 0, 64 * sizeof *to.paths);
        to.is_live[i + 1] = longest > 0;
        most = larger(most, longest);
    }
    return most;
}

/* What is done with the paths of a row of ink. */
typedef void row_function(vit_ink_lines *lines, const view *v, size_t y, const int16_t *paths);

/* Walks over the rows of the box, up or down; the function is called for each. Returns the length
 * of the longest path. */
static size_t walk(vit_ink_lines *lines, const view *v, bool is_up, row_function *function) {
    const size_t words = v->ink->row, size = 64 * words + 2;
    front before = {lines->paths, lines->is_live};
    front now = {lines->paths + size, lines->is_live + words + 2};
    int16_t most = 0;
    memset(lines->paths, 0, 2 * size * sizeof *lines->paths);
    memset(lines->is_live, 0, 2 * (words + 2));
    for (size_t i = 0; i < v->box.bottom - v->box.top; i++) {
        const size_t y = is_up ? v->box.bottom - 1 - i : v->box.top + i;
        most = larger(most, walk_row(now, before, v, y));
        function(lines, v, y, now.paths + 1);
        const front other = before;
        before = now;
        now = other;
    }
    return (size_t)most / ROW;
}

/* Keeps the lengths where there is ink. */
static void keep_lengths(vit_ink_lines *lines, const view *v, size_t y, const int16_t *paths) {
    const uint64_t *ink = v->ink->words + y * v->ink->row;
    for (size_t i = 0; i < v->ink->row; i++) {
        int16_t *to = lines->lengths + (y * v->ink->row + i) * 64;
        if (!ink[i]) continue;
        for (size_t k = 0; k < 64; k++) to[k] = paths[64 * i + k] / ROW;
    }
}

/* Marks the ink whose paths from both sides are together long enough for a line. */
static void mark_long(vit_ink_lines *lines, const view *v, size_t y, const int16_t *paths) {
    const uint64_t *ink = v->ink->words + y * v->ink->row;
    const int16_t least = (int16_t)least_length(v);
    for (size_t i = 0; i < v->ink->row; i++) {
        const int16_t *down = lines->lengths + (y * v->ink->row + i) * 64;
        uint64_t word = 0;
        for (uint64_t rest = ink[i]; rest; rest &= rest - 1) {
            const size_t k = vit_bits_first(rest);
            if (down[k] + paths[64 * i + k] / ROW >= least) word |= (uint64_t)1 << k;
        }
        lines->is_long.words[y * v->ink->row + i] = word;
    }
}

typedef void run_function(void *context, size_t y, size_t start, size_t end);

/* Calls the function for each run of ink in a row that a line goes through. Returns the number of
 * them. */
static size_t each_run(const vit_ink_lines *lines, const view *v, run_function *function,
                       void *context) {
    const size_t words = v->ink->row;
    size_t found = 0;
    for (size_t y = v->box.top; y < v->box.bottom; y++) {
        const uint64_t *ink = v->ink->words + y * words, *marked = lines->is_long.words + y * words;
        size_t start, end = 0;
        while (vit_bits_run(ink, words, &start, &end)) {
            uint64_t any = 0;
            for (size_t i = start / 64; i * 64 < end; i++)
                any |= marked[i] & vit_bits_between(i, start, end);
            if (!any) continue;
            function(context, y, start, end);
            found++;
        }
    }
    return found;
}

static void count_run(void *context, size_t y, size_t start, size_t end) {
    size_t *histogram = context;
    (void)y;
    histogram[end - start < 255 ? end - start : 255]++;
}

/* What is removed, and the most that a line may be wide. */
typedef struct marks {
    vit_bits *bits;
    size_t most;
} marks;

static void mark_run(void *context, size_t y, size_t start, size_t end) {
    const marks *m = context;
    if (end - start > m->most) return;
    for (size_t i = start / 64; i * 64 < end; i++)
        m->bits->words[y * m->bits->row + i] |= vit_bits_between(i, start, end);
}

/* Marks the runs that are no thicker than lines. Returns how many lines there are per row. */
static size_t mark_lines(vit_ink_lines *lines, const view *v, vit_bits *bits) {
    size_t histogram[256] = {0}, seen = 0, median = 0;
    const size_t total = each_run(lines, v, count_run, histogram);
    if (total == 0) return 0;
    while ((seen += histogram[median]) * 2 < total) median++;
    if (median * 30 > v->width) return 0; /* too thick for lines */
    marks m = {bits, median + median / 2 + 1};
    each_run(lines, v, mark_run, &m);
    return (total + v->height / 2) / v->height;
}

/* Whether the ink is high enough for a line from top to bottom. */
static bool is_long_enough(const view *v) {
    return v->box.bottom - v->box.top + 2 * GAP >= least_length(v);
}

/* Marks the lines from top to bottom. Paths upwards are the same as those downwards, except for
 * rows without ink at their ends, so the second walk is needed only if the first finds a path of at
 * least half the length. */
static size_t find_lines(vit_ink_lines *lines, const view *v, vit_bits *bits) {
    const size_t longest = walk(lines, v, false, keep_lengths);
    if (2 * longest + GAP < least_length(v)) return 0;
    walk(lines, v, true, mark_long);
    return mark_lines(lines, v, bits);
}

vit_status vit_ink_lines_new(vit_ink_lines *out, size_t width, size_t height, vit_error *error) {
    const size_t longer = vit_max(width, height), words = vit_ceil_div(longer, 64);
    *out = (vit_ink_lines){0};
    vit_status status = vit_bits_new(&out->marks, width, height, error);
    if (status == VIT_OK) status = vit_bits_new(&out->turned, height, width, error);
    if (status == VIT_OK) status = vit_bits_new(&out->turned_marks, height, width, error);
    if (status == VIT_OK) status = vit_bits_new(&out->is_long, longer, longer, error);
    if (status != VIT_OK) return status;
    out->lengths = vit_alloc_unset(longer * words, 64 * sizeof *out->lengths);
    out->paths = vit_alloc(2 * (64 * words + 2), sizeof *out->paths);
    out->is_live = vit_alloc(2 * (words + 2), 1);
    if (out->lengths && out->paths && out->is_live) return VIT_OK;
    return vit_fail_memory(error, "digit", longer * words * 64 * sizeof *out->lengths);
}

void vit_ink_lines_free(vit_ink_lines *lines) {
    vit_free(lines->marks.words);
    vit_free(lines->turned.words);
    vit_free(lines->turned_marks.words);
    vit_free(lines->is_long.words);
    vit_free(lines->lengths);
    vit_free(lines->paths);
    vit_free(lines->is_live);
}

static void clear(vit_bits *bits) {
    memset(bits->words, 0, bits->row * bits->height * sizeof *bits->words);
}

size_t vit_ink_find_lines(vit_ink_lines *lines, const vit_bits *ink) {
    const vit_bounds box = vit_bits_box(ink);
    const view down = {ink, box, ink->width, ink->height};
    const view across = {
        &lines->turned, {box.top, box.left, box.bottom, box.right}, ink->height, ink->width};
    size_t found = 0;
    if (box.bottom == 0) return 0;
    clear(&lines->marks);
    if (is_long_enough(&across)) {
        clear(&lines->turned_marks);
        vit_bits_turn(&lines->turned, ink);
        found = find_lines(lines, &across, &lines->turned_marks);
        if (found > 0) vit_bits_turn(&lines->marks, &lines->turned_marks);
    }
    if (is_long_enough(&down)) found += find_lines(lines, &down, &lines->marks);
    return found;
}
