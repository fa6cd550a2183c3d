/* Position embeddings for another grid, against the libraries:
 * tests/fixtures/positions.safetensors.
 */
#include "tests/support/check.h"
#include "tests/support/fault.h"
#include "tests/support/unit.h"
#include "vit/model/resample_positions.h"
#include "vit/tensors/tensors.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const rules[] = {
    [VIT_POSITIONS_OF_TIMM] = "timm",
    [VIT_POSITIONS_OF_TIMM_NPZ] = "timm_npz",
    [VIT_POSITIONS_OF_HUGGING_FACE] = "hugging_face",
    [VIT_POSITIONS_OF_TORCHVISION] = "torchvision",
    [VIT_POSITIONS_OF_GOOGLE] = "google",
};

static vit_tensors *open_positions(void) {
    vit_tensors *file;
    vit_error error;
    if (vit_tensors_open(&file, "tests/fixtures/positions.safetensors", &error) != VIT_OK)
        fail_msg("%s", error.message);
    return file;
}

static vit_position_rule find_rule(const char *name) {
    int rule = 0;
    while (strcmp(rules[rule], name) != 0) rule++;
    return (vit_position_rule)rule;
}

/* "RULE HxW hxw"; false: the positions of a grid themselves. */
static bool parse_name(const char *name, vit_position_rule *rule, char source[32], vit_grid *from,
                       vit_grid *to) {
    char word[32];
    if (sscanf(name, "%31[a-z_] %zux%zu %zux%zu", word, &from->height, &from->width, &to->height,
               &to->width) != 5)
        return false;
    *rule = find_rule(word);
    snprintf(source, 32, "%zux%zu", from->height, from->width);
    return true;
}

static void test_libraries(void **state) {
    vit_tensors *file = open_positions();
    size_t checked = 0;
    for (size_t i = 0; i < vit_tensors_count(file); i++) {
        const vit_tensor *expected = vit_tensors_at(file, i);
        vit_position_rule rule;
        vit_grid from, to;
        char source[32];
        float in[50 * 2], out[82 * 2], theirs[82 * 2];
        if (!parse_name(expected->name, &rule, source, &from, &to)) continue;
        const size_t dim = expected->shape[1];
        assert_int_equal(vit_tensor_floats(vit_tensors_find(file, source), in, NULL), VIT_OK);
        assert_int_equal(vit_tensor_floats(expected, theirs, NULL), VIT_OK);
        assert_int_equal(expected->shape[0], 1 + to.height * to.width);
        assert_int_equal(vit_positions_resample(out, in, 1, dim, to, from, rule, NULL), VIT_OK);
        const double difference = check_difference(out, theirs, expected->count);
        if (!(difference <= 2e-6)) fail_msg("%s: %g", expected->name, difference);
        checked++;
    }
    vit_tensors_close(file);
    assert_int_equal(checked, 87);
}

/* Without and with several rows before the patches; on the same grid nothing changes. */
static void test_prefix(void **state) {
    const float in[] = {7, 8, 9, 1, 2, 3, 4};
    const vit_grid small = {2, 2}, wide = {1, 4};
    float out[7];
    for (int rule = 0; rule <= VIT_POSITIONS_OF_GOOGLE; rule++) {
        assert_int_equal(
            vit_positions_resample(out, in, 3, 1, small, small, (vit_position_rule)rule, NULL),
            VIT_OK);
        assert_memory_equal(out, in, sizeof in);
        assert_int_equal(
            vit_positions_resample(out, in, 3, 1, wide, small, (vit_position_rule)rule, NULL),
            VIT_OK);
        assert_memory_equal(out, in, 3 * sizeof *in);
        assert_memory_not_equal(out, in, sizeof in);
    }
    assert_int_equal(vit_positions_resample(out, in + 3, 0, 1, (vit_grid){1, 1}, small,
                                            VIT_POSITIONS_OF_TIMM, NULL),
                     VIT_OK);
    assert_true(fabsf(out[0] - 2.5f) < 1e-6f);
}

static void test_no_memory(void **state) {
    const float in[4] = {1, 2, 3, 4};
    float out[9];
    vit_error error;
    long n = 1;
    for (;; n++) {
        fault_arm(n);
        vit_status status = vit_positions_resample(out, in, 0, 1, (vit_grid){3, 3},
                                                   (vit_grid){2, 2}, VIT_POSITIONS_OF_TIMM, &error);
        fault_disarm();
        if (fault_call() == NULL) break;
        assert_int_equal(status, VIT_ERROR_MEMORY);
    }
    assert_int_equal(n, 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_libraries),
        cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
