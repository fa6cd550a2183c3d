/* vit_onnx_write: the file read again as protobuf says, field by field. Whether ONNX Runtime
 * computes the same from it, tests/cli/export_peers.py asks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/fault.h"
#include "tests/support/scratch.h"
#include "tests/support/small_model.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/weights/export/onnx.h"

/* ---- messages ---- */

typedef struct span {
    const uint8_t *at, *end;
} span;

typedef struct field {
    unsigned number;
    uint64_t value; /* of an integer */
    span bytes;     /* of a message or a text */
} field;

static uint64_t varint(span *s) {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        assert_true(s->at < s->end && shift < 64);
        const uint8_t byte = *s->at++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return value;
    }
}

/* The next field, or false at the end. */
static bool next(span *s, field *f) {
    if (s->at == s->end) return false;
    const uint64_t key = varint(s), wire = key & 7;
    *f = (field){.number = (unsigned)(key >> 3)};
    if (wire == 0) {
        f->value = varint(s);
        return true;
    }
    const uint64_t size = wire == 5 ? 4 : varint(s);
    assert_true(wire == 5 || wire == 2);
    assert_true(size <= (size_t)(s->end - s->at));
    f->bytes = (span){s->at, s->at + size};
    s->at += size;
    return true;
}

/* The first field of that number. */
static field find(span s, unsigned number) {
    field f;
    while (next(&s, &f))
        if (f.number == number) return f;
    fail_msg("field %u is missing", number);
    return f;
}

static bool is_text(span s, const char *text) {
    return (size_t)(s.end - s.at) == strlen(text) && memcmp(s.at, text, strlen(text)) == 0;
}

/* ---- names of values ---- */

typedef struct names {
    span list[4096];
    size_t count;
} names;

static bool has(const names *n, span name) {
    for (size_t i = 0; i < n->count; i++) {
        const span other = n->list[i];
        if (other.end - other.at == name.end - name.at &&
            memcmp(other.at, name.at, (size_t)(name.end - name.at)) == 0)
            return true;
    }
    return false;
}

/* Every value has one name of its own. */
static void define(names *n, span name) {
    assert_true(n->count < sizeof n->list / sizeof *n->list);
    assert_true(name.end > name.at && !has(n, name));
    n->list[n->count++] = name;
}

/* Elements and bytes of a tensor agree. */
static void check_tensor(span tensor) {
    size_t count = 1;
    field f;
    const size_t sizes[] = {[1] = 4, [7] = 8, [10] = 2, [16] = 2};
    const uint64_t type = find(tensor, 2).value;
    const span raw = find(tensor, 9).bytes;
    for (span s = tensor; next(&s, &f);)
        if (f.number == 1) count *= (size_t)f.value;
    assert_true(type < sizeof sizes / sizeof *sizes && sizes[type] > 0);
    assert_int_equal(raw.end - raw.at, count * sizes[type]);
}

/* Inputs of a node are there before it: the order that ONNX asks for. */
static void check_node(names *known, span node) {
    field f;
    for (span s = node; next(&s, &f);)
        if (f.number == 1 && !has(known, f.bytes))
            fail_msg("no value %.*s", (int)(f.bytes.end - f.bytes.at), (const char *)f.bytes.at);
    for (span s = node; next(&s, &f);)
        if (f.number == 2) define(known, f.bytes);
}

static void check_graph(span graph, const vit_table *table, const char *ending) {
    static names known;
    char name[64];
    field f;
    known.count = 0;
    for (span s = graph; next(&s, &f);)
        if (f.number == 5 || f.number == 11)
            define(&known, find(f.bytes, f.number == 5 ? 8 : 1).bytes);
    for (size_t i = 0; i < table->count; i++) {
        snprintf(name, sizeof name, "%s%s", table->rows[i].name, ending);
        assert_true(has(&known, (span){(uint8_t *)name, (uint8_t *)name + strlen(name)}));
    }
    for (span s = graph; next(&s, &f);) {
        if (f.number == 5) check_tensor(f.bytes);
        if (f.number == 1) check_node(&known, f.bytes);
    }
    const span input = find(graph, 11).bytes, output = find(graph, 12).bytes;
    assert_true(is_text(find(input, 1).bytes, "pixel_values"));
    assert_true(is_text(find(output, 1).bytes, "logits"));
    assert_true(has(&known, find(output, 1).bytes));
    /* type.tensor_type.shape.dim: the first has a name, not a size */
    const span shape = find(find(find(input, 2).bytes, 1).bytes, 2).bytes;
    assert_true(is_text(find(find(shape, 1).bytes, 2).bytes, "batch"));
}

static bool has_metadata(span model, const char *key, const char *value) {
    field f;
    while (next(&model, &f))
        if (f.number == 14 && is_text(find(f.bytes, 1).bytes, key))
            return is_text(find(f.bytes, 2).bytes, value);
    return false;
}

/* ---- models ---- */

static const char list[] = "[{\"op\": \"rgb\"}, {\"op\": \"normalize\", \"mean\": [0.5, 0.5, 0.5], "
                           "\"std\": [0.5, 0.5, 0.5]}]";

static vit_model_file make_model(const char *changes) {
    static const char *const labels[] = {"a", "b \"c\"", "d"};
    return small_model("{\"image\": [8, 12], \"channels\": 3, \"patch\": 4, \"dim\": 12, "
                       "\"depth\": 2, \"heads\": 3, \"mlp\": 10, \"classes\": 3}",
                       changes, list, labels, "{\"seed\": 7}");
}

static void check_file(const char *changes, vit_dtype dtype, const char *ending) {
    vit_model_file m = make_model(changes);
    vit_bytes bytes;
    vit_error error;
    if (vit_onnx_write("model.onnx", &m, dtype, VIT_ONNX_LARGEST, &error) != VIT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(vit_read_file(&bytes, "model.onnx", 1 << 24, NULL), VIT_OK);
    const span model = {bytes.data, bytes.data + bytes.size};
    assert_int_equal(find(find(model, 8).bytes, 2).value, 17);
    assert_true(has_metadata(model, "vit.labels", "[\"a\", \"b \\\"c\\\"\", \"d\"]"));
    assert_true(has_metadata(model, "vit.recipe", "{\"seed\": 7}"));
    char *config = vit_config_write(&m.config), *steps = vit_preprocessing_write(&m.preprocessing);
    assert_true(has_metadata(model, "vit.config", config));
    assert_true(has_metadata(model, "vit.preprocessing", steps));
    check_graph(find(model, 7).bytes, &m.table, ending);
    vit_free(config);
    vit_free(steps);
    vit_free(bytes.data);
    vit_model_file_clear(&m);
}

static void test_structure(void **state) {
    static const char *const networks[] = {
        "{}",
        "{\"stem\": \"conv\", \"pool\": \"mean\"}",
        "{\"stem\": \"cct\", \"pool\": \"seq\"}",
        "{\"patch_order\": \"pixel\", \"patch_norm\": true, \"patch_bias\": false}",
        "{\"norm\": \"post\", \"positions\": \"sincos2d\", \"final_norm\": false}",
        "{\"positions\": \"none\", \"registers\": 1}",
        "{\"rope\": \"axial\", \"qk_norm\": true, \"registers\": 1}",
        "{\"rope\": \"centered\", \"rope_halves\": true, \"positions\": \"none\"}",
        "{\"rope\": \"axial\", \"rope_class\": true, \"rope_halves\": true, \"registers\": 1}",
        "{\"relative\": \"blocks\", \"pool\": \"mean\", \"key_bias\": false}",
        "{\"relative\": \"shared\", \"attention_norm\": true, \"mlp_norm\": true}",
        "{\"rope\": \"mixed\", \"rope_columns_first\": true}",
        "{\"rms_norm\": true, \"proj_bias\": false, \"embed_norm\": true, \"pool\": \"prr\"}",
        "{\"norm\": \"res_post\", \"relative\": \"blocks\", \"relative_mlp\": 5}",
        "{\"pool\": \"map\", \"pool_plain\": true, \"qkv_bias\": false}",
        "{\"pool\": \"prefix_mean\", \"registers\": 3, \"head\": \"tanh\"}",
        "{\"norm\": \"parallel\", \"pool\": \"mean_max\", \"layer_scale\": true}",
        "{\"relative\": \"shared\", \"relative_mlp\": 5, \"pool\": \"max\"}",
        "{\"registers\": 2, \"prefix_positions\": false, \"layer_scale\": true, \"qk_norm\": true}",
        "{\"pool\": \"map\", \"norm_pre\": true, \"activation\": \"gelu_tanh\"}",
        "{\"pool\": \"class_mean\", \"gated\": true, \"activation\": \"silu\", \"head\": \"mlp\"}",
        "{\"pool\": \"class_dist\", \"head_bias\": false, \"head_dim\": 5, \"depth\": 12}",
        "{\"head\": \"cosine\", \"projection\": 6, \"head_bias\": false}",
    };
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        check_file(networks[i], VIT_F32, "");
        check_file(networks[i], VIT_F16, "_f16");
        check_file(networks[i], VIT_BF16, "_bf16");
    }
}

static void check_same(const char *path) {
    vit_bytes first, second;
    assert_int_equal(vit_read_file(&first, "one.onnx", 1 << 24, NULL), VIT_OK);
    assert_int_equal(vit_read_file(&second, path, 1 << 24, NULL), VIT_OK);
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.data, second.data, first.size);
    vit_free(first.data);
    vit_free(second.data);
}

/* The same model, the same bytes; whatever call of the system fails, there is the whole file (the
 * last sync may fail when it is in place) or none. */
static void test_every_failing_call(void **state) {
    vit_model_file m = make_model("{\"depth\": 1}");
    vit_error error;
    assert_int_equal(vit_onnx_write("one.onnx", &m, VIT_BF16, VIT_ONNX_LARGEST, &error), VIT_OK);
    for (long n = 1;; n++) {
        fault_arm(n);
        const vit_status status =
            vit_onnx_write("two.onnx", &m, VIT_BF16, VIT_ONNX_LARGEST, &error);
        fault_disarm();
        if (!fault_call()) break;
        if (status == VIT_OK || vit_path_look("two.onnx") == VIT_PATH_FILE) check_same("two.onnx");
        assert_int_equal(vit_remove_file("two.onnx", NULL), VIT_OK);
    }
    check_same("two.onnx");
    vit_model_file_clear(&m);
}

/* The value of a key of a tensor's external data. */
static char *entry(char *out, span tensor, const char *key) {
    field f;
    for (span s = tensor; next(&s, &f);) {
        if (f.number != 13 || !is_text(find(f.bytes, 1).bytes, key)) continue;
        const span value = find(f.bytes, 2).bytes;
        memcpy(out, value.at, (size_t)(value.end - value.at));
        out[value.end - value.at] = 0;
        return out;
    }
    fail_msg("no %s", key);
    return out;
}

/* The tensors of a graph that is too large for one file: the same ones, elsewhere. */
static void test_external_data(void **state) {
    vit_model_file m = make_model("{}");
    vit_error error;
    vit_bytes one, two, data;
    char text[64];
    field f, g;
    size_t outside = 0;
    assert_int_equal(vit_onnx_write("one.onnx", &m, VIT_F16, VIT_ONNX_LARGEST, &error), VIT_OK);
    assert_int_equal(vit_path_look("one.onnx.data"), VIT_PATH_NONE);
    assert_int_equal(vit_read_file(&one, "one.onnx", 1 << 24, NULL), VIT_OK);
    for (int again = 0; again < 2; again++) /* and over both files that are there */
        assert_int_equal(vit_onnx_write("two.onnx", &m, VIT_F16, one.size - 1, &error), VIT_OK);
    assert_int_equal(vit_read_file(&two, "two.onnx", 1 << 24, NULL), VIT_OK);
    assert_int_equal(vit_read_file(&data, "two.onnx.data", 1 << 24, NULL), VIT_OK);
    assert_true(two.size < one.size);
    span a = find((span){one.data, one.data + one.size}, 7).bytes;
    span b = find((span){two.data, two.data + two.size}, 7).bytes;
    while (next(&a, &f)) {
        assert_true(next(&b, &g));
        assert_int_equal(f.number, g.number);
        if (f.number != 5 || find(f.bytes, 2).value != 10) continue; /* FLOAT16 */
        const span raw = find(f.bytes, 9).bytes;
        const size_t size = (size_t)(raw.end - raw.at);
        assert_string_equal(entry(text, g.bytes, "location"), "two.onnx.data");
        assert_int_equal(find(g.bytes, 14).value, 1);
        assert_int_equal(strtoul(entry(text, g.bytes, "length"), NULL, 10), size);
        const size_t at = strtoul(entry(text, g.bytes, "offset"), NULL, 10);
        assert_true(at % 4096 == 0 && at + size <= data.size);
        assert_memory_equal(data.data + at, raw.at, size);
        outside++;
    }
    assert_int_equal(outside, m.table.count);
    /* A graph that does not fit by itself is refused. */
    assert_int_equal(vit_onnx_write("three.onnx", &m, VIT_F16, 100, &error), VIT_ERROR_UNSUPPORTED);
    assert_int_equal(vit_path_look("three.onnx.data"), VIT_PATH_NONE);
    vit_free(one.data);
    vit_free(two.data);
    vit_free(data.data);
    vit_model_file_clear(&m);
}

/* What float16 cannot hold is named, and nothing is written. */
static void test_too_large_a_number(void **state) {
    vit_model_file m = make_model("{}");
    vit_error error;
    m.values[vit_table_find(&m.table, "norm.bias")->offset + 1] = 1e5f;
    assert_int_equal(vit_onnx_write("model.onnx", &m, VIT_F16, VIT_ONNX_LARGEST, &error),
                     VIT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "tensor norm.bias: an element is 100000"));
    assert_int_equal(vit_path_look("model.onnx"), VIT_PATH_NONE);
    vit_model_file_clear(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_structure),
        IN_DIRECTORY(test_every_failing_call),
        IN_DIRECTORY(test_external_data),
        IN_DIRECTORY(test_too_large_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
