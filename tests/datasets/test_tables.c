/* labels.tsv and pairs.tsv: texts of one's own. */
#include "tests/support/folders.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"

#include <string.h>

#define ALL (VIT_PART_TRAIN | VIT_PART_VAL | VIT_PART_TEST)

static void refuse(unsigned need, vit_status status, const char *a, const char *b) {
    vit_dataset d;
    vit_error error;
    const vit_dataset_options options = {.need = need};
    assert_int_equal(vit_dataset_open(&d, "set", &options, &error), status);
    assert_says(&error, status, a, b);
}

static void assert_target(const vit_dataset *d, const vit_records *r, size_t i, const char *text) {
    const vit_ids ids = vit_texts_get(&r->target, i);
    char *found = vit_vocabulary_decode(&d->target_vocabulary, ids.ids, ids.count);
    assert_string_equal(found, text);
    vit_free(found);
}

static void test_labels(void **state) {
    vit_dataset d;
    put_png("set/train/a.png", 64, 16, 10, 10, 10);
    put_png("set/train/b.png", 60, 16, 20, 20, 20);
    put_png("set/test/c.png", 100, 20, 30, 30, 30);
    put_file("set/train/labels.tsv", "a.png\tcafé 1\r\n\nb.png\tfeca\n");
    put_file("set/test/labels.tsv", "c.png\tface 1");
    open_set(&d, "set", &(vit_dataset_options){.need = ALL});
    assert_int_equal(d.train.count, 2);
    assert_int_equal(d.test.count, 1);
    assert_int_equal(d.height, 32);
    assert_int_equal(d.width, 128);
    assert_int_equal(d.channels, 1);
    assert_int_equal(d.classes, 0);
    assert_int_equal(d.most_target, 6);
    assert_int_equal(d.train.pixels[32 * 128 / 2 + 64], 10);
    assert_int_equal(d.test.pixels[0], 255); /* white above a picture that is wider */
    assert_target(&d, &d.train, 0, "café 1");
    assert_target(&d, &d.test, 0, "face 1");
    vit_dataset_close(&d);
}

static void test_files_stay_where_memory_ends(void **state) {
    vit_dataset d;
    uint8_t pixels[32 * 128];
    put_png("set/a.png", 64, 16, 10, 10, 10);
    put_png("set/b.png", 64, 16, 20, 20, 20);
    put_file("set/labels.tsv", "a.png\tx\nb.png\ty\n");
    open_set(&d, "set", &(vit_dataset_options){.need = VIT_PART_TRAIN, .cache = sizeof pixels});
    assert_null(vit_record_pixels(&d, &d.train, 1));
    assert_int_equal(vit_record_read(&d, &d.train, 1, pixels, NULL), VIT_OK);
    assert_int_equal(pixels[0], 20);
    vit_dataset_close(&d);
}

/* Twelve lines, two of which are the test; which ones does not depend on the others. */
static void put_pairs(int lines) {
    vit_string text = {0};
    for (int i = 0; i < lines; i++) vit_string_add(&text, "source %d\ttarget %d\n", i, i);
    vit_make_directory("set", NULL);
    put_file("set/pairs.tsv", text.text);
    vit_string_free(&text);
}

static void test_pairs(void **state) {
    vit_dataset d;
    char checksum[65];
    put_pairs(12);
    open_set(&d, "set", &(vit_dataset_options){.need = ALL});
    assert_int_equal(d.train.count, 10);
    assert_int_equal(d.test.count, 2);
    assert_int_equal(d.height, 0);
    assert_int_equal(d.source_vocabulary.signs, VIT_SIGNS_CHARACTERS);
    assert_int_equal(d.note_count, 1);
    assert_non_null(strstr(d.notes[0], "a sixth of its lines"));
    memcpy(checksum, d.checksum, sizeof checksum);
    vit_dataset_close(&d);
    /* a model that was trained on them is tested with the share, another with all */
    open_set(&d, "set", &(vit_dataset_options){.need = VIT_PART_TEST, .trained_on = checksum});
    assert_int_equal(d.test.count, 2);
    vit_dataset_close(&d);
    open_set(&d, "set", &(vit_dataset_options){.need = VIT_PART_TEST, .trained_on = ""});
    assert_int_equal(d.test.count, 12);
    assert_non_null(d.test_is);
    vit_dataset_close(&d);
}

static void test_words_that_recur(void **state) {
    vit_dataset d;
    vit_string text = {0};
    for (int i = 0; i < 200; i++) vit_string_add(&text, "we are happy\ttayo ay masaya\n");
    vit_make_directory("set", NULL);
    put_file("set/pairs.tsv", text.text);
    vit_string_free(&text);
    open_set(&d, "set", &(vit_dataset_options){.need = VIT_PART_TRAIN});
    assert_int_equal(d.source_vocabulary.signs, VIT_SIGNS_WORDS);
    assert_int_equal(d.source_vocabulary.count, VIT_ID_FIRST + 3);
    assert_int_equal(d.most_target, 3);
    vit_dataset_close(&d);
}

/* A model's vocabulary, where there is one: what it does not know is named. */
static void test_given_vocabulary(void **state) {
    const char *const known[] = {"abc"};
    vit_vocabulary v;
    vit_dataset d;
    vit_error error;
    vit_make_directory("set", NULL);
    put_png("set/a.png", 64, 16, 10, 10, 10);
    assert_int_equal(vit_vocabulary_new(&v, VIT_SIGNS_CHARACTERS, known, 1, NULL), VIT_OK);
    const vit_dataset_options options = {.need = VIT_PART_TRAIN, .target_vocabulary = &v};
    put_file("set/labels.tsv", "\xef\xbb\xbf"
                               "a.png\tcab\n");
    open_set(&d, "set", &options);
    assert_target(&d, &d.train, 0, "cab");
    vit_dataset_close(&d);
    put_file("set/labels.tsv", "a.png\tcab\na.png\tcrab\n");
    assert_int_equal(vit_dataset_open(&d, "set", &options, &error), VIT_ERROR_MISMATCH);
    assert_says(&error, VIT_ERROR_MISMATCH, "set/labels.tsv: line 2", "r");
    vit_vocabulary_free(&v);
}

static void test_val_is_the_test_where_there_is_none(void **state) {
    vit_dataset d;
    vit_make_directory("set", NULL);
    vit_make_directory("set/train", NULL);
    vit_make_directory("set/validation", NULL);
    put_file("set/train/pairs.tsv", "a\tb\nb\ta\n");
    put_file("set/validation/pairs.tsv", "a\ta\n");
    open_set(&d, "set", &(vit_dataset_options){.need = ALL});
    assert_int_equal(d.val.count, 1);
    assert_int_equal(d.test.count, 1);
    assert_true(d.test_is_val);
    vit_dataset_close(&d);
}

static void test_left_out(void **state) {
    vit_dataset d;
    put_png("set/a.png", 64, 16, 10, 10, 10);
    put_file("set/labels.tsv", "a.png\tx\nmissing.png\ty\n");
    open_set(&d, "set", &(vit_dataset_options){.need = VIT_PART_TRAIN});
    assert_int_equal(d.train.count, 1);
    assert_non_null(strstr(d.notes[0], "line 2"));
    assert_non_null(strstr(d.notes[0], "missing.png"));
    vit_dataset_close(&d);
}

static void test_refused(void **state) {
    vit_make_directory("set", NULL);
    put_file("set/pairs.tsv", "a\tb\nonly one\n");
    refuse(ALL, VIT_ERROR_FORMAT, "set/pairs.tsv: line 2", "no tab");
    put_file("set/pairs.tsv", "a\tb\n\tb\n");
    refuse(ALL, VIT_ERROR_FORMAT, "line 2", "nothing before its tab");
    put_file("set/pairs.tsv", "a\t\n");
    refuse(ALL, VIT_ERROR_FORMAT, "line 1", "must not be empty");
    put_file("set/pairs.tsv", "a\tb\tc\n");
    refuse(ALL, VIT_ERROR_FORMAT, "line 1", "two tabs");
    put_file("set/pairs.tsv", "a\t\xff\n");
    refuse(VIT_PART_TRAIN, VIT_ERROR_FORMAT, "", "UTF-8");
    put_file("set/pairs.tsv", "");
    refuse(VIT_PART_TRAIN, VIT_ERROR_IO, "set: has no lines for training", "pairs.tsv");
    put_file("set/pairs.tsv", "a\tb\n");
    refuse(VIT_PART_TEST, VIT_ERROR_IO, "set: has no lines for the test", "pairs.tsv");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_labels),
        IN_DIRECTORY(test_files_stay_where_memory_ends),
        IN_DIRECTORY(test_pairs),
        IN_DIRECTORY(test_words_that_recur),
        IN_DIRECTORY(test_given_vocabulary),
        IN_DIRECTORY(test_val_is_the_test_where_there_is_none),
        IN_DIRECTORY(test_left_out),
        IN_DIRECTORY(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
