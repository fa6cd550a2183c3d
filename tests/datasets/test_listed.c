/* Tables of file names and classes, as imagefolder and Kaggle have them. */
#include "datasets/reader.h"
#include "tests/support/fault.h"
#include "tests/support/folders.h"
#include "tests/support/scratch.h"
#include "vit/base/sys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define BOTH (VIT_PART_TRAIN | VIT_PART_TEST)
static const vit_dataset_options both = {.need = BOTH, .want = BOTH};
static const vit_dataset_options any = {.want = BOTH};

static void put_table(const char *path, const char *text) {
    make_way(path);
    put_file(path, text);
}

/* directory/0.png, ...: number i has the colour (10 i, i, 7). */
static void put_pictures(const char *directory, int count) {
    char path[128];
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%d.png", directory, i);
        put_png(path, 16, 16, (uint8_t)(10 * i), (uint8_t)i, 7);
    }
}

/* Rows NAME<between>CLASS of pictures 0 .. count - 1, which are of cat, dog, cat, ... */
static void put_rows(const char *path, const char *title, const char *form, int count) {
    char text[4000] = "";
    size_t length = (size_t)snprintf(text, sizeof text, "%s\n", title);
    for (int i = 0; i < count; i++)
        length +=
            (size_t)snprintf(text + length, sizeof text - length, form, i, i % 2 ? "dog" : "cat");
    put_table(path, text);
}

static void check_cats_and_dogs(const char *data, size_t train, size_t test) {
    vit_dataset set;
    open_set(&set, data, &both);
    assert_true(set.classes == 2 && set.train.count == train && set.test.count == test);
    assert_string_equal(set.labels[0], "cat");
    assert_string_equal(set.labels[1], "dog");
    for (size_t i = 0; i < train; i++) /* green is the number of the picture */
        assert_int_equal(vit_record_pixels(&set, &set.train, i)[1] % 2, set.train.labels[i]);
    vit_dataset_close(&set);
}

static void test_imagefolder(void **state) {
    (void)state;
    put_pictures("a", 14);
    put_rows("a/metadata.csv",
             "\xef\xbb\xbf"
             "file_name,label",
             "%d.png,\"%s\"\r\n", 14);
    check_cats_and_dogs("a", 12, 2);
    put_pictures("b/train", 8);
    put_pictures("b/test", 4);
    put_rows("b/train/metadata.jsonl", "", "{\"file_name\": \"%d.png\", \"label\": \"%s\"}\n", 8);
    put_rows("b/test/metadata.jsonl", "", "{\"file_name\": \"%d.png\", \"label\": \"%s\"}\n", 4);
    check_cats_and_dogs("b", 8, 4);
    put_pictures("c/train", 8);
    put_pictures("c/test", 4);
    char rows[2][2000];
    put_rows("x", "file_name;text;label", "train/%d.png;a; %s\n", 8);
    put_rows("y", "", "test/%d.png;\"of; a\"\"b\"\" \n more\";%s\n", 4);
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(i ? "y" : "x", "r");
        assert_non_null(file);
        rows[i][fread(rows[i], 1, sizeof rows[i] - 1, file)] = 0;
        fclose(file);
    }
    char both_rows[4000];
    for (char *at = rows[0]; (at = strstr(at, "; ")); at++) memmove(at + 1, at + 2, strlen(at + 1));
    snprintf(both_rows, sizeof both_rows, "%s%s", rows[0], rows[1]);
    put_table("c/metadata.csv", both_rows);
    check_cats_and_dogs("c", 8, 4);
}

static void test_kaggle(void **state) {
    (void)state;
    put_pictures("a/train", 14);
    put_pictures("a/test", 20); /* of the same names, and not in the table */
    put_rows("a/train.csv", "id,breed", "%d,%s\n", 14);
    put_table("a/test.csv", "id\n1\n2\n");
    put_table("a/sample_submission.csv", "id,breed\n1,cat\n");
    check_cats_and_dogs("a", 12, 2);
    put_pictures("b/images/images", 14);
    put_rows("b/labels.csv", "Image,Id", "%d.png,%s\n", 14);
    check_cats_and_dogs("b", 12, 2);
    put_pictures("c/Train/1", 8);
    put_pictures("c/Test", 4);
    put_rows("c/Train.csv", "Width,Height,ClassId,Path", "16,16,%2$s,Train/1/%1$d.png\n", 8);
    put_rows("c/Test.csv", "Width,Height,ClassId,Path", "16,16,%2$s,Test/%1$d.png\n", 4);
    check_cats_and_dogs("c", 8, 4);
    put_pictures("d/p", 14);
    put_rows("d/annotations.csv", "path\tset\tclass", "p/%d.png\ttrain\t%s\n", 14);
    check_cats_and_dogs("d", 12, 2);
}

static void test_numbers_are_in_order(void **state) {
    (void)state;
    vit_dataset set;
    put_pictures("a", 12);
    put_table("a/metadata.csv", "file_name,label\n0.png,10\n1.png,9\n2.png,100\n3.png,9\n"
                                "4.png,10\n5.png,100\n");
    open_set(&set, "a", &any);
    assert_string_equal(set.labels[0], "9");
    assert_string_equal(set.labels[1], "10");
    assert_string_equal(set.labels[2], "100");
    vit_dataset_close(&set);
}

/* A table of something else does not hide the folders. */
static void test_folders_with_a_table(void **state) {
    (void)state;
    put_class("a/train_images/cat", 8, 16, 1);
    put_class("a/train_images/dog", 8, 16, 100);
    put_table("a/train.csv", "image_id,label,variety\n100330.jpg,cat,x\n100365.jpg,dog,y\n");
    vit_dataset set;
    open_set(&set, "a", &both);
    assert_true(set.classes == 2 && set.train.count == 14 && set.test.count == 2);
    vit_dataset_close(&set);
}

/* The checksum names the classes: the same files with others are other data. */
static void test_checksum(void **state) {
    (void)state;
    vit_dataset set;
    char first[65];
    put_pictures("a", 8);
    put_rows("a/metadata.csv", "file_name,label", "%d.png,%s\n", 8);
    open_set(&set, "a", &any);
    memcpy(first, set.checksum, sizeof first);
    vit_dataset_close(&set);
    put_rows("a/metadata.csv", "file_name,label", "%d.png,a %s\n", 8);
    open_set(&set, "a", &any);
    assert_string_not_equal(set.checksum, first);
    vit_dataset_close(&set);
}

static void refused(const char *table, const char *text, const char *says, const char *more) {
    char path[64];
    snprintf(path, sizeof path, "r/%s", table);
    put_table(path, text);
    refuse_set("r", &any, VIT_ERROR_FORMAT, says, more);
    assert_int_equal(unlink(path), 0);
}

static void test_refused(void **state) {
    (void)state;
    put_pictures("r", 4);
    refused("metadata.csv", "file_name,text\n0.png,a cat\n1.png,b\n", "columns file_name, text",
            "label");
    refused("metadata.csv", "a,b,c\n0.png,cat,x\n", "columns a, b, c", "file_name and label");
    refused("train.csv", "label,pixel0,pixel1\n1,0,0\n", "r/train.csv: has pixels", "IDX");
    refused("metadata.csv", "file_name,label\n0.png,cat\n1.png\n", "line 3: has 1 columns", "2");
    refused("metadata.csv", "file_name,label\n0.png,cat\n1.png,\n", "line 3", "no class");
    refused("metadata.csv", "file_name,label\n0.png,\"cat\n", "line 2", "quote does not end");
    refused("metadata.csv", "file_name,label\n../r/0.png,cat\n", "line 2", "leads out");
    refused("metadata.csv", "file_name,label\n/etc/passwd,cat\n", "line 2", "leads out");
    refused("metadata.csv", "file_name,label\n0.png,cat\n0.png,dog\n", "r/0.png", "in another");
    refused("metadata.csv", "file_name,label\n", "no row of a picture", "metadata.csv");
    refused("metadata.csv", "", "empty table", "metadata.csv");
    refused("metadata.csv", "file_name,label\nx.png,cat\ny.png,dog\n", "no picture x.png",
            "line 2");
    refused("metadata.jsonl", "{\"file_name\": \"0.png\"}\n", "line 1", "has no class");
    refused("metadata.jsonl", "{\"file_name\": \"0.png\", \"label\": 0}\n[1]\n", "line 2", "");
    put_table("r/train.csv", "a,b,c\n");
    refuse_set("r/train.csv", &any, VIT_ERROR_IO, "r/train.csv: is a file", "name the one");
    put_table("r/metadata.csv", "file_name,label\n0.png,cat\n1.png,dog\nx.png,dog\n2.png,cat\n");
    vit_dataset set;
    open_set(&set, "r", &any);
    assert_true(has_note(&set, "x.png: line 4 names it, and it is not there"));
    assert_int_equal(set.train.count, 3);
    vit_dataset_close(&set);
}

/* A picture that cannot be read is left out. */
static void check_set(const vit_dataset *set) {
    assert_true(set->classes == 2 && set->train.count >= 3);
}

static void test_faults(void **state) {
    (void)state;
    put_pictures("a/train", 4);
    put_rows("a/train.csv", "id,breed", "%d,%s\n", 4);
    for (long n = 1;; n++) {
        open_with_fault("a", &any, n, check_set);
        if (!fault_call()) break;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_imagefolder),
        IN_DIRECTORY(test_kaggle),
        IN_DIRECTORY(test_numbers_are_in_order),
        IN_DIRECTORY(test_folders_with_a_table),
        IN_DIRECTORY(test_checksum),
        IN_DIRECTORY(test_refused),
        IN_DIRECTORY(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
