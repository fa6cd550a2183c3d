#include <string.h>

#include "tests/support/fault.h"
#include "tests/support/unit.h"
#include "vit/base/arena.h"

static void test_takes_are_aligned_and_apart(void **state) {
    vit_arena arena;
    assert_int_equal(vit_arena_init(&arena, 64 * 7 + 5 * VIT_ARENA_GAP, "a test", NULL), VIT_OK);
    const size_t sizes[] = {1, 64, 65, 0, 63};
    unsigned char *taken[5];
    for (size_t i = 0; i < 5; i++) {
        taken[i] = vit_arena_take(&arena, sizes[i]);
        assert_non_null(taken[i]);
        assert_int_equal((uintptr_t)taken[i] % 64, 0);
        memset(taken[i], (int)i + 1, sizes[i]);
    }
    for (size_t i = 0; i < 5; i++) {
        for (size_t j = 0; j < sizes[i]; j++) assert_int_equal(taken[i][j], i + 1);
    }
    assert_int_equal(arena.used, 64 * 5 + 5 * VIT_ARENA_GAP);
    vit_arena_free(&arena);
}

static void test_full_arena_gives_null_and_goes_on(void **state) {
    vit_arena arena;
    assert_int_equal(vit_arena_init(&arena, 100 + VIT_ARENA_GAP, "a test", NULL), VIT_OK);
    assert_null(vit_arena_take(&arena, 101 + VIT_ARENA_GAP));
    unsigned char *first = vit_arena_take(&arena, 64);
    assert_null(vit_arena_take(&arena, 37));
    unsigned char *rest = vit_arena_take(&arena, 36);
    assert_ptr_equal(rest, first + 64 + VIT_ARENA_GAP);
    memset(rest, 1, 36);
    assert_null(vit_arena_take(&arena, 1));
    assert_null(vit_arena_take(&arena, SIZE_MAX));
    assert_null(vit_arena_floats(&arena, SIZE_MAX / 2));
    assert_int_equal(arena.peak, 100 + VIT_ARENA_GAP);
    vit_arena_free(&arena);
}

static void test_reset_gives_the_same_again(void **state) {
    vit_arena arena;
    assert_int_equal(vit_arena_init(&arena, 4096, "a test", NULL), VIT_OK);
    float *x = vit_arena_floats(&arena, 100);
    vit_arena_reset(&arena);
    assert_ptr_equal(vit_arena_floats(&arena, 3), x);
    assert_int_equal(arena.peak, 448 + VIT_ARENA_GAP);
    vit_arena_free(&arena);
    assert_null(arena.base);
}

static void take_some(vit_arena *arena) {
    vit_arena_floats(arena, 1000);
    vit_arena_take(arena, 7);
    vit_arena_reset(arena);
    vit_arena_floats(arena, 17);
}

static void test_counting_predicts_the_need(void **state) {
    vit_arena counted = vit_arena_count();
    take_some(&counted);
    assert_null(vit_arena_take(&counted, 0));
    vit_arena arena;
    assert_int_equal(vit_arena_init(&arena, counted.peak, "a test", NULL), VIT_OK);
    take_some(&arena);
    assert_int_equal(arena.peak + VIT_ARENA_GAP, arena.size);
    vit_arena_free(&arena);
    /* A need beyond size_t must not come out as a small one. */
    vit_arena_floats(&counted, SIZE_MAX / 4 + 2);
    assert_true(counted.peak > SIZE_MAX / 2);
    vit_error error;
    assert_int_equal(vit_arena_init(&arena, counted.peak, "a test", &error), VIT_ERROR_MEMORY);
    assert_null(arena.base);
}

static void test_no_memory_is_said(void **state) {
    vit_arena arena;
    vit_error error;
    fault_arm(1);
    vit_status status = vit_arena_init(&arena, 12345, "a training slice", &error);
    fault_disarm();
    assert_int_equal(status, VIT_ERROR_MEMORY);
    assert_string_equal(error.message, "out of memory: a training slice needs 12345 bytes");
    assert_null(arena.base);
    assert_null(vit_arena_take(&arena, 1));
    vit_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_takes_are_aligned_and_apart),
        cmocka_unit_test(test_full_arena_gives_null_and_goes_on),
        cmocka_unit_test(test_reset_gives_the_same_again),
        cmocka_unit_test(test_counting_predicts_the_need),
        cmocka_unit_test(test_no_memory_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
