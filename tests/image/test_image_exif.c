/* Orientation and transparency: EXIF data of Pillow's and by hand, compositing against Pillow. */
#include "tests/support/pictures.h"
#include "tests/support/unit.h"
#include "vit/image/codec/codecs.h"
#include "vit/image/codec/decode.h"
#include "vit/image/prepare/preprocess.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

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
    assert_int_equal(sizeof big, sizeof little);
    assert_int_equal(orientation_of(little, BLOCK), 6);
    assert_int_equal(orientation_of(big, BLOCK), 6);
}

/* As Pillow: other types of numbers count, others are an orientation that means nothing. */
static void ignores_what_makes_no_sense(void **state) {
    static const struct {
        size_t at;
        uint8_t value;
        unsigned orientation;
    } changes[] = {
        {0, 'M', 0},
        {2, '+', 0},
        {4, 0xff, 0},
        {7, 0xff, 0},
        {7, 0x80, 0},
        {4, BLOCK - 1, 0},
        {4, BLOCK, 0},
        {8, 1, 0},
        {8, 0, 0},
        {SECOND, 0x13, 0},
        {SECOND + 2, 0, 0},
        {SECOND + 2, 14, 0},
        {SECOND + 4, 0, 0},
        {SECOND + 2, 4, 6},
        {SECOND + 2, 8, 6},
        {SECOND + 4, 2, 6},
        {SECOND + 2, 1, VIT_ORIENTATION_UNKNOWN},
        {SECOND + 2, 2, VIT_ORIENTATION_UNKNOWN},
        {SECOND + 4, 3, VIT_ORIENTATION_UNKNOWN},
        {SECOND + 8, 0, VIT_ORIENTATION_UNKNOWN},
        {SECOND + 8, 9, VIT_ORIENTATION_UNKNOWN},
        {SECOND + 9, 1, VIT_ORIENTATION_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        uint8_t bytes[BLOCK];
        memcpy(bytes, little, BLOCK);
        bytes[changes[i].at] = changes[i].value;
        if (orientation_of(bytes, BLOCK) != changes[i].orientation)
            fail_msg("change %zu gives %u", i, orientation_of(bytes, BLOCK));
    }
    for (size_t size = 0; size < BLOCK; size++) assert_int_equal(orientation_of(little, size), 0);
    uint8_t many[BLOCK]; /* more entries are claimed than there are */
    memcpy(many, little, BLOCK);
    many[8] = many[9] = 0xff;
    assert_int_equal(orientation_of(many, BLOCK), 6);
}

/* Every byte of both blocks takes every value. */
static void survives_any_byte(void **state) {
    for (size_t at = 0; at < BLOCK; at++) {
        for (int value = 0; value < 256; value++) {
            uint8_t bytes[BLOCK];
            memcpy(bytes, at % 2 ? big : little, BLOCK);
            bytes[at] = (uint8_t)value;
            assert_in_range(orientation_of(bytes, BLOCK), 0, VIT_ORIENTATION_UNKNOWN);
        }
    }
}

/* ---- XMP, and text chunks of PNG: all as Pillow's exif_transpose reads them ---- */

static unsigned xmp_of(const char *text) {
    const size_t size = strlen(text);
    uint8_t *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    memcpy(exact, text, size);
    const unsigned orientation = vit_xmp_orientation(exact, size);
    free(exact);
    return orientation;
}

static void reads_xmp(void **state) {
    assert_int_equal(xmp_of("<a tiff:Orientation=\"6\"/>"), 6);
    assert_int_equal(xmp_of("<tiff:Orientation>3</tiff:Orientation>"), 3);
    assert_int_equal(xmp_of("tiff:Orientation='6' tiff:Orientation>x tiff:Orientation=\"8"), 8);
    assert_int_equal(xmp_of("tiff:Orientation=\"9"), 9);
    assert_int_equal(xmp_of("tiff:Orientation>"), 0);
    assert_int_equal(xmp_of("tiff:Orientation=\""), 0);
    assert_int_equal(xmp_of("tiff:Orientation= \"6\""), 0);
    assert_int_equal(xmp_of(""), 0);
}

typedef struct part {
    const char *type, *data; /* of a JPEG: APP1 */
    size_t size;
} part;
#define PART(type, data) \
    { type, data, sizeof data - 1 }
#define XMP(digit) "<x tiff:Orientation=\"" digit "\"/>"
#define EXIF_OF(digit)      \
    "II*\0\x08\0\0\0\x01\0" \
    "\x12\x01\x03\0\x01\0\0\0" digit "\0\0\0\0\0\0\0"

static void reads_chunks_of_png(void **state) {
    static const struct {
        part parts[2];
        unsigned orientation;
    } cases[] = {
        {{PART("iTXt", "XML:com.adobe.xmp\0\0\0\0\0" XMP("6"))}, 6},
        {{PART("tEXt", "XML:com.adobe.xmp\0" XMP("5"))}, 5},
        {{PART("iTXt", "XML:com.adobe.xmp\0\0\0en\0x\0" XMP("9"))}, 0},
        {{PART("iTXt", "XML:com.adobe.xmp\0\0\0en" XMP("6"))}, 0},
        {{PART("iTXt", "XML:com.adobe.xmp\0\0\1\0\0" XMP("6"))}, 0},
        {{PART("iTXt", "XML:com.adobe.xmp\0"), PART("zTXt", "XML:com.adobe.xmp")}, 0},
        {{PART("zTXt", "XML:com.adobe.xmp\0\0no zlib")}, 0},
        {{PART("tEXt", "Comment\0" XMP("6"))}, 0},
        {{PART("eXIf", EXIF_OF("\3")), PART("tEXt", "XML:com.adobe.xmp\0" XMP("5"))}, 3},
        {{PART("eXIf", EXIF_OF("\0")), PART("tEXt", "XML:com.adobe.xmp\0" XMP("5"))}, 0},
        {{PART("eXIf", "II*\0"), PART("tEXt", "XML:com.adobe.xmp\0" XMP("5"))}, 5},
        {{PART("tEXt", "Raw profile type exif\0\nexif\n      32\n"
                       "45786966000049492a000800000001001201030001000000\n08000000\n")},
         8},
        {{PART("tEXt", "Raw profile type exif\0\nexif\n      32\n4")}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static png_builder png;
        vit_image image;
        vit_error error;
        png_begin(&png, 1, 1, 8, 0, 0);
        for (size_t k = 0; k < 2 && cases[i].parts[k].type; k++)
            png_chunk(&png, cases[i].parts[k].type, cases[i].parts[k].data, cases[i].parts[k].size);
        png_data(&png, "\0\1", 2);
        png_chunk(&png, "IEND", NULL, 0);
        assert_int_equal(vit_image_decode(&image, png.bytes, png.size, "a test", &error), VIT_OK);
        if (image.orientation != cases[i].orientation)
            fail_msg("case %zu gives %u", i, image.orientation);
        vit_image_free(&image);
    }
}

/* XMP that is packed, of a megabyte and one byte more. */
static void reads_packed_text_of_png(void **state) {
    static const char head[] = "XML:com.adobe.xmp\0\1\0\0"; /* and a zero byte */
    for (size_t more = 0; more < 2; more++) {
        static png_builder png;
        vit_image image;
        vit_error error;
        const size_t size = (1 << 20) + more;
        uint8_t *text = calloc(size, 1), packed[1 << 14];
        uLongf count = sizeof packed - sizeof head;
        assert_non_null(text);
        memcpy(text, XMP("7"), sizeof XMP("7"));
        memcpy(packed, head, sizeof head);
        assert_int_equal(compress(packed + sizeof head, &count, text, (uLong)size), Z_OK);
        png_begin(&png, 1, 1, 8, 0, 0);
        png_chunk(&png, "iTXt", packed, sizeof head + count);
        png_data(&png, "\0\1", 2);
        png_chunk(&png, "IEND", NULL, 0);
        assert_int_equal(vit_image_decode(&image, png.bytes, png.size, "a test", &error), VIT_OK);
        assert_int_equal(image.orientation, more ? 0 : 7);
        vit_image_free(&image);
        free(text);
    }
}

static void reads_segments_of_jpeg(void **state) {
    static const char xmp[] = "http://ns.adobe.com/xap/1.0/\0" XMP("6");
    static const char exif[] = "Exif\0\0" EXIF_OF("\3");
    static const char other[] = "Exif\0\0II*\0";
    const struct {
        part parts[2];
        unsigned orientation;
    } cases[] = {
        {{PART("", xmp)}, 6},
        {{PART("", exif), PART("", xmp)}, 3},
        {{PART("", xmp), PART("", exif)}, 3},
        {{PART("", other), PART("", xmp)}, 6},
    };
    vit_bytes file = read_fixture("image_grey.jpg");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bytes[2048];
        vit_image image;
        vit_error error;
        size_t at = 2;
        memcpy(bytes, file.data, 2);
        for (size_t k = 0; k < 2 && cases[i].parts[k].type; k++) {
            const size_t size = cases[i].parts[k].size;
            memcpy(bytes + at, "\xff\xe1\0", 3);
            bytes[at + 3] = (uint8_t)(size + 2);
            memcpy(bytes + at + 4, cases[i].parts[k].data, size);
            at += size + 4;
        }
        memcpy(bytes + at, file.data + 2, file.size - 2);
        if (vit_image_decode(&image, bytes, at + file.size - 2, "a test", &error))
            fail_msg("%s", error.message);
        if (image.orientation != cases[i].orientation)
            fail_msg("case %zu gives %u", i, image.orientation);
        vit_image_free(&image);
    }
    vit_free(file.data);
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
        cmocka_unit_test(survives_any_byte),         cmocka_unit_test(reads_xmp),
        cmocka_unit_test(reads_chunks_of_png),       cmocka_unit_test(reads_packed_text_of_png),
        cmocka_unit_test(reads_segments_of_jpeg),    cmocka_unit_test(turns_all_eight),
        cmocka_unit_test(turns_any_channels),        cmocka_unit_test(is_applied_once_and_late),
        cmocka_unit_test(composites_as_pillow_does), cmocka_unit_test(composites_colors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
