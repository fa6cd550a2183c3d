/* The whole network: against PyTorch (tests/fixtures/make_networks.py), and the same bytes whatever
 * the batch, its slices, the threads and the kernels. */
#include "tests/support/check.h"
#include "tests/support/fixture.h"
#include "tests/support/unit.h"
#include "vit/model/run/network.h"
#include "vit/ops/gemm/gemm.h"
#include "vit/ops/loss.h"
#include "vit/tensors/tensors.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a network with its memory ---- */

typedef struct subject {
    vit_network network;
    vit_table table;
    vit_gradients views;
    vit_arena arena;
    vit_state state;
    float *values, *gradients;
    vit_packed_weights packed;
    size_t pixels; /* of a picture: floats */
} subject;

static subject subject_new(const vit_config *config, size_t capacity, vit_kept kept) {
    subject n = {.network.config = *config};
    const vit_config *c = &n.network.config;
    assert_int_equal(vit_table_new(&n.table, c, NULL), VIT_OK);
    n.pixels = c->height * c->width * c->channels;
    n.values = check_floats(n.table.size);
    n.packed.transposed = check_floats(n.table.packed_size);
    n.gradients = check_floats(n.table.size);
    vit_table_init(1, n.values, &n.table, c->init, 7);
    vit_table_pack(&(vit_exec){.kernels = vit_kernels_scalar(), .threads = 1}, &n.packed, n.values,
                   &n.table);
    vit_arena measure = vit_arena_count();
    vit_state_carve(&n.state, &measure, c, capacity, 8, kept, 0);
    assert_int_equal(vit_arena_init(&n.arena, measure.peak, "a test", NULL), VIT_OK);
    vit_state_carve(&n.state, &n.arena, c, capacity, 8, kept, 0);
    assert_int_equal(n.arena.used, measure.peak); /* it measured what it took */
    assert_int_equal(vit_weights_view(&n.network.weights, c, &n.table, n.values, &n.packed, NULL),
                     VIT_OK);
    assert_int_equal(vit_gradients_view(&n.views, c, &n.table, n.gradients, false, NULL), VIT_OK);
    return n;
}

static void subject_free(subject *n) {
    vit_weights_free(&n->network.weights);
    vit_gradients_free(&n->views);
    vit_arena_free(&n->arena);
    vit_table_free(&n->table);
    free(n->values);
    free(n->packed.transposed);
    free(n->gradients);
}

static void forward(subject *n, vit_exec exec, const float *images, size_t batch) {
    const vit_exec here = vit_network_exec(&n->network, &n->state, exec.kernels, exec.threads);
    vit_network_forward(&n->network, &here, &n->state, images, batch);
}

/* Sum of losses over pictures / total; gradients are added to. */
static double backward(subject *n, vit_exec exec, const int64_t *labels, double smoothing,
                       size_t total) {
    const size_t classes = n->network.config.classes;
    double loss = 0;
    for (size_t i = 0; i < n->state.batch; i++)
        loss += vit_cross_entropy(n->state.head.d_logits + i * classes,
                                  n->state.head.logits + i * classes, classes, (size_t)labels[i],
                                  smoothing, 1 / (double)total);
    const vit_exec here = vit_network_exec(&n->network, &n->state, exec.kernels, exec.threads);
    vit_network_backward(&n->network, &here, &n->state, &n->views);
    return loss / (double)total;
}

static vit_exec best(int threads) {
    return (vit_exec){.kernels = vit_kernels_choose(VIT_CPU_AVX512), .threads = threads};
}

/* ---- fixtures ---- */

static vit_tensors *fixture_open(const char *name) {
    char path[200];
    vit_error error;
    vit_tensors *file;
    snprintf(path, sizeof path, "tests/fixtures/networks/%s.safetensors", name);
    if (vit_tensors_open(&file, path, &error) != VIT_OK) fail_msg("%s", error.message);
    return file;
}

static double fixture_double(const vit_tensors *file, const char *name, size_t index) {
    const vit_tensor *t = fixture_tensor(file, name, "");
    assert_true(t->dtype == VIT_F64 && index < t->count);
    double value;
    memcpy(&value, (const char *)t->data + index * sizeof value, sizeof value);
    return value;
}

static int64_t *fixture_labels(const vit_tensors *file, const char *name) {
    const vit_tensor *t = fixture_tensor(file, name, "");
    assert_int_equal(t->dtype, VIT_I64);
    int64_t *labels = malloc(t->count * sizeof *labels);
    assert_non_null(labels);
    memcpy(labels, t->data, t->count * sizeof *labels);
    return labels;
}

/* The network that the fixture describes, with its weights. */
static subject fixture_subject(const vit_tensors *file) {
    vit_config c = vit_config_default();
    assert_int_equal(vit_config_read(&c, vit_tensors_metadata(file, "config"), "", NULL), VIT_OK);
    subject n = subject_new(&c, fixture_tensor(file, "input", "")->shape[0], VIT_KEPT_ALL);
    fixture_read_parameters(file, &n.table, n.values);
    vit_table_pack(&(vit_exec){.kernels = vit_kernels_scalar(), .threads = 1}, &n.packed, n.values,
                   &n.table);
    return n;
}

static double gradient_norm(const subject *n) {
    double sum = 0;
    for (size_t i = 0; i < n->table.size; i++)
        sum += (double)n->gradients[i] * (double)n->gradients[i];
    return sqrt(sum);
}

/* Whether the recipe says `key`. */
static bool has_key(const vit_tensors *file, const char *key) {
    return strstr(vit_tensors_metadata(file, "recipe"), key);
}

/* multi_label has another loss: test_train.c. */
static void compare_gradients(const char *name) {
    vit_tensors *file = fixture_open(name);
    if (has_key(file, "\"multi_label\"")) {
        vit_tensors_close(file);
        return;
    }
    subject n = fixture_subject(file);
    float *input = fixture_floats(file, "input", ""), *logits = fixture_floats(file, "logits", "");
    int64_t *labels = fixture_labels(file, "labels");
    float *keep = NULL;
    const size_t batch = n.state.capacity;
    const vit_tensor *images = fixture_tensor(file, "input", "");
    const vit_config *c = &n.network.config;
    const size_t shape[] = {batch, c->height, c->width, c->channels};
    assert_memory_equal(images->shape, shape, sizeof shape);
    if (vit_tensors_find(file, "keep")) n.state.keep = keep = fixture_floats(file, "keep", "");
    forward(&n, best(1), input, batch);
    assert_true(check_difference(n.state.head.logits, logits, batch * c->classes) <= 1e-5);
    const double loss = backward(&n, best(1), labels, 0, batch);
    assert_true(fabs(loss - fixture_double(file, "loss", 0)) <= 1e-5 * loss);
    fixture_check_gradients(file, &n.table, n.gradients);
    float *const all[] = {input, logits, keep};
    for (size_t i = 0; i < 3; i++) free(all[i]);
    free(labels);
    subject_free(&n);
    vit_tensors_close(file);
}

static void test_pytorch(void **state) {
    fixture_each("tests/fixtures/networks", compare_gradients);
}

/* With label smoothing: loss and norm of the gradient in the first step of the stored training,
 * where all blocks are kept. */
static void compare_smoothed(const char *name) {
    vit_tensors *file = fixture_open(name);
    if (has_key(file, "\"multi_label\"") || has_key(file, "\"drop_path\"")) {
        vit_tensors_close(file);
        return;
    }
    subject n = fixture_subject(file);
    float *input = fixture_floats(file, "input.0", "");
    int64_t *labels = fixture_labels(file, "labels.0");
    assert_true(has_key(file, "\"label_smoothing\": 0.1,"));
    forward(&n, best(1), input, n.state.capacity);
    const double loss = backward(&n, best(1), labels, .1, n.state.capacity);
    assert_true(fabs(loss - fixture_double(file, "train.loss", 0)) <= 1e-5 * loss);
    const double norm = fixture_double(file, "train.norm", 0);
    assert_true(fabs(gradient_norm(&n) - norm) <= 1e-5 * norm);
    free(input);
    free(labels);
    subject_free(&n);
    vit_tensors_close(file);
}

static void test_pytorch_smoothing(void **state) {
    fixture_each("tests/fixtures/networks", compare_smoothed);
}

/* ---- the same bytes ---- */

#define BATCH 64

/* Ragged everywhere: 5 tokens, dim 40, heads of 10, MLP 50, 7 classes. */
typedef enum form {
    TIMM,
    LECTURE,
    ORIGINAL,
    CONVOLVES,
    GATED,
    MAP,
    CCT,
    TURNED,
    RELATIVE,
    FORMS
} form;

static vit_config ragged(form f) {
    vit_config c = vit_config_default();
    c.height = c.width = 6;
    c.channels = 3;
    c.patch = 3;
    c.dim = 40;
    c.depth = 2;
    c.heads = 4;
    c.mlp = 50;
    c.classes = 7;
    c.init = VIT_INIT_TORCH; /* larger weights: more happens */
    if (f == ORIGINAL) {
        c.norm = VIT_NORM_POST;
        c.activation = VIT_RELU;
        c.positions = VIT_POSITIONS_SINCOS2D;
        c.pool = VIT_POOL_MEAN;
        c.class_token = false;
    }
    if (f == CONVOLVES) {
        c.stem = VIT_STEM_CONV;
        c.height = 4;
        c.width = 12;
        c.patch = 4;
    }
    if (f == GATED) {
        c.gated = c.layer_scale = c.qk_norm = c.norm_pre = c.patch_norm = c.norm_before_pool = true;
        c.patch_order = VIT_PATCH_PIXEL;
        c.activation = VIT_SILU;
        c.head_dim = 13;
        c.pool = VIT_POOL_MEAN;
    }
    if (f == MAP) {
        c.pool = VIT_POOL_MAP;
        c.activation = VIT_GELU_TANH;
        c.prefix_positions = false;
        c.registers = 3;
    }
    if (f == RELATIVE) {
        c.relative = VIT_RELATIVE_BLOCKS;
        c.init = VIT_INIT_TIMM;
    }
    if (f == TURNED) {
        c.rope = VIT_ROPE_MIXED;
        c.rope_base = 10;
        c.head_dim = 12;
        c.registers = 2;
    }
    if (f == CCT) {
        c.stem = VIT_STEM_CCT;
        c.height = 4;
        c.width = 12;
        c.patch = 4;
        c.pool = VIT_POOL_SEQ;
        c.class_token = false;
    }
    if (f != LECTURE) return c;
    c.patch_order = VIT_PATCH_PIXEL;
    c.qkv_bias = c.final_norm = false;
    c.attention_scale = VIT_SCALE_DIM;
    c.head = VIT_HEAD_MLP;
    return c;
}

typedef struct data {
    float *images;
    int64_t labels[BATCH];
} data;

static data data_new(const subject *n) {
    data d = {.images = check_floats(BATCH * n->pixels)};
    vit_random r = check_random(11);
    check_fill(d.images, BATCH * n->pixels, 2, &r);
    for (size_t i = 0; i < BATCH; i++)
        d.labels[i] = vit_random_below(&r, (uint32_t)n->network.config.classes);
    return d;
}

/* Forward and backward over the batch in slices of `slice`; logits: [BATCH][classes]. */
static void run_slices(subject *n, vit_exec exec, const data *d, size_t slice, float *logits) {
    const size_t classes = n->network.config.classes;
    memset(n->gradients, 0, n->table.size * sizeof(float));
    for (size_t i = 0; i < BATCH; i += slice) {
        const size_t count = BATCH - i < slice ? BATCH - i : slice;
        forward(n, exec, d->images + i * n->pixels, count);
        backward(n, exec, d->labels + i, .1, BATCH);
        memcpy(logits + i * classes, n->state.head.logits, count * classes * sizeof(float));
    }
}

/* One accumulator of gradients, slices in order: a chain goes on where the slice before left it, so
 * not only the logits are the same. */
static void check_slices(form f) {
    static const size_t slices[] = {1, 3, 16, 63};
    const vit_config c = ragged(f);
    subject n = subject_new(&c, BATCH, VIT_KEPT_ALL);
    const data d = data_new(&n);
    float *want = check_floats(BATCH * c.classes), *got = check_floats(BATCH * c.classes);
    float *gradients = check_floats(n.table.size);
    run_slices(&n, best(1), &d, BATCH, want);
    memcpy(gradients, n.gradients, n.table.size * sizeof(float));
    for (size_t i = 0; i < 4; i++) {
        run_slices(&n, best(1), &d, slices[i], got);
        assert_memory_equal(got, want, BATCH * c.classes * sizeof(float));
        assert_memory_equal(n.gradients, gradients, n.table.size * sizeof(float));
    }
    float *const all[] = {want, got, gradients, d.images};
    for (size_t i = 0; i < 4; i++) free(all[i]);
    subject_free(&n);
}

static void test_slices(void **state) {
    for (form f = 0; f < FORMS; f++) check_slices(f);
}

/* A lane's first slice writes what is else added to zeros. */
static void check_first_slice(form f) {
    const vit_config c = ragged(f);
    const size_t half = BATCH / 2;
    subject n = subject_new(&c, BATCH, VIT_KEPT_ALL);
    const data d = data_new(&n);
    float *want = check_floats(n.table.size), *logits = check_floats(BATCH * c.classes);
    run_slices(&n, best(1), &d, half, logits);
    memcpy(want, n.gradients, n.table.size * sizeof(float));
    vit_gradients first, others = n.views;
    assert_int_equal(vit_gradients_view(&first, &c, &n.table, n.gradients, true, NULL), VIT_OK);
    vit_gradients_clear(n.gradients, &n.table);
    for (size_t i = 0; i < 2; i++) {
        n.views = i == 0 ? first : others;
        forward(&n, best(1), d.images + i * half * n.pixels, half);
        backward(&n, best(1), d.labels + i * half, .1, BATCH);
    }
    assert_memory_equal(n.gradients, want, n.table.size * sizeof(float));
    float *const all[] = {want, logits, d.images};
    for (size_t i = 0; i < 3; i++) free(all[i]);
    vit_gradients_free(&first);
    subject_free(&n);
}

static void test_first_slice(void **state) {
    for (form f = 0; f < FORMS; f++) check_first_slice(f);
}

/* b's weights = a's; what b has more in a row of its head is zeros. */
static void copy_weights(subject *b, const subject *a) {
    for (size_t i = 0; i < a->table.count; i++) {
        const vit_parameter *from = &a->table.rows[i], *to = &b->table.rows[i];
        const size_t rows = to->count == from->count ? 1 : from->shape[0];
        assert_string_equal(from->name, to->name);
        memset(b->values + to->offset, 0, to->count * sizeof(float));
        for (size_t r = 0; r < rows; r++)
            memcpy(b->values + to->offset + r * (to->count / rows),
                   a->values + from->offset + r * (from->count / rows),
                   from->count / rows * sizeof(float));
    }
    const vit_exec exec = best(1);
    vit_table_pack(&exec, &b->packed, b->values, &b->table);
}

/* Of the last block only the class token is computed: as if all tokens were, and the others did not
 * count. */
static void check_last_block(const vit_config *c) {
    vit_config with_mean = *c;
    with_mean.pool = VIT_POOL_CLASS_MEAN;
    subject one = subject_new(c, BATCH, true), all = subject_new(&with_mean, BATCH, VIT_KEPT_ALL);
    const data d = data_new(&one);
    const size_t tokens = vit_config_tokens(c), count = BATCH * c->classes;
    float *logits = check_floats(count), *want = check_floats(count);
    assert_int_equal(vit_block_outputs(c, VIT_KEPT_NOTHING, c->depth - 1), 1);
    assert_int_equal(vit_block_outputs(&with_mean, VIT_KEPT_NOTHING, c->depth - 1), tokens);
    copy_weights(&all, &one);
    run_slices(&all, best(1), &d, BATCH, want);
    run_slices(&one, best(1), &d, BATCH, logits);
    assert_memory_equal(logits, want, count * sizeof(float));
    for (size_t i = 0; i < one.table.count; i++) {
        const vit_parameter *p = &one.table.rows[i], *q = &all.table.rows[i];
        if (p->count != q->count) continue;
        const double error =
            check_difference(one.gradients + p->offset, all.gradients + q->offset, p->count);
        if (!(error <= 1e-6)) fail_msg("gradient of %s is off by %.3g", p->name, error);
    }
    float *const arrays[] = {logits, want, d.images};
    for (size_t i = 0; i < 3; i++) free(arrays[i]);
    subject_free(&one);
    subject_free(&all);
}

static void test_last_block(void **state) {
    static const size_t head_dims[] = {0, 3, 13, 70};
    for (size_t i = 0; i < 16; i++) {
        vit_config c = ragged(i & 1 ? GATED : TIMM);
        c.pool = VIT_POOL_CLASS;
        c.class_token = true;
        c.qk_norm = c.final_norm = c.norm_before_pool = false;
        c.norm = i & 2 ? VIT_NORM_POST : VIT_NORM_PRE;
        c.head_dim = head_dims[i / 4];
        check_last_block(&c);
    }
}

/* A block of the preset for MNIST: large enough for threads to be woken. */
static vit_config mnist(void) {
    vit_config c = ragged(TIMM);
    c.height = c.width = 28;
    c.channels = 1;
    c.patch = 7;
    c.dim = 64;
    c.depth = 1;
    c.heads = 8;
    c.mlp = 128;
    c.classes = 10;
    return c;
}

static void check_kernels_and_threads(vit_config c) {
    static const int threads[] = {1, 2, 3, 8};
    const vit_kernels *tables[CHECK_MOST_TABLES];
    const size_t table_count = check_tables(tables);
    subject n = subject_new(&c, BATCH, VIT_KEPT_ALL);
    const data d = data_new(&n);
    float *want = check_floats(BATCH * c.classes), *got = check_floats(BATCH * c.classes);
    float *gradients = check_floats(n.table.size);
    run_slices(&n, (vit_exec){.kernels = vit_kernels_scalar(), .threads = 1}, &d, BATCH, want);
    memcpy(gradients, n.gradients, n.table.size * sizeof(float));
    for (size_t t = 0; t < table_count; t++) {
        for (size_t i = 0; i < 4; i++) {
            run_slices(&n, (vit_exec){.kernels = tables[t], .threads = threads[i]}, &d, BATCH, got);
            assert_memory_equal(got, want, BATCH * c.classes * sizeof(float));
            assert_memory_equal(n.gradients, gradients, n.table.size * sizeof(float));
        }
    }
    float *const all[] = {want, got, gradients, d.images};
    for (size_t i = 0; i < 4; i++) free(all[i]);
    subject_free(&n);
}

static void test_kernels_and_threads(void **state) {
    for (form f = 0; f < FORMS; f++) check_kernels_and_threads(ragged(f));
    check_kernels_and_threads(mnist());
}

/* Inference shares its buffers between blocks, training does not; products longer than a block of k
 * store running values on the way. */
static void check_inference(vit_config c) {
    subject training = subject_new(&c, BATCH, VIT_KEPT_ALL),
            inference = subject_new(&c, 5, VIT_KEPT_NOTHING);
    const data d = data_new(&training);
    forward(&training, best(1), d.images, BATCH);
    for (size_t i = 0; i < BATCH; i += 5) {
        const size_t count = BATCH - i < 5 ? BATCH - i : 5;
        forward(&inference, best(2), d.images + i * inference.pixels, count);
        assert_memory_equal(inference.state.head.logits, training.state.head.logits + i * c.classes,
                            count * c.classes * sizeof(float));
        assert_memory_equal(inference.state.pool.features, training.state.pool.features + i * c.dim,
                            count * c.dim * sizeof(float));
    }
    free(d.images);
    subject_free(&training);
    subject_free(&inference);
}

static void test_inference(void **state) {
    for (form f = 0; f < FORMS; f++) check_inference(ragged(f));
    for (form f = 0; f < FORMS; f++) {
        vit_config wide = ragged(f);
        wide.dim = 264;
        wide.mlp = VIT_K_BLOCK + 8;
        wide.depth = 3;
        check_inference(wide);
    }
}

/* A NaN pixel makes all logits of its picture NaN, and changes no other picture's. */
static void test_nan(void **state) {
    const vit_config c = ragged(TIMM);
    subject n = subject_new(&c, BATCH, VIT_KEPT_NOTHING);
    const data d = data_new(&n);
    float *want = check_floats(BATCH * c.classes);
    forward(&n, best(1), d.images, BATCH);
    memcpy(want, n.state.head.logits, BATCH * c.classes * sizeof(float));
    d.images[33 * n.pixels + 17] = NAN;
    for (size_t j = 0; j < c.classes; j++) want[33 * c.classes + j] = NAN;
    forward(&n, best(1), d.images, BATCH);
    const size_t count = BATCH * c.classes;
    assert_int_equal(check_first_other(n.state.head.logits, want, count), count);
    free(want);
    free(d.images);
    subject_free(&n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pytorch),    cmocka_unit_test(test_pytorch_smoothing),
        cmocka_unit_test(test_slices),     cmocka_unit_test(test_first_slice),
        cmocka_unit_test(test_last_block), cmocka_unit_test(test_kernels_and_threads),
        cmocka_unit_test(test_inference),  cmocka_unit_test(test_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
