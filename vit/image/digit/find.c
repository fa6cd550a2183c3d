#include "vit/base/sys.h"
#include "vit/image/digit/ink.h"
#include "vit/image/pixels.h"

#include <string.h>

/* Ink is darker than its background by at least a twentieth (13 of 255) and by this multiple of the
 * noise. */
enum { LEAST_DARKNESS = 13, NOISE_FACTOR = 6 };

/* The picture is searched for narrow strokes, then for wide ones. */
static const struct {
    size_t reach; /* half the width that strokes may have, in thousandths of the mean side */
    double trust; /* factor of the score: narrow things are more likely strokes */
} readings[] = {{30, 1}, {100, 0.9}};

/* A digit has fewer long straight lines than this; so many are printed ones. */
enum { PRINTED_LINES = 3 };

/* A light sheet on a dark table has longer edges than the ink on it, so that its score is larger,
 * by up to SHEET_EDGE times. A sheet fills at least SHEET_FILL per cent of its box, the ink on it
 * less than SHEET_INK per cent. */
enum { SHEET_EDGE = 100, SHEET_FILL = 60, SHEET_INK = 12 };

/* The state of a search. */
typedef struct search {
    vit_image smooth;      /* the smoothed picture, or its negative */
    vit_image steps;       /* its steps */
    vit_ink_map try, bare; /* the current attempt, and the same without printed lines */
    uint32_t *labels, *queue;
    double trust;        /* of the current reading */
    vit_ink found[2];    /* the best so far as dark ink, as light ink */
    vit_ink_map best[2]; /* their maps */
} search;

/* A binomial filter, 1 2 1 by 1 2 1; the border is copied. */
static void smooth(vit_image *out, const vit_image *in) {
    const size_t w = in->width, h = in->height;
    memcpy(out->pixels, in->pixels, w * h);
    for (size_t y = 1; y + 1 < h; y++) {
        for (size_t x = 1; x + 1 < w; x++) {
            const uint8_t *p = in->pixels + y * w + x, *a = p - w, *b = p + w;
            const unsigned edges = a[0] + b[0] + (unsigned)p[-1] + p[1];
            const unsigned corners = a[-1] + (unsigned)a[1] + b[-1] + b[1];
            out->pixels[y * w + x] = (uint8_t)((4U * p[0] + 2 * edges + corners + 8) >> 4);
        }
    }
}

static void copy_map(vit_ink_map *to, const vit_ink_map *from) {
    const size_t count = to->darkness.width * to->darkness.height;
    memcpy(to->darkness.pixels, from->darkness.pixels, count);
    memcpy(to->steps.pixels, from->steps.pixels, count);
}

/* Chooses the digit of a map and keeps it if it is better than what was found before. */
static vit_status try_map(search *s, const vit_ink_map *map, size_t lines, bool is_light,
                          unsigned threshold, vit_error *error) {
    vit_ink ink;
    vit_status status = vit_ink_choose(&ink, map, threshold, s->labels, s->queue, error);
    ink.score *= s->trust;
    ink.lines = lines;
    if (status != VIT_OK || ink.score <= s->found[is_light].score) return status;
    s->found[is_light] = ink;
    copy_map(&s->best[is_light], map);
    return VIT_OK;
}

/* Tries rising thresholds, with and without printed lines. Fewer lines are found at higher
 * thresholds, where they break into pieces, so the largest number counts. */
static vit_status try_thresholds(search *s, bool is_light, unsigned least, vit_error *error) {
    const unsigned most = vit_ink_greatest(&s->try.darkness);
    vit_status status = VIT_OK;
    size_t printed = 0;
    for (unsigned t = least; status == VIT_OK && t <= most; t += t / 2) {
        size_t lines;
        copy_map(&s->bare, &s->try);
        status = vit_ink_remove_lines(&lines, &s->bare.darkness, t, error);
        if (lines > printed) printed = lines;
        if (status == VIT_OK && lines > 0)
            status = try_map(s, &s->bare, printed, is_light, t, error);
        if (status == VIT_OK && (lines == 0 || printed < PRINTED_LINES))
            status = try_map(s, &s->try, printed, is_light, t, error);
    }
    return status;
}

static vit_status try_reading(search *s, size_t which, bool is_light, vit_error *error) {
    const size_t sides = s->smooth.width + s->smooth.height;
    const size_t reach = sides * readings[which].reach / 2000 + 1;
    unsigned noise = 0;
    vit_status status = vit_ink_compare(&s->try, &noise, &s->smooth, &s->steps, reach, error);
    if (status != VIT_OK) return status;
    s->trust = readings[which].trust;
    const unsigned least = noise * NOISE_FACTOR;
    return try_thresholds(s, is_light, least < LEAST_DARKNESS ? LEAST_DARKNESS : least, error);
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
static bool choose_light(const vit_ink found[2]) {
    const vit_ink *ink = &found[0], *sheet = &found[1];
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
static vit_status isolate(search *s, int kind, vit_error *error) {
    vit_ink_map *map = &s->best[kind];
    const vit_ink found = s->found[kind];
    const unsigned half = (found.peak + 1) / 2;
    const unsigned threshold = half > found.threshold ? half : found.threshold;
    vit_status status = vit_ink_choose(&s->found[kind], map, threshold, s->labels, s->queue, error);
    for (size_t i = 0; i < s->smooth.width * s->smooth.height; i++)
        if (s->labels[i] == 2) map->darkness.pixels[i] = 0;
    return status;
}

static vit_status new_map(vit_ink_map *map, size_t width, size_t height, vit_error *error) {
    vit_status status = vit_image_new(&map->darkness, "digit", width, height, 1, error);
    return status != VIT_OK ? status : vit_image_new(&map->steps, "digit", width, height, 1, error);
}

static void free_map(vit_ink_map *map) {
    vit_image_free(&map->darkness);
    vit_image_free(&map->steps);
}

static vit_status search_all(search *s, const vit_image *grey, vit_error *error) {
    const size_t w = grey->width, h = grey->height;
    vit_status status = vit_image_new(&s->smooth, "digit", w, h, 1, error);
    if (status == VIT_OK) status = vit_image_new(&s->steps, "digit", w, h, 1, error);
    if (status == VIT_OK) status = new_map(&s->try, w, h, error);
    if (status == VIT_OK) status = new_map(&s->bare, w, h, error);
    for (int i = 0; status == VIT_OK && i < 2; i++) status = new_map(&s->best[i], w, h, error);
    s->labels = vit_alloc(w * h, sizeof *s->labels);
    s->queue = vit_alloc(w * h, sizeof *s->queue);
    if (status == VIT_OK && (!s->labels || !s->queue))
        status = vit_fail_memory(error, "digit", w * h * sizeof *s->labels);
    if (status != VIT_OK) return status;
    smooth(&s->smooth, grey);
    vit_ink_steps(&s->steps, &s->smooth);
    return try_all(s, error);
}

vit_status vit_ink_find(vit_ink *out, vit_image *darkness, const vit_image *grey,
                        vit_error *error) {
    search s = {0};
    *out = (vit_ink){0};
    *darkness = (vit_image){0};
    vit_status status = search_all(&s, grey, error);
    const int kind = choose_light(s.found) ? 1 : 0;
    if (status == VIT_OK && s.found[kind].score > 0) status = isolate(&s, kind, error);
    if (status == VIT_OK && s.found[kind].score > 0) {
        *out = s.found[kind];
        *darkness = s.best[kind].darkness;
        s.best[kind].darkness = (vit_image){0};
    }
    vit_image_free(&s.smooth);
    vit_image_free(&s.steps);
    free_map(&s.try);
    free_map(&s.bare);
    free_map(&s.best[0]);
    free_map(&s.best[1]);
    vit_free(s.labels);
    vit_free(s.queue);
    return status;
}
