/* Drop path and the average of the weights: rates, the same bytes whatever the threads, and what a
 * checkpoint keeps. */
#include "tests/support/check.h"
#include "tests/support/noise.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/train/checkpoint.h"
#include <math.h>
#include <string.h>

/* ---- drop path ---- */

#define DEPTH 5
#define PICTURES 4000

static void test_rates(void **state) {
    static float keep[DEPTH * 2 * PICTURES];
    static vit_sample_key keys[PICTURES];
    for (uint32_t i = 0; i < PICTURES; i++)
        keys[i] = (vit_sample_key){.epoch = i % 3, .position = i};
    vit_drop_path(keep, .4, DEPTH, 1, keys, PICTURES);
    for (size_t branch = 0; branch < 2 * DEPTH; branch++) {
        const double rate = .1 * (double)(branch / 2);
        size_t dropped = 0;
        for (size_t i = 0; i < PICTURES; i++) {
            const float factor = keep[branch * PICTURES + i];
            dropped += !(factor > 0);
            if (factor > 0) assert_true(fabs((double)factor - 1 / (1 - rate)) <= 1e-6);
        }
        assert_true(fabs((double)dropped / PICTURES - rate) <= .03);
    }
}

/* A picture's factors are its own: not those of its batch, nor of another epoch or seed. */
static void test_keys(void **state) {
    float together[2 * DEPTH * 3], alone[2 * DEPTH], other[2 * DEPTH];
    const vit_sample_key keys[] = {{.position = 5}, {7, 9, .share = 0}, {7, 10, .share = 0}};
    const vit_sample_key epoch = {8, 9, .share = 0};
    vit_drop_path(together, .9, DEPTH, 3, keys, 3);
    vit_drop_path(alone, .9, DEPTH, 3, &keys[1], 1);
    for (size_t i = 0; i < 2 * DEPTH; i++) assert_true(check_same(alone[i], together[i * 3 + 1]));
    vit_drop_path(other, .9, DEPTH, 3, &epoch, 1);
    assert_memory_not_equal(alone, other, sizeof alone);
    vit_drop_path(other, .9, DEPTH, 4, &keys[1], 1);
    assert_memory_not_equal(alone, other, sizeof alone);
    vit_drop_path(other, .9, 1, 3, &keys[1], 1); /* one block is the first */
    assert_true(check_same(other[0], 1) && check_same(other[1], 1));
}

/* ---- training ---- */

static vit_preset preset_of(const char *model) {
    vit_preset p = {.config = vit_config_default(), .recipe = vit_recipe_default()};
    const char *recipe = "{\"batch\": 37, \"drop_path\": 0.4, \"ema\": 0.9}";
    assert_int_equal(vit_config_read(&p.config, model, "model", NULL), VIT_OK);
    assert_int_equal(vit_recipe_read(&p.recipe, recipe, "train", NULL), VIT_OK);
    return p;
}

static const char *const models[] = {
    "{\"image\": [8, 12], \"channels\": 3, \"patch\": 4, \"dim\": 20, \"depth\": 3, \"heads\": 4, "
    "\"mlp\": 33, \"classes\": 7, \"stem\": \"conv\", \"pool\": \"mean\"}",
    "{\"image\": [9, 6], \"channels\": 1, \"patch\": 3, \"dim\": 18, \"depth\": 2, \"heads\": 2, "
    "\"mlp\": 30, \"classes\": 5, \"norm\": \"post\", \"activation\": \"relu\", \"positions\": "
    "\"sinusoidal\"}",
};
#define MODELS (sizeof models / sizeof *models)

static vit_trainer *trainer_new(vit_preset *p, vit_cpu cpu, int threads) {
    vit_trainer *t;
    assert_int_equal(vit_trainer_new(&t, &p->config, &p->recipe,
                                     &(vit_trainer_options){.kernels = vit_kernels_choose(cpu),
                                                            .threads = threads},
                                     7, NULL),
                     VIT_OK);
    return t;
}

static void steps(vit_trainer *t, vit_preset *p, int count) {
    double loss;
    for (int i = 0; i < count; i++)
        assert_int_equal(vit_trainer_step(t, &loss, 1e-3, noise_batch, &p->config, NULL), VIT_OK);
}

static void assert_equal(vit_trainer *a, vit_trainer *b) {
    const vit_trainer_state x = vit_trainer_get(a), y = vit_trainer_get(b);
    const size_t bytes = x.table->size * sizeof(float);
    assert_memory_equal(x.values, y.values, bytes);
    assert_memory_equal(x.average, y.average, bytes);
    assert_memory_equal(x.m, y.m, bytes);
    assert_memory_equal(x.v, y.v, bytes);
    assert_int_equal(x.step, y.step);
}

static void test_same_bytes(void **state) {
    static const vit_cpu cpus[] = {VIT_CPU_NEON, VIT_CPU_AVX2, VIT_CPU_AVX512};
    static const int threads[] = {1, 2, 3, 8};
    for (size_t m = 0; m < MODELS; m++) {
        vit_preset p = preset_of(models[m]);
        vit_trainer *want = trainer_new(&p, VIT_CPU_SCALAR, 1);
        steps(want, &p, 3);
        for (size_t i = 0; i < 3; i++) {
            for (size_t j = 0; j < 4; j++) {
                vit_trainer *got = trainer_new(&p, cpus[i], threads[j]);
                steps(got, &p, 3);
                assert_equal(want, got);
                vit_trainer_free(got);
            }
        }
        vit_trainer_free(want);
    }
}

/* The average begins with the weights, follows them, and is the network that answers. */
static void test_average(void **state) {
    vit_preset p = preset_of(models[0]);
    vit_trainer *t = trainer_new(&p, VIT_CPU_AVX512, 2);
    const vit_trainer_state s = vit_trainer_get(t);
    const size_t bytes = s.table->size * sizeof(float);
    const vit_parameter *head = vit_table_find(s.table, "head.weight");
    assert_memory_equal(s.average, s.values, bytes);
    const float before = s.average[head->offset];
    steps(t, &p, 1);
    const double after = (double)s.values[head->offset];
    const double want = .1 * (double)before + .9 * after; /* (1 + 0) / (10 + 0) of the old */
    assert_true(fabs((double)s.average[head->offset] - want) <= 1e-7 * fabs(after));
    steps(t, &p, 3);
    assert_memory_not_equal(s.average, s.values, bytes);
    vit_trainer_settle(t);
    const vit_network *n = vit_trainer_network(t);
    assert_ptr_equal(n->weights.head[0].weight, s.average + head->offset);
    assert_true(check_same(n->weights.head[0].packed[0], s.average[head->offset]));
    vit_trainer_reset(t, 7);
    assert_memory_equal(s.average, s.values, bytes);
    vit_trainer_free(t);
}

static void test_checkpoint(void **state) {
    static const char *const directories[] = {"c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"};
    assert_true(MODELS <= sizeof directories / sizeof *directories);
    for (size_t m = 0; m < MODELS; m++) {
        vit_preset p = preset_of(models[m]);
        const vit_identity identity = {
            .preset = &p, .data = "data", .init = "", .seed = 7, .schedule = 100};
        vit_trainer *whole = trainer_new(&p, VIT_CPU_AVX512, 2);
        vit_trainer *again = trainer_new(&p, VIT_CPU_AVX512, 2);
        char *path;
        vit_checkpoints c;
        vit_checkpoint found;
        vit_history history = {.skipped = 3, .best_top1 = 0.1};
        assert_int_equal(vit_checkpoints_open(&c, directories[m], NULL), VIT_OK);
        steps(whole, &p, 2);
        assert_int_equal(vit_checkpoints_save(&path, &c, whole, &identity, &history, NULL), VIT_OK);
        steps(whole, &p, 2);
        steps(again, &p, 1);
        history = (vit_history){0};
        assert_int_equal(vit_checkpoints_newest(&found, &c, 100, NULL, NULL, NULL), VIT_OK);
        assert_int_equal(vit_checkpoint_compare(&found, &identity, NULL), VIT_OK);
        assert_int_equal(vit_checkpoint_load(again, &history, &found, NULL), VIT_OK);
        assert_true(history.skipped == 3 && history.best_top1 == 0.1);
        vit_checkpoint_close(&found);
        vit_checkpoints_close(&c);
        steps(again, &p, 2);
        assert_equal(whole, again);
        vit_free(path);
        vit_trainer_free(whole);
        vit_trainer_free(again);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rates),      cmocka_unit_test(test_keys),
        cmocka_unit_test(test_same_bytes), cmocka_unit_test(test_average),
        IN_DIRECTORY(test_checkpoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
