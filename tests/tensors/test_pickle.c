/* The reader of pickles on hand-made ones: what it makes of each opcode, and what it refuses.
 * https://docs.python.org/3/library/pickletools.html says what they do. */
#include <string.h>

#include "tests/support/fault.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/tensors/pickle.h"

/* ---- pickles ---- */

typedef struct bytes {
    const char *text;
    size_t size;
} bytes;

#define BYTES(text) ((bytes){text, sizeof(text) - 1})

#define STORAGE                                        \
    "(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0" \
    "7X\3\0\0\0cpuK\6tQ"
#define REBUILD "ctorch._utils\n_rebuild_tensor_v2\n"
#define ORDERED "ccollections\nOrderedDict\n)R"
#define TENSOR REBUILD "(" STORAGE "K\1K\2K\3\x86K\1K\2\x86\x89" ORDERED "tR"

static void refused(bytes b, vit_status status, const char *part) {
    vit_pickle *p = (vit_pickle *)&b;
    vit_error error = {0};
    /* Memory that ends where the pickle does. */
    uint8_t *copy = vit_alloc(b.size, 1);
    assert_non_null(copy);
    memcpy(copy, b.text, b.size);
    if (vit_pickle_read(&p, copy, b.size, &error) != status || !strstr(error.message, part))
        fail_msg("expected %s \"%s\", found \"%s\"", vit_status_name(status), part, error.message);
    assert_null(p);
    vit_free(copy);
}

static vit_pickle *read_pickle(bytes b) {
    vit_pickle *p;
    vit_error error;
    if (vit_pickle_read(&p, (const uint8_t *)b.text, b.size, &error) != VIT_OK)
        fail_msg("%s", error.message);
    return p;
}

static void check_number(bytes b, int64_t number) {
    vit_pickle *p = read_pickle(b);
    assert_int_equal(vit_pickle_root(p).kind, VIT_PICKLE_NUMBER);
    assert_int_equal(vit_pickle_root(p).index, number);
    vit_pickle_free(p);
}

static void check_kind(bytes b, vit_pickle_kind kind, size_t length) {
    vit_pickle *p = read_pickle(b);
    assert_int_equal(vit_pickle_root(p).kind, kind);
    assert_int_equal(vit_pickle_root(p).length, length);
    vit_pickle_free(p);
}

/* ---- tests ---- */

static void test_numbers(void **state) {
    check_number(BYTES("\x80\2K\xff."), 255);
    check_number(BYTES("M\1\2."), 0x201);
    check_number(BYTES("J\xfe\xff\xff\xff."), -2);
    check_number(BYTES("\x8a\0."), 0);
    check_number(BYTES("\x8a\1\x80."), -128);
    check_number(BYTES("\x8a\2\x80\0."), 128);
    check_number(BYTES("\x8a\x08\0\0\0\0\0\0\0\x80."), INT64_MIN);
    check_kind(BYTES("\x8a\x09\0\0\0\0\0\0\0\0\1."), VIT_PICKLE_OTHER, 0);
    check_kind(BYTES("GABCDEFGH."), VIT_PICKLE_OTHER, 0);
    check_kind(BYTES("\x88."), VIT_PICKLE_OTHER, 0);
}

static void test_texts_and_tuples(void **state) {
    check_kind(BYTES("X\3\0\0\0abc."), VIT_PICKLE_TEXT, 3);
    check_kind(BYTES("\x8c\3abc."), VIT_PICKLE_TEXT, 3);
    check_kind(BYTES("\x8d\3\0\0\0\0\0\0\0abc."), VIT_PICKLE_TEXT, 3);
    check_kind(BYTES(")."), VIT_PICKLE_TUPLE, 0);
    check_kind(BYTES("(t."), VIT_PICKLE_TUPLE, 0);
    check_kind(BYTES("NNN\x87."), VIT_PICKLE_TUPLE, 3);
    check_kind(BYTES("(NNNNNt."), VIT_PICKLE_TUPLE, 5);
    check_kind(BYTES("](NNe."), VIT_PICKLE_LIST, 0);
    check_kind(BYTES("]Na."), VIT_PICKLE_LIST, 0);
}

static void test_dictionaries_are_objects(void **state) {
    /* The memo's copy of the dictionary is the dictionary. */
    vit_pickle *p = read_pickle(BYTES(ORDERED "q\0K\1K\2s}bh\0\x86."));
    vit_pickle_free(p);
    p = read_pickle(BYTES("}q\0K\1K\2s(K\3K\4K\5K\6u."));
    const vit_pickle_pair *pair = NULL;
    for (int64_t i = 1; i <= 5; i += 2) {
        pair = vit_pickle_next(p, vit_pickle_root(p), pair);
        assert_non_null(pair);
        assert_int_equal(pair->key.index, i);
        assert_int_equal(pair->value.index, i + 1);
    }
    assert_null(vit_pickle_next(p, vit_pickle_root(p), pair));
    vit_pickle_free(p);
}

static void check_view(bytes b) {
    vit_pickle *p = read_pickle(b);
    const vit_pickle_value root = vit_pickle_root(p);
    assert_int_equal(root.kind, VIT_PICKLE_TENSOR);
    const vit_pickle_tensor *t = vit_pickle_tensor_of(p, root);
    assert_int_equal(t->storage.dtype, VIT_F32);
    assert_int_equal(t->storage.count, 6);
    assert_int_equal(t->storage.key_length, 1);
    assert_int_equal(t->storage.key[0], '7');
    assert_int_equal(t->offset, 1);
    assert_int_equal(t->dims, 2);
    assert_true(t->shape[0] == 2 && t->shape[1] == 3);
    assert_true(t->strides[0] == 1 && t->strides[1] == 2);
    vit_pickle_free(p);
}

static void test_tensors(void **state) {
    check_view(BYTES(TENSOR "."));
    check_view(BYTES("ctorch._utils\n_rebuild_parameter\n" TENSOR "\x88" ORDERED "\x87R."));
    check_view(BYTES("\x8c\x0ctorch._utils\x8c\x0f_rebuild_tensor\x93(" STORAGE
                     "K\1K\2K\3\x86K\1K\2\x86tR."));
    check_view(BYTES(REBUILD "(" STORAGE "K\1K\2K\3\x86K\1K\2\x86\x89" ORDERED "}tR."));
}

static void test_what_is_not_needed(void **state) {
    refused(BYTES("cos\nsystem\n."), VIT_ERROR_UNSUPPORTED, "asks for os.system, which");
    refused(BYTES("\x8c\2os\x8c\6system\x93."), VIT_ERROR_UNSUPPORTED, "asks for os.system");
    refused(BYTES("c__builtin__\neval\n."), VIT_ERROR_UNSUPPORTED, "__builtin__.eval");
    refused(BYTES("ctorch\nComplexFloatStorage\n."), VIT_ERROR_UNSUPPORTED, "ComplexFloatStorage");
    refused(BYTES("(ios\nsystem\n."), VIT_ERROR_UNSUPPORTED, "byte 1: the opcode 0x69");
    refused(BYTES("\x80\6."), VIT_ERROR_UNSUPPORTED, "protocol 6");
    refused(BYTES("\x80\1."), VIT_ERROR_UNSUPPORTED, "protocol 1");
    refused(BYTES("N)\x81."), VIT_ERROR_FORMAT, "no class of settings");
    refused(BYTES("ctorch\nFloatStorage\n)\x81."), VIT_ERROR_FORMAT, "no class of settings");
    refused(BYTES(")\x81."), VIT_ERROR_FORMAT, "more objects");
    check_kind(BYTES("cargparse\nNamespace\n)\x81}X\2\0\0\0lrK\1sb."), VIT_PICKLE_OBJECT, 0);
    check_kind(BYTES("cnumpy\ndtype\n(NNtRNNs(NNu."), VIT_PICKLE_OBJECT, 0);
    check_kind(BYTES("C\2ab."), VIT_PICKLE_TEXT, 2);
    check_kind(BYTES("U\2ab."), VIT_PICKLE_TEXT, 2);
    check_kind(BYTES("T\2\0\0\0ab."), VIT_PICKLE_TEXT, 2);
    refused(BYTES("C\3ab."), VIT_ERROR_FORMAT, "cut off");
    refused(BYTES("P0\n."), VIT_ERROR_UNSUPPORTED, "opcode 0x50");
    refused(BYTES(REBUILD "(" STORAGE "K\1K\2K\3\x86K\1K\2\x86\x89" ORDERED "}K\1K\1stR."),
            VIT_ERROR_UNSUPPORTED, "conjugated");
}

static void test_what_is_damaged(void **state) {
    refused(BYTES(""), VIT_ERROR_FORMAT, "cut off");
    refused(BYTES("."), VIT_ERROR_FORMAT, "other than one object");
    refused(BYTES("(."), VIT_ERROR_FORMAT, "other than one object");
    refused(BYTES("NN."), VIT_ERROR_FORMAT, "other than one object");
    refused(BYTES("N.N"), VIT_ERROR_FORMAT, "bytes follow");
    refused(BYTES("N"), VIT_ERROR_FORMAT, "cut off");
    refused(BYTES("J\0\0."), VIT_ERROR_FORMAT, "byte 1: the pickle is cut off");
    refused(BYTES("X\xff\xff\xff\xffN."), VIT_ERROR_FORMAT, "cut off");
    refused(BYTES("\x8d\xff\xff\xff\xff\xff\xff\xff\xffN."), VIT_ERROR_FORMAT, "cut off");
    refused(BYTES("ctorch\nFloat"), VIT_ERROR_FORMAT, "cut off");
    refused(BYTES("N\x86."), VIT_ERROR_FORMAT, "more objects than there are");
    refused(BYTES("N(N\x86."), VIT_ERROR_FORMAT, "follow the mark");
    refused(BYTES("Nt."), VIT_ERROR_FORMAT, "needs a mark");
    refused(BYTES("h\0."), VIT_ERROR_FORMAT, "not put there");
    refused(BYTES("Nq\5h\4."), VIT_ERROR_FORMAT, "not put there");
    refused(BYTES("Nr\xff\xff\xff\x7f."), VIT_ERROR_FORMAT, "memo is larger");
    refused(BYTES("}(Nu."), VIT_ERROR_FORMAT, "do not pair");
    refused(BYTES("N(NNu."), VIT_ERROR_FORMAT, "no dictionary");
    refused(BYTES("NNNs."), VIT_ERROR_FORMAT, "no dictionary");
    refused(BYTES("(NNu."), VIT_ERROR_FORMAT, "do not pair");
    refused(BYTES("NNb."), VIT_ERROR_FORMAT, "no dictionary");
    refused(BYTES("N)R."), VIT_ERROR_FORMAT, "no class or function");
    refused(BYTES("ccollections\nOrderedDict\nN\x85R."), VIT_ERROR_FORMAT, "do not fit it");
    refused(BYTES("ctorch\nFloatStorage\n)R."), VIT_ERROR_FORMAT, "do not fit it");
    refused(BYTES("NN\x93."), VIT_ERROR_FORMAT, "no texts");
}

static void test_tensors_that_are_damaged(void **state) {
    refused(BYTES(")Q."), VIT_ERROR_FORMAT, "not a storage");
    refused(BYTES("K\1Q."), VIT_ERROR_FORMAT, "not a storage");
    refused(BYTES("(NNNNNtQ."), VIT_ERROR_FORMAT, "not a storage");
    refused(BYTES("(X\7\0\0\0storageccollections\nOrderedDict\nX\1\0\0\0"
                  "0NK\2tQ."),
            VIT_ERROR_FORMAT, "not a storage");
    refused(BYTES("(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0"
                  "0NJ\xff\xff\xff\xfftQ."),
            VIT_ERROR_FORMAT, "not a storage");
    refused(BYTES(REBUILD ")R."), VIT_ERROR_FORMAT, "other parts");
    refused(BYTES(REBUILD "(NK\1))tR."), VIT_ERROR_FORMAT, "other parts");
    refused(BYTES(REBUILD "(" STORAGE "N))tR."), VIT_ERROR_FORMAT, "other parts");
    refused(BYTES(REBUILD "(" STORAGE "K\0K\1\x85)tR."), VIT_ERROR_FORMAT, "other parts");
    refused(BYTES(REBUILD "(" STORAGE "K\0N\x85K\1\x85tR."), VIT_ERROR_FORMAT, "other parts");
    refused(BYTES(REBUILD "(" STORAGE "K\0(NNNNNNNNNt(NNNNNNNNNttR."), VIT_ERROR_FORMAT,
            "at most 8 dimensions");
}

static void test_what_is_too_large(void **state) {
    bytes many = {.size = VIT_PICKLE_MAX_SIZE};
    char *text = vit_alloc(many.size + 1, 1);
    assert_non_null(text);
    memset(text, '(', many.size);
    many.text = text;
    refused(many, VIT_ERROR_FORMAT, "cut off");
    vit_free(text);
}

static void test_no_memory(void **state) {
    for (long n = 1;; n++) {
        vit_pickle *p;
        fault_arm(n);
        const vit_status status =
            vit_pickle_read(&p, (const uint8_t *)TENSOR "q\0.", sizeof(TENSOR "q\0.") - 1, NULL);
        fault_disarm();
        vit_pickle_free(p);
        if (!fault_call()) break;
        assert_int_equal(status, VIT_ERROR_MEMORY);
        assert_null(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_texts_and_tuples),
        cmocka_unit_test(test_dictionaries_are_objects),
        cmocka_unit_test(test_tensors),
        cmocka_unit_test(test_what_is_not_needed),
        cmocka_unit_test(test_what_is_damaged),
        cmocka_unit_test(test_tensors_that_are_damaged),
        cmocka_unit_test(test_what_is_too_large),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
