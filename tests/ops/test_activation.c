/* The activations, all of them: values and slopes within the errors that vit/kernels/kernels.h
 * states, over a sample of all floats, slopes against finite differences, forward once more in the
 * backward pass, threads, and their names in our configs and in those of every layout, there and
 * back. To add one: its row in vit/ops/activation.c, a row of `truths` in tests/support/truth.h. */
#include "tests/support/check.h"
#include "tests/support/problem.h"
#include "tests/support/scratch.h"
#include "tests/support/small_model.h"
#include "tests/support/truth.h"
#include "tests/support/unit.h"
#include "vit/weights/file/open.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char *const vit_pytorch_model[];

/* Whether the class that is written for PyTorch knows the name. */
static bool is_in_pytorch(const char *name) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "    \"%s\": ", name);
    for (size_t i = 0; vit_pytorch_model[i]; i++)
        if (strncmp(vit_pytorch_model[i], quoted, strlen(quoted)) == 0) return true;
    return false;
}

static bool is_same(const char *a, const char *b) {
    return a && b && strcmp(a, b) == 0;
}

static void test_rows(void **state) {
    for (vit_activation f = 0; f < VIT_ACTIVATION_COUNT; f++) {
        assert_int_equal(vit_activations[f].value, f);
        assert_int_equal(truths[f].value, f);
        assert_true(is_in_pytorch(vit_activations[f].name));
        for (vit_activation g = 0; g < f; g++) {
            assert_string_not_equal(vit_activations[f].name, vit_activations[g].name);
            assert_false(is_same(vit_activations[f].hf, vit_activations[g].hf));
            assert_false(is_same(vit_activations[f].timm, vit_activations[g].timm));
        }
    }
}

/* ---- values and slopes ---- */

#define SAMPLE 4096
#define STRIDE 4093 /* of bit patterns; prime, so that all exponents and endings are met */

static float x[SAMPLE], y[SAMPLE], slope[SAMPLE];

static void check_one(const char *what, vit_activation f, float at, float got, double want,
                      double bound) {
    if (!(fabs((double)got - want) <= bound))
        fail_msg("%s of %s at %.9g is %.9g, expected %.9g, +-%.3g", what, vit_activations[f].name,
                 (double)at, (double)got, want, bound);
}

static void check_sample(vit_activation f, size_t n) {
    const vit_kernels *k = vit_kernels_choose(VIT_CPU_AVX512);
    truth_call_forward(k, f, y, x, n);
    truth_call_backward(k, f, slope, x, n);
    for (size_t i = 0; i < n; i++) {
        const double at = (double)x[i], y_bound = truths[f].y_error * fabs(at) + (double)FLT_MIN;
        check_one("value", f, x[i], y[i], truths[f].y(at), y_bound);
        check_one("slope", f, x[i], slope[i], truths[f].slope(at), truths[f].slope_error);
    }
}

static void test_all_floats(void **state) {
    for (vit_activation f = 0; f < VIT_ACTIVATION_COUNT; f++) {
        size_t n = 0;
        for (uint64_t bits = 0; bits <= UINT32_MAX; bits += STRIDE) {
            const uint32_t low = (uint32_t)bits;
            memcpy(&x[n], &low, sizeof low);
            if (isfinite(x[n])) n++;
            if (n < SAMPLE) continue;
            check_sample(f, n);
            n = 0;
        }
        check_sample(f, n);
    }
}

/* What is not a number stays none; far from 0 each is the identity, or 0. */
static void test_ends(void **state) {
    const vit_kernels *k = vit_kernels_choose(VIT_CPU_AVX512);
    const float far[] = {FLT_MAX, 50, -50, -FLT_MAX, NAN};
    for (vit_activation f = 0; f < VIT_ACTIVATION_COUNT; f++) {
        truth_call_forward(k, f, y, far, 5);
        truth_call_backward(k, f, slope, far, 5);
        for (int i = 0; i < 4; i++) {
            check_one("value", f, far[i], y[i], fmax(0, (double)far[i]), 1e-19);
            check_one("slope", f, far[i], slope[i], far[i] > 0, 1e-19);
        }
        assert_true(isnan(y[4]) && (isnan(slope[4]) || f == VIT_RELU)); /* whose slope is 0 or 1 */
    }
    const float infinite[] = {INFINITY, -INFINITY, 0, -0.0f};
    const float values[] = {INFINITY, 0, 0, 0}, slopes[] = {1, 0, .5f, .5f};
    truth_call_forward(k, VIT_GELU, y, infinite, 4);
    truth_call_backward(k, VIT_GELU, slope, infinite, 4);
    for (int i = 0; i < 4; i++) assert_true(y[i] == values[i] && slope[i] == slopes[i]);
}

/* ---- the gradient ---- */

typedef struct gradient_case {
    vit_activation f;
    const problem *p;
} gradient_case;

static double loss_of(const double *theta, const void *context) {
    const gradient_case *c = context;
    double loss = 0;
    for (size_t i = 0; i < c->p->n; i++) loss += truths[c->f].y(theta[i]) * (double)c->p->dy[i];
    return loss;
}

static void check_gradient_of(vit_activation f, size_t n, float spread) {
    const vit_exec exec = {.kernels = vit_kernels_choose(VIT_CPU_AVX512), .threads = 1};
    problem p = problem_new(n, n, (uint32_t)n);
    const gradient_case c = {f, &p};
    for (size_t i = 0; i < n; i++) {
        p.theta[i] *= spread;
        if (fabsf(p.theta[i]) < .01f) p.theta[i] = .5f; /* ReLU has a corner at 0 */
        p.exact[i] = (double)p.theta[i];
        p.want[i] = truths[f].y(p.exact[i]);
        p.want_bound[i] = truths[f].y_error * fabs(p.exact[i]);
        p.bound[i] = (truths[f].slope_error + 1.2 * CHECK_ROUNDOFF) * fabs((double)p.dy[i]);
    }
    vit_activation_forward(&exec, f, p.y, p.theta, n);
    check_forward(vit_activations[f].name, &p);
    vit_activation_backward(&exec, f, p.gradient, NULL, p.dy, p.theta, n);
    check_backward(vit_activations[f].name, &p, loss_of, &c);
    problem_free(&p);
}

static void test_gradient(void **state) {
    static const size_t sizes[] = {1, 2, 3, 5, 17, 33};
    for (vit_activation f = 0; f < VIT_ACTIVATION_COUNT; f++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            check_gradient_of(f, sizes[i], 1);
            check_gradient_of(f, sizes[i], 4);
        }
}

/* ---- threads, and y once more in the backward pass ---- */

#define ROWS 1001
#define WIDTH 133
#define ELEMENTS (ROWS * WIDTH)

typedef struct arrays {
    float *y, *again, *dx;
} arrays;

static void compute(arrays *a, int threads, vit_activation f, bool gated, const float *in,
                    const float *dy) {
    const vit_exec exec = {.kernels = vit_kernels_choose(VIT_CPU_AVX512), .threads = threads};
    if (gated) {
        vit_gate_forward(&exec, f, a->y, in, ROWS, WIDTH);
        vit_gate_backward(&exec, f, a->dx, a->again, dy, in, ROWS, WIDTH);
    } else {
        vit_activation_forward(&exec, f, a->y, in, ELEMENTS);
        vit_activation_backward(&exec, f, a->dx, a->again, dy, in, ELEMENTS);
    }
    assert_int_equal(check_first_other(a->again, a->y, ELEMENTS), ELEMENTS);
}

static void test_threads(void **state) {
    float *in = check_floats(2 * ELEMENTS), *dy = check_floats(ELEMENTS);
    arrays one = {check_floats(ELEMENTS), check_floats(ELEMENTS), check_floats(2 * ELEMENTS)};
    arrays some = {check_floats(ELEMENTS), check_floats(ELEMENTS), check_floats(2 * ELEMENTS)};
    vit_random r = check_random(9);
    check_fill(in, 2 * ELEMENTS, 9, &r);
    check_fill(dy, ELEMENTS, 9, &r);
    in[5] = NAN;
    in[WIDTH] = -INFINITY;
    for (vit_activation f = 0; f < VIT_ACTIVATION_COUNT; f++)
        for (int gated = 0; gated < 2; gated++) {
            const size_t n = gated ? 2 * ELEMENTS : ELEMENTS;
            compute(&one, 1, f, gated, in, dy);
            for (int threads = 2; threads <= 3; threads++) {
                compute(&some, threads, f, gated, in, dy);
                assert_int_equal(check_first_other(some.y, one.y, ELEMENTS), ELEMENTS);
                assert_int_equal(check_first_other(some.dx, one.dx, n), n);
            }
        }
    float *const all[] = {in, dy, one.y, one.again, one.dx, some.y, some.again, some.dx};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* ---- names ---- */

static void make_model(vit_activation f) {
    char changes[60];
    vit_error error;
    snprintf(changes, sizeof changes, "{\"activation\": \"%s\"}", vit_activations[f].name);
    vit_model_file m =
        small_model("{\"image\": [8, 8], \"channels\": 3, \"patch\": 4, \"dim\": 6, "
                    "\"depth\": 1, \"heads\": 2, \"mlp\": 10, \"classes\": 3}",
                    changes,
                    "[{\"op\": \"rgb\"}, {\"op\": \"resize\", \"shorter\": 10, "
                    "\"filter\": \"bicubic\", \"crop_share\": 0.8}, {\"op\": "
                    "\"center_crop\", \"height\": 8, \"width\": 8}, {\"op\": "
                    "\"normalize\", \"mean\": [0.5, 0.5, 0.5], \"std\": [0.5, 0.5, 0.5]}]",
                    NULL, "{}");
    assert_int_equal(m.config.activation, f);
    if (vit_model_file_save("model.safetensors", &m, &error) != VIT_OK)
        fail_msg("%s", error.message);
    vit_model_file_clear(&m);
}

static void check_read(vit_activation f, const char *path) {
    vit_model_file m;
    vit_error error;
    if (vit_model_file_open(&m, path, &(vit_wanted){0}, &error) != VIT_OK)
        fail_msg("%s", error.message);
    if (m.config.activation != f)
        fail_msg("%s was written to %s, %s read", vit_activations[f].name, path,
                 vit_activations[m.config.activation].name);
    vit_model_file_clear(&m);
}

/* torchvision knows GELU alone; what a library has not is said. */
static void test_layouts(void **state) {
    static const char *const layouts[] = {"timm", "hf", "npz", "torchvision"};
    for (vit_activation f = 0; f < VIT_ACTIVATION_COUNT; f++) {
        make_model(f);
        check_read(f, "model.safetensors");
        for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
            const vit_convert_options o = {
                .in = "model.safetensors", .out = "out", .layout = layouts[i]};
            vit_error error;
            const vit_status status = vit_convert(&o, &error);
            const bool lacks[] = {!vit_activations[f].timm, !vit_activations[f].hf, false,
                                  f != VIT_GELU};
            if (lacks[i]) {
                assert_says(&error, status, "activation", i == 3 ? "GELU" : layouts[i]);
                assert_int_not_equal(status, VIT_OK);
                continue;
            }
            if (status != VIT_OK) fail_msg("%s: %s", layouts[i], error.message);
            check_read(f, "out");
            assert_int_equal(system("rm -r out"), 0);
        }
    }
}

static void check_word(vit_activation f, const char *word, bool in_hf) {
    char text[256];
    vit_error error;
    assert_int_equal(system("rm -rf out"), 0);
    const vit_convert_options o = {
        .in = "model.safetensors", .out = "out", .layout = in_hf ? "hf" : "timm"};
    if (vit_convert(&o, &error) != VIT_OK) fail_msg("%s", error.message);
    snprintf(text, sizeof text,
             "sed -i 's/\"%s\": \"[a-z_]*\"/\"%s\": \"%s\"/' out/config.json && grep -q '\"%s\"' "
             "out/config.json",
             in_hf ? "hidden_act" : "act_layer", in_hf ? "hidden_act" : "act_layer", word, word);
    assert_int_equal(system(text), 0);
    check_read(f, "out");
}

/* Whatever a config calls it, names and aliases mean the same in each. */
static void test_aliases(void **state) {
    make_model(VIT_RELU); /* of which timm's config says the activation, too */
    for (vit_activation f = 0; f < VIT_ACTIVATION_COUNT; f++) {
        const vit_activation_row *row = &vit_activations[f];
        for (int in_hf = 0; in_hf < 2; in_hf++) {
            if (row->hf) check_word(f, row->hf, in_hf);
            if (row->timm) check_word(f, row->timm, in_hf);
            for (size_t i = 0; row->aliases[i]; i++) check_word(f, row->aliases[i], in_hf);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),    cmocka_unit_test(test_all_floats),
        cmocka_unit_test(test_ends),    cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_threads), IN_DIRECTORY(test_layouts),
        IN_DIRECTORY(test_aliases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
