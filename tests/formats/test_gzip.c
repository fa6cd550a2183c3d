/* Inflating gzip data: whole, cut, changed, in several members, beyond the limit. zlib itself makes
 * the compressed data. */
#include "datasets/records/gzip.h"
#include "tests/support/unit.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

static size_t pack(uint8_t *out, size_t room, const void *bytes, size_t size) {
    z_stream z = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)size};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_out = out;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return z.total_out;
}

static void gunzip_fails(const uint8_t *packed, size_t size, size_t limit, const char *part) {
    vit_bytes out;
    vit_error error = {0};
    assert_int_equal(vit_gunzip(&out, packed, size, limit, "FILE", &error), VIT_ERROR_FORMAT);
    if (strstr(error.message, part) == NULL || strncmp(error.message, "FILE: ", 6) != 0)
        fail_msg("\"%s\" does not say \"%s\"", error.message, part);
    assert_true(out.data == NULL && out.size == 0);
}

static void gunzip_gives(const uint8_t *packed, size_t size, size_t limit, const void *bytes,
                         size_t expected) {
    vit_bytes out;
    vit_error error = {0};
    if (vit_gunzip(&out, packed, size, limit, "FILE", &error) != VIT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(out.size, expected);
    if (expected > 0) assert_memory_equal(out.data, bytes, expected);
    vit_free(out.data);
}

static const char text[] = "one picture, two pictures, three pictures, four pictures";

static void test_gzip_cut_anywhere(void **state) {
    uint8_t packed[256];
    size_t size = pack(packed, sizeof packed, text, sizeof text);
    gunzip_gives(packed, size, sizeof text, text, sizeof text);
    for (size_t n = 0; n < size; n++) gunzip_fails(packed, n, 1000, "cut off");
}

/* A changed bit is refused, unless it says nothing of the contents: those of the header (time,
 * system, "is text") and those that fill the last byte of the compressed data. */
static void test_gzip_changed_anywhere(void **state) {
    uint8_t packed[256];
    size_t size = pack(packed, sizeof packed, text, sizeof text);
    for (size_t i = 0; i < size; i++)
        for (int bit = 0; bit < 8; bit++) {
            vit_bytes out;
            packed[i] ^= (uint8_t)(1 << bit);
            vit_status status = vit_gunzip(&out, packed, size, 1000, "FILE", NULL);
            if (i >= 10 && i != size - 9) assert_int_equal(status, VIT_ERROR_FORMAT);
            if (status == VIT_OK) {
                assert_int_equal(out.size, sizeof text);
                assert_memory_equal(out.data, text, sizeof text);
            }
            vit_free(out.data);
            packed[i] ^= (uint8_t)(1 << bit);
        }
    packed[size - 5] ^= 1;
    gunzip_fails(packed, size, 1000, "corrupt at byte");
}

static void test_gzip_members(void **state) {
    uint8_t packed[512];
    size_t first = pack(packed, 256, text, 20);
    size_t empty = pack(packed + first, 256, text, 0);
    size_t size = first + empty + pack(packed + first + empty, 200, text + 20, sizeof text - 20);
    gunzip_gives(packed, size, sizeof text, text, sizeof text);
    gunzip_fails(packed, size, sizeof text - 1, "more than 56 bytes");
    gunzip_fails(packed, size - 1, 1000, "cut off");
    packed[size] = 0;
    gunzip_fails(packed, size + 1, 1000, "1 bytes follow the end");
    memcpy(packed + size, "junk", 4);
    gunzip_fails(packed, size + 4, 1000, "4 bytes follow the end");
    packed[size - 3] ^= 1;
    gunzip_fails(packed, size, 1000, "corrupt");
}

/* 64 MiB of zeros in 64 KiB: refused as soon as the limit is passed, at any limit. */
static void test_gzip_bomb(void **state) {
    size_t size = (size_t)64 << 20;
    uint8_t *zeros = vit_alloc(size, 1), *packed = vit_alloc(1 << 17, 1);
    size_t n = pack(packed, 1 << 17, zeros, size);
    assert_true(n < 70000);
    gunzip_fails(packed, n, 0, "more than 0 bytes");
    gunzip_fails(packed, n, 1, "more than 1 bytes");
    gunzip_fails(packed, n, 1000000, "inflates to more than 1000000 bytes");
    gunzip_fails(packed, n, size - 1, "inflates to more than");
    gunzip_gives(packed, n, size, zeros, size);
    /* A length at the end that lies in either direction changes nothing but the verdict. */
    memset(packed + n - 4, 0xff, 4);
    gunzip_fails(packed, n, size, "corrupt");
    gunzip_fails(packed, n, 1000, "more than 1000 bytes");
    memset(packed + n - 4, 0, 4);
    gunzip_fails(packed, n, size, "corrupt");
    vit_free(zeros);
    vit_free(packed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gzip_cut_anywhere),
        cmocka_unit_test(test_gzip_changed_anywhere),
        cmocka_unit_test(test_gzip_members),
        cmocka_unit_test(test_gzip_bomb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
