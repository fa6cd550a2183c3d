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

/* Dilates along `others` lines of n pixels, which are `step` apart in a line and `next` from line
 * to line. Pixels past the ends count as 0. room: scratch of room_for bytes. */
static void widen_lines(uint8_t *pixels, size_t n, size_t step, size_t others, size_t next,
                        size_t reach, uint8_t *room) {
    const size_t block = 2 * reach + 1, blocks = vit_ceil_div(n, block);
    const size_t size = (blocks + 1) * block * STRIP;
    for (size_t first = 0; first < others; first += STRIP) {
        const size_t count = vit_min(others - first, STRIP);
        uint8_t *line = pixels + first * next;
        memset(room, 0, size);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < count; k++)
                room[(i + reach) * STRIP + k] = line[i * step + k * next];
        widen_strip(room, blocks, reach, room + size);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < count; k++) line[i * step + k * next] = room[i * STRIP + k];
    }
}

static void invert(vit_image *image) {
    const size_t count = image->width * image->height;
    for (size_t i = 0; i < count; i++) image->pixels[i] = (uint8_t)(255 - image->pixels[i]);
}

static void widen_light(vit_image *image, size_t reach, uint8_t *room) {
    const size_t w = image->width, h = image->height;
    widen_lines(image->pixels, w, 1, h, w, reach, room);
    widen_lines(image->pixels, h, w, w, 1, reach, room);
}

static size_t room_for(const vit_image *image, size_t reach) {
    return (vit_max(image->width, image->height) + 3 * (2 * reach + 1)) * STRIP;
}

vit_status vit_ink_widen(vit_image *image, size_t reach, vit_error *error) {
    const size_t size = room_for(image, reach);
    uint8_t *room = vit_alloc(size, 1);
    if (!room) return vit_fail_memory(error, "digit", size);
    widen_light(image, reach, room);
    vit_free(room);
    return VIT_OK;
}

static void widen_dark(vit_image *image, size_t reach, uint8_t *room) {
    invert(image);
    widen_light(image, reach, room);
    invert(image);
}

/* ---- what is darker than the background ---- */

/* A darker background than this counts as this: the little that is still darker is no ink. */
enum { LEAST_RANGE = 64 };

/* The difference to the background, where 255 is the largest one possible. */
static unsigned part_of(int difference, int ground) {
    const int part = difference * 255 / (ground > LEAST_RANGE ? ground : LEAST_RANGE);
    return (unsigned)(part < 0 ? 0 : part > 255 ? 255 : part);
}

/* The value that half of the pixels do not exceed. */
static unsigned median_of(const uint8_t *values, size_t count) {
    size_t histogram[256] = {0}, seen = 0;
    unsigned median = 0;
    for (size_t i = 0; i < count; i++) histogram[values[i]]++;
    while (median < 255 && (seen += histogram[median]) * 2 < count) median++;
    return median;
}

unsigned vit_ink_greatest(const vit_image *image) {
    unsigned most = 0;
    for (size_t i = 0; i < image->width * image->height; i++)
        if (image->pixels[i] > most) most = image->pixels[i];
    return most;
}

void vit_ink_steps(vit_image *steps, const vit_image *grey) {
    const size_t w = grey->width, h = grey->height;
    memset(steps->pixels, 0, w * h);
    for (size_t y = 2; y + 2 < h; y++) {
        uint8_t least[5], most[5]; /* of the last five columns */
        for (size_t x = 0; x < w; x++) {
            const uint8_t *p = grey->pixels + (y - 2) * w + x;
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
            if (x >= 4) steps->pixels[y * w + x - 2] = (uint8_t)(high - low);
        }
    }
}

/* Subtracts from the steps what is not due to ink: the step that the background itself has there
 * (at the edge of a shadow or of the paper), which is light - dark, and twice the median step,
 * which is grain. */
static void discount_steps(vit_ink_map *map, const vit_image *steps, const vit_image *light,
                           const vit_image *dark) {
    const size_t count = light->width * light->height;
    const unsigned grain = 2 * median_of(steps->pixels, count);
    for (size_t i = 0; i < count; i++) {
        const unsigned step = steps->pixels[i];
        const unsigned due = grain + light->pixels[i] - dark->pixels[i];
        map->steps.pixels[i] = (uint8_t)(step > due ? step - due : 0);
    }
}

/* Subtracts the median, by which grain makes the background lighter than the picture, from all.
 * Returns the median of the differences to it, the noise. */
static unsigned settle(vit_image *darkness) {
    const size_t count = darkness->width * darkness->height;
    const unsigned median = median_of(darkness->pixels, count);
    size_t histogram[256] = {0}, seen = 0;
    unsigned noise = 0;
    for (size_t i = 0; i < count; i++) {
        const unsigned v = darkness->pixels[i];
        histogram[v > median ? v - median : median - v]++;
        darkness->pixels[i] = (uint8_t)(v > median ? v - median : 0);
    }
    while (noise < 255 && (seen += histogram[noise]) * 2 < count) noise++;
    return noise;
}

static vit_status copy(vit_image *out, const vit_image *in, vit_error *error) {
    return vit_image_from_pixels(out, in->pixels, in->width, in->height, 1, in->width, error);
}

vit_status vit_ink_compare(vit_ink_map *map, unsigned *noise, const vit_image *grey,
                           const vit_image *steps, size_t reach, vit_error *error) {
    const size_t w = grey->width, h = grey->height, room_size = room_for(grey, reach);
    uint8_t *room = vit_alloc(room_size, 1);
    vit_image ground = {0}, dark = {0};
    vit_status status = room ? VIT_OK : vit_fail_memory(error, "digit", room_size);
    if (status == VIT_OK) status = copy(&ground, grey, error);
    if (status == VIT_OK) {
        widen_light(&ground, reach, room);
        widen_dark(&ground, reach, room);
        for (size_t i = 0; i < w * h; i++)
            map->darkness.pixels[i] =
                (uint8_t)part_of(ground.pixels[i] - grey->pixels[i], ground.pixels[i]);
        *noise = settle(&map->darkness);
        status = copy(&dark, &ground, error);
    }
    if (status == VIT_OK) {
        widen_light(&ground, reach / 2 + 1, room);
        widen_dark(&dark, reach / 2 + 1, room);
        discount_steps(map, steps, &ground, &dark);
    }
    vit_image_free(&ground);
    vit_image_free(&dark);
    vit_free(room);
    return status;
}
