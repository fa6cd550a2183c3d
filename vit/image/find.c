#include "vit/base/sys.h"
#include "vit/image/ink.h"
#include "vit/image/pixels.h"

#include <string.h>

/* Ink is darker than its background by at least a twentieth, and by more than noise is. */
enum { LEAST_DARKNESS = 13, NOISE_FACTOR = 6 };

/* Half a window of the background, in thousandths of the mean side: some larger than strokes are
 * wide, and the whole picture, for thick strokes under even light. */
static const size_t reaches[2] = {250, 2000};

/* Room for one search. */
typedef struct search {
    const vit_image *grey; /* smoothed */
    vit_ink_map try, best;
    uint32_t *labels, *queue;
    vit_ink found;
} search;

/* 1 2 1 by 1 2 1, sixteenths; the border as it is. */
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

static unsigned darkest(const vit_image *darkness) {
    unsigned most = 0;
    for (size_t i = 0; i < darkness->width * darkness->height; i++)
        if (darkness->pixels[i] > most) most = darkness->pixels[i];
    return most;
}

/* One reading of the picture, at rising thresholds; keeps the best in s->found and s->best. */
static vit_status try_thresholds(search *s, unsigned least, vit_error *error) {
    const unsigned most = darkest(&s->try.darkness);
    vit_status status = VIT_OK;
    for (unsigned t = least; !status && t <= most; t += t / 2) {
        vit_ink ink;
        status = vit_ink_choose(&ink, &s->try, t, s->labels, s->queue, error);
        if (status || ink.score <= s->found.score) continue;
        s->found = ink;
        const size_t count = s->grey->width * s->grey->height;
        memcpy(s->best.darkness.pixels, s->try.darkness.pixels, count);
        memcpy(s->best.steps.pixels, s->try.steps.pixels, count);
    }
    return status;
}

static vit_status try_background(search *s, size_t reach, vit_error *error) {
    vit_image background;
    vit_status status = vit_ink_background(&background, s->grey, reach, error);
    for (int is_light = 0; !status && is_light < 2; is_light++) {
        const unsigned noise = vit_ink_compare(&s->try, s->grey, &background, is_light == 1);
        unsigned least = noise * NOISE_FACTOR;
        if (least < LEAST_DARKNESS) least = LEAST_DARKNESS;
        status = try_thresholds(s, least, error);
    }
    vit_image_free(&background);
    return status;
}

/* The edge of a stroke is where half of its darkness is reached; what else is there goes. */
static vit_status isolate(search *s, vit_error *error) {
    const unsigned half = (s->found.peak + 1) / 2;
    const unsigned threshold = half > s->found.threshold ? half : s->found.threshold;
    vit_status status = vit_ink_choose(&s->found, &s->best, threshold, s->labels, s->queue, error);
    for (size_t i = 0; i < s->grey->width * s->grey->height; i++)
        if (s->labels[i] == 2) s->best.darkness.pixels[i] = 0;
    return status;
}

static vit_status new_map(vit_ink_map *map, size_t width, size_t height, vit_error *error) {
    vit_status status = vit_image_new(&map->darkness, "digit", width, height, 1, error);
    return status ? status : vit_image_new(&map->steps, "digit", width, height, 1, error);
}

static void free_map(vit_ink_map *map) {
    vit_image_free(&map->darkness);
    vit_image_free(&map->steps);
}

static vit_status search_all(search *s, const vit_image *grey, vit_error *error) {
    vit_image even = {0};
    const size_t w = grey->width, h = grey->height;
    vit_status status = vit_image_new(&even, "digit", w, h, 1, error);
    if (!status) status = new_map(&s->try, w, h, error);
    if (!status) status = new_map(&s->best, w, h, error);
    s->labels = vit_alloc(w * h, sizeof *s->labels);
    s->queue = vit_alloc(w * h, sizeof *s->queue);
    if (!status && (!s->labels || !s->queue))
        status = vit_fail_memory(error, "digit", w * h * sizeof *s->labels);
    if (!status) {
        smooth(&even, grey);
        s->grey = &even;
    }
    for (size_t i = 0; !status && i < 2; i++) status = try_background(s, reaches[i], error);
    if (!status && s->found.score > 0) status = isolate(s, error);
    vit_image_free(&even);
    return status;
}

vit_status vit_ink_find(vit_ink *out, vit_image *darkness, const vit_image *grey,
                        vit_error *error) {
    search s = {0};
    *out = (vit_ink){0};
    *darkness = (vit_image){0};
    vit_status status = search_all(&s, grey, error);
    if (!status && s.found.score > 0) {
        *out = s.found;
        *darkness = s.best.darkness;
        s.best.darkness = (vit_image){0};
    }
    free_map(&s.try);
    free_map(&s.best);
    vit_free(s.labels);
    vit_free(s.queue);
    return status;
}
