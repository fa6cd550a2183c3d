/* Drawn digits: the same bytes on every machine, MNIST's form, balanced classes. */
#include "datasets/dataset.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/formats/sha256.h"

#include <math.h>
#include <string.h>

#define BOTH (VIT_PART_TRAIN | VIT_PART_TEST)

/* This digest is part of the contract: any machine, compiler and optimisation gives it. */
static void test_same_bytes_everywhere(void **state) {
    uint8_t pixels[784];
    char hex[65];
    vit_sha256 hash;
    vit_sha256_start(&hash);
    for (uint32_t i = 0; i < 1000; i++) {
        uint8_t label = vit_digits_draw(pixels, 1, i);
        vit_sha256_add(&hash, pixels, sizeof pixels);
        vit_sha256_add(&hash, &label, 1);
    }
    vit_sha256_hex(&hash, hex);
    assert_string_equal(hex, "d1e6bf85b7f3af3468bd8a490bafcc7c4183bd1195ef5cb4142a13a8446b9e18");
}

/* A picture depends on nothing but seed and index. */
static void test_pure(void **state) {
    uint8_t a[784], b[784];
    vit_digits_draw(a, 7, 1234);
    vit_digits_draw(b, 7, 1244);
    assert_memory_not_equal(a, b, 784);
    vit_digits_draw(b, 8, 1234);
    assert_memory_not_equal(a, b, 784);
    vit_digits_draw(b, 7, 1234);
    assert_memory_equal(a, b, 784);
    assert_int_equal(vit_digits_draw(a, UINT64_MAX, UINT32_MAX), UINT32_MAX % 10);
}

/* The box of pixels that hold ink, and the centre of mass. */
typedef struct ink {
    int left, right, top, bottom;
    double mass, x, y;
} ink;

static ink look(const uint8_t *pixels) {
    ink k = {28, -1, 28, -1, 0, 0, 0};
    for (int y = 0; y < 28; y++)
        for (int x = 0; x < 28; x++) {
            int v = pixels[28 * y + x];
            k.mass += v, k.x += v * (x + 0.5), k.y += v * (y + 0.5);
            if (v < 64) continue;
            k.left = x < k.left ? x : k.left, k.right = x > k.right ? x : k.right;
            k.top = y < k.top ? y : k.top, k.bottom = y > k.bottom ? y : k.bottom;
        }
    k.x /= k.mass, k.y /= k.mass;
    return k;
}

/* Not empty, not full, 20 on the longer side, centred, dark border corners. */
static void test_form(void **state) {
    uint8_t pixels[784];
    int centred = 0;
    for (uint32_t i = 0; i < 5000; i++) {
        vit_digits_draw(pixels, 3, i);
        ink k = look(pixels);
        int width = k.right - k.left + 1, height = k.bottom - k.top + 1;
        int longer = width > height ? width : height;
        if (!(k.mass > 255 * 20 && k.mass < 255 * 300)) fail_msg("%u: mass %g", i, k.mass / 255);
        if (longer < 18 || longer > 22) fail_msg("%u: %dx%d", i, height, width);
        centred += fabs(k.x - 14) <= 0.5 + 1e-9 && fabs(k.y - 14) <= 0.5 + 1e-9;
        if (!(fabs(k.x - 14) < 3 && fabs(k.y - 14) < 3)) fail_msg("%u: %g %g", i, k.x, k.y);
        assert_int_equal(pixels[0] + pixels[27] + pixels[756] + pixels[783], 0);
    }
    assert_true(centred > 4900); /* the rest would lose ink */
}

static void check_balance(const vit_records *r) {
    size_t counts[10] = {0};
    for (size_t i = 0; i < r->count; i++) {
        assert_in_range(r->labels[i], 0, 9);
        counts[r->labels[i]]++;
    }
    for (int k = 0; k < 10; k++) assert_int_equal(counts[k], r->count / 10);
}

static void test_set(void **state) {
    vit_dataset set, test;
    vit_error error = {0};
    uint8_t pixels[784];
    double sum = 0, squares = 0;
    double start = vit_clock();
    vit_dataset_options options = {.need = BOTH, .want = BOTH};
    if (vit_dataset_open(&set, "digits", &options, &error) != VIT_OK) fail_msg("%s", error.message);
    print_message("# opened in %.2f s\n", vit_clock() - start);
    assert_string_equal(set.name, "digits");
    assert_true(set.train.count == 20000 && set.test.count == 2000 && set.classes == 10);
    assert_true(set.height == 28 && set.width == 28 && set.channels == 1);
    assert_null(set.labels);
    check_balance(&set.train);
    check_balance(&set.test);
    vit_digits_draw(pixels, 1, 19999);
    assert_memory_equal(vit_record_pixels(&set, &set.train, 19999), pixels, 784);
    for (size_t i = 0; i < set.train.count * 784; i++) {
        double v = set.train.pixels[i] / 255.0;
        sum += v, squares += v * v;
    }
    double n = (double)set.train.count * 784, mean = sum / n;
    assert_true(fabs(mean - set.mean[0]) < 1e-4);
    assert_true(fabs(sqrt(squares / n - mean * mean) - set.std[0]) < 1e-4);
    assert_string_equal(set.checksum,
                        "b2b8624371e26b4933178d278f7c6c61ed32561c80c99d8663e958421ecea302");

    options = (vit_dataset_options){.want = VIT_PART_TEST};
    if (vit_dataset_open(&test, "digits", &options, &error) != VIT_OK)
        fail_msg("%s", error.message);
    assert_true(test.train.count == 0 && test.train.pixels == NULL);
    assert_memory_equal(test.test.pixels, set.test.pixels, 2000 * 784);
    assert_true(test.mean[0] == set.mean[0] && test.std[0] == set.std[0]);
    assert_string_not_equal(test.checksum, set.checksum);
    vit_dataset_close(&test);
    vit_dataset_close(&set);
}

static void test_so_many(void **state) {
    static const char *const wrong[] = {"digits:", "digits:9", "digits:1000001", "digits:x"};
    const vit_dataset_options options = {.need = BOTH, .want = BOTH};
    uint8_t pixels[784];
    vit_dataset set;
    vit_error error;
    assert_int_equal(vit_dataset_open(&set, "digits:20010", &options, &error), VIT_OK);
    assert_true(set.train.count == 20010 && set.test.count == 2000);
    for (uint32_t i = 0; i < 20010; i += 20009) {
        vit_digits_draw(pixels, 1, i);
        assert_memory_equal(vit_record_pixels(&set, &set.train, i), pixels, 784);
    }
    vit_dataset_close(&set);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(vit_dataset_open(&set, wrong[i], &options, &error), VIT_ERROR_ARGUMENT);
        assert_non_null(strstr(error.message, "N drawn digits, from 10 to 1000000"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes_everywhere),
        cmocka_unit_test(test_pure),
        cmocka_unit_test(test_form),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_so_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
