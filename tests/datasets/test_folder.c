/* A folder per class of pictures: what is found, what is left out and said, how pictures are
 * prepared. */
#include "datasets/dataset.h"
#include "tests/support/folders.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BOTH (VIT_PART_TRAIN | VIT_PART_TEST)

static const vit_dataset_options any = {.want = BOTH, .threads = 2};
static const vit_dataset_options train_needed = {.need = VIT_PART_TRAIN, .want = BOTH};
static const vit_dataset_options test_alone = {
    .need = VIT_PART_TEST, .want = VIT_PART_TEST, .threads = 2};

static void assert_note(const vit_dataset *set, const char *part) {
    if (has_note(set, part)) return;
    for (size_t i = 0; i < set->note_count; i++) print_error("note: %s\n", set->notes[i]);
    fail_msg("no note says \"%s\"", part);
}

static size_t count_label(const vit_records *r, size_t label) {
    size_t count = 0;
    for (size_t i = 0; i < r->count; i++) count += r->labels[i] == label;
    return count;
}

/* ---- what belongs where ---- */

static void test_flat(void **state) {
    vit_dataset set;
    put_class("d/b", 13, 32, 100);
    put_class("d/a", 12, 32, 50);
    put_class("d/C", 5, 32, 150);
    put_png("d/b/deeper/and/deeper/x.png", 32, 32, 100, 200, 7);
    put_png("d/.hidden/x.png", 32, 32, 1, 1, 1);
    put_png("d/a/.x.png", 32, 32, 1, 1, 1);
    open_set(&set, "d", &any);
    assert_string_equal(set.name, "d");
    assert_string_equal(set.preset, "folder");
    assert_true(set.has_characters); /* as all classes are letters */
    assert_true(set.height == 32 && set.width == 32 && set.channels == 3 && set.classes == 3);
    assert_string_equal(set.labels[0], "C"); /* byte order */
    assert_string_equal(set.labels[1], "a");
    assert_string_equal(set.labels[2], "b");
    /* 5 / 6, 12 / 6 and 14 / 6 are held back. */
    assert_int_equal(set.test.count, 0 + 2 + 2);
    assert_int_equal(set.train.count, 5 + 10 + 12);
    assert_int_equal(count_label(&set.train, 1), 10);
    assert_int_equal(count_label(&set.test, 2), 2);
    for (size_t i = 0; i < set.train.count; i++) /* shades 150, 50, 100 tell the class */
        assert_int_equal(vit_record_pixels(&set, &set.train, i)[0],
                         ((const int[]){150, 50, 100})[set.train.labels[i]]);
    assert_int_equal(set.note_count, 1);
    assert_note(&set, "d has neither test/ nor val/: a sixth of each class, chosen by the files' "
                      "names, 4 pictures");
    vit_dataset_close(&set);
}

/* The second byte of a picture is its number; which are held back: a set of bits. */
static uint64_t held_back(const char *data, size_t label) {
    vit_dataset set;
    uint64_t bits = 0;
    open_set(&set, data, &test_alone);
    for (size_t i = 0; i < set.test.count; i++)
        if (set.test.labels[i] == label)
            bits |= (uint64_t)1 << vit_record_pixels(&set, &set.test, i)[1];
    vit_dataset_close(&set);
    return bits;
}

static void test_share_depends_on_names_alone(void **state) {
    vit_dataset set;
    put_class("one/a", 24, 32, 1);
    put_class("one/b", 24, 32, 2);
    put_class("two/a", 24, 40, 90); /* other pictures elsewhere, the same names */
    put_class("two/b", 7, 40, 91);
    uint64_t bits = held_back("one", 0);
    assert_int_equal(__builtin_popcountll(bits), 4);
    assert_true(bits == held_back("two", 0));
    assert_true(bits != held_back("one", 1)); /* the class is part of the name */
    open_set(&set, "one", &any);
    assert_int_equal(set.test.count, 8);
    for (size_t i = 0; i < set.train.count; i++) {
        unsigned number = vit_record_pixels(&set, &set.train, i)[1];
        assert_true(set.train.labels[i] == 1 || !(bits >> number & 1));
    }
    vit_dataset_close(&set);
}

static void test_parts(void **state) {
    vit_dataset set;
    char checksum[65];
    const vit_dataset_options three = {.want = BOTH | VIT_PART_VAL, .threads = 2};
    const vit_dataset_options val = {.need = VIT_PART_VAL, .want = VIT_PART_VAL};
    put_class("d/train/cat", 3, 32, 10);
    put_class("d/train/dog", 4, 32, 20);
    put_class("d/train/emu", 2, 32, 30);
    put_class("d/val/emu", 2, 32, 31);
    put_class("d/val/cat", 1, 32, 11);
    open_set(&set, "d", &any); /* val/ is the test where there is no other */
    assert_true(set.train.count == 9 && set.test.count == 3 && set.classes == 3);
    assert_true(set.test_is_val && !set.has_characters);
    assert_int_equal(set.note_count, 1);
    assert_note(&set, "d has no test/: val/ is the test, too");
    assert_int_equal(count_label(&set.test, 2), 2); /* as in train/, though test has no dog */
    memcpy(checksum, set.checksum, sizeof checksum);
    vit_dataset_close(&set);
    open_set(&set, "d", &test_alone);
    assert_true(set.train.count == 0 && set.test.count == 3 && set.classes == 3);
    assert_true(set.test.labels[0] == 0 && set.test.labels[1] == 2);
    assert_string_not_equal(set.checksum, checksum);
    vit_dataset_close(&set);

    put_class("d/test/dog", 2, 32, 21); /* now it is only what it is called */
    open_set(&set, "d", &three);
    assert_true(set.train.count == 9 && set.val.count == 3 && set.test.count == 2);
    assert_int_equal(set.test.labels[0], 1);
    assert_int_equal(set.val.labels[0], 0);
    assert_int_equal(set.note_count, 0);
    assert_string_equal(set.checksum, checksum); /* the same training */
    vit_dataset_close(&set);
    open_set(&set, "d", &val);
    assert_true(set.train.count == 0 && set.val.count == 3 && set.test.count == 0);
    vit_dataset_close(&set);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rename(i == 0 ? "d/val" : "d/valid", i == 0 ? "d/valid" : "d/validation"),
                         0);
        open_set(&set, "d", &three);
        assert_true(set.train.count == 9 && set.val.count == 3 && set.test.count == 2);
        vit_dataset_close(&set);
    }
    put_class("d/val/dog", 1, 32, 9); /* of two, one is val */
    open_set(&set, "d", &three);
    assert_int_equal(set.val.count, 1);
    assert_note(&set, "left out: d/validation: holds no folders of classes, so it is no part");
    vit_dataset_close(&set);

    put_class("d/test/fox", 1, 32, 9);
    refuse_set("d", &any, VIT_ERROR_MISMATCH, "d/test: its folder fox",
               "no class of the training part");
}

/* A folder without parts is tested with all that it holds, unless it is what was trained on. */
static void test_what_a_model_was_trained_on(void **state) {
    vit_dataset set;
    char trained[67] = " ";
    vit_dataset_options options = {.need = VIT_PART_TEST, .want = VIT_PART_TEST, .threads = 2};
    put_class("d/a-b", 7, 32, 10);
    put_class("d/a", 13, 32, 20);
    put_png("d/a/x/1.png", 32, 32, 1, 2, 3);
    put_png("d/a/x-y/1.png", 32, 32, 1, 2, 3);
    put_hollow_png("d/a/1.png"); /* only decoding shows that it is none */
    open_set(&set, "d", &any);
    assert_int_equal(set.train.count, 18);
    assert_int_equal(set.test.count, 3);
    memcpy(trained + 1, set.checksum, 65);
    vit_dataset_close(&set);
    options.trained_on = trained;
    for (size_t cache = 0; cache < 2; cache++) {
        options.cache = cache;
        open_set(&set, "d", &options);
        assert_int_equal(set.test.count, 3);
        assert_true(count_label(&set.test, 0) == 2 && count_label(&set.test, 1) == 1);
        assert_non_null(strstr(set.test_is, "held back"));
        vit_dataset_close(&set);
    }
    options.trained_on = "";
    open_set(&set, "d", &options);
    assert_int_equal(set.test.count, 21);
    assert_non_null(strstr(set.test_is, "not trained on"));
    vit_dataset_close(&set);
    options.trained_on = trained;
    put_png("d/a/another.png", 32, 32, 1, 2, 3);
    open_set(&set, "d", &options);
    assert_int_equal(set.test.count, 22);
    vit_dataset_close(&set);
}

static void test_train_part_alone(void **state) {
    vit_dataset set;
    put_class("d/train/cat", 6, 32, 10);
    put_class("d/train/dog", 6, 32, 20);
    put_png("d/test/1.png", 32, 32, 1, 2, 3); /* no classes: unlabelled */
    open_set(&set, "d", &train_needed);
    assert_true(set.train.count == 10 && set.test.count == 2);
    assert_note(&set, "neither test/ nor val/");
    assert_note(&set, "left out: d/test: holds no folders of classes, so it is no part");
    vit_dataset_close(&set);
}

static void test_test_part_alone(void **state) {
    vit_dataset set;
    put_class("d/test/cat", 2, 32, 10);
    open_set(&set, "d", &any);
    assert_true(set.train.count == 0 && set.test.count == 2 && set.classes == 1);
    vit_dataset_close(&set);
    refuse_set("d", &train_needed, VIT_ERROR_IO, "d: has no pictures for training",
               "a folder per class");
}

/* Folders of the parts are of one class if their names are alike in Unicode. */
static void test_names_alike(void **state) {
    vit_dataset set;
    put_class("d/train/caf\xc3\xa9", 3, 32, 10); /* é as one character, and as two */
    put_class("d/train/the", 3, 32, 20);
    put_class("d/test/cafe\xcc\x81", 2, 32, 10);
    open_set(&set, "d", &any);
    assert_true(set.classes == 2 && set.train.count == 6 && set.test.count == 2);
    assert_true(set.test.labels[0] == set.train.labels[0]);
    vit_dataset_close(&set);
    put_class("d/test/cafe", 2, 32, 10);
    refuse_set("d", &any, VIT_ERROR_MISMATCH, "folder cafe is no class of the training part",
               "move it out");
    put_class("e/train", 4, 32, 10);
    refuse_set("e", &any, VIT_ERROR_FORMAT, "its folder train holds pictures", "train.csv");
    put_class("f/pets/cat", 3, 32, 10);
    put_class("f/pets/dog", 3, 32, 10);
    refuse_set("f", &any, VIT_ERROR_FORMAT, "f: holds one folder of pictures", "name f/pets");
}

/* A class may be called train. */
static void test_class_called_train(void **state) {
    vit_dataset set;
    put_class("d/train", 3, 32, 10);
    put_class("d/bus", 3, 32, 20);
    vit_dataset_options allowed = any;
    allowed.splits_are_classes = true;
    refuse_set("d", &any, VIT_ERROR_FORMAT, "would be called train", "--splits-are-classes");
    open_set(&set, "d", &allowed);
    assert_true(set.train.count == 6 && set.classes == 2);
    assert_string_equal(set.labels[1], "train");
    vit_dataset_close(&set);
    put_class("d/car", 3, 32, 30); /* among vehicles it is one of them */
    open_set(&set, "d", &any);
    assert_int_equal(set.classes, 3);
    vit_dataset_close(&set);
}

/* ---- sizes ---- */

/* Folders within classes: parts are refused, others are said. */
static void test_folders_in_classes(void **state) {
    vit_dataset set;
    vit_dataset_options allowed = train_needed;
    put_class("d/cat/train", 3, 32, 10);
    put_class("d/cat/test", 3, 32, 20);
    put_class("d/dog/train", 3, 32, 30);
    put_class("d/dog/test", 3, 32, 40);
    refuse_set("d", &train_needed, VIT_ERROR_FORMAT,
               "d: class cat holds the folders train and test",
               "expected the parts first, train/cat and test/cat");
    allowed.splits_are_classes = true;
    open_set(&set, "d", &allowed);
    assert_note(&set, "the classes are cat, dog; each has the folders test and train");
    vit_dataset_close(&set);
    put_class("e/animals/cat", 3, 32, 10);
    put_class("e/animals/dog", 3, 32, 20);
    put_class("e/animals/owl", 3, 32, 20);
    put_class("e/things", 3, 32, 30);
    open_set(&set, "e", &train_needed);
    assert_note(&set, "in animals/cat, ..., animals/dog are all of one class, animals");
    vit_dataset_close(&set);
    put_class("f/a/one", 3, 32, 10); /* a single folder, or pictures beside it */
    put_class("f/b/one", 3, 32, 10);
    put_class("f/b/two", 3, 32, 10);
    put_class("f/b", 3, 32, 10);
    open_set(&set, "f", &train_needed);
    assert_false(has_note(&set, "one class"));
    vit_dataset_close(&set);
}

static void expect_side(const char *data, size_t side) {
    vit_dataset set;
    open_set(&set, data, &any);
    assert_int_equal(set.height, side);
    assert_int_equal(set.width, side);
    vit_dataset_close(&set);
}

static void test_sides(void **state) {
    static const struct {
        uint32_t width, height;
        size_t side;
    } cases[] = {{16, 16, 16},    {40, 40, 40},    {96, 96, 96},    {28, 28, 32},
                 {8, 8, 32},      {104, 104, 96},  {64, 65, 64},    {500, 47, 32},
                 {130, 400, 128}, {170, 190, 160}, {640, 480, 224}, {1, 3, 32}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_png("d/a/1.png", cases[i].width, cases[i].height, 1, 2, 3);
        put_png("d/b/1.png", cases[i].width, cases[i].height, 1, 2, 3);
        expect_side("d", cases[i].side);
    }
    put_png("d/a/1.png", 64, 64, 1, 2, 3);
    put_png("d/a/2.png", 500, 100, 1, 2, 3);
    put_png("d/b/1.png", 300, 200, 1, 2, 3);
    expect_side("d", 96); /* shorter sides 64, 100, 200: the median is 100 */
}

/* Grey becomes RGB, the shorter side S, the middle is cut out. */
static void test_preparation(void **state) {
    static png_builder png;
    static uint8_t rows[32][1 + 96];
    vit_dataset set;
    for (int y = 0; y < 32; y++)
        for (int x = 0; x < 96; x++)
            rows[y][1 + x] = x < 32 ? 10 : x < 64 ? (uint8_t)(100 + y) : 200;
    png_begin(&png, 96, 32, 8, 0, 0);
    png_data(&png, rows, sizeof rows);
    png_chunk(&png, "IEND", NULL, 0);
    put_built_png("d/a/1.png", &png);
    put_class("d/b", 2, 64, 77);
    open_set(&set, "d", &any);
    assert_true(set.height == 64 && set.train.count == 3); /* medians 32, 64, 64 */
    vit_dataset_close(&set);
    assert_int_equal(unlink("d/b/1.png"), 0);
    put_png("d/b/0.png", 32, 40, 5, 6, 7);
    open_set(&set, "d", &any);
    assert_int_equal(set.height, 32);
    const uint8_t *p = vit_record_pixels(&set, &set.train, 0);
    for (size_t y = 0; y < 32; y++)
        for (size_t i = 0; i < 96; i++) assert_int_equal(p[y * 96 + i], 100 + y);
    const vit_preprocessing *list = &set.preprocessing;
    assert_true(list->count == 6 && list->operations[2].kind == VIT_OP_RGB);
    assert_true(list->operations[3].shorter == 32);
    assert_true(list->operations[3].filter == VIT_FILTER_BILINEAR);
    assert_true(set.mean[0] == 0.485f && set.std[2] == 0.225f);
    vit_dataset_close(&set);
}

/* A model's own preprocessing. */
static void test_given_preparation(void **state) {
    vit_dataset set;
    vit_preparation p = {.height = 28, .width = 20, .channels = 1};
    vit_error error;
    assert_int_equal(vit_preprocessing_read(&p.preprocessing,
                                            "[{\"op\": \"grey\"}, {\"op\": \"resize\", \"height\": "
                                            "28, \"width\": 20, \"filter\": \"bilinear\"}, {\"op\":"
                                            " \"normalize\", \"mean\": [0.25], \"std\": [0.5]}]",
                                            "test", &error),
                     VIT_OK);
    vit_dataset_options options = {.want = BOTH, .preparation = &p};
    put_png("d/a/1.png", 64, 33, 100, 100, 100);
    put_png("d/b/1.png", 11, 13, 200, 200, 200);
    open_set(&set, "d", &options);
    assert_true(set.height == 28 && set.width == 20 && set.channels == 1);
    assert_true(set.mean[0] == 0.25f && set.std[0] == 0.5f);
    for (size_t i = 0; i < 28 * 20; i++) {
        assert_int_equal(vit_record_pixels(&set, &set.train, 0)[i], 100);
        assert_int_equal(vit_record_pixels(&set, &set.train, 1)[i], 200);
    }
    vit_dataset_close(&set);
}

/* ---- files that cannot be read ---- */

static void test_files_that_are_no_pictures(void **state) {
    vit_dataset set;
    put_class("d/a", 4, 32, 10);
    put_class("d/b", 4, 32, 20);
    open_set(&set, "d", &any);
    char checksum[65];
    memcpy(checksum, set.checksum, sizeof checksum);
    vit_dataset_close(&set);

    put_file("d/a/notes.txt", "no picture");
    put_hollow_png("d/a/2hollow.png");
    put_file("d/b/empty.jpg", "");
    assert_int_equal(mkfifo("d/b/pipe.png", 0600), 0);
    assert_int_equal(symlink("nowhere", "d/b/dangling.png"), 0);
    open_set(&set, "d", &any);
    assert_int_equal(set.train.count + set.test.count, 8);
    assert_note(&set, "left out: d/a/notes.txt: the file is text");
    assert_note(&set, "left out: d/b/dangling.png: is neither a file nor a folder");
    assert_note(&set, "left out: d/b/empty.jpg: the file is empty");
    assert_note(&set, "left out: 5 files in all that cannot be read");
    for (size_t i = 0; i < set.train.count; i++)
        assert_int_equal(vit_record_pixels(&set, &set.train, i)[0], set.train.labels[i] ? 20 : 10);
    vit_dataset_close(&set);
}

/* Found only when the pixels are unpacked, behind pictures that stay. */
static void test_hollow_pictures(void **state) {
    vit_dataset set;
    vit_dataset_options options = {.want = BOTH, .cache = 3 * 32 * 32 * 3};
    put_class("d/a", 4, 32, 10);
    put_class("d/b", 5, 32, 20);
    put_hollow_png("d/a/0a.png");
    put_hollow_png("d/b/9.png");
    for (int tiny = 0; tiny < 2; tiny++) {
        open_set(&set, "d", tiny ? &options : &any);
        assert_int_equal(set.train.count + set.test.count, 9);
        assert_note(&set, "d/a/0a.png: corrupt PNG: its compressed pixels are damaged");
        assert_note(&set, "d/b/9.png");
        for (size_t i = 0; i < set.train.count; i++) {
            uint8_t pixels[32 * 32 * 3];
            assert_int_equal(vit_record_read(&set, &set.train, i, pixels, NULL), VIT_OK);
            assert_int_equal(pixels[0], set.train.labels[i] ? 20 : 10);
        }
        vit_dataset_close(&set);
    }
}

static void test_loops_and_depth(void **state) {
    vit_dataset set;
    char path[256] = "d/a";
    put_class("d/a", 2, 32, 10);
    put_class("elsewhere/b", 2, 32, 20);
    assert_int_equal(symlink("../elsewhere/b", "d/b"), 0); /* a class may be a link */
    assert_int_equal(symlink("..", "d/a/loop"), 0);
    assert_int_equal(symlink("../..", "d/a/above"), 0); /* the data would be in it again */
    assert_int_equal(symlink(".", "d/class"), 0);
    assert_int_equal(symlink("../../elsewhere/b/0.png", "d/a/file.png"), 0);
    for (int i = 0; i < 20; i++) snprintf(path + strlen(path), sizeof path - strlen(path), "/d");
    snprintf(path + strlen(path), sizeof path - strlen(path), "/x.png");
    put_png(path, 32, 32, 1, 2, 3);
    open_set(&set, "d", &any);
    assert_int_equal(set.train.count + set.test.count, 5);
    assert_note(&set, "d/a/loop: is a link to a folder");
    assert_note(&set, "lies too deep: folders are read up to 16 deep");
    vit_dataset_close(&set);
}

static void test_classes_without_pictures(void **state) {
    put_class("d/a", 2, 32, 10);
    make_way("d/b/");
    refuse_set("d", &any, VIT_ERROR_FORMAT, "d: class b has no picture", "for training");
    put_file("d/b/x.jpg", "text");
    refuse_set("d", &any, VIT_ERROR_FORMAT, "class b has no picture",
               "d/b/x.jpg: the file is text");
    assert_int_equal(unlink("d/b/x.jpg"), 0);
    put_hollow_png("d/b/hollow.png");
    refuse_set("d", &any, VIT_ERROR_FORMAT, "class b has no picture", "d/b/hollow.png");
    put_hollow_png("d/a/0.png");
    put_hollow_png("d/a/1.png");
    refuse_set("d", &any, VIT_ERROR_FORMAT, "class a has no picture", "d/a/0.png");
    put_class("e/only", 2, 32, 10);
    refuse_set("e", &any, VIT_ERROR_FORMAT, "e: holds one folder of pictures, only", "two or more");
    refuse_set(
        "e", &test_alone, VIT_ERROR_IO, "e: has no pictures for the test",
        "the 2 files of 1 classes give none that can be read: put pictures into e/test/CLASS");
}

/* Files that cannot be read are named where they are the reason, also those for training when the
 * test would have been a share of them. */
static void test_empty_test(void **state) {
    put_class("d/a", 5, 32, 10);
    put_class("d/b", 4, 32, 10);
    put_file("d/b/x.jpg", "text");
    refuse_set("d", &test_alone, VIT_ERROR_IO, "the 10 files of 2 classes give none",
               "left out: d/b/x.jpg: the file is text");
    make_way("d/test/a/");
    refuse_set("d", &test_alone, VIT_ERROR_IO, "d: has no pictures for the test: expected a folder",
               "test/");
    put_file("d/test/a/1.png", "text");
    put_file("d/test/a/2.png", "");
    refuse_set("d", &test_alone, VIT_ERROR_IO, "d/test/a/1.png: the file is text",
               "d/test/a/2.png: the file is empty");
}

static void test_strays(void **state) {
    vit_dataset set;
    put_class("d/a", 2, 32, 10);
    put_class("d/b", 2, 32, 10);
    put_file("d/labels.csv", "");
    put_file("d/readme", "");
    open_set(&set, "d", &any);
    assert_note(&set, "left out: d/labels.csv and 1 more files or folders that lie beside");
    vit_dataset_close(&set);
    put_file("d/labels.ods", "PK");
    open_set(&set, "d", &any);
    assert_note(&set, "classes: folders; if d/labels.ods names them, a spreadsheet is not read");
    vit_dataset_close(&set);
}

/* ---- checksums ---- */

static void checksum_of(char checksum[65], const char *data) {
    vit_dataset set;
    open_set(&set, data, &any);
    memcpy(checksum, set.checksum, 65);
    vit_dataset_close(&set);
}

static void test_checksum(void **state) {
    char a[65], b[65];
    put_class("d/train/a", 3, 32, 1);
    put_class("d/train/b", 3, 32, 2);
    put_class("d/test/a", 1, 32, 3);
    checksum_of(a, "d");
    put_png("d/test/b/new.png", 32, 32, 1, 2, 3);
    put_file("d/train/a/unreadable", "text");
    checksum_of(b, "d");
    assert_string_equal(a, b);
    assert_int_equal(rename("d", "elsewhere"), 0);
    checksum_of(b, "elsewhere");
    assert_string_equal(a, b);
    put_png("elsewhere/train/a/0.png", 32, 32, 9, 9, 9);
    checksum_of(b, "elsewhere");
    assert_string_not_equal(a, b);
    put_class("elsewhere/train/a", 3, 32, 1);
    checksum_of(b, "elsewhere");
    assert_string_equal(a, b);
    assert_int_equal(rename("elsewhere/train/a/0.png", "elsewhere/train/a/00.png"), 0);
    checksum_of(b, "elsewhere");
    assert_string_not_equal(a, b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_flat),
        IN_DIRECTORY(test_share_depends_on_names_alone),
        IN_DIRECTORY(test_parts),
        IN_DIRECTORY(test_what_a_model_was_trained_on),
        IN_DIRECTORY(test_train_part_alone),
        IN_DIRECTORY(test_test_part_alone),
        IN_DIRECTORY(test_names_alike),
        IN_DIRECTORY(test_class_called_train),
        IN_DIRECTORY(test_folders_in_classes),
        IN_DIRECTORY(test_sides),
        IN_DIRECTORY(test_preparation),
        IN_DIRECTORY(test_given_preparation),
        IN_DIRECTORY(test_files_that_are_no_pictures),
        IN_DIRECTORY(test_hollow_pictures),
        IN_DIRECTORY(test_loops_and_depth),
        IN_DIRECTORY(test_classes_without_pictures),
        IN_DIRECTORY(test_empty_test),
        IN_DIRECTORY(test_strays),
        IN_DIRECTORY(test_checksum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
