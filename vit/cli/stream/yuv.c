#include "vit/cli/stream/yuv.h"

#include <stdio.h>
#include <string.h>

#include "vit/base/size.h"
#include "vit/base/text.h"

/* ---- the header ---- */

static const struct {
    const char *name;
    size_t across, down;
} colours[] = {{"420jpeg", 2, 2}, {"420mpeg2", 2, 2}, {"420paldv", 2, 2}, {"420", 2, 2},
               {"422", 2, 1},     {"411", 4, 1},      {"444", 1, 1},      {"mono", 0, 0}};

static vit_status set_colours(vit_yuv *y, const char *word, vit_error *error) {
    for (size_t i = 0; i < VIT_COUNT(colours); i++) {
        if (strcmp(word, colours[i].name) != 0) continue;
        y->across = colours[i].across;
        y->down = colours[i].down;
        return VIT_OK;
    }
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "its colours are C%s, expected C420jpeg, C420mpeg2, C420paldv, C422, C411, "
                    "C444 or Cmono: ffmpeg -pix_fmt yuv420p makes such",
                    word);
}

static bool parse_side(size_t *side, const char *word) {
    uint64_t value;
    if (!vit_parse_u64(word, &value) || value == 0 || value > 65535) return false;
    *side = (size_t)value;
    return true;
}

/* "25:1"; "0:0" is unknown. */
static bool parse_rate(double *rate, const char *word) {
    char first[32];
    uint64_t a, b;
    const char *colon = strchr(word, ':');
    if (!colon || colon - word >= (ptrdiff_t)sizeof first) return false;
    memcpy(first, word, (size_t)(colon - word));
    first[colon - word] = 0;
    if (!vit_parse_u64(first, &a) || !vit_parse_u64(colon + 1, &b)) return false;
    *rate = b > 0 ? (double)a / (double)b : 0;
    return true;
}

static vit_status parse_word(vit_yuv *y, const char *word, vit_error *error) {
    static const char range[] = "XCOLORRANGE=";
    bool fine = true;
    if (*word == 'W') fine = parse_side(&y->width, word + 1);
    if (*word == 'H') fine = parse_side(&y->height, word + 1);
    if (*word == 'F') fine = parse_rate(&y->rate, word + 1);
    if (*word == 'C') return set_colours(y, word + 1, error);
    if (strncmp(word, range, sizeof range - 1) == 0) {
        const char *value = word + sizeof range - 1;
        y->is_full = strcmp(value, "FULL") == 0;
        y->is_limited = strcmp(value, "LIMITED") == 0;
        fine = y->is_full || y->is_limited;
    }
    return fine ? VIT_OK
                : vit_fail(error, VIT_ERROR_FORMAT, "\"%s\" in its header is not understood", word);
}

vit_status vit_yuv_parse(vit_yuv *y, const char *line, vit_error *error) {
    char word[128];
    vit_status status = VIT_OK;
    *y = (vit_yuv){.across = 2, .down = 2, .matrix = y->matrix};
    for (const char *at = line + strcspn(line, " "); *at && status == VIT_OK;) {
        at += strspn(at, " ");
        const size_t length = strcspn(at, " ");
        if (length >= sizeof word)
            return vit_fail(error, VIT_ERROR_FORMAT, "a word of its header is too long");
        memcpy(word, at, length);
        word[length] = 0;
        if (length > 0) status = parse_word(y, word, error);
        at += length;
    }
    if (y->across == 0 && !y->is_limited) y->is_full = true; /* as ffmpeg writes and reads grey */
    if (status == VIT_OK && (y->width == 0 || y->height == 0))
        status = vit_fail(error, VIT_ERROR_FORMAT, "its header says no size, W640 H480");
    return status;
}

static size_t plane_width(const vit_yuv *y) {
    return y->across > 0 ? (y->width + y->across - 1) / y->across : 0;
}

static size_t plane_height(const vit_yuv *y) {
    return y->down > 0 ? (y->height + y->down - 1) / y->down : 0;
}

size_t vit_yuv_size(const vit_yuv *y) {
    return y->width * y->height + 2 * plane_width(y) * plane_height(y);
}

/* ---- colours ---- */

enum { BITS = 16 };

/* What the samples count in red, green and blue, in 1 / 65536. */
typedef struct weights {
    int32_t y, red_v, green_u, green_v, blue_u, offset; /* offset: of Y */
} weights;

static int32_t rounded(double value) {
    const double scaled = value * (1 << BITS);
    return (int32_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

/* ITU-R BT.601 and BT.709: the shares of red and blue in Y. */
static weights weights_of(const vit_yuv *yuv) {
    static const double red[] = {[VIT_YUV_BT601] = 0.299, [VIT_YUV_BT709] = 0.2126};
    static const double blue[] = {[VIT_YUV_BT601] = 0.114, [VIT_YUV_BT709] = 0.0722};
    VIT_CHECK_ROWS(red, VIT_YUV_COUNT);
    VIT_CHECK_ROWS(blue, VIT_YUV_COUNT);
    const double r = red[yuv->matrix], b = blue[yuv->matrix], g = 1 - r - b;
    const double y = yuv->is_full ? 1 : 255.0 / 219, c = yuv->is_full ? 1 : 255.0 / 224;
    return (weights){.y = rounded(y),
                     .red_v = rounded(c * 2 * (1 - r)),
                     .green_u = rounded(-c * 2 * b * (1 - b) / g),
                     .green_v = rounded(-c * 2 * r * (1 - r) / g),
                     .blue_u = rounded(c * 2 * (1 - b)),
                     .offset = yuv->is_full ? 0 : 16};
}

static uint8_t level(int32_t scaled) {
    const int32_t value = (scaled + (1 << (BITS - 1))) >> BITS;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static void convert_grey(uint8_t *rgb, const weights *w, const uint8_t *ys, size_t width) {
    for (size_t k = 0; k < width; k++) rgb[k] = level(w->y * (ys[k] - w->offset));
}

/* A row of pixels, of which `across` share the samples u and v. */
static void convert_row(uint8_t *rgb, const weights *w, const uint8_t *ys, const uint8_t *us,
                        const uint8_t *vs, size_t width, size_t across) {
    for (size_t k = 0; k < width; us++, vs++) {
        const int32_t u = *us - 128, v = *vs - 128;
        const int32_t red = w->red_v * v, green = w->green_u * u + w->green_v * v;
        const int32_t blue = w->blue_u * u;
        for (const size_t end = vit_min(k + across, width); k < end; k++, rgb += 3) {
            const int32_t y = w->y * (ys[k] - w->offset);
            rgb[0] = level(y + red);
            rgb[1] = level(y + green);
            rgb[2] = level(y + blue);
        }
    }
}

void vit_yuv_convert(uint8_t *rgb, const vit_yuv *yuv, const uint8_t *planes) {
    const weights w = weights_of(yuv);
    const size_t width = yuv->width, row = plane_width(yuv);
    const uint8_t *us = planes + width * yuv->height, *vs = us + row * plane_height(yuv);
    for (size_t i = 0; i < yuv->height; i++) {
        const uint8_t *ys = planes + i * width;
        if (yuv->across == 0) {
            convert_grey(rgb + i * width, &w, ys, width);
            continue;
        }
        const size_t at = i / yuv->down * row;
        convert_row(rgb + i * 3 * width, &w, ys, us + at, vs + at, width, yuv->across);
    }
}
