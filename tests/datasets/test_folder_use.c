/* Using a folder per class of pictures: sets larger than their share of memory, files that vanish,
 * the preset, training and evaluating through the library, a system that fails. */
#include "datasets/reader.h"
#include "tests/support/fault.h"
#include "tests/support/folders.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/train/measure/score.h"
#include "vit/train/recipe/preset.h"
#include "vit/train/step/loader.h"
#include "vit/train/step/trainer.h"
#include "vit/weights/file/model_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BOTH (VIT_PART_TRAIN | VIT_PART_TEST)

static const vit_dataset_options any = {.want = BOTH, .threads = 2};

/* ---- sets larger than the cache ---- */

#define SIDE 32
#define BYTES (SIDE * SIDE * 3)

static void put_noise(const char *path, uint32_t kind) {
    static png_builder png;
    vit_image noise = noise_picture(SIDE, SIDE, 3, 0);
    uint8_t *rows = vit_alloc(SIDE, 1 + 3 * SIDE);
    assert_non_null(rows);
    for (size_t y = 0; y < SIDE; y++)
        for (size_t i = 0; i < 3 * SIDE; i++)
            rows[y * (1 + 3 * SIDE) + 1 + i] = (uint8_t)(noise.pixels[y * 3 * SIDE + i] + kind);
    png_begin(&png, SIDE, SIDE, 8, 2, 0);
    png_data(&png, rows, SIDE * (1 + 3 * SIDE));
    png_chunk(&png, "IEND", NULL, 0);
    put_built_png(path, &png);
    vit_free(rows);
    vit_image_free(&noise);
}

static void put_noisy_set(void) {
    char path[64];
    for (uint32_t i = 0; i < 30; i++) {
        snprintf(path, sizeof path, "d/%c/%u.png", 'a' + (int)(i % 3), i);
        put_noise(path, 8 * i);
    }
}

static void test_every_bound_reads_the_same(void **state) {
    vit_dataset whole, set;
    put_noisy_set();
    open_set(&whole, "d", &any);
    assert_true(whole.train.count == 27 && whole.train.files == NULL && whole.test.files == NULL);
    for (size_t bound = 1; bound < 33 * BYTES; bound += 4 * BYTES) {
        vit_dataset_options options = {.want = BOTH, .cache = bound, .threads = 3};
        uint8_t pixels[BYTES];
        open_set(&set, "d", &options);
        assert_string_equal(set.checksum, whole.checksum);
        for (size_t i = 0; i < whole.train.count; i++) {
            assert_int_equal(vit_record_read(&set, &set.train, i, pixels, NULL), VIT_OK);
            assert_memory_equal(pixels, vit_record_pixels(&whole, &whole.train, i), BYTES);
            assert_int_equal(set.train.labels[i], whole.train.labels[i]);
            assert_true((vit_record_pixels(&set, &set.train, i) != NULL) == (i < bound / BYTES));
        }
        for (size_t i = 0; i < whole.test.count; i++) {
            assert_int_equal(vit_record_read(&set, &set.test, i, pixels, NULL), VIT_OK);
            assert_memory_equal(pixels, vit_record_pixels(&whole, &whole.test, i), BYTES);
        }
        vit_dataset_close(&set);
    }
    vit_dataset_close(&whole);
}

static bool has_packed;

static void noticed_pack_rows(uint8_t *quads, const uint8_t *pixels, size_t stride, size_t rows,
                              size_t width, size_t channels) {
    has_packed = true;
    vit_kernels_scalar()->pack_rows(quads, pixels, stride, rows, width, channels);
}

/* When the set is opened, and when a record is read again. */
static void test_pictures_are_resampled_by_the_kernels_given(void **state) {
    vit_dataset set;
    uint8_t pixels[48 * 48 * 3];
    vit_kernels noticed = *vit_kernels_scalar();
    noticed.pack_rows = noticed_pack_rows;
    const vit_dataset_options options = {.want = BOTH, .cache = 1, .kernels = &noticed};
    put_class("d/a", 8, 48, 1);
    put_class("d/b", 2, 60, 2);
    has_packed = false;
    open_set(&set, "d", &options);
    assert_true(has_packed);
    has_packed = false;
    for (size_t i = 0; i < set.train.count; i++)
        assert_int_equal(vit_record_read(&set, &set.train, i, pixels, NULL), VIT_OK);
    assert_true(has_packed);
    vit_dataset_close(&set);
}

typedef struct training {
    vit_dataset set;
    vit_preset preset;
    vit_loader loader;
    vit_trainer *trainer;
} training;

static void augment_as(vit_recipe *recipe, const vit_recipe *augmented) {
    recipe->augment = augmented->augment;
    recipe->policy = augmented->policy;
    recipe->jitter = augmented->jitter;
    recipe->mixup = augmented->mixup;
    recipe->cutmix = augmented->cutmix;
}

/* `augmented`: a recipe of which only the augmentation counts; NULL: the preset's. */
static void training_open(training *t, size_t cache, const vit_recipe *augmented) {
    vit_dataset_options options = {.want = BOTH, .cache = cache, .threads = 2};
    vit_error error;
    open_set(&t->set, "d", &options);
    assert_int_equal(vit_preset_load(&t->preset, "folder", &error), VIT_OK);
    t->preset.recipe.batch = 16;
    if (vit_preset_fit(&t->preset, &t->set, &error) != VIT_OK) fail_msg("%s", error.message);
    t->preset.config.depth = 1;
    if (augmented != NULL) augment_as(&t->preset.recipe, augmented);
    assert_int_equal(vit_loader_new(&t->loader, &t->set, &t->preset.recipe, 1, &error), VIT_OK);
    assert_int_equal(
        vit_trainer_new(
            &t->trainer, &t->preset.config, &t->preset.recipe,
            &(vit_trainer_options){.kernels = vit_kernels_choose(VIT_CPU_AVX512), .threads = 3}, 1,
            &error),
        VIT_OK);
}

static void training_free(training *t) {
    vit_trainer_free(t->trainer);
    vit_loader_free(&t->loader);
    vit_dataset_close(&t->set);
}

static vit_status training_step(training *t, uint64_t step, vit_error *error) {
    double loss;
    vit_loader_prepare(&t->loader, step);
    return vit_trainer_step(t->trainer, &loss, 1e-3, vit_loader_source, &t->loader, error);
}

static void test_training_does_not_depend_on_the_bound(void **state) {
    put_noisy_set();
    training a, b;
    training_open(&a, 0, NULL);
    training_open(&b, 1, NULL);
    assert_true(a.set.train.files == NULL && b.set.train.files->resident == 0);
    for (uint64_t step = 0; step < 3; step++) {
        assert_int_equal(training_step(&a, step, NULL), VIT_OK);
        assert_int_equal(training_step(&b, step, NULL), VIT_OK);
    }
    const vit_trainer_state x = vit_trainer_get(a.trainer), y = vit_trainer_get(b.trainer);
    assert_memory_equal(x.values, y.values, x.table->size * sizeof *x.values);
    training_free(&a);
    training_free(&b);
}

/* Of a folder whose pictures are all in memory, neither memory nor a file is asked for, whatever
 * becomes of the pictures. */
static void test_a_step_allocates_nothing(void **state) {
    const vit_recipe augmented[] = {
        {.augment = {.shift = 1}},
        {.policy = VIT_POLICY_RAND_AUGMENT},
        {.policy = VIT_POLICY_TRIVIAL_AUGMENT, .jitter = .3, .augment = {.erase = 1}},
        {.jitter = .3, .augment = {.crop = .5}},
        {.augment = {.elastic = 8, .rotate = 10}, .mixup = 1},
        {.policy = VIT_POLICY_RAND_AUGMENT,
         .jitter = .3,
         .augment = {.elastic = 8},
         .mixup = 1,
         .cutmix = 1},
    };
    put_noisy_set();
    for (size_t i = 0; i < sizeof augmented / sizeof *augmented; i++) {
        training t;
        training_open(&t, 0, &augmented[i]);
        assert_int_equal(training_step(&t, 0, NULL), VIT_OK);
        fault_arm(0);
        const vit_status status = training_step(&t, 1, NULL);
        fault_disarm();
        assert_int_equal(status, VIT_OK);
        assert_int_equal(fault_count(), 0);
        training_free(&t);
    }
}

static void test_a_file_that_vanishes_ends_the_training(void **state) {
    vit_error error;
    put_noisy_set();
    training t;
    training_open(&t, 1, NULL);
    assert_int_equal(training_step(&t, 0, &error), VIT_OK);
    assert_int_equal(system("rm -r d/b && mkdir d/b"), 0);
    assert_int_equal(training_step(&t, 1, &error), VIT_ERROR_IO);
    assert_says(&error, VIT_ERROR_IO, "d/b/", "No such file");
    assert_int_equal(vit_trainer_steps(t.trainer), 1);

    vit_inference *inference;
    vit_score score = {0};
    assert_int_equal(vit_inference_new(&inference, vit_trainer_network(t.trainer),
                                       vit_kernels_choose(VIT_CPU_AVX512), 2, NULL),
                     VIT_OK);
    assert_int_equal(vit_score_records(&score, inference, &t.preset.config, &t.set, &t.set.train,
                                       NULL, t.set.train.count, t.loader.table, 8, &error),
                     VIT_ERROR_IO);
    assert_says(&error, VIT_ERROR_IO, "d/b/", "No such file");
    vit_inference_free(inference);
    training_free(&t);
}

/* A file that was exchanged for another kind is an error, too. */
static void test_a_file_that_changes(void **state) {
    vit_dataset set;
    vit_dataset_options options = {.want = BOTH, .cache = 1};
    uint8_t pixels[BYTES];
    vit_error error;
    put_class("d/a", 2, 32, 1);
    put_class("d/b", 2, 32, 2);
    open_set(&set, "d", &options);
    put_file("d/a/1.png", "text");
    assert_int_equal(vit_record_read(&set, &set.train, 0, pixels, &error), VIT_OK);
    assert_int_equal(vit_record_read(&set, &set.train, 1, pixels, &error), VIT_ERROR_UNSUPPORTED);
    assert_says(&error, VIT_ERROR_UNSUPPORTED, "d/a/1.png", "text");
    vit_dataset_close(&set);
}

/* ---- the preset ---- */

static void expect_network(size_t side, size_t pictures, size_t patch, size_t dim, size_t depth) {
    vit_dataset set = {
        .height = side, .width = side, .channels = 3, .classes = 4, .train = {.count = pictures}};
    vit_preset p;
    vit_error error;
    assert_int_equal(vit_preset_load(&p, "folder", &error), VIT_OK);
    if (vit_preset_fit(&p, &set, &error) != VIT_OK) fail_msg("%s", error.message);
    assert_int_equal(p.config.patch, patch);
    assert_int_equal(p.config.stem, patch > 1 ? VIT_STEM_CCT : VIT_STEM_LINEAR);
    assert_int_equal(p.config.pool, VIT_POOL_SEQ);
    assert_int_equal(p.config.dim, dim);
    assert_int_equal(p.config.depth, depth);
}

static bool flips(bool has_characters) {
    vit_dataset set = {
        .height = 32, .width = 32, .channels = 3, .classes = 2, .has_characters = has_characters};
    vit_preset p;
    assert_int_equal(vit_preset_load(&p, "folder", NULL), VIT_OK);
    assert_int_equal(vit_preset_fit(&p, &set, NULL), VIT_OK);
    return p.recipe.augment.flip;
}

static bool set_has_characters(const char *a, const char *b) {
    vit_dataset set;
    char path[64];
    snprintf(path, sizeof path, "classes-%s-%s/%s", a, b, a);
    put_class(path, 1, 32, 10);
    snprintf(path, sizeof path, "classes-%s-%s/%s", a, b, b);
    put_class(path, 1, 32, 20);
    snprintf(path, sizeof path, "classes-%s-%s", a, b);
    open_set(&set, path, &any);
    const bool found = set.has_characters;
    vit_dataset_close(&set);
    return found;
}

static void test_preset_follows_the_data(void **state) {
    assert_true(flips(false));
    assert_false(flips(true));
    assert_false(set_has_characters("cat", "dog"));
    assert_true(set_has_characters("3", "other"));
    assert_true(set_has_characters("other", "\xc3\x84"));
    expect_network(8, 50, 1, 96, 3);
    expect_network(16, 50, 2, 96, 3);
    expect_network(64, 2250, 8, 96, 3);
    expect_network(72, 5000, 8, 96, 3);
    expect_network(96, 5001, 8, 128, 4);
    expect_network(128, 20001, 16, 128, 4);
    expect_network(224, 1200000, 16, 192, 6);
}

/* ---- through the library ---- */

static void count_notes(const char *text, void *user) {
    int *count = user;
    assert_true(text[0] != 0);
    ++*count;
}

static bool count_note_events(const vit_event *event, void *user) {
    if (event->kind == VIT_EVENT_NOTE) count_notes(event->text, user);
    return true;
}

/* The classes of a folder are matched with the model's by name. */
static void test_train_and_evaluate(void **state) {
    int notes = 0;
    vit_model *model;
    vit_error error;
    vit_evaluation result;
    put_class("d/a", 12, 32, 10);
    put_class("d/b", 12, 32, 120);
    put_class("d/c", 12, 32, 250);
    put_class("other/c", 6, 60, 250);
    put_class("other/a", 12, 60, 10);
    put_file("other/c/no picture", "text");
    vit_train_options train = {.data = "d",
                               .steps = 60,
                               .batch = 16,
                               .threads = 2,
                               .user = &notes,
                               .callback = count_note_events};
    if (vit_train(&model, &train, &error) != VIT_OK) fail_msg("%s", error.message);
    /* the test, the classes, the pictures that are few, twice, and what was chosen */
    assert_int_equal(notes, 5);
    assert_non_null(strstr(vit_model_describe(model).preprocessing, "\"shorter\": 32"));
    notes = 0;
    vit_evaluate_options evaluate = {.data = "other", .note = count_notes, .user = &notes};
    if (vit_evaluate(model, &evaluate, &result, &error) != VIT_OK) fail_msg("%s", error.message);
    assert_int_equal(result.images, 18); /* all, as it was not trained on them */
    assert_int_equal(result.confusion[0 * 3 + 0], 12);
    assert_int_equal(result.confusion[2 * 3 + 2], 6);
    assert_string_equal(result.data, "other");
    assert_non_null(strstr(result.which, "not trained on"));
    assert_true(notes >= 1);
    vit_evaluation_clear(&result);

    /* Of two classes the model knows one; of two others, as many as the model has with a third,
     * none: the places mean nothing. */
    assert_int_equal(rename("other/c", "other/x"), 0);
    if (vit_evaluate(model, &evaluate, &result, &error) != VIT_OK) fail_msg("%s", error.message);
    assert_int_equal(result.images, 12);
    assert_int_equal(result.unknown_images, 6);
    assert_int_equal(result.unknown_classes, 1);
    assert_string_equal(result.unknown[0].label, "x");
    assert_string_equal(result.matched_by, "name");
    vit_evaluation_clear(&result);
    assert_int_equal(rename("other/a", "other/w"), 0);
    put_class("other/y", 6, 60, 120);
    assert_int_equal(vit_evaluate(model, &evaluate, &result, &error), VIT_ERROR_MISMATCH);
    assert_says(&error, VIT_ERROR_MISMATCH, "class w is none", "other has w, x, y");

    evaluate.data = "d"; /* what it was trained on: those held back */
    if (vit_evaluate(model, &evaluate, &result, &error) != VIT_OK) fail_msg("%s", error.message);
    assert_int_equal(result.images, 6);
    assert_non_null(strstr(result.which, "held back"));
    vit_evaluation_clear(&result);
    vit_model_free(model);
}

/* The directory "c" vanishes when training starts and a file stands in its place, until the first
 * epoch has ended; with `stays`, for ever. */
typedef struct full_disk {
    bool stays;
    int epochs, saved, complaints;
} full_disk;

static bool on_full_disk(const vit_event *event, void *user) {
    full_disk *disk = user;
    disk->saved += event->kind == VIT_EVENT_CHECKPOINT;
    disk->epochs += event->kind == VIT_EVENT_EPOCH;
    if (event->kind == VIT_EVENT_NOTE && strstr(event->text, "saves again after the next epoch"))
        disk->complaints++;
    if (event->kind == VIT_EVENT_START) {
        unlink("c/lock");
        assert_int_equal(rmdir("c"), 0);
        put_file("c", "in the way");
    }
    if (event->kind == VIT_EVENT_EPOCH && disk->epochs == 2 && !disk->stays) unlink("c");
    return true;
}

static void test_a_checkpoint_that_fails_does_not_end_the_training(void **state) {
    full_disk disk = {0};
    vit_error error;
    put_class("d/a", 12, 32, 10);
    put_class("d/b", 12, 32, 120);
    vit_train_options train = {.data = "d",
                               .epochs = 4,
                               .batch = 4,
                               .threads = 1,
                               .out = "one.safetensors",
                               .checkpoint = "c",
                               .user = &disk,
                               .callback = on_full_disk};
    if (vit_train(NULL, &train, &error) != VIT_OK) fail_msg("%s", error.message);
    assert_true(disk.complaints == 1 && disk.saved == 3);

    disk = (full_disk){.stays = true};
    assert_int_equal(system("rm -r c"), 0);
    train.out = "two.safetensors";
    assert_int_equal(vit_train(NULL, &train, &error), VIT_ERROR_IO);
    assert_says(&error, VIT_ERROR_IO, "c", "the model is complete");
    assert_true(disk.complaints == 3 && disk.saved == 0);
    vit_bytes one, two;
    assert_int_equal(vit_read_file(&one, "one.safetensors", SIZE_MAX, NULL), VIT_OK);
    assert_int_equal(vit_read_file(&two, "two.safetensors", SIZE_MAX, NULL), VIT_OK);
    assert_int_equal(one.size, two.size);
    assert_memory_equal(one.data, two.data, one.size);
    vit_free(one.data);
    vit_free(two.data);
}

/* A model that is trained further sees pictures of its own size. */
static void test_training_further(void **state) {
    vit_model *first, *second;
    vit_error error;
    put_class("small/a", 2, 32, 10);
    put_class("small/b", 2, 32, 200);
    put_class("large/a", 2, 70, 20);
    put_class("large/b", 2, 70, 180);
    vit_train_options train = {.data = "small", .steps = 1, .out = "first.safetensors"};
    if (vit_train(&first, &train, &error) != VIT_OK) fail_msg("%s", error.message);
    train = (vit_train_options){.data = "large", .steps = 1, .init = "first.safetensors"};
    if (vit_train(&second, &train, &error) != VIT_OK) fail_msg("%s", error.message);
    const vit_model_info a = vit_model_describe(first), b = vit_model_describe(second);
    assert_int_equal(b.height, 32);
    assert_string_equal(a.preprocessing, b.preprocessing);
    vit_model_free(first);
    vit_model_free(second);
}

/* Nor does the patch that the preset would choose have to divide them. */
static void test_training_odd_patches_further(void **state) {
    vit_model *model;
    vit_error error;
    vit_model_file m = {.config = vit_config_default()};
    m.config.height = m.config.width = 42;
    m.config.patch = 14;
    m.config.channels = 3;
    m.config.dim = m.config.mlp = 8;
    m.config.depth = m.config.heads = 1;
    m.config.classes = 2;
    assert_int_equal(vit_preprocessing_read(
                         &m.preprocessing,
                         "[{\"op\": \"rgb\"}, {\"op\": \"resize\", \"height\": 42, \"width\": "
                         "42, \"filter\": \"bilinear\"}, {\"op\": \"normalize\", \"mean\": [0.5], "
                         "\"std\": [0.5]}]",
                         "preprocessing", &error),
                     VIT_OK);
    assert_int_equal(vit_table_new(&m.table, &m.config, &error), VIT_OK);
    m.values = vit_alloc(m.table.size, sizeof *m.values);
    m.recipe = vit_strdup("{}");
    vit_table_init(1, m.values, &m.table, VIT_INIT_TORCH, 7);
    assert_int_equal(vit_model_file_save("odd.safetensors", &m, &error), VIT_OK);
    vit_model_file_clear(&m);
    put_class("d/a", 2, 42, 10);
    put_class("d/b", 2, 42, 200);
    const vit_train_options train = {.data = "d", .steps = 1, .init = "odd.safetensors"};
    if (vit_train(&model, &train, &error) != VIT_OK) fail_msg("%s", error.message);
    assert_int_equal(vit_model_describe(model).height, 42);
    vit_model_free(model);
}

/* ---- boxes instead of classes ---- */

static void refuse_boxes(const char *path, const char *folder) {
    vit_dataset set;
    vit_error error;
    assert_int_equal(vit_dataset_open(&set, path, &(vit_dataset_options){.want = BOTH}, &error),
                     VIT_ERROR_FORMAT);
    assert_says(&error, VIT_ERROR_FORMAT, folder, "for finding objects (YOLO)");
}

static void test_boxes(void **state) {
    vit_make_directory("d", NULL);
    vit_make_directory("d/labels", NULL);
    put_class("d/images/train", 2, 32, 1);
    put_class("d/images/val", 2, 32, 1);
    vit_make_directory("d/labels/train", NULL);
    put_file("d/labels/train/0.txt", "0 .5 .5 .1 .1\n");
    refuse_boxes("d", "d: is laid out");
    put_class("e/train/images", 2, 32, 1);
    vit_make_directory("e/train/labels", NULL);
    put_file("e/train/labels/0.txt", "0 .5 .5 .1 .1\n");
    refuse_boxes("e", "train/labels holds a text of boxes");
}

/* ---- a system that fails ---- */

/* A file that could not be read is left out, which is said. */
static void check_complete(const vit_dataset *set) {
    assert_true(set->train.count + set->test.count == 9 || has_note(set, "cannot"));
}

static void test_faults(void **state) {
    const vit_dataset_options options = {.want = BOTH, .cache = 4 * BYTES};
    put_class("d/train/a", 4, 32, 1);
    put_class("d/train/b", 3, 48, 2);
    put_class("d/val/b", 2, 32, 2);
    put_file("d/val/b/text", "text");
    for (long n = 1;; n++) {
        open_with_fault("d", &options, n, check_complete);
        if (fault_call() == NULL) break;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_every_bound_reads_the_same),
        IN_DIRECTORY(test_pictures_are_resampled_by_the_kernels_given),
        IN_DIRECTORY(test_training_does_not_depend_on_the_bound),
        IN_DIRECTORY(test_a_step_allocates_nothing),
        IN_DIRECTORY(test_a_file_that_vanishes_ends_the_training),
        IN_DIRECTORY(test_boxes),
        IN_DIRECTORY(test_a_file_that_changes),
        IN_DIRECTORY(test_preset_follows_the_data),
        IN_DIRECTORY(test_train_and_evaluate),
        IN_DIRECTORY(test_a_checkpoint_that_fails_does_not_end_the_training),
        IN_DIRECTORY(test_training_further),
        IN_DIRECTORY(test_training_odd_patches_further),
        IN_DIRECTORY(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
