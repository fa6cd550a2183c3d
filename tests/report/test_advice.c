/* What figures say: over- and underfitting, too short a training, too few pictures to tell. */
#include "tests/support/unit.h"
#include "vit/report/advice.h"

#include <math.h>
#include <string.h>

static const vit_facts facts = {.classes = 10,
                                .train_images = 5000,
                                .val_images = 1000,
                                .sample = 1000,
                                .steps = 800,
                                .epochs = 8,
                                .lr = .001,
                                .is_over = true};

typedef struct curve {
    double val_top1[8], val_loss[8], train_top1[8];
} curve;

static bool lr_is_high; /* false: it falls to an eighth */

static size_t advise(vit_advice *advice, const vit_facts *f, const curve *c) {
    vit_training_curves curves = {0};
    for (size_t i = 0; i < 8; i++) {
        const double lr = f->lr * (lr_is_high ? 1 : 1 - (double)i / 8);
        assert_int_equal(
            vit_training_curves_epoch(&curves,
                                      (vit_epoch_point){100 * (i + 1), c->val_top1[i],
                                                        c->val_loss[i], c->train_top1[i], NAN},
                                      NULL),
            VIT_OK);
        assert_int_equal(
            vit_training_curves_point(&curves, (vit_point){.step = 100 * (i + 1), .lr = lr}, NULL),
            VIT_OK);
    }
    const size_t count = vit_advise(advice, f, &curves);
    vit_training_curves_free(&curves);
    for (size_t i = 0; i < count; i++) {
        assert_true(strlen(advice[i].why) > 10);
        assert_true(advice[i].try_count > 0);
    }
    return count;
}

/* The findings, as bits. */
static unsigned found(const vit_facts *f, const curve *c) {
    vit_advice advice[VIT_FINDING_COUNT];
    const size_t count = advise(advice, f, c);
    unsigned bits = 0;
    for (size_t i = 0; i < count; i++) bits |= 1U << advice[i].finding;
    return bits;
}

#define BIT(name) (1U << VIT_FINDING_##name)

static void overfitting_is_a_gap_or_a_loss_that_rises(void **state) {
    const curve gap = {{.5, .6, .65, .7, .7, .7, .7, .7},
                       {2, 1.5, 1.2, 1, 1, 1, 1, 1},
                       {.5, .7, .8, .9, .95, .99, 1, 1}},
                rises = {{.90, .92, .93, .93, .93, .93, .93, .93},
                         {.4, .3, .25, .26, .27, .28, .29, .30},
                         {.9, .93, .95, .96, .97, .97, .97, .97}};
    vit_advice advice[VIT_FINDING_COUNT];
    vit_facts running = facts;
    running.is_over = false;
    assert_int_equal(found(&facts, &gap), BIT(OVERFITTING));
    assert_int_equal(found(&running, &gap), BIT(OVERFITTING));
    assert_int_equal(found(&facts, &rises), BIT(OVERFITTING));
    advise(advice, &facts, &rises);
    assert_non_null(strstr(advice[0].why, "lowest after step 300"));
    assert_non_null(strstr(advice[0].why, "1.20 times"));
    assert_non_null(strstr(vit_finding_name(VIT_FINDING_OVERFITTING), "Overfitting"));
}

/* A gap while both shares still rise; one that chance explains; a loss that rises once; a high
 * learning rate. */
static void what_may_pass_is_no_overfitting(void **state) {
    const curve both_rise = {{.2, .3, .4, .5, .55, .6, .65, .7},
                             {2, 1.8, 1.6, 1.4, 1.2, 1, .9, .8},
                             {.3, .4, .5, .6, .7, .8, .85, .9}},
                once = {{.90, .92, .93, .93, .93, .93, .93, .92},
                        {.4, .3, .25, .25, .25, .25, .25, .30},
                        {.9, .93, .95, .955, .96, .96, .96, .96}},
                chance = {{.90, .92, .93, .93, .93, .93, .93, .93},
                          {.4, .3, .25, .26, .27, .28, .29, .30},
                          {.9, .93, .94, .94, .94, .94, .94, .94}},
                moves = {{.5, .6, .65, .7, .7, .7, .7, .7},
                         {2, 1.5, 1, 1.2, 1.2, 1.2, 1.2, 1.2},
                         {.5, .7, .8, .9, .95, .99, 1, 1}};
    vit_facts running = facts;
    running.is_over = false;
    assert_int_equal(found(&running, &both_rise), 0);
    assert_int_equal(found(&facts, &both_rise), BIT(SHORT));
    assert_int_equal(found(&running, &once) | found(&running, &chance), 0);
    assert_int_equal((found(&facts, &once) | found(&facts, &chance)) & BIT(OVERFITTING), 0);
    assert_int_equal(found(&running, &moves), BIT(OVERFITTING));
    lr_is_high = true;
    assert_int_equal(found(&running, &moves), 0);
    assert_int_equal(found(&facts, &moves), BIT(OVERFITTING)); /* it ended there */
    lr_is_high = false;
}

static void underfitting_is_said_at_the_end(void **state) {
    const curve c = {{.4, .5, .55, .58, .6, .6, .6, .6},
                     {2, 1.8, 1.6, 1.5, 1.4, 1.4, 1.4, 1.4},
                     {.4, .5, .55, .58, .6, .61, .61, .61}};
    vit_facts running = facts;
    running.is_over = false;
    assert_int_equal(found(&facts, &c), BIT(UNDERFITTING));
    assert_int_equal(found(&running, &c), 0);
}

/* Whether some advice says so. */
static bool says(const vit_facts *f, const curve *c, const char *text) {
    vit_advice advice[VIT_FINDING_COUNT];
    const size_t count = advise(advice, f, c);
    bool found = false;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < advice[i].try_count; k++)
            found = found || strstr(advice[i].tries[k], text) != NULL;
    return found;
}

/* 96 % of the training pictures and 72 % of 80 held back: not underfitting, and not fine. */
static void a_wide_gap_is_no_underfitting(void **state) {
    const curve c = {{.5, .6, .65, .7, .7, .7, .7, .72},
                     {2, 1.5, 1.2, 1, 1, 1, 1, 1},
                     {.5, .7, .8, .9, .9, .93, .95, .96}};
    vit_facts f = facts;
    f.val_images = f.sample = 80;
    assert_int_equal(found(&f, &c), BIT(OVERFITTING) | BIT(FEW));
    f.val_images = f.sample = 8;
    assert_int_equal(found(&f, &c), BIT(FEW));
}

/* 93 % right, where the largest class alone is 92 %, is not fine, whatever equal classes would make
 * of it; and 96 % is. */
static void the_largest_class_is_no_achievement(void **state) {
    const curve c = {{.92, .92, .92, .92, .92, .92, .92, .93},
                     {.4, .3, .3, .3, .3, .3, .3, .3},
                     {.92, .92, .92, .92, .92, .92, .92, .93}},
                good = {{.92, .93, .95, .96, .96, .96, .96, .96},
                        {.4, .3, .2, .2, .2, .2, .2, .2},
                        {.92, .93, .95, .98, .98, .98, .98, .98}};
    vit_advice advice[VIT_FINDING_COUNT];
    vit_facts f = facts;
    f.classes = 2;
    assert_false(found(&f, &c) & BIT(STUCK)); /* as in a log: not known */
    f.majority = .92;
    f.choices.known = true;
    assert_int_equal(found(&f, &c) & BIT(STUCK), BIT(STUCK));
    advise(advice, &f, &c);
    assert_non_null(strstr(advice[0].why, "most frequent class every time gets 92.0 %"));
    assert_true(says(&f, &c, "--balance"));
    f.choices.balances = true;
    assert_false(says(&f, &c, "--balance"));
    assert_int_equal(found(&f, &good), BIT(FINE));
}

static void what_was_done_is_not_advised(void **state) {
    const curve gap = {{.5, .6, .65, .7, .7, .7, .7, .7},
                       {2, 1.5, 1.2, 1, 1, 1, 1, 1},
                       {.5, .7, .8, .9, .95, .99, 1, 1}},
                low = {{.4, .5, .55, .58, .6, .6, .6, .6},
                       {2, 1.8, 1.6, 1.5, 1.4, 1.4, 1.4, 1.4},
                       {.4, .5, .55, .58, .6, .61, .61, .61}},
                guess = {{.1, .1, .1, .1, .1, .1, .1, .1},
                         {2.3, 2.3, 2.3, 2.3, 2.3, 2.3, 2.3, 2.3},
                         {.1, .1, .1, .1, .1, .1, .1, .1}};
    vit_facts f = facts;
    f.choices.known = true;
    assert_true(says(&f, &gap, "--init") && says(&f, &gap, "cutmix=1"));
    assert_true(says(&f, &gap, "--keep best") && says(&f, &gap, "drop_path=0.1"));
    assert_false(says(&f, &gap, "flip=true")); /* it may show letters */
    assert_false(says(&f, &gap, "--freeze"));  /* of 5,000 pictures all may learn */
    assert_false(says(&f, &low, "mixup=0") || says(&f, &guess, "--preset"));
    assert_true(says(&f, &low, "dim="));
    f.choices = (vit_choices){.known = true,
                              .from_model = true,
                              .preset = true,
                              .keeps_best = true,
                              .flip_suits = true,
                              .rotates = true,
                              .mixup = .2,
                              .cutmix = 1,
                              .drop_path = .1,
                              .weight_decay = .1};
    assert_false(says(&f, &gap, "--init") || says(&f, &gap, "cutmix") || says(&f, &gap, "rotate"));
    assert_false(says(&f, &gap, "--keep best") || says(&f, &gap, "drop_path"));
    assert_false(says(&f, &gap, "weight_decay") || says(&f, &gap, "smaller network"));
    assert_true(says(&f, &gap, "flip=true"));
    assert_true(says(&f, &low, "mixup=0") && says(&f, &low, "cutmix=0"));
    assert_false(says(&f, &low, "dim=")); /* its network is the model's */
    assert_true(says(&f, &guess, "--preset"));
    f.train_images = 300;
    assert_true(says(&f, &gap, "--freeze"));
    f.choices.freezes = true;
    assert_false(says(&f, &gap, "--freeze"));
}

static void a_training_that_still_rises_was_short(void **state) {
    const curve c = {{.4, .5, .6, .65, .7, .75, .8, .85},
                     {2, 1.8, 1.6, 1.4, 1.2, 1, .8, .7},
                     {.4, .5, .6, .65, .7, .75, .8, .86}};
    assert_int_equal(found(&facts, &c), BIT(UNDERFITTING) | BIT(SHORT));
}

static void what_is_fine_is_fine(void **state) {
    const curve c = {{.9, .95, .97, .98, .985, .99, .99, .99},
                     {.4, .2, .1, .08, .06, .05, .05, .05},
                     {.9, .95, .97, .98, .985, .99, .995, .995}};
    assert_int_equal(found(&facts, &c), BIT(FINE));
}

static void guessing_and_few_pictures(void **state) {
    const curve c = {{.1, .1, .12, .1, .1, .1, .1, .1},
                     {2.3, 2.3, 2.3, 2.3, 2.3, 2.3, 2.3, 2.3},
                     {.1, .1, .1, .1, .1, .1, .1, .1}};
    vit_facts few = facts;
    few.val_images = 20;
    assert_int_equal(found(&facts, &c), BIT(STUCK));
    assert_int_equal(found(&few, &c), BIT(STUCK) | BIT(FEW));
}

static void nothing_measured_nothing_said(void **state) {
    vit_advice advice[VIT_FINDING_COUNT];
    const vit_training_curves none = {0};
    const curve c = {{NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN},
                     {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN},
                     {.1, .1, .1, .1, .1, .1, .1, .1}};
    assert_int_equal(vit_advise(advice, &facts, &none), 0);
    assert_int_equal(found(&facts, &c), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overfitting_is_a_gap_or_a_loss_that_rises),
        cmocka_unit_test(what_may_pass_is_no_overfitting),
        cmocka_unit_test(underfitting_is_said_at_the_end),
        cmocka_unit_test(a_wide_gap_is_no_underfitting),
        cmocka_unit_test(the_largest_class_is_no_achievement),
        cmocka_unit_test(what_was_done_is_not_advised),
        cmocka_unit_test(a_training_that_still_rises_was_short),
        cmocka_unit_test(what_is_fine_is_fine),
        cmocka_unit_test(guessing_and_few_pictures),
        cmocka_unit_test(nothing_measured_nothing_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
