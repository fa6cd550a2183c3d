#include "vit/report/weights.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/image/codec/png_write.h"
#include "vit/model/fixed_positions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_FILTERS 128
#define ACROSS 16
#define MOST_POSITIONS 784

/* ---- filters ---- */

/* The filters of a layer in either order: weight (channel, row, column) of filter i is values[i *
 * stride
 * + channel * of_channel + (row * size + column) * of_pixel]. */
typedef struct bank {
    const float *values;
    size_t count, size, channels;
    size_t stride, of_channel, of_pixel;
} bank;

static bank bank_of(const vit_shown_weights *w) {
    char stem[VIT_STEM_NAME], name[VIT_STEM_NAME + 8];
    const bool convolves = vit_config_convs(w->config) > 0;
    snprintf(name, sizeof name, "%s.weight",
             convolves ? vit_stem_name(stem, w->config, 0) : "patch_embed.proj");
    const vit_parameter *p = vit_table_find(w->table, name);
    if (!p || p->offset == VIT_ONLY_PACKED) return (bank){0};
    bank b = {.values = w->values + p->offset,
              .count = p->shape[0],
              .stride = p->count / p->shape[0],
              .channels = w->config->channels};
    /* [out][row][column][channel], or else [out][channel][row][column] */
    const bool by_pixel = convolves ? vit_stems[w->config->stem].pools : p->dims == 2;
    b.size = convolves ? 3 : w->config->patch;
    b.of_channel = by_pixel ? 1 : b.size * b.size;
    b.of_pixel = by_pixel ? b.channels : 1;
    return b;
}

typedef struct sized {
    double size;
    size_t index;
} sized;

static int by_size(const void *left, const void *right) {
    const sized *a = left, *b = right;
    if (a->size != b->size) return a->size > b->size ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

static double squares(const bank *b, size_t filter) {
    double sum = 0;
    for (size_t i = 0; i < b->stride; i++) {
        const double w = b->values[filter * b->stride + i];
        sum += w * w;
    }
    return sum;
}

static double largest(const bank *b, size_t filter) {
    double max = 0;
    for (size_t i = 0; i < b->stride; i++)
        max = fmax(max, fabs((double)b->values[filter * b->stride + i]));
    return max;
}

static void draw_filter(uint8_t *pixels, const vit_sheet *sheet, const bank *b, size_t filter) {
    const double max = largest(b, filter), scale = max > 0 ? 127.5 / max : 0;
    const float *values = b->values + filter * b->stride;
    const size_t merged = sheet->channels == b->channels ? 1 : b->channels;
    for (size_t pixel = 0; pixel < b->size * b->size; pixel++)
        for (size_t k = 0; k < sheet->channels; k++) {
            double sum = 0;
            for (size_t c = 0; c < merged; c++)
                sum += values[(k + c) * b->of_channel + pixel * b->of_pixel];
            const size_t at = pixel / b->size * sheet->width + pixel % b->size;
            pixels[at * sheet->channels + k] = (uint8_t)(127.5 + scale * sum / (double)merged + .5);
        }
}

static vit_status draw_filters(vit_filters *f, const bank *b, const sized *order,
                               vit_error *error) {
    vit_sheet *sheet = &f->sheet;
    sheet->channels = b->channels == 3 ? 3 : 1;
    sheet->width = (b->size + 1) * vit_min(f->count, ACROSS) - 1;
    sheet->height = (b->size + 1) * ((f->count + ACROSS - 1) / ACROSS) - 1;
    uint8_t *pixels = vit_alloc(sheet->height, sheet->width * sheet->channels);
    if (!pixels) return vit_fail_memory(error, "the filters", sheet->height * sheet->width);
    for (size_t i = 0; i < f->count; i++) {
        const size_t at = i / ACROSS * (b->size + 1) * sheet->width + i % ACROSS * (b->size + 1);
        draw_filter(pixels + at * sheet->channels, sheet, b, order[i].index);
    }
    const vit_status status =
        vit_png_write(&sheet->png, pixels, sheet->width, sheet->height, sheet->channels, error);
    vit_free(pixels);
    return status;
}

vit_status vit_filters_new(vit_filters *out, const vit_shown_weights *weights, vit_error *error) {
    const bank b = bank_of(weights);
    *out = (vit_filters){.size = b.size, .count = vit_min(b.count, MOST_FILTERS), .of = b.count};
    if (b.count == 0) return VIT_OK;
    sized *order = vit_alloc(b.count, sizeof *order);
    if (!order) return vit_fail_memory(error, "the filters", b.count * sizeof *order);
    for (size_t i = 0; i < b.count; i++) order[i] = (sized){squares(&b, i), i};
    qsort(order, b.count, sizeof *order, by_size);
    const vit_status status = draw_filters(out, &b, order, error);
    vit_free(order);
    return status;
}

static vit_status write_filters(vit_json_out *json, const vit_shown_weights *weights,
                                vit_error *error) {
    vit_filters f;
    const vit_status status = vit_filters_new(&f, weights, error);
    if (status != VIT_OK) return status;
    if (!f.sheet.png.data) {
        vit_json_raw(json, "filters", "null");
        return VIT_OK;
    }
    vit_json_open(json, "filters", '{');
    vit_json_count(json, "width", f.sheet.width);
    vit_json_count(json, "height", f.sheet.height);
    vit_json_count(json, "size", f.size);
    vit_json_count(json, "count", f.count);
    vit_json_count(json, "of", f.of);
    vit_json_base64(json, "png", f.sheet.png.data, f.sheet.png.size);
    vit_json_close(json, '}');
    vit_free(f.sheet.png.data);
    return VIT_OK;
}

/* ---- positions ---- */

/* cosines: [n][n] of the pairs of rows: [n][dim], as bytes; that of a row of zeros is 0. */
static void compare_rows(uint8_t *cosines, const float *rows, size_t n, size_t dim) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double dot = 0, a = 0, b = 0;
            for (size_t k = 0; k < dim; k++) {
                const double x = rows[i * dim + k], y = rows[j * dim + k];
                dot += x * y;
                a += x * x;
                b += y * y;
            }
            const double cosine = a > 0 && b > 0 ? dot / sqrt(a * b) : 0;
            const double byte = (fmin(fmax(cosine, -1), 1) + 1) * 127.5 + .5;
            cosines[i * n + j] = cosines[j * n + i] = (uint8_t)byte;
        }
}

static vit_status write_positions(vit_json_out *json, const vit_shown_weights *w,
                                  vit_error *error) {
    const vit_config *c = w->config;
    const size_t n = vit_config_patches(c), first = vit_config_positions(c) - n;
    const vit_parameter *p = vit_table_find(w->table, "pos_embed");
    float *fixed = NULL;
    vit_status status = p ? VIT_OK : vit_positions_new(&fixed, c, error);
    const float *rows = p && p->offset != VIT_ONLY_PACKED ? w->values + p->offset : fixed;
    if (status != VIT_OK) return status;
    if (!rows || n > MOST_POSITIONS) {
        vit_json_raw(json, "positions", "null");
    } else {
        uint8_t *cosines = vit_alloc(n, n);
        if (!cosines) {
            vit_free(fixed);
            return vit_fail_memory(error, "the similarity of positions", n * n);
        }
        compare_rows(cosines, rows + first * c->dim, n, c->dim);
        vit_json_open(json, "positions", '{');
        vit_json_count(json, "rows", c->height / c->patch);
        vit_json_count(json, "columns", c->width / c->patch);
        vit_json_base64(json, "cosine", cosines, n * n);
        vit_json_close(json, '}');
        vit_free(cosines);
    }
    vit_free(fixed);
    return VIT_OK;
}

vit_status vit_weights_write(vit_json_out *json, const vit_shown_weights *weights,
                             vit_error *error) {
    const vit_status status = write_filters(json, weights, error);
    return status == VIT_OK ? write_positions(json, weights, error) : status;
}
