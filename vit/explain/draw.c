#include "vit/explain/draw.h"
#include "vit/base/order.h"
#include "vit/base/size.h"
#include "vit/explain/lettering.h"
#include "vit/image/codec/png_write.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The least length of a panel's longer side, in pixels: of a map alone, of one of several. */
#define SIDE_ALONE ((size_t)448)
#define SIDE_OF_MANY ((size_t)168)
#define GAP ((size_t)4) /* pixels between panels */

/* Below each panel of several that have names, with the name in the middle of its height. */
#define CAPTION ((size_t)13)
#define LINE ((size_t)9) /* more for each further line of it */

/* A canvas of panels, each as large as the enlarged picture. */
typedef struct canvas {
    const vit_config *config;
    const uint8_t *pixels; /* the picture */
    uint8_t *rgb;          /* [height][width][3] */
    size_t scale;          /* pixels of a panel for one of the picture */
    size_t across, panels; /* panels side by side; all panels */
    size_t caption;        /* height of the captions, or 0 */
    size_t width, height;
} canvas;

/* The colour map viridis (van der Walt, Smith: matplotlib), interpolated between its colours at
 * eighths. */
static void colour_of(uint8_t rgb[3], float share) {
    static const uint8_t stops[][3] = {{68, 1, 84},    {71, 44, 122},  {59, 81, 139},
                                       {44, 113, 142}, {33, 144, 141}, {39, 173, 129},
                                       {92, 200, 99},  {170, 220, 50}, {253, 231, 37}};
    const float at = 8 * fminf(fmaxf(share, 0), 1);
    const size_t i = vit_min((size_t)at, 7);
    for (size_t c = 0; c < 3; c++) {
        const float a = stops[i][c], b = stops[i + 1][c];
        rgb[c] = (uint8_t)(a + (b - a) * (at - (float)i) + .5f);
    }
}

/* Pixels of a panel for one of the picture. */
static size_t scale_of(const vit_config *c, size_t side) {
    return vit_max(1, vit_ceil_div(side, vit_max(c->width, c->height)));
}

static vit_status canvas_new(canvas *out, const vit_config *c, const uint8_t *pixels, size_t panels,
                             size_t side, size_t caption, vit_error *error) {
    size_t across = 1;
    while (panels > 1 && across < panels && 2 * across * across < 3 * panels) across++;
    const size_t rows = vit_ceil_div(panels, across);
    const size_t scale = scale_of(c, side);
    *out = (canvas){.config = c,
                    .pixels = pixels,
                    .scale = scale,
                    .across = across,
                    .panels = panels,
                    .caption = caption,
                    .width = across * (c->width * scale + GAP) - GAP,
                    .height = rows * (c->height * scale + caption + GAP) - GAP};
    out->rgb = vit_alloc_unset(out->width * out->height, 3);
    if (!out->rgb) return vit_fail_memory(error, "a picture", out->width * out->height * 3);
    memset(out->rgb, 255, out->width * out->height * 3);
    return VIT_OK;
}

/* The pixel of panel `panel` at (y, x). */
static uint8_t *at(const canvas *c, size_t panel, size_t y, size_t x) {
    const size_t row = panel / c->across * (c->config->height * c->scale + c->caption + GAP) + y;
    const size_t column = panel % c->across * (c->config->width * c->scale + GAP) + x;
    return c->rgb + 3 * (row * c->width + column);
}

/* The picture's pixel under a panel's. */
static void picture_at(const canvas *c, uint8_t rgb[3], size_t y, size_t x) {
    const size_t channels = c->config->channels;
    const uint8_t *p = c->pixels + (y / c->scale * c->config->width + x / c->scale) * channels;
    for (size_t k = 0; k < 3; k++) rgb[k] = p[channels < 3 ? 0 : k];
}

static void draw_picture(const canvas *c, size_t panel) {
    for (size_t y = 0; y < c->config->height * c->scale; y++)
        for (size_t x = 0; x < c->config->width * c->scale; x++)
            picture_at(c, at(c, panel, y, x), y, x);
}

/* What a panel shows; number: of a head, or -1. */
static void caption_of(char words[96], const char *text, int number) {
    if (number < 0)
        snprintf(words, 96, "%s", text);
    else
        snprintf(words, 96, "%s, head %d", text, number);
}

/* Characters of the first line of at most `most`: up to the last space that fits, if there is one.
 */
static size_t first_line(const char *words, size_t most) {
    const size_t all = strlen(words);
    if (all <= most) return all;
    for (size_t n = most; n > 0; n--)
        if (words[n] == ' ') return n;
    return vit_max(1, most);
}

static size_t count_lines(const char *words, size_t most) {
    size_t lines = 0;
    for (; *words; lines++) {
        words += first_line(words, most);
        while (*words == ' ') words++;
    }
    return lines;
}

/* Writes below a panel what it shows, in as many lines as it takes. */
static void write_caption(const canvas *c, size_t panel, const char *text, int number) {
    const size_t below = c->config->height * c->scale, side = c->config->width * c->scale;
    size_t y = below + (CAPTION - VIT_GLYPH_HEIGHT + 1) / 2;
    char words[96];
    caption_of(words, text, number);
    for (const char *at_word = words; c->caption > 0 && *at_word; y += LINE) {
        char line[96];
        const size_t length = first_line(at_word, side / VIT_GLYPH_WIDTH);
        snprintf(line, sizeof line, "%.*s", (int)length, at_word);
        vit_lettering_draw(at(c, panel, y, 0), c->width, side, line, 32);
        at_word += length;
        while (*at_word == ' ') at_word++;
    }
}

/* The values that get the darkest and the brightest colour: the smallest, or 0 if that is smaller,
 * and the 99th percentile. */
static vit_status range_of(float range[2], const float *values, size_t n, vit_error *error) {
    float *sorted = vit_alloc(n, sizeof *sorted);
    if (!sorted) return vit_fail_memory(error, "a map", n * sizeof *sorted);
    memcpy(sorted, values, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, vit_compare_floats);
    range[0] = fminf(0, sorted[0]);
    range[1] = sorted[((n - 1) * 99 + 99) / 100];
    if (!(range[1] > range[0])) range[1] = sorted[n - 1];
    if (!(range[1] > range[0])) range[1] = range[0] + 1;
    vit_free(sorted);
    return VIT_OK;
}

/* A patch at (y0, x0) of a panel: two fifths the picture in grey, three fifths a colour. */
static void draw_patch(const canvas *c, size_t panel, size_t y0, size_t x0,
                       const uint8_t colour[3]) {
    const size_t side = c->config->patch * c->scale;
    for (size_t y = y0; y < y0 + side; y += c->scale) {
        uint8_t *to = at(c, panel, y, x0);
        for (size_t x = x0; x < x0 + side; x += c->scale) {
            uint8_t rgb[3];
            picture_at(c, rgb, y, x);
            const int grey = (299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2]) / 1000;
            for (size_t k = 0; k < 3; k++) rgb[k] = (uint8_t)((2 * grey + 3 * colour[k]) / 5);
            for (size_t k = 0; k < c->scale; k++, to += 3) memcpy(to, rgb, 3);
        }
        for (size_t k = 1; k < c->scale; k++)
            memcpy(at(c, panel, y + k, x0), at(c, panel, y, x0), 3 * side);
    }
}

/* White, along the edges of a patch. */
static void draw_frame(const canvas *c, size_t panel, size_t y0, size_t x0) {
    const size_t side = c->config->patch * c->scale, frame = vit_max(1, side / 16);
    for (size_t y = 0; y < side; y++) {
        const bool whole = y < frame || side - 1 - y < frame;
        memset(at(c, panel, y0 + y, x0), 255, 3 * (whole ? side : frame));
        memset(at(c, panel, y0 + y, x0 + side - frame), 255, 3 * frame);
    }
}

static vit_status draw_map(const canvas *c, size_t panel, const vit_map *map, const float *values,
                           vit_error *error) {
    float range[2] = {0, 1};
    const size_t side = c->config->patch * c->scale, patches = map->rows * map->columns;
    const vit_status status = range_of(range, values, patches, error);
    for (size_t i = 0; i < patches && status == VIT_OK; i++) {
        const size_t y = i / map->columns * side, x = i % map->columns * side;
        uint8_t colour[3];
        colour_of(colour, (values[i] - range[0]) / (range[1] - range[0]));
        draw_patch(c, panel, y, x, colour);
        if (map->outliers && map->outliers[i]) draw_frame(c, panel, y, x);
    }
    return status;
}

/* How many maps over the patch grid it has, one or one a head; 0: it is not over the grid. */
static size_t panels_of(const vit_map *map) {
    const size_t n = map->dims;
    if (n < 2 || map->shape[n - 2] != map->rows || map->shape[n - 1] != map->columns) return 0;
    return n == 3 ? map->shape[0] : 1;
}

static vit_status draw_all(const canvas *c, const vit_map *maps, size_t count, vit_error *error) {
    vit_status status = VIT_OK;
    size_t panel = 0;
    if (c->panels > 1) {
        write_caption(c, panel, "the picture", -1);
        draw_picture(c, panel++);
    }
    for (size_t i = 0; i < count; i++) {
        const size_t heads = panels_of(&maps[i]);
        for (size_t h = 0; h < heads && status == VIT_OK; h++) {
            write_caption(c, panel, maps[i].name, heads > 1 ? (int)h : -1);
            status = draw_map(c, panel++, &maps[i],
                              maps[i].values + h * maps[i].rows * maps[i].columns, error);
        }
    }
    return status;
}

/* The height of the captions below panels of this many pixels across. */
static size_t caption_height(const vit_map *maps, size_t count, size_t width) {
    size_t lines = 1;
    for (size_t i = 0; i < count; i++) {
        char words[96];
        const size_t heads = panels_of(&maps[i]);
        caption_of(words, maps[i].name, heads > 1 ? (int)heads - 1 : -1);
        lines = vit_max(lines, count_lines(words, width / VIT_GLYPH_WIDTH));
    }
    return CAPTION + (lines - 1) * LINE;
}

/* The canvas as PNG, unless drawing failed with `status`; frees it. */
static vit_status encode(vit_bytes *png, canvas *c, vit_status status, vit_error *error) {
    if (status == VIT_OK) status = vit_png_write(png, c->rgb, c->width, c->height, 3, error);
    vit_free(c->rgb);
    return status;
}

vit_status vit_draw_maps(vit_bytes *png, const vit_config *config, const uint8_t *pixels,
                         const vit_map *maps, size_t count, vit_error *error) {
    canvas c;
    size_t panels = 0;
    bool is_named = false;
    for (size_t i = 0; i < count; i++) {
        if (panels_of(&maps[i]) == 0)
            return vit_fail(error, VIT_ERROR_ARGUMENT,
                            "map %zu is not over the patch grid: a table has no picture", i);
        panels += panels_of(&maps[i]);
        is_named = is_named || *maps[i].name;
    }
    if (panels == 0) return vit_fail(error, VIT_ERROR_ARGUMENT, "no map to draw");
    const bool alone = panels == 1;
    const size_t width = config->width * scale_of(config, SIDE_OF_MANY);
    vit_status status =
        canvas_new(&c, config, pixels, alone ? 1 : panels + 1, alone ? SIDE_ALONE : SIDE_OF_MANY,
                   !alone && is_named ? caption_height(maps, count, width) : 0, error);
    if (status != VIT_OK) return status;
    return encode(png, &c, draw_all(&c, maps, count, error), error);
}

vit_status vit_draw_picture(vit_bytes *png, const vit_config *config, const uint8_t *pixels,
                            size_t side, vit_error *error) {
    canvas c;
    const vit_status status = canvas_new(&c, config, pixels, 1, side, 0, error);
    if (status != VIT_OK) return status;
    draw_picture(&c, 0);
    return encode(png, &c, VIT_OK, error);
}
