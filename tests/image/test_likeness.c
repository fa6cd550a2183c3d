/* Near-duplicates: what is done to a picture on its way, by the definition of each change; and
 * pictures that only resemble each other. */
#include "tests/support/unit.h"
#include "vit/base/random.h"
#include "vit/image/likeness.h"

#include <math.h>
#include <string.h>

enum { HEIGHT = 150, WIDTH = 200, SIZE = HEIGHT * WIDTH * 3 };

typedef struct scene {
    uint8_t pixels[SIZE];
} scene;

/* A scene of soft blobs, as seen through a window of `share` of each side from (left, top) on, all
 * as shares; so a crop is a scene, too, that needs no resizing. */
static void draw(scene *s, uint32_t seed, double left, double top, double share) {
    enum { BLOBS = 24 };
    vit_random r = vit_random_start(seed, VIT_RANDOM_SHUFFLE, 0, 0);
    double blob[BLOBS][6];
    for (size_t i = 0; i < BLOBS; i++)
        for (size_t k = 0; k < 6; k++) blob[i][k] = (double)vit_random_uniform(&r);
    for (size_t i = 0; i < SIZE / 3; i++) {
        const double x = left + share * ((double)(i % WIDTH) + .5) / WIDTH;
        const double y = top + share * ((double)(i / WIDTH) + .5) / HEIGHT;
        double color[3] = {110 + 40 * x, 120, 130 - 40 * y};
        for (size_t b = 0; b < BLOBS; b++) {
            const double dx = x - blob[b][0], dy = y - blob[b][1];
            const double near = exp(-(dx * dx + dy * dy) / (.002 + .02 * blob[b][2]));
            for (size_t k = 0; k < 3; k++) color[k] += 160 * near * (blob[b][3 + k] - .5);
        }
        for (size_t k = 0; k < 3; k++) s->pixels[3 * i + k] = (uint8_t)fmin(255, fmax(0, color[k]));
    }
}

static vit_likeness likeness(const scene *s) {
    vit_likeness l;
    vit_likeness_of(&l, s->pixels, HEIGHT, WIDTH, 3);
    l.digest = vit_likeness_digest(s->pixels, SIZE);
    return l;
}

static vit_likeness view(uint32_t seed, double left, double top, double share) {
    static scene s;
    draw(&s, seed, left, top, share);
    return likeness(&s);
}

static void test_changes(void **state) {
    static scene whole, changed;
    for (uint32_t seed = 0; seed < 12; seed++) {
        draw(&whole, seed, 0, 0, 1);
        const vit_likeness a = likeness(&whole);
        vit_likeness b = a;
        assert_int_equal(vit_likeness_compare(&a, &b, true), VIT_ALIKE_EXACT);
        for (size_t i = 0; i < SIZE; i++) /* noise, and brighter */
            changed.pixels[i] =
                (uint8_t)fmin(255, whole.pixels[i] * 0.9 + 30 + (double)(i * 37 % 11));
        b = likeness(&changed);
        assert_int_equal(vit_likeness_compare(&a, &b, true), VIT_ALIKE_NEAR);
        for (size_t i = 0; i < SIZE / 3; i++) /* mirrored */
            memcpy(changed.pixels + 3 * i,
                   whole.pixels + 3 * (i / WIDTH * WIDTH + WIDTH - 1 - i % WIDTH), 3);
        b = likeness(&changed);
        assert_int_equal(vit_likeness_compare(&a, &b, true), VIT_ALIKE_MIRRORED);
        assert_int_equal(vit_likeness_compare(&b, &a, false), VIT_ALIKE_MIRRORED);
        for (size_t i = 0; i < SIZE; i++) changed.pixels[i] = (uint8_t)(255 - whole.pixels[i]);
        b = likeness(&changed);
        assert_int_equal(vit_likeness_compare(&a, &b, true), VIT_ALIKE_NOT);
    }
}

/* A plain sky: the brightness of its parts differs by noise alone, other in each copy. */
static void test_plain_areas(void **state) {
    static scene s;
    for (uint32_t seed = 0; seed < 12; seed++) {
        vit_likeness copies[3];
        for (uint32_t k = 0; k < 3; k++) {
            vit_random noise = vit_random_start(seed, VIT_RANDOM_SHUFFLE, 1, k);
            draw(&s, seed, 0, 0, 1);
            for (size_t i = 0; i < SIZE / 2; i++)
                s.pixels[i] = (uint8_t)(120.5 + 8 * ((double)vit_random_uniform(&noise) - .5));
            for (size_t i = 0; k == 2 && i < SIZE / 3; i++) /* mirrored */
                if (i % WIDTH < WIDTH / 2)
                    for (size_t c = 0; c < 3; c++) {
                        uint8_t *a = s.pixels + 3 * i + c;
                        uint8_t *b = s.pixels + 3 * (i + WIDTH - 1 - 2 * (i % WIDTH)) + c, t = *a;
                        *a = *b;
                        *b = t;
                    }
            copies[k] = likeness(&s);
        }
        assert_int_equal(vit_likeness_compare(&copies[0], &copies[1], false), VIT_ALIKE_NEAR);
        assert_int_equal(vit_likeness_compare(&copies[0], &copies[2], false), VIT_ALIKE_MIRRORED);
    }
}

/* Crops of a scene, and two crops of which none has all of the other. */
static void test_crops(void **state) {
    size_t found = 0;
    for (uint32_t seed = 0; seed < 12; seed++) {
        const vit_likeness a = view(seed, 0, 0, 1);
        const vit_likeness crops[] = {view(seed, .02, .03, .95), view(seed, .1, 0, .9),
                                      view(seed, .05, .07, .9)};
        for (size_t i = 0; i < 3; i++) found += vit_likeness_compare(&a, &crops[i], true) > 0;
        found += vit_likeness_compare(&crops[0], &crops[2], true) > 0;
        const vit_likeness left = view(seed, 0, .02, .95), right = view(seed, .05, .03, .95);
        found += vit_likeness_compare(&left, &right, true) > 0;
    }
    assert_true(found >= 57); /* of 60 */
}

static void test_others(void **state) {
    vit_likeness all[40];
    for (uint32_t i = 0; i < 40; i++) all[i] = view(100 + i, 0, 0, 1);
    for (size_t i = 0; i < 40; i++)
        for (size_t k = 0; k < i; k++)
            assert_int_equal(vit_likeness_compare(&all[i], &all[k], true), VIT_ALIKE_NOT);
}

static void test_groups(void **state) {
    vit_likeness all[8];
    vit_copies one, three;
    for (uint32_t i = 0; i < 8; i++) all[i] = view(100 + i, 0, 0, 1);
    all[5] = all[1];
    all[7] = all[1];
    all[6] = view(103, .1, 0, .9);
    all[0].digest = all[2].digest = 0; /* none is known: they are not equal */
    assert_int_equal(vit_copies_find(&one, all, 8, 1, NULL), VIT_OK);
    assert_int_equal(vit_copies_find(&three, all, 8, 3, NULL), VIT_OK);
    assert_int_equal(one.pair_count, 3);
    assert_int_equal(three.pair_count, 3);
    assert_memory_equal(one.pairs, three.pairs, 3 * sizeof *one.pairs);
    const vit_copy right[] = {
        {1, 5, VIT_ALIKE_EXACT}, {1, 7, VIT_ALIKE_EXACT}, {3, 6, VIT_ALIKE_CROP}};
    const uint32_t groups[] = {0, 1, 2, 3, 4, 1, 3, 1};
    assert_memory_equal(one.pairs, right, sizeof right);
    assert_memory_equal(one.group, groups, sizeof groups);
    assert_int_equal(one.extra, 3);
    vit_copies_free(&one);
    vit_copies_free(&three);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes), cmocka_unit_test(test_plain_areas),
        cmocka_unit_test(test_crops),   cmocka_unit_test(test_others),
        cmocka_unit_test(test_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
