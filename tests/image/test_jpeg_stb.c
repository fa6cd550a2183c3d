/* JPEG in a build without libjpeg-turbo (make JPEG=no): near to Pillow's pixels; what is cut, or
 * has impossible numbers, is refused. The two files are compiled here as such a build does. */
#undef VIT_JPEG
#include "vit/image/codec/stb.c"

#include "vit/image/codec/jpeg_stb.c"

#include "tests/support/unit.h"
#include "vit/base/sys.h"

#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

/* With Pillow's pixels of each, one after another, in tests/fixtures/jpeg_pixels.gz; their
 * checksums are those in tests/fixtures/images_jpeg.txt. */
static const struct {
    const char *name;
    unsigned crc;
    double mean; /* of the differences, at most */
} files[] = {{"420_restart", 0xb2712aaf, 4},
             {"cmyk", 0xd7bf9abb, 4},
             {"grey", 0xf947d048, 1},
             {"progressive", 0x67f9ba6c, 4}};
#define FILES (sizeof files / sizeof *files)

static vit_bytes load(const char *name) {
    char path[100];
    vit_bytes bytes;
    snprintf(path, sizeof path, "tests/fixtures/image_%s.jpg", name);
    assert_int_equal(vit_read_file(&bytes, path, 1 << 24, NULL), VIT_OK);
    return bytes;
}

static vit_status decode_bytes(vit_image *image, const uint8_t *bytes, size_t size,
                               vit_error *error) {
    vit_jpeg *jpeg;
    vit_status status = vit_jpeg_open(&jpeg, image, bytes, size, "x.jpg", error);
    if (status != VIT_OK) return status;
    image->pixels = vit_alloc(image->width * image->height, image->channels);
    assert_non_null(image->pixels);
    for (size_t y = 0; y < image->height && status == VIT_OK; y++)
        status = vit_jpeg_rows(jpeg, image->pixels + y * image->width * image->channels, 1, error);
    vit_jpeg_close(jpeg);
    if (status != VIT_OK) vit_image_free(image);
    return status;
}

static double mean_difference(const vit_image *image, const uint8_t *pixels) {
    const size_t count = image->width * image->height * image->channels;
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += abs(image->pixels[i] - pixels[i]);
    return sum / (double)count;
}

static void is_near_to_pillow(void **state) {
    gzFile file = gzopen("tests/fixtures/jpeg_pixels.gz", "rb");
    assert_non_null(file);
    for (size_t i = 0; i < FILES; i++) {
        static uint8_t pixels[1 << 16];
        vit_bytes bytes = load(files[i].name);
        vit_image image;
        vit_error error;
        assert_int_equal(decode_bytes(&image, bytes.data, bytes.size, &error), VIT_OK);
        const size_t count = image.width * image.height * image.channels;
        assert_int_equal(gzread(file, pixels, (unsigned)count), count);
        assert_int_equal(crc32_z(0, pixels, count), files[i].crc);
        const double mean = mean_difference(&image, pixels);
        if (mean > files[i].mean) fail_msg("%s differs by %g levels", files[i].name, mean);
        vit_image_free(&image);
        vit_free(bytes.data);
    }
    gzclose(file);
}

static void reads_the_orientation(void **state) {
    vit_bytes bytes = load("exif_6");
    vit_image image;
    vit_error error;
    assert_int_equal(decode_bytes(&image, bytes.data, bytes.size, &error), VIT_OK);
    assert_int_equal(image.orientation, 6);
    vit_image_free(&image);
    vit_free(bytes.data);
}

static void refuses_every_prefix(void **state) {
    for (size_t i = 0; i < FILES; i++) {
        vit_bytes bytes = load(files[i].name);
        for (size_t size = 3; size < bytes.size; size++) {
            uint8_t *part = vit_alloc(size, 1); /* of this size, so that reading past it is found */
            vit_image image;
            vit_error error;
            assert_non_null(part);
            memcpy(part, bytes.data, size);
            assert_int_equal(decode_bytes(&image, part, size, &error), VIT_ERROR_FORMAT);
            vit_free(part);
        }
        vit_free(bytes.data);
    }
}

static void survives_every_changed_byte(void **state) {
    static const uint8_t changes[] = {0x01, 0x80, 0xff};
    size_t refused = 0;
    for (size_t i = 0; i < FILES; i++) {
        vit_bytes bytes = load(files[i].name);
        for (size_t at = 3; at < 3 * bytes.size; at++) {
            vit_image image;
            vit_error error;
            bytes.data[at / 3] ^= changes[at % 3];
            if (decode_bytes(&image, bytes.data, bytes.size, &error) == VIT_OK)
                vit_image_free(&image);
            else
                refused++;
            bytes.data[at / 3] ^= changes[at % 3];
        }
        vit_free(bytes.data);
    }
    assert_true(refused > 100);
}

/* A Huffman table of 16 x 255 codes, for which stb_image has no room. */
static void refuses_impossible_tables(void **state) {
    vit_bytes bytes = load("grey");
    vit_image image;
    vit_error error;
    uint8_t *table = bytes.data;
    while (table[0] != 0xff || table[1] != DHT) table++;
    memset(table + 5, 0xff, 16);
    assert_int_equal(decode_bytes(&image, bytes.data, bytes.size, &error), VIT_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "Huffman table"));
    vit_free(bytes.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_near_to_pillow), cmocka_unit_test(reads_the_orientation),
        cmocka_unit_test(refuses_every_prefix), cmocka_unit_test(refuses_impossible_tables),
        cmocka_unit_test(survives_every_changed_byte)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
