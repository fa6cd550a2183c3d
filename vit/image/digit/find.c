#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/image/digit/ink.h"

#include <string.h>

/* Ink is darker than its background by at least a twentieth (13 of 255) and by this multiple of the
 * noise. */
enum { LEAST_DARKNESS = 13, NOISE_FACTOR = 6 };

/* The picture is searched for narrow strokes, then for wide ones. */
static const struct {
    size_t reach; /* half the width that strokes may have, in thousandths of the mean side */
    double trust; /* factor of the score: narrow things are more likely strokes */
} readings[] = {{30, 1}, {100, 0.9}};

/* A digit has fewer long straight lines than this; this many or more are printed. */
enum { PRINTED_LINES = 3 };

/* A light sheet on a dark table has longer edges than the ink on it, so that its score is larger,
 * by up to SHEET_EDGE times. A sheet fills at least SHEET_FILL per cent of its box, the ink on it
 * less than SHEET_INK per cent. */
enum { SHEET_EDGE = 100, SHEET_FILL = 60, SHEET_INK = 12 };

/* The best so far as dark ink, or as light ink. */
typedef struct finding {
    vit_ink ink;
    vit_ink_map map;
    vit_bits marks; /* the printed lines that were removed for it, if ink.lines > 0 and is_bare */
    bool is_bare;
    bool is_here; /* its map is still that of the search */
} finding;

/* The state of a search, and the pictures that it has. */
enum { PLANES = 11 };

typedef struct search {
    const vit_kernels *kernels;
    vit_image smooth; /* the smoothed picture, or its negative */
    vit_image steps;  /* its steps */
    unsigned grain;   /* what of them is due to grain: twice the median */
    vit_ink_map map;  /* of the current reading */
    double trust;
    vit_bits ink, bare; /* of the current attempt, and without printed lines */
    vit_ink_lines lines;
    vit_ink_blobs blobs;
    vit_image ground, scratch[2];
    uint8_t *memory, *planes; /* of all pictures; what is left of it */
    finding found[2];
} search;

/* A binomial filter, 1 2 1 by 1 2 1; the border is copied. */
static void smooth(vit_image *out, const vit_image *in) {
    const size_t w = in->width, h = in->height;
    memcpy(out->pixels, in->pixels, w * h);
    for (size_t y = 1; y + 1 < h; y++) {
        const uint8_t *row = in->pixels + y * w, *above = row - w, *below = row + w;
        uint8_t *restrict to = out->pixels + y * w;
        for (size_t x = 1; x + 1 < w; x++) {
            const unsigned edges = above[x] + below[x] + (unsigned)row[x - 1] + row[x + 1];
            const unsigned corners =
                above[x - 1] + (unsigned)above[x + 1] + below[x - 1] + below[x + 1];
            to[x] = (uint8_t)((4U * row[x] + 2 * edges + corners + 8) >> 4);
        }
    }
}

/* Whether a score of at most `limit` cannot win. Light ink must be better than dark ink, too. */
static bool is_beaten(const search *s, bool is_light, uint64_t limit) {
    const double score = (double)limit * s->trust;
    return score <= s->found[is_light].ink.score || score <= s->found[0].ink.score;
}

/* Chooses the digit among the ink, the whole or the bare, and keeps it if it is better than what
 * was found before. */
static vit_status try_ink(search *s, bool is_bare, size_t lines, bool is_light, unsigned threshold,
                          vit_error *error) {
    finding *best = &s->found[is_light];
    vit_ink ink;
    vit_status status = vit_ink_choose(&ink, &s->blobs, is_bare ? &s->bare : &s->ink, &s->map.steps,
                                       threshold, error);
    ink.score *= s->trust;
    ink.lines = lines;
    if (status != VIT_OK || ink.score <= best->ink.score) return status;
    vit_ink_measure(&ink, &s->blobs, &s->map.darkness);
    best->ink = ink;
    best->is_bare = is_bare;
    best->is_here = true;
    if (is_bare) vit_bits_copy(&best->marks, &s->lines.marks);
    return VIT_OK;
}

/* Tries rising thresholds, without and with printed lines, as long as there may be anything better
 * than what was found. Fewer lines are found at higher thresholds, where they break into pieces, so
 * the largest number counts. */
static vit_status try_thresholds(search *s, bool is_light, unsigned least, vit_error *error) {
    vit_ink_limits limits;
    size_t printed = 0;
    vit_status status = vit_ink_limit(&limits, &s->map, &s->ink, error);
    for (unsigned t = least; status == VIT_OK && t <= limits.greatest; t += t / 2) {
        if (is_beaten(s, is_light, limits.all[t])) break;
        if (t > least) vit_bits_of(&s->ink, &s->map.darkness, t);
        const size_t lines = vit_ink_find_lines(&s->lines, &s->ink, s->kernels);
        if (lines > printed) printed = lines;
        if (lines > 0) {
            vit_bits_without(&s->bare, &s->ink, &s->lines.marks);
            status = try_ink(s, true, printed, is_light, t, error);
        }
        const bool is_tried = lines == 0 || printed < PRINTED_LINES;
        if (status == VIT_OK && is_tried && !is_beaten(s, is_light, limits.edge[t]))
            status = try_ink(s, false, printed, is_light, t, error);
    }
    return status;
}

/* Keeps the map of what was found in this reading; the next reading overwrites the search's own. */
static void keep_map(search *s, finding *best) {
    if (!best->is_here) return;
    const vit_ink_map map = best->map;
    best->map = s->map;
    s->map = map;
    best->is_here = false;
}

static vit_status try_reading(search *s, size_t which, bool is_light, vit_error *error) {
    const size_t sides = s->smooth.width + s->smooth.height;
    const size_t reach = sides * readings[which].reach / 2000 + 1;
    unsigned noise = 0;
    vit_status status = vit_ink_darken(&s->map.darkness, &s->ground, &noise, &s->smooth, reach,
                                       s->scratch, s->kernels, error);
    const unsigned least = (unsigned)vit_max(noise * NOISE_FACTOR, LEAST_DARKNESS);
    s->trust = readings[which].trust;
    if (status != VIT_OK || least > 255) return status;
    vit_bits_of(&s->ink, &s->map.darkness, least);
    if (is_beaten(s, is_light, vit_ink_sum(&s->steps, s->grain, &s->ink))) return VIT_OK;
    status = vit_ink_discount(&s->map.steps, &s->steps, s->grain, &s->ground, reach / 2 + 1,
                              s->scratch, s->kernels, error);
    if (status == VIT_OK) status = try_thresholds(s, is_light, least, error);
    keep_map(s, &s->found[is_light]);
    return status;
}

/* Searches the picture for dark ink, and its negative for light ink. */
static vit_status try_all(search *s, vit_error *error) {
    vit_status status = VIT_OK;
    for (int i = 0; i < 2; i++) {
        for (size_t r = 0; status == VIT_OK && r < sizeof readings / sizeof *readings; r++)
            status = try_reading(s, r, i == 1, error);
        const size_t count = s->smooth.width * s->smooth.height;
        for (size_t k = 0; k < count; k++)
            s->smooth.pixels[k] = (uint8_t)(255 - s->smooth.pixels[k]);
    }
    return status;
}

static bool is_within(const vit_bounds *a, const vit_bounds *b) {
    return a->left >= b->left && a->top >= b->top && a->right <= b->right && a->bottom <= b->bottom;
}

/* Whether to take the light ink instead of the dark. The better score wins, with two exceptions:
 * the light thing is a sheet of paper with the dark ink on it, or there are printed lines, dark,
 * and the light thing is what they enclose. */
static bool choose_light(const finding found[2]) {
    const vit_ink *ink = &found[0].ink, *sheet = &found[1].ink;
    const size_t box = (sheet->box.right - sheet->box.left) * (sheet->box.bottom - sheet->box.top);
    if (sheet->score <= ink->score) return false;
    const bool is_sheet = ink->score * SHEET_EDGE > sheet->score &&
                          is_within(&ink->box, &sheet->box) &&
                          sheet->area * 100 > box * SHEET_FILL && ink->area * 100 < box * SHEET_INK;
    const bool is_enclosed =
        ink->score * SHEET_EDGE > sheet->score && ink->lines >= PRINTED_LINES && sheet->lines == 0;
    return !is_sheet && !is_enclosed;
}

/* Chooses again, at half of the peak darkness, where the edges of strokes are; everything else is
 * set to 0. */
static vit_status isolate(search *s, finding *found, vit_error *error) {
    vit_image *darkness = &found->map.darkness;
    const unsigned threshold = (unsigned)vit_max((found->ink.peak + 1) / 2, found->ink.threshold);
    if (found->is_bare) vit_bits_clear(darkness, &found->marks);
    vit_bits_of(&s->ink, darkness, threshold);
    vit_status status =
        vit_ink_choose(&found->ink, &s->blobs, &s->ink, &found->map.steps, threshold, error);
    if (status == VIT_OK) vit_ink_measure(&found->ink, &s->blobs, darkness);
    if (status == VIT_OK) vit_ink_clear_others(darkness, &s->blobs);
    return status;
}

/* A picture in the memory of the search, which is taken as it is first written. */
static vit_image new_plane(search *s, size_t w, size_t h) {
    vit_image plane = {.pixels = s->planes, .width = w, .height = h, .channels = 1};
    s->planes += w * h;
    return plane;
}

static vit_ink_map new_map(search *s, size_t w, size_t h) {
    const vit_image darkness = new_plane(s, w, h);
    return (vit_ink_map){darkness, new_plane(s, w, h)};
}

static vit_status allocate(search *s, size_t w, size_t h, vit_error *error) {
    s->memory = s->planes = vit_alloc_unset(PLANES, w * h);
    if (!s->memory) return vit_fail_memory(error, "digit", PLANES * w * h);
    s->smooth = new_plane(s, w, h);
    s->steps = new_plane(s, w, h);
    s->ground = new_plane(s, w, h);
    s->scratch[0] = new_plane(s, w, h);
    s->scratch[1] = new_plane(s, w, h);
    s->map = new_map(s, w, h);
    vit_status status = vit_bits_new(&s->ink, w, h, error);
    if (status == VIT_OK) status = vit_bits_new(&s->bare, w, h, error);
    if (status == VIT_OK) status = vit_ink_lines_new(&s->lines, w, h, error);
    for (int i = 0; status == VIT_OK && i < 2; i++) {
        s->found[i].map = new_map(s, w, h);
        status = vit_bits_new(&s->found[i].marks, w, h, error);
    }
    return status;
}

static void free_search(search *s) {
    vit_free(s->memory);
    vit_free(s->ink.words);
    vit_free(s->bare.words);
    vit_ink_lines_free(&s->lines);
    vit_ink_blobs_free(&s->blobs);
    vit_free(s->found[0].marks.words);
    vit_free(s->found[1].marks.words);
}

static vit_status search_all(search *s, const vit_image *grey, vit_error *error) {
    vit_status status = allocate(s, grey->width, grey->height, error);
    if (status != VIT_OK) return status;
    smooth(&s->smooth, grey);
    status = vit_ink_steps(&s->steps, &s->smooth, error);
    s->grain = 2 * vit_ink_median(&s->steps);
    return status != VIT_OK ? status : try_all(s, error);
}

vit_status vit_ink_find(vit_ink *out, vit_image *darkness, const vit_image *grey,
                        const vit_kernels *kernels, vit_error *error) {
    search s = {.kernels = kernels};
    *out = (vit_ink){0};
    *darkness = (vit_image){0};
    vit_status status = search_all(&s, grey, error);
    finding *found = &s.found[choose_light(s.found)];
    if (status == VIT_OK && found->ink.score > 0) status = isolate(&s, found, error);
    if (status == VIT_OK && found->ink.score > 0) {
        const uint8_t *pixels = found->map.darkness.pixels;
        status = vit_image_from_pixels(darkness, pixels, grey->width, grey->height, 1, grey->width,
                                       error);
        *out = found->ink;
    }
    free_search(&s);
    return status;
}
