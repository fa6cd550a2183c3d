/* vit_few_shot_options: a limit of pixels, and goes_on, which ends adding and learning so that
 * nothing of them stays. */
#include "tests/support/unit.h"
#include "vit/few_shot.h"
#include <stdio.h>
#include <string.h>

enum { SIDE = 28 };

/* A grey picture as a PGM file, with a bar that is told by its number. */
typedef struct pgm {
    char bytes[SIDE * SIDE + 16];
    size_t size;
} pgm;

static vit_picture draw(pgm *p, size_t number) {
    const int head = snprintf(p->bytes, sizeof p->bytes, "P5 %d %d 255\n", SIDE, SIDE);
    p->size = (size_t)head + SIDE * SIDE;
    memset(p->bytes + head, 0, SIDE * SIDE);
    for (size_t row = 4; row < 24; row++)
        memset(p->bytes + head + row * SIDE + 2 + number, 255, 3 + number % 2 * 9);
    return (vit_picture){.name = "bar", .bytes = p->bytes, .size = p->size};
}

/* Counts down; false at 0. */
static bool count_down(void *user) {
    size_t *left = user;
    if (*left == 0) return false;
    --*left;
    return true;
}

static vit_model *load(void) {
    vit_model *model;
    vit_error error;
    if (vit_model_load(&model, "models/mnist.safetensors", &error) != VIT_OK)
        fail_msg("%s", error.message);
    return model;
}

static vit_few_shot *begin(const vit_model *model, const vit_few_shot_options *options) {
    vit_few_shot *t;
    vit_error error;
    if (vit_few_shot_new(&t, model, options, &error) != VIT_OK) fail_msg("%s", error.message);
    return t;
}

static vit_status add(vit_few_shot *t, const char *name, size_t first, vit_answer *answers) {
    pgm files[4];
    vit_picture pictures[4];
    vit_error error;
    for (size_t i = 0; i < 4; i++) pictures[i] = draw(&files[i], first + 2 * i);
    return vit_few_shot_add(t, name, pictures, 4, answers, &error);
}

static void test_pixels(void **state) {
    vit_model *model = load();
    const vit_few_shot_options options = {.most_pixels = SIDE * SIDE - 1};
    vit_few_shot *t = begin(model, &options);
    vit_answer answers[4];
    assert_int_equal(add(t, "thin", 0, answers), VIT_OK);
    for (size_t i = 0; i < 4; i++) assert_int_equal(answers[i].error.status, VIT_ERROR_UNSUPPORTED);
    assert_int_equal(vit_few_shot_count(t), 0);
    vit_few_shot_free(t);
    vit_model_free(model);
}

static void test_cancelled(void **state) {
    vit_model *model = load();
    size_t left = 6;
    const vit_few_shot_options options = {
        .head = "logistic", .threads = 1, .goes_on = count_down, .user = &left};
    vit_few_shot *t = begin(model, &options);
    vit_answer answers[4];
    vit_error error;
    assert_int_equal(add(t, "thin", 0, answers), VIT_OK);
    assert_int_equal(add(t, "thick", 1, answers), VIT_ERROR_CANCELLED);
    assert_int_equal(vit_few_shot_count(t), 4);
    assert_int_equal(vit_few_shot_classes(t), 1);
    left = 4;
    assert_int_equal(add(t, "thick", 1, answers), VIT_OK);
    for (size_t steps = 0; steps < 3; steps++) {
        left = steps;
        assert_int_equal(vit_few_shot_learn(t, NULL, &error), VIT_ERROR_CANCELLED);
        assert_int_equal(vit_few_shot_learnt_classes(t), 0);
    }
    left = 1000000;
    assert_int_equal(vit_few_shot_learn(t, NULL, &error), VIT_OK);
    assert_int_equal(vit_few_shot_learnt_classes(t), 2);
    vit_few_shot_free(t);
    vit_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pixels),
        cmocka_unit_test(test_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
