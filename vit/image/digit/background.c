#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/image/digit/ink.h"
#include "vit/image/pixels.h"

#include <string.h>

/* ---- the background: a closing (Serra: Image Analysis and Mathematical Morphology) ---- */

/* So many rows, or columns, are processed side by side. */
enum { STRIP = 64 };

static void take_greater(uint8_t *restrict to, const uint8_t *restrict from) {
    for (size_t i = 0; i < STRIP; i++) to[i] = to[i] > from[i] ? to[i] : from[i];
}

static void take_greater_of(uint8_t *restrict to, const uint8_t *a, const uint8_t *b, size_t n) {
    for (size_t i = 0; i < n; i++) to[i] = a[i] > b[i] ? a[i] : b[i];
}

static void take_flipped(uint8_t *restrict to, const uint8_t *restrict from, size_t n,
                         uint8_t flip) {
    for (size_t i = 0; i < n; i++) to[i] = from[i] ^ flip;
}

/* Each row becomes the largest of itself and the 2 reach rows after it, by the algorithm of van
 * Herk (1992): rows are divided into blocks of 2 reach + 1, and a window is the end of one block
 * and the beginning of the next. strip: [blocks + 1][2 reach + 1][STRIP], of which the last block
 * is only read; to_end: scratch of one block. */
static void widen_strip(uint8_t *strip, size_t blocks, size_t reach, uint8_t *to_end) {
    const size_t block = 2 * reach + 1;
    for (size_t b = 0; b < blocks; b++) {
        uint8_t from_begin[STRIP] = {0}, *here = strip + b * block * STRIP;
        const uint8_t *next = here + block * STRIP;
        memcpy(to_end, here, block * STRIP);
        for (size_t i = block - 1; i-- > 0;)
            take_greater(to_end + i * STRIP, to_end + (i + 1) * STRIP);
        for (size_t i = 0; i < block; i++) {
            memcpy(here + i * STRIP, to_end + i * STRIP, STRIP);
            take_greater(here + i * STRIP, from_begin);
            take_greater(from_begin, next + i * STRIP);
        }
    }
}

/* Dilates along the columns. Pixels above and below count as 0. flip: 255 for erosion, which is the
 * dilation of the negative, else 0. room: scratch. */
static void widen_columns(vit_image *image, size_t reach, uint8_t flip, uint8_t *room) {
    const size_t w = image->width, h = image->height, block = 2 * reach + 1;
    const size_t blocks = vit_ceil_div(h, block), size = (blocks + 1) * block * STRIP;
    for (size_t x = 0; x < w; x += STRIP) {
        const size_t count = vit_min(w - x, STRIP);
        memset(room, 0, reach * STRIP);
        memset(room + (reach + h) * STRIP, 0, size - (reach + h) * STRIP);
        for (size_t y = 0; y < h; y++)
            take_flipped(room + (reach + y) * STRIP, image->pixels + y * w + x, count, flip);
        widen_strip(room, blocks, reach, room + size);
        for (size_t y = 0; y < h; y++)
            take_flipped(image->pixels + y * w + x, room + y * STRIP, count, flip);
    }
}

/* Dilates along the rows: windows of twice the width are the larger of two neighbouring ones. */
static void widen_rows(vit_image *image, size_t reach, uint8_t flip, uint8_t *room) {
    const size_t w = image->width, block = 2 * reach + 1, size = w + 2 * reach;
    for (size_t y = 0; y < image->height; y++) {
        uint8_t *now = room, *next = room + size, *row = image->pixels + y * w;
        size_t width = 1;
        memset(now, 0, reach);
        memset(now + reach + w, 0, reach);
        take_flipped(now + reach, row, w, flip);
        for (; 2 * width <= block; width *= 2) {
            take_greater_of(next, now, now + width, size + 1 - 2 * width);
            uint8_t *other = now;
            now = next;
            next = other;
        }
        take_greater_of(next, now, now + block - width, w);
        take_flipped(row, next, w, flip);
    }
}

static void widen_light(vit_image *image, size_t reach, uint8_t *room) {
    widen_rows(image, reach, 0, room);
    widen_columns(image, reach, 0, room);
}

static void widen_dark(vit_image *image, size_t reach, uint8_t *room) {
    widen_rows(image, reach, 255, room);
    widen_columns(image, reach, 255, room);
}

static size_t room_for(const vit_image *image, size_t reach) {
    return (vit_max(image->width, image->height) + 3 * (2 * reach + 1)) * STRIP;
}

vit_status vit_ink_widen(vit_image *image, size_t reach, vit_error *error) {
    const size_t size = room_for(image, reach);
    if (reach == 0) return VIT_OK;
    uint8_t *room = vit_alloc_unset(size, 1);
    if (!room) return vit_fail_memory(error, "digit", size);
    widen_light(image, reach, room);
    vit_free(room);
    return VIT_OK;
}

/* ---- what is darker than the background ---- */

/* A darker background than this counts as this: the little that is still darker is no ink. */
enum { LEAST_RANGE = 64 };

/* The differences to the background, where 255 is the largest one possible. Quotients of small
 * integers: rounded to float they stay on their side of the next one. */
static void compare_all(uint8_t *restrict darkness, const uint8_t *restrict ground,
                        const uint8_t *restrict grey, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const int whole = ground[i] > LEAST_RANGE ? ground[i] : LEAST_RANGE;
        darkness[i] = (uint8_t)(int)((float)((ground[i] - grey[i]) * 255) / (float)whole);
    }
}

/* Adds to a histogram. Equal neighbours are counted apart, as one count waits for the other. */
static void count_values(size_t histogram[256], const vit_image *image) {
    const size_t count = image->width * image->height;
    uint32_t parts[4][256] = {0};
    for (size_t i = 0; i < count / 4 * 4; i += 4)
        for (size_t k = 0; k < 4; k++) parts[k][image->pixels[i + k]]++;
    for (size_t i = count / 4 * 4; i < count; i++) parts[0][image->pixels[i]]++;
    for (size_t i = 0; i < 256; i++)
        histogram[i] = (size_t)parts[0][i] + parts[1][i] + parts[2][i] + parts[3][i];
}

/* The value that half of `count` do not exceed. */
static unsigned median_of(const size_t histogram[256], size_t count) {
    size_t seen = 0;
    unsigned median = 0;
    while (median < 255 && (seen += histogram[median]) * 2 < count) median++;
    return median;
}

unsigned vit_ink_median(const vit_image *image) {
    size_t histogram[256];
    count_values(histogram, image);
    return median_of(histogram, image->width * image->height);
}

unsigned vit_ink_greatest(const vit_image *image) {
    unsigned most = 0;
    for (size_t i = 0; i < image->width * image->height; i++)
        if (image->pixels[i] > most) most = image->pixels[i];
    return most;
}

/* spans[x] = the least and the largest of five pixels: of column x, around row y. */
static void span_rows(uint8_t *restrict least, uint8_t *restrict most, const uint8_t *top,
                      size_t w) {
    for (size_t x = 0; x < w; x++) {
        uint8_t low = top[x], high = top[x];
        for (size_t i = 1; i < 5; i++) {
            const uint8_t v = top[i * w + x];
            low = v < low ? v : low;
            high = v > high ? v : high;
        }
        least[x] = low;
        most[x] = high;
    }
}

/* steps[x] = the largest less the least of five columns. */
static void span_columns(uint8_t *restrict steps, const uint8_t *least, const uint8_t *most,
                         size_t count) {
    for (size_t x = 0; x < count; x++) {
        uint8_t low = least[x], high = most[x];
        for (size_t i = 1; i < 5; i++) {
            low = least[x + i] < low ? least[x + i] : low;
            high = most[x + i] > high ? most[x + i] : high;
        }
        steps[x] = (uint8_t)(high - low);
    }
}

vit_status vit_ink_steps(vit_image *steps, const vit_image *grey, vit_error *error) {
    const size_t w = grey->width, h = grey->height;
    uint8_t *least = vit_alloc(w, 2);
    if (!least) return vit_fail_memory(error, "digit", 2 * w);
    memset(steps->pixels, 0, w * h);
    for (size_t y = 2; y + 2 < h && w > 4; y++) {
        span_rows(least, least + w, grey->pixels + (y - 2) * w, w);
        span_columns(steps->pixels + y * w + 2, least, least + w, w - 4);
    }
    vit_free(least);
    return VIT_OK;
}

/* Subtracts from the steps what is not due to ink: the step that the background itself has there
 * (at the edge of a shadow or of the paper), which is light - dark, and those of grain. */
static void discount_steps(uint8_t *restrict to, const uint8_t *restrict steps, unsigned grain,
                           const uint8_t *restrict light, const uint8_t *restrict dark,
                           size_t count) {
    for (size_t i = 0; i < count; i++) {
        const int due = (int)grain + light[i] - dark[i];
        to[i] = (uint8_t)(steps[i] > due ? steps[i] - due : 0);
    }
}

/* Subtracts the median, by which grain makes the background lighter than the picture, from all.
 * Returns the median of the differences to it, the noise. */
static unsigned settle(vit_image *darkness) {
    const size_t count = darkness->width * darkness->height;
    size_t histogram[256], distances[256] = {0};
    count_values(histogram, darkness);
    const unsigned median = median_of(histogram, count);
    for (unsigned v = 0; v < 256; v++)
        distances[v > median ? v - median : median - v] += histogram[v];
    for (size_t i = 0; median > 0 && i < count; i++) {
        const unsigned v = darkness->pixels[i];
        darkness->pixels[i] = (uint8_t)(v > median ? v - median : 0);
    }
    return median_of(distances, count);
}

static vit_status copy(vit_image *out, const vit_image *in, vit_error *error) {
    return vit_image_from_pixels(out, in->pixels, in->width, in->height, 1, in->width, error);
}

vit_status vit_ink_compare(vit_ink_map *map, unsigned *noise, const vit_image *grey,
                           const vit_image *steps, unsigned grain, size_t reach, vit_error *error) {
    const size_t count = grey->width * grey->height, room_size = room_for(grey, reach);
    uint8_t *room = vit_alloc_unset(room_size, 1);
    vit_image light = {0}, dark = {0};
    vit_status status = room ? VIT_OK : vit_fail_memory(error, "digit", room_size);
    if (status == VIT_OK) status = copy(&light, grey, error);
    if (status == VIT_OK) {
        widen_light(&light, reach, room);
        widen_dark(&light, reach, room);
        compare_all(map->darkness.pixels, light.pixels, grey->pixels, count);
        *noise = settle(&map->darkness);
        status = copy(&dark, &light, error);
    }
    if (status == VIT_OK) {
        widen_light(&light, reach / 2 + 1, room);
        widen_dark(&dark, reach / 2 + 1, room);
        discount_steps(map->steps.pixels, steps->pixels, grain, light.pixels, dark.pixels, count);
    }
    vit_image_free(&light);
    vit_image_free(&dark);
    vit_free(room);
    return status;
}

/* ---- what can be scored at most ---- */

/* out = the least of each pixel and its neighbours in three rows. */
static void least_around(uint8_t *restrict out, uint8_t *restrict between, const uint8_t *row,
                         const uint8_t *above, const uint8_t *below, size_t w) {
    for (size_t x = 0; x < w; x++) {
        const uint8_t least = above[x] < below[x] ? above[x] : below[x];
        between[x] = row[x] < least ? row[x] : least;
    }
    out[0] = between[0];
    for (size_t x = 1; x < w; x++)
        out[x] = between[x] < between[x - 1] ? between[x] : between[x - 1];
    for (size_t x = 0; x + 1 < w; x++) out[x] = out[x] < between[x + 1] ? out[x] : between[x + 1];
}

/* Adds the squared steps of a row, each where its darkness is; of edges, it is taken away again
 * where the darkness of a neighbour begins. */
static void limit_row(vit_ink_limits *out, const uint64_t *ink, size_t words,
                      const uint8_t *darkness, const uint8_t *steps, const uint8_t *least) {
    for (size_t i = 0; i < words; i++) {
        for (uint64_t rest = ink[i]; rest; rest &= rest - 1) {
            const size_t x = 64 * i + vit_bits_first(rest);
            const uint64_t step = steps[x], square = step * step;
            out->all[darkness[x]] += square;
            out->edge[least[x]] -= square;
        }
    }
}

vit_status vit_ink_limit(vit_ink_limits *out, const vit_ink_map *map, const vit_bits *ink,
                         vit_error *error) {
    const size_t w = ink->width, h = ink->height;
    uint8_t *least = vit_alloc(w, 2);
    if (!least) return vit_fail_memory(error, "digit", 2 * w);
    *out = (vit_ink_limits){.greatest = vit_ink_greatest(&map->darkness)};
    for (size_t y = 0; y < h; y++) {
        const uint8_t *row = map->darkness.pixels + y * w;
        const uint64_t *words = ink->words + y * ink->row;
        size_t first = 0;
        while (first < ink->row && !words[first]) first++;
        if (first == ink->row) continue;
        least_around(least, least + w, row, y > 0 ? row - w : row, y + 1 < h ? row + w : row, w);
        limit_row(out, words, ink->row, row, map->steps.pixels + y * w, least);
    }
    for (size_t i = 256; i-- > 0;) {
        out->edge[i] += out->all[i];
        if (i == 255) continue;
        out->all[i] += out->all[i + 1];
        out->edge[i] += out->edge[i + 1];
    }
    vit_free(least);
    return VIT_OK;
}
