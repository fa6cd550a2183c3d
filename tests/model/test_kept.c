/* What a training does not keep: norms, activations and blocks that it computes again, and the
 * frozen ones, change no byte of the rest. */
#include "tests/support/check.h"
#include "tests/support/noise.h"
#include "tests/support/unit.h"
#include "vit/ops/activation.h"
#include "vit/ops/layernorm.h"
#include "vit/train/step/trainer.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- operators ---- */

/* Tasks of several threads, the last of them short; rows of which the last vector is ragged. */
#define ROWS 70
#define WIDTH 77
#define ELEMENTS (ROWS * WIDTH)

typedef struct again_case {
    float *x, *dy, *y, *again, *dx, *alone;
    vit_exec exec;
} again_case;

static again_case again_new(int threads) {
    again_case a = {
        .exec = {.kernels = vit_kernels_choose(VIT_CPU_AVX512BF16), .threads = threads}};
    float **arrays[] = {&a.x, &a.dy, &a.y, &a.again, &a.dx, &a.alone};
    vit_random r = check_random(9);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = check_floats(2 * ELEMENTS);
        check_fill(*arrays[i], 2 * ELEMENTS, 9, &r);
    }
    return a;
}

static void again_free(again_case *a) {
    float *const arrays[] = {a->x, a->dy, a->y, a->again, a->dx, a->alone};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
}

static void assert_same_floats(const float *a, const float *b, size_t n) {
    assert_int_equal(check_first_other(a, b, n), n);
}

static void check_norm(again_case *a) {
    const vit_norm w = {.dim = WIDTH, .eps = 1e-6f, .gamma = a->dy, .beta = a->dy + WIDTH};
    const vit_norm_state stats = {a->dx, a->dx + ROWS};
    vit_layernorm_forward(&a->exec, a->y, &stats, a->x, &w, ROWS);
    vit_layernorm_recompute(&a->exec, a->again, &stats, a->x, &w, ROWS);
    assert_same_floats(a->again, a->y, ELEMENTS);
}

static void test_operators(void **state) {
    for (int threads = 1; threads <= 3; threads++) {
        again_case a = again_new(threads);
        a.x[5] = NAN;
        a.x[WIDTH] = -INFINITY;
        check_norm(&a);
        again_free(&a);
    }
}

/* ---- trainings ---- */

/* What a trainer has after some steps, [count] each. */
enum { VALUES, AVERAGE, GRADIENT, M, V, ARRAYS };
typedef struct outcome {
    float *arrays[ARRAYS];
    size_t count;
} outcome;

static outcome after_steps(int steps, const vit_config *config, const vit_recipe *recipe,
                           const vit_trainer_options *options) {
    vit_config c = *config;
    vit_trainer *t;
    double loss;
    assert_int_equal(vit_trainer_new(&t, &c, recipe, options, 7, NULL), VIT_OK);
    for (int i = 0; i < steps; i++)
        assert_int_equal(vit_trainer_step(t, &loss, 1e-3, noise_batch, &c, NULL), VIT_OK);
    const vit_trainer_state state = vit_trainer_get(t);
    const float *const arrays[ARRAYS] = {state.values, state.average, vit_trainer_gradient(t),
                                         state.m, state.v};
    /* Frozen rows come first; their gradients have no memory. */
    const size_t frozen = state.trained->rows->offset;
    outcome o = {.count = state.table->size};
    for (size_t i = 0; i < ARRAYS; i++) {
        const size_t first = i == GRADIENT ? frozen : 0;
        o.arrays[i] = check_floats(o.count);
        memcpy(o.arrays[i] + first, arrays[i] + first, (o.count - first) * sizeof(float));
    }
    vit_trainer_free(t);
    return o;
}

static void assert_same(outcome a, outcome b) {
    assert_int_equal(a.count, b.count);
    for (size_t i = 0; i < ARRAYS; i++)
        assert_memory_equal(a.arrays[i], b.arrays[i], a.count * sizeof(float));
}

static void outcome_free(outcome *o) {
    for (size_t i = 0; i < ARRAYS; i++) free(o->arrays[i]);
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

typedef void checker(const vit_config *c, const vit_recipe *recipe, const vit_kernels *kernels);

static void check_precisions(checker *check, const vit_config *c, vit_recipe recipe) {
    const vit_kernels *kernels = vit_kernels_choose(VIT_CPU_AVX512BF16);
    recipe.precision = VIT_PRECISION_F32;
    check(c, &recipe, kernels);
    recipe.precision = VIT_PRECISION_BF16;
    if (kernels->products[VIT_PRECISION_BF16]) check(c, &recipe, kernels);
}

static vit_recipe recipe_of(size_t batch) {
    vit_recipe recipe = vit_recipe_default();
    recipe.batch = batch;
    recipe.ema = .9;
    recipe.drop_path = .3;
    return recipe;
}

/* ---- computed again ---- */

static void check_again(const vit_config *c, const vit_recipe *recipe, const vit_kernels *kernels) {
    const vit_trainer_options alone = {kernels, 1, .activation_checkpointing = false};
    outcome want = after_steps(3, c, recipe, &alone);
    for (int threads = 1; threads <= 3; threads++) {
        const vit_trainer_options options = {kernels, threads, .activation_checkpointing = true};
        outcome got = after_steps(3, c, recipe, &options);
        assert_same(got, want);
        outcome_free(&got);
    }
    outcome_free(&want);
}

/* Every kind of block; one alone, which is the last. */
static void test_blocks(void **state) {
    for (form f = 0; f < FORMS; f++) {
        vit_config c = network(f);
        check_precisions(check_again, &c, recipe_of(37));
        c.depth = 1;
        check_precisions(check_again, &c, recipe_of(37));
    }
}

/* Several slices in a lane; lanes of one slice, that two threads add to two; one lane. Some blocks
 * frozen, or all. */
static void test_batches(void **state) {
    static const size_t batches[] = {137, 37, 1};
    const vit_config c = network(PRE);
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        vit_recipe recipe = recipe_of(batches[i]);
        for (recipe.freeze = 0; recipe.freeze <= c.depth; recipe.freeze += 2)
            check_precisions(check_again, &c, recipe);
    }
}

/* ---- frozen ---- */

/* The tensor of one array in both. */
static bool same_tensor(const outcome *a, const outcome *b, size_t array, const vit_parameter *p) {
    return memcmp(a->arrays[array] + p->offset, b->arrays[array] + p->offset,
                  p->count * sizeof(float)) == 0;
}

/* What is frozen is after a step as it was before, with a gradient and moments of 0; the others
 * have the gradient that they have where nothing is frozen. */
static void compare_tensors(const vit_config *c, size_t freeze, const outcome *got,
                            const outcome *before, const outcome *all) {
    vit_table table;
    assert_int_equal(vit_table_new(&table, c, NULL), VIT_OK);
    for (size_t i = 0; i < table.count; i++) {
        const vit_parameter *p = &table.rows[i];
        const bool frozen = check_layer(p->name, c->depth) <= freeze;
        for (size_t a = 0; a < ARRAYS; a++) {
            assert_int_equal(same_tensor(got, before, a, p), frozen);
            assert_true(a != GRADIENT || frozen || same_tensor(got, all, a, p));
        }
    }
    vit_table_free(&table);
}

static void check_frozen(const vit_config *c, const vit_recipe *recipe,
                         const vit_kernels *kernels) {
    const vit_trainer_options options = {kernels, 1, .activation_checkpointing = false};
    const vit_trainer_options four = {kernels, 4, .activation_checkpointing = false};
    vit_recipe some = *recipe;
    outcome before = after_steps(0, c, recipe, &options), all = after_steps(1, c, recipe, &options);
    for (some.freeze = 1; some.freeze <= c->depth; some.freeze++) {
        outcome got = after_steps(1, c, &some, &options), again = after_steps(1, c, &some, &four);
        compare_tensors(c, some.freeze, &got, &before, &all);
        assert_same(got, again);
        outcome_free(&got);
        outcome_free(&again);
    }
    outcome_free(&before);
    outcome_free(&all);
}

static void test_frozen(void **state) {
    for (form f = 0; f < FORMS; f++) {
        const vit_config c = network(f);
        check_precisions(check_frozen, &c, recipe_of(37));
        check_precisions(check_frozen, &c, recipe_of(137));
    }
}

static void test_more_than_there_are(void **state) {
    vit_error error;
    vit_trainer *t;
    const vit_config c = network(PRE);
    const vit_trainer_options options = {vit_kernels_scalar(), 1,
                                         .activation_checkpointing = false};
    vit_recipe recipe = recipe_of(37);
    recipe.freeze = 5;
    assert_int_equal(vit_trainer_new(&t, &c, &recipe, &options, 0, &error), VIT_ERROR_ARGUMENT);
    assert_string_equal(error.message,
                        "\"freeze\" is 5, but the network has 4 blocks: expected 0 to 4");
}

/* ---- memory ---- */

#define PICTURES 64

static size_t state_bytes(form f, size_t depth, vit_kept kept, size_t frozen) {
    vit_config c = network(f);
    vit_arena measure = vit_arena_count();
    vit_state s;
    c.depth = depth;
    vit_state_carve(&s, &measure, &c, PICTURES, 1, kept, frozen);
    return measure.peak;
}

/* What products made of a block of network(PRE), and its input; statistics of both norms; and what
 * aligning some arrays takes. */
static size_t product_bytes(const vit_config *c) {
    const size_t rows = PICTURES * vit_config_tokens(c), z = c->dim, qkv = 3 * c->dim, o = c->dim;
    const size_t p = c->heads * vit_padded(vit_config_tokens(c)), mid = c->dim, hidden = c->mlp;
    return rows * (z + qkv + p + o + mid + hidden + 4) * sizeof(float) + 10 * 64;
}

/* Another block takes its input, and some bytes that say where that is; in inference, and where it
 * is frozen, these. */
static void test_what_a_block_takes(void **state) {
    const size_t places = 8 * sizeof(vit_block_state);
    for (form f = 0; f < FORMS; f++) {
        const vit_config c = network(f);
        const size_t input = PICTURES * vit_config_tokens(&c) * c.dim * sizeof(float);
        const size_t nothing = state_bytes(f, 8, VIT_KEPT_NOTHING, 0),
                     inputs = state_bytes(f, 8, VIT_KEPT_INPUTS, 0),
                     all = state_bytes(f, 8, VIT_KEPT_ALL, 0),
                     two = state_bytes(f, 2, VIT_KEPT_ALL, 0),
                     frozen = state_bytes(f, 8, VIT_KEPT_ALL, 7);
        assert_true(nothing - state_bytes(f, 2, VIT_KEPT_NOTHING, 0) <= places);
        assert_true(inputs - state_bytes(f, 2, VIT_KEPT_INPUTS, 0) <= 6 * input + places);
        assert_true(all - two >= 6 * 8 * input);
        assert_true(frozen - state_bytes(f, 2, VIT_KEPT_ALL, 1) <= places);
        assert_true(frozen <= two + places);
        assert_true(f != PRE || all - two <= 6 * product_bytes(&c) + places);
    }
}

/* Of every attention that a network computes: all tokens or a picture's first look at all, and the
 * query of the map pooling at all but those before the patches. */
static void check_scratch(const vit_config *c, vit_kept kept) {
    const size_t tokens = vit_config_tokens(c), queries[] = {tokens, 1};
    const bool training = kept != VIT_KEPT_NOTHING;
    vit_arena arena = vit_arena_count();
    vit_state s;
    vit_error error;
    for (int twice = 0; twice < 2; twice++) {
        vit_state_carve(&s, &arena, c, 3, 2, kept, 0);
        if (!twice) assert_int_equal(vit_arena_init(&arena, arena.peak, "a test", &error), VIT_OK);
    }
    const float *after = s.room; /* what is carved next */
    for (size_t i = 0; i < 2; i++) {
        for (size_t skip = 0; skip <= i; skip++) {
            const vit_attention_shape shape = {.heads = c->heads,
                                               .head_dim = vit_config_head_dim(c),
                                               .queries = queries[i],
                                               .keys = tokens - skip};
            assert_true(s.scratch + 2 * vit_attention_scratch(&shape, training) <= after);
        }
    }
    vit_arena_free(&arena);
}

/* Heads that go together, a picture's first token among many, and one key less than fills a block
 * of queries in equal parts. */
static void test_attention_has_room(void **state) {
    static const struct sizes {
        size_t image, patch, heads;
    } sizes[] = {{28, 14, 8}, {28, 7, 8}, {24, 4, 6}, {320, 8, 16}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        vit_config c = network(PRE);
        c.height = c.width = sizes[i].image;
        c.patch = sizes[i].patch;
        c.heads = sizes[i].heads;
        c.dim = 4 * c.heads;
        for (size_t pool = 0; pool < 2; pool++) {
            c.pool = pool ? VIT_POOL_MAP : VIT_POOL_CLASS;
            check_scratch(&c, VIT_KEPT_NOTHING);
            check_scratch(&c, VIT_KEPT_ALL);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operators),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_frozen),
        cmocka_unit_test(test_more_than_there_are),
        cmocka_unit_test(test_what_a_block_takes),
        cmocka_unit_test(test_attention_has_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
