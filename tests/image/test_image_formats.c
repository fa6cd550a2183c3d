/* All formats but PNG and JPEG: the pixels of Pillow, which are not here but in the fixture
 * (tests/fixtures/make_formats.py), and what is damaged, cut or too large. */
#include "tests/support/unit.h"
#include "vit/base/build.h"
#include "vit/base/sys.h"
#include "vit/image/codec/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const char *const fixture = "tests/fixtures/formats.gz";

typedef struct record {
    char name[64];
    size_t width, height, channels, near, size;
    unsigned orientation, crc;
    uint8_t *bytes, *pixels; /* freed by vit_free; pixels: if `near` */
} record;

static uint8_t *read_bytes(gzFile file, size_t size) {
    uint8_t *bytes = vit_alloc(size, 1);
    assert_non_null(bytes);
    assert_int_equal(gzread(file, bytes, (unsigned)size), size);
    return bytes;
}

static bool read_record(gzFile file, record *r) {
    char line[256];
    if (!gzgets(file, line, sizeof line)) return false;
    assert_int_equal(sscanf(line, "%63s %zu %zu %zu %u %x %zu %zu", r->name, &r->width, &r->height,
                            &r->channels, &r->orientation, &r->crc, &r->near, &r->size),
                     8);
    r->bytes = read_bytes(file, r->size);
    r->pixels = r->near ? read_bytes(file, r->width * r->height * r->channels) : NULL;
    return true;
}

static void forget(record *r) {
    vit_free(r->bytes);
    vit_free(r->pixels);
}

/* Whether this vit was built with what reads the file. */
static bool is_built_in(const record *r) {
    static const struct {
        const char *ending, *name;
    } optional[] = {{".webp", "WebP"}, {".tif", "TIFF"}, {".heic", "HEIC"}, {".avif", "AVIF"}};
    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++)
        if (strstr(r->name, optional[i].ending))
            return strstr(vit_picture_formats(), optional[i].name) != NULL;
    return true;
}

/* [height][width][channels] as the fixture has them: RGB, and alpha if there is one. */
static uint8_t *pixels_of(const vit_image *image, size_t *channels) {
    const size_t count = image->width * image->height;
    const bool has_alpha = image->channels % 2 == 0, is_grey = image->channels < 3;
    *channels = has_alpha ? 4 : 3;
    uint8_t *pixels = vit_alloc(count, *channels);
    assert_non_null(pixels);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *from = image->pixels + i * image->channels;
        for (size_t c = 0; c < 3; c++) pixels[i * *channels + c] = from[is_grey ? 0 : c];
        if (has_alpha) pixels[i * *channels + 3] = from[image->channels - 1];
    }
    return pixels;
}

static bool is_as_expected(const vit_image *image, const record *r) {
    size_t channels, largest = 0;
    uint8_t *pixels = pixels_of(image, &channels);
    const size_t count = image->width * image->height * channels;
    bool same = image->width == r->width && image->height == r->height && channels == r->channels &&
                image->orientation == r->orientation;
    for (size_t i = 0; same && r->near && i < count; i++) {
        const size_t difference = (size_t)abs(pixels[i] - r->pixels[i]);
        if (difference > largest) largest = difference;
    }
    if (same) same = r->near ? largest <= r->near : crc32_z(0, pixels, count) == r->crc;
    vit_free(pixels);
    return same;
}

/* Calls `check` for every file of the fixture; the files that it says are wrong are counted. */
static void check_all(bool (*check)(const record *), size_t expected) {
    record r;
    size_t count = 0, wrong = 0, skipped = 0;
    gzFile file = gzopen(fixture, "rb");
    if (!file) fail_msg("%s cannot be opened", fixture);
    for (; read_record(file, &r); count++) {
        if (!is_built_in(&r)) {
            skipped++;
        } else if (!check(&r)) {
            print_message("%s is wrong\n", r.name);
            wrong++;
        }
        forget(&r);
    }
    gzclose(file);
    if (skipped)
        print_message("%zu files skipped: this vit reads %s\n", skipped, vit_picture_formats());
    assert_int_equal(count, expected);
    assert_int_equal(wrong, 0);
}

static bool decodes(const record *r) {
    vit_image image;
    vit_error error;
    size_t width = 0, height = 0;
    if (vit_image_decode(&image, r->bytes, r->size, r->name, &error) != VIT_OK) {
        print_message("%s\n", error.message);
        return false;
    }
    assert_int_equal(vit_image_measure(&width, &height, r->bytes, r->size, r->name, &error),
                     VIT_OK);
    const bool is_turned = width == image.height && height == image.width;
    const bool same = is_as_expected(&image, r) &&
                      ((width == image.width && height == image.height) || is_turned);
    vit_image_free(&image);
    return same;
}

static void decodes_as_pillow_does(void **state) {
    check_all(decodes, 284);
}

/* A file without its second half. */
static bool is_refused_cut(const record *r) {
    vit_image image;
    vit_error error;
    for (size_t size = 0; size <= r->size / 2; size += 1 + r->size / 40) {
        uint8_t *part = vit_alloc(size, 1); /* of this size, so that reading past it is found */
        assert_non_null(part);
        memcpy(part, r->bytes, size);
        const vit_status status = vit_image_decode(&image, part, size, r->name, &error);
        vit_free(part);
        if (status == VIT_OK) {
            vit_image_free(&image);
            return false;
        }
        if (status != VIT_ERROR_FORMAT && status != VIT_ERROR_UNSUPPORTED) return false;
        if (image.pixels || !strstr(error.message, r->name)) return false;
    }
    return true;
}

static void refuses_cut_files(void **state) {
    check_all(is_refused_cut, 284);
}

/* Every byte changed, in one of two ways: a picture or an error, and never both. */
static bool survives_changes(const record *r) {
    vit_image image;
    vit_error error;
    const size_t step = 1 + r->size / 150;
    for (size_t at = 0; at < r->size; at += step) {
        r->bytes[at] ^= at % 2 ? 0xff : 0x10;
        const vit_status status = vit_image_decode(&image, r->bytes, r->size, r->name, &error);
        r->bytes[at] ^= at % 2 ? 0xff : 0x10;
        if ((status == VIT_OK) != (image.pixels != NULL)) return false;
        vit_image_free(&image);
    }
    return true;
}

static void survives_changed_bytes(void **state) {
    check_all(survives_changes, 284);
}

/* ---- limits and what is refused by its name ---- */

static void assert_refused(const void *bytes, size_t size, vit_status status, const char *reason) {
    vit_image image;
    vit_error error = {0};
    assert_int_equal(vit_image_decode(&image, bytes, size, "some.file", &error), status);
    if (!strstr(error.message, reason)) fail_msg("'%s' lacks '%s'", error.message, reason);
    assert_null(image.pixels);
}

static void refuses_too_many_pixels(void **state) {
    static const char gif[] = "GIF89a\xff\xff\xff\xff\0\0\0,\0\0\0\0\xff\xff\xff\xff\0\2\0";
    static const char tga[18] = {0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, 24, 0};
    assert_refused("P5 60000 60000 255\n", 19, VIT_ERROR_UNSUPPORTED, "60000 x 60000 pixels");
    assert_refused("P5 70000 1 255\n", 15, VIT_ERROR_UNSUPPORTED, "at most 65535 a side");
    assert_refused("P5 9999999999 1 255\n", 20, VIT_ERROR_UNSUPPORTED, "9999999999 x 1 pixels");
    assert_refused("P4 0 3\n", 7, VIT_ERROR_FORMAT, "0 x 3 pixels");
    assert_refused(gif, sizeof gif - 1, VIT_ERROR_UNSUPPORTED, "65535 x 65535 pixels");
    assert_refused(tga, sizeof tga, VIT_ERROR_UNSUPPORTED, "65535 x 65535 pixels");
}

/* A few bytes do not take the memory of a large picture. */
static void refuses_more_pixels_than_bytes_can_hold(void **state) {
    static const char gif[] = "GIF89a\0\x20\0\x20\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0;";
    assert_refused(gif, sizeof gif - 1, VIT_ERROR_FORMAT, "bytes cannot hold 8192 x 8192 pixels");
    assert_refused("P4 9000 9000\n", 13, VIT_ERROR_FORMAT, "13 bytes cannot hold 9000 x 9000");
}

static void refuses_what_a_format_has_not(void **state) {
    static const char cur[] = "\0\0\2\0\1\0\x10\x10\0\0\1\0\1\0\x30\0\0\0\x16\0\0\0";
    assert_refused("P5 1 1 0\n.", 10, VIT_ERROR_FORMAT, "largest sample is 0");
    assert_refused("P5 1 1 70000\n.", 14, VIT_ERROR_FORMAT, "largest sample is 70000");
    assert_refused("P5 1 1 9\n\x0a", 10, VIT_ERROR_FORMAT, "a sample is 10, larger than 9");
    assert_refused("P2 2 1 9 4 10", 13, VIT_ERROR_FORMAT, "larger than 9");
    assert_refused("P2 2 1 9 4 x", 12, VIT_ERROR_FORMAT, "no number at byte 11");
    assert_refused("P1 2 1 12", 9, VIT_ERROR_FORMAT, "larger than 1");
    assert_refused("P3 1 1 255 1 2", 14, VIT_ERROR_FORMAT, "truncated PNM");
    assert_refused("P45 is a road", 13, VIT_ERROR_UNSUPPORTED, "the file is text");
    assert_refused("BMW makes cars", 14, VIT_ERROR_UNSUPPORTED, "the file is text");
    assert_refused(cur, sizeof cur - 1, VIT_ERROR_UNSUPPORTED, "the file is a CUR");
}

/* What is missing is named with what to install. */
static void names_libraries_that_are_missing(void **state) {
    static const struct {
        const char *name, *bytes, *library;
        size_t size;
    } cases[] = {{"WebP", "RIFF\x10\0\0\0WEBPVP8 ", "without libwebp", 16},
                 {"TIFF", "II*\0\x08\0\0\0", "without libtiff", 8},
                 {"HEIC",
                  "\0\0\0\x18"
                  "ftypheic",
                  "without libheif", 12}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool has_it = strstr(vit_picture_formats(), cases[i].name);
        assert_refused(cases[i].bytes, cases[i].size,
                       has_it ? VIT_ERROR_FORMAT : VIT_ERROR_UNSUPPORTED,
                       has_it ? cases[i].name : cases[i].library);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_as_pillow_does),
        cmocka_unit_test(refuses_cut_files),
        cmocka_unit_test(survives_changed_bytes),
        cmocka_unit_test(refuses_too_many_pixels),
        cmocka_unit_test(refuses_more_pixels_than_bytes_can_hold),
        cmocka_unit_test(refuses_what_a_format_has_not),
        cmocka_unit_test(names_libraries_that_are_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
