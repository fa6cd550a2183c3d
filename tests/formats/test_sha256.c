/* SHA-256 against the vectors of FIPS 180-4's examples and, over every length around the block
 * borders, against itself fed in other pieces. */
#include "tests/support/unit.h"
#include "vit/formats/sha256.h"

#include <stdlib.h>
#include <string.h>

static void check(const char *text, const char *expected) {
    vit_sha256 hash;
    char hex[65];
    vit_sha256_start(&hash);
    vit_sha256_add(&hash, text, strlen(text));
    vit_sha256_hex(&hash, hex);
    assert_string_equal(hex, expected);
}

static void test_published(void **state) {
    check("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    check("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
          "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
          "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
}

static void test_million(void **state) {
    vit_sha256 hash;
    char hex[65];
    uint8_t a[1000];
    memset(a, 'a', sizeof a);
    vit_sha256_start(&hash);
    for (int i = 0; i < 1000; i++) vit_sha256_add(&hash, a, sizeof a);
    vit_sha256_hex(&hash, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    /* in one piece, which the processor's instructions compress where it has them */
    char *all = malloc(1000000);
    assert_non_null(all);
    memset(all, 'a', 1000000);
    vit_sha256_of(hex, all, 1000000);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(all);
}

/* The digests of the first n bytes of 0, 1, 2, ... for n = 0..299, hashed together; the expected
 * value is Python's hashlib's. Each is computed in one piece and in two. */
static void test_lengths(void **state) {
    uint8_t bytes[300], whole[32], pieces[32];
    vit_sha256 all, hash;
    char hex[65];
    for (int i = 0; i < 300; i++) bytes[i] = (uint8_t)i;
    vit_sha256_start(&all);
    for (size_t n = 0; n < 300; n++) {
        vit_sha256_start(&hash);
        vit_sha256_add(&hash, bytes, n);
        vit_sha256_end(&hash, whole);
        vit_sha256_add(&all, whole, 32);
        for (size_t cut = 0; cut <= n; cut += 7) {
            vit_sha256_start(&hash);
            vit_sha256_add(&hash, bytes, cut);
            vit_sha256_add(&hash, bytes + cut, n - cut);
            vit_sha256_end(&hash, pieces);
            assert_memory_equal(whole, pieces, 32);
        }
    }
    vit_sha256_hex(&all, hex);
    assert_string_equal(hex, "df90175783c44235cf6aefd935a2c2747f42399416d16789ece339f1fd26d835");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_million),
        cmocka_unit_test(test_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
