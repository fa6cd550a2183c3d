/* Prediction sets against NumPy's (tests/fixtures/make_conformal.py), and the file of a
 * calibration: every bit of a small one turned, cut at every length, in the place of others. */
#include "tests/support/fixture.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/reliance/conformal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sets ---- */

static size_t size_of(const json_t *object, const char *key) {
    return (size_t)json_integer_value(json_object_get(object, key));
}

static void read_row(float *row, const json_t *list) {
    for (size_t i = 0; i < json_array_size(list); i++)
        row[i] = (float)json_number_value(json_array_get(list, i));
}

/* The calibration of a case: its first pictures with their labels. */
static vit_calibration calibration_of(const json_t *json) {
    vit_calibration c = {.classes = size_of(json, "classes"), .images = size_of(json, "pictures")};
    const json_t *rows = json_object_get(json, "probabilities");
    float *row = calloc(c.classes, sizeof *row);
    size_t *order = calloc(c.classes, sizeof *order);
    c.pictures = calloc(c.images, sizeof *c.pictures);
    for (size_t i = 0; i < c.images; i++) {
        const json_t *label = json_array_get(json_object_get(json, "labels"), i);
        read_row(row, json_array_get(rows, i));
        c.pictures[i].label = (size_t)json_integer_value(label);
        vit_conformal_scores(c.pictures[i].scores, row, c.pictures[i].label, order, c.classes);
    }
    free(row);
    free(order);
    return c;
}

/* The sets of the pictures after those of the calibration. */
static void check_sets(const vit_set_rule *rule, const json_t *json, const json_t *expected) {
    const json_t *rows = json_object_get(json, "probabilities");
    const json_t *sets = json_object_get(expected, "sets");
    const size_t first = size_of(json, "pictures"), classes = size_of(json, "classes");
    float *row = calloc(classes, sizeof *row);
    size_t *set = calloc(classes, sizeof *set);
    assert_true(json_array_size(sets) > 0);
    for (size_t i = 0; i < json_array_size(sets); i++) {
        const json_t *want = json_array_get(sets, i);
        read_row(row, json_array_get(rows, first + i));
        const size_t count = vit_prediction_set(rule, row, set);
        assert_int_equal(count, json_array_size(want));
        for (size_t k = 0; k < count; k++)
            assert_int_equal(set[k], json_integer_value(json_array_get(want, k)));
    }
    free(row);
    free(set);
}

static void test_sets_are_those_of_the_definition(void **state) {
    json_t *file = read_json("tests/fixtures/conformal.json");
    const json_t *cases = json_object_get(file, "cases");
    vit_error error;
    size_t refused = 0;
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *json = json_array_get(cases, i);
        vit_calibration c = calibration_of(json);
        for (vit_conformal_score score = 0; score < VIT_CONFORMAL_COUNT; score++) {
            const json_t *expected =
                json_object_get(json_object_get(json, "expected"), vit_conformal_name(score));
            const vit_set_options options = {json_number_value(json_object_get(json, "coverage")),
                                             score,
                                             json_is_true(json_object_get(json, "by_class"))};
            vit_set_rule *rule;
            const vit_status status = vit_set_rule_new(&rule, &c, &options, &error);
            assert_int_equal(status, json_is_null(expected) ? VIT_ERROR_ARGUMENT : VIT_OK);
            refused += status != VIT_OK;
            if (status == VIT_OK) check_sets(rule, json, expected);
            vit_set_rule_free(rule);
        }
        free(c.pictures);
    }
    assert_int_equal(refused, 6); /* two cases of three scores have too few pictures */
    json_decref(file);
}

static void test_how_many_pictures_a_coverage_needs(void **state) {
    assert_int_equal(vit_conformal_needs(.5), 1);
    assert_int_equal(vit_conformal_needs(.9), 9);
    assert_int_equal(vit_conformal_needs(.95), 19);
    assert_int_equal(vit_conformal_needs(.99), 99);
    assert_int_equal(vit_conformal_needs(.999), 999);
}

/* ---- the file ---- */

typedef struct made {
    vit_model *model;
    vit_session *session;
    vit_calibration *calibration;
} made;

enum { PICTURES = 40, SIDE = 28 };

/* A model of drawn digits after one step, calibrated with others, in small.calibration. */
static made make(void) {
    static uint8_t images[2 * PICTURES][SIDE * SIDE];
    int64_t labels[2 * PICTURES];
    vit_error error;
    made m = {NULL};
    for (uint32_t i = 0; i < 2 * PICTURES; i++) labels[i] = vit_draw_digit(images[i], 1, i);
    const vit_arrays data = {.height = SIDE,
                             .width = SIDE,
                             .channels = 1,
                             .classes = 10,
                             .train = {images[0], labels, PICTURES},
                             .test = {images[PICTURES], labels + PICTURES, PICTURES}};
    const vit_train_options training = {.arrays = &data,
                                        .data = "drawn",
                                        .preset = "digits",
                                        .steps = 1,
                                        .out = "small.safetensors"};
    const vit_evaluate_options choice = {.arrays = &data, .data = "drawn"};
    assert_int_equal(vit_train(&m.model, &training, &error), VIT_OK);
    assert_int_equal(vit_session_new(&m.session, m.model, NULL, &error), VIT_OK);
    assert_int_equal(vit_calibration_new(&m.calibration, m.model, &choice, &error), VIT_OK);
    assert_int_equal(vit_calibration_save(m.calibration, "small.calibration", &error), VIT_OK);
    return m;
}

static void unmake(made *m) {
    vit_calibration_free(m->calibration);
    vit_session_free(m->session);
    vit_model_free(m->model);
}

static vit_status load(const made *m, const char *path, vit_error *error) {
    vit_calibration *c;
    const vit_status status = vit_calibration_load(&c, path, m->model, m->session, error);
    vit_calibration_free(c);
    return status;
}

static void test_a_file_has_the_same_scores(void **state) {
    made m = make();
    vit_calibration *c;
    vit_error error;
    assert_int_equal(vit_calibration_load(&c, "small.calibration", m.model, m.session, &error),
                     VIT_OK);
    const vit_calibration_info info = vit_calibration_describe(c);
    assert_int_equal(info.images, PICTURES);
    assert_int_equal(info.classes, 10);
    assert_string_equal(info.data, "drawn");
    assert_memory_equal(c->pictures, m.calibration->pictures, PICTURES * sizeof *c->pictures);
    vit_calibration_free(c);
    unmake(&m);
}

static void test_damage_is_refused(void **state) {
    made m = make();
    vit_bytes bytes;
    vit_error error;
    assert_int_equal(vit_read_file(&bytes, "small.calibration", 1 << 20, &error), VIT_OK);
    for (size_t i = 0; i < 8 * bytes.size; i++) {
        bytes.data[i / 8] ^= (uint8_t)(1 << i % 8);
        put_bytes("turned", bytes.data, bytes.size);
        bytes.data[i / 8] ^= (uint8_t)(1 << i % 8);
        assert_int_equal(load(&m, "turned", &error), VIT_ERROR_FORMAT);
    }
    for (size_t size = 0; size < bytes.size; size++) {
        put_bytes("cut", bytes.data, size);
        assert_int_equal(load(&m, "cut", &error), VIT_ERROR_FORMAT);
    }
    bytes.data[bytes.size] = '\n';
    put_bytes("longer", bytes.data, bytes.size + 1);
    assert_int_equal(load(&m, "longer", &error), VIT_ERROR_FORMAT);
    assert_says(&error, VIT_ERROR_FORMAT, "longer", "damaged");
    vit_free(bytes.data);
    unmake(&m);
}

static void test_another_model_is_refused(void **state) {
    made m = make();
    vit_error error;
    const vit_session_options int8 = {.precision = VIT_PRECISION_INT8};
    vit_session_free(m.session);
    assert_int_equal(vit_session_new(&m.session, m.model, &int8, &error), VIT_OK);
    assert_int_equal(load(&m, "small.calibration", &error), VIT_ERROR_MISMATCH);
    assert_says(&error, VIT_ERROR_MISMATCH, "answers otherwise", "precision");
    unmake(&m);
}

static void test_what_is_no_calibration_is_not_replaced(void **state) {
    made m = make();
    vit_error error;
    put_file("notes", "{\"vit_calibration\": 1, and notes of mine\n");
    assert_int_equal(vit_calibration_save(m.calibration, "notes", &error), VIT_ERROR_MISMATCH);
    assert_content("notes", "{\"vit_calibration\": 1, and notes of mine\n");
    assert_int_equal(vit_calibration_save(m.calibration, "small.calibration", &error), VIT_OK);
    assert_int_equal(load(&m, ".", &error), VIT_ERROR_IO);
    assert_int_equal(load(&m, "absent", &error), VIT_ERROR_IO);
    unmake(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets_are_those_of_the_definition),
        cmocka_unit_test(test_how_many_pictures_a_coverage_needs),
        IN_MEMORY(test_a_file_has_the_same_scores),
        IN_MEMORY(test_damage_is_refused),
        IN_MEMORY(test_another_model_is_refused),
        IN_MEMORY(test_what_is_no_calibration_is_not_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
