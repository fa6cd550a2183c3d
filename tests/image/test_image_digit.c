/* The preparation of drawn and photographed digits, on pictures drawn here. */
#include "datasets/dataset.h"
#include "tests/support/fault.h"
#include "tests/support/pictures.h"
#include "tests/support/unit.h"
#include "vit/formats/sha256.h"
#include "vit/image/digit/digit.h"
#include "vit/image/digit/ink.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = VIT_DIGIT_SIZE * VIT_DIGIT_SIZE };

/* A digit 5 of two pens' lifts: the bar at the top stands apart. Corners in parts of its height. */
static const double five[][4] = {
    {0.28, 0.0, 0.6, 0.0},  {0.15, 0.1, 0.12, 0.45},  {0.12, 0.45, 0.4, 0.4},
    {0.4, 0.4, 0.58, 0.62}, {0.58, 0.62, 0.45, 0.92}, {0.45, 0.92, 0.05, 1.0},
};

/* How a digit lies on its paper. */
typedef struct scene {
    size_t width, height;
    double left, top, size, pen;
    int paper, ink;
} scene;

static const scene plain = {400, 300, 150, 60, 160, 9, 220, 40};

static double to_segment(double x, double y, const double s[4]) {
    const double dx = s[2] - s[0], dy = s[3] - s[1];
    double t = ((x - s[0]) * dx + (y - s[1]) * dy) / (dx * dx + dy * dy);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypot(x - s[0] - t * dx, y - s[1] - t * dy);
}

static vit_image draw_scene(const scene *s) {
    vit_image image = noise_picture(s->width, s->height, 1, 0);
    for (size_t i = 0; i < s->width * s->height; i++) {
        const double x = ((double)(i % s->width) + 0.5 - s->left) / s->size;
        const double y = ((double)(i / s->width) + 0.5 - s->top) / s->size;
        double nearest = 1e9;
        for (size_t k = 0; k < sizeof five / sizeof *five; k++)
            nearest = fmin(nearest, to_segment(x, y, five[k]));
        const double cover = fmin(1, fmax(0, s->pen / 2 - nearest * s->size + 0.5));
        image.pixels[i] = (uint8_t)lrint(s->paper + cover * (s->ink - s->paper));
    }
    return image;
}

static vit_image prepare(const vit_image *in) {
    vit_image out;
    vit_error error;
    if (vit_image_digit(&out, in, NULL, &error)) fail_msg("%s", error.message);
    assert_int_equal(out.width, VIT_DIGIT_SIZE);
    assert_int_equal(out.height, VIT_DIGIT_SIZE);
    assert_int_equal(out.channels, 1);
    return out;
}

static vit_image prepare_scene(const scene *s) {
    vit_image picture = draw_scene(s), out = prepare(&picture);
    vit_image_free(&picture);
    return out;
}

/* Mean difference of two prepared digits, in levels, one of them moved. */
static double difference_moved(const vit_image *a, const vit_image *b, int dx, int dy) {
    double sum = 0;
    for (int i = 0; i < PIXELS; i++) {
        const int x = i % 28 + dx, y = i / 28 + dy;
        const bool is_in = x >= 0 && x < 28 && y >= 0 && y < 28;
        sum += abs(a->pixels[i] - (is_in ? b->pixels[y * 28 + x] : 0));
    }
    return sum / PIXELS;
}

/* The least over moves by a pixel: centring goes by whole pixels, and one more grey level may tip
 * it. */
static double difference(const vit_image *a, const vit_image *b) {
    double least = 255;
    for (int i = 0; i < 9; i++) least = fmin(least, difference_moved(a, b, i % 3 - 1, i / 3 - 1));
    return least;
}

/* The picture, which is freed, is found to be `plain` within `tolerance` levels a pixel. */
static void assert_like_plain(vit_image *picture, const char *what, double tolerance) {
    vit_image expected = prepare_scene(&plain), found = prepare(picture);
    const double d = difference(&expected, &found);
    if (!(d <= tolerance)) fail_msg("%s: %.2f levels from the plain digit", what, d);
    assert_null(found.warning);
    vit_image_free(&expected);
    vit_image_free(&found);
    vit_image_free(picture);
}

/* ---- what comes out ---- */

static void assert_in_mnist_format(const vit_image *image) {
    double total = 0, x = 0, y = 0;
    size_t left = 28, right = 0, top = 28, bottom = 0;
    for (size_t i = 0; i < PIXELS; i++) {
        const double v = image->pixels[i];
        total += v;
        x += v * (double)(i % 28);
        y += v * (double)(i / 28);
        if (v == 0) continue;
        left = i % 28 < left ? i % 28 : left;
        right = i % 28 > right ? i % 28 : right;
        top = i / 28 < top ? i / 28 : top;
        bottom = i / 28;
    }
    assert_true(fabs(x / total - 14) <= 0.51);
    assert_true(fabs(y / total - 14) <= 0.51);
    const size_t width = right - left + 1, height = bottom - top + 1;
    assert_int_equal(width > height ? width : height, 20);
}

static void is_fitted_and_centred(void **state) {
    vit_image out = prepare_scene(&plain), again = prepare(&out);
    uint8_t most = 0;
    assert_in_mnist_format(&out);
    for (size_t i = 0; i < PIXELS; i++) most = out.pixels[i] > most ? out.pixels[i] : most;
    assert_true(most >= 250);
    assert_memory_equal(out.pixels, again.pixels, PIXELS); /* prepared already */
    /* The bar of the five is there: ink in the top rows, right of the middle. */
    size_t bar = 0;
    for (size_t i = 0; i < (size_t)28 * 8; i++) bar += i % 28 > 14 && out.pixels[i] > 128;
    assert_true(bar >= 3);
    vit_image_free(&out);
    vit_image_free(&again);
}

/* MNIST's own pictures pass as they are. */
static void prepared_digits_stay(void **state) {
    vit_dataset data;
    vit_error error;
    const vit_dataset_options test = {.need = VIT_PART_TEST, .want = VIT_PART_TEST};
    if (vit_dataset_open(&data, "mnist", &test, &error)) {
        print_message("%s\n", error.message);
        skip();
    }
    size_t same = 0;
    for (size_t i = 0; i < 1000; i++) {
        vit_image out, in = noise_picture(28, 28, 1, 0);
        memcpy(in.pixels, data.test.pixels + i * PIXELS, PIXELS);
        out = prepare(&in);
        same += memcmp(out.pixels, in.pixels, PIXELS) == 0;
        vit_image_free(&out);
        vit_image_free(&in);
    }
    if (same < 998) fail_msg("only %zu of 1000 of MNIST's pictures stayed as they were", same);
    vit_dataset_close(&data);
}

/* ---- what makes no difference ---- */

static void ink_may_be_light(void **state) {
    vit_image picture = draw_scene(&plain);
    for (size_t i = 0; i < plain.width * plain.height; i++)
        picture.pixels[i] = (uint8_t)(255 - picture.pixels[i]);
    assert_like_plain(&picture, "inverted", 1);
}

static void size_and_place_do_not_matter(void **state) {
    static const struct {
        const char *name;
        scene scene;
    } cases[] = {
        {"twice as large", {800, 600, 300, 120, 320, 18, 220, 40}},
        {"elsewhere", {400, 300, 20, 100, 160, 9, 220, 40}},
        {"small on a large sheet", {1600, 1200, 300, 700, 160, 9, 220, 40}},
        {"filling", {120, 180, 12, 10, 160, 9, 220, 40}},
        {"thin", {400, 300, 150, 60, 160, 2.5, 220, 40}},
        {"faint", {400, 300, 150, 60, 160, 9, 220, 185}},
        {"black and white", {400, 300, 150, 60, 160, 9, 255, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vit_image picture = draw_scene(&cases[i].scene);
        assert_like_plain(&picture, cases[i].name, 6);
    }
}

static void thick_strokes_are_thinned(void **state) {
    const scene thick = {400, 300, 150, 60, 160, 34, 255, 0};
    vit_image out = prepare_scene(&thick);
    size_t ink = 0;
    assert_in_mnist_format(&out);
    for (size_t i = 0; i < PIXELS; i++) ink += out.pixels[i] > 128;
    assert_in_range(ink, 60, 170); /* MNIST's digits: 50 to 190 */
    vit_image_free(&out);
}

/* A hair line, darker than the threshold by little, is lighter than it once it is made smaller. */
static void thin_strokes_do_not_vanish(void **state) {
    enum { SIDE = 600, LEVEL = 210 };
    const vit_ink ink = {.box = {0, 0, SIDE, SIDE}, .threshold = LEVEL, .area = SIDE};
    vit_image darkness = noise_picture(SIDE, SIDE, 1, 0), out;
    vit_error error;
    memset(darkness.pixels, 0, (size_t)SIDE * SIDE);
    for (size_t i = 0; i < SIDE; i++) darkness.pixels[i * SIDE + i] = LEVEL;
    if (vit_ink_draw(&out, &darkness, &ink, 20, vit_kernels_scalar(), &error))
        fail_msg("%s", error.message);
    assert_int_equal(out.width, 20);
    assert_int_equal(out.height, 20);
    for (size_t i = 0; i < 20; i++) assert_in_range(out.pixels[i * 20 + i], 128, 255);
    vit_image_free(&out);
    vit_image_free(&darkness);
}

static void light_may_be_uneven(void **state) {
    vit_image picture = draw_scene(&plain);
    for (size_t i = 0; i < plain.width * plain.height; i++) { /* a slope, and a soft shadow */
        const double x = (double)(i % plain.width) / 400, y = (double)(i / plain.width) / 300;
        const double light = 0.75 + 0.3 * x, edge = (x + y - 1.1) / 0.1;
        const double shadow = 1 - 0.35 * fmin(1, fmax(0, edge));
        picture.pixels[i] = (uint8_t)lrint(fmin(255, picture.pixels[i] * light * shadow));
    }
    assert_like_plain(&picture, "uneven light", 6);
}

/* Lines run level, or as on paper that is turned: a row up for every 5 columns. */
static void paper_may_be_ruled_or_squared(void **state) {
    for (int kind = 0; kind < 4; kind++) {
        const bool is_squared = kind & 1;
        const size_t slope = kind < 2 ? 40 : 5;
        vit_image picture = draw_scene(&plain);
        for (size_t i = 0; i < plain.width * plain.height; i++) {
            const size_t x = i % plain.width, y = i / plain.width;
            const bool is_across = (y + x / slope) % 37 < 2;
            const bool is_down = is_squared && (x + plain.width - y / slope) % 37 < 2;
            if ((is_across || is_down) && picture.pixels[i] > 90) picture.pixels[i] = 90;
        }
        assert_like_plain(&picture, is_squared ? "squared" : "ruled", 8);
    }
}

static void specks_are_ignored(void **state) {
    vit_image picture = draw_scene(&plain);
    for (size_t i = 0; i < 40; i++) {
        const size_t x = 10 + i * 7919 % 380, y = 10 + i * 104729 % 280;
        if (x > 120 && x < 290 && y > 30 && y < 260) continue; /* beside the digit */
        for (size_t k = 0; k < 9; k++) picture.pixels[(y + k / 3) * plain.width + x + k % 3] = 30;
    }
    assert_like_plain(&picture, "specks", 1);
}

static void a_dark_table_is_ignored(void **state) {
    vit_image picture = draw_scene(&plain);
    for (size_t i = 0; i < plain.width * plain.height; i++) {
        const size_t x = i % plain.width, y = i / plain.width;
        if (x < 40 + y / 20 || y > 270) picture.pixels[i] = (uint8_t)(50 + i * 2654435761U % 17);
    }
    assert_like_plain(&picture, "table", 6);
}

/* A dark rectangle with sharp edges over a corner of the digit's surroundings: a phone's shadow. */
static void a_hard_shadow_is_ignored(void **state) {
    vit_image picture = draw_scene(&plain);
    for (size_t i = 0; i < plain.width * plain.height; i++) {
        const size_t x = i % plain.width, y = i / plain.width;
        if (x + y / 4 > 200) picture.pixels[i] = (uint8_t)(picture.pixels[i] * 3 / 5);
    }
    assert_like_plain(&picture, "hard shadow", 8);
}

/* A note on a light table: its shadow goes around the digit. */
static void the_edge_of_the_paper_is_ignored(void **state) {
    vit_image picture = draw_scene(&plain);
    for (size_t i = 0; i < plain.width * plain.height; i++) {
        const size_t x = i % plain.width, y = i / plain.width;
        const bool is_paper = x >= 50 && x < 340 && y >= 20 && y < 270;
        const bool is_shadow = !is_paper && x >= 50 && x < 346 && y >= 20 && y < 276;
        if (!is_paper) picture.pixels[i] = is_shadow ? 90 : 190;
    }
    assert_like_plain(&picture, "note", 8);
}

static void transparency_is_paper(void **state) {
    static const vit_preprocessing list = {
        .operations = {{.kind = VIT_OP_COMPOSITE, .background = {255, 255, 255}},
                       {.kind = VIT_OP_DIGIT},
                       {.kind = VIT_OP_NORMALIZE, .std = {1, 1, 1}}},
        .count = 3};
    const scene black = {400, 300, 150, 60, 160, 9, 255, 0};
    vit_image grey = draw_scene(&black), rgba = noise_picture(400, 300, 4, 0), out;
    vit_error error;
    for (size_t i = 0; i < black.width * black.height; i++) {
        memset(rgba.pixels + 4 * i, 0, 3); /* black everywhere, opaque where there is ink */
        rgba.pixels[4 * i + 3] = (uint8_t)(255 - grey.pixels[i]);
    }
    assert_int_equal(vit_preprocess(&out, &rgba, &list, 28, 28, 1, NULL, &error), VIT_OK);
    vit_image expected = prepare(&grey);
    assert_memory_equal(out.pixels, expected.pixels, PIXELS);
    vit_image_free(&out);
    vit_image_free(&expected);
    vit_image_free(&rgba);
    vit_image_free(&grey);
}

/* ---- no ink ---- */

/* Resized and reported; the picture is freed. */
static void assert_without_ink(vit_image *picture, const char *what) {
    vit_image expected, found = prepare(picture);
    vit_error error;
    if (!found.warning) fail_msg("%s: there seems to be ink", what);
    assert_non_null(strstr(found.warning, "no ink"));
    assert_int_equal(
        vit_image_resize(&expected, picture, 28, 28, VIT_FILTER_BILINEAR, NULL, &error), VIT_OK);
    assert_memory_equal(found.pixels, expected.pixels, PIXELS);
    vit_image_free(&expected);
    vit_image_free(&found);
    vit_image_free(picture);
}

static void warns_where_there_is_no_ink(void **state) {
    static const size_t sizes[][2] = {{1, 1},   {1, 300},   {300, 1},  {2, 2},
                                      {28, 28}, {700, 500}, {60000, 2}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int level = 0; level <= 255; level += 85) {
            vit_image picture = noise_picture(sizes[i][0], sizes[i][1], 1, 0);
            memset(picture.pixels, level, sizes[i][0] * sizes[i][1]);
            assert_without_ink(&picture, "one level");
        }
    }
    vit_image slope = noise_picture(500, 400, 1, 0);
    for (size_t i = 0; i < (size_t)500 * 400; i++)
        slope.pixels[i] = (uint8_t)(150 + i % 500 / 10 + i / 500 / 8);
    assert_without_ink(&slope, "a slope");
    vit_image grain = noise_picture(500, 400, 1, 0);
    for (size_t i = 0; i < (size_t)500 * 400; i++)
        grain.pixels[i] = (uint8_t)(200 + grain.pixels[i] % 9);
    assert_without_ink(&grain, "grain");
}

/* Whatever the picture, there is an answer. */
static void takes_any_picture(void **state) {
    static const size_t sizes[][2] = {{1, 1},  {1, 7},   {9, 2},   {3, 3},      {28, 28},
                                      {5, 90}, {255, 3}, {257, 1}, {40000, 30}, {641, 639}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t channels = 1; channels <= 4; channels++) {
            for (uint32_t kind = 0; kind < 2; kind++) {
                vit_image picture = noise_picture(sizes[i][0], sizes[i][1], channels, kind);
                vit_image out = prepare(&picture);
                vit_image_free(&out);
                vit_image_free(&picture);
            }
        }
    }
}

/* ---- the same bytes, for bounded work ---- */

/* Pictures of integers alone, so that they are the same everywhere: a ring on grainy paper, which
 * may be ruled or squared, dark or light. */
static vit_image draw_ring(size_t width, size_t height, unsigned kind) {
    vit_image image = noise_picture(width, height, 1, 0);
    const size_t outer = width < height ? width * 3 / 10 : height * 3 / 10, inner = outer * 3 / 4;
    for (size_t i = 0; i < width * height; i++) {
        const size_t x = i % width, y = i / width;
        const size_t dx = x > width / 2 ? x - width / 2 : width / 2 - x;
        const size_t dy = y > height / 2 ? y - height / 2 : height / 2 - y;
        const size_t square = dx * dx * 2 + dy * dy;
        const bool is_line =
            (kind & 1 && (y + x / 11) % 23 < 2) || (kind & 2 && (x + width - y / 11) % 23 < 2);
        const bool is_ring = square < outer * outer && square > inner * inner;
        const int grey = (is_ring ? 40 : is_line ? 110 : 210) + image.pixels[i] % 9;
        image.pixels[i] = (uint8_t)(kind & 4 ? 255 - grey : grey);
    }
    return image;
}

/* The hash of the prepared pictures of all kinds and of noise, at sizes that are no multiples of
 * anything. */
static void hash_all(char hex[65], const vit_kernels *kernels) {
    static const size_t sizes[][2] = {{28, 28}, {31, 47}, {300, 257}, {97, 640}, {911, 703}};
    vit_sha256 hash;
    vit_sha256_start(&hash);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (unsigned kind = 0; kind < 10; kind++) {
            vit_error error;
            vit_image out, picture = kind < 8
                                         ? draw_ring(sizes[i][0], sizes[i][1], kind)
                                         : noise_picture(sizes[i][0], sizes[i][1], 1, kind - 8);
            if (vit_image_digit(&out, &picture, kernels, &error)) fail_msg("%s", error.message);
            vit_sha256_add(&hash, out.pixels, PIXELS);
            vit_image_free(&out);
            vit_image_free(&picture);
        }
    }
    vit_sha256_hex(&hash, hex);
}

static void bytes_hold_on_every_instruction_set(void **state) {
    for (vit_cpu cpu = VIT_CPU_SCALAR; cpu <= vit_cpu_detect(); cpu++) {
        char hex[65];
        hash_all(hex, vit_kernels_choose(cpu));
        assert_string_equal(hex,
                            "8fcec0dcc7409a4c89b297724d7446f8856179c7406b81eded700a99a1a2566a");
    }
}

static size_t walked, compared; /* pixels */

static int16_t counted_walk(int16_t *straight, int16_t *aside, int16_t *end, const int16_t *before,
                            const int16_t *beside, const int16_t *ends, uint64_t ink) {
    walked += 64;
    return vit_kernels_scalar()->walk(straight, aside, end, before, beside, ends, ink);
}

static void counted_greater(uint8_t *to, const uint8_t *a, const uint8_t *b, uint8_t flip_b,
                            uint8_t flip_to, size_t n) {
    compared += n;
    vit_kernels_scalar()->greater(to, a, b, flip_b, flip_to, n);
}

/* Preparing one picture walks and compares at most so often per pixel that is searched. */
static void assert_work(vit_image *picture, size_t searched, size_t walks, size_t comparisons) {
    vit_kernels counted = *vit_kernels_scalar();
    vit_image out;
    vit_error error;
    counted.walk = counted_walk;
    counted.greater = counted_greater;
    walked = compared = 0;
    assert_int_equal(vit_image_digit(&out, picture, &counted, &error), VIT_OK);
    print_message("%.2f walks, %.2f comparisons a pixel\n", (double)walked / (double)searched,
                  (double)compared / (double)searched);
    assert_in_range(walked, 0, walks * searched);
    assert_in_range(compared, 1, comparisons * searched);
    vit_image_free(&out);
    vit_image_free(picture);
}

/* Lines are looked for only where there may be any, and light ink only until it is known that it
 * cannot be better than the dark. */
static void work_is_bounded(void **state) {
    vit_image small = draw_ring(28, 28, 0), large = draw_ring(1200, 1200, 0);
    vit_image squared = draw_ring(1200, 1200, 3);
    assert_work(&small, (size_t)256 * 256, 3, 150);
    assert_work(&large, (size_t)640 * 640, 0, 150);
    assert_work(&squared, (size_t)640 * 640, 12, 150);
}

static void ends_well_without_memory(void **state) {
    const scene small = {60, 40, 20, 5, 28, 2, 220, 40};
    vit_image picture = draw_scene(&small);
    bool is_over = false;
    for (long n = 1; !is_over; n++) {
        vit_image out;
        vit_error error;
        fault_arm(n);
        const vit_status status = vit_image_digit(&out, &picture, NULL, &error);
        fault_disarm();
        is_over = fault_call() == NULL;
        assert_int_equal(status, is_over ? VIT_OK : VIT_ERROR_MEMORY);
        assert_true((out.pixels != NULL) == is_over);
        if (!is_over) assert_non_null(strstr(error.message, "out of memory"));
        if (is_over) assert_true(n > 30);
        vit_image_free(&out);
    }
    vit_image_free(&picture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_fitted_and_centred),
        cmocka_unit_test(prepared_digits_stay),
        cmocka_unit_test(ink_may_be_light),
        cmocka_unit_test(size_and_place_do_not_matter),
        cmocka_unit_test(thick_strokes_are_thinned),
        cmocka_unit_test(thin_strokes_do_not_vanish),
        cmocka_unit_test(light_may_be_uneven),
        cmocka_unit_test(paper_may_be_ruled_or_squared),
        cmocka_unit_test(specks_are_ignored),
        cmocka_unit_test(a_dark_table_is_ignored),
        cmocka_unit_test(a_hard_shadow_is_ignored),
        cmocka_unit_test(the_edge_of_the_paper_is_ignored),
        cmocka_unit_test(transparency_is_paper),
        cmocka_unit_test(warns_where_there_is_no_ink),
        cmocka_unit_test(takes_any_picture),
        cmocka_unit_test(bytes_hold_on_every_instruction_set),
        cmocka_unit_test(work_is_bounded),
        cmocka_unit_test(ends_well_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
