/* The parameter table: timm's names, shapes and counts; initial values; views. */
#include "tests/support/check.h"
#include "tests/support/fault.h"
#include "tests/support/unit.h"
#include "vit/model/parameters.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* vit_tiny, small, base_patch16_224 by the number of heads: 3, 6, 12. */
static vit_config timm_vit(size_t heads) {
    vit_config c = vit_config_default();
    c.height = c.width = 224;
    c.channels = 3;
    c.patch = 16;
    c.heads = heads;
    c.dim = 64 * heads;
    c.depth = 12;
    c.mlp = 4 * c.dim;
    c.classes = 1000;
    return c;
}

static vit_config lecture(void) {
    return (vit_config){.height = 28,
                        .width = 28,
                        .channels = 1,
                        .patch = 14,
                        .dim = 128,
                        .depth = 6,
                        .heads = 8,
                        .mlp = 128,
                        .classes = 10,
                        .patch_order = VIT_PATCH_PIXEL,
                        .patch_bias = true,
                        .proj_bias = true,
                        .prefix_positions = true,
                        .class_token = true,
                        .attention_scale = VIT_SCALE_DIM,
                        .norm_eps = 1e-5,
                        .head = VIT_HEAD_MLP,
                        .head_bias = true,
                        .init = VIT_INIT_TORCH};
}

static vit_table table_of(vit_config c) {
    vit_table table;
    assert_int_equal(vit_table_new(&table, &c, NULL), VIT_OK);
    return table;
}

/* ---- layout ---- */

static void test_timm_counts(void **state) {
    static const size_t heads[] = {3, 6, 12}, parameters[] = {5717416, 22050664, 86567656};
    for (size_t i = 0; i < 3; i++) {
        vit_table table = table_of(timm_vit(heads[i]));
        assert_int_equal(table.count, 152);
        assert_int_equal(table.parameters, parameters[i]);
        vit_table_free(&table);
    }
}

typedef struct tensor {
    const char *name;
    size_t dims, shape[4];
    vit_parameter_kind kind;
} tensor;

static void assert_tensor(const vit_table *table, const char *prefix, const tensor *want) {
    char name[64];
    snprintf(name, sizeof name, "%s%s", prefix, want->name);
    const vit_parameter *p = vit_table_find(table, name);
    if (!p) fail_msg("there is no %s", name);
    assert_int_equal(p->dims, want->dims);
    assert_memory_equal(p->shape, want->shape, want->dims * sizeof *p->shape);
    assert_int_equal(p->kind, want->kind);
}

/* As timm.create_model("vit_tiny_patch16_224").named_parameters() lists them. */
static void test_timm_names(void **state) {
    static const tensor beside[] = {
        {"cls_token", 3, {1, 1, 192}, VIT_PARAMETER_CLASS_TOKEN},
        {"pos_embed", 3, {1, 197, 192}, VIT_PARAMETER_POSITIONS},
        {"patch_embed.proj.weight", 4, {192, 3, 16, 16}, VIT_PARAMETER_WEIGHT},
        {"patch_embed.proj.bias", 1, {192}, VIT_PARAMETER_BIAS},
        {"norm.weight", 1, {192}, VIT_PARAMETER_GAMMA},
        {"norm.bias", 1, {192}, VIT_PARAMETER_BETA},
        {"head.weight", 2, {1000, 192}, VIT_PARAMETER_WEIGHT},
        {"head.bias", 1, {1000}, VIT_PARAMETER_BIAS},
    };
    static const tensor block[] = {
        {"norm1.weight", 1, {192}, VIT_PARAMETER_GAMMA},
        {"norm1.bias", 1, {192}, VIT_PARAMETER_BETA},
        {"attn.qkv.weight", 2, {576, 192}, VIT_PARAMETER_WEIGHT},
        {"attn.qkv.bias", 1, {576}, VIT_PARAMETER_BIAS},
        {"attn.proj.weight", 2, {192, 192}, VIT_PARAMETER_WEIGHT},
        {"attn.proj.bias", 1, {192}, VIT_PARAMETER_BIAS},
        {"norm2.weight", 1, {192}, VIT_PARAMETER_GAMMA},
        {"norm2.bias", 1, {192}, VIT_PARAMETER_BETA},
        {"mlp.fc1.weight", 2, {768, 192}, VIT_PARAMETER_WEIGHT},
        {"mlp.fc1.bias", 1, {768}, VIT_PARAMETER_BIAS},
        {"mlp.fc2.weight", 2, {192, 768}, VIT_PARAMETER_WEIGHT},
        {"mlp.fc2.bias", 1, {192}, VIT_PARAMETER_BIAS},
    };
    vit_table table = table_of(timm_vit(3));
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
        assert_tensor(&table, "", &beside[i]);
    for (size_t b = 0; b < 12; b++) {
        char prefix[16];
        snprintf(prefix, sizeof prefix, "blocks.%zu.", b);
        for (size_t i = 0; i < sizeof block / sizeof *block; i++)
            assert_tensor(&table, prefix, &block[i]);
    }
    assert_null(vit_table_find(&table, "blocks.12.norm1.weight"));
    vit_table_free(&table);
}

static void test_lecture_names(void **state) {
    static const tensor some[] = {
        {"pos_embed", 3, {1, 5, 128}, VIT_PARAMETER_POSITIONS},
        {"patch_embed.proj.weight", 2, {128, 196}, VIT_PARAMETER_WEIGHT},
        {"head.0.weight", 2, {128, 128}, VIT_PARAMETER_WEIGHT},
        {"head.2.weight", 2, {10, 128}, VIT_PARAMETER_WEIGHT},
        {"head.2.bias", 1, {10}, VIT_PARAMETER_BIAS},
    };
    vit_table table = table_of(lecture());
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) assert_tensor(&table, "", &some[i]);
    assert_null(vit_table_find(&table, "norm.weight"));
    assert_null(vit_table_find(&table, "blocks.0.attn.qkv.bias"));
    assert_int_equal(table.count, 4 + 6 * 11 + 4);
    vit_table_free(&table);
}

/* As timm names them with class_token=False and global_pool="avg"; fixed positions are no row. */
static void test_mean_pooling_names(void **state) {
    static const tensor some[] = {
        {"pos_embed", 3, {1, 196, 192}, VIT_PARAMETER_POSITIONS},
        {"fc_norm.weight", 1, {192}, VIT_PARAMETER_GAMMA},
        {"fc_norm.bias", 1, {192}, VIT_PARAMETER_BETA},
    };
    vit_config c = timm_vit(3);
    c.pool = VIT_POOL_MEAN;
    c.class_token = false;
    vit_table table = table_of(c);
    for (size_t i = 0; i < 3; i++) assert_tensor(&table, "", &some[i]);
    assert_null(vit_table_find(&table, "cls_token"));
    assert_null(vit_table_find(&table, "norm.weight"));
    assert_int_equal(table.count, 151);
    vit_table_free(&table);
    c.positions = VIT_POSITIONS_SINCOS2D;
    table = table_of(c);
    assert_null(vit_table_find(&table, "pos_embed"));
    assert_int_equal(table.count, 150);
    vit_table_free(&table);
}

/* Tensors follow one another without touching, each at a multiple of 16 floats. */
static void test_offsets(void **state) {
    vit_table table = table_of(timm_vit(3));
    size_t end = 0, sum = 0;
    for (size_t i = 0; i < table.count; i++) {
        const vit_parameter *p = &table.rows[i];
        assert_true(p->offset % 16 == 0 && p->offset >= end && p->offset < end + 16);
        end = p->offset + p->count;
        sum += p->count;
        for (size_t j = 0; j < i; j++) assert_string_not_equal(p->name, table.rows[j].name);
    }
    assert_true(table.size >= end && table.size < end + 16);
    assert_int_equal(sum, table.parameters);
    vit_table_free(&table);
}

static void test_refused(void **state) {
    vit_error error;
    vit_table table;
    vit_config c = timm_vit(3);
    c.heads = 5;
    assert_int_equal(vit_table_new(&table, &c, &error), VIT_ERROR_ARGUMENT);
    assert_null(table.rows);
    assert_non_null(strstr(error.message, "\"heads\" 5"));
    c.heads = 3;
    fault_arm(1);
    const vit_status status = vit_table_new(&table, &c, &error);
    fault_disarm();
    assert_int_equal(status, VIT_ERROR_MEMORY);
    assert_null(table.rows);
    vit_table_free(&table);
}

/* ---- initial values ---- */

typedef struct moments {
    double mean, deviation, least, most;
} moments;

static moments moments_of(const float *x, size_t n) {
    moments m = {0, 0, (double)x[0], (double)x[0]};
    for (size_t i = 0; i < n; i++) {
        m.mean += (double)x[i] / (double)n;
        m.least = fmin(m.least, (double)x[i]);
        m.most = fmax(m.most, (double)x[i]);
    }
    for (size_t i = 0; i < n; i++) m.deviation += ((double)x[i] - m.mean) * ((double)x[i] - m.mean);
    m.deviation = sqrt(m.deviation / (double)n);
    return m;
}

/* Five standard errors, of the mean and (for distributions no wider than the normal) of the
 * deviation. */
static void assert_moments(const moments *m, double deviation, size_t n) {
    const double error = 5 * deviation / sqrt((double)n);
    assert_true(fabs(m->mean) <= error);
    assert_true(fabs(m->deviation - deviation) <= error);
}

static void assert_all(const float *x, size_t n, float value) {
    for (size_t i = 0; i < n; i++) assert_true(check_same(x[i], value));
}

static float *initial(const vit_table *table, vit_init init, uint64_t seed) {
    float *values = check_floats(table->size);
    vit_table_init(1, values, table, init, seed);
    return values;
}

static void test_init_timm(void **state) {
    vit_table table = table_of(timm_vit(3));
    float *values = initial(&table, VIT_INIT_TIMM, 1);
    for (size_t i = 0; i < table.count; i++) {
        const vit_parameter *p = &table.rows[i];
        const float *x = values + p->offset;
        const moments m = moments_of(x, p->count);
        if (p->kind == VIT_PARAMETER_WEIGHT || p->kind == VIT_PARAMETER_POSITIONS) {
            /* a normal distribution cut at 2 deviations has .879626 of its deviation */
            assert_moments(&m, .02 * .879626, p->count);
            assert_true(m.least >= -.04 && m.most <= .04 && m.least < -.0399 && m.most > .0399);
        } else if (p->kind == VIT_PARAMETER_CLASS_TOKEN) {
            assert_moments(&m, 1e-6, p->count);
            assert_true(m.most > 2e-6); /* not cut */
        } else {
            assert_all(x, p->count, p->kind == VIT_PARAMETER_GAMMA);
        }
    }
    free(values);
    vit_table_free(&table);
}

static void test_init_torch(void **state) {
    vit_table table = table_of(lecture());
    float *values = initial(&table, VIT_INIT_TORCH, 1);
    for (size_t i = 0; i < table.count; i++) {
        const vit_parameter *p = &table.rows[i];
        const float *x = values + p->offset;
        const moments m = moments_of(x, p->count);
        if (p->kind == VIT_PARAMETER_WEIGHT || p->kind == VIT_PARAMETER_BIAS) {
            const double fan_in = strcmp(p->name, "patch_embed.proj.weight") == 0 ||
                                          strcmp(p->name, "patch_embed.proj.bias") == 0
                                      ? 196
                                      : 128;
            const double bound = 1 / sqrt(fan_in), reached = 1 - 15 / (double)p->count;
            assert_moments(&m, bound / sqrt(3), p->count);
            assert_true(m.least >= (double)-(float)bound && m.most <= (double)(float)bound);
            assert_true(m.least <= -bound * reached && m.most >= bound * reached);
        } else if (p->kind == VIT_PARAMETER_GAMMA || p->kind == VIT_PARAMETER_BETA) {
            assert_all(x, p->count, p->kind == VIT_PARAMETER_GAMMA);
        } else {
            assert_moments(&m, 1, p->count);
            assert_true(m.most > 2 && m.least < -2);
        }
    }
    free(values);
    vit_table_free(&table);
}

static void test_init_is_a_function_of_the_seed(void **state) {
    const uint64_t seeds[] = {0, 1, (uint64_t)1 << 32, UINT64_MAX};
    vit_table table = table_of(lecture());
    const vit_parameter *first = vit_table_find(&table, "blocks.0.mlp.fc1.weight");
    const vit_parameter *next = vit_table_find(&table, "blocks.1.mlp.fc1.weight");
    float *values[4];
    for (size_t i = 0; i < 4; i++) {
        values[i] = initial(&table, VIT_INIT_TORCH, seeds[i]);
        float *again = initial(&table, VIT_INIT_TORCH, seeds[i]);
        assert_memory_equal(values[i], again, table.size * sizeof(float));
        free(again);
        assert_memory_not_equal(values[i] + first->offset, values[i] + next->offset,
                                first->count * sizeof(float));
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(values[i] + first->offset, values[j] + first->offset,
                                    first->count * sizeof(float));
    }
    for (size_t i = 0; i < 4; i++) free(values[i]);
    vit_table_free(&table);
}

/* Whoever draws them: several threads, or a tensor alone. */
static void test_init_is_a_function_of_the_row(void **state) {
    static const vit_init inits[] = {VIT_INIT_TORCH, VIT_INIT_TIMM};
    vit_table table = table_of(lecture());
    float *rows = check_floats(table.size), *threads = check_floats(table.size);
    for (size_t k = 0; k < 2; k++) {
        float *want = initial(&table, inits[k], 4);
        for (size_t i = table.count; i-- > 0;)
            vit_table_init_row(rows + table.rows[i].offset, &table, i, inits[k], 4);
        memset(threads, 0xff, table.size * sizeof *threads);
        vit_table_init(3, threads, &table, inits[k], 4);
        assert_memory_equal(rows, want, table.size * sizeof *want);
        assert_memory_equal(threads, want, table.size * sizeof *want);
        free(want);
    }
    free(rows);
    free(threads);
    vit_table_free(&table);
}

/* ---- packed copies and views ---- */

/* As PyTorch names the modules of nn.Sequential(Conv2d, GELU, Conv2d, GELU, Conv2d). */
static void test_stem_names(void **state) {
    static const tensor some[] = {
        {"stem.0.weight", 4, {96, 3, 3, 3}, VIT_PARAMETER_WEIGHT},
        {"stem.0.bias", 1, {96}, VIT_PARAMETER_BIAS},
        {"stem.2.weight", 4, {192, 96, 3, 3}, VIT_PARAMETER_WEIGHT},
        {"stem.4.weight", 4, {192, 192, 1, 1}, VIT_PARAMETER_WEIGHT},
        {"stem.4.bias", 1, {192}, VIT_PARAMETER_BIAS},
    };
    vit_config c = timm_vit(3);
    c.stem = VIT_STEM_CONV;
    c.patch = 4;
    vit_table table = table_of(c);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) assert_tensor(&table, "", &some[i]);
    assert_null(vit_table_find(&table, "patch_embed.proj.weight"));
    assert_int_equal(table.count, 152 + 4);
    /* weights scaled by what goes in: 96 x 9 */
    float *values = check_floats(table.size);
    const vit_parameter *p = vit_table_find(&table, "stem.2.weight");
    vit_table_init(1, values, &table, VIT_INIT_TIMM, 1);
    const moments m = moments_of(values + p->offset, p->count);
    assert_true(fabs(m.mean) <= .001 && m.most <= 2 * sqrt(2. / 864));
    assert_true(fabs(m.deviation / sqrt(2. / 864) - .88) <= .01); /* cut at two deviations */
    free(values);
    vit_table_free(&table);
}

static void test_pack(void **state) {
    vit_table table = table_of(lecture());
    float *values = initial(&table, VIT_INIT_TORCH, 2);
    const size_t size = table.packed_size;
    float *packed = check_floats(2 * size), *again = check_floats(2 * size);
    const vit_exec one = {.kernels = vit_kernels_scalar(), .threads = 1};
    const vit_exec three = {.kernels = vit_kernels_choose(VIT_CPU_AVX512), .threads = 3};
    memset(packed, 0, 2 * size * sizeof(float));
    memset(again, 0, 2 * size * sizeof(float));
    vit_table_pack(&one, &(vit_packed_weights){packed, packed + size, VIT_PRECISION_F32}, values,
                   &table);
    vit_table_pack(&three, &(vit_packed_weights){again, again + size, VIT_PRECISION_F32}, values,
                   &table);
    assert_memory_equal(packed, again, 2 * size * sizeof(float));
    for (size_t i = 0; i < table.count; i++) {
        const vit_parameter *p = &table.rows[i];
        if (p->kind != VIT_PARAMETER_WEIGHT) continue;
        const float *transposed = packed + p->packed_offset, *rows = transposed + size;
        const size_t in = p->fan_in, out = p->shape[0];
        for (size_t o = 0; o < out; o++)
            for (size_t k = 0; k < in; k++) {
                const float w = values[p->offset + o * in + k];
                const float row = rows[(k / vit_panel() * out + o) * vit_panel() + k % vit_panel()];
                assert_true(check_same(
                    transposed[(o / vit_panel() * in + k) * vit_panel() + o % vit_panel()], w));
                assert_true(check_same(row, p->layer > 0 ? w : 0));
            }
    }
    float *const all[] = {values, packed, again};
    for (size_t i = 0; i < 3; i++) free(all[i]);
    vit_table_free(&table);
}

static void test_views(void **state) {
    const vit_config c = lecture();
    vit_table table = table_of(c);
    float *values = check_floats(table.size), *gradients = check_floats(table.size);
    vit_weights w;
    vit_gradients g;
    assert_int_equal(vit_weights_view(&w, &c, &table, values, &(vit_packed_weights){0}, NULL),
                     VIT_OK);
    assert_int_equal(vit_gradients_view(&g, &c, &table, gradients, false, NULL), VIT_OK);
    const size_t fc2 = vit_table_find(&table, "blocks.5.mlp.fc2.weight")->offset;
    const size_t beta = vit_table_find(&table, "blocks.5.norm2.bias")->offset;
    const size_t head = vit_table_find(&table, "head.2.bias")->offset;
    assert_ptr_equal(w.blocks[5].fc2.weight, values + fc2);
    assert_ptr_equal(g.blocks[5].fc2.weight, gradients + fc2);
    assert_ptr_equal(w.blocks[5].norm2.beta, values + beta);
    assert_ptr_equal(g.blocks[5].norm2.beta, gradients + beta);
    assert_ptr_equal(w.head[1].bias, values + head);
    assert_ptr_equal(g.head[1].bias, gradients + head);
    assert_null(w.blocks[0].qkv.bias);
    assert_null(g.blocks[0].qkv.bias);
    assert_null(w.norm.gamma);
    assert_true(w.patch_embed.in == 196 && w.patch_embed.out == 128);
    vit_weights_free(&w);
    vit_gradients_free(&g);
    free(values);
    free(gradients);
    vit_table_free(&table);
}

/* Pointers to `to` among the `size` bytes of a structure. */
static size_t pointers(const void *structure, size_t size, const float *to) {
    size_t found = 0;
    const float *p;
    for (size_t at = 0; at + sizeof p <= size; at += sizeof p) {
        memcpy(&p, (const char *)structure + at, sizeof p);
        found += p == to;
    }
    return found;
}

/* Every row of the table has one name among the weights, and one among the gradients. */
static void assert_all_bound(const vit_config *c) {
    vit_table table = table_of(*c);
    float *values = check_floats(table.size), *gradients = check_floats(table.size);
    vit_weights w;
    vit_gradients g;
    assert_int_equal(vit_weights_view(&w, c, &table, values, &(vit_packed_weights){0}, NULL),
                     VIT_OK);
    assert_int_equal(vit_gradients_view(&g, c, &table, gradients, false, NULL), VIT_OK);
    for (size_t i = 0; i < table.count; i++) {
        const vit_parameter *p = &table.rows[i];
        const float *x = values + p->offset, *d = gradients + p->offset;
        const size_t layer = p->layer, outside = layer == 0 || layer > c->depth;
        const size_t of_weights = outside ? pointers(&w, sizeof w, x)
                                          : pointers(&w.blocks[layer - 1], sizeof *w.blocks, x);
        const size_t of_gradients = outside ? pointers(&g, sizeof g, d)
                                            : pointers(&g.blocks[layer - 1], sizeof *g.blocks, d);
        if (of_weights != 1 || of_gradients != 1)
            fail_msg("%s: bound %zu times as weight, %zu times as gradient, expected once each",
                     p->name, of_weights, of_gradients);
    }
    vit_weights_free(&w);
    vit_gradients_free(&g);
    free(values);
    free(gradients);
    vit_table_free(&table);
}

static void test_every_row_is_bound_once(void **state) {
    vit_config c = lecture();
    assert_all_bound(&c);
    c.patch_norm = true;
    assert_all_bound(&c);
    c = timm_vit(3);
    c.depth = 2;
    assert_all_bound(&c);
    c.qk_norm = c.layer_scale = c.gated = c.norm_pre = true;
    c.registers = 4;
    c.pool = VIT_POOL_CLASS_DIST;
    assert_all_bound(&c);
    c.stem = VIT_STEM_CONV;
    c.pool = VIT_POOL_MAP;
    assert_all_bound(&c);
    c.stem = VIT_STEM_CCT;
    c.pool = VIT_POOL_SEQ;
    c.patch = 4;
    c.class_token = false;
    c.registers = 0;
    assert_all_bound(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timm_counts),
        cmocka_unit_test(test_timm_names),
        cmocka_unit_test(test_lecture_names),
        cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_stem_names),
        cmocka_unit_test(test_mean_pooling_names),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_init_timm),
        cmocka_unit_test(test_init_torch),
        cmocka_unit_test(test_init_is_a_function_of_the_seed),
        cmocka_unit_test(test_init_is_a_function_of_the_row),
        cmocka_unit_test(test_pack),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_every_row_is_bound_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
