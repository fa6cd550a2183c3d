/* The matrix product against its definition: one ascending chain of fmaf per element, bit by bit,
 * whatever the blocking, packing, threads and kernels. */
#include "tests/support/check.h"
#include "tests/support/unit.h"
#include "vit/ops/gemm/gemm.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct size {
    size_t m, n, k;
} size;

static const size small_sizes[] = {
    {1, 1, 0},   {1, 1, 1},    {1, 1, 257}, {3, 5, 7},   {2, 33, 2},     {17, 31, 33},
    {13, 47, 5}, {5, 65, 256}, {1, 32, 16}, {12, 32, 8}, {25, 100, 300}, {7, 1, 513},
    {1, 96, 3},  {97, 3, 9},   {0, 4, 4},   {4, 0, 4},   {13, 37, 515},
};
#define SMALL_SIZES (sizeof small_sizes / sizeof *small_sizes)

/* BRANCH: layer scale and drop path */
enum {
    ACCUMULATE = 1,
    SCALE = 2,
    BIAS = 4,
    RESIDUAL = 8,
    TRANSPOSED = 16,
    PACKED = 32,
    BRANCH = 64,
    OPTIONS = 128
};
#define GAP 3 /* floats between rows */

typedef struct product {
    size s;
    unsigned options;
    float *a, *b, *b_transposed, *packed, *c, *want, *bias, *gamma, *keep, *residual;
    size_t a_floats, c_floats;
    vit_operand_a operand_a;
    vit_operand_b operand_b;
    vit_epilogue epilogue;
} product;

static float *filled(size_t count, vit_random *r) {
    float *x = check_floats(count);
    check_fill(x, count, 1, r);
    return x;
}

static void set_b(product *p) {
    const vit_exec scalar = {.kernels = vit_kernels_scalar(), .threads = 1};
    const size s = p->s;
    p->operand_b = vit_b_plain(p->b, s.n + GAP);
    if (!(p->options & PACKED)) return;
    for (size_t j = 0; j < s.n; j++)
        for (size_t i = 0; i < s.k; i++)
            p->b_transposed[j * (s.k + GAP) + i] = p->b[i * (s.n + GAP) + j];
    vit_pack_transposed(&scalar, p->packed, p->b_transposed, s.n, s.k, s.k + GAP);
    p->operand_b = vit_b_packed(p->packed, s.k);
}

static product product_new(size s, unsigned options) {
    vit_random r = check_random((uint32_t)(s.m * 101 + s.n * 11 + s.k + options));
    product p = {.s = s, .options = options};
    p.c_floats = s.m * (s.n + GAP);
    p.a_floats = (s.m + GAP) * (s.k + GAP);
    p.a = filled(p.a_floats, &r);
    p.b = filled(s.k * (s.n + GAP), &r);
    p.b_transposed = check_floats(s.n * (s.k + GAP));
    p.packed = check_floats(vit_packed_size(s.n, s.k));
    p.c = filled(p.c_floats, &r);
    p.want = check_floats(p.c_floats);
    p.bias = filled(s.n, &r);
    p.gamma = filled(s.n, &r);
    p.keep = filled(s.m, &r);
    p.residual = filled(p.c_floats, &r);
    p.operand_a = options & TRANSPOSED ? (vit_operand_a){p.a, 1, s.m + GAP}
                                       : (vit_operand_a){p.a, s.k + GAP, 1};
    p.epilogue = (vit_epilogue){.accumulate = (options & ACCUMULATE) != 0,
                                .scale = options & SCALE ? .37f : 1,
                                .bias = options & BIAS ? p.bias : NULL,
                                .gamma = options & BRANCH ? p.gamma : NULL,
                                .keep = options & BRANCH ? p.keep : NULL,
                                .keep_rows = 5,
                                .residual = options & RESIDUAL ? p.residual : NULL,
                                .residual_row = s.n + GAP};
    set_b(&p);
    return p;
}

static void product_free(product *p) {
    float *const all[] = {p->a,    p->b,    p->b_transposed, p->packed, p->c,
                          p->want, p->bias, p->gamma,        p->keep,   p->residual};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static inline void add_multiples(float *want, float a, const float *b, size_t n) {
#pragma omp simd
    for (size_t j = 0; j < n; j++) want[j] = fmaf(a, b[j], want[j]);
}

/* With the processor's instruction: a call of libm's fmaf for each number would take most of the
 * time of this test. */
#ifdef __x86_64__
__attribute__((target("avx2,fma"))) static void add_multiples_fma(float *want, float a,
                                                                  const float *b, size_t n) {
    add_multiples(want, a, b, n);
}
#else
#define add_multiples_fma add_multiples
#endif

/* The definition (docs/design.md, "Canonical arithmetic"), into want. */
static void define(product *p) {
    const bool has_fma = vit_cpu_detect() > VIT_CPU_SSE41;
    void (*const add)(float *, float, const float *, size_t) =
        has_fma ? add_multiples_fma : add_multiples;
    const vit_epilogue *e = &p->epilogue;
    const size_t row = p->s.n + GAP;
    memcpy(p->want, p->c, p->c_floats * sizeof(float));
    for (size_t i = 0; i < p->s.m; i++) {
        float *want = p->want + i * row;
        const float *a = p->operand_a.data + i * p->operand_a.row;
        if (!e->accumulate) memset(want, 0, p->s.n * sizeof *want);
        for (size_t k = 0; k < p->s.k; k++)
            add(want, a[k * p->operand_a.col], p->b + k * row, p->s.n);
        for (size_t j = 0; j < p->s.n; j++) {
            float c = want[j];
            if (e->scale != 1) c = c * e->scale;
            if (e->bias) c = c + e->bias[j];
            if (e->gamma) c = c * e->gamma[j];
            if (e->keep) c = c * e->keep[i / e->keep_rows];
            if (e->residual) c = c + e->residual[i * row + j];
            want[j] = c;
        }
    }
}

static void compare(const product *p, const float *c, const char *how) {
    const size_t other = check_first_other(c, p->want, p->c_floats);
    if (other < p->c_floats)
        fail_msg("%s, %zu x %zu x %zu, options %u: element %zu is %a, expected %a", how, p->s.m,
                 p->s.n, p->s.k, p->options, other, (double)c[other], (double)p->want[other]);
}

static void check_product(const product *p, const vit_kernels *k, int threads, float *room) {
    const vit_exec exec = {.kernels = k, .threads = threads, .room = room};
    float *c = check_floats(p->c_floats);
    vit_epilogue e = p->epilogue;
    char how[64];
    snprintf(how, sizeof how, "%s, %d threads", vit_cpu_name(k->cpu), threads);
    memcpy(c, p->c, p->c_floats * sizeof(float));
    vit_gemm(&exec, c, p->s.n + GAP, p->s.m, p->s.n, p->s.k, p->operand_a, p->operand_b, &e);
    compare(p, c, how);
    free(c);
}

/* The same product `count` times, each into an array of its own. */
static void check_small(const product *p, const vit_kernels *k, size_t count) {
    float *c = check_floats(count * p->c_floats);
    vit_tiles products = {.count = count,
                          .rows = p->s.m,
                          .columns = p->s.n,
                          .k = p->s.k,
                          .c = c,
                          .a = p->operand_a.data,
                          .b = p->b,
                          .c_row = p->s.n + GAP,
                          .a_row = p->operand_a.row,
                          .a_col = p->operand_a.col,
                          .b_row = p->s.n + GAP,
                          .right = p->c_floats,
                          .epilogue = p->epilogue};
    for (size_t i = 0; i < count; i++)
        memcpy(c + i * p->c_floats, p->c, p->c_floats * sizeof(float));
    vit_gemm_small(&(vit_exec){.kernels = k, .threads = 1}, &products);
    for (size_t i = 0; i < count; i++) compare(p, c + i * p->c_floats, vit_cpu_name(k->cpu));
    free(c);
}

static float *room; /* of eight threads */

static int take_room(void **state) {
    room = check_floats(8 * VIT_GEMM_ROOM);
    return 0;
}

static int give_room(void **state) {
    free(room);
    return 0;
}

/* The scalar table is slow: of large products it makes one, with the last number of threads, and
 * none of those that are large because others' tiles are high. */
static void over_tables(size s, unsigned options, const int *threads, size_t count) {
    const vit_kernels *tables[CHECK_MOST_TABLES];
    const size_t table_count = check_tables(tables);
    const size_t work = s.m * s.n * s.k;
    product p = product_new(s, options);
    define(&p);
    for (size_t t = 0; t < table_count; t++) {
        assert_true(tables[t]->tile.depth <= VIT_K_BLOCK);
        const bool is_slow = tables[t]->cpu <= VIT_CPU_SSE41 && work > (size_t)20 << 20;
        if (is_slow && work > (size_t)200 << 20) continue;
        for (size_t i = is_slow ? count - 1 : 0; i < count; i++)
            check_product(&p, tables[t], threads[i], room);
    }
    product_free(&p);
}

static void small_over_tables(size s, unsigned options) {
    const vit_kernels *tables[CHECK_MOST_TABLES];
    const size_t table_count = check_tables(tables);
    const bool has_places = options & (BIAS | BRANCH | RESIDUAL);
    product p = product_new(s, options);
    define(&p);
    for (size_t t = 0; t < table_count; t++) check_small(&p, tables[t], has_places ? 1 : 2);
    product_free(&p);
}

static void test_definition(void **state) {
    const int one = 1;
    for (size_t i = 0; i < SMALL_SIZES; i++)
        for (unsigned options = 0; options < OPTIONS; options++) {
            over_tables(small_sizes[i], options, &one, 1);
            small_over_tables(small_sizes[i], options);
        }
}

/* Large enough for eight threads to be woken (exec.c). */
static void test_threads(void **state) {
    static const size large[] = {{129, 130, 131}, {300, 33, 259}, {5, 700, 700}};
    static const int threads[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const unsigned options[] = {0, PACKED | BIAS | BRANCH | RESIDUAL,
                                       TRANSPOSED | ACCUMULATE};
    for (size_t i = 0; i < 3; i++) {
        const vit_exec exec = {.kernels = vit_kernels_scalar(), .threads = 8};
        assert_int_equal(vit_exec_threads(&exec, large[i].m * large[i].n * large[i].k), 8);
        for (size_t j = 0; j < 3; j++) over_tables(large[i], options[j], threads, 8);
    }
}

/* Large enough for both sides to be packed, in two blocks of k and two of rows; and for B to stay
 * in several blocks of columns and of k: not packed, packed before, or packed by every thread. And
 * rows of A, or of a B that was not packed, 4 KiB apart, which are packed because of that. */
static void test_blocks(void **state) {
    static const int threads[] = {1, 2, 3};
    over_tables((size){801, 803, 515}, TRANSPOSED | ACCUMULATE | BIAS, threads, 3);
    over_tables((size){801, 1025, 515}, PACKED | SCALE | BRANCH | RESIDUAL, threads, 3);
    over_tables((size){400, 400, 520}, PACKED | SCALE | BRANCH | RESIDUAL, threads, 2);
    over_tables((size){391, 391, 1025}, TRANSPOSED | ACCUMULATE | SCALE, threads, 1);
    over_tables((size){801, 391, 1025}, TRANSPOSED | ACCUMULATE | SCALE, threads, 1);
    over_tables((size){401, 391, 1025}, BIAS | RESIDUAL, threads, 2);
    over_tables((size){1537, 1021, 392}, ACCUMULATE | BIAS, threads, 2);
    over_tables((size){85, 391, 1024 - GAP}, BIAS | RESIDUAL, threads, 3);
    over_tables((size){1024 - GAP, 391, 85}, TRANSPOSED | ACCUMULATE, threads, 3);
    over_tables((size){49, 2048 - GAP, 391}, ACCUMULATE, threads, 2);
}

static void check_packed(const check_memory *m, float *packed, const float *w, size_t n, size_t k,
                         size_t row) {
    const vit_kernels *tables[CHECK_MOST_TABLES];
    const size_t count = check_tables(tables);
    for (size_t t = 0; t < count; t++) {
        const vit_exec exec = {.kernels = tables[t], .threads = 1};
        vit_pack_transposed(&exec, packed, w, n, k, row);
        assert_true(check_memory_intact(m));
        const size_t panels = (n + vit_panel() - 1) / vit_panel();
        for (size_t i = 0; i < panels * vit_panel() * k; i++) {
            const size_t j = i / (vit_panel() * k) * vit_panel() + i % vit_panel();
            const size_t p = i % (vit_panel() * k) / vit_panel();
            assert_true(check_same(packed[i], j < n ? w[j * row + p] : 0));
            packed[i] = -1;
        }
    }
}

static void test_packing(void **state) {
    static const size_t sizes[] = {1, 2, 31, 32, 33, 64, 65};
    vit_random r = check_random(3);
    float *w = filled(65 * 70, &r);
    check_memory m = check_memory_new(vit_packed_size(65, 65));
    for (size_t a = 0; a < 7; a++) {
        for (size_t b = 0; b < 7; b++) {
            const size_t n = sizes[a], k = sizes[b], row = k + 5;
            const size_t floats = vit_packed_size(n, k);
            float *packed = check_memory_take(&m, floats, CHECK_AT_END);
            check_packed(&m, packed, w, n, k, row);
        }
    }
    check_memory_free(&m);
    free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_packing),
    };
    return cmocka_run_group_tests(tests, take_room, give_room);
}
