/* The safetensors writer, and both directions against the Python library
 * (tests/fixtures/make_safetensors.py made the fixtures; its values stand here too). */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/fault.h"
#include "tests/support/unit.h"
#include "vit/formats/sha256.h"
#include "vit/tensors/safetensors.h"
#include "vit/tensors/tensors.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- the tensors of the fixtures ---- */

static const double f64[] = {1.5, -2.25, 1e-3}, half64[] = {0.5};
static const float f32[] = {0.1f, -0.0f, 3.0f, INFINITY}, five[] = {5.0f}, scalar[] = {42.0f};
static const float quarters[] = {0, 0.25f, 0.5f}, six[] = {0, 1, 2, 3, 4, 5};
static const uint16_t f16[] = {0x3c00, 0x0001, 0xfbff}, bf16[] = {0x3f80, 0xc049};
static const uint16_t halves[] = {0x4000, 0xbc00, 0x3400};
static const int64_t i64[] = {-(INT64_C(1) << 62), 7};
static const int32_t i32[] = {INT32_MIN, 8};
static const int16_t i16[] = {INT16_MIN, 9};
static const int8_t i8[] = {-128, 127, 3};
static const uint8_t u8[] = {0, 255}, bools[] = {1, 0, 1}, bytes987[] = {9, 8, 7};

static const vit_tensor every_dtype[] = {
    {"f64", VIT_F64, 1, {3}, 3, f64},
    {"f32", VIT_F32, 2, {2, 2}, 4, f32},
    {"f16", VIT_F16, 1, {3}, 3, f16},
    {"bf16", VIT_BF16, 1, {2}, 2, bf16},
    {"i64", VIT_I64, 1, {2}, 2, i64},
    {"i32", VIT_I32, 1, {2}, 2, i32},
    {"i16", VIT_I16, 1, {2}, 2, i16},
    {"i8", VIT_I8, 1, {3}, 3, i8},
    {"u8", VIT_U8, 1, {2}, 2, u8},
    {"bool", VIT_BOOL, 1, {3}, 3, bools},
    {"scalar", VIT_F32, 0, {0}, 1, scalar},
    {"empty", VIT_F32, 3, {2, 0, 3}, 0, NULL},
    {"gr\xc3\xb6\xc3\x9f"
     "e \"\\\n\t\x01/",
     VIT_F32,
     1,
     {1},
     1,
     five},
};

static const vit_tensor one_dtype_a_size[] = {
    {"b", VIT_F32, 1, {3}, 3, quarters}, {"a.weight", VIT_F32, 2, {2, 3}, 6, six},
    {"z", VIT_F64, 1, {1}, 1, half64},   {"h", VIT_F16, 1, {3}, 3, halves},
    {"c", VIT_U8, 1, {3}, 3, bytes987},
};

static const vit_metadata more[] = {
    {"vit.labels", "[\"null\", \"eins\"]"},
    {"a\\key", "ein \"Wert\"\n\xc3\xbc"},
};

/* ---- help ---- */

static void assert_tensors(const vit_tensors *file, const vit_tensor *expected, size_t count) {
    assert_int_equal(vit_tensors_count(file), count);
    for (size_t i = 0; i < count; i++) {
        const vit_tensor *e = &expected[i], *t = vit_tensors_find(file, e->name);
        assert_non_null(t);
        assert_string_equal(t->name, e->name);
        assert_int_equal(t->dtype, e->dtype);
        assert_int_equal(t->dims, e->dims);
        assert_int_equal(t->count, e->count);
        for (size_t d = 0; d < t->dims; d++) assert_int_equal(t->shape[d], e->shape[d]);
        if (t->count > 0)
            assert_memory_equal(t->data, e->data, t->count * vit_dtype_size(t->dtype));
    }
}

static vit_bytes encode(const vit_tensor *tensors, size_t count, const vit_metadata *metadata,
                        size_t metadata_count) {
    char path[] = "/tmp/vit-encoded-XXXXXX";
    vit_bytes bytes;
    vit_error error;
    close(mkstemp(path));
    if (vit_safetensors_write(path, tensors, count, metadata, metadata_count, &error) != VIT_OK ||
        vit_read_file(&bytes, path, 1 << 20, &error) != VIT_OK)
        fail_msg("%s", error.message);
    unlink(path);
    return bytes;
}

static void assert_file(const char *path, const vit_bytes *expected) {
    vit_bytes file;
    vit_error error;
    if (vit_read_file(&file, path, 1 << 20, &error) != VIT_OK) fail_msg("%s", error.message);
    assert_int_equal(file.size, expected->size);
    assert_memory_equal(file.data, expected->data, file.size);
    vit_free(file.data);
}

/* ---- against Python ---- */

static void test_reads_what_python_wrote(void **state) {
    vit_tensors *file;
    vit_error error;
    const char *path = "tests/fixtures/python_all.safetensors";
    if (vit_tensors_open(&file, path, &error) != VIT_OK) fail_msg("%s", error.message);
    assert_string_equal(vit_tensors_name(file), path);
    assert_tensors(file, every_dtype, COUNT(every_dtype));
    assert_string_equal(vit_tensors_metadata(file, "format"), "pt");
    vit_tensors_close(file);
}

static void test_writes_the_bytes_python_reads(void **state) {
    vit_bytes bytes = encode(every_dtype, COUNT(every_dtype), more, COUNT(more));
    assert_file("tests/fixtures/encoded.safetensors", &bytes);
    vit_free(bytes.data);
}

static void test_writes_the_bytes_python_writes(void **state) {
    vit_bytes bytes = encode(one_dtype_a_size, COUNT(one_dtype_a_size), NULL, 0);
    assert_file("tests/fixtures/python_same.safetensors", &bytes);
    vit_free(bytes.data);
}

/* ---- memory ---- */

static void test_round_trip(void **state) {
    vit_bytes bytes = encode(every_dtype, COUNT(every_dtype), more, COUNT(more));
    vit_tensors *file;
    /* At an odd address too: nothing may rely on alignment. */
    uint8_t *odd = vit_alloc(bytes.size + 1, 1);
    assert_non_null(odd);
    memcpy(odd + 1, bytes.data, bytes.size);
    const uint8_t *places[] = {bytes.data, odd + 1};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(vit_tensors_parse(&file, places[i], bytes.size, "x", NULL), VIT_OK);
        assert_tensors(file, every_dtype, COUNT(every_dtype));
        for (size_t m = 0; m < COUNT(more); m++)
            assert_string_equal(vit_tensors_metadata(file, more[m].key), more[m].value);
        vit_tensor copies[COUNT(every_dtype)];
        for (size_t t = 0; t < COUNT(copies); t++) copies[t] = *vit_tensors_at(file, t);
        vit_bytes again = encode(copies, COUNT(copies), more, COUNT(more));
        assert_int_equal(again.size, bytes.size);
        assert_memory_equal(again.data, bytes.data, bytes.size);
        vit_free(again.data);
        vit_tensors_close(file);
    }
    vit_free(odd);
    vit_free(bytes.data);
}

static void test_order_of_the_arguments_does_not_matter(void **state) {
    vit_tensor turned[COUNT(every_dtype)];
    for (size_t i = 0; i < COUNT(turned); i++) turned[i] = every_dtype[COUNT(turned) - 1 - i];
    const vit_metadata less[] = {more[1], more[0]};
    vit_bytes a = encode(every_dtype, COUNT(every_dtype), more, 2);
    vit_bytes b = encode(turned, COUNT(turned), less, 2);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    vit_free(a.data);
    vit_free(b.data);
}

/* Every remainder of the header's length by 8, so that the data begin at a multiple of 8. */
static void test_pads_the_header(void **state) {
    char name[18] = "";
    for (size_t length = 0; length < 17; length++) {
        memset(name, 'n', length);
        vit_tensor tensor = {name, VIT_F32, 1, {1}, 1, five};
        vit_bytes bytes = encode(&tensor, 1, NULL, 0);
        assert_int_equal(bytes.size % 8, 4);
        assert_int_equal(bytes.data[0] % 8, 0);
        assert_int_equal(bytes.data[0] + 12u, bytes.size);
        vit_free(bytes.data);
    }
    vit_bytes nothing = encode(NULL, 0, NULL, 0);
    assert_int_equal(nothing.size, 40);
    assert_memory_equal(nothing.data, "\x20\0\0\0\0\0\0\0{\"__metadata__\":{\"format\":\"pt\"}}",
                        40);
    vit_free(nothing.data);
}

/* ---- what is refused ---- */

static void refused(const vit_tensor *tensors, size_t count, const vit_metadata *metadata,
                    size_t metadata_count, const char *part) {
    char hex[65];
    vit_error error;
    assert_int_equal(vit_safetensors_hash(hex, tensors, count, metadata, metadata_count, &error),
                     VIT_ERROR_ARGUMENT);
    if (!strstr(error.message, part)) fail_msg("expected \"%s\" in \"%s\"", part, error.message);
}

static void test_refuses_wrong_tensors(void **state) {
    const vit_tensor twice[] = {{"w", VIT_F64, 1, {1}, 1, f64},
                                {"v", VIT_F32, 1, {1}, 1, f32},
                                {"w", VIT_F32, 1, {1}, 1, f32}};
    refused(twice, 3, NULL, 0, "two tensors are named 'w', expected each name once");
    const struct {
        vit_tensor tensor;
        const char *part;
    } wrong[] = {
        {{"w", VIT_F32, 2, {2, 2}, 3, f32},
         "tensor 'w' has 3 elements, expected as many as its "
         "shape [2, 2] says"},
        {{"w", VIT_F32, 0, {0}, 0, f32}, "tensor 'w' has 0 elements, expected as many"},
        {{"w", VIT_F32, 2, {SIZE_MAX, 2}, SIZE_MAX - 1, f32}, "as its shape"},
        {{"w", VIT_F32, 1, {SIZE_MAX}, SIZE_MAX, f32}, "as its shape"},
        {{"w", VIT_U8, 1, {SIZE_MAX}, SIZE_MAX, f32}, "more bytes than a file can have"},
        {{"w", VIT_F32, 1, {1}, 1, NULL}, "tensor 'w' of shape [1] has no data"},
        {{"w", VIT_F32, 9, {1}, 1, f32}, "tensor 'w' has dtype 1 and 9 dimensions, expected"},
        {{"w", (vit_dtype)10, 1, {1}, 1, f32}, "tensor 'w' has dtype 10 and 1 dimensions"},
        {{"\xff", VIT_F32, 1, {1}, 1, f32}, "expected UTF-8 and not __metadata__"},
        {{"__metadata__", VIT_F32, 1, {1}, 1, f32}, "is '__metadata__', expected UTF-8 and not"},
        {{NULL, VIT_F32, 1, {1}, 1, f32}, "a tensor's name is '(none)'"},
    };
    for (size_t i = 0; i < COUNT(wrong); i++) refused(&wrong[i].tensor, 1, NULL, 0, wrong[i].part);
}

static void test_refuses_wrong_metadata(void **state) {
    const vit_metadata wrong[][2] = {{{"k", "1"}, {"k", "2"}},    {{"k", "1"}, {"format", "pt"}},
                                     {{"a", "1"}, {"k", "\xc3"}}, {{"\x80", "1"}, {"k", "2"}},
                                     {{"k", NULL}, {"l", "2"}},   {{NULL, ""}, {"k", "2"}}};
    const char *parts[] = {"two metadata have the key 'k'",
                           "two metadata have the key 'format'",
                           "the metadata 'k': expected key and value to be UTF-8",
                           "expected key and value to be UTF-8",
                           "the metadata 'k': expected",
                           "the metadata '(none)': expected"};
    for (size_t i = 0; i < COUNT(parts); i++) refused(every_dtype, 1, wrong[i], 2, parts[i]);
}

static void test_refuses_a_header_beyond_the_limit(void **state) {
    size_t length = 100000000;
    char *value = vit_alloc(length + 1, 1);
    assert_non_null(value);
    memset(value, 'v', length);
    const vit_metadata large = {"k", value};
    char hex[65];
    vit_error error;
    assert_int_equal(vit_safetensors_hash(hex, NULL, 0, &large, 1, &error), VIT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "need a header of 100000040 bytes, expected at most "
                                          "100000000"));
    vit_free(value);
}

/* ---- files ---- */

typedef struct place {
    char directory[32];
    char *path;
} place;

static int make_place(void **state) {
    static place p;
    p = (place){"/tmp/vit-weights-XXXXXX", NULL};
    if (!mkdtemp(p.directory)) return -1;
    p.path = vit_path_join(p.directory, "w.safetensors");
    *state = &p;
    return p.path ? 0 : -1;
}

static int remove_place(void **state) {
    place *p = *state;
    unlink(p->path);
    vit_free(p->path);
    return rmdir(p->directory); /* fails when a temporary file was left */
}

static void test_writes_a_file(void **state) {
    place *p = *state;
    vit_error error;
    for (size_t count = COUNT(every_dtype); count-- > 10;) { /* new, then in place of an old one */
        if (vit_safetensors_write(p->path, every_dtype, count, more, 1, &error) != VIT_OK)
            fail_msg("%s", error.message);
        vit_bytes expected = encode(every_dtype, count, more, 1);
        assert_file(p->path, &expected);
        vit_free(expected.data);
    }
    vit_tensors *file;
    assert_int_equal(vit_tensors_open(&file, p->path, &error), VIT_OK);
    assert_tensors(file, every_dtype, 10);
    vit_tensors_close(file);
}

static void test_refused_tensors_leave_the_old_file(void **state) {
    place *p = *state;
    vit_error error;
    vit_bytes expected = encode(every_dtype, 3, NULL, 0);
    assert_int_equal(vit_safetensors_write(p->path, every_dtype, 3, NULL, 0, &error), VIT_OK);
    const vit_tensor wrong = {"w", VIT_F32, 1, {2}, 1, f32};
    assert_int_equal(vit_safetensors_write(p->path, &wrong, 1, NULL, 0, &error),
                     VIT_ERROR_ARGUMENT);
    assert_int_equal(strncmp(error.message, p->path, strlen(p->path)), 0);
    assert_non_null(strstr(error.message, ": tensor 'w' has 1 elements"));
    assert_file(p->path, &expected);
    vit_free(expected.data);
}

static void test_open_names_the_file(void **state) {
    place *p = *state;
    vit_tensors *file;
    vit_error error;
    assert_int_equal(vit_tensors_open(&file, p->path, &error), VIT_ERROR_IO);
    assert_null(file);
    assert_non_null(strstr(error.message, p->path));
    vit_writer *writer; /* an empty file, of which nothing can be mapped */
    assert_int_equal(vit_writer_open(&writer, p->path, &error), VIT_OK);
    assert_int_equal(vit_writer_commit(writer, &error), VIT_OK);
    assert_int_equal(vit_tensors_open(&file, p->path, &error), VIT_ERROR_FORMAT);
    assert_null(file);
    assert_non_null(strstr(error.message, p->path));
    assert_non_null(strstr(error.message, "the file has 0 bytes"));
}

/* ---- failures of the system ---- */

static void test_hash_and_parse_without_memory(void **state) {
    vit_bytes whole = encode(every_dtype, COUNT(every_dtype), more, COUNT(more));
    char hex[65], right[65];
    vit_sha256 hash;
    vit_tensors *file;
    vit_error error;
    for (long n = 1;; n++) {
        fault_arm(n);
        vit_status status =
            vit_safetensors_hash(hex, every_dtype, COUNT(every_dtype), more, 2, &error);
        fault_disarm();
        if (!fault_call()) break;
        assert_int_equal(status, VIT_ERROR_MEMORY);
        assert_non_null(strstr(error.message, "out of memory"));
    }
    vit_sha256_start(&hash);
    vit_sha256_add(&hash, whole.data, whole.size);
    vit_sha256_hex(&hash, right);
    assert_string_equal(hex, right);
    for (long n = 1;; n++) {
        fault_arm(n);
        vit_status status = vit_tensors_parse(&file, whole.data, whole.size, "m", &error);
        fault_disarm();
        if (!fault_call()) break;
        assert_int_equal(status, VIT_ERROR_MEMORY);
        assert_non_null(strstr(error.message, "out of memory"));
        assert_null(file);
    }
    assert_tensors(file, every_dtype, COUNT(every_dtype));
    vit_tensors_close(file);
    vit_free(whole.data);
}

static void test_open_when_a_call_fails(void **state) {
    vit_tensors *file;
    vit_error error;
    long failures = 0;
    for (long n = 1;; n++) {
        fault_arm(n);
        vit_status status =
            vit_tensors_open(&file, "tests/fixtures/python_all.safetensors", &error);
        fault_disarm();
        if (!fault_call()) break;
        if (status == VIT_OK) { /* closing what was only read may fail unnoticed */
            assert_string_equal(fault_call(), "close");
            vit_tensors_close(file);
            continue;
        }
        assert_null(file);
        assert_non_null(strstr(error.message, "python_all.safetensors"));
        failures++;
    }
    assert_true(failures >= 6); /* open, mmap and at least four allocations */
    assert_tensors(file, every_dtype, COUNT(every_dtype));
    vit_tensors_close(file);
}

/* Whatever fails, the old file stays, and no temporary one (remove_place would fail); only the
 * last sync comes when the new one is in place already. */
static void test_write_when_a_call_fails(void **state) {
    place *p = *state;
    vit_error error;
    vit_bytes old = encode(every_dtype, 3, NULL, 0), new = encode(every_dtype, 13, more, 2);
    long writes = 0, late = 0;
    for (long n = 1;; n++) {
        assert_int_equal(vit_safetensors_write(p->path, every_dtype, 3, NULL, 0, NULL), VIT_OK);
        fault_arm(n);
        vit_status status = vit_safetensors_write(p->path, every_dtype, 13, more, 2, &error);
        fault_disarm();
        if (!fault_call()) break;
        bool synced_late = status != VIT_OK && strstr(error.message, "power failure");
        if (status == VIT_OK) assert_string_equal(fault_call(), "close");
        assert_file(p->path, status == VIT_OK || synced_late ? &new : &old);
        if (status != VIT_OK && status != VIT_ERROR_MEMORY && !strstr(error.message, p->path))
            fail_msg("%s: %s", fault_call(), error.message);
        writes += strcmp(fault_call(), "write") == 0;
        late += synced_late;
    }
    assert_true(writes > 0);
    assert_int_equal(late, 1);
    assert_file(p->path, &new);
    vit_free(old.data);
    vit_free(new.data);
}

static void test_write_in_small_pieces(void **state) {
    place *p = *state;
    vit_error error;
    fault_trickle(true);
    vit_status status = vit_safetensors_write(p->path, every_dtype, 13, more, 2, &error);
    fault_trickle(false);
    assert_int_equal(status, VIT_OK);
    vit_bytes expected = encode(every_dtype, 13, more, 2);
    assert_file(p->path, &expected);
    vit_free(expected.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_what_python_wrote),
        cmocka_unit_test(test_writes_the_bytes_python_reads),
        cmocka_unit_test(test_writes_the_bytes_python_writes),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_order_of_the_arguments_does_not_matter),
        cmocka_unit_test(test_pads_the_header),
        cmocka_unit_test(test_refuses_wrong_tensors),
        cmocka_unit_test(test_refuses_wrong_metadata),
        cmocka_unit_test(test_refuses_a_header_beyond_the_limit),
        cmocka_unit_test_setup_teardown(test_writes_a_file, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_refused_tensors_leave_the_old_file, make_place,
                                        remove_place),
        cmocka_unit_test_setup_teardown(test_open_names_the_file, make_place, remove_place),
        cmocka_unit_test(test_hash_and_parse_without_memory),
        cmocka_unit_test(test_open_when_a_call_fails),
        cmocka_unit_test_setup_teardown(test_write_when_a_call_fails, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_write_in_small_pieces, make_place, remove_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
