/* A training that computes blocks again instead of keeping them ends in the same bytes. */
#include "tests/check.h"
#include "tests/noise.h"
#include "vit/train/trainer.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What a trainer has after some steps, [count] each. */
typedef struct outcome {
    float *values, *average, *gradient;
    size_t count;
} outcome;

static outcome after_three_steps(const vit_config *config, const vit_recipe *recipe,
                                 const vit_trainer_options *options) {
    vit_config c = *config;
    vit_trainer *t;
    double loss;
    assert_int_equal(vit_trainer_new(&t, &c, recipe, options, 7, NULL), VIT_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(vit_trainer_step(t, &loss, 1e-3, noise_batch, &c, NULL), VIT_OK);
    const vit_trainer_state state = vit_trainer_get(t);
    const size_t count = state.table->size;
    const outcome o = {check_copy(state.values, count), check_copy(state.average, count),
                       check_copy(vit_trainer_gradient(t), count), count};
    vit_trainer_free(t);
    return o;
}

static void assert_same(outcome a, outcome b) {
    const size_t bytes = a.count * sizeof(float);
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.values, b.values, bytes);
    assert_memory_equal(a.average, b.average, bytes);
    assert_memory_equal(a.gradient, b.gradient, bytes);
}

static void outcome_free(outcome *o) {
    float *const arrays[] = {o->values, o->average, o->gradient};
    for (size_t i = 0; i < 3; i++) free(arrays[i]);
}

/* Ragged sizes; what a block does and keeps differs. */
typedef enum form { PRE, PRE_SCALED, POST, POST_SCALED, GATED, MAP, FORMS } form;

static vit_config network(form f) {
    vit_config c = vit_config_default();
    c.height = c.width = 9;
    c.channels = 1;
    c.patch = 3;
    c.dim = 20;
    c.depth = 4;
    c.heads = 4;
    c.mlp = 33;
    c.classes = 7;
    c.init = VIT_INIT_TORCH; /* larger weights: more happens */
    c.norm = f == POST || f == POST_SCALED ? VIT_NORM_POST : VIT_NORM_PRE;
    c.layer_scale = f == PRE_SCALED || f == POST_SCALED || f == GATED;
    if (f == GATED) {
        c.gated = c.qk_norm = c.norm_pre = true;
        c.activation = VIT_SILU;
        c.pool = VIT_POOL_MEAN;
    }
    if (f == MAP) {
        c.pool = VIT_POOL_MAP;
        c.registers = 3;
    }
    return c;
}

static void check_recipe(const vit_config *c, const vit_recipe *recipe,
                         const vit_kernels *kernels) {
    outcome want =
        after_three_steps(c, recipe, &(vit_trainer_options){.kernels = kernels, .threads = 1});
    for (int threads = 1; threads <= 3; threads++) {
        const vit_trainer_options options = {kernels, threads, .recompute = true};
        outcome got = after_three_steps(c, recipe, &options);
        assert_same(got, want);
        outcome_free(&got);
    }
    outcome_free(&want);
}

static void check_precisions(const vit_config *c, vit_recipe recipe) {
    const vit_kernels *kernels = vit_kernels_choose(VIT_CPU_AVX512BF16);
    recipe.precision = VIT_PRECISION_F32;
    check_recipe(c, &recipe, kernels);
    recipe.precision = VIT_PRECISION_BF16;
    if (kernels->pairs) check_recipe(c, &recipe, kernels);
}

static vit_recipe recipe_of(size_t batch) {
    vit_recipe recipe = vit_recipe_default();
    recipe.batch = batch;
    recipe.ema = .9;
    recipe.drop_path = .3;
    return recipe;
}

/* Every kind of block; one alone, which is the last. */
static void test_blocks(void **state) {
    (void)state;
    for (form f = 0; f < FORMS; f++) {
        vit_config c = network(f);
        check_precisions(&c, recipe_of(37));
        c.depth = 1;
        check_precisions(&c, recipe_of(37));
    }
}

/* Several slices in a lane; lanes of one slice, that two threads add to two; one lane. Some blocks
 * frozen, or all. */
static void test_batches(void **state) {
    (void)state;
    static const size_t batches[] = {137, 37, 1};
    const vit_config c = network(PRE);
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        vit_recipe recipe = recipe_of(batches[i]);
        for (recipe.freeze = 0; recipe.freeze <= c.depth; recipe.freeze += 2)
            check_precisions(&c, recipe);
    }
}

/* ---- memory ---- */

#define PICTURES 64

static size_t state_bytes(form f, size_t depth, vit_kept kept) {
    vit_config c = network(f);
    vit_arena measure = vit_arena_count();
    vit_state s;
    c.depth = depth;
    vit_state_carve(&s, &measure, &c, PICTURES, 1, kept);
    return measure.peak;
}

/* Another block takes its input, and some bytes that say where that is; in inference, these. */
static void test_what_a_block_takes(void **state) {
    (void)state;
    const size_t places = 8 * sizeof(vit_block_state);
    for (form f = 0; f < FORMS; f++) {
        const vit_config c = network(f);
        const size_t input = PICTURES * vit_config_tokens(&c) * c.dim * sizeof(float);
        const size_t nothing = state_bytes(f, 8, VIT_KEPT_NOTHING),
                     inputs = state_bytes(f, 8, VIT_KEPT_INPUTS),
                     all = state_bytes(f, 8, VIT_KEPT_ALL);
        assert_true(nothing - state_bytes(f, 2, VIT_KEPT_NOTHING) <= places);
        assert_true(inputs - state_bytes(f, 2, VIT_KEPT_INPUTS) <= 6 * input + places);
        assert_true(all - state_bytes(f, 2, VIT_KEPT_ALL) >= 6 * 8 * input);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_what_a_block_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
