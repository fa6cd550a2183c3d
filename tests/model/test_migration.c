/* Outliers that migrate into the weights: the network stays the same in floats, scales are those of
 * the definition, and int8 comes nearer to float32. */
#include "tests/support/check.h"
#include "tests/support/unit.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/model/run/infer.h"
#include "vit/model/run/migrate.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PICTURES = 6, SIDE = 12, PIXELS = SIDE * SIDE, CLASSES = 7, LOUD = 64 };

typedef struct problem {
    vit_config config;
    vit_table table;
    float *values, *images;
    const vit_kernels *kernels;
} problem;

/* Networks whose norms are read in different ways. */
static const struct {
    const char *name, *changes;
    size_t norms;
    bool whole;
} networks[] = {
    {"pre-norm", "{}", 2, true},
    {"class token, RMS, gated", "{\"rms_norm\": true, \"gated\": true, \"activation\": \"silu\"}",
     2, true},
    {"norms within branches", "{\"attention_norm\": true, \"gated\": true, \"mlp_norm\": true}", 4,
     true},
    {"parallel", "{\"norm\": \"parallel\", \"pool\": \"mean\"}", 1, true},
    {"post-norm", "{\"norm\": \"post\", \"mlp_norm\": true}", 1, false},
};

/* The row of a block's tensor. */
static float *row_of(const problem *p, size_t block, const char *name, size_t *count) {
    char full[96];
    snprintf(full, sizeof full, "blocks.%zu.%s", block, name);
    const vit_parameter *row = vit_table_find(&p->table, full);
    if (!row) return NULL;
    *count = row->count;
    return p->values + row->offset;
}

/* Makes two channels of a norm louder, and the weights that read them softer by as much. */
static void plant(const problem *p, size_t block, const char *norm, const char *const *readers) {
    char name[64];
    size_t dim = 0, count = 0;
    snprintf(name, sizeof name, "%s.weight", norm);
    float *gamma = row_of(p, block, name, &dim);
    if (!gamma) return;
    for (size_t j = 3; j < dim; j += 11) gamma[j] *= LOUD;
    snprintf(name, sizeof name, "%s.bias", norm);
    float *beta = row_of(p, block, name, &count);
    for (size_t j = 3; beta && j < dim; j += 11) beta[j] *= LOUD;
    for (; *readers; readers++) {
        float *w = row_of(p, block, *readers, &count);
        assert_non_null(w);
        for (size_t i = 0; i < count; i++)
            if (i % dim % 11 == 3) w[i] /= LOUD;
    }
}

static problem problem_new(size_t which) {
    problem p = {.config = vit_config_default(), .kernels = vit_kernels_choose(VIT_CPU_AVX512BF16)};
    vit_config *c = &p.config;
    vit_random r = check_random(5);
    c->height = c->width = SIDE;
    c->channels = 1;
    c->patch = 4;
    c->dim = 32;
    c->depth = 3;
    c->heads = 4;
    c->mlp = 48;
    c->classes = CLASSES;
    c->init = VIT_INIT_TORCH;
    assert_int_equal(vit_config_read(c, networks[which].changes, "changes", NULL), VIT_OK);
    assert_int_equal(vit_config_check(c, NULL), VIT_OK);
    assert_int_equal(vit_table_new(&p.table, c, NULL), VIT_OK);
    p.values = check_floats(p.table.size);
    vit_table_init(1, p.values, &p.table, c->init, 3);
    for (size_t block = 0; block < c->depth; block++) {
        static const char *const qkv[] = {"attn.qkv.weight", NULL}, *const fc1[] = {
                                                                        "mlp.fc1.weight", NULL};
        static const char *const both[] = {"attn.qkv.weight", "mlp.fc1.weight", NULL};
        static const char *const proj[] = {"attn.proj.weight", NULL}, *const fc2[] = {
                                                                          "mlp.fc2.weight", NULL};
        if (networks[which].whole) plant(&p, block, "norm1", c->norm == VIT_NORM_PRE ? qkv : both);
        if (networks[which].whole) plant(&p, block, "norm2", fc1);
        plant(&p, block, "attn.norm", proj);
        plant(&p, block, "mlp.norm", fc2);
    }
    p.images = check_floats(PICTURES * PIXELS);
    check_fill(p.images, PICTURES * PIXELS, 2, &r);
    return p;
}

static void problem_free(problem *p) {
    vit_table_free(&p->table);
    free(p->values);
    free(p->images);
}

static vit_status give(float *images, size_t first, size_t count, void *context, vit_error *error) {
    (void)error;
    const problem *p = context;
    memcpy(images, p->images + first * PIXELS, count * PIXELS * sizeof *images);
    return VIT_OK;
}

/* logits: [PICTURES][CLASSES]. */
static void answer(float *logits, const problem *p, vit_precision precision) {
    const vit_exec packs = {.kernels = p->kernels, .threads = 1, .precision = precision};
    const vit_packed_weights packed = {
        .transposed = check_floats(vit_table_words(&p->table, precision)), .precision = precision};
    vit_network n = {.config = p->config};
    vit_inference *inference;
    vit_table_pack(&packs, &packed, p->values, &p->table);
    assert_int_equal(vit_weights_view(&n.weights, &p->config, &p->table, p->values, &packed, NULL),
                     VIT_OK);
    assert_int_equal(vit_inference_new(&inference, &n, p->kernels, 1, NULL), VIT_OK);
    assert_int_equal(vit_inference_run(inference, logits, NULL, give, (void *)p, PICTURES, NULL),
                     VIT_OK);
    vit_inference_free(inference);
    vit_weights_free(&n.weights);
    free(packed.transposed);
}

static void migrate(const problem *p, const vit_kernels *kernels, int threads) {
    vit_migration *m;
    assert_int_equal(
        vit_migration_new(&m, &p->config, &p->table, p->values, kernels, threads, NULL), VIT_OK);
    for (size_t i = 0; i < PICTURES; i++)
        assert_int_equal(vit_migration_see(m, p->images + i * PIXELS, NULL), VIT_OK);
    vit_migration_fold(m);
    vit_migration_free(m);
}

static void test_networks(void **state) {
    for (size_t which = 0; which < VIT_COUNT(networks); which++) {
        problem p = problem_new(which);
        float before[PICTURES * CLASSES], after[VIT_COUNT(before)];
        float rounded[VIT_COUNT(before)], better[VIT_COUNT(before)];
        assert_int_equal(vit_migration_norms(&p.config), networks[which].norms);
        assert_int_equal(vit_migration_is_whole(&p.config), networks[which].whole);
        answer(before, &p, VIT_PRECISION_F32);
        answer(rounded, &p, VIT_PRECISION_INT8);
        migrate(&p, p.kernels, 1);
        answer(after, &p, VIT_PRECISION_F32);
        answer(better, &p, VIT_PRECISION_INT8);
        const double same = check_difference(after, before, VIT_COUNT(before));
        const double without = check_difference(rounded, before, VIT_COUNT(before));
        const double with = check_difference(better, before, VIT_COUNT(before));
        printf("# %s: float32 differs by %.2g, int8 by %.2g, by %.2g with outliers\n",
               networks[which].name, same, with, without);
        assert_true(same <= 1e-5);
        assert_true(with <= without / 2);
        problem_free(&p);
    }
}

/* The same bytes for all instruction sets and threads. */
static void test_bytes(void **state) {
    const vit_kernels *tables[CHECK_MOST_TABLES];
    const size_t count = check_tables(tables);
    for (size_t which = 0; which < VIT_COUNT(networks); which++) {
        problem want = problem_new(which);
        migrate(&want, tables[0], 1);
        for (size_t i = 0; i < count; i++) {
            problem got = problem_new(which);
            migrate(&got, tables[i], 1 + (int)i);
            assert_int_equal(check_first_other(got.values, want.values, want.table.size),
                             want.table.size);
            problem_free(&got);
        }
        problem_free(&want);
    }
}

/* ---- the definition ---- */

typedef struct measured {
    vit_arena arena;
    vit_state state;
    const vit_config *config;
} measured;

static void carve(vit_arena *arena, void *context) {
    measured *m = context;
    vit_state_carve(&m->state, arena, m->config, PICTURES, 1, VIT_KEPT_ALL, 0);
}

/* most: [dim] the largest |LN(z)| of the first block's first norm, in double. */
static void largest(double *most, const problem *p, const float *gamma, const float *beta) {
    const size_t dim = p->config.dim, rows = PICTURES * vit_config_tokens(&p->config);
    measured m = {.config = &p->config};
    vit_network n = {.config = p->config};
    const vit_exec packs = {.kernels = p->kernels, .threads = 1};
    const vit_packed_weights packed = {
        .transposed = check_floats(vit_table_words(&p->table, VIT_PRECISION_F32))};
    vit_table_pack(&packs, &packed, p->values, &p->table);
    assert_int_equal(vit_weights_view(&n.weights, &p->config, &p->table, p->values, &packed, NULL),
                     VIT_OK);
    assert_int_equal(vit_arena_fit(&m.arena, carve, &m, "a test", NULL), VIT_OK);
    const vit_exec exec = vit_network_exec(&n, &m.state, p->kernels, 1);
    vit_network_forward(&n, &exec, &m.state, p->images, PICTURES);
    for (size_t r = 0; r < rows; r++) {
        const float *z = m.state.blocks[0].z + r * dim;
        double mean = 0, square = 0;
        for (size_t j = 0; j < dim; j++) mean += (double)z[j] / (double)dim;
        for (size_t j = 0; j < dim; j++) square += pow((double)z[j] - mean, 2) / (double)dim;
        for (size_t j = 0; j < dim; j++) {
            const double x = ((double)z[j] - mean) / sqrt(square + p->config.norm_eps);
            most[j] = fmax(most[j], fabs(x * (double)gamma[j] + (double)beta[j]));
        }
    }
    vit_weights_free(&n.weights);
    vit_arena_free(&m.arena);
    free(packed.transposed);
}

static void test_scales(void **state) {
    problem p = problem_new(0);
    size_t dim = 0, count = 0;
    double most[32] = {0};
    const float *gamma = row_of(&p, 0, "norm1.weight", &dim);
    const float *beta = row_of(&p, 0, "norm1.bias", &count);
    float *w = row_of(&p, 0, "attn.qkv.weight", &count);
    float *before = check_copy(p.values, p.table.size);
    assert_int_equal(dim, VIT_COUNT(most));
    largest(most, &p, gamma, beta);
    migrate(&p, p.kernels, 1);
    for (size_t j = 0; j < dim; j++) {
        double column = 0;
        for (size_t i = j; i < count; i += dim)
            column = fmax(column, fabs((double)before[w + i - p.values]));
        const double s = sqrt(most[j] / column);
        assert_true(fabs((double)before[gamma + j - p.values] / (double)gamma[j] / s - 1) < 1e-5);
        assert_true(fabs((double)before[beta + j - p.values] - (double)beta[j] * s) <
                    1e-5 * fabs((double)before[beta + j - p.values]) + 1e-12);
        for (size_t i = j; i < count; i += dim)
            assert_true(fabs((double)w[i] - (double)before[w + i - p.values] * s) <=
                        1e-5 * fabs((double)w[i]));
    }
    free(before);
    problem_free(&p);
}

/* What is not finite is refused. */
static void test_not_finite(void **state) {
    problem p = problem_new(0);
    vit_migration *m;
    vit_error error;
    p.images[5] = INFINITY;
    assert_int_equal(vit_migration_new(&m, &p.config, &p.table, p.values, p.kernels, 1, NULL),
                     VIT_OK);
    assert_int_equal(vit_migration_see(m, p.images, &error), VIT_ERROR_FORMAT);
    vit_migration_free(m);
    problem_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_networks),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
