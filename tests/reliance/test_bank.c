/* Memory banks: distances, scores and coresets against PyTorch's (tests/fixtures/make_bank.py), and
 * the file: every bit of a small one turned, cut at every length, in the place of others. */
#include "tests/support/fixture.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/reliance/bank.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- against PyTorch ---- */

static double number_at(const json_t *json, const char *key, size_t i) {
    return json_number_value(json_array_get(json_object_get(json, key), i));
}

static int16_t *read_integers(const json_t *rows, size_t dim) {
    const size_t count = json_array_size(rows);
    float *features = calloc(count * dim, sizeof *features);
    int16_t *integers = calloc(count * dim, sizeof *integers);
    for (size_t i = 0; i < count * dim; i++)
        features[i] =
            (float)json_number_value(json_array_get(json_array_get(rows, i / dim), i % dim));
    vit_bank_integers(integers, features, count, dim);
    free(features);
    return integers;
}

static void check_coreset(const json_t *json, const vit_bank *b) {
    const size_t keep = json_array_size(json_object_get(json, "coreset"));
    size_t *kept = calloc(keep, sizeof *kept);
    vit_error error;
    assert_int_equal(vit_bank_coreset(kept, keep, b->features, b->rows, b->dim, 2, &error), VIT_OK);
    for (size_t i = 0; i < keep; i++) assert_true((double)kept[i] == number_at(json, "coreset", i));
    free(kept);
}

static void check_case(const json_t *json) {
    const json_t *bank = json_object_get(json, "bank"), *query = json_object_get(json, "query");
    const size_t patches = json_array_size(query), dim = json_array_size(json_array_get(query, 0));
    const size_t pictures = json_array_size(json_object_get(json, "alone"));
    vit_bank b = {.dim = dim, .rows = json_array_size(bank), .features = read_integers(bank, dim)};
    int16_t *queries = read_integers(query, dim);
    double *distances = calloc(patches, sizeof *distances);
    for (vit_cpu cpu = VIT_CPU_SCALAR; cpu < VIT_CPU_COUNT; cpu++)
        for (int threads = 1; threads < 4; threads += 2) {
            vit_bank_distances(distances, &b, queries, patches, 0, 0, threads, cpu, NULL);
            for (size_t i = 0; i < patches; i++)
                assert_true(fabs(distances[i] - number_at(json, "distances", i)) < 1e-4);
        }
    const double score = vit_bank_score(distances, patches);
    assert_true(fabs(score - json_number_value(json_object_get(json, "score"))) < 1e-4);
    for (size_t i = 0; i < pictures; i++) {
        vit_bank_distances(distances, &b, b.features + i * patches * dim, patches, i * patches,
                           (i + 1) * patches, 2, VIT_CPU_COUNT, NULL);
        assert_true(fabs(vit_bank_score(distances, patches) - number_at(json, "alone", i)) < 1e-4);
    }
    check_coreset(json, &b);
    free(b.features);
    free(queries);
    free(distances);
}

static void test_distances_are_those_of_pytorch(void **state) {
    json_t *file = read_json("tests/fixtures/bank.json");
    const json_t *cases = json_object_get(file, "cases");
    assert_int_equal(json_array_size(cases), 3);
    for (size_t i = 0; i < 3; i++) check_case(json_array_get(cases, i));
    json_decref(file);
}

/* ---- by definition ---- */

static double nearest(const int16_t *query, const vit_bank *b, size_t first, size_t end) {
    int64_t largest = INT64_MIN;
    for (size_t i = 0; i < b->rows; i++) {
        int64_t sum = 0;
        for (size_t j = 0; j < b->dim; j++) sum += query[j] * b->features[i * b->dim + j];
        if ((i < first || i >= end) && sum > largest) largest = sum;
    }
    return fmax(1 - (double)largest / ((double)VIT_BANK_LENGTH * VIT_BANK_LENGTH), 0);
}

/* Sizes that fill no tile, with rows left out. */
static void test_every_size_is_exact(void **state) {
    static const size_t dims[] = {1, 2, 7, 48}, counts[] = {3, 24, 61, 600},
                        queries[] = {1, 16, 37};
    static int16_t integers[637 * 48];
    static float features[637 * 48];
    double distances[37];
    for (size_t i = 0; i < 637 * 48; i++)
        features[i] = (float)((uint32_t)i * 2654435761U >> 8) - 8388608;
    for (size_t t = 0; t < 4 * 4 * 3 * VIT_CPU_COUNT; t++) {
        const size_t dim = dims[t % 4], patches = queries[t / 16 % 3];
        vit_bank b = {.dim = dim, .rows = counts[t / 4 % 4], .features = integers};
        vit_bank_integers(integers, features, b.rows + patches, dim);
        const int16_t *asked = integers + b.rows * dim;
        vit_bank_distances(distances, &b, asked, patches, 1, 2, 2, (vit_cpu)(t / 48), NULL);
        for (size_t i = 0; i < patches; i++)
            assert_true(distances[i] == nearest(asked + i * dim, &b, 1, 2));
    }
}

/* ---- pictures ---- */

enum { PICTURES = 12, SIDE = 28 };
static char mnist[4096];

typedef struct made {
    vit_model *model;
    vit_session *session;
    vit_bank *bank;
} made;

static vit_picture picture_of(uint8_t *pixels, uint32_t i) {
    vit_draw_digit(pixels, 1, i);
    return (vit_picture){.name = "drawn",
                         .pixels = pixels,
                         .width = SIDE,
                         .height = SIDE,
                         .channels = 1,
                         .stride = SIDE};
}

/* A bank of drawn digits by the shipped model, small if `coreset` is. */
static made make(double coreset, int threads) {
    static uint8_t pixels[PICTURES][SIDE * SIDE];
    vit_picture pictures[PICTURES];
    const vit_bank_options options = {.coreset = coreset, .threads = threads, .name = "drawn"};
    made m;
    vit_error error;
    for (uint32_t i = 0; i < PICTURES; i++) pictures[i] = picture_of(pixels[i], i);
    assert_int_equal(vit_model_load(&m.model, mnist, &error), VIT_OK);
    assert_int_equal(vit_session_new(&m.session, m.model, NULL, &error), VIT_OK);
    assert_int_equal(
        vit_bank_new(&m.bank, m.model, m.session, pictures, PICTURES, &options, NULL, &error),
        VIT_OK);
    return m;
}

static void unmake(made *m) {
    vit_bank_free(m->bank);
    vit_session_free(m->session);
    vit_model_free(m->model);
}

static void test_a_good_picture_is_told_from_noise(void **state) {
    made m = make(0, 1), again = make(0, 3);
    uint8_t digit[SIDE * SIDE], noise[SIDE * SIDE];
    const vit_bank_info info = vit_bank_describe(m.bank);
    const size_t patches = info.rows * info.columns;
    vit_picture pictures[] = {picture_of(digit, 100), picture_of(noise, 0), {.name = "absent"}};
    vit_anomaly found[3];
    vit_answer answers[3];
    vit_error error;
    double threshold;
    float *maps = calloc(3 * patches, sizeof *maps);
    for (size_t i = 0; i < SIDE * SIDE; i++) noise[i] = (uint8_t)(i * 2654435761U >> 16);
    assert_int_equal(info.patches, PICTURES * patches);
    assert_memory_equal(m.bank->features, again.bank->features,
                        info.patches * info.dim * sizeof(int16_t));
    assert_memory_equal(m.bank->scores, again.bank->scores, PICTURES * sizeof(double));
    assert_int_equal(
        vit_bank_test(m.bank, m.model, m.session, pictures, 3, NULL, found, maps, answers, &error),
        VIT_OK);
    assert_int_equal(vit_bank_threshold(m.bank, .1, &threshold, &error), VIT_OK);
    assert_true(found[0].score < found[1].score && threshold > info.scores[PICTURES - 1]);
    assert_true(isnan(found[2].score) && isnan(maps[2 * patches]));
    for (double rate = .1; rate < 1; rate += .1)
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(vit_bank_threshold(m.bank, rate, &threshold, &error), VIT_OK);
            assert_true((found[i].score >= threshold) == (found[i].p_value <= rate + 1e-12));
        }
    assert_int_equal(answers[2].error.status, VIT_ERROR_IO);
    assert_int_equal(vit_bank_threshold(m.bank, .05, &threshold, &error), VIT_ERROR_ARGUMENT);
    assert_says(&error, VIT_ERROR_ARGUMENT, "at least 19 good pictures", "the bank has 12");
    free(maps);
    unmake(&m);
    unmake(&again);
}

/* ---- the file ---- */

static vit_status load(const char *path, vit_error *error) {
    vit_bank *b;
    const vit_status status = vit_bank_load(&b, path, error);
    vit_bank_free(b);
    return status;
}

static void test_damage_is_refused(void **state) {
    made m = make(.02, 1);
    vit_bytes bytes;
    vit_bank *read;
    vit_error error;
    assert_int_equal(vit_bank_save(m.bank, "bank", &error), VIT_OK);
    assert_int_equal(vit_bank_load(&read, "bank", &error), VIT_OK);
    assert_int_equal(vit_bank_check(read, m.model, m.session, &error), VIT_OK);
    vit_bank_free(read);
    assert_int_equal(vit_read_file(&bytes, "bank", 1 << 20, &error), VIT_OK);
    for (size_t i = 0; i < bytes.size; i++) {
        bytes.data[i] ^= (uint8_t)(1 << i % 8);
        put_bytes("turned", bytes.data, bytes.size);
        bytes.data[i] ^= (uint8_t)(1 << i % 8);
        assert_int_equal(load("turned", &error), VIT_ERROR_FORMAT);
        put_bytes("cut", bytes.data, i);
        assert_int_equal(load("cut", &error), VIT_ERROR_FORMAT);
    }
    put_bytes("longer", bytes.data, bytes.size + 1);
    assert_int_equal(load("longer", &error), VIT_ERROR_FORMAT);
    put_file("notes", "{\"vit_bank\": 1, and notes of mine\n");
    assert_int_equal(vit_bank_save(m.bank, "notes", &error), VIT_ERROR_MISMATCH);
    assert_content("notes", "{\"vit_bank\": 1, and notes of mine\n");
    assert_int_equal(load(".", &error), VIT_ERROR_IO);
    vit_free(bytes.data);
    unmake(&m);
}

static void test_another_model_is_refused(void **state) {
    made m = make(.02, 1);
    vit_session *session;
    vit_error error;
    const vit_session_options int8 = {.precision = VIT_PRECISION_INT8};
    assert_int_equal(vit_session_new(&session, m.model, &int8, &error), VIT_OK);
    assert_int_equal(vit_bank_check(m.bank, m.model, session, &error), VIT_ERROR_MISMATCH);
    assert_says(&error, VIT_ERROR_MISMATCH, "other features", "build it again");
    vit_session_free(session);
    unmake(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distances_are_those_of_pytorch),
        cmocka_unit_test(test_every_size_is_exact),
        cmocka_unit_test(test_a_good_picture_is_told_from_noise),
        IN_MEMORY(test_damage_is_refused),
        IN_MEMORY(test_another_model_is_refused),
    };
    char root[4000];
    if (!getcwd(root, sizeof root)) return 1;
    snprintf(mnist, sizeof mnist, "%s/models/mnist.safetensors", root);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
