/* What is no digit: drawn the same everywhere, in the form of digits; the share of a batch that
 * the recipe says; learned to be of no class. */
#include "datasets/dataset.h"
#include "tests/support/check.h"
#include "tests/support/unit.h"
#include "vit/formats/sha256.h"
#include "vit/train/recipe/preset.h"
#include "vit/train/step/loader.h"
#include "vit/train/step/trainer.h"

#include <math.h>
#include <string.h>

#define PIXELS 784

static void draw(uint8_t *pixels, uint32_t position) {
    vit_random r = vit_random_start(1, VIT_RANDOM_STRANGER, 0, position);
    vit_stranger_draw(pixels, &r);
}

/* Part of the contract, as that of the digits is. */
static void the_same_bytes_everywhere(void **unused) {
    uint8_t pixels[PIXELS];
    char hex[65];
    vit_sha256 hash;
    vit_sha256_start(&hash);
    for (uint32_t i = 0; i < 1000; i++) {
        draw(pixels, i);
        vit_sha256_add(&hash, pixels, sizeof pixels);
    }
    vit_sha256_hex(&hash, hex);
    assert_string_equal(hex, "294a9a9d71ddf6c743cc8e3496bb202fed0ed1b101cc6ffb7adb6a4dcfa37d75");
}

/* Nearly each has ink, within the 20 pixels that a digit may take, about the middle. */
static void in_the_form_of_digits(void **unused) {
    uint8_t pixels[PIXELS];
    int faint = 0;
    for (uint32_t i = 0; i < 5000; i++) {
        int left = 28, right = -1, top = 28, bottom = -1;
        double mass = 0;
        draw(pixels, i);
        for (int k = 0; k < PIXELS; k++) {
            const int x = k % 28, y = k / 28;
            mass += pixels[k];
            if (pixels[k] < 64) continue;
            left = x < left ? x : left, right = x > right ? x : right;
            top = y < top ? y : top, bottom = y > bottom ? y : bottom;
        }
        faint += mass < 255 * 8;
        if (right - left > 21 || bottom - top > 21)
            fail_msg("%u: %d to %d, %d to %d", i, left, right, top, bottom);
    }
    assert_in_range(faint, 0, 10);
}

/* ---- in a batch ---- */

#define RECORDS 40
#define BATCH 32

static vit_dataset black(uint8_t pixels[RECORDS * PIXELS], uint16_t labels[RECORDS]) {
    memset(pixels, 0, RECORDS * PIXELS);
    for (size_t i = 0; i < RECORDS; i++) labels[i] = (uint16_t)(i % 10);
    return (vit_dataset){.is_digits = true,
                         .height = 28,
                         .width = 28,
                         .channels = 1,
                         .classes = 10,
                         .mean = {0},
                         .std = {1},
                         .train = {RECORDS, pixels, labels, NULL}};
}

static bool has_ink(const float *image) {
    for (size_t i = 0; i < PIXELS; i++)
        if (image[i] > 0) return true;
    return false;
}

/* The share is that of the recipe; what is drawn and what is said agree, also where pictures are
 * mixed: a stranger is not. */
static void as_many_as_the_recipe_says(void **unused) {
    static uint8_t pixels[RECORDS * PIXELS];
    static float images[BATCH * PIXELS];
    uint16_t labels[RECORDS];
    const vit_dataset data = black(pixels, labels);
    vit_recipe recipe = vit_recipe_default();
    recipe.batch = BATCH, recipe.val = 0, recipe.outlier_exposure = .25, recipe.mixup = 1;
    vit_loader l;
    vit_batch_room room;
    assert_int_equal(vit_loader_new(&l, &data, &recipe, 3, NULL), VIT_OK);
    assert_int_equal(vit_batch_room_new(&room, &recipe, 28, 28, 1, NULL), VIT_OK);
    size_t strangers = 0, inked = 0, mixed = 0;
    for (uint64_t step = 0; step < 50; step++) {
        size_t found[BATCH];
        vit_sample_key keys[BATCH];
        vit_loader_prepare(&l, step);
        assert_int_equal(vit_loader_source(images, found, keys, 0, BATCH, &room, &l, NULL), VIT_OK);
        for (size_t i = 0; i < BATCH; i++) {
            const vit_sample_key *before = &keys[(i + BATCH - 1) % BATCH];
            assert_true(keys[i].stranger || !has_ink(images + i * PIXELS));
            inked += keys[i].stranger && has_ink(images + i * PIXELS);
            if (keys[i].stranger || before->stranger) assert_true(!(keys[i].share > 0));
            strangers += keys[i].stranger;
            mixed += keys[i].share > 0;
        }
    }
    assert_in_range(strangers, 340, 460); /* of 1,600, a fourth of which are 400; deviation 17 */
    assert_true(strangers - inked < 3);
    assert_in_range(mixed, 780, 1020); /* 9 of 16 */
    vit_batch_room_free(&room);
    vit_loader_free(&l);
}

/* Who has no digits is told. */
static void for_digits_only(void **unused) {
    const char *const sets[] = {"outlier_exposure=0.1"};
    vit_dataset data = {.name = "fashion", .height = 28, .width = 28, .channels = 1, .classes = 10};
    vit_preset preset;
    vit_error error;
    assert_int_equal(vit_preset_choose(&preset, "mnist", NULL, sets, 1, NULL), VIT_OK);
    assert_int_equal(vit_preset_fit(&preset, &data, &error), VIT_ERROR_ARGUMENT);
    assert_non_null(strstr(
        error.message, "\"outlier_exposure\" draws pictures that are no digits, and fashion has"));
    data.is_digits = true;
    assert_int_equal(vit_preset_fit(&preset, &data, NULL), VIT_OK);
}

/* ---- what is learned of them ---- */

static vit_status only_strangers(float *images, size_t *labels, vit_sample_key *keys, size_t first,
                                 size_t count, const vit_batch_room *room, void *context,
                                 vit_error *error) {
    (void)room, (void)error;
    for (size_t i = 0; i < count; i++) {
        vit_random r = check_random((uint32_t)(first + i));
        check_fill(images + i * 16, 16, 1, &r);
        labels[i] = *(const size_t *)context;
        keys[i] = (vit_sample_key){.position = (uint32_t)(first + i), .stranger = true};
    }
    return VIT_OK;
}

/* Whatever their labels: the loss goes to that of equal probabilities, log 10. */
static void they_are_of_no_class(void **unused) {
    const char *json = "{\"image\": [4, 4], \"channels\": 1, \"classes\": 10, \"patch\": 2, "
                       "\"dim\": 8, \"depth\": 1, \"heads\": 2, \"mlp\": 16, \"init\": \"torch\"}";
    vit_config config = vit_config_default();
    vit_recipe recipe = vit_recipe_default();
    vit_trainer *t;
    double losses[2] = {0};
    recipe.batch = 16;
    assert_int_equal(vit_config_read(&config, json, "test", NULL), VIT_OK);
    const vit_trainer_options options = {.kernels = vit_kernels_choose(VIT_CPU_AVX512),
                                         .threads = 1};
    for (size_t i = 0; i < 2; i++) {
        size_t label = 7 * i;
        assert_int_equal(vit_trainer_new(&t, &config, &recipe, &options, 0, NULL), VIT_OK);
        for (int step = 0; step < 200; step++)
            assert_int_equal(vit_trainer_step(t, &losses[i], .01, only_strangers, &label, NULL),
                             VIT_OK);
        assert_true(fabs(losses[i] - log(10)) < 1e-3);
        vit_trainer_free(t);
    }
    assert_true(losses[0] == losses[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bytes_everywhere),  cmocka_unit_test(in_the_form_of_digits),
        cmocka_unit_test(as_many_as_the_recipe_says), cmocka_unit_test(for_digits_only),
        cmocka_unit_test(they_are_of_no_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
