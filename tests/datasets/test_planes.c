/* STL-10, written here, and SVHN: tests/fixtures/make_mat.py says what its pictures are. */
#include "datasets/reader.h"
#include "tests/support/fault.h"
#include "tests/support/folders.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/formats/matlab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIXTURES "tests/fixtures"
#define BOTH (VIT_PART_TRAIN | VIT_PART_TEST)
static const vit_dataset_options both = {.need = BOTH, .want = BOTH};
static const vit_dataset_options test_alone = {.need = VIT_PART_TEST, .want = VIT_PART_TEST};
static const vit_dataset_options few = {.need = BOTH, .want = BOTH, .empty_classes = true};

/* ---- STL-10 ---- */

enum { SIDE = 96, PLANE = SIDE * SIDE };

/* Pixel [row][column][channel] of picture n is row + 2 column + 50 channel + 9 n, modulo 256. */
static uint8_t pixel(size_t n, size_t row, size_t column, size_t channel) {
    return (uint8_t)(row + 2 * column + 50 * channel + 9 * n);
}

static void put_stl(const char *directory, const char *part, size_t count) {
    static uint8_t bytes[12 * 3 * PLANE];
    char path[128];
    uint8_t labels[12], *p = bytes;
    for (size_t n = 0; n < count; n++) {
        labels[n] = (uint8_t)(n % 10 + 1);
        for (size_t c = 0; c < 3; c++)
            for (size_t x = 0; x < SIDE; x++)
                for (size_t y = 0; y < SIDE; y++) *p++ = pixel(n, y, x, c);
    }
    snprintf(path, sizeof path, "%s/%s_X.bin", directory, part);
    put_bytes(path, bytes, count * 3 * PLANE);
    snprintf(path, sizeof path, "%s/%s_y.bin", directory, part);
    put_bytes(path, labels, count);
}

static void test_stl10(void **state) {
    vit_dataset set;
    put_stl("root/stl10_binary", "train", 11);
    put_stl("root/stl10_binary", "test", 3);
    open_set(&set, "root", &both);
    assert_string_equal(set.name, "stl10");
    assert_true(set.train.count == 11 && set.test.count == 3 && set.classes == 10);
    assert_true(set.height == SIDE && set.width == SIDE && set.channels == 3);
    assert_true(set.train.labels[0] == 0 && set.train.labels[9] == 9 && set.train.labels[10] == 0);
    assert_string_equal(set.labels[7], "monkey");
    for (size_t i = 0; i < 3 * PLANE; i++)
        assert_int_equal(set.test.pixels[2 * 3 * PLANE + i],
                         pixel(2, i / 3 / SIDE, i / 3 % SIDE, i % 3));
    vit_dataset_close(&set);
    put_file("root/stl10_binary/class_names.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nlast\n");
    open_set(&set, "root/stl10_binary", &test_alone);
    assert_string_equal(set.labels[9], "last");
    vit_dataset_close(&set);
    put_file("root/stl10_binary/class_names.txt", "a\nb\n");
    refuse_set("root", &both, VIT_ERROR_FORMAT, "class_names.txt", "expected 10");
}

static void test_stl10_that_is_damaged(void **state) {
    const uint8_t labels[] = {1, 10, 11};
    put_stl("d", "train", 3);
    put_stl("d", "test", 3);
    put_bytes("d/train_y.bin", labels, 2);
    refuse_set("d", &few, VIT_ERROR_MISMATCH, "d/train_y.bin: holds 2 labels", "are 3");
    put_bytes("d/train_y.bin", labels, 3);
    refuse_set("d", &few, VIT_ERROR_FORMAT, "d/train_y.bin: label 2 is 11", "1 to 10");
    put_bytes("d/train_X.bin", labels, 3);
    refuse_set("d", &few, VIT_ERROR_FORMAT, "d/train_X.bin: 3 bytes", "cut off");
    assert_int_equal(unlink("d/train_y.bin"), 0);
    refuse_set("d", &few, VIT_ERROR_IO, "d: has no train_y.bin", "");
}

/* ---- SVHN ---- */

static void test_svhn(void **state) {
    vit_dataset set;
    open_set(&set, FIXTURES "/mat", &both);
    assert_string_equal(set.name, "svhn");
    assert_true(set.train.count == 20 && set.test.count == 3 && set.classes == 10);
    for (size_t i = 0; i < 20; i++) assert_int_equal(set.train.labels[i], i % 10);
    assert_string_equal(set.labels[3], "3");
    assert_true(set.has_characters);
    for (size_t n = 0; n < 20; n++)
        for (size_t i = 0; i < 3072; i++)
            assert_int_equal(set.train.pixels[n * 3072 + i],
                             (i / 96 + 3 * (i / 3 % 32) + 50 * (i % 3) + 7 * n) % 256);
    assert_int_equal(set.test.pixels[3072 + 5], (3 * 1 + 50 * 2 + 7) % 256);
    vit_dataset_close(&set);
}

/* Any cut and any changed byte is an error with a sentence, or the array. */
static void damage(const char *path, size_t step) {
    vit_bytes file;
    vit_matlab_array a;
    assert_int_equal(vit_read_file(&file, path, 1 << 20, NULL), VIT_OK);
    for (size_t n = 0; n < file.size; n += n < 400 || file.size - n < 100 ? 1 : step) {
        vit_error error = {0};
        uint8_t *cut = vit_alloc(n, 1);
        assert_non_null(cut);
        memcpy(cut, file.data, n);
        if (vit_matlab_find(&a, "y", cut, n, path, &error) != VIT_OK)
            assert_true(strncmp(error.message, path, strlen(path)) == 0);
        vit_free(a.memory);
        vit_free(cut);
    }
    for (size_t i = 0; i < file.size; i += i < 400 || file.size - i < 200 ? 1 : step)
        for (int bit = 0; bit < 8; bit++) {
            file.data[i] ^= (uint8_t)(1 << bit);
            for (const char *name = "Xy"; *name; name++)
                if (vit_matlab_find(&a, (char[]){*name, 0}, file.data, file.size, path, NULL) ==
                    VIT_OK)
                    vit_free(a.memory);
            file.data[i] ^= (uint8_t)(1 << bit);
        }
    vit_free(file.data);
}

static void test_matlab_that_is_damaged(void **state) {
    damage(FIXTURES "/mat/train_32x32.mat", 41);
    damage(FIXTURES "/mat/test_32x32.mat", 199);
}

static void refuse_matlab(const char *header, vit_status status, const char *says) {
    uint8_t bytes[256] = {0};
    vit_matlab_array a;
    vit_error error;
    memcpy(bytes, header, strlen(header));
    memcpy(bytes + 126, "IM", 2);
    assert_int_equal(vit_matlab_find(&a, "X", bytes, sizeof bytes, "f", &error), status);
    if (!strstr(error.message, says)) fail_msg("%s lacks %s", error.message, says);
}

static void test_matlab_of_other_kinds(void **state) {
    refuse_matlab("MATLAB 7.3 MAT-file", VIT_ERROR_UNSUPPORTED, "'-v7'");
    refuse_matlab("not MATLAB", VIT_ERROR_FORMAT, "no MATLAB file");
    refuse_matlab("MATLAB 5.0 MAT-file", VIT_ERROR_FORMAT, "has no array X");
}

static void test_no_memory(void **state) {
    for (long n = 1;; n++) {
        const vit_status status = open_with_fault(FIXTURES "/mat", &test_alone, n, NULL);
        if (!fault_call()) break;
        if (strcmp(fault_call(), "posix_memalign") == 0) assert_int_equal(status, VIT_ERROR_MEMORY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_svhn),
        cmocka_unit_test(test_matlab_that_is_damaged),
        cmocka_unit_test(test_matlab_of_other_kinds),
        cmocka_unit_test(test_no_memory),
        IN_DIRECTORY(test_stl10), /* in directories of their own from here on */
        IN_DIRECTORY(test_stl10_that_is_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
