/* Label issues against cleanlab's (tests/fixtures/make_label_issues.py), element by element. */
#include "tests/support/fixture.h"
#include "tests/support/unit.h"
#include "vit/reliance.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

static double number_at(const json_t *object, const char *key, size_t i) {
    return json_number_value(json_array_get(json_object_get(object, key), i));
}

static void check_case(const json_t *json, double unit) {
    const json_t *labels = json_object_get(json, "labels"), *units = json_object_get(json, "units");
    const size_t images = json_array_size(labels);
    const size_t classes = (size_t)json_integer_value(json_object_get(json, "classes"));
    float *p = calloc(images * classes, sizeof *p);
    size_t *given = calloc(images, sizeof *given), count;
    vit_label_issue *issues;
    vit_error error;
    for (size_t i = 0; i < images; i++) {
        given[i] = (size_t)json_integer_value(json_array_get(labels, i));
        for (size_t k = 0; k < classes; k++)
            p[i * classes + k] =
                (float)(json_number_value(json_array_get(json_array_get(units, i), k)) / unit);
    }
    assert_int_equal(vit_label_issues_find(&issues, &count, p, given, images, classes, &error),
                     VIT_OK);
    assert_int_equal(count, json_array_size(json_object_get(json, "issues")));
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(issues[i].picture, number_at(json, "issues", i));
        assert_int_equal(issues[i].label, given[issues[i].picture]);
        assert_int_equal(issues[i].likely, number_at(json, "likely", i));
        assert_true(issues[i].self_confidence == number_at(json, "self_confidence", i));
        assert_true(issues[i].normalized_margin == number_at(json, "normalized_margin", i));
    }
    vit_label_issues_free(issues);
    free(p);
    free(given);
}

static void test_issues_are_those_of_cleanlab(void **state) {
    json_t *file = read_json("tests/fixtures/label_issues.json");
    const json_t *cases = json_object_get(file, "cases");
    assert_int_equal(json_array_size(cases), 10);
    for (size_t i = 0; i < json_array_size(cases); i++)
        check_case(json_array_get(cases, i), json_number_value(json_object_get(file, "unit")));
    json_decref(file);
}

static void test_labels_beyond_the_classes_are_refused(void **state) {
    const float p[] = {.5F, .5F, .25F, .75F};
    vit_label_issue *issues;
    vit_error error;
    size_t count;
    assert_int_equal(vit_label_issues_find(&issues, &count, p, (size_t[]){0, 2}, 2, 2, &error),
                     VIT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "picture 1 has label 2"));
    assert_null(issues);
    assert_int_equal(vit_label_issues_find(&issues, &count, p, (size_t[]){0}, 1, 1, &error),
                     VIT_ERROR_ARGUMENT);
    assert_int_equal(vit_label_issues_find(&issues, &count, p, NULL, 0, 2, &error),
                     VIT_ERROR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_issues_are_those_of_cleanlab),
        cmocka_unit_test(test_labels_beyond_the_classes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
