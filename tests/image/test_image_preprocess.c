/* Lists of operations: against the libraries that published them (tests/fixtures/
 * images_pipelines.txt), and as JSON. */
#include "tests/support/pictures.h"
#include "tests/support/unit.h"
#include "vit/base/text.h"
#include "vit/image/codec/decode.h"
#include "vit/image/prepare/preprocess.h"

#include <string.h>
#include <zlib.h>

#define HALF "{\"op\": \"normalize\", \"mean\": [0.5], \"std\": [0.5]}"

/* As they are written. */
static const char *const lists[] = {
    "[{\"op\": \"rgb\"}, {\"op\": \"resize\", \"shorter\": 248, \"filter\": \"bicubic\", "
    "\"crop_share\": 0.9}, {\"op\": \"center_crop\", \"height\": 224, \"width\": 224}, " HALF "]",
    "[{\"op\": \"orient\"}, {\"op\": \"composite\", \"background\": [255, 0, 7]}, "
    "{\"op\": \"digit\"}, {\"op\": \"normalize\", \"mean\": [0.1307], \"std\": [0.3081]}]",
    "[{\"op\": \"grey\"}, {\"op\": \"resize\", \"height\": 30, \"width\": 28, "
    "\"fit\": \"contain\", \"filter\": \"hamming\", \"arithmetic\": \"torch\"}, "
    "{\"op\": \"center_crop\", \"height\": 28, \"width\": 28, \"rounding\": \"floor\", "
    "\"background\": [124, 116, 104]}, "
    "{\"op\": \"normalize\", \"mean\": [0.485, 0.456, 0.406], \"std\": [0.229, 0.224, 0.225], "
    "\"rescale\": 0.00392156862745098, \"fused\": true}]",
    "[{\"op\": \"resize\", \"height\": 9, \"width\": 9, \"fit\": \"cover\", "
    "\"filter\": \"nearest\"}, {\"op\": \"center_crop\", \"height\": 9, \"width\": 9, "
    "\"rounding\": \"zero\"}, {\"op\": \"normalize\", \"mean\": [0], \"std\": [1], "
    "\"rescale\": 0.5}]",
};

static vit_preprocessing read_list(const char *json) {
    vit_preprocessing p;
    vit_error error;
    if (vit_preprocessing_read(&p, json, "a test", &error)) fail_msg("%s", error.message);
    return p;
}

/* The tensor [channels][height][width] as the network would see it. */
static uint32_t tensor_crc(const vit_image *image, const vit_preprocessing *p) {
    float table[3][256];
    uLong crc = 0;
    vit_normalize_table(table, p, image->channels);
    for (size_t c = 0; c < image->channels; c++) {
        for (size_t i = 0; i < image->width * image->height; i++) {
            const float *value = &table[c][image->pixels[i * image->channels + c]];
            crc = crc32(crc, (const Bytef *)value, sizeof *value);
        }
    }
    return (uint32_t)crc;
}

typedef struct pipeline {
    char name[32];
    size_t height, width, channels;
    vit_preprocessing list;
} pipeline;

static void check_pipeline(const pipeline *p, const vit_image *in, const char *what,
                           uint32_t expected) {
    vit_image out;
    vit_error error;
    if (vit_preprocess(&out, in, &p->list, p->height, p->width, p->channels, NULL, &error))
        fail_msg("%s of %s: %s", p->name, what, error.message);
    if (tensor_crc(&out, &p->list) != expected)
        fail_msg("%s of %s differs from Python's", p->name, what);
    vit_image_free(&out);
}

/* What a line of the fixture says; false: it is of another kind. */
static bool check_noise(const pipeline *p, const char *line) {
    size_t width, height;
    unsigned crc;
    if (sscanf(line, "noise %zu %zu %x", &width, &height, &crc) != 3) return false;
    vit_image in = noise_picture(width, height, 3, 0);
    check_pipeline(p, &in, line, crc);
    vit_image_free(&in);
    return true;
}

static bool check_file(const pipeline *p, const char *line) {
    char name[64];
    unsigned crc;
    vit_image in;
    vit_error error;
    if (sscanf(line, "file %63s %x", name, &crc) != 2) return false;
    vit_bytes bytes = read_fixture(name);
    if (vit_image_decode(&in, bytes.data, bytes.size, name, &error)) fail_msg("%s", error.message);
    check_pipeline(p, &in, name, crc);
    vit_image_free(&in);
    vit_free(bytes.data);
    return true;
}

static bool read_pipeline(pipeline *p, const char *line) {
    int at = 0;
    if (sscanf(line, "list %31s %zu %zu %zu %n", p->name, &p->height, &p->width, &p->channels,
               &at) != 4)
        return false;
    p->list = read_list(line + at);
    return true;
}

static void prepares_as_the_libraries_do(void **state) {
    FILE *file = open_fixture("images_pipelines.txt");
    static char line[2048];
    pipeline p;
    size_t count = 0;
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "crop", 4) == 0) continue;
        if (read_pipeline(&p, line)) continue;
        if (!check_noise(&p, line) && !check_file(&p, line)) fail_msg("%s", line);
        count++;
    }
    fclose(file);
    assert_int_equal(count, 264);
}

/* A decoded picture of 20 x 30 in floating point, whole or row by row. */
static vit_image prepare_floats(const vit_bytes *bytes, const char *text, bool by_rows) {
    const vit_preprocessing list = read_list(text);
    vit_image whole = {0}, out;
    vit_error error;
    vit_status status;
    if (by_rows) {
        status = vit_preprocess_bytes(&out, bytes->data, bytes->size, "a picture", &list, 20, 30, 3,
                                      NULL, &error);
    } else {
        status = vit_image_decode(&whole, bytes->data, bytes->size, "a picture", &error);
        if (status == VIT_OK) status = vit_preprocess(&out, &whole, &list, 20, 30, 3, NULL, &error);
        vit_image_free(&whole);
    }
    if (status != VIT_OK) fail_msg("%s", error.message);
    assert_non_null(out.floats);
    return out;
}

static void floats_survive_reading_by_rows(void **state) {
#define FLOATS "\"filter\": \"bilinear\", \"arithmetic\": \"float\"}, "
    static const char *const both_ways[] = {
        "[{\"op\": \"resize\", \"height\": 20, \"width\": 30, " FLOATS HALF "]",
        "[{\"op\": \"resize\", \"height\": 23, \"width\": 31, " FLOATS
        "{\"op\": \"center_crop\", \"height\": 20, \"width\": 30}, " HALF "]"};
    vit_bytes bytes = read_fixture("image_progressive.jpg");
    for (size_t i = 0; i < 2; i++) {
        vit_image whole = prepare_floats(&bytes, both_ways[i], false);
        vit_image by_rows = prepare_floats(&bytes, both_ways[i], true);
        assert_memory_equal(by_rows.floats, whole.floats, sizeof(float[20 * 30 * 3]));
        vit_image_free(&whole);
        vit_image_free(&by_rows);
    }
    vit_free(bytes.data);
}

/* A column of pixels that know where they are; outside is 0. */
static void check_crop(size_t size, size_t crop, const char *rounding, int offset) {
    char json[256];
    vit_image out, in = noise_picture(1, size, 1, 0);
    vit_error error;
    for (size_t i = 0; i < size; i++) in.pixels[i] = (uint8_t)(i + 1);
    snprintf(
        json, sizeof json,
        "[{\"op\": \"center_crop\", \"height\": %zu, \"width\": 1, \"rounding\": \"%s\"}, " HALF
        "]",
        crop, rounding);
    vit_preprocessing p = read_list(json);
    assert_int_equal(vit_preprocess(&out, &in, &p, crop, 1, 1, NULL, &error), VIT_OK);
    for (int i = 0; i < (int)crop; i++) {
        int from = i + offset;
        int expected = from >= 0 && from < (int)size ? from + 1 : 0;
        if (out.pixels[i] != expected)
            fail_msg("%zu cropped to %zu, %s: row %d is %d, expected %d", size, crop, rounding, i,
                     out.pixels[i], expected);
    }
    vit_image_free(&out);
    vit_image_free(&in);
}

static void crops_where_the_libraries_do(void **state) {
    static const char *const roundings[] = {"even", "zero", "floor"};
    FILE *file = open_fixture("images_pipelines.txt");
    static char line[2048];
    size_t size, crop, count = 0;
    int offset[3];
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "crop %zu %zu %d %d %d", &size, &crop, &offset[0], &offset[1],
                   &offset[2]) != 5)
            continue;
        for (size_t i = 0; i < 3; i++) check_crop(size, crop, roundings[i], offset[i]);
        count++;
    }
    fclose(file);
    assert_int_equal(count, 23 * 23);
}

static void lists_survive_writing(void **state) {
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        vit_preprocessing first = read_list(lists[i]);
        char *text = vit_preprocessing_write(&first);
        assert_non_null(text);
        assert_string_equal(text, lists[i]);
        vit_preprocessing second = read_list(text);
        assert_memory_equal(&first, &second, sizeof first);
        vit_free(text);
    }
}

static void refuses_bad_lists(void **state) {
    static const struct {
        const char *json, *message;
    } cases[] = {
        {"[", "not valid JSON"},
        {"{}", "array of 1 to 16"},
        {"[]", "array of 1 to 16"},
        {"[{\"op\": \"rgb\"}]", "must be the last operation"},
        {"[" HALF ", " HALF "]", "must be the last operation"},
        {"[" HALF ", {\"op\": \"rgb\"}]", "operation 1 (normalize)"},
        {"[3, " HALF "]", "expected an object"},
        {"[{\"height\": 3}, " HALF "]", "\"op\" is missing"},
        {"[{\"op\": \"rezise\"}, " HALF "]", "did you mean resize"},
        {"[{\"op\": \"frobnicate\"}, " HALF "]",
         "known: grey, rgb, resize, center_crop, crop, orient, composite, digit, normalize"},
        {"[{\"op\": \"rgb\", \"op\": \"grey\"}, " HALF "]", "duplicate"},
        {"[{\"op\": \"rgb\", \"size\": 3}, " HALF "]", "unknown key \"size\""},
        {"[{\"op\": \"resize\", \"heigth\": 3, \"width\": 3, \"filter\": \"box\"}, " HALF "]",
         "did you mean height"},
        {"[{\"op\": \"resize\", \"height\": 3, \"filter\": \"box\"}, " HALF "]",
         "\"width\" is missing"},
        {"[{\"op\": \"resize\", \"filter\": \"box\"}, " HALF "]", "expected either \"shorter\""},
        {"[{\"op\": \"resize\", \"shorter\": 3, \"width\": 3, \"filter\": \"box\"}, " HALF "]",
         "expected either \"shorter\""},
        {"[{\"op\": \"resize\", \"shorter\": 0, \"filter\": \"box\"}, " HALF "]",
         "from 1 to 65535"},
        {"[{\"op\": \"resize\", \"shorter\": 2.5, \"filter\": \"box\"}, " HALF "]",
         "from 1 to 65535"},
        {"[{\"op\": \"resize\", \"shorter\": 3}, " HALF "]", "\"filter\" is missing"},
        {"[{\"op\": \"resize\", \"shorter\": 3, \"filter\": \"bicubik\"}, " HALF "]",
         "did you mean bicubic"},
        {"[{\"op\": \"center_crop\", \"height\": 70000, \"width\": 3}, " HALF "]",
         "operation 1 (center_crop): \"height\""},
        {"[{\"op\": \"resize\", \"shorter\": 3, \"fit\": \"cover\", \"filter\": \"box\"}, " HALF
         "]",
         "\"fit\" goes with \"height\" and \"width\""},
        {"[{\"op\": \"resize\", \"height\": 3, \"width\": 3, \"fit\": \"covers\", "
         "\"filter\": \"box\"}, " HALF "]",
         "unknown fit \"covers\"; did you mean cover"},
        {"[{\"op\": \"resize\", \"shorter\": 3, \"filter\": \"box\", \"arithmetic\": 3}, " HALF "]",
         "known: pillow, torch"},
        {"[{\"op\": \"resize\", \"shorter\": 3, \"filter\": \"box\", \"crop_share\": 0}, " HALF "]",
         "\"crop_share\" must be a number greater than 0"},
        {"[{\"op\": \"center_crop\", \"height\": 7, \"width\": 3, \"rounding\": \"up\"}, " HALF "]",
         "known: even, zero, floor"},
        {"[{\"op\": \"center_crop\", \"height\": 7, \"width\": 3, \"background\": 0}, " HALF "]",
         "array of 3"},
        {"[{\"op\": \"normalize\", \"mean\": [0], \"std\": [1], \"fused\": true}]",
         "goes with \"rescale\""},
        {"[{\"op\": \"normalize\", \"mean\": [0], \"std\": [1], \"rescale\": -1}]",
         "greater than 0"},
        {"[{\"op\": \"digit\", \"size\": 28}, " HALF "]", "unknown key \"size\""},
        {"[{\"op\": \"composite\"}, " HALF "]", "\"background\" must be an array of 3"},
        {"[{\"op\": \"composite\", \"background\": [1, 2]}, " HALF "]", "array of 3"},
        {"[{\"op\": \"composite\", \"background\": [1, 2, 256]}, " HALF "]", "0 to 255"},
        {"[{\"op\": \"composite\", \"background\": [1, -2, 3]}, " HALF "]", "0 to 255"},
        {"[{\"op\": \"composite\", \"background\": [1, 2, 3.0]}, " HALF "]", "integers"},
        {"[{\"op\": \"normalize\", \"mean\": [0.5], \"std\": [0]}]", "greater than 0"},
        {"[{\"op\": \"normalize\", \"mean\": [0.5], \"std\": [1e-60]}]", "greater than 0"},
        {"[{\"op\": \"normalize\", \"mean\": [0.5], \"std\": [1e60]}]", "finite"},
        {"[{\"op\": \"normalize\", \"mean\": [\"0\"], \"std\": [1]}]", "finite"},
        {"[{\"op\": \"normalize\", \"mean\": [0, 0], \"std\": [1]}]", "1 or 3 numbers"},
        {"[{\"op\": \"normalize\", \"mean\": [0]}]", "\"std\" must be an array"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vit_preprocessing p;
        vit_error error;
        assert_int_equal(vit_preprocessing_read(&p, cases[i].json, "a test", &error),
                         VIT_ERROR_FORMAT);
        if (!strstr(error.message, cases[i].message))
            fail_msg("%s: \"%s\" lacks \"%s\"", cases[i].json, error.message, cases[i].message);
        assert_ptr_equal(strstr(error.message, "a test: "), error.message);
        assert_int_equal(p.count, 0);
    }
}

static void limits_the_number_of_operations(void **state) {
    vit_preprocessing p;
    vit_error error;
    for (int count = VIT_MAX_OPERATIONS - 1; count <= VIT_MAX_OPERATIONS; count++) {
        bool is_valid = count < VIT_MAX_OPERATIONS; /* normalize is one more */
        vit_string json = {0};
        vit_string_add(&json, "[");
        for (int i = 0; i < count; i++) vit_string_add(&json, "{\"op\": \"rgb\"}, ");
        vit_string_add(&json, HALF "]");
        assert_int_equal(vit_preprocessing_read(&p, json.text, "a test", &error),
                         is_valid ? VIT_OK : VIT_ERROR_FORMAT);
        assert_int_equal(p.count, is_valid ? VIT_MAX_OPERATIONS : 0);
        vit_string_free(&json);
    }
}

static void checks_what_the_network_gets(void **state) {
    vit_preprocessing p = read_list("[{\"op\": \"grey\"}, " HALF "]");
    vit_image out, in = noise_picture(5, 4, 4, 0);
    vit_error error;
    assert_int_equal(vit_preprocess(&out, &in, &p, 5, 4, 1, NULL, &error), VIT_ERROR_MISMATCH);
    assert_non_null(strstr(error.message, "4 x 5 pixels of 1 channels"));
    assert_non_null(strstr(error.message, "takes 5 x 4 of 1"));
    assert_null(out.pixels);
    assert_int_equal(vit_preprocess(&out, &in, &p, 4, 5, 3, NULL, &error), VIT_ERROR_MISMATCH);
    assert_int_equal(vit_preprocess(&out, &in, &p, 4, 5, 1, NULL, &error), VIT_OK);
    vit_image_free(&out);
    vit_image_free(&in);
}

/* A picture 1 x 60000 would become 224 x 13 million. */
static void refuses_pictures_that_would_grow_too_large(void **state) {
    vit_preprocessing p = read_list(lists[0]);
    vit_image out, in = noise_picture(1, 60000, 1, 0);
    vit_error error;
    assert_int_equal(vit_preprocess(&out, &in, &p, 224, 224, 3, NULL, &error), VIT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "resize: 248 x 14880000 pixels"));
    vit_image_free(&in);
}

static void converts_channels(void **state) {
    const uint8_t rgba[8] = {10, 200, 30, 7, 255, 255, 255, 0};
    vit_image image, grey, rgb, back;
    vit_error error;
    assert_int_equal(vit_image_from_pixels(&image, rgba, 1, 2, 4, 4, &error), VIT_OK);
    assert_int_equal(vit_image_convert(&grey, &image, 1, &error), VIT_OK);
    assert_int_equal(grey.pixels[0], (19595 * 10 + 38470 * 200 + 7471 * 30 + 32768) >> 16);
    assert_int_equal(grey.pixels[1], 255);
    assert_int_equal(vit_image_convert(&rgb, &image, 3, &error), VIT_OK);
    assert_memory_equal(rgb.pixels, "\x0a\xc8\x1e\xff\xff\xff", 6);
    assert_int_equal(vit_image_convert(&back, &grey, 3, &error), VIT_OK);
    assert_int_equal(back.pixels[2], grey.pixels[0]);
    vit_image_free(&back);
    assert_int_equal(vit_image_convert(&back, &grey, 2, &error), VIT_ERROR_ARGUMENT);
    assert_null(back.pixels);
    vit_image_free(&image);
    vit_image_free(&grey);
    vit_image_free(&rgb);
}

static void takes_pixels_with_a_stride(void **state) {
    const uint8_t rows[] = {1, 2, 9, 3, 4, 9};
    vit_image image;
    vit_error error;
    assert_int_equal(vit_image_from_pixels(&image, rows, 2, 2, 1, 3, &error), VIT_OK);
    assert_memory_equal(image.pixels, "\1\2\3\4", 4);
    vit_image_free(&image);
    assert_int_equal(vit_image_from_pixels(&image, rows, 2, 2, 1, 1, &error), VIT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "need 2"));
    assert_int_equal(vit_image_from_pixels(&image, rows, 0, 2, 1, 1, &error), VIT_ERROR_ARGUMENT);
    assert_int_equal(vit_image_from_pixels(&image, rows, 1, 1, 5, 9, &error), VIT_ERROR_ARGUMENT);
    assert_int_equal(vit_image_from_pixels(&image, NULL, 1, 1, 1, 1, &error), VIT_ERROR_ARGUMENT);
    assert_null(image.pixels);
}

static size_t resampled;

static void counting_resample(uint8_t *out, const uint8_t *quads, size_t step, size_t groups,
                              const vit_quad_weights *weights, size_t count, int bits) {
    resampled++;
    vit_kernels_scalar()->resample(out, quads, step, groups, weights, count, bits);
}

/* So that a limit on the instruction set holds for pictures, too. */
static void uses_the_kernels_it_is_given(void **state) {
    vit_kernels counting = *vit_kernels_scalar();
    counting.resample = counting_resample;
    vit_image in = noise_picture(90, 70, 1, 0);
    const char *const resizing[] = {
        "[{\"op\": \"resize\", \"height\": 28, \"width\": 28, \"filter\": \"box\"}, " HALF "]",
        "[{\"op\": \"digit\"}, " HALF "]",
    };
    for (size_t i = 0; i < 2; i++) {
        vit_preprocessing p = read_list(resizing[i]);
        vit_image out, best;
        resampled = 0;
        assert_int_equal(vit_preprocess(&out, &in, &p, 28, 28, 1, &counting, NULL), VIT_OK);
        assert_true(resampled > 0);
        resampled = 0;
        assert_int_equal(vit_preprocess(&best, &in, &p, 28, 28, 1, NULL, NULL), VIT_OK);
        assert_int_equal(resampled, 0);
        assert_memory_equal(out.pixels, best.pixels, 28 * 28);
        vit_image_free(&out);
        vit_image_free(&best);
    }
    vit_image_free(&in);
}

static void crops_outside_are_black(void **state) {
    vit_image out, in = noise_picture(3, 3, 3, 0);
    vit_error error;
    const ptrdiff_t far_away[][2] = {{3, 0},  {0, 3},           {-2, 0},
                                     {0, -2}, {PTRDIFF_MAX, 0}, {PTRDIFF_MIN, PTRDIFF_MIN}};
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(
            vit_image_crop(&out, &in, far_away[i][0], far_away[i][1], 2, 2, NULL, &error), VIT_OK);
        for (size_t k = 0; k < 12; k++) assert_int_equal(out.pixels[k], 0);
        vit_image_free(&out);
    }
    assert_int_equal(vit_image_crop(&out, &in, -1, 2, 2, 2, NULL, &error), VIT_OK);
    assert_memory_equal(out.pixels + 3, in.pixels + 18, 3);
    for (size_t k = 6; k < 12; k++) assert_int_equal(out.pixels[k], 0);
    vit_image_free(&out);
    vit_image_free(&in);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prepares_as_the_libraries_do),
        cmocka_unit_test(floats_survive_reading_by_rows),
        cmocka_unit_test(crops_where_the_libraries_do),
        cmocka_unit_test(lists_survive_writing),
        cmocka_unit_test(refuses_bad_lists),
        cmocka_unit_test(limits_the_number_of_operations),
        cmocka_unit_test(checks_what_the_network_gets),
        cmocka_unit_test(refuses_pictures_that_would_grow_too_large),
        cmocka_unit_test(converts_channels),
        cmocka_unit_test(takes_pixels_with_a_stride),
        cmocka_unit_test(crops_outside_are_black),
        cmocka_unit_test(uses_the_kernels_it_is_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
