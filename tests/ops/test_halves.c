/* Weights that are kept in halves, bfloat16 or float16: widened numbers are those that a file of
 * this type holds. A layer's results with them, or with weights that are not packed, are those of
 * the same numbers as packed floats, bit by bit, with every table of kernels and any number of
 * threads. */
#include "tests/support/check.h"
#include "tests/support/unit.h"
#include "vit/base/size.h"
#include "vit/ops/linear.h"
#include "vit/tensors/tensor.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    vit_stored stored;
    vit_dtype dtype;
} types[] = {{VIT_STORED_BF16, VIT_BF16},
             {VIT_STORED_F16, VIT_F16},
             {VIT_STORED_ROWS, VIT_F32},
             {VIT_STORED_ROWS_BF16, VIT_BF16},
             {VIT_STORED_ROWS_F16, VIT_F16}};
#define TYPES (sizeof types / sizeof *types)
#define HALVES 2 /* the first types */

/* ---- every number ---- */

/* All finite numbers of 16 bits, in order. */
static size_t every_number(uint16_t *halves, float *floats, vit_dtype dtype) {
    size_t count = 0;
    for (uint32_t bits = 0; bits < 1u << 16; bits++) {
        const uint16_t half = (uint16_t)bits;
        const vit_tensor one = {.name = "one", .dtype = dtype, .count = 1, .data = &half};
        assert_int_equal(vit_tensor_floats(&one, floats + count, NULL), VIT_OK);
        if (!isfinite(floats[count])) continue;
        halves[count++] = half;
    }
    return count;
}

static void check_every_number(const vit_kernels *k, vit_stored stored, vit_dtype dtype,
                               size_t panel) {
    static uint16_t halves[1 << 16];
    static float want[1 << 16], got[2 * VIT_MOST_PANEL], words[VIT_MOST_PANEL];
    const size_t count = every_number(halves, want, dtype), at_once = 2 * panel;
    assert_int_equal(count % at_once, 0);
    for (size_t i = 0; i < count; i += at_once) {
        memcpy(words, halves + i, panel * sizeof *words);
        k->widen[stored](got, words, 2, panel);
        for (size_t j = 0; j < at_once; j++)
            if (memcmp(&got[j % 2 * panel + j / 2], &want[i + j], sizeof *want) != 0)
                fail_msg("%s: %s %04x is %a, expected %a", vit_cpu_name(k->cpu),
                         vit_dtype_name(dtype), halves[i + j], (double)got[j % 2 * panel + j / 2],
                         (double)want[i + j]);
    }
}

static void test_every_number(void **state) {
    const vit_kernels *tables[CHECK_MOST_TABLES];
    const size_t count = check_tables(tables);
    for (size_t t = 0; t < count; t++)
        for (size_t i = 0; i < HALVES; i++)
            for (size_t panel = 16; panel <= VIT_MOST_PANEL; panel += 16)
                check_every_number(tables[t], types[i].stored, types[i].dtype, panel);
}

/* ---- layers ---- */

typedef struct layer {
    size_t rows, out, in;
} layer;

/* One row; numbers of inputs that are odd, of which none are in rows of halves; outputs that fill
 * no panel; several blocks of k; A packed; so many rows that a block of B stays. */
static const layer layers[] = {{1, 1, 1},     {1, 70, 33},    {13, 33, 1},    {17, 100, 515},
                               {40, 64, 520}, {100, 40, 769}, {197, 420, 90}, {800, 33, 130},
                               {1, 70, 34},   {33, 100, 514}};
#define LAYERS (sizeof layers / sizeof *layers)

/* w: [out][in], numbers of the type, some of them denormal in float16. */
static float *weights(const layer *l, vit_dtype dtype, vit_random *r) {
    const size_t count = l->out * l->in;
    float *w = check_floats(count);
    void *elements = calloc(count, sizeof(float));
    assert_non_null(elements);
    check_fill(w, count, 1, r);
    for (size_t i = 0; i < count; i += 7) w[i] *= 0x1p-18f;
    assert_int_equal(vit_tensor_encode(elements, dtype, w, count), count);
    const vit_tensor t = {.name = "w", .dtype = dtype, .count = count, .data = elements};
    assert_int_equal(vit_tensor_floats(&t, w, NULL), VIT_OK);
    free(elements);
    return w;
}

typedef struct case_ {
    const layer *l;
    float *x, *w, *bias, *floats, *halves, *want, *got;
} case_;

static case_ case_new(const layer *l, size_t type) {
    vit_random r = check_random((uint32_t)(l->rows + l->out + l->in));
    const size_t whole = vit_packed_size(l->out, l->in);
    case_ c = {l,
               check_floats(l->rows * l->in),
               weights(l, types[type].dtype, &r),
               check_floats(l->out),
               check_floats(whole),
               check_floats(vit_stored_words(types[type].stored, whole)),
               check_floats(l->rows * l->out),
               check_floats(l->rows * l->out)};
    check_fill(c.x, l->rows * l->in, 1, &r);
    check_fill(c.bias, l->out, 1, &r);
    return c;
}

static void case_free(case_ *c) {
    float *const all[] = {c->x, c->w, c->bias, c->floats, c->halves, c->want, c->got};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* All outputs, and those from the second panel on as a layer of their own. */
static void check_forward(const vit_exec *exec, const case_ *c, vit_stored stored) {
    const layer *l = c->l;
    const vit_linear floats = {.in = l->in, .out = l->out, .bias = c->bias, .packed = c->floats};
    vit_linear halves = floats;
    halves.packed = c->halves;
    halves.stored = stored;
    for (size_t first = 0; first < vit_min(l->out, 2 * vit_panel()); first += vit_panel()) {
        const size_t count = l->out - first;
        const vit_linear want = vit_linear_part(exec, &floats, first, count);
        const vit_linear got = vit_linear_part(exec, &halves, first, count);
        vit_linear_forward(exec, c->want, c->x, &want, NULL, l->rows);
        vit_linear_forward(exec, c->got, c->x, &got, NULL, l->rows);
        const size_t other = check_first_other(c->got, c->want, l->rows * count);
        if (other < l->rows * count)
            fail_msg("%zu x %zu x %zu, %s, %d threads: element %zu is %a, expected %a", l->rows,
                     count, l->in, vit_cpu_name(exec->kernels->cpu), exec->threads, other,
                     (double)c->got[other], (double)c->want[other]);
    }
}

static void check_layer_in(const layer *l, size_t type, const vit_kernels *k, float *room) {
    const vit_stored stored = types[type].stored;
    const bool is_odd = vit_stored_words(stored, 2) == 1 && l->in % 2 == 1;
    if (is_odd && types[type].stored > VIT_STORED_ROWS) return;
    case_ c = case_new(l, type);
    const size_t count = l->out * l->in;
    for (int threads = 1; threads <= 3; threads += 2) {
        const vit_exec exec = {.kernels = k, .threads = threads, .room = room};
        vit_pack_transposed(&exec, c.floats, c.w, l->out, l->in, l->in);
        vit_pack_stored(&exec, c.halves, c.w, stored, l->out, l->in, l->in);
        check_forward(&exec, &c, stored);
    }
    float *back = check_floats(count);
    vit_unpack_transposed(k, back, c.halves, stored, l->out, l->in);
    assert_int_equal(check_first_other(back, c.w, count), count);
    free(back);
    case_free(&c);
}

static void test_layers(void **state) {
    const vit_kernels *tables[CHECK_MOST_TABLES];
    const size_t count = check_tables(tables);
    float *room = check_floats(3 * VIT_GEMM_ROOM);
    for (size_t t = 0; t < count; t++)
        for (size_t i = 0; i < TYPES; i++)
            for (size_t j = 0; j < LAYERS; j++) check_layer_in(&layers[j], i, tables[t], room);
    free(room);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_number),
                                       cmocka_unit_test(test_layers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
