#include "vit/image/codec/source.h"

#include <stdarg.h>
#include <stdio.h>

enum {
    MESSAGE = 256,
    MAX_RATIO = 4096, /* the longest string that a code of 12 bits can stand for */
};

vit_status vit_source_corrupt(const vit_source *s, const char *format, ...) {
    char what[MESSAGE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return vit_fail(s->error, VIT_ERROR_FORMAT, "%s: corrupt %s: %s", s->name, s->format, what);
}

vit_status vit_source_refuse(const vit_source *s, const char *format, ...) {
    char what[MESSAGE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return vit_fail(s->error, VIT_ERROR_UNSUPPORTED, "%s: the %s %s", s->name, s->format, what);
}

vit_status vit_source_truncated(const vit_source *s) {
    return vit_fail(s->error, VIT_ERROR_FORMAT,
                    "%s: truncated %s: it ends after %zu bytes, before its picture does", s->name,
                    s->format, s->size);
}

vit_status vit_source_check_size(const vit_source *s, size_t width, size_t height) {
    if (width == 0 || height == 0)
        return vit_source_corrupt(s, "it has %zu x %zu pixels", width, height);
    if (width <= VIT_IMAGE_MAX_SIDE && height <= VIT_IMAGE_MAX_SIDE &&
        width * height <= VIT_IMAGE_MAX_PIXELS)
        return VIT_OK;
    return vit_source_refuse(s, "has %zu x %zu pixels; at most %zu a side and %zu in all are read",
                             width, height, VIT_IMAGE_MAX_SIDE, VIT_IMAGE_MAX_PIXELS);
}

vit_status vit_source_check_pixels(const vit_source *s, size_t width, size_t height) {
    const vit_status status = vit_source_check_size(s, width, height);
    if (status != VIT_OK || width * height / MAX_RATIO <= s->size) return status;
    return vit_source_corrupt(s, "its %zu bytes cannot hold %zu x %zu pixels", s->size, width,
                              height);
}

/* round(a b / 255) */
static unsigned multiply(unsigned a, unsigned b) {
    const unsigned t = a * b + 128;
    return (t + (t >> 8)) >> 8;
}

void vit_cmyk_to_rgb(uint8_t *rgb, const uint8_t *cmyk, size_t pixels, bool inverted) {
    const unsigned turn = inverted ? 255 : 0;
    for (; pixels > 0; pixels--, rgb += 3, cmyk += 4) {
        const unsigned light = 255 - (cmyk[3] ^ turn);
        for (int i = 0; i < 3; i++) rgb[i] = (uint8_t)(light - multiply(cmyk[i] ^ turn, light));
    }
}
