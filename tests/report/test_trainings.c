/* The advice on real trainings, tests/fixtures/trainings.txt: none of the presets as they are is
 * said to overfit, neither while it goes on nor at its end; each that was made to is. */
#include "tests/support/unit.h"
#include "vit/report/advice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_EPOCHS 100

typedef struct training {
    char name[64], what[16];
    vit_facts facts;
    vit_epoch_point epochs[MOST_EPOCHS];
    double lr[MOST_EPOCHS];
    size_t count;
} training;

static bool read_training(training *t, FILE *file) {
    *t = (training){0};
    if (fscanf(file, " training %63s %15s classes %zu train %zu val %zu sample %zu lr %lf", t->name,
               t->what, &t->facts.classes, &t->facts.train_images, &t->facts.val_images,
               &t->facts.sample, &t->facts.lr) != 7)
        return false;
    for (; t->count < MOST_EPOCHS; t->count++) {
        vit_epoch_point *e = &t->epochs[t->count];
        unsigned long long step;
        if (fscanf(file, " %llu %lf %lf %lf %lf", &step, &t->lr[t->count], &e->val_top1,
                   &e->val_loss, &e->train_top1) != 5)
            break;
        e->step = step;
    }
    return true;
}

static bool is_overfitting_said(const training *t, const vit_training_curves *c, bool is_over) {
    vit_advice advice[VIT_FINDING_COUNT];
    vit_facts facts = t->facts;
    facts.is_over = is_over;
    const size_t count = vit_advise(advice, &facts, c);
    bool said = false;
    for (size_t i = 0; i < count; i++) said |= advice[i].finding == VIT_FINDING_OVERFITTING;
    return said;
}

static bool overfits(const training *t) {
    vit_training_curves c = {0};
    bool said = false;
    for (size_t i = 0; i < t->count; i++) {
        const vit_point point = {.step = t->epochs[i].step, .steps = 1, .lr = t->lr[i]};
        assert_int_equal(vit_training_curves_point(&c, point, NULL), VIT_OK);
        assert_int_equal(vit_training_curves_epoch(&c, t->epochs[i], NULL), VIT_OK);
        said |= is_overfitting_said(t, &c, false);
    }
    said |= is_overfitting_said(t, &c, true);
    vit_training_curves_free(&c);
    return said;
}

static void each_training_is_judged_right(void **state) {
    FILE *file = fopen("tests/fixtures/trainings.txt", "r");
    training t;
    size_t sound = 0, true_ones = 0, wrong = 0;
    assert_non_null(file);
    while (read_training(&t, file)) {
        const bool is_true = strcmp(t.what, "overfits") == 0;
        *(is_true ? &true_ones : &sound) += 1;
        assert_true(t.count > 0);
        if (overfits(&t) == is_true) continue;
        print_error("%s: %s\n", t.name, is_true ? "overfitting is not found" : "a false alarm");
        wrong++;
    }
    assert_true(feof(file));
    fclose(file);
    assert_int_equal(wrong, 0);
    assert_true(sound >= 20 && true_ones >= 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_training_is_judged_right)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
