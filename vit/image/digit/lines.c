#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/image/digit/ink.h"

#include <string.h>

/* Printed lines are thin and run nearly straight over most of the picture. A path goes over ink
 * from row to row and may change its column only every few rows. The longest path through each
 * pixel is found by walking over the rows once in either direction; runs of ink in a row that long
 * paths go through are lines. Where other ink crosses a line it is thicker than the line, and
 * stays. Lines from left to right are found in the same way with rows and columns exchanged. */

enum { LEAST_PART = 45 }; /* the length of a line, in per cent of the picture */
_Static_assert((int)VIT_INK_SIDE <= VIT_PATH_ROWS, "paths go through the whole picture");

/* The paths of a row, a number for each pixel; before the first and after the last one there is
 * VIT_PATH_LOST. Words of 64 pixels without ink, to which no path leads, are passed over. */
typedef struct front {
    int16_t *straight; /* the path that ends here */
    int16_t *aside;    /* what it becomes in a neighbouring column of the next row, if it may */
    int16_t *end;      /* VIT_PATH_LOST if it must not go on without ink, else 0 */
    uint8_t *is_live;  /* [1 + words + 1]: whether there are any in a word */
} front;

static int16_t larger(int16_t a, int16_t b) {
    return a > b ? a : b;
}

/* A picture, as it is or turned, and where its ink is. */
typedef struct view {
    const vit_bits *ink;
    vit_bounds box;
    size_t width, height; /* of the picture */
    const vit_kernels *kernels;
} view;

static size_t least_length(const view *v) {
    return v->height * LEAST_PART / 100;
}

/* The widest that the median run of lines may be. */
static size_t most_width(const view *v) {
    return v->width / 30;
}

static int16_t walk_word(const vit_kernels *kernels, front to, front from, size_t x, uint64_t ink) {
    return kernels->walk(to.straight + x, to.aside + x, to.end + x, from.straight + x,
                         from.aside + x, from.end + x, ink);
}

static void lose(front f, size_t x, size_t count) {
    for (size_t i = x; i < x + count; i++) f.straight[i] = f.aside[i] = VIT_PATH_LOST;
}

/* Returns the largest path. None leaves the columns of the box. */
static int16_t walk_row(front to, front from, const view *v, size_t y) {
    const uint64_t *ink = v->ink->words + y * v->ink->row;
    int16_t most = 0;
    for (size_t i = v->box.left / 64; i * 64 < v->box.right; i++) {
        int16_t longest = VIT_PATH_LOST;
        if (ink[i] || from.is_live[i] || from.is_live[i + 1] || from.is_live[i + 2])
            longest = walk_word(v->kernels, to, from, 1 + 64 * i, ink[i]);
        else if (to.is_live[i + 1])
            lose(to, 1 + 64 * i, 64);
        to.is_live[i + 1] = longest > 0;
        most = larger(most, longest);
    }
    lose(to, v->box.left, 1);
    lose(to, 1 + v->box.right, 1);
    return most;
}

/* What is done with the paths of a row of ink. */
typedef void row_function(vit_ink_lines *lines, const view *v, size_t y, const int16_t *paths);

/* Walks over the rows of the box, up or down; the function is called for each. Returns the length
 * of the longest path. */
static size_t walk(vit_ink_lines *lines, const view *v, bool is_up, row_function *function) {
    const size_t words = v->ink->row, size = 64 * words + 2;
    front before = {lines->paths, lines->paths + size, lines->paths + 2 * size, lines->is_live};
    front now = before;
    int16_t most = 0;
    now.straight += 3 * size;
    now.aside += 3 * size;
    now.end += 3 * size;
    now.is_live += words + 2;
    lose(before, 0, size);
    lose(now, 0, size);
    memset(lines->is_live, 0, 2 * (words + 2));
    for (size_t i = 0; i < v->box.bottom - v->box.top; i++) {
        const size_t y = is_up ? v->box.bottom - 1 - i : v->box.top + i;
        most = larger(most, walk_row(now, before, v, y));
        function(lines, v, y, now.straight + 1);
        const front other = before;
        before = now;
        now = other;
    }
    return (size_t)most / VIT_PATH_ROW;
}

/* Keeps the paths where there is ink. */
static void keep_paths(vit_ink_lines *lines, const view *v, size_t y, const int16_t *paths) {
    const uint64_t *ink = v->ink->words + y * v->ink->row;
    for (size_t i = 0; i < v->ink->row; i++) {
        if (!ink[i]) continue;
        memcpy(lines->down + (y * v->ink->row + i) * 64, paths + 64 * i, 64 * sizeof *paths);
    }
}

/* Marks the ink whose paths from both sides are together long enough for a line. */
static void mark_long(vit_ink_lines *lines, const view *v, size_t y, const int16_t *paths) {
    const size_t first = y * v->ink->row;
    const int16_t least = (int16_t)least_length(v);
    for (size_t i = first; i < first + v->ink->row; i++, paths += 64) {
        const int16_t *down = lines->down + i * 64;
        uint8_t is_long[64];
        lines->is_long.words[i] = 0;
        if (!v->ink->words[i]) continue;
        for (size_t k = 0; k < 64; k++)
            is_long[k] = (int16_t)(down[k] / VIT_PATH_ROW + paths[k] / VIT_PATH_ROW) >= least;
        lines->is_long.words[i] = vit_bits_gather(is_long) & v->ink->words[i];
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
    if (median > most_width(v)) return 0; /* too thick for lines */
    marks m = {bits, median + median / 2 + 1};
    each_run(lines, v, mark_run, &m);
    return (total + v->height / 2) / v->height;
}

/* ---- whether there can be lines ---- */

/* Whether the ink is high enough for a line from top to bottom. */
static bool is_long_enough(const view *v) {
    return v->box.bottom - v->box.top + 2 * VIT_PATH_GAP >= least_length(v);
}

/* The pixels that are the first of their run, of a word and the one before. */
static uint64_t starts(uint64_t word, uint64_t before) {
    return word & ~(word << 1 | before >> 63);
}

/* The number of runs in a row that are not wider than `most`, which is less than 63: all, less
 * those of what is left where every pixel needs `most` more before it. */
static size_t thin_runs(const uint64_t *row, size_t words, size_t most) {
    uint64_t before[8] = {0}; /* the word before, as it was at each step */
    size_t count = 0;
    for (size_t i = 0; i < words; i++) {
        uint64_t word = row[i];
        size_t width = 1, step = 0;
        count += (size_t)__builtin_popcountll(starts(word, before[0]));
        for (size_t add; (add = vit_min(width, most + 1 - width)) > 0; width += add, step++) {
            const uint64_t beside = word << add | before[step] >> (64 - add);
            before[step] = word;
            word &= beside;
        }
        count -= (size_t)__builtin_popcountll(starts(word, before[step]));
        before[step] = word;
    }
    return count;
}

/* There is a line if runs of lines are half as many as rows, or more; half of them must be thin. */
static bool may_have_lines(const view *v) {
    size_t count = 0;
    if (!is_long_enough(v)) return false;
    for (size_t y = v->box.top; y < v->box.bottom && count * 4 < v->height; y++)
        count += thin_runs(v->ink->words + y * v->ink->row, v->ink->row, most_width(v));
    return count * 4 >= v->height;
}

/* ---- finding them ---- */

/* Marks the lines from top to bottom. Paths upwards are the same as those downwards, except for
 * rows without ink at their ends, so the second walk is needed only if the first finds a path of at
 * least half the length. */
static size_t find_lines(vit_ink_lines *lines, const view *v, vit_bits *bits) {
    const size_t longest = walk(lines, v, false, keep_paths);
    if (2 * longest + VIT_PATH_GAP < least_length(v)) return 0;
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
    out->down = vit_alloc_unset(longer * words, 64 * sizeof *out->down);
    out->paths = vit_alloc(6 * (64 * words + 2), sizeof *out->paths);
    out->is_live = vit_alloc(2 * (words + 2), 1);
    if (out->down && out->paths && out->is_live) return VIT_OK;
    return vit_fail_memory(error, "digit", longer * words * 64 * sizeof *out->down);
}

void vit_ink_lines_free(vit_ink_lines *lines) {
    vit_free(lines->marks.words);
    vit_free(lines->turned.words);
    vit_free(lines->turned_marks.words);
    vit_free(lines->is_long.words);
    vit_free(lines->down);
    vit_free(lines->paths);
    vit_free(lines->is_live);
}

static void clear(vit_bits *bits) {
    memset(bits->words, 0, bits->row * bits->height * sizeof *bits->words);
}

size_t vit_ink_find_lines(vit_ink_lines *lines, const vit_bits *ink, const vit_kernels *kernels) {
    const vit_bounds box = vit_bits_box(ink);
    const view down = {ink, box, ink->width, ink->height, kernels};
    const view across = {&lines->turned,
                         {box.top, box.left, box.bottom, box.right},
                         ink->height,
                         ink->width,
                         kernels};
    size_t found = 0;
    if (box.bottom == 0) return 0;
    if (is_long_enough(&across)) vit_bits_turn(&lines->turned, ink);
    if (!may_have_lines(&down) && !may_have_lines(&across)) return 0;
    clear(&lines->marks);
    if (is_long_enough(&across)) {
        clear(&lines->turned_marks);
        found = find_lines(lines, &across, &lines->turned_marks);
        vit_bits_turn(&lines->marks, &lines->turned_marks);
    }
    if (is_long_enough(&down)) found += find_lines(lines, &down, &lines->marks);
    return found;
}
