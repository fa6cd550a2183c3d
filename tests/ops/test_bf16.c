/* bfloat16, in both arithmetics, by plain C and by the instructions where there are any: products
 * against their definition, bit by bit; threads and batch leave no trace; where the instructions
 * are missing it is refused. */
#include "tests/support/check.h"
#include "tests/support/few_digits.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/api/internal.h"
#include "vit/ops/linear.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLASSES 10
#define PIXELS (28 * 28)

static float *room; /* of four threads */

static const vit_kernels *table; /* that is tested now; NULL: there is none */

static const vit_kernels *kernels_or_skip(void) {
    if (!table) skip();
    return table;
}

static vit_bf16 arithmetic(void) {
    return kernels_or_skip()->products[VIT_PRECISION_BF16]->bf16;
}

/* ---- products ---- */

typedef struct product {
    size_t m, n, k;
    bool transposed, packed;
    float *a, *b, *packed_b, *want;
    vit_operand_a operand_a;
    vit_operand_b operand_b;
} product;

static void define(product *p) {
    const size_t b_row = p->packed ? p->k : 1, b_col = p->packed ? 1 : p->n;
    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++)
            p->want[i * p->n + j] =
                check_bf16_chain(arithmetic(), p->operand_a.data + i * p->operand_a.row,
                                 p->operand_a.col, p->b + j * b_row, b_col, p->k);
}

static product product_new(const vit_kernels *k, size_t m, size_t n, size_t depth, bool transposed,
                           bool packed) {
    vit_random r = check_random((uint32_t)(m * 31 + n * 7 + depth));
    product p = {.m = m, .n = n, .k = depth, .transposed = transposed, .packed = packed};
    const vit_exec exec = {.kernels = k, .threads = 1, .precision = VIT_PRECISION_BF16};
    p.a = check_floats(m * depth);
    p.b = check_floats(n * depth);
    p.packed_b = check_floats(vit_packed_size(n, depth));
    p.want = check_floats(m * n);
    check_fill(p.a, m * depth, 1, &r);
    check_fill(p.b, n * depth, 1, &r);
    p.operand_a = transposed ? (vit_operand_a){p.a, 1, m} : (vit_operand_a){p.a, depth, 1};
    p.operand_b = vit_b_plain(p.b, n);
    if (packed) {
        vit_pack_transposed(&exec, p.packed_b, p.b, n, depth, depth);
        p.operand_b = vit_b_packed(p.packed_b, vit_words(exec.precision, depth));
    }
    define(&p);
    return p;
}

static void check_product(const product *p, const vit_kernels *k, int threads) {
    const vit_exec exec = {k, threads, room, VIT_PRECISION_BF16, VIT_PRECISION_BF16};
    const vit_epilogue none = vit_epilogue_none();
    float *c = check_floats(p->m * p->n);
    vit_gemm(&exec, c, p->n, p->m, p->n, p->k, p->operand_a, p->operand_b, &none);
    const size_t other = check_first_other(c, p->want, p->m * p->n);
    if (other < p->m * p->n)
        fail_msg("%zu x %zu x %zu, %d threads, %s %s: element %zu is %a, expected %a", p->m, p->n,
                 p->k, threads, p->transposed ? "transposed" : "", p->packed ? "packed" : "", other,
                 (double)c[other], (double)p->want[other]);
    free(c);
}

static void test_products(void **state) {
    static const size_t sizes[][3] = {{1, 1, 1},       {1, 1, 2},        {3, 5, 7},
                                      {13, 47, 33},    {12, 32, 64},     {25, 100, 31},
                                      {97, 65, 300},   {197, 130, 1100}, {400, 33, 15},
                                      {700, 35, 1100}, {300, 310, 1024}};
    const vit_kernels *k = kernels_or_skip();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const bool is_large = sizes[i][0] * sizes[i][1] * sizes[i][2] > (size_t)40 << 20;
        for (int form = 0; form < 4; form++) {
            if (is_large && form != 2) continue; /* B packed and A not transposed: B stays */
            product p = product_new(k, sizes[i][0], sizes[i][1], sizes[i][2], form & 1, form & 2);
            for (int threads = 1; threads <= 4; threads++) check_product(&p, k, threads);
            float *const all[] = {p.a, p.b, p.packed_b, p.want};
            for (size_t j = 0; j < 4; j++) free(all[j]);
        }
    }
}

/* dx of a layer whose W was packed beforehand is dx of that which packs it. */
static void check_packed_rows(const vit_kernels *k, vit_precision precision, size_t in, size_t out,
                              size_t rows) {
    const vit_exec exec = {k, 1, room, precision, precision};
    vit_random r = check_random((uint32_t)(in * 31 + out * 7 + rows));
    float *w = check_floats(in * out), *dy = check_floats(rows * out),
          *dx = check_floats(rows * in);
    float *want = check_floats(rows * in), *packed = check_floats(vit_packed_size(in, out));
    check_fill(w, in * out, 1, &r);
    check_fill(dy, rows * out, 1, &r);
    vit_pack_rows(&exec, packed, w, in, out, in);
    const vit_linear plain = {.in = in, .out = out, .weight = w, .packed = packed};
    vit_linear with = plain;
    with.packed_rows = vit_b_packed(packed, vit_words(precision, out));
    for (size_t first = 0; first < out; first += first < 3 ? 1 : out / 3) {
        for (size_t count = 1; first + count <= out; count += count < 3 ? 1 : out / 4) {
            const vit_linear a = vit_linear_part(&exec, &plain, first, count);
            const vit_linear b = vit_linear_part(&exec, &with, first, count);
            vit_linear_input_gradient(&exec, want, false, dy, out, &a, rows);
            vit_linear_input_gradient(&exec, dx, false, dy, out, &b, rows);
            if (memcmp(dx, want, rows * in * sizeof *dx) != 0)
                fail_msg("%zu x %zu x %zu, outputs %zu .. %zu", rows, in, out, first,
                         first + count);
        }
    }
    float *const all[] = {w, dy, dx, want, packed};
    for (size_t i = 0; i < 5; i++) free(all[i]);
}

static void test_packed_rows(void **state) {
    static const size_t sizes[][3] = {{1, 1, 1},  {2, 5, 7},    {33, 31, 13},
                                      {70, 9, 5}, {96, 48, 60}, {40, 1100, 700}};
    const vit_kernels *k = kernels_or_skip();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_packed_rows(k, VIT_PRECISION_F32, sizes[i][0], sizes[i][1], sizes[i][2]);
        check_packed_rows(k, VIT_PRECISION_BF16, sizes[i][0], sizes[i][1], sizes[i][2]);
    }
}

/* Neither reads nor writes outside. */
static void test_packing_stays_inside(void **state) {
    const vit_kernels *k = kernels_or_skip();
    check_memory in = check_memory_new(70 * 70), out = check_memory_new(70 * 80);
    for (size_t rows = 1; rows <= 34; rows += 3) {
        for (size_t n = 1; n <= 67; n += 3) {
            const float *from = check_memory_take(&in, rows * n, CHECK_AT_END);
            float *to = check_memory_take(&out, (n + 1) / 2 * vit_padded(rows), CHECK_AT_END);
            k->products[VIT_PRECISION_BF16]->transpose(to, vit_padded(rows), from, n, rows, n);
            assert_true(check_memory_intact(&out));
            to = check_memory_take(&out, (rows + 1) / 2 * vit_padded(n), CHECK_AT_END);
            k->products[VIT_PRECISION_BF16]->copy_across(to, vit_padded(n), from, n, rows, n);
            assert_true(check_memory_intact(&out));
            to = check_memory_take(&out, rows * vit_padded((n + 1) / 2), CHECK_AT_END);
            k->products[VIT_PRECISION_BF16]->copy_along(to, vit_padded((n + 1) / 2), from, n, rows,
                                                        n);
            assert_true(check_memory_intact(&out) && check_memory_intact(&in));
        }
    }
    check_memory_free(&in);
    check_memory_free(&out);
}

static void test_not_finite(void **state) {
    const vit_kernels *k = kernels_or_skip();
    const float values[] = {INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < 3; i++) {
        product p = product_new(k, 5, 40, 9, false, false);
        float c[5 * 40];
        const vit_exec exec = {k, 1, room, VIT_PRECISION_BF16, VIT_PRECISION_BF16};
        const vit_epilogue none = vit_epilogue_none();
        p.a[2 * 9 + 4] = values[i];
        vit_gemm(&exec, c, 40, 5, 40, 9, p.operand_a, p.operand_b, &none);
        for (size_t j = 0; j < 5 * 40; j++) assert_int_equal(!isfinite(c[j]), j / 40 == 2);
        float *const all[] = {p.a, p.b, p.packed_b, p.want};
        for (size_t j = 0; j < 4; j++) free(all[j]);
    }
}

/* One step of k on C = c, as the definition says. */
static float step_of(const float a[2], const float b[2], float c) {
    if (arithmetic() <= VIT_BF16_PAIRS) return check_step(a[0], b[0], check_step(a[1], b[1], c));
    float first = check_step(a[0], b[0], 0), second = check_step(a[1], b[1], 0);
    first = check_step(0, 0, first); /* the block is filled up with zeros: -0 becomes +0 */
    second = check_step(0, 0, second);
    return check_step(1, c, check_step(1, first, second));
}

static void check_step_of_tile(const float a[2], const float b[2], float c) {
    const vit_product_kernels *k = kernels_or_skip()->products[VIT_PRECISION_BF16];
    float pair_a[16], pair_b[16], sums[16], numbers[2][16] = {{0}};
    k->copy_along(pair_a, 16, a, 2, 1, 2);
    for (size_t i = 0; i < 16; i++) numbers[0][i] = b[0], numbers[1][i] = b[1], sums[i] = c;
    k->copy_across(pair_b, 16, numbers[0], 16, 2, 16);
    const vit_tiles run = {.count = 1,
                           .rows = 1,
                           .columns = 16,
                           .k = 1,
                           .c = sums,
                           .a = pair_a,
                           .b = pair_b,
                           .c_row = 16,
                           .a_row = 16,
                           .a_col = 1,
                           .b_row = 16,
                           .epilogue = {.accumulate = true, .scale = 1}};
    k->gemm_tiles(&run);
    const float want = step_of(a, b, c);
    if (memcmp(&sums[5], &want, sizeof want) != 0)
        fail_msg("%a + %a x %a + %a x %a: %a, expected %a", (double)c, (double)a[0], (double)b[0],
                 (double)a[1], (double)b[1], (double)sums[5], (double)want);
}

/* Sums that are tiny before they are rounded, or after, or neither: products of 2^-152 to 2^-148
 * beside numbers around the least that is not denormal. */
static void test_steps_near_the_least_float(void **state) {
    const float least = 0x1p-126f, ulp = 0x1p-149f;
    const float sums[] = {0, least, least + ulp, least + 2 * ulp, 2 * least, 2 * least - ulp};
    const float factors[] = {0, .25f, .5f, .75f, 1, 1.25f, 1.5f, 1.75f, 2, 3, 4};
    for (size_t i = 0; i < 2 * 6; i++)
        for (size_t j = 0; j < 2 * 11; j++)
            for (size_t h = 0; h < 2 * 11; h++) {
                const float a[] = {factors[j / 2] * 0x1p-75f, factors[h / 2] * 0x1p-75f};
                const float b[] = {j % 2 ? -0x1p-75f : 0x1p-75f, h % 2 ? -0x1p-75f : 0x1p-75f};
                check_step_of_tile(a, b, i % 2 ? -sums[i / 2] : sums[i / 2]);
            }
}

/* What Intel's and AMD's processors give. */
static void test_what_is_tiny_before_rounding(void **state) {
    const float a[] = {0x1p-75f, 0}, b[] = {-0x1p-75f, 0};
    const float found = step_of(a, b, 0x1p-126f);
    const bool tiles = arithmetic() > VIT_BF16_PAIRS; /* the product alone is tiny there */
    assert_true(tiles ? found >= 0x1p-126f : found <= 0);
    check_step_of_tile(a, b, 0x1p-126f);
}

/* ---- training and answering ---- */

#define TRAINED "trained.safetensors"

/* In plain C, and emulated, that of the preset "digits" takes long. */
static const char *preset(void) {
    put_file("small.json",
             "{\"model\": {\"image\": [28, 28], \"channels\": 1, \"patch\": 14, \"dim\": 24, "
             "\"depth\": 2, \"heads\": 3, \"mlp\": 50, \"classes\": 10}, "
             "\"train\": {\"batch\": 64, \"epochs\": 1}}");
    return "small.json";
}

static vit_model *trained(vit_precision precision, int threads) {
    const char *const set[] = {"arithmetic=pairs", "arithmetic=tiles"};
    const bool is_bf16 = precision > VIT_PRECISION_F32, tiles = arithmetic() > VIT_BF16_PAIRS;
    const vit_train_options o = {.arrays = few_digits(),
                                 .preset = preset(),
                                 .steps = 12,
                                 .batch = 64,
                                 .out = TRAINED,
                                 .overwrite = true,
                                 .threads = threads,
                                 .cpu = vit_cpu_name(kernels_or_skip()->cpu),
                                 .set = set + tiles,
                                 .set_count = is_bf16,
                                 .precision = precision};
    vit_model *m;
    vit_error e = {0};
    if (vit_train(&m, &o, &e) != VIT_OK) fail_msg("%s", e.message);
    return m;
}

static void answer(const vit_model *m, vit_precision precision, int threads, size_t count,
                   size_t at_a_time, float *logits) {
    static uint8_t images[9 * PIXELS];
    const char *cpu = vit_cpu_name(kernels_or_skip()->cpu);
    const vit_session_options o = {.threads = threads,
                                   .cpu = cpu,
                                   .precision = precision,
                                   .bf16 = precision > VIT_PRECISION_F32 ? arithmetic() : 0};
    vit_session *s;
    for (uint32_t i = 0; i < count; i++) vit_draw_digit(images + i * PIXELS, 2, i);
    assert_int_equal(vit_session_new(&s, m, &o, NULL), VIT_OK);
    for (size_t i = 0; i < count; i += at_a_time)
        assert_int_equal(
            vit_classify_prepared(s, images + i * PIXELS, at_a_time, logits + i * CLASSES, NULL),
            VIT_OK);
    vit_session_free(s);
}

/* Not equal, but near: a rounding is 2^-9 at most. */
static void assert_near(const float *got, const float *want, size_t count) {
    const double difference = check_difference(got, want, count);
    assert_true(difference > 0 && difference < .05);
}

static void test_threads_and_batch_change_no_byte(void **state) {
    kernels_or_skip();
    float f32[9 * CLASSES], want[9 * CLASSES], got[9 * CLASSES];
    vit_model *one = trained(VIT_PRECISION_BF16, 1), *three = trained(VIT_PRECISION_BF16, 3);
    const char *recipe = vit_model_describe(one).recipe;
    assert_non_null(strstr(recipe, "\"precision\": \"bf16\""));
    assert_int_equal(strstr(recipe, "\"arithmetic\": \"tiles\"") != NULL,
                     arithmetic() > VIT_BF16_PAIRS);
    answer(one, VIT_PRECISION_F32, 1, 9, 9, f32);
    answer(three, VIT_PRECISION_F32, 1, 9, 9, want);
    assert_memory_equal(f32, want, sizeof want); /* the same weights */
    answer(one, VIT_PRECISION_BF16, 1, 9, 9, want);
    assert_near(want, f32, 9 * CLASSES);
    for (int threads = 1; threads <= 3; threads++) {
        for (size_t at_a_time = 1; at_a_time <= 9; at_a_time *= 3) {
            answer(one, VIT_PRECISION_BF16, threads, 9, at_a_time, got);
            assert_memory_equal(got, want, sizeof want);
        }
    }
    vit_model_free(one);
    vit_model_free(three);
}

static void test_training_is_near_float32(void **state) {
    kernels_or_skip();
    float f32[9 * CLASSES], bf16[9 * CLASSES];
    vit_model *a = trained(VIT_PRECISION_F32, 1), *b = trained(VIT_PRECISION_BF16, 1);
    assert_null(strstr(vit_model_describe(a).recipe, "precision"));
    answer(a, VIT_PRECISION_F32, 1, 9, 9, f32);
    answer(b, VIT_PRECISION_F32, 1, 9, 9, bf16);
    assert_near(bf16, f32, 9 * CLASSES);
    vit_model_free(a);
    vit_model_free(b);
}

static vit_model *opened(vit_precision precision) {
    const vit_model_options o = {.cpu = vit_cpu_name(kernels_or_skip()->cpu),
                                 .precision = precision};
    vit_model *m;
    vit_error e;
    if (vit_model_load_with(&m, TRAINED, &o, &e) != VIT_OK) fail_msg("%s", e.message);
    return m;
}

/* What was trained, and what a file gives in whichever precision it is opened for. */
static void test_a_file_is_the_model(void **state) {
    kernels_or_skip();
    float want[9 * CLASSES], got[9 * CLASSES];
    vit_error e;
    vit_session *s;
    vit_model *models[] = {trained(VIT_PRECISION_F32, 1), opened(VIT_PRECISION_F32),
                           opened(VIT_PRECISION_BF16)};
    for (int p = VIT_PRECISION_F32; p <= VIT_PRECISION_BF16; p++) {
        answer(models[0], p, 1, 9, 9, want);
        for (size_t i = 1; i < 3; i++) {
            if (i == 2 && p == VIT_PRECISION_F32) continue;
            answer(models[i], p, 2, 9, 9, got);
            assert_memory_equal(got, want, sizeof want);
        }
    }
    assert_int_equal(vit_session_new(&s, models[2], NULL, &e), VIT_ERROR_ARGUMENT);
    assert_non_null(strstr(e.message, "opened for bf16"));
    assert_null(s);
    for (size_t i = 0; i < 3; i++) vit_model_free(models[i]);
}

/* Of a model in f32, each precision has a network of its own, made once, in its precision, however
 * many precisions there are and in whichever order they are asked for. */
static void test_a_network_for_each_precision(void **state) {
    vit_model *m = trained(VIT_PRECISION_F32, 1);
    const vit_network *found[VIT_PRECISION_COUNT];
    for (int round = 0; round < 2; round++) {
        for (int p = VIT_PRECISION_COUNT - 1; p >= 0; p--) {
            const vit_exec exec = {
                .kernels = kernels_or_skip(), .threads = 1, .precision = (vit_precision)p};
            const vit_network *n;
            vit_error e;
            if (!exec.kernels->products[p]) continue;
            assert_int_equal(vit_model_network(&n, m, &exec, &e), VIT_OK);
            assert_int_equal(n->weights.precision, p);
            assert_true(round == 0 || n == found[p]);
            found[p] = n;
        }
    }
    vit_model_free(m);
}

static void test_refusal(void **state) {
    vit_error e;
    const vit_train_options o = {
        .data = "digits", .steps = 1, .cpu = "avx512", .precision = VIT_PRECISION_BF16};
    assert_int_equal(vit_train(NULL, &o, &e), VIT_ERROR_ARGUMENT);
    assert_non_null(strstr(e.message, "avx512bf16"));
    assert_non_null(strstr(e.message, "slower than f32"));
    assert_int_equal(vit_precision_check(VIT_PRECISION_F32, vit_kernels_scalar(), &e), VIT_OK);
}

/* Ten products in place of one, and none. */
static void ten_products(const vit_tiles *run) {
    for (int i = 0; i < 10; i++) vit_kernels_scalar()->products[VIT_PRECISION_F32]->gemm_tiles(run);
}

static void no_product(const vit_tiles *run) {
    run->c[0] = 0;
}

static void test_which_is_slower(void **state) {
    vit_product_kernels pairs = {.gemm_tiles = ten_products};
    vit_kernels kernels = *vit_kernels_scalar();
    kernels.products[VIT_PRECISION_BF16] = &pairs;
    assert_true(vit_precision_slower(VIT_PRECISION_BF16, &kernels));
    assert_false(vit_precision_slower(VIT_PRECISION_F32, &kernels));
    assert_false(vit_precision_slower(VIT_PRECISION_INT8, &kernels));
    pairs.gemm_tiles = no_product;
    assert_false(vit_precision_slower(VIT_PRECISION_BF16, &kernels));
}

static int take_room(void **state) {
    room = check_floats(4 * VIT_GEMM_ROOM);
    return 0;
}

static int give_room(void **state) {
    free(room);
    return 0;
}

/* With the name of an instruction set, only the tables that have it. */
int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_packed_rows),
        cmocka_unit_test(test_packing_stays_inside),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_steps_near_the_least_float),
        cmocka_unit_test(test_what_is_tiny_before_rounding),
        IN_DIRECTORY(test_threads_and_batch_change_no_byte),
        IN_DIRECTORY(test_training_is_near_float32),
        IN_DIRECTORY(test_a_network_for_each_precision),
        IN_DIRECTORY(test_a_file_is_the_model),
        cmocka_unit_test(test_refusal),
        cmocka_unit_test(test_which_is_slower),
    };
    const vit_kernels *tables[CHECK_BF16_TABLES] = {NULL};
    const size_t count = check_bf16_tables(tables);
    int failed = 0;
    for (size_t i = 0; i < count || i < 1; i++) {
        table = tables[i];
        if (argc > 1 && (!table || strcmp(vit_cpu_name(table->cpu), argv[1]) != 0)) continue;
        failed += cmocka_run_group_tests_name(table ? vit_cpu_name(table->cpu) : "none", tests,
                                              take_room, give_room);
    }
    return failed;
}
