#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/image/digit/ink.h"
#include "vit/image/pixels.h"

#include <string.h>

/* ---- the background: a closing (Serra: Image Analysis and Mathematical Morphology) ---- */

/* Dilation and erosion, which is the dilation of the negative: `flip` is 255 for it, else 0. Pixels
 * beyond the picture count for nothing. */

static void take_flipped(uint8_t *restrict to, const uint8_t *restrict from, size_t n,
                         uint8_t flip) {
    for (size_t i = 0; i < n; i++) to[i] = from[i] ^ flip;
}

/* Dilates along the columns, by the algorithm of van Herk (1992): rows are divided into blocks of 2
 * reach + 1, and a window is the end of one block and the beginning of the next. room: [block +
 * 3][width]. */
static void widen_columns(vit_image *out, const vit_image *in, size_t reach, uint8_t flip,
                          uint8_t *room, const vit_kernels *kernels) {
    const ptrdiff_t w = (ptrdiff_t)in->width, h = (ptrdiff_t)in->height;
    const ptrdiff_t block = 2 * (ptrdiff_t)reach + 1;
    for (ptrdiff_t top = -block; top < h; top += block) {
        uint8_t *begin = room + (block + 1) * w, *next = begin + w; /* of the next block */
        memset(room + block * w, 0, 2 * in->width);
        for (ptrdiff_t i = block; i-- > 0;) {
            uint8_t *end = room + i * w; /* of this block, from a row on */
            if (top + i >= 0 && top + i < h)
                kernels->greater(end, end + w, in->pixels + (top + i) * w, flip, 0, in->width);
            else
                memcpy(end, end + w, in->width);
        }
        for (ptrdiff_t i = 0; i < block; i++) {
            const ptrdiff_t y = top + i + (ptrdiff_t)reach, row = top + block + i;
            if (y >= 0 && y < h)
                kernels->greater(out->pixels + y * w, room + i * w, begin, 0, flip, in->width);
            if (row >= h) continue;
            kernels->greater(next, begin, in->pixels + row * w, flip, 0, in->width);
            uint8_t *other = begin;
            begin = next;
            next = other;
        }
    }
}

/* Dilates along the rows: windows of twice the width are the greater of two neighbouring ones.
 * room: two rows with `reach` more on either side. */
static void widen_rows(vit_image *out, const vit_image *in, size_t reach, uint8_t flip,
                       uint8_t *room, const vit_kernels *kernels) {
    const size_t w = in->width, block = 2 * reach + 1, size = w + 2 * reach;
    for (size_t y = 0; y < in->height; y++) {
        uint8_t *now = room, *next = room + size;
        size_t width = 1;
        memset(now, 0, reach);
        memset(now + reach + w, 0, reach);
        take_flipped(now + reach, in->pixels + y * w, w, flip);
        for (; 2 * width <= block; width *= 2) {
            kernels->greater(next, now, now + width, 0, 0, size + 1 - 2 * width);
            uint8_t *other = now;
            now = next;
            next = other;
        }
        kernels->greater(out->pixels + y * w, now, now + block - width, 0, flip, w);
    }
}

/* out = the dilation, or with flip the erosion, of `in`, which may be the same; between: scratch of
 * its size. */
static void widen(vit_image *out, const vit_image *in, size_t reach, uint8_t flip,
                  vit_image *between, uint8_t *room, const vit_kernels *kernels) {
    widen_rows(between, in, reach, flip, room, kernels);
    widen_columns(out, between, reach, flip, room, kernels);
}

static vit_status new_room(uint8_t **out, const vit_image *image, size_t reach, vit_error *error) {
    const size_t size = (2 * reach + 4) * image->width + 4 * reach;
    *out = vit_alloc_unset(size, 1);
    return *out ? VIT_OK : vit_fail_memory(error, "digit", size);
}

vit_status vit_ink_widen(vit_image *image, size_t reach, const vit_kernels *kernels,
                         vit_error *error) {
    vit_image between;
    uint8_t *room = NULL;
    if (reach == 0) return VIT_OK;
    vit_status status = vit_image_new(&between, "digit", image->width, image->height, 1, error);
    if (status == VIT_OK) status = new_room(&room, image, reach, error);
    if (status == VIT_OK) widen(image, image, reach, 0, &between, room, kernels);
    vit_image_free(&between);
    vit_free(room);
    return status;
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

/* How many values differ by at most `reach` from the centre. 64 are counted side by side. */
static size_t count_near(const uint8_t *values, size_t count, unsigned centre, unsigned reach) {
    const uint8_t low = (uint8_t)(centre > reach ? centre - reach : 0);
    const uint8_t width = (uint8_t)((centre + reach > 255 ? 255 : centre + reach) - low);
    size_t near = 0, i = 0;
    while (i + 64 <= count) {
        uint8_t sums[64] = {0};
        const size_t end = vit_min(i + (size_t)64 * 255, count / 64 * 64);
        for (; i < end; i += 64)
            for (size_t k = 0; k < 64; k++)
                sums[k] = (uint8_t)(sums[k] + ((uint8_t)(values[i + k] - low) <= width));
        for (size_t k = 0; k < 64; k++) near += sums[k];
    }
    for (; i < count; i++) near += (uint8_t)(values[i] - low) <= width;
    return near;
}

/* By how much half of the values differ from the centre, at most. Small differences are tried
 * first. */
static unsigned median_distance(const vit_image *image, unsigned centre) {
    const size_t count = image->width * image->height;
    unsigned least = 0, most = 0; /* the answer is within these */
    while (most < 255 && 2 * count_near(image->pixels, count, centre, most) < count) {
        least = most + 1;
        most = 2 * most + 1;
    }
    while (least < most) {
        const unsigned middle = (least + most) / 2;
        const bool is_half = 2 * count_near(image->pixels, count, centre, middle) >= count;
        *(is_half ? &most : &least) = is_half ? middle : middle + 1;
    }
    return least;
}

unsigned vit_ink_median(const vit_image *image) {
    return median_distance(image, 0);
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
 * (at the edge of a shadow or of the paper), which is light - dark, and those of grain. The result
 * overwrites dark. */
static void discount_steps(uint8_t *restrict dark, const uint8_t *restrict steps, unsigned grain,
                           const uint8_t *restrict light, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const int due = (int)grain + light[i] - dark[i];
        dark[i] = (uint8_t)(steps[i] > due ? steps[i] - due : 0);
    }
}

/* Subtracts the median, by which grain makes the background lighter than the picture, from all.
 * Returns the median of the differences to it, the noise. */
static unsigned settle(vit_image *darkness) {
    const size_t count = darkness->width * darkness->height;
    const unsigned median = vit_ink_median(darkness), noise = median_distance(darkness, median);
    for (size_t i = 0; median > 0 && i < count; i++) {
        const unsigned v = darkness->pixels[i];
        darkness->pixels[i] = (uint8_t)(v > median ? v - median : 0);
    }
    return noise;
}

vit_status vit_ink_darken(vit_image *darkness, vit_image *ground, unsigned *noise,
                          const vit_image *grey, size_t reach, vit_image scratch[2],
                          const vit_kernels *kernels, vit_error *error) {
    uint8_t *room;
    vit_status status = new_room(&room, grey, reach, error);
    if (status != VIT_OK) return status;
    widen(&scratch[0], grey, reach, 0, &scratch[1], room, kernels);
    widen(ground, &scratch[0], reach, 255, &scratch[1], room, kernels);
    compare_all(darkness->pixels, ground->pixels, grey->pixels, grey->width * grey->height);
    *noise = settle(darkness);
    vit_free(room);
    return VIT_OK;
}

vit_status vit_ink_discount(vit_image *out, const vit_image *steps, unsigned grain,
                            const vit_image *ground, size_t reach, vit_image scratch[2],
                            const vit_kernels *kernels, vit_error *error) {
    uint8_t *room;
    vit_image *light = &scratch[0], *dark = out;
    vit_status status = new_room(&room, ground, reach, error);
    if (status != VIT_OK) return status;
    widen(light, ground, reach, 0, &scratch[1], room, kernels);
    widen(dark, ground, reach, 255, &scratch[1], room, kernels);
    discount_steps(out->pixels, steps->pixels, grain, light->pixels, out->width * out->height);
    vit_free(room);
    return VIT_OK;
}

/* ---- what can be scored at most ---- */

uint64_t vit_ink_sum(const vit_image *steps, unsigned grain, const vit_bits *ink) {
    uint64_t sum = 0;
    for (size_t i = 0; i < ink->row * ink->height; i++) {
        const uint8_t *step = steps->pixels + i / ink->row * ink->width + i % ink->row * 64;
        for (uint64_t rest = ink->words[i]; rest; rest &= rest - 1) {
            const uint64_t here = step[vit_bits_first(rest)];
            sum += here > grain ? (here - grain) * (here - grain) : 0;
        }
    }
    return sum;
}

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
