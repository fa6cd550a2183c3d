/* Sets of IDX files as they are published and as torchvision keeps them. Written into a directory
 * of their own. */
#include "tests/support/folders.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"

#include <stdio.h>
#include <string.h>

#define BOTH (VIT_PART_TRAIN | VIT_PART_TEST)
static const vit_dataset_options both = {.need = BOTH, .want = BOTH};

enum { HEIGHT = 3, WIDTH = 3 };

static size_t put_number(uint8_t *at, uint32_t number) {
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(number >> (24 - 8 * i));
    return 4;
}

/* Pictures whose pixel x, y is 10 x + y, and picture i adds i. */
static void put_pictures(const char *path, size_t count) {
    uint8_t bytes[1024];
    size_t size = put_number(bytes, 0x803);
    size += put_number(bytes + size, (uint32_t)count);
    size += put_number(bytes + size, HEIGHT);
    size += put_number(bytes + size, WIDTH);
    for (size_t i = 0; i < count; i++)
        for (size_t y = 0; y < HEIGHT; y++)
            for (size_t x = 0; x < WIDTH; x++) bytes[size++] = (uint8_t)(10 * x + y + i);
    put_bytes(path, bytes, size);
}

static void put_labels(const char *path, const char *labels) {
    uint8_t bytes[256];
    const size_t count = strlen(labels);
    size_t size = put_number(bytes, 0x801);
    size += put_number(bytes + size, (uint32_t)count);
    for (size_t i = 0; i < count; i++) bytes[size++] = (uint8_t)(labels[i] - '0');
    put_bytes(path, bytes, size);
}

/* "directory/prefix" begins the names of the files of two parts; `test` names the second. */
static void put_set(const char *begin, const char *test, const char *labels) {
    char path[256];
    const char *const parts[] = {"train", test};
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s%s-images-idx3-ubyte", begin, parts[i]);
        put_pictures(path, strlen(labels));
        snprintf(path, sizeof path, "%s%s-labels-idx1-ubyte", begin, parts[i]);
        put_labels(path, labels);
    }
}

/* Rows of eight integers, of which the first are the labels. */
static size_t put_rows(const char *path, const char *labels) {
    uint8_t bytes[1024];
    const size_t count = strlen(labels);
    size_t size = put_number(bytes, 0xc02);
    size += put_number(bytes + size, (uint32_t)count);
    size += put_number(bytes + size, 8);
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < 8; k++)
            size += put_number(bytes + size, k == 0 ? (uint32_t)(labels[i] - '0') : 1000 * k);
    put_bytes(path, bytes, size);
    return size;
}

static void test_root_of_torchvision(void **state) {
    vit_dataset set;
    put_set("root/MNIST/raw/", "t10k", "0123456789");
    open_set(&set, "root", &both);
    assert_string_equal(set.name, "MNIST");
    assert_true(set.train.count == 10 && set.test.count == 10 && set.classes == 10);
    vit_dataset_close(&set);
    open_set(&set, "root/MNIST/raw", &both);
    assert_string_equal(set.name, "MNIST");
    vit_dataset_close(&set);
    put_set("root/KMNIST/raw/", "t10k", "0123456789");
    refuse_set("root", &both, VIT_ERROR_MISMATCH, "MNIST and KMNIST", "name the folder");
    open_set(&set, "root/KMNIST", &both);
    assert_string_equal(set.labels[0], "\xe3\x81\x8a");
    assert_string_equal(set.labels[9], "\xe3\x82\x92");
    assert_true(set.has_characters);
    vit_dataset_close(&set);
}

/* A folder of classes is one, whatever they are called. */
static void test_classes_called_raw(void **state) {
    vit_dataset set;
    put_class("food/raw", 8, 32, 10);
    put_class("food/cooked", 8, 32, 200);
    open_set(&set, "food", &both);
    assert_string_equal(set.labels[1], "raw");
    vit_dataset_close(&set);
}

static void test_emnist(void **state) {
    vit_dataset set;
    put_set("emnist/emnist-letters-", "test", "1231");
    put_file("emnist/emnist-letters-mapping.txt", "1 65 97\r\n2 66 98\r\n3 67 99\r\n");
    open_set(&set, "emnist", &both);
    assert_int_equal(set.classes, 3);
    assert_string_equal(set.labels[0], "A");
    assert_string_equal(set.labels[2], "C");
    assert_int_equal(set.train.labels[0], 0);
    assert_int_equal(set.train.labels[2], 2);
    assert_true(has_note(&set, "turned upright"));
    for (size_t y = 0; y < HEIGHT; y++)
        for (size_t x = 0; x < WIDTH; x++)
            assert_int_equal(vit_record_pixels(&set, &set.test, 1)[y * WIDTH + x], 10 * y + x + 1);
    vit_dataset_close(&set);
    put_file("emnist/emnist-letters-mapping.txt", "1 65 97\n2 66 98\n");
    refuse_set("emnist", &both, VIT_ERROR_FORMAT, "training picture 2 is 3", "1 to 2");
    put_file("emnist/emnist-letters-mapping.txt", "1 65 97\n2 66 98\n2 67\n");
    refuse_set("emnist", &both, VIT_ERROR_FORMAT, "line 3", "twice");
    put_file("emnist/emnist-letters-mapping.txt", "1 65 97\nB\n");
    refuse_set("emnist", &both, VIT_ERROR_FORMAT, "line 2 is \"B\"", "expected a label");
    put_file("emnist/emnist-letters-mapping.txt", "");
    refuse_set("emnist", &both, VIT_ERROR_FORMAT, "names 0 classes", "two or more");
}

/* torchvision leaves the mapping out; the classes are known all the same. */
static void test_splits_of_emnist(void **state) {
    static const vit_dataset_options few = {.need = BOTH, .want = BOTH, .empty_classes = true};
    vit_dataset set;
    put_set("root/EMNIST/raw/emnist-letters-", "test", "123");
    put_set("root/EMNIST/raw/emnist-byclass-", "test", "012");
    refuse_set("root", &few, VIT_ERROR_MISMATCH, "2 sets", "root/EMNIST/raw/emnist-letters");
    open_set(&set, "root/emnist-letters", &few);
    assert_string_equal(set.name, "emnist-letters");
    assert_true(set.classes == 26 && set.train.labels[0] == 0);
    assert_string_equal(set.labels[25], "Z");
    vit_dataset_close(&set);
    open_set(&set, "root/EMNIST/raw/emnist-byclass", &few);
    assert_true(set.classes == 62 && set.train.labels[0] == 0);
    assert_string_equal(set.labels[61], "z");
    vit_dataset_close(&set);
    refuse_set("root/emnist-digits", &few, VIT_ERROR_IO, "root: ", "emnist-digits");
}

static void test_qmnist(void **state) {
    vit_dataset set;
    uint8_t bytes[1024];
    put_pictures("qmnist/qmnist-train-images-idx3-ubyte", 10);
    put_pictures("qmnist/qmnist-test-images-idx3-ubyte", 2);
    const size_t size = put_rows("qmnist/qmnist-train-labels-idx2-int", "9876543210");
    put_rows("qmnist/qmnist-test-labels-idx2-int", "31");
    open_set(&set, "qmnist", &both);
    assert_true(set.classes == 10 && set.is_digits && set.train.count == 10 && set.test.count == 2);
    assert_true(set.train.labels[0] == 9 && set.train.labels[9] == 0 && set.test.labels[1] == 1);
    assert_string_equal(set.labels[9], "9");
    vit_dataset_close(&set);
    FILE *file = fopen("qmnist/qmnist-train-labels-idx2-int", "rb");
    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, size, file), size);
    fclose(file);
    for (size_t n = 0; n < size; n++) {
        put_bytes("qmnist/qmnist-train-labels-idx2-int", bytes, n);
        refuse_set("qmnist", &both, VIT_ERROR_FORMAT, "labels-idx2-int", "expected");
    }
    bytes[13] = 1; /* the first label: 65,545 */
    put_bytes("qmnist/qmnist-train-labels-idx2-int", bytes, size);
    refuse_set("qmnist", &both, VIT_ERROR_FORMAT, "label 0 is 65545", "at most 65535");
    memset(bytes + 4, 0xff, 8); /* more rows and columns than there can be */
    put_bytes("qmnist/qmnist-train-labels-idx2-int", bytes, size);
    refuse_set("qmnist", &both, VIT_ERROR_FORMAT, "4294967295 rows", "cut off");
}

static void test_classes_of_kmnist(void **state) {
    vit_dataset set;
    put_set("k/", "t10k", "01");
    put_file("k/kmnist_classmap.csv", "index,codepoint,char\n0,U+304A,x\n1,U+1F600,y\n");
    open_set(&set, "k", &both);
    assert_true(set.classes == 2);
    assert_string_equal(set.labels[0], "\xe3\x81\x8a");
    assert_string_equal(set.labels[1], "\xf0\x9f\x98\x80");
    vit_dataset_close(&set);
    put_file("k/kmnist_classmap.csv", "index,codepoint,char\n0,U+D800,x\n1,U+304B,y\n");
    refuse_set("k", &both, VIT_ERROR_FORMAT, "kmnist_classmap.csv: line 2", "U+D800");
}

/* What was downloaded and is not read. */
static void test_downloads_that_are_not_read(void **state) {
    put_bytes("a/cats.zip", "PK", 2);
    refuse_set("a", &both, VIT_ERROR_FORMAT, "a: holds no data set", "unzip");
    put_bytes("b/train-00000-of-00001.parquet", "PAR1", 4);
    refuse_set("b", &both, VIT_ERROR_FORMAT, "found train-00000", "Parquet is not read");
    put_bytes("d/k49-train-imgs.npz", "PK", 2);
    put_bytes("d/k49-train-labels.npz", "PK", 2);
    refuse_set("d", &both, VIT_ERROR_FORMAT, "d: holds no data set", "train_images.npy");
    refuse_set("a/cats.zip", &both, VIT_ERROR_IO, "a/cats.zip: is a file", "unzip");
    put_bytes("c/digitStruct.mat", "", 0);
    refuse_set("c", &both, VIT_ERROR_FORMAT, "single digits", "train_32x32.mat");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_root_of_torchvision),
        IN_DIRECTORY(test_classes_called_raw),
        IN_DIRECTORY(test_emnist),
        IN_DIRECTORY(test_splits_of_emnist),
        IN_DIRECTORY(test_qmnist),
        IN_DIRECTORY(test_classes_of_kmnist),
        IN_DIRECTORY(test_downloads_that_are_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
