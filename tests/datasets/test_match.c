/* Two lists of classes meet by name. */
#include <string.h>

#include "tests/support/unit.h"
#include "vit/text/match.h"
#include "vit/text/unicode/decompose.h"

#define NONE VIT_NO_CLASS

static void expect(const char *const *from, size_t from_count, const char *const *to,
                   size_t to_count, vit_match_by by, const size_t *partners) {
    const vit_classes a = {from, from_count}, b = {to, to_count};
    vit_match m;
    size_t lost = 0;
    assert_int_equal(vit_match_classes(&m, &a, &b, NULL), VIT_OK);
    assert_int_equal(m.by, by);
    for (size_t i = 0; i < from_count; i++) {
        assert_int_equal(m.to[i], partners[i]);
        lost += partners[i] == NONE;
    }
    assert_int_equal(m.lost, lost);
    vit_match_free(&m);
}

static void names_meet_wherever_they_stand(void **unused) {
    static const char *const abc[] = {"a", "b", "c"}, *const bcd[] = {"b", "c", "d"},
                             *const cab[] = {"c", "a", "b"}, *const xy[] = {"x", "y"};
    expect(bcd, 3, abc, 3, VIT_BY_NAME, (const size_t[]){1, 2, NONE});
    expect(abc, 3, cab, 3, VIT_BY_NAME, (const size_t[]){1, 2, 0});
    expect(cab + 1, 2, abc, 3, VIT_BY_NAME, (const size_t[]){0, 1});
    expect(abc, 3, cab + 1, 2, VIT_BY_NAME, (const size_t[]){0, 1, NONE});
    expect(xy, 2, abc, 3, VIT_BY_NAME, (const size_t[]){NONE, NONE});
}

static void numbers_are_indices_where_all_are(void **unused) {
    static const char *const named[] = {"h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s"};
    static const char *const bytes[] = {"0", "1", "10", "11", "2"};
    static const char *const from_one[] = {"11", "12"}, *const zeros[] = {"00", "02"};
    static const char *const mixed[] = {"3", "h"}, *const some[] = {"3", "x", "y", "z"};
    expect(bytes, 5, named, 12, VIT_BY_NUMBER, (const size_t[]){0, 1, 10, 11, 2});
    expect(NULL, 3, named, 12, VIT_BY_NUMBER, (const size_t[]){0, 1, 2});
    expect(from_one, 2, named, 12, VIT_BY_NUMBER, (const size_t[]){11, NONE});
    expect(mixed, 2, named, 12, VIT_BY_NAME, (const size_t[]){NONE, 0});
    expect(bytes, 5, some, 4, VIT_BY_NUMBER, (const size_t[]){0, 1, NONE, NONE, 2});
    expect(some, 1, some, 4, VIT_BY_NAME, (const size_t[]){0});
    /* Both sides are numbers: these are the names, with zeros before them or not. */
    expect(NULL, 3, bytes, 5, VIT_BY_NAME, (const size_t[]){0, 1, 4});
    expect(zeros, 2, bytes, 5, VIT_BY_NAME, (const size_t[]){0, 4});
    expect(bytes, 5, NULL, 12, VIT_BY_NAME, (const size_t[]){0, 1, 10, 11, 2});
    expect(NULL, 3, NULL, 2, VIT_BY_NAME, (const size_t[]){0, 1, NONE});
}

static void a_list_without_names_keeps_the_order(void **unused) {
    static const char *const pets[] = {"cat", "dog"};
    expect(pets, 2, NULL, 2, VIT_BY_ORDER, (const size_t[]){0, 1});
    expect(pets, 2, NULL, 3, VIT_BY_ORDER, (const size_t[]){NONE, NONE});
}

static void the_same_name_twice(void **unused) {
    static const char *const cranes[] = {"crane", "bird", "crane"}, *const one[] = {"crane",
                                                                                    "bird"};
    expect(cranes, 3, cranes, 3, VIT_BY_NAME, (const size_t[]){0, 1, 2});
    expect(one, 2, cranes, 3, VIT_BY_NAME, (const size_t[]){NONE, 1});
}

static void expect_same(const char *a, const char *b) {
    vit_string x = {0}, y = {0};
    vit_string_add_decomposed(&x, a);
    vit_string_add_decomposed(&y, b);
    assert_string_equal(x.text, y.text);
    vit_string_free(&x);
    vit_string_free(&y);
}

/* The pairs are Python's unicodedata.normalize("NFC", ...) and ("NFD", ...). */
static void letters_in_one_or_more_characters(void **unused) {
    static const char *const composed[] = {"caf\xc3\xa9", "\xed\x95\x9c"};
    static const char *const apart[] = {"\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab", "cafe\xcc\x81"};
    expect(composed, 2, apart, 2, VIT_BY_NAME, (const size_t[]){1, 0});
    expect_same("\xe1\xbb\x87", "e\xcc\x82\xcc\xa3");        /* e, circumflex, dot below */
    expect_same("\xe1\xbb\x87", "\xc3\xaa\xcc\xa3");         /* e with circumflex, dot below */
    expect_same("\xe1\xbb\x87", "\xe1\xba\xb9\xcc\x82");     /* e with dot below, circumflex */
    expect_same("\xe2\x84\xab", "A\xcc\x8a");                /* the sign for angstrom */
    expect_same("\xe1\xbd\xb1", "\xce\xb1\xcc\x81");         /* alpha with oxia */
    expect_same("\xe3\x81\x8c", "\xe3\x81\x8b\xe3\x82\x99"); /* ga */
    expect_same("a\xff"
                "b",
                "a\xff"
                "b"); /* no UTF-8 */
    vit_string x = {0};
    vit_string_add_decomposed(&x, "\xe1\xbb\x87");
    assert_string_equal(x.text, "e\xcc\xa3\xcc\x82");
    vit_string_free(&x);
}

static void what_is_said(void **unused) {
    static const char *const pets[] = {"cat", "dog", "eel", "fox", "gnu"};
    const vit_classes named = {pets, 5}, numbers = {NULL, 5};
    char text[256];
    vit_match m;
    assert_int_equal(vit_match_classes(&m, &numbers, &named, NULL), VIT_OK);
    assert_non_null(strstr(vit_match_said(text, &m, "the data", "the model"), "are numbers"));
    vit_match_free(&m);
    assert_int_equal(vit_match_classes(&m, &named, &numbers, NULL), VIT_OK);
    assert_non_null(strstr(vit_match_said(text, &m, "the data", "the model"), "have no names"));
    vit_match_free(&m);
    assert_int_equal(vit_match_classes(&m, &named, &named, NULL), VIT_OK);
    assert_null(vit_match_said(text, &m, "the data", "the model"));
    vit_match_free(&m);
    vit_classes_shown(text, &named);
    assert_string_equal(text, "cat, dog, eel, fox and 1 more");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_meet_wherever_they_stand),
        cmocka_unit_test(numbers_are_indices_where_all_are),
        cmocka_unit_test(a_list_without_names_keeps_the_order),
        cmocka_unit_test(the_same_name_twice),
        cmocka_unit_test(letters_in_one_or_more_characters),
        cmocka_unit_test(what_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
