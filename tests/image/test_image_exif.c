/* Orientation and transparency: EXIF data of Pillow's and by hand, compositing against Pillow. */
#include "tests/support/pictures.h"
#include "vit/image/codec/codecs.h"
#include "vit/image/codec/decode.h"
#include "vit/image/prepare/preprocess.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A directory of two entries, the second of which says 6. */
static const uint8_t little[] = "II*\0\x08\0\0\0\x02\0"
                                "\x0f\x01\x02\0\x04\0\0\0abcd"
                                "\x12\x01\x03\0\x01\0\0\0\x06\0\0\0";
static const uint8_t big[] = "MM\0*\0\0\0\x08\0\x02"
                             "\x01\x0f\0\x02\0\0\0\x04"
                             "abcd\x01\x12\0\x03\0\0\0\x01\0\x06\0\0";
enum { BLOCK = sizeof little - 1, SECOND = 22 };

/* In memory that ends with the data, where a sanitizer sees what is read beyond. */
static unsigned orientation_of(const uint8_t *bytes, size_t size) {
    uint8_t *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    const unsigned orientation = vit_exif_orientation(exact, size);
    free(exact);
    return orientation;
}

static void reads_both_byte_orders(void **state) {
    (void)state;
    assert_int_equal(sizeof big, sizeof little);
    assert_int_equal(orientation_of(little, BLOCK), 6);
    assert_int_equal(orientation_of(big, BLOCK), 6);
}

static void ignores_what_makes_no_sense(void **state) {
    (void)state;
    static const struct {
        size_t at;
        uint8_t value;
    } changes[] = {
        {0, 'M'},        {2, '+'},        {4, 0xff},       {7, 0xff},       {7, 0x80},
        {4, BLOCK - 1},  {4, BLOCK},      {8, 1},          {8, 0},          {SECOND, 0x13},
        {SECOND + 2, 4}, {SECOND + 4, 2}, {SECOND + 8, 0}, {SECOND + 8, 9}, {SECOND + 9, 1},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        uint8_t bytes[BLOCK];
        memcpy(bytes, little, BLOCK);
        bytes[changes[i].at] = changes[i].value;
        if (orientation_of(bytes, BLOCK) != 0) fail_msg("change %zu was believed", i);
    }
    for (size_t size = 0; size < BLOCK; size++) assert_int_equal(orientation_of(little, size), 0);
    uint8_t many[BLOCK]; /* more entries are claimed than there are */
    memcpy(many, little, BLOCK);
    many[8] = many[9] = 0xff;
    assert_int_equal(orientation_of(many, BLOCK), 6);
}

/* Every byte of both blocks takes every value. */
static void survives_any_byte(void **state) {
    (void)state;
    for (size_t at = 0; at < BLOCK; at++) {
        for (int value = 0; value < 256; value++) {
            uint8_t bytes[BLOCK];
            memcpy(bytes, at % 2 ? big : little, BLOCK);
            bytes[at] = (uint8_t)value;
            assert_in_range(orientation_of(bytes, BLOCK), 0, 8);
        }
    }
}

/* Squares of 8 x 8 pixels, three in a row; their levels rise from 20 by 40. */
static void assert_upright(const vit_image *image, const char *name) {
    if (image->width != 24 || image->height != 16)
        fail_msg("%s: %zu x %zu pixels", name, image->width, image->height);
    for (size_t i = 0; i < (size_t)24 * 16; i++) {
        const int expected = (int)(20 + 40 * (i / 24 / 8 * 3 + i % 24 / 8));
        if (abs(image->pixels[i] - expected) > 2)
            fail_msg("%s: pixel %zu is %d, expected %d", name, i, image->pixels[i], expected);
    }
}

static void turns_all_eight(void **state) {
    (void)state;
    for (unsigned i = 0; i < 16; i++) {
        char path[64];
        vit_image image, upright;
        vit_error error;
        snprintf(path, sizeof path, "tests/fixtures/image_exif_%u.%s", i / 2 + 1,
                 i % 2 ? "png" : "jpg");
        if (vit_image_load(&image, path, &error)) fail_msg("%s", error.message);
        assert_int_equal(image.orientation, i / 2 + 1);
        assert_int_equal(vit_image_orient(&upright, &image, &error), VIT_OK);
        assert_upright(&upright, path);
        assert_int_equal(upright.orientation, 0);
        vit_image_free(&image);
        vit_image_free(&upright);
    }
}

/* All channels move together; what is no orientation moves nothing. */
static void turns_any_channels(void **state) {
    (void)state;
    vit_error error;
    for (size_t channels = 1; channels <= 4; channels++) {
        vit_image turned, in = noise_picture(70, 33, channels, 0);
        in.orientation = 6;
        assert_int_equal(vit_image_orient(&turned, &in, &error), VIT_OK);
        assert_int_equal(turned.width, 33);
        for (size_t i = 0; i < (size_t)70 * 33; i++) {
            const size_t x = i % 33, y = i / 33;
            assert_memory_equal(turned.pixels + i * channels,
                                in.pixels + ((32 - x) * 70 + y) * channels, channels);
        }
        vit_image_free(&turned);
        for (unsigned none = 0; none < 12; none += 9) {
            in.orientation = none;
            assert_int_equal(vit_image_orient(&turned, &in, &error), VIT_OK);
            assert_memory_equal(turned.pixels, in.pixels, 70 * 33 * channels);
            vit_image_free(&turned);
        }
        vit_image_free(&in);
    }
}

/* The orientation is that of the file until it is applied, whatever comes before. */
static void is_applied_once_and_late(void **state) {
    (void)state;
    const vit_preprocessing p = {.operations = {{.kind = VIT_OP_GREY},
                                                {.kind = VIT_OP_ORIENT},
                                                {.kind = VIT_OP_ORIENT},
                                                {.kind = VIT_OP_NORMALIZE, .std = {1, 1, 1}}},
                                 .count = 4};
    vit_image out, in = noise_picture(2, 1, 3, 0);
    vit_error error;
    memcpy(in.pixels, "\1\1\1\2\2\2", 6);
    in.orientation = 8; /* the left comes to the bottom */
    assert_int_equal(vit_preprocess(&out, &in, &p, 2, 1, 1, NULL, &error), VIT_OK);
    assert_memory_equal(out.pixels, "\2\1", 2);
    vit_image_free(&out);
    vit_image_free(&in);
}

/* ---- transparency ---- */

static void composites_as_pillow_does(void **state) {
    (void)state;
    FILE *file = open_fixture("images_composite.txt");
    unsigned level, crc, count = 0;
    vit_image out, in = noise_picture(256, 256, 2, 0);
    vit_error error;
    for (size_t i = 0; i < (size_t)256 * 256; i++) {
        in.pixels[2 * i] = (uint8_t)(i % 256);
        in.pixels[2 * i + 1] = (uint8_t)(i / 256);
    }
    for (; fscanf(file, "%u %x", &level, &crc) == 2; count++) {
        const uint8_t background[3] = {(uint8_t)level, (uint8_t)level, (uint8_t)level};
        assert_int_equal(vit_image_composite(&out, &in, background, &error), VIT_OK);
        assert_int_equal(out.channels, 1);
        assert_int_equal(picture_crc(&out), crc);
        vit_image_free(&out);
    }
    assert_int_equal(count, 3);
    fclose(file);
    vit_image_free(&in);
}

static void composites_colors(void **state) {
    (void)state;
    const uint8_t background[3] = {200, 100, 0}, rgba[8] = {1, 2, 3, 0, 10, 20, 30, 51};
    vit_image in, out;
    vit_error error;
    assert_int_equal(vit_image_from_pixels(&in, rgba, 2, 1, 4, 8, &error), VIT_OK);
    assert_int_equal(vit_image_composite(&out, &in, background, &error), VIT_OK);
    assert_int_equal(out.channels, 3);
    assert_memory_equal(out.pixels, "\xc8\x64\0\xa2\x54\6", 6); /* a fifth, four fifths */
    vit_image_free(&out);
    vit_image_free(&in);
    const uint8_t grey_alpha[2] = {9, 0};
    assert_int_equal(vit_image_from_pixels(&in, grey_alpha, 1, 1, 2, 2, &error), VIT_OK);
    assert_int_equal(vit_image_composite(&out, &in, background, &error), VIT_OK);
    assert_int_equal(out.pixels[0], (19595 * 200 + 38470 * 100 + 32768) >> 16);
    vit_image_free(&out);
    vit_image_free(&in);
    for (size_t channels = 1; channels <= 3; channels += 2) { /* nothing to do */
        in = noise_picture(3, 2, channels, 0);
        assert_int_equal(vit_image_composite(&out, &in, background, &error), VIT_OK);
        assert_memory_equal(out.pixels, in.pixels, 6 * channels);
        vit_image_free(&out);
        vit_image_free(&in);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_both_byte_orders),    cmocka_unit_test(ignores_what_makes_no_sense),
        cmocka_unit_test(survives_any_byte),         cmocka_unit_test(turns_all_eight),
        cmocka_unit_test(turns_any_channels),        cmocka_unit_test(is_applied_once_and_late),
        cmocka_unit_test(composites_as_pillow_does), cmocka_unit_test(composites_colors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
