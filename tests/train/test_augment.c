/* Augmentation: poses whose result is known, the rest against a plain reference in double; draws.
 */
#include "tests/support/check.h"
#include "tests/support/unit.h"
#include "vit/train/augment/augment.h"
#include <math.h>
#include <string.h>

#define MOST 1000

static const vit_pose still = {.scale = 1};

/* Bytes to themselves, channel c plus 1000 c. */
static void fill_table(float table[3][256]) {
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 256; i++) table[c][i] = (float)(i + 1000 * c);
}

static void pose(float *image, const uint8_t *pixels, const vit_picture_shape *shape,
                 const vit_augmentation *a, const vit_pose *pose) {
    float table[3][256];
    fill_table(table);
    vit_pose_apply(image, pixels, table, shape, a, pose);
}

/* Whether the 2 x 3 picture 1 .. 6 becomes `want`; also by interpolation, where nothing is between
 * pixels. */
static void expect(vit_pose p, const float want[6]) {
    static const uint8_t pixels[6] = {1, 2, 3, 4, 5, 6};
    static const vit_picture_shape shape = {2, 3, 1};
    static const vit_augmentation kinds[] = {{0}, {.rotate = 1}};
    float image[6];
    for (size_t i = 0; i < 2; i++) {
        pose(image, pixels, &shape, &kinds[i], &p);
        for (size_t j = 0; j < 6; j++) assert_true(fabsf(image[j] - want[j]) <= 1e-5f);
    }
}

static void test_whole_pixels(void **state) {
    vit_pose p = still;
    expect(p, (float[]){1, 2, 3, 4, 5, 6});
    p.dy = p.dx = 1; /* one down, one right */
    expect(p, (float[]){0, 0, 0, 0, 1, 2});
    p.dy = p.dx = -1;
    expect(p, (float[]){5, 6, 0, 0, 0, 0});
    p = still;
    p.mirrored = true;
    expect(p, (float[]){3, 2, 1, 6, 5, 4});
    p.dx = 1; /* mirrored first */
    expect(p, (float[]){0, 3, 2, 0, 6, 5});
}

static void test_quarter_turn(void **state) {
    static const uint8_t pixels[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const float clockwise[9] = {7, 4, 1, 8, 5, 2, 9, 6, 3};
    const vit_picture_shape shape = {3, 3, 1};
    const vit_augmentation a = {.rotate = 90};
    vit_pose p = still;
    float image[9];
    p.degrees = 90;
    pose(image, pixels, &shape, &a, &p);
    for (size_t i = 0; i < 9; i++) assert_true(fabsf(image[i] - clockwise[i]) <= 1e-4f);
    p.degrees = -90;
    pose(image, pixels, &shape, &a, &p);
    for (size_t i = 0; i < 9; i++) assert_true(fabsf(image[i] - clockwise[8 - i]) <= 1e-4f);
}

static void test_scale_and_shear(void **state) {
    static const uint8_t pixels[9] = {0, 0, 0, 10, 20, 30, 0, 0, 0};
    static const uint8_t column[9] = {0, 9, 0, 0, 9, 0, 0, 9, 0};
    const vit_picture_shape shape = {3, 3, 1};
    const vit_augmentation a = {.scale = .9};
    vit_pose p = still;
    float image[9];
    p.scale = 2; /* halfway between pixels */
    pose(image, pixels, &shape, &a, &p);
    const float twice[9] = {7.5f, 10, 12.5f, 15, 20, 25, 7.5f, 10, 12.5f};
    for (size_t i = 0; i < 9; i++) assert_true(fabsf(image[i] - twice[i]) <= 1e-4f);
    p = still;
    p.shear = 1; /* the lower row goes right, the upper one left */
    pose(image, column, &shape, &a, &p);
    const float slanted[9] = {9, 0, 0, 0, 9, 0, 0, 0, 9};
    for (size_t i = 0; i < 9; i++) assert_true(fabsf(image[i] - slanted[i]) <= 1e-4f);
}

/* Out there everything is 0. */
static double byte_at(const uint8_t *pixels, const vit_picture_shape *s, double y, double x,
                      size_t c) {
    if (y < 0 || y >= (double)s->height || x < 0 || x >= (double)s->width) return 0;
    return pixels[((size_t)y * s->width + (size_t)x) * s->channels + c];
}

/* Forward: where a pixel goes, solved for where one comes from by Cramer's rule. */
static double reference(const uint8_t *pixels, const vit_picture_shape *s, const vit_pose *p,
                        size_t y, size_t x, size_t c) {
    const double angle = p->degrees * 3.14159265358979323846 / 180, mirror = p->mirrored ? -1 : 1;
    const double middle_y = (double)(s->height - 1) / 2, middle_x = (double)(s->width - 1) / 2;
    /* mirror, then shear (x += shear y), then scale, then turn: columns are images of x and y */
    const double xx = mirror * p->scale * cos(angle), yx = mirror * p->scale * sin(angle);
    const double xy = p->scale * (p->shear * cos(angle) - sin(angle));
    const double yy = p->scale * (p->shear * sin(angle) + cos(angle));
    const double to_x = (double)x - middle_x - p->dx, to_y = (double)y - middle_y - p->dy;
    const double determinant = xx * yy - xy * yx;
    const double from_x = middle_x + (to_x * yy - to_y * xy) / determinant;
    const double from_y = middle_y + (to_y * xx - to_x * yx) / determinant;
    const double low_x = floor(from_x), low_y = floor(from_y);
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        const double at_y = low_y + i / 2, at_x = low_x + i % 2;
        const double weight = (1 - fabs(from_y - at_y)) * (1 - fabs(from_x - at_x));
        sum += weight * byte_at(pixels, s, at_y, at_x, c);
    }
    return sum + 1000 * (double)c;
}

static void check_random_pose(const vit_picture_shape *s, const vit_augmentation *a,
                              vit_random *r) {
    uint8_t pixels[MOST];
    float image[MOST];
    const size_t row = s->width * s->channels;
    for (size_t i = 0; i < s->height * row; i++) pixels[i] = (uint8_t)vit_random_u32(r);
    const vit_pose p = vit_pose_draw(a, r);
    pose(image, pixels, s, a, &p);
    for (size_t i = 0; i < s->height * row; i++) {
        const double want =
            reference(pixels, s, &p, i / row, i % row / s->channels, i % s->channels);
        assert_true(fabs((double)image[i] - want) <= .02); /* of 255: coordinates are floats */
    }
}

static void test_against_reference(void **state) {
    vit_random r = check_random(3);
    for (size_t i = 0; i < 300; i++)
        check_random_pose(
            &(vit_picture_shape){1 + i % 19, 1 + i % 13, 1 + i % 2 * 2},
            &(vit_augmentation){
                .shift = i % 4, .flip = i % 3 == 0, .rotate = 180, .scale = .5, .shear = .5},
            &r);
}

static void test_draws(void **state) {
    const vit_augmentation all = {
        .shift = 2, .flip = true, .rotate = 20, .scale = .25, .shear = .1};
    const vit_augmentation shift = {.shift = 2};
    double most = 0, least_scale = 9, most_scale = 0, sheared = 0;
    int mirrored = 0, moved[5] = {0};
    for (uint32_t i = 0; i < 2000; i++) {
        vit_random r = check_random(i), same = check_random(i);
        const vit_pose p = vit_pose_draw(&all, &r), q = vit_pose_draw(&shift, &same);
        assert_true(p.dy == q.dy && p.dx == q.dx); /* what is off changes nothing else */
        assert_true(!q.mirrored && fabs(q.degrees) <= 0 && fabs(q.scale - 1) <= 0);
        moved[p.dy + 2]++;
        mirrored += p.mirrored;
        most = fmax(most, fabs(p.degrees));
        least_scale = fmin(least_scale, p.scale);
        most_scale = fmax(most_scale, p.scale);
        sheared = fmax(sheared, fabs(p.shear));
    }
    for (int i = 0; i < 5; i++) assert_true(moved[i] > 300 && moved[i] < 500);
    assert_true(mirrored > 900 && mirrored < 1100);
    assert_true(most > 19.8 && most <= 20 && sheared > .098 && sheared <= .1);
    assert_true(least_scale >= .75 && least_scale < .755 && most_scale > 1.245);
    assert_true(most_scale <= 1.25);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_pixels),    cmocka_unit_test(test_quarter_turn),
        cmocka_unit_test(test_scale_and_shear), cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
