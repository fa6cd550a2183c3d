/* Test pictures that are training pictures, and those that nearly are: counted in sets made for it.
 */
#include "datasets/duplicates.h"
#include "tests/support/folders.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/random.h"
#include "vit/train/step/loader.h"

#include <stdio.h>
#include <string.h>

#define SIDE 32
#define BYTES (SIDE * SIDE)
#define TRAIN 40
#define TEST 10

/* A picture of its own: sixteen blocks, each of a brightness drawn from `seed`. */
static void draw(uint8_t *pixels, uint32_t seed) {
    vit_random r = vit_random_start(seed, VIT_RANDOM_SHUFFLE, 0, 0);
    uint8_t blocks[8][8];
    for (size_t i = 0; i < 64; i++)
        blocks[i / 8][i % 8] = (uint8_t)(40 + vit_random_below(&r, 170));
    for (size_t i = 0; i < BYTES; i++) pixels[i] = blocks[i / SIDE / 4][i % SIDE / 4];
}

static vit_duplicates find(uint8_t *test, int threads) {
    static uint8_t train[TRAIN * BYTES];
    for (uint32_t i = 0; i < TRAIN; i++) draw(train + i * BYTES, i);
    const vit_dataset set = {.height = SIDE,
                             .width = SIDE,
                             .channels = 1,
                             .train = {.count = TRAIN, .pixels = train},
                             .test = {.count = TEST, .pixels = test}};
    vit_duplicates d;
    vit_error error;
    assert_int_equal(vit_duplicates_find(&d, &set, &set.test, threads, &error), VIT_OK);
    return d;
}

static void others_are_none(void **state) {
    uint8_t test[TEST * BYTES];
    for (uint32_t i = 0; i < TEST; i++) draw(test + i * BYTES, 1000 + i);
    const vit_duplicates d = find(test, 1);
    assert_int_equal(d.same, 0);
    assert_int_equal(d.near, 0);
}

static void copies_are_counted(void **state) {
    uint8_t test[TEST * BYTES];
    for (uint32_t i = 0; i < TEST; i++) draw(test + i * BYTES, 1000 + i);
    draw(test + 3 * BYTES, 17); /* itself */
    draw(test + 5 * BYTES, 8);
    draw(test + 6 * BYTES, 9);
    draw(test + 7 * BYTES, 10);
    for (size_t i = 0; i < BYTES; i++) {
        test[5 * BYTES + i] = (uint8_t)(test[5 * BYTES + i] + 30);          /* brighter */
        test[6 * BYTES + i] = (uint8_t)(test[6 * BYTES + i] + i * 37 % 11); /* as JPEG leaves it */
        test[7 * BYTES + i] = (uint8_t)(255 - test[7 * BYTES + i]);         /* another picture */
    }
    for (int threads = 1; threads <= 3; threads++) {
        const vit_duplicates d = find(test, threads);
        assert_int_equal(d.same, 1);
        assert_int_equal(d.near, 2);
        assert_int_equal(d.record, 3);
        assert_int_equal(d.train, 17);
    }
}

/* Of pictures without content only equal ones are duplicates. */
static void flat_pictures_are_not_near(void **state) {
    uint8_t pixels[4 * BYTES];
    for (size_t i = 0; i < 4; i++) memset(pixels + i * BYTES, (int)(50 * i), BYTES);
    vit_dataset set = {.height = SIDE,
                       .width = SIDE,
                       .channels = 1,
                       .train = {.count = 2, .pixels = pixels},
                       .test = {.count = 3, .pixels = pixels + BYTES}};
    vit_duplicates d;
    vit_error error;
    assert_int_equal(vit_duplicates_find(&d, &set, &set.test, 1, &error), VIT_OK);
    assert_int_equal(d.same, 1);
    assert_int_equal(d.near, 0);
}

/* A folder says so, and names two files. */
static void a_folder_says_so(void **state) {
    vit_dataset set;
    put_class("d/train/a", 3, SIDE, 10);
    put_class("d/train/b", 3, SIDE, 100);
    put_class("d/test/a", 3, SIDE, 40);
    put_class("d/test/b", 2, SIDE, 100);
    open_set(&set, "d",
             &(vit_dataset_options){.want = VIT_PART_TRAIN | VIT_PART_TEST, .threads = 2});
    assert_true(has_note(&set, "2 test pictures are also training pictures, such as "
                               "d/test/b/0.png and d/train/b/0.png"));
    vit_dataset_close(&set);
}

static void put_drawn(const char *path, uint32_t seed) {
    static png_builder png;
    uint8_t pixels[BYTES], rows[SIDE * (1 + SIDE)] = {0};
    draw(pixels, seed);
    for (size_t y = 0; y < SIDE; y++) memcpy(rows + y * (1 + SIDE) + 1, pixels + y * SIDE, SIDE);
    png_begin(&png, SIDE, SIDE, 8, 0, 0);
    png_data(&png, rows, sizeof rows);
    png_chunk(&png, "IEND", NULL, 0);
    put_built_png(path, &png);
}

static bool are_equal(const vit_dataset *set, const vit_records *a, size_t i, const vit_records *b,
                      size_t k) {
    return memcmp(vit_record_pixels(set, a, i), vit_record_pixels(set, b, k),
                  set->height * set->width * set->channels) == 0;
}

/* A folder in which pictures are there two or three times: no copy of a test picture is learnt, and
 * no picture is held back whose copy is learnt. */
static void copies_are_held_back_together(void **state) {
    char path[64];
    vit_dataset set;
    vit_loader l;
    size_t pairs = 0;
    for (uint32_t i = 0; i < 40; i++)
        for (uint32_t copy = 0; copy < 2 + (i % 4 == 0); copy++) {
            snprintf(path, sizeof path, "d/%c/%u-%u.png", 'a' + (int)(i % 2), i, copy);
            put_drawn(path, i);
        }
    put_drawn("d/b/0-again.png", 0);
    open_set(&set, "d",
             &(vit_dataset_options){
                 .want = VIT_PART_TRAIN | VIT_PART_TEST, .threads = 2, .finds_copies = true});
    for (size_t i = 0; i < set.train.count; i++)
        for (size_t k = 0; k < set.test.count; k++)
            assert_false(are_equal(&set, &set.train, i, &set.test, k));
    assert_true(has_note(&set, "that are copies of test pictures, such as d/"));
    assert_true(has_note(&set, "training pictures are copies of others, such as d/"));
    for (uint64_t seed = 0; seed < 4; seed++) {
        const vit_recipe recipe = {.batch = 1, .repeats = 1, .val = 12};
        assert_int_equal(vit_loader_new(&l, &set, &recipe, seed, NULL), VIT_OK);
        assert_int_equal(l.train_count + l.val_count, set.train.count);
        assert_true(l.val_count >= 12);
        for (size_t i = 0; i < l.val_count; i++)
            for (size_t k = 0; k < l.train_count; k++)
                assert_false(are_equal(&set, &set.train, l.val[i], &set.train, l.train[k]));
        for (size_t i = 0; i < set.train.count; i++)
            for (size_t k = 0; k < i; k++) pairs += are_equal(&set, &set.train, i, &set.train, k);
        vit_loader_free(&l);
    }
    assert_true(pairs > 0);
    vit_dataset_close(&set);
}

/* The same picture in two classes is named. */
static void contradictions_are_named(void **state) {
    char path[64];
    vit_dataset set;
    for (uint32_t i = 0; i < 8; i++) {
        snprintf(path, sizeof path, "d/train/%c/%u.png", 'a' + (int)(i % 2), i);
        put_drawn(path, i);
    }
    put_drawn("d/train/b/0-again.png", 0);
    put_drawn("d/test/a/x.png", 100);
    open_set(&set, "d", &(vit_dataset_options){.want = VIT_PART_TRAIN, .finds_copies = true});
    assert_true(has_note(&set, "the same picture is in two classes, 1 time, such as "
                               "d/train/a/0.png and d/train/b/0-again.png (exact)"));
    vit_dataset_close(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_are_none),
        cmocka_unit_test(copies_are_counted),
        cmocka_unit_test(flat_pictures_are_not_near),
        IN_MEMORY(a_folder_says_so),
        IN_MEMORY(copies_are_held_back_together),
        IN_MEMORY(contradictions_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
