/* The operators of RandAugment and TrivialAugment: the pixels and the magnitudes of torchvision on
 * Pillow images (tests/fixtures/make_operators.py). */
#include "tests/support/check.h"
#include "tests/support/unit.h"
#include "vit/formats/sha256.h"
#include "vit/train/augment/operators.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const names[VIT_OPERATORS] = {
    "Identity", "ShearX",   "ShearY",    "TranslateX", "TranslateY", "Rotate",       "Brightness",
    "Color",    "Contrast", "Sharpness", "Posterize",  "Solarize",   "AutoContrast", "Equalize"};

static vit_operator operator_of(const char *name) {
    int i = 0;
    while (i < VIT_OPERATORS && strcmp(name, names[i]) != 0) i++;
    assert_true(i < VIT_OPERATORS);
    return (vit_operator)i;
}

static void check_pixels(size_t channels, const char *name, double value, const char *want) {
    uint8_t in[13 * 21 * 3], out[13 * 21 * 3];
    char hex[65];
    vit_sha256 hash;
    const vit_picture_shape s = {13, 21, channels};
    for (size_t i = 0; i < 13 * 21 * channels; i++)
        in[i] = (uint8_t)((i * i * 7 + i * 13 + i / 9) % 251);
    vit_operator_apply(out, in, &s, operator_of(name), value);
    vit_sha256_start(&hash);
    vit_sha256_add(&hash, out, 13 * 21 * channels);
    vit_sha256_hex(&hash, hex);
    if (strcmp(hex, want) != 0)
        fail_msg("%zu channels, %s %g: other pixels", channels, name, value);
}

static void pixels_and_magnitudes_are_torchvisions(void **unused) {
    FILE *file = fopen("tests/fixtures/operators.txt", "r");
    char line[200], name[20], policy[20], hex[65];
    size_t lines = 0, channels;
    int magnitude;
    double value;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        lines++;
        if (sscanf(line, "policy %19s %19s %d %lf", policy, name, &magnitude, &value) == 4) {
            const vit_picture_shape s = {13, 21, 3};
            const vit_policy p = strcmp(policy, "RandAugment") == 0 ? VIT_POLICY_RAND_AUGMENT
                                                                    : VIT_POLICY_TRIVIAL_AUGMENT;
            const double got = vit_policy_value(&s, p, operator_of(name), magnitude);
            if (!(fabs(got - value) <= 1e-4))
                fail_msg("%s %s %d: %g, want %g", policy, name, magnitude, got, value);
            continue;
        }
        assert_int_equal(sscanf(line, "%zu %19s %lf %64s", &channels, name, &value, hex), 4);
        check_pixels(channels, name, value, hex);
    }
    fclose(file);
    assert_true(lines > 200);
}

/* The same draws give the same pixels; others, others. */
static void policies_are_drawn(void **unused) {
    const vit_picture_shape s = {8, 8, 3};
    for (int p = VIT_POLICY_RAND_AUGMENT; p <= VIT_POLICY_TRIVIAL_AUGMENT; p++) {
        size_t changed = 0;
        for (uint32_t n = 0; n < 200; n++) {
            uint8_t a[192], b[192], plain[192], room[192];
            for (size_t i = 0; i < 192; i++) a[i] = b[i] = plain[i] = (uint8_t)(i * i);
            vit_random r = check_random(n), q = check_random(n);
            vit_policy_apply(a, room, &s, (vit_policy)p, &r);
            vit_policy_apply(b, room, &s, (vit_policy)p, &q);
            assert_memory_equal(a, b, sizeof a);
            changed += memcmp(a, plain, sizeof a) != 0;
        }
        assert_true(changed > 120);
    }
}

/* Of a grey picture only the brightness changes, contrast and colour having nothing to do. */
static void jitter_keeps_its_range(void **unused) {
    const vit_picture_shape s = {4, 4, 3};
    int least = 255, most = 0;
    for (uint32_t n = 0; n < 2000; n++) {
        uint8_t pixels[48], room[48];
        memset(pixels, 100, sizeof pixels);
        vit_random r = check_random(n);
        vit_jitter_apply(pixels, room, &s, .4, &r);
        for (size_t i = 1; i < 48; i++) assert_int_equal(pixels[i], pixels[0]);
        least = pixels[0] < least ? pixels[0] : least;
        most = pixels[0] > most ? pixels[0] : most;
    }
    assert_true(least >= 60 && least <= 61 && most >= 138 && most <= 140);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_and_magnitudes_are_torchvisions),
        cmocka_unit_test(policies_are_drawn),
        cmocka_unit_test(jitter_keeps_its_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
