/* The resampler against Pillow and torch: tests/fixtures/images_resize.txt. */
#include "tests/support/pictures.h"
#include "tests/support/unit.h"

#include <string.h>

typedef struct resize_case {
    char arithmetic[16], filter[16], hex[64];
    size_t channels, width, height, to_width, to_height;
    uint32_t kind, crc;
} resize_case;

static bool next_case(FILE *file, resize_case *c) {
    char line[256];
    c->hex[0] = 0;
    if (!fgets(line, sizeof line, file)) return false;
    int fields = sscanf(line, "%15s %15s %zu %u %zu %zu %zu %zu %x %63s", c->arithmetic, c->filter,
                        &c->channels, &c->kind, &c->width, &c->height, &c->to_width, &c->to_height,
                        &c->crc, c->hex);
    assert_true(fields >= 9);
    return true;
}

static vit_arithmetic find_arithmetic(const char *name) {
    int i = 0;
    while (strcmp(name, vit_arithmetic_names[i]) != 0) i++;
    return (vit_arithmetic)i;
}

static void check_case(const resize_case *c, const vit_kernels *kernels, size_t *whole) {
    vit_filter filter;
    vit_image out, in = noise_picture(c->width, c->height, c->channels, c->kind);
    vit_error error;
    assert_true(vit_filter_parse(c->filter, &filter));
    if (vit_image_resize_as(&out, &in, c->to_width, c->to_height, filter,
                            find_arithmetic(c->arithmetic), kernels, &error))
        fail_msg("%s", error.message);
    if (picture_crc(&out) != c->crc) {
        fail_msg("%s, %s, %s, %zu channels, noise %u, %zux%zu -> %zux%zu: CRC %08x, not %08x",
                 vit_cpu_name(kernels->cpu), c->arithmetic, c->filter, c->channels, c->kind,
                 c->width, c->height, c->to_width, c->to_height, picture_crc(&out), c->crc);
    }
    if (c->hex[0]) {
        uint8_t expected[32];
        size_t count = parse_hex(c->hex, expected, sizeof expected);
        assert_int_equal(count, out.width * out.height * out.channels);
        assert_memory_equal(out.pixels, expected, count);
        (*whole)++;
    }
    vit_image_free(&out);
    vit_image_free(&in);
}

/* On every instruction set of this machine. */
static void resizes_as_pillow_and_torch_do(void **state) {
    for (vit_cpu cpu = VIT_CPU_SCALAR; cpu <= vit_cpu_detect(); cpu++) {
        FILE *file = open_fixture("images_resize.txt");
        resize_case c;
        size_t count = 0, whole = 0;
        for (; next_case(file, &c); count++) check_case(&c, vit_kernels_choose(cpu), &whole);
        fclose(file);
        assert_true(count >= 800);
        assert_true(whole >= 20);
    }
}

static void refuses_impossible_sizes(void **state) {
    vit_image out, in = noise_picture(4, 4, 1, 0);
    vit_error error;
    const size_t sizes[][2] = {{0, 4}, {4, 0}, {65536, 1}, {1, 65536}, {10001, 10000}};
    for (size_t i = 0; i < 5; i++) {
        vit_status status =
            vit_image_resize(&out, &in, sizes[i][0], sizes[i][1], VIT_FILTER_BOX, NULL, &error);
        assert_int_equal(status, VIT_ERROR_ARGUMENT);
        assert_non_null(strstr(error.message, "65535"));
        assert_null(out.pixels);
    }
    in.channels = 4;
    in.width = in.height = 2;
    assert_int_equal(vit_image_resize(&out, &in, 2, 2, VIT_FILTER_BOX, NULL, &error),
                     VIT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "4 channels, expected 1 or 3"));
    assert_null(out.pixels);
    vit_image_free(&in);
}

/* 65535 rows of a picture that becomes 65535 columns wide: what lies between the passes would be
 * 4 GB if it were not worked off in strips. */
static void extreme_shapes_take_little_memory(void **state) {
    vit_image out, in = noise_picture(1, 65535, 1, 0);
    vit_error error;
    assert_int_equal(vit_image_resize(&out, &in, 65535, 3, VIT_FILTER_BILINEAR, NULL, &error),
                     VIT_OK);
    for (size_t i = 1; i < 65535; i++) assert_int_equal(out.pixels[i], out.pixels[0]);
    vit_image_free(&out);
    vit_image_free(&in);
}

static void filters_have_names(void **state) {
    vit_filter filter = VIT_FILTER_BOX;
    for (int i = VIT_FILTER_NEAREST; i <= VIT_FILTER_HAMMING; i++) {
        assert_true(vit_filter_parse(vit_filter_names[i], &filter));
        assert_int_equal(filter, i);
    }
    assert_false(vit_filter_parse("Bicubic", &filter));
    assert_false(vit_filter_parse("", &filter));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resizes_as_pillow_and_torch_do),
        cmocka_unit_test(refuses_impossible_sizes),
        cmocka_unit_test(extreme_shapes_take_little_memory),
        cmocka_unit_test(filters_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
