/* The safetensors reader: one hand-made file for every rule of docs/formats.md. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/tensors/tensors.h"

/* ---- hand-made files ---- */

/* A file with this header, of header_size bytes, and data_size bytes 0, 1, 2, ... */
static vit_bytes make_sized(const char *header, size_t header_size, size_t data_size) {
    vit_bytes file = {.size = 8 + header_size + data_size};
    file.data = vit_alloc(file.size, 1);
    assert_non_null(file.data);
    for (size_t i = 0; i < 8; i++) file.data[i] = (uint8_t)((uint64_t)header_size >> (8 * i));
    memcpy(file.data + 8, header, header_size);
    for (size_t i = 0; i < data_size; i++) file.data[8 + header_size + i] = (uint8_t)i;
    return file;
}

static vit_bytes make(const char *header, size_t data_size) {
    return make_sized(header, strlen(header), data_size);
}

static void set_length(vit_bytes *file, uint64_t length) {
    for (size_t i = 0; i < 8; i++) file->data[i] = (uint8_t)(length >> (8 * i));
}

static vit_tensors *parse(const vit_bytes *bytes) {
    vit_tensors *file;
    vit_error error;
    if (vit_tensors_parse(&file, bytes->data, bytes->size, "t.st", &error) != VIT_OK)
        fail_msg("%s", error.message);
    return file;
}

/* Expects a refusal whose sentence begins with the file's name and holds `part`. */
static void refused_bytes(const void *bytes, size_t size, vit_status status, const char *part) {
    vit_tensors *file = (vit_tensors *)&size;
    vit_error error = {0};
    vit_status found = vit_tensors_parse(&file, bytes, size, "t.st", &error);
    if (found != status || error.status != status || file || !strstr(error.message, part) ||
        strncmp(error.message, "t.st: ", 6) != 0)
        fail_msg("expected %s \"%s\", found %s \"%s\"", vit_status_name(status), part,
                 vit_status_name(found), error.message);
    assert_int_equal(vit_tensors_parse(&file, bytes, size, "t.st", NULL), status);
    assert_null(file);
}

static void refused(const char *header, size_t data_size, vit_status status, const char *part) {
    vit_bytes file = make(header, data_size);
    refused_bytes(file.data, file.size, status, part);
    vit_free(file.data);
}

/* Puts `json` where an entry's value stands, after one good tensor of 4 bytes. */
static void refused_entry(const char *json, size_t data_size, vit_status status, const char *part) {
    vit_string header = {0};
    vit_string_add(
        &header, "{\"a\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[0,4]},\"w\":%s}", json);
    refused(header.text, data_size, status, part);
    vit_string_free(&header);
}

/* Puts `json` where the member of an object stands. */
static void refused_member(const char *json, const char *part) {
    vit_string header = {0};
    vit_string_add(&header, "{%s}", json);
    refused(header.text, 0, VIT_ERROR_FORMAT, part);
    vit_string_free(&header);
}

#define EMPTY "{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}"

/* ---- what is taken ---- */

static void test_reads_tensors_and_metadata(void **state) {
    vit_bytes bytes = make("{\"b\":{\"dtype\":\"I16\",\"shape\":[2,3],\"data_offsets\":[1,13]},"
                           "\"__metadata__\":{\"z\":\"1\",\"a\":\"\",\"format\":\"pt\"},"
                           "\"a\":{\"data_offsets\":[0,1],\"shape\":[],\"dtype\":\"U8\"}}",
                           13);
    vit_tensors *file = parse(&bytes);
    assert_string_equal(vit_tensors_name(file), "t.st");
    assert_int_equal(vit_tensors_count(file), 2);
    const vit_tensor *a = vit_tensors_at(file, 0), *b = vit_tensors_at(file, 1);
    assert_string_equal(a->name, "a");
    assert_int_equal(a->dims, 0);
    assert_int_equal(a->count, 1);
    assert_string_equal(b->name, "b");
    assert_int_equal(b->dtype, VIT_I16);
    assert_int_equal(b->dims, 2);
    assert_int_equal(b->shape[0], 2);
    assert_int_equal(b->shape[1], 3);
    assert_int_equal(b->count, 6);
    assert_ptr_equal(b->data, bytes.data + bytes.size - 12); /* handed out where it lies */
    assert_ptr_equal(vit_tensors_find(file, "a"), a);
    assert_ptr_equal(vit_tensors_find(file, "b"), b);
    assert_null(vit_tensors_find(file, "c"));
    assert_null(vit_tensors_find(file, ""));
    assert_string_equal(vit_tensors_metadata(file, "z"), "1");
    assert_string_equal(vit_tensors_metadata(file, "a"), "");
    assert_string_equal(vit_tensors_metadata(file, "format"), "pt");
    assert_null(vit_tensors_metadata(file, "b"));
    vit_tensors_close(file);
    vit_free(bytes.data);
}

static void test_reads_files_without_tensors(void **state) {
    const char *headers[] = {"{}", " \t\r\n{ }\n\t  ", "{\"__metadata__\":{}}",
                             "{ \"__metadata__\" : { \"k\" : \"v\" } }"};
    for (size_t i = 0; i < 4; i++) {
        vit_bytes bytes = make(headers[i], 0);
        vit_tensors *file = parse(&bytes);
        assert_int_equal(vit_tensors_count(file), 0);
        assert_null(vit_tensors_find(file, "a"));
        assert_null(vit_tensors_metadata(file, "a"));
        vit_tensors_close(file);
        vit_free(bytes.data);
    }
    vit_tensors_close(NULL);
}

static void test_empty_tensors_lie_anywhere(void **state) {
    vit_bytes bytes = make("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
                           "\"e\":{\"dtype\":\"F64\",\"shape\":[3,0],\"data_offsets\":[2,2]},"
                           "\"f\":{\"dtype\":\"F64\",\"shape\":[0],\"data_offsets\":[0,0]},"
                           "\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,3]},"
                           "\"g\":{\"dtype\":\"F64\",\"shape\":[0,9],\"data_offsets\":[3,3]}}",
                           3);
    vit_tensors *file = parse(&bytes);
    assert_int_equal(vit_tensors_count(file), 5);
    assert_int_equal(vit_tensors_find(file, "e")->count, 0);
    assert_int_equal(vit_tensor_floats(vit_tensors_find(file, "e"), NULL, NULL), VIT_OK);
    vit_tensors_close(file);
    vit_free(bytes.data);
}

static void test_unescapes_strings(void **state) {
    vit_bytes bytes =
        make("{\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20AC\\uD83D\\uDE00"
             "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\":" EMPTY ","
             "\"\":" EMPTY ",\"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf\x7f\":" EMPTY "}",
             0);
    vit_tensors *file = parse(&bytes);
    assert_string_equal(vit_tensors_at(file, 0)->name, "");
    assert_string_equal(vit_tensors_at(file, 1)->name,
                        "\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"
                        "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    assert_non_null(vit_tensors_find(file, "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf\x7f"));
    vit_tensors_close(file);
    vit_free(bytes.data);
}

/* The eight bytes of a length of 0x7b20 begin like JSON, as the index of a sharded checkpoint does:
 * " {". */
static void test_a_length_that_looks_like_json(void **state) {
    static char header[0x7b20];
    memset(header, ' ', sizeof header);
    memcpy(header, "{\"a\":" EMPTY "}", sizeof "{\"a\":" EMPTY "}" - 1);
    vit_bytes bytes = make_sized(header, sizeof header, 0);
    vit_tensors *file = parse(&bytes);
    assert_non_null(vit_tensors_find(file, "a"));
    vit_tensors_close(file);
    vit_free(bytes.data);
}

static void test_eight_dimensions(void **state) {
    vit_bytes bytes =
        make("{\"a\":{\"dtype\":\"I8\",\"shape\":[1,1,2,1,3,1,1,1],\"data_offsets\":[0,6]}}", 6);
    vit_tensors *file = parse(&bytes);
    assert_int_equal(vit_tensors_at(file, 0)->dims, 8);
    assert_int_equal(vit_tensors_at(file, 0)->shape[4], 3);
    vit_tensors_close(file);
    vit_free(bytes.data);
}

/* ---- the frame ---- */

static void test_refuses_wrong_lengths(void **state) {
    refused_bytes(NULL, 0, VIT_ERROR_FORMAT, "has 0 bytes, expected at least the 8");
    refused_bytes("\2\0\0\0\0\0\0", 7, VIT_ERROR_FORMAT, "has 7 bytes, expected at least the 8");
    vit_bytes file = make("{}", 0);
    set_length(&file, 3);
    refused_bytes(file.data, file.size, VIT_ERROR_FORMAT,
                  "the header's length is 3 bytes, but only 2 follow: the file is cut off");
    set_length(&file, 100000000);
    refused_bytes(file.data, file.size, VIT_ERROR_FORMAT, "is 100000000 bytes, but only 2 follow");
    set_length(&file, 100000001);
    refused_bytes(file.data, file.size, VIT_ERROR_FORMAT,
                  "is 100000001 bytes, expected at most 100000000");
    set_length(&file, UINT64_MAX);
    refused_bytes(file.data, file.size, VIT_ERROR_FORMAT, "is 18446744073709551615 bytes");
    set_length(&file, 1);
    refused_bytes(file.data, file.size, VIT_ERROR_FORMAT, "found the end of the header");
    vit_free(file.data);
}

static void test_refuses_what_is_not_json(void **state) {
    refused("", 0, VIT_ERROR_FORMAT, "header byte 0: expected '{', with which a header begins");
    refused("[]", 0, VIT_ERROR_FORMAT,
            "header byte 0: expected '{', with which a header begins, "
            "found '['");
    refused("\xef\xbb\xbf{}", 0, VIT_ERROR_FORMAT, "found the byte 0xef");
    refused("{}x", 0, VIT_ERROR_FORMAT,
            "header byte 2: expected only spaces after the closing '}', found 'x'");
    refused("{} {}", 0, VIT_ERROR_FORMAT, "header byte 3: expected only spaces");
    refused("{}\f", 0, VIT_ERROR_FORMAT, "header byte 2: expected only spaces");
    vit_bytes zero = make_sized("{}\0", 3, 0);
    refused_bytes(zero.data, zero.size, VIT_ERROR_FORMAT, "found the byte 0x00");
    vit_free(zero.data);
    refused("{\"a\":" EMPTY, 0, VIT_ERROR_FORMAT, "expected ',' or '}', found the end");
    refused_member("\"a\":" EMPTY ",", "expected a name in double quotes, found '}'");
    refused_member(",", "expected a name in double quotes, found ','");
    refused_member("a:1", "expected a name in double quotes, found 'a'");
    refused_member("'a':1", "expected a name in double quotes, found ''a''");
    refused_member("\"a\" 1", "header byte 5: expected ':' after a name, found '1'");
    refused_member("\"a\":" EMPTY " \"b\":" EMPTY, "expected ',' or '}', found '\"'");
}

static void test_refuses_wrong_strings(void **state) {
    refused("{\"abc", 0, VIT_ERROR_FORMAT, "header byte 5: expected '\"' at the end of a string");
    refused("{\"abc\\", 0, VIT_ERROR_FORMAT, "expected a whole escape sequence");
    refused_member("\"a\\xb\":" EMPTY, "header byte 3: expected one of \\\" \\\\ \\/ \\b");
    refused_member("\"a\nb\":" EMPTY, "header byte 3: expected no control character in a string");
    refused_member("\"\\u12g4\":" EMPTY, "expected four hexadecimal digits after \\u");
    refused("{\"\\u12", 0, VIT_ERROR_FORMAT, "expected four hexadecimal digits after \\u");
    const char *surrogates[] = {"\\ud800",        "\\ud800x",       "\\ud800\\n",
                                "\\ud800\\u0041", "\\ud800\\ud800", "\\udc00",
                                "\\udc00\\ud800", "\\ud800\\ue000", "\\udfff\\udfff"};
    const char *not_utf8[] = {
        "\x80",         "\xc0\x80",     "\xc1\xbf",         "\xc3",
        "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
        "\xf5\x80",     "\xff",         "\xe2\x82",         "\xe2\x28\xa1"};
    for (size_t i = 0; i < sizeof surrogates / sizeof *surrogates; i++) {
        vit_string member = {0};
        vit_string_add(&member, "\"%s\":" EMPTY, surrogates[i]);
        refused_member(member.text, "header byte 2: expected surrogates in pairs");
        vit_string_free(&member);
    }
    for (size_t i = 0; i < sizeof not_utf8 / sizeof *not_utf8; i++) {
        vit_string member = {0};
        vit_string_add_bytes(&member, "\"", 1);
        vit_string_add_bytes(&member, not_utf8[i], strlen(not_utf8[i]));
        vit_string_add_bytes(&member, "\"", 1);
        refused_member(member.text, "header byte 2: expected valid UTF-8, found the byte 0x");
        vit_string_free(&member);
    }
}

static void test_refuses_zero_characters(void **state) {
    refused("{\"a\\u0000b\":" EMPTY "}", 0, VIT_ERROR_UNSUPPORTED,
            "header byte 3: the string holds the character U+0000");
    refused("{\"__metadata__\":{\"a\":\"\\u0000\"}}", 0, VIT_ERROR_UNSUPPORTED,
            "__metadata__ 'a': header byte 22: the string holds the character U+0000");
    vit_bytes raw = make_sized("{\"a\0b\":" EMPTY "}", 7 + sizeof EMPTY, 0);
    refused_bytes(raw.data, raw.size, VIT_ERROR_FORMAT, "expected no control character");
    vit_free(raw.data);
}

/* ---- entries ---- */

static void test_refuses_wrong_fields(void **state) {
    refused_entry("1", 4, VIT_ERROR_FORMAT,
                  "t.st: tensor 'w': header byte 58: expected '{' and dtype, shape");
    refused_entry("null", 4, VIT_ERROR_FORMAT, "found 'null'");
    refused_entry("{}", 4, VIT_ERROR_FORMAT, "tensor 'w': the field 'dtype' is missing");
    refused_entry("{\"dtype\":\"F32\",\"data_offsets\":[4,4]}", 4, VIT_ERROR_FORMAT,
                  "tensor 'w': the field 'shape' is missing");
    refused_entry("{\"dtype\":\"F32\",\"shape\":[0]}", 4, VIT_ERROR_FORMAT,
                  "tensor 'w': the field 'data_offsets' is missing");
    refused_entry("{\"dtype\":\"F32\",\"shape\":[0],\"dtype\":\"F32\"}", 4, VIT_ERROR_FORMAT,
                  "tensor 'w': the field 'dtype' stands there twice");
    refused_entry("{\"shape\":[0],\"shape\":[0]}", 4, VIT_ERROR_FORMAT,
                  "'shape' stands there twice");
    refused_entry("{\"data_offsets\":[4,4],\"data_offsets\":[4,4]}", 4, VIT_ERROR_FORMAT,
                  "'data_offsets' stands there twice");
    refused_entry("{\"dtype\":\"F32\",\"Shape\":[0]}", 4, VIT_ERROR_FORMAT,
                  "tensor 'w': unknown field 'Shape', expected dtype, shape and data_offsets");
    refused_entry("{\"x\":{\"y\":[]}}", 4, VIT_ERROR_FORMAT, "tensor 'w': unknown field 'x'");
}

static void test_refuses_wrong_dtypes(void **state) {
    refused_entry("{\"dtype\":32}", 4, VIT_ERROR_FORMAT,
                  "expected the dtype in double quotes, found '32'");
    refused_entry(
        "{\"dtype\":\"F8_E4M3\",\"shape\":[],\"data_offsets\":[4,5]}", 5, VIT_ERROR_UNSUPPORTED,
        "tensor 'w': the dtype is 'F8_E4M3', expected F64, F32, F16, BF16, I64, I32, I16, "
        "I8, U8 or BOOL");
    refused_entry("{\"dtype\":\"f32\"}", 4, VIT_ERROR_UNSUPPORTED, "the dtype is 'f32'");
    refused_entry("{\"dtype\":\"\"}", 4, VIT_ERROR_UNSUPPORTED, "the dtype is ''");
}

static void test_refuses_wrong_integers(void **state) {
    const char *wrong[] = {"-1",    "-0", "1.0", "1e2", "01",   "00",  "+1",
                           "\"1\"", "",   ".5",  "[1]", "null", "0x1", "1E2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        vit_string entry = {0};
        vit_string_add(&entry, "{\"dtype\":\"U8\",\"shape\":[1,%s],\"data_offsets\":[4,4]}",
                       wrong[i]);
        if (strcmp(wrong[i], "0x1") == 0) /* a zero, and then something else */
            refused_entry(entry.text, 4, VIT_ERROR_FORMAT, "expected ',' or ']', found 'x1'");
        else
            refused_entry(entry.text, 4, VIT_ERROR_FORMAT,
                          "tensor 'w': header byte 83: expected a non-negative integer, found");
        vit_string_free(&entry);
    }
    refused_entry("{\"shape\":[18446744073709551616]}", 4, VIT_ERROR_FORMAT,
                  "expected an integer of at most 64 bits, found '18446744073709551616'");
    refused_entry("{\"data_offsets\":[0,99999999999999999999999999999]}", 4, VIT_ERROR_FORMAT,
                  "expected an integer of at most 64 bits, found '999999");
}

static void test_refuses_wrong_shapes(void **state) {
    refused_entry("{\"shape\":3}", 4, VIT_ERROR_FORMAT,
                  "expected the shape, an array of integers, found '3'");
    refused_entry("{\"shape\":[1,]}", 4, VIT_ERROR_FORMAT, "a non-negative integer, found ']'");
    refused_entry("{\"shape\":[1 2]}", 4, VIT_ERROR_FORMAT, "expected ',' or ']', found '2'");
    refused_entry("{\"shape\":[1,1,1,1,1,1,1,1,1]}", 4, VIT_ERROR_UNSUPPORTED,
                  "tensor 'w': the shape has 9 dimensions, expected at most 8");
    refused_entry("{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],\"data_offsets\":[4,4]}", 4,
                  VIT_ERROR_FORMAT,
                  "tensor 'w': the shape [4294967296, 4294967296] of U8 needs more bytes than 64");
    refused_entry("{\"dtype\":\"F64\",\"shape\":[2305843009213693952],\"data_offsets\":[4,4]}", 4,
                  VIT_ERROR_FORMAT, "[2305843009213693952] of F64 needs more bytes than 64");
}

static void test_refuses_wrong_offsets(void **state) {
    refused_entry("{\"data_offsets\":[4]}", 4, VIT_ERROR_FORMAT,
                  "tensor 'w': data_offsets holds 1 integers, expected two");
    refused_entry("{\"data_offsets\":[]}", 4, VIT_ERROR_FORMAT, "holds 0 integers, expected two");
    refused_entry("{\"data_offsets\":[4,4,4]}", 4, VIT_ERROR_FORMAT, "holds 3 integers");
    refused_entry("{\"data_offsets\":\"4,4\"}", 4, VIT_ERROR_FORMAT,
                  "expected the data_offsets, an array of two integers, found '\"'");
    refused_entry("{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[5,4]}", 5, VIT_ERROR_FORMAT,
                  "tensor 'w': data_offsets is [5, 4], expected the end not before the begin");
    refused_entry(
        "{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[4,27]}", 28, VIT_ERROR_FORMAT,
        "tensor 'w': data_offsets [4, 27] span 23 bytes, expected 24 for the shape [2, 3] "
        "of F32");
    refused_entry("{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[4,8]}", 7, VIT_ERROR_FORMAT,
                  "tensor 'w': data_offsets is [4, 8], but the file has only 7 bytes of data");
    refused_entry("{\"dtype\":\"U8\",\"shape\":[0],"
                  "\"data_offsets\":[18446744073709551615,18446744073709551615]}",
                  4, VIT_ERROR_FORMAT,
                  "is [18446744073709551615, 18446744073709551615], but the file");
}

/* ---- all entries together ---- */

static void test_refuses_holes_and_overlaps(void **state) {
    refused_entry("{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[5,6]}", 6, VIT_ERROR_FORMAT,
                  "tensor 'w' begins at data byte 5, expected 4, where tensor 'a' ends: there is a "
                  "hole");
    refused_entry("{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[3,6]}", 6, VIT_ERROR_FORMAT,
                  "tensor 'w' begins at data byte 3, expected 4, where tensor 'a' ends: they "
                  "overlap");
    refused_entry("{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[0,4]}", 4, VIT_ERROR_FORMAT,
                  "tensor 'w' begins at data byte 0, expected 4, where tensor 'a' ends: they "
                  "overlap");
    refused_entry("{\"dtype\":\"I8\",\"shape\":[0],\"data_offsets\":[2,2]}", 4, VIT_ERROR_FORMAT,
                  "tensor 'w' begins at data byte 2, expected 4");
    refused_entry("{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[4,5]}", 7, VIT_ERROR_FORMAT,
                  "the tensors end at data byte 5, but the file has 7 bytes of data");
    refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}", 2, VIT_ERROR_FORMAT,
            "tensor 'a' is the first and begins at data byte 1, expected 0");
    refused("{}", 1, VIT_ERROR_FORMAT, "end at data byte 0, but the file has 1 bytes");
}

static void test_refuses_duplicates(void **state) {
    refused_member("\"a\":" EMPTY ",\"b\":" EMPTY ",\"\\u0061\":" EMPTY,
                   "tensor 'a' stands in the header twice, expected once");
    refused_member("\"__metadata__\":{},\"a\":" EMPTY ",\"__metadata__\":{}",
                   "__metadata__ stands in the header twice");
    refused_member("\"__metadata__\":{\"k\":\"1\",\"b\":\"\",\"\\u006b\":\"1\"}",
                   "the key 'k' stands in __metadata__ twice");
}

static void test_refuses_wrong_metadata(void **state) {
    refused_member("\"__metadata__\":null", "expected '{' and the pairs of __metadata__");
    refused_member("\"__metadata__\":[\"a\"]", "expected '{' and the pairs of __metadata__");
    refused_member("\"__metadata__\":{\"k\":1}",
                   "__metadata__ 'k': header byte 21: expected a string, found '1'");
    refused_member("\"__metadata__\":{\"k\":{\"a\":\"b\"}}", "expected a string, found '{'");
    refused_member("\"__metadata__\":{\"k\":\"v\"", "expected ',' or '}', found the end");
}

/* A sentence stays one line of bounded length, whatever the names are. */
static void test_messages_show_any_name(void **state) {
    vit_string header = {0};
    vit_string_add(&header, "{\"a\\n\\u001b");
    for (size_t i = 0; i < 500; i++) vit_string_add(&header, "\xe2\x82\xac");
    vit_string_add(&header, "\":{\"shape\":[1],\"dtype\":\"U8\",\"data_offsets\":[0,2]}}");
    vit_bytes bytes = make(header.text, 2);
    vit_tensors *file;
    vit_error error;
    assert_int_equal(vit_tensors_parse(&file, bytes.data, bytes.size, "t.st", &error),
                     VIT_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "tensor 'a??\xe2\x82\xac"));
    assert_non_null(strstr(error.message, "\xe2\x82\xac...': data_offsets [0, 2] span 2 bytes"));
    vit_free(bytes.data);
    vit_string_free(&header);
    char text[VIT_NAME_TEXT], name[105];
    memset(name, 'n', sizeof name);
    name[103] = '\0';
    assert_string_equal(vit_name_text(text, name), name); /* the longest that is shown whole */
    name[103] = 'n', name[104] = '\0';
    assert_string_equal(vit_name_text(text, name) + 97, "nnn...");
}

static void test_shape_text(void **state) {
    char text[128];
    vit_shape_text(text, NULL, 0);
    assert_string_equal(text, "[]");
    vit_shape_text(text, (const size_t[]){3, 224, 0}, 3);
    assert_string_equal(text, "[3, 224, 0]");
    size_t large[8];
    for (size_t i = 0; i < 8; i++) large[i] = SIZE_MAX;
    vit_shape_text(text, large, 8);
    assert_string_equal(text, "[18446744073709551615, 18446744073709551615, 18446744073709551615, "
                              "18446744073709551615, 18446744073709551615, ...]");
}

/* ---- damaged and large files ---- */

static const char small_header[] =
    "{\"__metadata__\":{\"format\":\"pt\"},"
    "\"blocks.0\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[0,8]},"
    "\"\\u00e9\":{\"dtype\":\"BF16\",\"shape\":[3],\"data_offsets\":[8,14]}}  ";

static void test_refuses_every_prefix(void **state) {
    vit_bytes bytes = make(small_header, 14);
    vit_tensors_close(parse(&bytes));
    for (size_t size = 0; size < bytes.size; size++) {
        uint8_t *prefix = vit_alloc(size, 1); /* a copy, so that a sanitizer sees its end */
        assert_non_null(prefix);
        memcpy(prefix, bytes.data, size);
        refused_bytes(prefix, size, VIT_ERROR_FORMAT, "");
        vit_free(prefix);
    }
    vit_free(bytes.data);
    vit_bytes longer = make(small_header, 15);
    refused_bytes(longer.data, longer.size, VIT_ERROR_FORMAT, "end at data byte 14");
    vit_free(longer.data);
}

static void test_survives_every_changed_byte(void **state) {
    vit_bytes bytes = make(small_header, 14);
    size_t taken = 0;
    for (size_t i = 0; i < bytes.size; i++) {
        uint8_t old = bytes.data[i];
        for (unsigned value = 0; value < 256; value++) {
            bytes.data[i] = (uint8_t)value;
            vit_tensors *file;
            vit_error error;
            if (vit_tensors_parse(&file, bytes.data, bytes.size, "t.st", &error) != VIT_OK) {
                assert_null(file);
                continue;
            }
            taken++;
            float values[14];
            for (size_t t = 0; t < vit_tensors_count(file); t++)
                vit_tensor_floats(vit_tensors_at(file, t), values, &error);
            vit_tensors_close(file);
        }
        bytes.data[i] = old;
    }
    assert_true(taken >= bytes.size + 14 * 255); /* itself, and any data */
    vit_free(bytes.data);
}

static void test_large_header(void **state) {
    enum { TENSORS = 200000 };
    vit_string header = {0};
    vit_string_add(&header, "{");
    for (unsigned i = 0; i < TENSORS; i++) { /* 7919 is prime: the names are not in order */
        unsigned n = i * 7919 % TENSORS;
        vit_string_add(&header,
                       "%s\"blocks.%06u.a.name.as.long.as.they.get\":"
                       "{\"dtype\":\"I16\",\"shape\":[1,1],\"data_offsets\":[%u,%u]}",
                       i > 0 ? "," : "", n, 2 * n, 2 * n + 2);
    }
    vit_string_add(&header, "}");
    assert_false(header.failed);
    assert_true(header.length > 20000000);
    vit_bytes bytes = make_sized(header.text, header.length, 2 * TENSORS);
    vit_string_free(&header);
    clock_t start = clock(); /* of this process: others may keep the machine busy */
    vit_tensors *file = parse(&bytes);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    print_message("# %d tensors in %.3f s\n", TENSORS, seconds);
    if (!getenv("EMULATOR")) assert_true(seconds < 2);
    assert_int_equal(vit_tensors_count(file), TENSORS);
    const vit_tensor *last = vit_tensors_find(file, "blocks.199999.a.name.as.long.as.they.get");
    assert_non_null(last);
    assert_ptr_equal(last->data, bytes.data + bytes.size - 2);
    vit_tensors_close(file);
    vit_free(bytes.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_tensors_and_metadata),
        cmocka_unit_test(test_reads_files_without_tensors),
        cmocka_unit_test(test_empty_tensors_lie_anywhere),
        cmocka_unit_test(test_unescapes_strings),
        cmocka_unit_test(test_a_length_that_looks_like_json),
        cmocka_unit_test(test_eight_dimensions),
        cmocka_unit_test(test_refuses_wrong_lengths),
        cmocka_unit_test(test_refuses_what_is_not_json),
        cmocka_unit_test(test_refuses_wrong_strings),
        cmocka_unit_test(test_refuses_zero_characters),
        cmocka_unit_test(test_refuses_wrong_fields),
        cmocka_unit_test(test_refuses_wrong_dtypes),
        cmocka_unit_test(test_refuses_wrong_integers),
        cmocka_unit_test(test_refuses_wrong_shapes),
        cmocka_unit_test(test_refuses_wrong_offsets),
        cmocka_unit_test(test_refuses_holes_and_overlaps),
        cmocka_unit_test(test_refuses_duplicates),
        cmocka_unit_test(test_refuses_wrong_metadata),
        cmocka_unit_test(test_messages_show_any_name),
        cmocka_unit_test(test_shape_text),
        cmocka_unit_test(test_refuses_every_prefix),
        cmocka_unit_test(test_survives_every_changed_byte),
        cmocka_unit_test(test_large_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
