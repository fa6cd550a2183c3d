/* The medley: CIFAR-10's pictures, here a few that are written as its files, and drawn ones. */
#include "datasets/made/patterns.h"
#include "tests/support/folders.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/formats/sha256.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOTH (VIT_PART_TRAIN | VIT_PART_TEST)
#define PICTURE VIT_PATTERN_BYTES

static const vit_dataset_options both = {.need = BOTH, .want = BOTH};

/* A batch of `count` records of all labels; pixel i of record r is r + i. */
static void put_batch(const char *name, size_t count) {
    char path[64];
    snprintf(path, sizeof path, "data/cifar10/%s.bin", name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (size_t r = 0; r < count; r++) {
        assert_int_not_equal(fputc((int)(r % 10), file), EOF);
        for (size_t i = 0; i < PICTURE; i++)
            assert_int_not_equal(fputc((int)((r + i) % 256), file), EOF);
    }
    assert_int_equal(fclose(file), 0);
}

static void put_cifar10(void) {
    char name[32];
    assert_int_equal(vit_make_directory("data", NULL), VIT_OK);
    assert_int_equal(vit_make_directory("data/cifar10", NULL), VIT_OK);
    for (int i = 1; i <= 5; i++) {
        snprintf(name, sizeof name, "data_batch_%d", i);
        put_batch(name, 20);
    }
    put_batch("test_batch", 10);
    assert_int_equal(unsetenv("VIT_DATA"), 0);
}

static void test_records(void **state) {
    const size_t kinds = vit_pattern_kinds();
    static uint8_t pixels[PICTURE], again[PICTURE];
    vit_dataset set;
    put_cifar10();
    open_set(&set, "medley", &both);
    assert_true(set.height == 32 && set.width == 32 && set.channels == 3);
    assert_true(set.train.count == 200 && set.test.count == 20 && set.classes == 10 + kinds);
    assert_string_equal(set.preset, "features");
    assert_string_equal(set.labels[3], "cat");
    assert_string_equal(set.labels[10], "honeycomb");
    for (size_t i = 0; i < set.train.count; i++) {
        assert_int_equal(set.train.labels[i], i % 2 ? 10 + i / 2 % kinds : i / 2 % 10);
        assert_int_equal(vit_record_read(&set, &set.train, i, pixels, NULL), VIT_OK);
        for (size_t k = 0; k < 1024 && i % 2 == 0; k++)
            assert_int_equal(pixels[3 * k + 1], (i / 2 % 20 + 1024 + k) % 256);
    }
    /* the same record is the same picture; the test part has others */
    assert_int_equal(vit_record_read(&set, &set.train, 1, pixels, NULL), VIT_OK);
    assert_int_equal(vit_record_read(&set, &set.train, 1, again, NULL), VIT_OK);
    assert_memory_equal(pixels, again, PICTURE);
    assert_int_equal(vit_record_read(&set, &set.test, 1, again, NULL), VIT_OK);
    assert_memory_not_equal(pixels, again, PICTURE);
    vit_dataset_close(&set);
}

/* On every machine the drawn pictures have these bytes, of which models are made; another digest
 * asks for another VERSION in medley.c. */
static void test_bytes(void **state) {
    vit_sha256 hash;
    char hex[65], name[16];
    static uint8_t pixels[PICTURE];
    vit_sha256_start(&hash);
    for (size_t kind = 0; kind < vit_pattern_kinds(); kind++)
        for (uint32_t i = 0; i < 5; i++) {
            vit_random r = vit_random_start(1, VIT_RANDOM_TEST, i, (uint32_t)kind);
            vit_pattern_draw(pixels, kind, &r);
            vit_sha256_add(&hash, pixels, sizeof pixels);
            vit_pattern_name(name, kind);
            vit_sha256_add(&hash, name, strlen(name));
        }
    vit_sha256_hex(&hash, hex);
    assert_string_equal(hex, "1819b000bef94da424ca2d0a863b787d53b8fefde1b9f2f8537012f8a8a4de01");
}

/* Every name is another one. */
static void test_names(void **state) {
    const size_t kinds = vit_pattern_kinds();
    char a[16], b[16];
    for (size_t i = 0; i < kinds; i++)
        for (size_t k = 0; k < i; k++) {
            vit_pattern_name(a, i);
            vit_pattern_name(b, k);
            assert_string_not_equal(a, b);
        }
}

static void test_absent(void **state) {
    vit_dataset set;
    vit_error error;
    assert_int_equal(unsetenv("VIT_DATA"), 0);
    assert_int_equal(vit_dataset_open(&set, "medley", &both, &error), VIT_ERROR_IO);
    assert_non_null(strstr(error.message, "scripts/fetch-data cifar10"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_records),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_names),
        IN_DIRECTORY(test_absent),
    };
    return cmocka_run_group_tests_name("medley", tests, NULL, NULL);
}
