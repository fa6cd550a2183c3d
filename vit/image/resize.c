#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/image/axis.h"
#include "vit/image/pixels.h"

#include <string.h>

/* Two passes of weighted sums, along the rows and along the columns, each 16 samples at a time
 * (`resample` in vit/kernels/kernels.h): 16 rows along the rows, 16 neighbouring samples along the
 * columns. The memory between the passes is bounded for any size, as columns are processed in
 * strips. */

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
    [VIT_ARITHMETIC_FLOAT] = "float",
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

/* Rows of samples, of a picture or between the passes. */
typedef struct raster {
    uint8_t *samples;
    size_t stride;
    size_t left; /* the column of the picture that the rows begin with */
} raster;

typedef struct resampler {
    const vit_kernels *kernels;
    vit_axis x, y;
    vit_window part; /* of the resized picture that is wanted; all of it unless reads_rows */
    size_t channels;
    bool reads_rows; /* the input is read row by row */
    uint8_t *band;   /* the rows that were read last */
    uint8_t *quads;  /* packed input of a pass */
    uint8_t *lanes;  /* its results */
    raster between;  /* results of the first pass */
} resampler;

/* to [rows][end - start] = output columns start .. end - 1 of these input rows. */
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
        for (size_t x = start; x < end; x++)
            r->kernels->resample(r->lanes + (x - start) * channels * LANES,
                                 r->quads + (a->first[x] - origin) * step, step, channels,
                                 a->weights + x * a->room, a->count[x], a->bits);
        for (size_t i = 0; i < count; i++) {
            uint8_t *row = to.samples + (y + i) * to.stride;
            for (size_t s = 0; s < samples; s++) row[s] = r->lanes[s * LANES + i];
        }
    }
}

/* Samples start .. start + samples - 1 of every output row that is wanted. `from` begins with row
 * 4 * first[top]. */
static void strip_along_columns(const resampler *r, raster to, raster from, size_t start,
                                size_t samples) {
    const vit_axis *a = &r->y;
    const size_t groups = vit_ceil_div(samples, LANES), step = groups * QUADS;
    const size_t top = r->part.top, bottom = top + r->part.height;
    const size_t origin = a->first[top], rows = vit_axis_end(a, bottom) - 4 * origin;
    for (size_t y = 0; y < rows; y += 4)
        r->kernels->pack_columns(r->quads + y / 4 * step, from.samples + y * from.stride + start,
                                 from.stride, rows - y < 4 ? rows - y : 4, samples);
    for (size_t y = top; y < bottom; y++) {
        r->kernels->resample(r->lanes, r->quads + (a->first[y] - origin) * step, step, groups,
                             a->weights + y * a->room, a->count[y], a->bits);
        memcpy(to.samples + (y - top) * to.stride + start, r->lanes, samples);
    }
}

/* The samples of a row that are packed together along the columns, a multiple of LANES. */
static size_t strip_samples(const vit_axis *y) {
    const size_t samples = STRIP_BYTES / y->in / LANES * LANES;
    return samples < LANES ? LANES : samples;
}

static void along_columns(const resampler *r, raster to, raster from, size_t samples) {
    const size_t strip = strip_samples(&r->y);
    for (size_t x = 0; x < samples; x += strip)
        strip_along_columns(r, to, from, x, samples - x < strip ? samples - x : strip);
}

/* The input rows that are needed: the first, and how many. */
static size_t first_row(const resampler *r) {
    return r->y.first ? 4 * r->y.first[r->part.top] : r->part.top;
}

static size_t needed_rows(const resampler *r) {
    const size_t bottom = r->part.top + r->part.height;
    return (r->y.first ? vit_axis_end(&r->y, bottom) : bottom) - first_row(r);
}

/* The raster without its first `rows` rows. */
static raster below(raster from, size_t rows) {
    return (raster){from.samples + rows * from.stride, from.stride, from.left};
}

/* Output columns that are processed together, so that the memory between the passes stays small. */
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

/* Whether to resample along the columns first, as Pillow 13 does in some cases; this changes pixels
 * if both sides change. */
static bool takes_columns_first(const vit_image_rows *in, size_t width, size_t height,
                                vit_arithmetic arithmetic) {
    if (in->width == width) return true;
    if (in->height == height || arithmetic != VIT_ARITHMETIC_PILLOW) return false;
    const size_t narrower = in->width > width ? 2 * (in->width - width) : 0;
    return in->height > height && in->height - height > narrower;
}

static vit_status allocate(resampler *r, bool is_columns_first, vit_error *error) {
    const size_t columns = is_columns_first ? r->x.in
                           : r->reads_rows  ? r->part.width
                                            : between_columns(r);
    const size_t rows = is_columns_first ? r->y.out : needed_rows(r);
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

/* Reads 16 rows at a time and resamples along them while they are in the cache, so that the input
 * is never all in memory; then along the columns. */
static vit_status rows_as_they_come(const resampler *r, raster to, const vit_image_rows *in,
                                    vit_error *error) {
    const size_t left = r->part.left, right = left + r->part.width;
    const size_t top = first_row(r), bottom = top + needed_rows(r);
    const raster between = r->y.first ? r->between : to;
    raster band = {.samples = r->band, .left = 4 * r->x.first[left]};
    size_t width = vit_axis_end(&r->x, right) - band.left;
    vit_status status = in->narrow(in->context, &band.left, &width, error);
    band.stride = width * in->channels;
    for (size_t y = 0; status == VIT_OK && y < in->height; y += LANES) {
        const size_t count = vit_min(LANES, in->height - y);
        const size_t from = vit_max(y, top), end = vit_min(y + count, bottom);
        status = in->read(in->context, r->band, count, error);
        if (status == VIT_OK && from < end)
            along_rows(r, below(between, from - top), below(band, from - y), end - from, left,
                       right);
    }
    if (status == VIT_OK && r->y.first) along_columns(r, to, between, r->part.width * r->channels);
    return status;
}

/* Resizes to width x height and fills `out` with `part` of the result. The input is `pixels` of the
 * size of `in`, with all of the result as part; or, if pixels is NULL, the rows of `in`, and then
 * it must not go along the columns first. */
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
    if (status == VIT_OK)
        status = vit_axis_init(&r.y, in->height, height, filter, arithmetic, error);
    if (status == VIT_OK) status = allocate(&r, is_columns_first, error);
    if (status == VIT_OK && r.reads_rows)
        status = rows_as_they_come(&r, to, in, error);
    else if (status == VIT_OK)
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

/* Which of the `from` samples of a side is taken for each of the `to` samples of the result;
 * returns how many there are. Pillow's position grows by adding the step for every sample, torch's
 * ("nearest exact") is multiplied in float32: rounding errors decide which of two neighbours is
 * taken. */
static size_t choose_nearest(size_t *taken, size_t to, size_t from, vit_arithmetic arithmetic) {
    const double step = (double)from / (double)to;
    const float torch_step = (float)from / (float)to;
    double at = 0.5 * step;
    size_t count = 0;
    switch (arithmetic) {
    case VIT_ARITHMETIC_TORCH:
        for (; count < to; count++)
            taken[count] = vit_min((size_t)(((float)count + 0.5F) * torch_step), from - 1);
        break;
    case VIT_ARITHMETIC_PILLOW:
    case VIT_ARITHMETIC_FLOAT:
    case VIT_ARITHMETIC_COUNT:
        for (; count < to && (size_t)at < from; at += step) taken[count++] = (size_t)at;
        break;
    }
    return count;
}

/* Samples past the end stay 0. */
static vit_status resize_nearest(vit_image *out, const vit_image *in, vit_arithmetic arithmetic,
                                 vit_error *error) {
    size_t *columns = vit_alloc(out->width + out->height, sizeof *columns);
    if (!columns)
        return vit_fail_memory(error, "resize", (out->width + out->height) * sizeof *columns);
    size_t *rows = columns + out->width;
    const size_t width = choose_nearest(columns, out->width, in->width, arithmetic);
    const size_t height = choose_nearest(rows, out->height, in->height, arithmetic);
    for (size_t y = 0; y < height; y++)
        take_pixels(out->pixels + y * out->width * in->channels,
                    in->pixels + rows[y] * in->width * in->channels, columns, width, in->channels);
    vit_free(columns);
    return VIT_OK;
}

/* An image of zeros for the result. */
static vit_status new_result(vit_image *out, size_t width, size_t height, size_t channels,
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
    const vit_image_rows size = {in->width, in->height, in->channels, NULL, NULL, NULL};
    const vit_window all = {0, 0, width, height};
    vit_status status = new_result(out, width, height, in->channels, error);
    if (status != VIT_OK) return status;
    if (!kernels) kernels = vit_kernels_choose(VIT_CPU_AVX512);
    if (arithmetic == VIT_ARITHMETIC_FLOAT)
        status = vit_image_resize_float(out, in, filter, error);
    else if (width == in->width && height == in->height)
        memcpy(out->pixels, in->pixels, width * height * in->channels);
    else if (filter == VIT_FILTER_NEAREST)
        status = resize_nearest(out, in, arithmetic, error);
    else
        status = resample(out, &size, in->pixels, width, height, &all, filter, arithmetic, kernels,
                          error);
    if (status != VIT_OK) vit_image_free(out);
    return status;
}

/* Reads all rows first: for a picture that does not get narrower, or is resampled along its columns
 * first. */
static vit_status resize_whole(vit_image *out, const vit_image_rows *in, size_t width,
                               size_t height, const vit_window *window, vit_filter filter,
                               vit_arithmetic arithmetic, const vit_kernels *kernels,
                               vit_error *error) {
    vit_image whole, resized = {0};
    vit_status status = vit_image_new(&whole, "resize", in->width, in->height, in->channels, error);
    if (status == VIT_OK) status = in->read(in->context, whole.pixels, in->height, error);
    if (status == VIT_OK)
        status = vit_image_resize_as(&resized, &whole, width, height, filter, arithmetic, kernels,
                                     error);
    vit_image_free(&whole);
    if (status == VIT_OK)
        status = vit_image_crop(out, &resized, (ptrdiff_t)window->left, (ptrdiff_t)window->top,
                                window->width, window->height, NULL, error);
    vit_image_free(&resized);
    return status;
}

vit_status vit_image_resize_rows(vit_image *out, const vit_image_rows *in, size_t width,
                                 size_t height, const vit_window *window, vit_filter filter,
                                 vit_arithmetic arithmetic, const vit_kernels *kernels,
                                 vit_error *error) {
    *out = (vit_image){0};
    if (filter == VIT_FILTER_NEAREST || width >= in->width || arithmetic == VIT_ARITHMETIC_FLOAT ||
        takes_columns_first(in, width, height, arithmetic))
        return resize_whole(out, in, width, height, window, filter, arithmetic, kernels, error);
    vit_status status = new_result(out, window->width, window->height, in->channels, error);
    if (status != VIT_OK) return status;
    if (!kernels) kernels = vit_kernels_choose(VIT_CPU_AVX512);
    status = resample(out, in, NULL, width, height, window, filter, arithmetic, kernels, error);
    if (status != VIT_OK) vit_image_free(out);
    return status;
}

vit_status vit_image_resize(vit_image *out, const vit_image *in, size_t width, size_t height,
                            vit_filter filter, const vit_kernels *kernels, vit_error *error) {
    return vit_image_resize_as(out, in, width, height, filter, VIT_ARITHMETIC_PILLOW, kernels,
                               error);
}
