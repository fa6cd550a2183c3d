#include "tests/support/fixture.h"
#include "tests/support/check.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/formats/json.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *read_json(const char *path) {
    vit_bytes bytes;
    vit_error error;
    json_t *object;
    if (vit_read_file(&bytes, path, 1 << 20, &error) != VIT_OK) fail_msg("%s", error.message);
    if (vit_json_parse(&object, (const char *)bytes.data, bytes.size, path, &error) != VIT_OK)
        fail_msg("%s", error.message);
    vit_free(bytes.data);
    return object;
}

void fixture_each(const char *directory, void (*call)(const char *name)) {
    char **names, name[64];
    size_t count;
    assert_int_equal(vit_list_directory(&names, &count, directory, NULL), VIT_OK);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        const size_t length = strcspn(names[i], ".");
        assert_true(length < sizeof name);
        snprintf(name, sizeof name, "%.*s", (int)length, names[i]);
        print_message("%s\n", name);
        call(name);
    }
    vit_free(names);
}

const vit_tensor *fixture_tensor(const vit_tensors *file, const char *group, const char *name) {
    char full[100];
    snprintf(full, sizeof full, "%s%s", group, name);
    const vit_tensor *t = vit_tensors_find(file, full);
    if (!t) fail_msg("%s: there is no %s", vit_tensors_name(file), full);
    return t;
}

float *fixture_floats(const vit_tensors *file, const char *group, const char *name) {
    const vit_tensor *t = fixture_tensor(file, group, name);
    float *values = check_floats(t->count);
    assert_int_equal(vit_tensor_floats(t, values, NULL), VIT_OK);
    return values;
}

void fixture_read_parameters(const vit_tensors *file, const vit_table *table, float *values) {
    size_t stored = 0;
    for (size_t i = 0; i < vit_tensors_count(file); i++)
        stored += strncmp(vit_tensors_at(file, i)->name, "param.", 6) == 0;
    assert_int_equal(stored, table->count);
    for (size_t i = 0; i < table->count; i++) {
        const vit_parameter *p = &table->rows[i];
        const vit_tensor *t = fixture_tensor(file, "param.", p->name);
        assert_int_equal(t->dims, p->dims);
        assert_memory_equal(t->shape, p->shape, p->dims * sizeof *p->shape);
        assert_int_equal(vit_tensor_floats(t, values + p->offset, NULL), VIT_OK);
    }
}

/* Nothing but rounding: the bias of a key, or of its norm, adds the same to all scores of a query.
 */
static bool is_zero(const float *got, const float *want, size_t n) {
    bool zero = true;
    for (size_t i = 0; i < n; i++) zero = zero && fabsf(got[i]) < 1e-6F && fabsf(want[i]) < 1e-12F;
    return zero;
}

void fixture_check_gradients(const vit_tensors *file, const vit_table *table,
                             const float *gradients) {
    for (size_t i = 0; i < table->count; i++) {
        const vit_parameter *p = &table->rows[i];
        float *want = fixture_floats(file, "grad.", p->name);
        const float *got = gradients + p->offset;
        const double error = check_difference(got, want, p->count);
        if (!(error <= 1e-4) && !is_zero(got, want, p->count))
            fail_msg("%s: gradient of %s is off by %.3g of its largest", vit_tensors_name(file),
                     p->name, error);
        free(want);
    }
}
