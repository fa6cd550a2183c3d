#include <math.h>
#include <string.h>

#include "tests/support/unit.h"
#include "vit/base/random.h"

/* The vectors published with Random123 (kat_vectors, philox4x32, 10 rounds). */
static void test_philox_known_answers(void **state) {
    static const struct {
        uint32_t counter[4], key[2], expected[4];
    } cases[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t out[4];
        vit_philox(out, cases[i].counter, cases[i].key);
        assert_memory_equal(out, cases[i].expected, sizeof out);
    }
    uint32_t in_place[4] = {0};
    vit_philox(in_place, in_place, cases[0].key);
    assert_memory_equal(in_place, cases[0].expected, sizeof in_place);
}

static vit_random example(void) {
    return vit_random_start(0x0123456789abcdef, VIT_RANDOM_AUGMENT, 3, 7);
}

/* Computed by an independent implementation in Python (normals with mpmath): these are what a
 * training depends on, so they may never change. */
static void test_streams_are_fixed_for_ever(void **state) {
    static const uint32_t words[] = {0x57391402, 0x10e588f9, 0x6a6c260b, 0xbacdcee3,
                                     0x5fc8e3e3, 0x28f7d6fe, 0x0a2b5c5a, 0x30ae1b0e};
    static const double uniforms[] = {0x1.5ce45010e588ep-2, 0x1.a9b098bacdceep-2,
                                      0x1.7f238f28f7d6ep-2};
    static const double normals[] = {-0.7877553838464986, 0.9381515751242729, -0.957001909050117,
                                     0.0033112938528063024};
    vit_random r = example();
    for (size_t i = 0; i < 8; i++) assert_int_equal(vit_random_u32(&r), words[i]);
    r = example();
    for (size_t i = 0; i < 3; i++) assert_true(vit_random_uniform(&r) == uniforms[i]);
    r = example();
    for (size_t i = 0; i < 4; i++) assert_true(fabs(vit_random_normal(&r) - normals[i]) < 1e-14);
}

static void test_every_part_of_the_address_counts(void **state) {
    vit_random streams[] = {
        example(),
        vit_random_start(0x0123456789abcdee, VIT_RANDOM_AUGMENT, 3, 7),
        vit_random_start(0x1123456789abcdef, VIT_RANDOM_AUGMENT, 3, 7),
        vit_random_start(0x0123456789abcdef, VIT_RANDOM_SHUFFLE, 3, 7),
        vit_random_start(0x0123456789abcdef, VIT_RANDOM_AUGMENT, 7, 3),
        vit_random_start(0x0123456789abcdef, VIT_RANDOM_AUGMENT, 3, 8),
    };
    const size_t count = sizeof streams / sizeof streams[0];
    uint32_t words[6][8];
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < 8; j++) words[i][j] = vit_random_u32(&streams[i]);
        for (size_t k = 0; k < i; k++) assert_memory_not_equal(words[i], words[k], 32);
    }
}

/* With n = 3 * 2^30, plain scaling or a remainder would give some results twice as often. */
static void test_below_is_unbiased(void **state) {
    vit_random r = vit_random_start(1, VIT_RANDOM_TEST, 0, 0);
    const uint32_t n = 3u << 30;
    const int draws = 300000;
    int counts[6] = {0};
    for (int i = 0; i < draws; i++) {
        uint32_t x = vit_random_below(&r, n);
        assert_true(x < n);
        counts[x % 3]++;
        counts[3 + x / (1u << 30)]++;
    }
    /* Standard deviation sqrt(300000 * 1/3 * 2/3) = 258: 5 of them. */
    for (int i = 0; i < 6; i++) assert_in_range(counts[i], draws / 3 - 1291, draws / 3 + 1291);
    for (int i = 0; i < 100; i++) assert_int_equal(vit_random_below(&r, 1), 0);
}

static void test_below_reaches_all(void **state) {
    vit_random r = vit_random_start(2, VIT_RANDOM_TEST, 0, 0);
    int counts[5] = {0};
    for (int i = 0; i < 50000; i++) counts[vit_random_below(&r, 5)]++;
    for (int i = 0; i < 5; i++) assert_in_range(counts[i], 10000 - 450, 10000 + 450);
}

static void test_uniform(void **state) {
    vit_random r = vit_random_start(3, VIT_RANDOM_TEST, 0, 0);
    double sum = 0, squares = 0;
    const int n = 400000;
    for (int i = 0; i < n; i++) {
        double u = vit_random_uniform(&r);
        assert_true(u >= 0 && u < 1);
        sum += u;
        squares += u * u;
    }
    assert_true(fabs(sum / n - 0.5) < 5 * sqrt(1.0 / 12 / n));
    assert_true(fabs(squares / n - 1.0 / 3) < 5 * sqrt(4.0 / 45 / n));
}

static void test_normal(void **state) {
    vit_random r = vit_random_start(4, VIT_RANDOM_TEST, 0, 0);
    /* Shares of a normal distribution below these: from tables of the error function. */
    static const double edges[] = {-3, -2, -1, -0.5, 0, 0.5, 1, 2, 3};
    static const double shares[] = {0.0013498980, 0.0227501319, 0.1586552539, 0.3085375387, 0.5,
                                    0.6914624613, 0.8413447461, 0.9772498681, 0.9986501020};
    int below[9] = {0};
    const int n = 400000;
    double sum = 0, squares = 0;
    for (int i = 0; i < n; i++) {
        double x = vit_random_normal(&r);
        assert_true(fabs(x) < 9);
        sum += x;
        squares += x * x;
        for (int j = 0; j < 9; j++) below[j] += x < edges[j];
    }
    assert_true(fabs(sum / n) < 5 * sqrt(1.0 / n));
    assert_true(fabs(squares / n - 1) < 5 * sqrt(2.0 / n));
    for (int j = 0; j < 9; j++) {
        assert_true(fabs((double)below[j] / n - shares[j]) <
                    5 * sqrt(shares[j] * (1 - shares[j]) / n));
    }
}

static void test_shuffle_permutes_evenly(void **state) {
    vit_random r = vit_random_start(5, VIT_RANDOM_TEST, 0, 0);
    int counts[3][3][3] = {{{0}}};
    const int n = 60000;
    for (int i = 0; i < n; i++) {
        uint32_t order[] = {0, 1, 2, 77};
        vit_random_shuffle(&r, order, 3);
        assert_int_equal(order[3], 77);
        counts[order[0]][order[1]][order[2]]++;
    }
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++)
            if (a != b) assert_in_range(counts[a][b][3 - a - b], n / 6 - 457, n / 6 + 457);
    }
    vit_random_shuffle(&r, NULL, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_philox_known_answers),
        cmocka_unit_test(test_streams_are_fixed_for_ever),
        cmocka_unit_test(test_every_part_of_the_address_counts),
        cmocka_unit_test(test_below_is_unbiased),
        cmocka_unit_test(test_below_reaches_all),
        cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_normal),
        cmocka_unit_test(test_shuffle_permutes_evenly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
