/* Zip archives of tensors: NumPy's .npz and PyTorch's .pth, made by tests/fixtures/make_weights.py.
 * Element i of every tensor of floats, rows first, is i / 4 - 1. */
#include <stdio.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/tensors/tensors.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- files ---- */

static vit_bytes read_fixture(const char *name) {
    char path[256];
    vit_bytes bytes;
    vit_error error;
    snprintf(path, sizeof path, "tests/fixtures/weights/%s", name);
    if (vit_read_file(&bytes, path, 1 << 20, &error) != VIT_OK) fail_msg("%s", error.message);
    return bytes;
}

static vit_tensors *open_fixture(const char *name) {
    char path[256];
    vit_tensors *file;
    vit_error error;
    snprintf(path, sizeof path, "tests/fixtures/weights/%s", name);
    if (vit_tensors_open(&file, path, &error) != VIT_OK) fail_msg("%s", error.message);
    return file;
}

static bool is_ramp(const float *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!(values[i] == (float)i / 4 - 1)) return false;
    return true;
}

/* Reads into memory that notices more elements than there are. */
static void check_tensor(const vit_tensors *file, const char *name, vit_dtype dtype, size_t dims,
                         const size_t *shape) {
    const vit_tensor *t = vit_tensors_find(file, name);
    vit_error error;
    if (!t) fail_msg("%s: no tensor %s", vit_tensors_name(file), name);
    assert_int_equal(t->dtype, dtype);
    assert_int_equal(t->dims, dims);
    assert_memory_equal(t->shape, shape, dims * sizeof *shape);
    check_memory memory = check_memory_new(t->count + 1);
    float *values = check_memory_take(&memory, t->count, CHECK_AT_END);
    if (vit_tensors_read(file, t, values, &error) != VIT_OK) fail_msg("%s", error.message);
    if (!is_ramp(values, t->count))
        fail_msg("%s: other values in %s", vit_tensors_name(file), name);
    assert_true(check_memory_intact(&memory));
    check_memory_free(&memory);
}

static void check_counter(const vit_tensors *file) {
    const vit_tensor *steps = vit_tensors_find(file, "steps");
    float values[3];
    vit_error error;
    assert_non_null(steps);
    assert_int_equal(steps->dtype, VIT_I64);
    assert_int_equal(vit_tensors_read(file, steps, values, &error), VIT_ERROR_UNSUPPORTED);
    assert_says(&error, VIT_ERROR_UNSUPPORTED, "tensor 'steps'", "I64");
}

static void refused_bytes(const vit_bytes *bytes, vit_status status, const char *part) {
    vit_tensors *file = (vit_tensors *)&status;
    vit_error error = {0};
    if (vit_tensors_parse(&file, bytes->data, bytes->size, "FILE", &error) != status)
        fail_msg("expected %s \"%s\", found \"%s\"", vit_status_name(status), part, error.message);
    assert_null(file);
    assert_says(&error, status, "FILE", part);
    assert_int_equal(vit_tensors_parse(&file, bytes->data, bytes->size, "FILE", NULL), status);
}

static void refused(const char *name, vit_status status, const char *part) {
    vit_bytes bytes = read_fixture(name);
    refused_bytes(&bytes, status, part);
    vit_free(bytes.data);
}

/* ---- .npz ---- */

#define SHAPE(...)                                             \
    COUNT(((const size_t[]){__VA_ARGS__})), (const size_t[]) { \
        __VA_ARGS__                                            \
    }

static void test_npz(void **state) {
    const char *const names[] = {"stored.npz", "deflated.npz"};
    for (size_t i = 0; i < 2; i++) {
        vit_tensors *file = open_fixture(names[i]);
        assert_string_equal(vit_tensors_kind(file), "npz");
        assert_null(vit_tensors_metadata(file, "format"));
        assert_int_equal(vit_tensors_count(file), 9);
        check_tensor(file, "head/kernel", VIT_F32, SHAPE(3, 4));
        check_tensor(file, "columns", VIT_F32, SHAPE(3, 4));
        check_tensor(file, "cube", VIT_F32, SHAPE(2, 3, 4));
        check_tensor(file, "half", VIT_F16, SHAPE(5));
        check_tensor(file, "double", VIT_F64, SHAPE(2, 1, 3));
        check_tensor(file, "brain", VIT_BF16, SHAPE(2, 4));
        check_tensor(file, "empty", VIT_F32, SHAPE(0, 4));
        check_tensor(file, "scalar", VIT_F32, 0, NULL);
        check_counter(file);
        vit_tensors_close(file);
    }
}

static void test_npy_versions_and_zip64(void **state) {
    vit_tensors *file = open_fixture("versions.npz");
    check_tensor(file, "version2", VIT_F32, SHAPE(2, 2));
    check_tensor(file, "version3", VIT_F32, SHAPE(2, 2));
    check_tensor(file, "brain", VIT_BF16, SHAPE(2, 2));
    vit_tensors_close(file);
    file = open_fixture("zip64.npz");
    check_tensor(file, "w", VIT_F32, SHAPE(3, 2));
    vit_tensors_close(file);
}

static void test_arrays_that_are_not_read(void **state) {
    refused("big_endian.npz", VIT_ERROR_UNSUPPORTED, "'>f4' (big-endian), expected <f4");
    refused("text.npz", VIT_ERROR_UNSUPPORTED, "member 'w.npy': the type is NumPy's '<U1'");
}

/* ---- PyTorch ---- */

static void test_state_dict(void **state) {
    const char *const names[] = {"state.pth", "protocol4.pth"};
    for (size_t i = 0; i < 2; i++) {
        vit_tensors *file = open_fixture(names[i]);
        assert_string_equal(vit_tensors_kind(file), "pytorch");
        assert_int_equal(vit_tensors_count(file), 10);
        check_tensor(file, "head.weight", VIT_F32, SHAPE(3, 4));
        check_tensor(file, "turned", VIT_F32, SHAPE(3, 4));
        check_tensor(file, "shared", VIT_F32, SHAPE(3, 4));
        check_tensor(file, "rows", VIT_F32, SHAPE(2, 4));
        check_tensor(file, "half", VIT_F16, SHAPE(5));
        check_tensor(file, "double", VIT_F64, SHAPE(2, 1, 3));
        check_tensor(file, "brain", VIT_BF16, SHAPE(2, 4));
        check_tensor(file, "scalar", VIT_F32, 0, NULL);
        check_tensor(file, "empty", VIT_F32, SHAPE(0, 4));
        check_counter(file);
        vit_tensors_close(file);
    }
}

static void test_state_dict_of_a_training(void **state) {
    const char *const names[] = {"model.pth", "average.pth", "namespace.pth", "timm.pth.tar",
                                 "fastai.pth"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        vit_tensors *file = open_fixture(names[i]);
        assert_int_equal(vit_tensors_count(file), 2);
        check_tensor(file, "fc.weight", VIT_F32, SHAPE(3, 4));
        check_tensor(file, "fc.bias", VIT_F32, SHAPE(3));
        vit_tensors_close(file);
    }
}

/* The wrapper's name is left to those who look for a network. */
static void test_checkpoint_of_lightning(void **state) {
    vit_tensors *file = open_fixture("lightning.ckpt");
    assert_int_equal(vit_tensors_count(file), 2);
    check_tensor(file, "model.fc.weight", VIT_F32, SHAPE(3, 4));
    check_tensor(file, "model.fc.bias", VIT_F32, SHAPE(3));
    vit_tensors_close(file);
}

static void test_pickles_that_are_not_run(void **state) {
    refused("runs.pth", VIT_ERROR_UNSUPPORTED, "asks for posix.system");
    refused("module.pth", VIT_ERROR_UNSUPPORTED, "asks for torch.nn.modules.container.Sequential");
    refused("complex.pth", VIT_ERROR_UNSUPPORTED, "asks for torch.ComplexFloatStorage");
    refused("expanded.pth", VIT_ERROR_FORMAT, "tensor 'w': the shape [4] needs more than");
    refused("nested.pth", VIT_ERROR_UNSUPPORTED, "it holds weights, epoch");
    refused("legacy.pth", VIT_ERROR_UNSUPPORTED, "before version 1.6");
}

/* ---- damage ---- */

static const char *const sound[] = {"stored.npz", "deflated.npz",  "versions.npz", "zip64.npz",
                                    "state.pth",  "protocol4.pth", "model.pth",    "average.pth"};

static void test_cut_off_anywhere(void **state) {
    for (size_t f = 0; f < COUNT(sound); f++) {
        vit_bytes whole = read_fixture(sound[f]);
        for (size_t size = 0; size < whole.size; size++) {
            vit_tensors *file;
            uint8_t *bytes = vit_alloc(size, 1);
            assert_non_null(bytes);
            memcpy(bytes, whole.data, size);
            if (vit_tensors_parse(&file, bytes, size, "FILE", NULL) == VIT_OK)
                fail_msg("%s cut to %zu bytes was read", sound[f], size);
            vit_free(bytes);
        }
        vit_free(whole.data);
    }
}

/* A tensor that is read has the right values, whatever else is wrong. */
static void read_damaged(const vit_bytes *bytes, const char *name, size_t place) {
    static float values[4096];
    vit_tensors *file;
    if (vit_tensors_parse(&file, bytes->data, bytes->size, "FILE", NULL) != VIT_OK) return;
    for (size_t i = 0; i < vit_tensors_count(file); i++) {
        const vit_tensor *t = vit_tensors_at(file, i);
        if (t->count <= COUNT(values) && vit_tensors_read(file, t, values, NULL) == VIT_OK &&
            !is_ramp(values, t->count))
            fail_msg("%s, byte %zu: damage went unseen", name, place);
    }
    vit_tensors_close(file);
}

static void test_a_wrong_byte_anywhere(void **state) {
    for (size_t f = 0; f < COUNT(sound); f++) {
        vit_bytes bytes = read_fixture(sound[f]);
        for (size_t i = 0; i < bytes.size; i++) {
            const uint8_t kept = bytes.data[i];
            for (unsigned bit = 0; bit < 8; bit++) {
                bytes.data[i] = (uint8_t)(kept ^ 1u << bit);
                read_damaged(&bytes, sound[f], i);
            }
            bytes.data[i] = 0xff;
            read_damaged(&bytes, sound[f], i);
            bytes.data[i] = kept;
        }
        vit_free(bytes.data);
    }
}

/* ---- archives that are nearly right ---- */

/* The last place of a mark of four bytes. */
static size_t find_mark(const vit_bytes *bytes, const char *mark) {
    for (size_t i = bytes->size - 3; i-- > 0;)
        if (memcmp(bytes->data + i, mark, 4) == 0) return i;
    fail_msg("no mark %s", mark);
    return 0;
}

static void refused_patch(const char *mark, size_t offset, uint8_t byte, vit_status status,
                          const char *part) {
    vit_bytes bytes = read_fixture("deflated.npz");
    bytes.data[find_mark(&bytes, mark) + offset] = byte;
    refused_bytes(&bytes, status, part);
    vit_free(bytes.data);
}

static void test_zip_archives_that_are_refused(void **state) {
    static const char end[] = "PK\5\6", central[] = "PK\1\2", local[] = "PK\3\4";
    refused_patch(end, 0, 'X', VIT_ERROR_FORMAT, "the end record is missing");
    refused_patch(end, 4, 1, VIT_ERROR_UNSUPPORTED, "in several files");
    refused_patch(end, 11, 1, VIT_ERROR_FORMAT, "too short for its entries");
    refused_patch(end, 18, 1, VIT_ERROR_FORMAT, "over the end of the file");
    refused_patch(central, 0, 'X', VIT_ERROR_FORMAT, "an entry of the directory is missing");
    refused_patch(central, 8, 1, VIT_ERROR_UNSUPPORTED, "is encrypted");
    refused_patch(central, 10, 9, VIT_ERROR_UNSUPPORTED, "another method than deflate");
    refused_patch(central, 22, 1, VIT_ERROR_FORMAT, "reaches over the end of the data");
    refused_patch(central, 27, 1, VIT_ERROR_FORMAT, "larger than its data can be");
    refused_patch(central, 29, 1, VIT_ERROR_FORMAT, "an entry of the directory is too long");
    refused_patch(central, 46, 'x', VIT_ERROR_FORMAT, "another name where it begins");
    refused_patch(central, 46, '\0', VIT_ERROR_FORMAT, "damaged entry");
    refused_patch(local, 0, 'X', VIT_ERROR_FORMAT, "does not begin where");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_npz),
        cmocka_unit_test(test_npy_versions_and_zip64),
        cmocka_unit_test(test_arrays_that_are_not_read),
        cmocka_unit_test(test_state_dict),
        cmocka_unit_test(test_state_dict_of_a_training),
        cmocka_unit_test(test_checkpoint_of_lightning),
        cmocka_unit_test(test_pickles_that_are_not_run),
        cmocka_unit_test(test_cut_off_anywhere),
        cmocka_unit_test(test_a_wrong_byte_anywhere),
        cmocka_unit_test(test_zip_archives_that_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
