/* The one interface over files of weights: which file is opened, what is found in it, how the
 * elements come out. */
#include <string.h>

#include "tests/support/fault.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/tensors/safetensors.h"
#include "vit/tensors/tensors.h"

/* ---- files ---- */

static const float two[] = {1.5f, -2};
static const uint16_t half[] = {0x3c00, 0xc000, 0x4200};
static const int64_t steps[] = {7};

static void write_tensors(const char *path) {
    const vit_tensor tensors[] = {
        {.name = "b", .dtype = VIT_F32, .dims = 1, .shape = {2}, .count = 2, .data = two},
        {.name = "a", .dtype = VIT_F16, .dims = 2, .shape = {3, 1}, .count = 3, .data = half},
        {.name = "steps", .dtype = VIT_I64, .count = 1, .data = steps},
    };
    const vit_metadata metadata[] = {{"origin", "here"}};
    vit_error error;
    if (vit_safetensors_write(path, tensors, 3, metadata, 1, &error) != VIT_OK)
        fail_msg("%s", error.message);
}

static vit_tensors *open_tensors(const char *path) {
    vit_tensors *file;
    vit_error error;
    if (vit_tensors_open(&file, path, &error) != VIT_OK) fail_msg("%s", error.message);
    return file;
}

static void refused(const char *path, vit_status status, const char *a, const char *b) {
    vit_tensors *file = (vit_tensors *)&status;
    vit_error error = {0};
    assert_int_equal(vit_tensors_open(&file, path, &error), status);
    assert_says(&error, status, a, b);
    assert_null(file);
    assert_int_equal(vit_tensors_open(&file, path, NULL), status);
}

/* ---- tests ---- */

static void check_tensors(const vit_tensors *file) {
    float values[3];
    assert_int_equal(vit_tensors_count(file), 3);
    assert_string_equal(vit_tensors_at(file, 0)->name, "a");
    const vit_tensor *a = vit_tensors_find(file, "a"), *b = vit_tensors_find(file, "b");
    assert_ptr_equal(a, vit_tensors_at(file, 0));
    assert_int_equal(a->dims, 2);
    assert_int_equal(a->shape[0], 3);
    assert_int_equal(vit_tensors_read(file, a, values, NULL), VIT_OK);
    assert_true(values[0] == 1 && values[1] == -2 && values[2] == 3);
    assert_int_equal(vit_tensors_read(file, b, values, NULL), VIT_OK);
    assert_true(values[0] == 1.5f && values[1] == -2);
    assert_null(vit_tensors_find(file, "c"));
    assert_string_equal(vit_tensors_metadata(file, "origin"), "here");
    assert_null(vit_tensors_metadata(file, "other"));
    assert_string_equal(vit_tensors_kind(file), "safetensors");
}

static void test_a_file_a_directory_and_bytes(void **state) {
    write_tensors("model.safetensors");
    vit_tensors *file = open_tensors("model.safetensors");
    check_tensors(file);
    check_tensors(file); /* pages given back are read again */
    vit_tensors_close(file);
    file = open_tensors(".");
    assert_string_equal(vit_tensors_name(file), "./model.safetensors");
    check_tensors(file);
    vit_tensors_close(file);
    vit_bytes bytes;
    assert_int_equal(vit_read_file(&bytes, "model.safetensors", 1 << 20, NULL), VIT_OK);
    assert_int_equal(vit_tensors_parse(&file, bytes.data, bytes.size, "name", NULL), VIT_OK);
    assert_string_equal(vit_tensors_name(file), "name");
    check_tensors(file);
    vit_tensors_close(file);
    vit_free(bytes.data);
    vit_tensors_close(NULL);
}

static void test_which_file_of_a_directory(void **state) {
    refused(".", VIT_ERROR_IO, ".", "holds no weights: expected model.safetensors");
    write_tensors("one.safetensors");
    put_file("notes.txt", "");
    put_file(".hidden.bin", "");
    vit_tensors *file = open_tensors(".");
    assert_string_equal(vit_tensors_name(file), "./one.safetensors");
    vit_tensors_close(file);
    put_file("two.pth", "");
    refused(".", VIT_ERROR_MISMATCH, "one.safetensors and two.pth", "name one of them");
    write_tensors("model.safetensors");
    vit_tensors_close(open_tensors("."));
    refused("absent", VIT_ERROR_IO, "absent", "cannot open");
}

static void test_counters_are_no_weights(void **state) {
    write_tensors("model.safetensors");
    vit_tensors *file = open_tensors("model.safetensors");
    const vit_tensor *counter = vit_tensors_find(file, "steps");
    float value;
    vit_error error;
    assert_int_equal(counter->dtype, VIT_I64);
    assert_int_equal(vit_tensors_read(file, counter, &value, &error), VIT_ERROR_UNSUPPORTED);
    assert_says(&error, VIT_ERROR_UNSUPPORTED, "model.safetensors: tensor 'steps'", "type I64");
    vit_tensors_close(file);
}

static void test_what_is_no_file_of_weights(void **state) {
    put_file("pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n");
    refused("pointer", VIT_ERROR_UNSUPPORTED, "pointer is a Git LFS pointer", "git lfs pull");
    put_file("keras", "\x89HDF\r\n");
    refused("keras", VIT_ERROR_UNSUPPORTED, "keras is an HDF5 file", "safetensors");
    put_file("graph.onnx", "\x08\x08\x12\x07pytorch\x1a\x05"
                           "2.4.0");
    refused("graph.onnx", VIT_ERROR_UNSUPPORTED, "graph.onnx is an ONNX model", "safetensors");
    put_file("net.tflite", "\x1c\x01\x01\x01"
                           "TFL3");
    refused("net.tflite", VIT_ERROR_UNSUPPORTED, "net.tflite is a TensorFlow Lite", "safetensors");
    put_file("page", "<!DOCTYPE html>");
    refused("page", VIT_ERROR_UNSUPPORTED, "page is a web page", "download");
    put_file("empty", "");
    refused("empty", VIT_ERROR_FORMAT, "empty", "0 bytes");
    put_file("text", "these are no weights");
    refused("text", VIT_ERROR_FORMAT, "text", "safetensors");
}

/* ---- sharded checkpoints ---- */

#define MAP(inside) "{\"metadata\": {\"total_size\": 8}, \"weight_map\": {" inside "}}"
#define BOTH "\"a\": \"1.safetensors\", \"b\": \"2.safetensors\""
static const char index_name[] = "model.safetensors.index.json";

static void write_shard(const char *path, const char *name, float value) {
    const vit_tensor tensor = {
        .name = name, .dtype = VIT_F32, .dims = 1, .shape = {1}, .count = 1, .data = &value};
    assert_int_equal(vit_safetensors_write(path, &tensor, 1, NULL, 0, NULL), VIT_OK);
}

static void write_shards(void) {
    write_shard("1.safetensors", "a", 1);
    write_shard("2.safetensors", "b", 2);
}

static void test_shards(void **state) {
    const char *const paths[] = {".", "model.safetensors.index.json"};
    write_shards();
    put_file(index_name, MAP(BOTH));
    for (size_t i = 0; i < 2; i++) {
        vit_tensors *file = open_tensors(paths[i]);
        float value;
        assert_int_equal(vit_tensors_count(file), 2);
        assert_int_equal(vit_tensors_read(file, vit_tensors_find(file, "a"), &value, NULL), 0);
        assert_true(value == 1);
        assert_int_equal(vit_tensors_read(file, vit_tensors_find(file, "b"), &value, NULL), 0);
        assert_true(value == 2);
        vit_tensors_close(file);
    }
}

static void refused_index(const char *text, vit_status status, const char *a, const char *b) {
    put_file(index_name, text);
    refused(".", status, a, b);
}

static void test_an_index_and_shards_that_disagree(void **state) {
    write_shards();
    refused_index(MAP("\"a\": \"1.safetensors\", \"b\": \"3.safetensors\""), VIT_ERROR_IO,
                  index_name, "names the file 3.safetensors, which is not beside it");
    refused_index(MAP("\"a\": \"2.safetensors\", \"b\": \"1.safetensors\""), VIT_ERROR_MISMATCH,
                  index_name, "tensor 'a' should lie in 2.safetensors, but lies in 1.safetensors");
    refused_index(MAP(BOTH ", \"c\": \"2.safetensors\""), VIT_ERROR_MISMATCH, "tensor 'c'",
                  "but lies in no file");
    write_shard("2.safetensors", "a", 2);
    refused_index(MAP(BOTH), VIT_ERROR_FORMAT, "tensor 'a' is there twice", "2.safetensors");
    write_shard("2.safetensors", "b", 2);
    write_tensors("1.safetensors");
    refused_index(MAP("\"a\": \"1.safetensors\", \"b\": \"1.safetensors\""), VIT_ERROR_MISMATCH,
                  "tensor 'steps'", "not in the \"weight_map\"");
    put_file("2.safetensors", "damaged");
    write_shard("1.safetensors", "a", 1);
    refused_index(MAP(BOTH), VIT_ERROR_FORMAT, "2.safetensors", "7 bytes");
}

static void test_an_index_that_is_none(void **state) {
    write_shards();
    refused_index("{\"weight_map\": {", VIT_ERROR_FORMAT, index_name, "line 1");
    refused_index("{}", VIT_ERROR_FORMAT, index_name, "weight_map");
    refused_index(MAP(""), VIT_ERROR_FORMAT, index_name, "weight_map");
    refused_index("{\"weight_map\": [1]}", VIT_ERROR_FORMAT, index_name, "weight_map");
    refused_index(MAP("\"a\": 1"), VIT_ERROR_FORMAT, "'a'", "must be the name of a file");
    refused_index(MAP("\"a\": \"../1.safetensors\""), VIT_ERROR_FORMAT, "'a'", "beside the index");
    refused_index(MAP("\"a\": \"/etc/passwd\""), VIT_ERROR_FORMAT, "/etc/passwd", "without '/'");
    refused_index(MAP("\"a\": \"..\""), VIT_ERROR_FORMAT, "'a'", "without '/'");
    refused_index(MAP("\"a\": \"\""), VIT_ERROR_FORMAT, "'a'", "without '/'");
    vit_tensors *file;
    assert_int_equal(vit_tensors_parse(&file, "{}", 2, "bytes", NULL), VIT_ERROR_UNSUPPORTED);
}

/* ---- failures of the system ---- */

static void test_every_failing_call(void **state) {
    write_shards();
    put_file(index_name, MAP(BOTH));
    for (long n = 1;; n++) {
        vit_tensors *file;
        vit_error error = {0};
        fault_arm(n);
        const vit_status status = vit_tensors_open(&file, ".", &error);
        fault_disarm();
        vit_tensors_close(file);
        if (!fault_call()) break;
        if (strcmp(fault_call(), "close") == 0) continue; /* after reading: nothing is lost */
        assert_int_not_equal(status, VIT_OK);
        assert_true(error.message[0] != '\0' && !file);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_a_file_a_directory_and_bytes),
        IN_DIRECTORY(test_which_file_of_a_directory),
        IN_DIRECTORY(test_counters_are_no_weights),
        IN_DIRECTORY(test_what_is_no_file_of_weights),
        IN_DIRECTORY(test_shards),
        IN_DIRECTORY(test_an_index_and_shards_that_disagree),
        IN_DIRECTORY(test_an_index_that_is_none),
        IN_DIRECTORY(test_every_failing_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
