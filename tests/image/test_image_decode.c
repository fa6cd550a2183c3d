/* Decoding of sound pictures, against Pillow: tests/fixtures/images_png.txt, images_jpeg.txt, and
 * pictures made by hand where Pillow cannot tell. JPEG of all kinds: test_image_jpeg.c. Files that
 * must be refused: test_image_refuse.c.
 */
#include "tests/support/pictures.h"
#include "tests/support/unit.h"
#include "vit/image/codec/decode.h"

#include <stdlib.h>
#include <string.h>

/* The picture a PNG made by hand holds. */
static vit_image decode_built(const png_builder *png) {
    vit_image image;
    vit_error error;
    if (vit_image_decode(&image, png->bytes, png->size, "a test", &error))
        fail_msg("%s", error.message);
    return image;
}

/* A line of a table: NAME WIDTH HEIGHT CHANNELS CRC, or NAME refused. */
static void check_line(const char *line, size_t *decoded, size_t *refused) {
    char name[128], path[512];
    size_t width = 0, height = 0, channels = 0;
    unsigned crc = 0;
    vit_image image;
    vit_error error;
    int fields = sscanf(line, "%127s %zu %zu %zu %x", name, &width, &height, &channels, &crc);
    snprintf(path, sizeof path, "tests/fixtures/%s%s", strchr(name, '/') ? "images/" : "", name);
    vit_status status = vit_image_load(&image, path, &error);
    if (fields == 1) {
        if (status != VIT_ERROR_FORMAT) fail_msg("%s is corrupt but was read", name);
        assert_non_null(strstr(error.message, path));
        ++*refused;
        return;
    }
    assert_int_equal(fields, 5);
    if (status) fail_msg("%s", error.message);
    if (image.width != width || image.height != height || image.channels != channels)
        fail_msg("%s: %zu x %zu x %zu, Pillow has %zu x %zu x %zu", name, image.width, image.height,
                 image.channels, width, height, channels);
    if (picture_crc(&image) != crc) fail_msg("%s: pixels differ from Pillow's", name);
    vit_image_free(&image);
    ++*decoded;
}

static void reads_png_as_pillow_does(void **state) {
    char line[256];
    size_t decoded = 0, refused = 0;
    FILE *file = open_fixture("images_png.txt");
    while (fgets(line, sizeof line, file)) check_line(line, &decoded, &refused);
    fclose(file);
    assert_true(decoded >= 178);
    assert_int_equal(refused, 14);
}

static void reads_jpeg_as_pillow_does(void **state) {
    char line[256];
    size_t decoded = 0, refused = 0;
    FILE *file = open_fixture("images_jpeg.txt");
    while (fgets(line, sizeof line, file)) check_line(line, &decoded, &refused);
    fclose(file);
    assert_int_equal(refused, 0);
    assert_int_equal(decoded, 8);
}

/* Samples 0x1234 and 0x12ff differ only in the byte that is dropped. */
static void compares_transparent_colors_in_full(void **state) {
    static png_builder png;
    png_begin(&png, 2, 1, 16, 0, 0);
    png_chunk(&png, "tRNS", "\x12\x34", 2);
    png_data(&png, "\0\x12\xff\x12\x34", 5);
    png_chunk(&png, "IEND", NULL, 0);
    vit_image image = decode_built(&png);
    assert_int_equal(image.channels, 2);
    assert_memory_equal(image.pixels, "\x12\xff\x12\0", 4);
    vit_image_free(&image);

    png_begin(&png, 2, 1, 16, 2, 0);
    png_chunk(&png, "tRNS", "\1\2\3\4\5\6", 6);
    png_data(&png, "\0\1\2\3\4\5\6\1\2\3\4\5\7", 13);
    png_chunk(&png, "IEND", NULL, 0);
    image = decode_built(&png);
    assert_int_equal(image.channels, 4);
    assert_memory_equal(image.pixels, "\1\3\5\0\1\3\5\xff", 8);
    vit_image_free(&image);
}

static void scales_samples_of_few_bits(void **state) {
    static png_builder png;
    static const struct {
        int depth;
        const char *row, *pixels;
    } cases[] = {
        {1, "\0\xa0", "\xff\0\xff\0"},
        {2, "\0\x1b", "\0\x55\xaa\xff"},
        {4, "\0\x07\xf8", "\0\x77\xff\x88"},
    };
    for (size_t i = 0; i < 3; i++) {
        png_begin(&png, 4, 1, cases[i].depth, 0, 0);
        png_data(&png, cases[i].row, cases[i].depth == 4 ? 3 : 2);
        png_chunk(&png, "IEND", NULL, 0);
        vit_image image = decode_built(&png);
        assert_int_equal(image.channels, 1);
        assert_memory_equal(image.pixels, cases[i].pixels, 4);
        vit_image_free(&image);
    }
}

/* Colors without an entry in tRNS are opaque; indices of 2 bits; data in three chunks. */
static void expands_palettes(void **state) {
    static png_builder whole, png;
    png_begin(&whole, 4, 1, 2, 3, 0);
    size_t start = whole.size;
    png_data(&whole, "\0\x18", 2);
    const uint8_t *data = whole.bytes + start + 8;
    size_t size = whole.size - start - 12;
    png_begin(&png, 4, 1, 2, 3, 0);
    png_chunk(&png, "PLTE", "abcdefghi", 9);
    png_chunk(&png, "tRNS", "\7", 1);
    png_chunk(&png, "IDAT", data, 1);
    png_chunk(&png, "IDAT", data + 1, 0);
    png_chunk(&png, "IDAT", data + 1, size - 1);
    png_chunk(&png, "IEND", NULL, 0);
    vit_image image = decode_built(&png);
    assert_int_equal(image.channels, 4);
    assert_memory_equal(image.pixels,
                        "abc\7def\xffghi\xff"
                        "abc\7",
                        16);
    vit_image_free(&image);
}

static void tolerates_bytes_after_the_end(void **state) {
    static const char *const names[] = {"image_rgb.png", "image_420_restart.jpg"};
    for (size_t i = 0; i < 2; i++) {
        vit_bytes file = read_fixture(names[i]);
        vit_image image, longer_image;
        vit_error error;
        uint8_t *longer = vit_realloc(file.data, file.size, file.size + 100, 1);
        assert_non_null(longer);
        memset(longer + file.size, 0xff, 100);
        assert_int_equal(vit_image_decode(&image, longer, file.size, "a test", &error), VIT_OK);
        assert_int_equal(vit_image_decode(&longer_image, longer, file.size + 100, "a test", &error),
                         VIT_OK);
        assert_int_equal(picture_crc(&image), picture_crc(&longer_image));
        vit_image_free(&image);
        vit_image_free(&longer_image);
        vit_free(longer);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_png_as_pillow_does),
        cmocka_unit_test(reads_jpeg_as_pillow_does),
        cmocka_unit_test(compares_transparent_colors_in_full),
        cmocka_unit_test(scales_samples_of_few_bits),
        cmocka_unit_test(expands_palettes),
        cmocka_unit_test(tolerates_bytes_after_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
