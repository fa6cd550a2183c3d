/* Linear layers in 8-bit integers: NumPy's integers, sums and results, bit by bit
 * (tests/fixtures/make_int8.py), with every table of kernels and any number of threads; what is
 * packed from floats, from integers and from packed floats is the same; answers of a model. */
#include "tests/support/check.h"
#include "tests/support/few_digits.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/api/internal.h"
#include "vit/ops/int8.h"
#include "vit/tensors/tensors.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAYERS 5
#define PIXELS (28 * 28)
#define CLASSES 10
#define PICTURES 9

static float *room; /* of three threads */
static vit_tensors *fixture;

/* ---- layers ---- */

typedef struct layer {
    size_t rows, in, out;
    const float *x, *w, *bias, *gamma, *residual, *sx, *sw, *y;
    const int8_t *qx, *qw;
} layer;

static const void *tensor(size_t i, const char *name, size_t *shape) {
    char full[40];
    snprintf(full, sizeof full, "%zu.%s", i, name);
    const vit_tensor *t = vit_tensors_find(fixture, full);
    assert_non_null(t);
    for (size_t d = 0; shape && d < 2; d++) shape[d] = t->shape[d];
    return t->data;
}

static layer layer_at(size_t i) {
    size_t x[2], w[2];
    layer l = {.x = tensor(i, "x", x), .w = tensor(i, "w", w)};
    l.rows = x[0];
    l.in = x[1];
    l.out = w[0];
    l.bias = tensor(i, "bias", NULL);
    l.gamma = tensor(i, "gamma", NULL);
    l.residual = tensor(i, "residual", NULL);
    l.sx = tensor(i, "sx", NULL);
    l.sw = tensor(i, "sw", NULL);
    l.qx = tensor(i, "qx", NULL);
    l.qw = tensor(i, "qw", NULL);
    l.y = tensor(i, "y", NULL);
    return l;
}

static vit_linear linear_of(const layer *l, const float *packed) {
    return (vit_linear){.in = l->in,
                        .out = l->out,
                        .bias = l->bias,
                        .packed = packed,
                        .scales = vit_int8_scales(packed, l->out, l->in),
                        .starts = vit_int8_starts(packed, l->out, l->in)};
}

static float *pack(const layer *l) {
    float *packed = check_floats(vit_int8_words(l->out, l->in));
    vit_int8_pack(packed, l->w, NULL, l->out, l->in);
    return packed;
}

static void test_weights_are_numpys(void **state) {
    for (size_t i = 0; i < LAYERS; i++) {
        const layer l = layer_at(i);
        const size_t count = l.out * l.in;
        int8_t *integers = malloc(count);
        float *scales = check_floats(l.out);
        for (size_t o = 0; o < l.out; o++) scales[o] = -1;
        vit_int8_round(integers, scales, l.w, l.out, l.in);
        assert_memory_equal(integers, l.qw, count);
        assert_memory_equal(scales, l.sw, l.out * sizeof *scales);
        free(integers);
        free(scales);
    }
}

/* The integers of a row of scalar C are bytes in order. */
static void test_activations_are_numpys(void **state) {
    const vit_product_kernels *scalar = vit_kernels_scalar()->products[VIT_PRECISION_INT8];
    for (size_t i = 0; i < LAYERS; i++) {
        const layer l = layer_at(i);
        float *words = check_floats(vit_padded(l.in)), scale;
        for (size_t r = 0; r < l.rows; r++) {
            scalar->quantise(words, &scale, l.x + r * l.in, l.in);
            assert_memory_equal(words, l.qx + r * l.in, l.in);
            assert_true(scale == l.sx[r]);
        }
        free(words);
    }
}

static void check_layer_of(const layer *l, const float *packed, const vit_kernels *k, int threads) {
    const vit_exec exec = {.kernels = k, .threads = threads, .room = room};
    const vit_residual_sum sum = {.gamma = l->gamma, .residual = l->residual};
    const vit_linear w = linear_of(l, packed);
    float *y = check_floats(l->rows * l->out);
    vit_linear_forward(&exec, y, l->x, &w, &sum, l->rows);
    const size_t other = check_first_other(y, l->y, l->rows * l->out);
    if (other < l->rows * l->out)
        fail_msg("%zu x %zu x %zu, %s, %d threads: element %zu is %a, expected %a", l->rows, l->in,
                 l->out, vit_cpu_name(k->cpu), threads, other, (double)y[other],
                 (double)l->y[other]);
    free(y);
}

static void test_results_are_numpys(void **state) {
    const vit_kernels *tables[CHECK_MOST_TABLES];
    const size_t count = check_all_tables(tables);
    for (size_t i = 0; i < LAYERS; i++) {
        const layer l = layer_at(i);
        float *packed = pack(&l);
        for (size_t t = 0; t < count; t++)
            for (int threads = 1; threads <= 3; threads++)
                check_layer_of(&l, packed, tables[t], threads);
        free(packed);
    }
}

/* From integers with scales, and from floats that are packed already; and back to floats. */
static void test_ways_to_pack(void **state) {
    const vit_exec exec = {.kernels = vit_kernels_scalar(), .threads = 1};
    for (size_t i = 0; i < LAYERS; i++) {
        const layer l = layer_at(i);
        const size_t words = vit_int8_words(l.out, l.in), count = l.out * l.in;
        float *want = pack(&l), *got = check_floats(words), *w = check_floats(count);
        float *panels = check_floats(vit_packed_size(l.out, l.in)),
              *back = check_floats(vit_packed_size(l.out, l.in));
        for (size_t p = 0; p < count; p++) w[p] = l.qw[p] * l.sw[p / l.in];
        vit_int8_pack(got, w, l.sw, l.out, l.in);
        assert_memory_equal(got, want, words * sizeof *got);
        memset(got, 0xff, words * sizeof *got);
        vit_int8_pack_integers(got, l.qw, l.sw, l.out, l.in);
        assert_memory_equal(got, want, words * sizeof *got);
        vit_pack_transposed(&exec, panels, l.w, l.out, l.in, l.in);
        vit_int8_pack_panels(got, panels, l.out, l.in);
        assert_memory_equal(got, want, words * sizeof *got);
        vit_pack_transposed(&exec, panels, w, l.out, l.in, l.in);
        vit_int8_unpack_panels(back, want, l.out, l.in);
        const size_t floats = (l.out + vit_panel() - 1) / vit_panel() * vit_panel() * l.in;
        assert_int_equal(check_first_other(back, panels, floats), floats);
        float *const all[] = {want, got, w, panels, back};
        for (size_t j = 0; j < 5; j++) free(all[j]);
    }
}

/* -128, which other programs' files have, times 127 where sums are largest; and outputs of a layer
 * as a layer of their own. */
static void test_extremes_and_parts(void **state) {
    const vit_kernels *tables[CHECK_MOST_TABLES];
    const size_t count = check_all_tables(tables), in = 3000, out = 80, rows = 14;
    float *w = check_floats(in * out), *x = check_floats(rows * in), *y = check_floats(rows * out);
    float *scales = check_floats(out), *packed = check_floats(vit_int8_words(out, in));
    for (size_t i = 0; i < in * out; i++) w[i] = i / in % 2 == 0 ? -128 : i % 2 == 0 ? -128 : 127;
    for (size_t i = 0; i < rows * in; i++) x[i] = i / in % 2 == 0 ? -127 : i % 2 == 0 ? 127 : -127;
    for (size_t o = 0; o < out; o++) scales[o] = 1;
    vit_int8_pack(packed, w, scales, out, in);
    const layer l = {.rows = rows, .in = in, .out = out};
    const vit_linear all = linear_of(&l, packed);
    for (size_t t = 0; t < count; t++) {
        const vit_exec exec = {.kernels = tables[t], .threads = 1, .room = room};
        for (size_t first = 0; first < out; first += vit_panel()) {
            const vit_linear part = vit_linear_part(&exec, &all, first, out - first);
            vit_linear_forward(&exec, y, x, &part, NULL, rows);
            for (size_t r = 0; r < rows; r++)
                for (size_t o = first; o < out; o++) {
                    const float ones = o % 2 == 0 ? 127 * 128 * 3000. : 127 * .5 * 3000,
                                turns = o % 2 == 0 ? 0 : -127 * 127.5 * 3000;
                    assert_true(y[r * (out - first) + o - first] == (r % 2 == 0 ? ones : turns));
                }
        }
    }
    float *const every[] = {w, x, y, scales, packed};
    for (size_t j = 0; j < 5; j++) free(every[j]);
}

/* All tables give the same bytes for many shapes, for rows that do not fit into the room at once,
 * and where k is cut into blocks. */
static void test_tables_agree(void **state) {
    static const size_t shapes[][3] = {
        {1, 64, 192}, {50, 64, 256}, {197, 192, 576}, {400, 2500, 70}, {6, 20000, 33}};
    const vit_kernels *tables[CHECK_MOST_TABLES];
    const size_t count = check_all_tables(tables);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const layer l = {.rows = shapes[s][0], .in = shapes[s][1], .out = shapes[s][2]};
        vit_random r = check_random((uint32_t)s);
        float *w = check_floats(l.in * l.out), *x = check_floats(l.rows * l.in);
        float *want = check_floats(l.rows * l.out), *y = check_floats(l.rows * l.out);
        check_fill(w, l.in * l.out, 1, &r);
        check_fill(x, l.rows * l.in, 3, &r);
        const layer full = {.rows = l.rows, .in = l.in, .out = l.out, .w = w};
        float *packed = pack(&full);
        const vit_linear linear = linear_of(&full, packed);
        for (size_t t = 0; t < count; t++)
            for (int threads = 1; threads <= 3; threads += 2) {
                const vit_exec exec = {.kernels = tables[t], .threads = threads, .room = room};
                vit_linear_forward(&exec, y, x, &linear, NULL, l.rows);
                if (t == 0 && threads == 1) memcpy(want, y, l.rows * l.out * sizeof *y);
                assert_memory_equal(y, want, l.rows * l.out * sizeof *y);
            }
        float *const all[] = {w, x, want, y, packed};
        for (size_t j = 0; j < 5; j++) free(all[j]);
    }
}

/* Numbers in the middle between two integers of their row, and their neighbours on both sides, are
 * rounded as the quotient x / scale is. W is a unit matrix, so y is x's integers times the scales.
 */
static void test_ties(void **state) {
    const vit_kernels *tables[CHECK_MOST_TABLES];
    const size_t count = check_all_tables(tables), n = 381, rows = 9;
    float *w = check_floats(n * n), *x = check_floats(rows * n), *y = check_floats(rows * n);
    for (size_t i = 0; i < n; i++) w[i * n + i] = 127;
    for (size_t r = 0; r < rows; r++) {
        const float scale = (1 + (float)r / 9) * powf(2, 12 * (float)r - 60);
        x[r * n] = 127 * scale;
        for (size_t j = 1; j < n; j++) {
            const float sign = j % 2 == 0 ? 1 : -1, tie = ((float)(j / 3) - .5f) * scale;
            const float beside[] = {nextafterf(tie, 0), tie, nextafterf(tie, INFINITY)};
            x[r * n + j] = sign * fminf(beside[j % 3], 127 * scale);
        }
    }
    const layer l = {.rows = rows, .in = n, .out = n, .w = w};
    float *packed = pack(&l);
    const vit_linear linear = linear_of(&l, packed);
    for (size_t t = 0; t < count; t++) {
        const vit_exec exec = {.kernels = tables[t], .threads = 1, .room = room};
        vit_linear_forward(&exec, y, x, &linear, NULL, rows);
        for (size_t i = 0; i < rows * n; i++) {
            const float scale = x[i / n * n] / 127, whole = rintf(x[i] / scale);
            assert_true(y[i] == 127 * whole * scale);
        }
    }
    float *const all[] = {w, x, y, packed};
    for (size_t j = 0; j < 4; j++) free(all[j]);
}

/* NaN and infinity reach the results. */
static void test_not_finite(void **state) {
    const vit_kernels *tables[CHECK_MOST_TABLES];
    const size_t count = check_all_tables(tables);
    const layer l = layer_at(3);
    float *packed = pack(&l), *x = check_copy(l.x, l.rows * l.in),
          *y = check_floats(l.rows * l.out);
    const vit_linear w = linear_of(&l, packed);
    x[2 * l.in + 17] = NAN;
    x[4 * l.in + l.in - 1] = -INFINITY;
    for (size_t t = 0; t < count; t++) {
        const vit_exec exec = {.kernels = tables[t], .threads = 1, .room = room};
        vit_linear_forward(&exec, y, x, &w, NULL, l.rows);
        for (size_t i = 0; i < l.rows * l.out; i++)
            assert_int_equal(isnan(y[i]) != 0, i / l.out == 2 || i / l.out == 4);
    }
    free(packed);
    free(x);
    free(y);
}

/* ---- models ---- */

/* A small network: in plain C, all takes long. */
static void train(void) {
    const vit_train_options o = {
        .arrays = few_digits(), .preset = "small.json", .steps = 12, .out = "trained.safetensors"};
    vit_model *m;
    vit_error e;
    put_file("small.json",
             "{\"model\": {\"image\": [28, 28], \"channels\": 1, \"patch\": 7, \"dim\": 24, "
             "\"depth\": 2, \"heads\": 3, \"mlp\": 50, \"classes\": 10}, "
             "\"train\": {\"batch\": 64, \"epochs\": 1}}");
    if (vit_train(&m, &o, &e) != VIT_OK) fail_msg("%s", e.message);
    vit_model_free(m);
}

static vit_model *model_in(vit_precision precision) {
    const vit_model_options o = {.precision = precision};
    vit_model *m;
    vit_error e;
    if (vit_model_load_with(&m, "trained.safetensors", &o, &e) != VIT_OK) fail_msg("%s", e.message);
    return m;
}

static void answer(const vit_model *m, vit_precision precision, const char *cpu, int threads,
                   size_t at_once, float *logits) {
    static uint8_t pixels[PICTURES * PIXELS];
    const vit_session_options o = {.threads = threads, .cpu = cpu, .precision = precision};
    vit_session *s;
    vit_error e;
    for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)(i * i % 251);
    if (vit_session_new(&s, m, &o, &e) != VIT_OK) fail_msg("%s", e.message);
    for (size_t i = 0; i < PICTURES; i += at_once) {
        const size_t count = PICTURES - i < at_once ? PICTURES - i : at_once;
        assert_int_equal(
            vit_classify_prepared(s, pixels + i * PIXELS, count, logits + i * CLASSES, &e), VIT_OK);
    }
    vit_session_free(s);
}

/* The same bytes whatever the instruction set, the threads, the batch and how the model was opened;
 * near those of float32, and not the same. */
static void test_answers(void **state) {
    static const char *const cpus[] = {"scalar", "sse41",  "neon",      "simd128",
                                       "avx2",   "avx512", "avx512bf16"};
    float want[PICTURES * CLASSES], got[PICTURES * CLASSES], f32[PICTURES * CLASSES];
    train();
    vit_model *floats = model_in(VIT_PRECISION_F32), *integers = model_in(VIT_PRECISION_INT8);
    answer(floats, VIT_PRECISION_F32, NULL, 1, PICTURES, f32);
    answer(floats, VIT_PRECISION_INT8, NULL, 1, PICTURES, want);
    const double difference = check_difference(want, f32, PICTURES * CLASSES);
    assert_true(difference > 0 && difference < .05);
    for (size_t c = 0; c < sizeof cpus / sizeof *cpus; c++)
        for (int way = 0; way < 8; way++) {
            answer(way & 1 ? floats : integers, VIT_PRECISION_INT8, cpus[c], way & 2 ? 3 : 1,
                   way & 4 ? 2 : PICTURES, got);
            assert_memory_equal(got, want, sizeof want);
        }
    answer(integers, VIT_PRECISION_F32, NULL, 1, PICTURES, got);
    assert_memory_equal(got, want, sizeof want);
    vit_model_free(floats);
    vit_model_free(integers);
}

static void test_no_training(void **state) {
    vit_error e;
    const vit_train_options o = {.data = "digits", .steps = 1, .precision = VIT_PRECISION_INT8};
    assert_int_equal(vit_train(NULL, &o, &e), VIT_ERROR_ARGUMENT);
    assert_non_null(strstr(e.message, "int8, which has no gradients"));
}

static int open_all(void **state) {
    vit_error e;
    room = check_floats(3 * VIT_GEMM_ROOM);
    return vit_tensors_open(&fixture, "tests/fixtures/int8.safetensors", &e) != VIT_OK;
}

static int close_all(void **state) {
    free(room);
    vit_tensors_close(fixture);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights_are_numpys),
        cmocka_unit_test(test_activations_are_numpys),
        cmocka_unit_test(test_results_are_numpys),
        cmocka_unit_test(test_ways_to_pack),
        cmocka_unit_test(test_extremes_and_parts),
        cmocka_unit_test(test_tables_agree),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_not_finite),
        IN_DIRECTORY(test_answers),
        IN_DIRECTORY(test_no_training),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
