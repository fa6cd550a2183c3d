/* Why stb_image decodes some variants of BMP, GIF, PNM and TGA, and our readers the others
 * (vit/image/codec/source.h): stb_image's own pixels of every file of the fixture, beside Pillow's
 * (tests/fixtures/make_formats.py), and what it makes of files that are cut. */
#include "tests/support/unit.h"
#include "vit/base/sys.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <stb_image.h>
#pragma GCC diagnostic pop

typedef struct record {
    char name[64];
    size_t width, height, channels, near, size;
    unsigned orientation, crc;
} record;

typedef enum verdict { REFUSED, DIFFERENT, SAME } verdict;

static verdict judge(const record *r, const uint8_t *bytes, size_t size) {
    int width, height, channels;
    uint8_t *pixels =
        stbi_load_from_memory(bytes, (int)size, &width, &height, &channels, (int)r->channels);
    if (!pixels) return REFUSED;
    const bool same = (size_t)width == r->width && (size_t)height == r->height &&
                      crc32_z(0, pixels, r->width * r->height * r->channels) == r->crc;
    free(pixels);
    return same ? SAME : DIFFERENT;
}

/* Reads the file of the fixture with this name; bytes are freed by vit_free. */
static uint8_t *find(record *r, const char *name) {
    char line[256];
    uint8_t *bytes = NULL;
    gzFile file = gzopen("tests/fixtures/formats.gz", "rb");
    assert_non_null(file);
    while (!bytes && gzgets(file, line, sizeof line)) {
        assert_int_equal(sscanf(line, "%63s %zu %zu %zu %u %x %zu %zu", r->name, &r->width,
                                &r->height, &r->channels, &r->orientation, &r->crc, &r->near,
                                &r->size),
                         8);
        const size_t pixels = r->near ? r->width * r->height * r->channels : 0;
        if (strcmp(r->name, name) == 0) {
            bytes = vit_alloc(r->size, 1);
            assert_non_null(bytes);
            assert_int_equal(gzread(file, bytes, (unsigned)r->size), r->size);
        } else {
            gzseek(file, (z_off_t)(r->size + pixels), SEEK_CUR);
        }
    }
    gzclose(file);
    if (!bytes) fail_msg("the fixture has no %s", name);
    return bytes;
}

/* Without the last bytes, of which there are this many tenths. */
static verdict verdict_on(const char *name, size_t tenths) {
    record r;
    uint8_t *bytes = find(&r, name);
    const verdict v = judge(&r, bytes, r.size - r.size * tenths / 10);
    vit_free(bytes);
    return v;
}

/* Of each variant that the readers hand to stb_image, one. */
static void has_pillows_pixels_of_these(void **state) {
    static const char *const names[] = {
        "rgb.bmp",     "rgba.bmp",     "grey.bmp",      "up.bmp",     "grey.tga",
        "la.tga",      "rgb.tga",      "rgba.tga",      "32-32.tga",  "grey-runs.tga",
        "la-runs.tga", "rgb-runs.tga", "rgba-runs.tga", "raw255.pgm", "raw255.ppm"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (verdict_on(names[i], 0) != SAME) fail_msg("%s is not as by Pillow", names[i]);
}

/* Of each variant that they decode themselves, but samples of two bytes in PNM, for which stb_image
 * reads past its memory. Another version of stb_image may do better: then they have less to do. */
static void has_others_of_these(void **state) {
    static const char *const names[] = {"plain16.bmp",    "masks16.bmp", "core.bmp",  "rle8.bmp",
                                        "alpha.bmp",      "16-0.tga",    "32-16.tga", "offset.tga",
                                        "raw100.pgm",     "text255.pgm", "one.pbm",   "part.gif",
                                        "transparent.gif"};
    size_t same = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (verdict_on(names[i], 0) != SAME) continue;
        print_message("stb_image reads %s as Pillow does\n", names[i]);
        same++;
    }
    assert_true(same < sizeof names / sizeof *names);
}

/* What is missing it makes up, so that the readers check that nothing is, and decode GIF, where
 * that takes decoding. */
static void takes_cut_files_for_whole(void **state) {
    static const char *const names[] = {"rgb.bmp", "rgb.tga", "rgb-runs.tga", "rgb.ppm",
                                        "grey.gif"};
    size_t refused = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (verdict_on(names[i], 1) != REFUSED) continue;
        print_message("stb_image refuses %s when it is cut\n", names[i]);
        refused++;
    }
    assert_true(refused < sizeof names / sizeof *names);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(has_pillows_pixels_of_these),
                                       cmocka_unit_test(has_others_of_these),
                                       cmocka_unit_test(takes_cut_files_for_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
