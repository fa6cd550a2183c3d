#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/image/axis.h"
#include "vit/image/pixels.h"

#include <string.h>

/* Weighted sums along the rows and along the columns, 16 at a time (`resample` in
 * vit/kernels/kernels.h). Along the rows 16 rows go together, along the columns 16 neighbouring
 * samples. What lies between the two passes is bounded for any shape: the columns are worked off
 * in strips. */

enum { LANES = 16, QUADS = 4 * LANES, BETWEEN_BYTES = 1 << 22, STRIP_BYTES = 1 << 17 };

const char *const vit_filter_names[] = {
    [VIT_FILTER_NEAREST] = "nearest",
    [VIT_FILTER_BOX] = "box",
    [VIT_FILTER_BILINEAR] = "bilinear",
    [VIT_FILTER_BICUBIC] = "bicubic",
    [VIT_FILTER_LANCZOS] = "lanczos",
    [VIT_FILTER_HAMMING] = "hamming",
    NULL,
};
VIT_CHECK_ROWS(vit_filter_names, VIT_FILTER_COUNT + 1);

const char *const vit_arithmetic_names[] = {
    [VIT_ARITHMETIC_PILLOW] = "pillow",
    [VIT_ARITHMETIC_TORCH] = "torch",
    NULL,
};
VIT_CHECK_ROWS(vit_arithmetic_names, VIT_ARITHMETIC_COUNT + 1);

bool vit_filter_parse(const char *name, vit_filter *filter) {
    for (size_t i = 0; vit_filter_names[i]; i++) {
        if (strcmp(name, vit_filter_names[i]) != 0) continue;
        *filter = (vit_filter)i;
        return true;
    }
    return false;
}

/* Rows of samples, inside a picture or between the passes. */
typedef struct raster {
    uint8_t *samples;
    size_t stride;
    size_t left; /* columns of the picture that lie before its rows */
} raster;

typedef struct resampler {
    const vit_kernels *kernels;
    vit_axis x, y;
    vit_window part; /* of what comes out: of rows as they come; else all */
    size_t channels;
    uint8_t *quads; /* packed input of a pass */
    uint8_t *lanes; /* sums on their way out */
    uint8_t *band;  /* rows as they come */
    bool reads_rows;
    raster between;
} resampler;

/* to [rows][end - start] = columns start .. end - 1 of what becomes of the rows. */
static void along_rows(const resampler *r, raster to, raster from, size_t rows, size_t start,
                       size_t end) {
    const vit_axis *a = &r->x;
    const size_t channels = r->channels, origin = a->first[start];
    const size_t width = vit_axis_end(a, end) - 4 * origin;
    const size_t step = channels * QUADS, samples = (end - start) * channels;
    const size_t skip = (4 * origin - from.left) * channels;
    for (size_t y = 0; y < rows; y += LANES) {
        const size_t count = rows - y < LANES ? rows - y : LANES;
        r->kernels->pack_rows(r->quads, from.samples + y * from.stride + skip, from.stride, count,
                              width, channels);
        for (size_t x = start; x < end; x++) {
            r->kernels->resample(r->lanes + (x - start) * channels * LANES,
                                 r->quads + (a->first[x] - origin) * step, step, channels,
                                 a->weights + x * a->room, a->count[x], a->bits);
        }
        for (size_t i = 0; i < count; i++) {
            uint8_t *row = to.samples + (y + i) * to.stride;
            for (size_t s = 0; s < samples; s++) row[s] = r->lanes[s * LANES + i];
        }
    }
}

/* Samples start .. start + samples - 1 of every row that comes out. from: the rows from
 * 4 first[top] on. */
static void strip_along_columns(const resampler *r, raster to, raster from, size_t start,
                                size_t samples) {
    const vit_axis *a = &r->y;
    const size_t groups = vit_ceil_div(samples, LANES), step = groups * QUADS;
    const size_t top = r->part.top, bottom = top + r->part.height;
    const size_t origin = a->first[top], rows = vit_axis_end(a, bottom) - 4 * origin;
    for (size_t y = 0; y < rows; y += 4) {
        r->kernels->pack_columns(r->quads + y / 4 * step, from.samples + y * from.stride + start,
                                 from.stride, rows - y < 4 ? rows - y : 4, samples);
    }
    for (size_t y = top; y < bottom; y++) {
        r->kernels->resample(r->lanes, r->quads + (a->first[y] - origin) * step, step, groups,
                             a->weights + y * a->room, a->count[y], a->bits);
        memcpy(to.samples + (y - top) * to.stride + start, r->lanes, samples);
    }
}

/* Samples that are packed at once along the columns: whole lanes. */
static size_t strip_samples(const vit_axis *y) {
    const size_t samples = STRIP_BYTES / y->in / LANES * LANES;
    return samples < LANES ? LANES : samples;
}

static void along_columns(const resampler *r, raster to, raster from, size_t samples) {
    const size_t strip = strip_samples(&r->y);
    for (size_t x = 0; x < samples; x += strip)
        strip_along_columns(r, to, from, x, samples - x < strip ? samples - x : strip);
}

/* The first row along the columns, and the rows from there on. */
static size_t first_row(const resampler *r) {
    return r->y.first ? 4 * r->y.first[r->part.top] : r->part.top;
}

static size_t needed_rows(const resampler *r) {
    const size_t bottom = r->part.top + r->part.height;
    return (r->y.first ? vit_axis_end(&r->y, bottom) : bottom) - first_row(r);
}

static raster below(raster from, size_t rows) {
    return (raster){from.samples + rows * from.stride, from.stride, from.left};
}

/* Output columns that are worked off at once, so that what lies between stays small. */
static size_t between_columns(const resampler *r) {
    const size_t columns = BETWEEN_BYTES / (needed_rows(r) * r->channels);
    return columns < 1 ? 1 : columns < r->x.out ? columns : r->x.out;
}

static void rows_first(const resampler *r, raster to, raster from) {
    const size_t strip = between_columns(r);
    from = below(from, first_row(r));
    if (!r->y.first) {
        along_rows(r, to, from, r->y.in, 0, r->x.out);
        return;
    }
    for (size_t x = 0; x < r->x.out; x += strip) {
        const size_t end = x + strip < r->x.out ? x + strip : r->x.out;
        const raster part = {to.samples + x * r->channels, to.stride, 0};
        along_rows(r, r->between, from, needed_rows(r), x, end);
        along_columns(r, part, r->between, (end - x) * r->channels);
    }
}

static void columns_first(const resampler *r, raster to, raster from) {
    const raster between = r->x.first ? r->between : to;
    along_columns(r, between, below(from, first_row(r)), r->x.in * r->channels);
    if (r->x.first) along_rows(r, to, between, r->y.out, 0, r->x.out);
}

/* Where Pillow 13 resamples along the columns first; it matters where both axes change. */
static bool takes_columns_first(const vit_image_rows *in, size_t width, size_t height,
                                vit_arithmetic arithmetic) {
    if (in->width == width) return true;
    if (in->height == height || arithmetic != VIT_ARITHMETIC_PILLOW) return false;
    const size_t narrower = in->width > width ? 2 * (in->width - width) : 0;
    return in->height > height && in->height - height > narrower;
}

/* Columns and rows of what lies between the passes. */
static void size_between(const resampler *r, bool is_columns_first, size_t *columns, size_t *rows) {
    *columns = is_columns_first ? r->x.in : r->reads_rows ? r->part.width : between_columns(r);
    *rows = is_columns_first ? r->y.out : needed_rows(r);
}

static vit_status allocate(resampler *r, bool is_columns_first, vit_error *error) {
    size_t columns, rows;
    size_between(r, is_columns_first, &columns, &rows);
    const size_t strip = strip_samples(&r->y), row = (r->x.out + LANES) * r->channels;
    const size_t row_quads = (r->x.in + 4) * r->channels * LANES;
    const size_t quads = vit_max(row_quads, (r->y.in + 4) * strip);
    r->between.stride = columns * r->channels;
    r->quads = vit_alloc(quads, 1);
    r->lanes = vit_alloc(vit_max(row * LANES, strip), 1);
    if (r->x.first && r->y.first) r->between.samples = vit_alloc(rows, r->between.stride);
    if (r->reads_rows) r->band = vit_alloc(r->x.in * r->channels, LANES);
    const bool has_between = r->between.samples || !r->x.first || !r->y.first;
    if (r->quads && r->lanes && has_between && (r->band || !r->reads_rows)) return VIT_OK;
    return vit_fail_memory(error, "resize", quads + rows * r->between.stride);
}

/* Rows first, 16 as they come: they are still in the cache, and the picture is never in memory. */
static vit_status rows_as_they_come(const resampler *r, raster to, const vit_image_rows *in,
                                    vit_error *error) {
    const size_t left = r->part.left, right = left + r->part.width;
    const size_t top = first_row(r), bottom = top + needed_rows(r);
    const raster between = r->y.first ? r->between : to;
    raster band = {.samples = r->band, .left = 4 * r->x.first[left]};
    size_t width = vit_axis_end(&r->x, right) - band.left;
    vit_status status = in->narrow(in->context, &band.left, &width, error);
    band.stride = width * in->channels;
    for (size_t y = 0; !status && y < in->height; y += LANES) {
        const size_t count = vit_min(LANES, in->height - y);
        const size_t from = vit_max(y, top), end = vit_min(y + count, bottom);
        status = in->read(in->context, r->band, count, error);
        if (!status && from < end)
            along_rows(r, below(between, from - top), below(band, from - y), end - from, left,
                       right);
    }
    if (!status && r->y.first) along_columns(r, to, between, r->part.width * r->channels);
    return status;
}

/* in: a picture's size and `pixels`, or without these its rows. out: `part` of it at width x
 * height; all of it but for rows, which do not do for columns first. */
static vit_status resample(vit_image *out, const vit_image_rows *in, uint8_t *pixels, size_t width,
                           size_t height, const vit_window *part, vit_filter filter,
                           vit_arithmetic arithmetic, const vit_kernels *kernels,
                           vit_error *error) {
    const size_t channels = in->channels;
    const raster to = {out->pixels, out->width * channels, 0};
    const raster from = {pixels, in->width * channels, 0};
    const bool is_columns_first = takes_columns_first(in, width, height, arithmetic);
    resampler r = {.kernels = kernels, .channels = channels, .part = *part, .reads_rows = !pixels};
    vit_status status = vit_axis_init(&r.x, in->width, width, filter, arithmetic, error);
    if (!status) status = vit_axis_init(&r.y, in->height, height, filter, arithmetic, error);
    if (!status) status = allocate(&r, is_columns_first, error);
    if (!status && r.reads_rows)
        status = rows_as_they_come(&r, to, in, error);
    else if (!status)
        (is_columns_first ? columns_first : rows_first)(&r, to, from);
    vit_free(r.band);
    vit_free(r.between.samples);
    vit_free(r.lanes);
    vit_free(r.quads);
    vit_axis_free(&r.x);
    vit_axis_free(&r.y);
    return status;
}

/* to[x] = from[columns[x]], pixels of 1 or 3 channels. */
static void take_pixels(uint8_t *to, const uint8_t *from, const size_t *columns, size_t count,
                        size_t channels) {
    if (channels == 1) {
        for (size_t x = 0; x < count; x++) to[x] = from[columns[x]];
        return;
    }
    for (size_t x = 0; x < count; x++, to += 3) {
        const uint8_t *pixel = from + 3 * columns[x];
        to[0] = pixel[0];
        to[1] = pixel[1];
        to[2] = pixel[2];
    }
}

/* Pillow adds the step up from sample to sample instead of multiplying; that decides which side
 * of a boundary is taken. Samples that fall outside stay 0. */
static vit_status resize_nearest(vit_image *out, const vit_image *in, vit_error *error) {
    size_t *columns = vit_alloc(out->width, sizeof *columns), count = 0;
    if (!columns) return vit_fail_memory(error, "resize", out->width * sizeof *columns);
    double step_x = (double)in->width / (double)out->width, at_x = 0.5 * step_x;
    double step_y = (double)in->height / (double)out->height, at_y = 0.5 * step_y;
    for (; count < out->width && (size_t)at_x < in->width; at_x += step_x)
        columns[count++] = (size_t)at_x;
    for (size_t y = 0; y < out->height && (size_t)at_y < in->height; y++, at_y += step_y) {
        take_pixels(out->pixels + y * out->width * in->channels,
                    in->pixels + (size_t)at_y * in->width * in->channels, columns, count,
                    in->channels);
    }
    vit_free(columns);
    return VIT_OK;
}

static vit_status resize(vit_image *out, const vit_image *in, vit_filter filter,
                         vit_arithmetic arithmetic, const vit_kernels *kernels, vit_error *error) {
    const vit_image_rows size = {.width = in->width, in->height, in->channels};
    const vit_window all = {0, 0, out->width, out->height};
    if (out->width == in->width && out->height == in->height) {
        memcpy(out->pixels, in->pixels, in->width * in->height * in->channels);
        return VIT_OK;
    }
    if (filter == VIT_FILTER_NEAREST) return resize_nearest(out, in, error);
    if (!kernels) kernels = vit_kernels_choose(VIT_CPU_AVX512);
    return resample(out, &size, in->pixels, out->width, out->height, &all, filter, arithmetic,
                    kernels, error);
}

/* A picture of zeros for what becomes of one with so many channels. */
static vit_status make_room(vit_image *out, size_t width, size_t height, size_t channels,
                            vit_error *error) {
    *out = (vit_image){0};
    if (channels == 1 || channels == 3)
        return vit_image_new(out, "resize", width, height, channels, error);
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    "resize: the picture has %zu channels, expected 1 or 3; convert it to grey or "
                    "RGB first",
                    channels);
}

vit_status vit_image_resize_as(vit_image *out, const vit_image *in, size_t width, size_t height,
                               vit_filter filter, vit_arithmetic arithmetic,
                               const vit_kernels *kernels, vit_error *error) {
    vit_status status = make_room(out, width, height, in->channels, error);
    if (status) return status;
    status = resize(out, in, filter, arithmetic, kernels, error);
    if (status) vit_image_free(out);
    return status;
}

/* By way of the whole picture: one that does not get narrower, or is resized along its columns
 * first. */
static vit_status resize_whole(vit_image *out, const vit_image_rows *in, size_t width,
                               size_t height, const vit_window *window, vit_filter filter,
                               vit_arithmetic arithmetic, const vit_kernels *kernels,
                               vit_error *error) {
    vit_image whole, resized = {0};
    vit_status status = vit_image_new(&whole, "resize", in->width, in->height, in->channels, error);
    if (!status) status = in->read(in->context, whole.pixels, in->height, error);
    if (!status)
        status = vit_image_resize_as(&resized, &whole, width, height, filter, arithmetic, kernels,
                                     error);
    vit_image_free(&whole);
    if (!status)
        status = vit_image_crop(out, &resized, (ptrdiff_t)window->left, (ptrdiff_t)window->top,
                                window->width, window->height, error);
    vit_image_free(&resized);
    return status;
}

vit_status vit_image_resize_rows(vit_image *out, const vit_image_rows *in, size_t width,
                                 size_t height, const vit_window *window, vit_filter filter,
                                 vit_arithmetic arithmetic, const vit_kernels *kernels,
                                 vit_error *error) {
    *out = (vit_image){0};
    if (filter == VIT_FILTER_NEAREST || width >= in->width ||
        takes_columns_first(in, width, height, arithmetic))
        return resize_whole(out, in, width, height, window, filter, arithmetic, kernels, error);
    vit_status status = make_room(out, window->width, window->height, in->channels, error);
    if (status) return status;
    if (!kernels) kernels = vit_kernels_choose(VIT_CPU_AVX512);
    status = resample(out, in, NULL, width, height, window, filter, arithmetic, kernels, error);
    if (status) vit_image_free(out);
    return status;
}

vit_status vit_image_resize(vit_image *out, const vit_image *in, size_t width, size_t height,
                            vit_filter filter, const vit_kernels *kernels, vit_error *error) {
    return vit_image_resize_as(out, in, width, height, filter, VIT_ARITHMETIC_PILLOW, kernels,
                               error);
}
