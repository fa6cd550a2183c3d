#include "vit/image/ink.h"
#include "vit/image/pixels.h"

#include <string.h>

/* The median is taken of a small copy: light changes slowly. */
enum { SMALL = 96 };

/* A window's histogram and its median, kept up to date. `below` pixels are under `median`. */
typedef struct window {
    uint32_t histogram[256], count, below;
    unsigned median;
} window;

static void window_add(window *w, const vit_image *in, size_t x, size_t top, size_t bottom,
                       bool is_in) {
    const uint32_t step = is_in ? 1 : (uint32_t)-1;
    for (size_t y = top; y < bottom; y++) {
        const uint8_t v = in->pixels[y * in->width + x];
        w->histogram[v] += step;
        w->count += step;
        if (v < w->median) w->below += step;
    }
}

/* Moves the median to where at most half of the pixels are under it and at most half above. */
static void window_settle(window *w) {
    while (w->below * 2 > w->count) w->below -= w->histogram[--w->median];
    while ((w->below + w->histogram[w->median]) * 2 < w->count)
        w->below += w->histogram[w->median++];
}

static void median_row(uint8_t *to, const vit_image *in, size_t y, size_t reach) {
    const size_t top = y < reach ? 0 : y - reach;
    const size_t bottom = y + reach + 1 < in->height ? y + reach + 1 : in->height;
    window w = {0};
    for (size_t x = 0; x < reach && x < in->width; x++) window_add(&w, in, x, top, bottom, true);
    for (size_t x = 0; x < in->width; x++) {
        if (x + reach < in->width) window_add(&w, in, x + reach, top, bottom, true);
        if (x > reach) window_add(&w, in, x - reach - 1, top, bottom, false);
        window_settle(&w);
        to[x] = (uint8_t)w.median;
    }
}

static size_t shrunk(size_t side, size_t longer) {
    const size_t small = longer > SMALL ? side * SMALL / longer : side;
    return small ? small : 1;
}

vit_status vit_ink_background(vit_image *out, const vit_image *grey, size_t reach,
                              vit_error *error) {
    const size_t longer = grey->width > grey->height ? grey->width : grey->height;
    vit_image small, median = {0};
    *out = (vit_image){0};
    vit_status status = vit_image_resize(&small, grey, shrunk(grey->width, longer),
                                         shrunk(grey->height, longer), VIT_FILTER_BOX, error);
    if (status) return status;
    status = vit_image_new(&median, "digit", small.width, small.height, 1, error);
    if (!status) {
        const size_t half = (small.width + small.height) * reach / 2000 + 1;
        for (size_t y = 0; y < small.height; y++)
            median_row(median.pixels + y * small.width, &small, y, half);
        status =
            vit_image_resize(out, &median, grey->width, grey->height, VIT_FILTER_BILINEAR, error);
    }
    vit_image_free(&median);
    vit_image_free(&small);
    return status;
}

/* Where the background is nearly as dark as can be, what little stands out is no ink. */
enum { LEAST_RANGE = 64 };

static unsigned compare(vit_image *darkness, const vit_image *grey, const vit_image *background,
                        bool is_light) {
    const size_t count = grey->width * grey->height;
    size_t histogram[256] = {0}, seen = 0;
    for (size_t i = 0; i < count; i++) {
        const int under = background->pixels[i], above = grey->pixels[i] - under;
        const int range = is_light ? 255 - under : under, ink = is_light ? above : -above;
        const int part = ink * 255 / (range > LEAST_RANGE ? range : LEAST_RANGE);
        darkness->pixels[i] = (uint8_t)(part < 0 ? 0 : part > 255 ? 255 : part);
        histogram[above < 0 ? -above : above]++;
    }
    unsigned median = 0; /* of the differences: ink is rarer than paper */
    while (median < 255 && (seen += histogram[median]) * 2 < count) median++;
    return median;
}

/* Greatest less least darkness of the five by five pixels around; 0 at the border. */
static void find_steps(vit_ink_map *map) {
    const size_t w = map->darkness.width, h = map->darkness.height;
    memset(map->steps.pixels, 0, w * h);
    for (size_t y = 2; y + 2 < h; y++) {
        uint8_t least[5], most[5]; /* of the last five columns */
        for (size_t x = 0; x < w; x++) {
            const uint8_t *p = map->darkness.pixels + (y - 2) * w + x;
            uint8_t low = *p, high = *p;
            for (size_t i = 1; i < 5; i++) {
                const uint8_t v = p[i * w];
                low = v < low ? v : low;
                high = v > high ? v : high;
            }
            least[x % 5] = low;
            most[x % 5] = high;
            for (size_t i = 0; i < 5 && x >= 4; i++) {
                low = least[i] < low ? least[i] : low;
                high = most[i] > high ? most[i] : high;
            }
            if (x >= 4) map->steps.pixels[y * w + x - 2] = (uint8_t)(high - low);
        }
    }
}

unsigned vit_ink_compare(vit_ink_map *map, const vit_image *grey, const vit_image *background,
                         bool is_light) {
    const unsigned noise = compare(&map->darkness, grey, background, is_light);
    find_steps(map);
    return noise;
}
