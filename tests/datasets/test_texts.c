/* Data sets whose answers are texts: strips of digits, numbers in words. */
#include "datasets/dataset.h"
#include "datasets/made/number_words.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/formats/sha256.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BOTH (VIT_PART_TRAIN | VIT_PART_TEST)

static vit_dataset open_set(const char *name, unsigned parts) {
    vit_dataset d;
    vit_error error;
    const vit_dataset_options options = {.need = parts, .want = parts};
    if (vit_dataset_open(&d, name, &options, &error) != VIT_OK) fail_msg("%s", error.message);
    return d;
}

/* ---- number words ---- */

/* English, German, French: what num2words 0.5.14 says. */
static void test_words(void **state) {
    static const struct {
        vit_language language;
        uint32_t number;
        const char *words;
    } cases[] = {
        {VIT_LANGUAGE_EN, 0, "zero"},
        {VIT_LANGUAGE_EN, 345, "three hundred and forty-five"},
        {VIT_LANGUAGE_EN, 1001, "one thousand and one"},
        {VIT_LANGUAGE_EN, 1100, "one thousand, one hundred"},
        {VIT_LANGUAGE_EN, 999999,
         "nine hundred and ninety-nine thousand, nine hundred and ninety-nine"},
        {VIT_LANGUAGE_DE, 0, "null"},
        {VIT_LANGUAGE_DE, 1, "eins"},
        {VIT_LANGUAGE_DE, 101, "einhunderteins"},
        {VIT_LANGUAGE_DE, 345, "dreihundertfünfundvierzig"},
        {VIT_LANGUAGE_DE, 1000, "eintausend"},
        {VIT_LANGUAGE_DE, 21031, "einundzwanzigtausendeinunddreißig"},
        {VIT_LANGUAGE_DE, 201001, "zweihunderteinstausendeins"},
        {VIT_LANGUAGE_FR, 21, "vingt et un"},
        {VIT_LANGUAGE_FR, 71, "soixante et onze"},
        {VIT_LANGUAGE_FR, 80, "quatre-vingts"},
        {VIT_LANGUAGE_FR, 81, "quatre-vingt-un"},
        {VIT_LANGUAGE_FR, 91, "quatre-vingt-onze"},
        {VIT_LANGUAGE_FR, 200, "deux cents"},
        {VIT_LANGUAGE_FR, 201, "deux cent un"},
        {VIT_LANGUAGE_FR, 1000, "mille"},
        {VIT_LANGUAGE_FR, 80000, "quatre-vingt mille"},
        {VIT_LANGUAGE_FR, 200077, "deux cent mille soixante-dix-sept"},
        {VIT_LANGUAGE_FIL, 1, "isa"},
        {VIT_LANGUAGE_FIL, 14, "labing-apat"},
        {VIT_LANGUAGE_FIL, 345, "tatlong daan at apatnapu't lima"},
        {VIT_LANGUAGE_FIL, 400, "apat na raan"},
        {VIT_LANGUAGE_FIL, 100000, "isang daang libo"},
        {VIT_LANGUAGE_FIL, 21345, "dalawampu't isang libo, tatlong daan at apatnapu't lima"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vit_string text = {0};
        vit_number_words(&text, cases[i].language, cases[i].number);
        assert_string_equal(text.text, cases[i].words);
        vit_string_free(&text);
    }
}

/* Numbers of a language, a line each: all below 20,000, above that one in seven, so that every
 * thousands' part and every rest below a thousand occurs with hundreds of the other. For English,
 * German and French every number was compared with num2words 0.5.14. */
static void test_all_words(void **state) {
    static const char *const digests[] = {
        "bb396b60daa3bf93419693b2091dc46f2c3a7308fe808760eb6667fc56b7f892",
        "b47f8dac41f1dfc855f885c59eea1c525e436c890d1cf9e5689c69aaea317c02",
        "4596b838e4fcc28cc341ffd2e73f2b23fd34599540d4998f10653891da894901",
        "21eb976cf99cc468508b67d1d4fd855bc6bdecd2656af1e046770a7d1155dc28"};
    for (int l = 0; l < VIT_LANGUAGE_COUNT; l++) {
        vit_sha256 hash;
        char hex[65];
        vit_string text = {0};
        vit_sha256_start(&hash);
        for (uint32_t n = 0; n < VIT_NUMBER_LIMIT; n += n < 20000 ? 1 : 7) {
            text.length = 0;
            vit_number_words(&text, (vit_language)l, n);
            vit_string_add(&text, "\n");
            vit_sha256_add(&hash, text.text, text.length);
        }
        vit_sha256_hex(&hash, hex);
        vit_string_free(&text);
        assert_string_equal(hex, digests[l]);
    }
}

/* ---- sets ---- */

static char *target(const vit_dataset *d, const vit_records *r, size_t index) {
    const vit_ids ids = vit_texts_get(&r->target, index);
    return vit_vocabulary_decode(&d->target_vocabulary, ids.ids, ids.count);
}

/* These digests are part of the contract: any machine, compiler and optimisation gives them. */
static void test_drawn_strips(void **state) {
    vit_dataset d = open_set("drawn-strips", BOTH);
    vit_sha256 hash;
    char hex[65];
    uint8_t pixels[32 * 192];
    size_t lengths[8] = {0};
    assert_int_equal(d.height, 32);
    assert_int_equal(d.width, 192);
    assert_int_equal(d.target_vocabulary.count, VIT_ID_FIRST + 10);
    assert_int_equal(d.most_target, 6);
    vit_sha256_start(&hash);
    for (size_t i = 0; i < 200; i++) {
        char *text = target(&d, &d.test, i);
        assert_int_equal(vit_record_read(&d, &d.test, i, pixels, NULL), VIT_OK);
        vit_sha256_add(&hash, pixels, sizeof pixels);
        vit_sha256_add(&hash, text, strlen(text));
        lengths[strlen(text)]++;
        vit_free(text);
    }
    vit_sha256_hex(&hash, hex);
    assert_string_equal(hex, "728290e0bf54d14ff27d705b89de43421676a0b4498523103280abcb77d3a4a6");
    for (size_t n = 2; n <= 6; n++) assert_in_range(lengths[n], 20, 60);
    vit_dataset_close(&d);
}

/* All ink is inside: nothing is cut off at the borders. */
static void test_ink_is_inside(void **state) {
    vit_dataset d = open_set("drawn-strips", VIT_PART_TEST);
    uint8_t pixels[32 * 192];
    size_t light = 0;
    for (size_t i = 0; i < 500; i++) {
        assert_int_equal(vit_record_read(&d, &d.test, i, pixels, NULL), VIT_OK);
        for (size_t x = 0; x < 192; x++)
            light += pixels[x] > 128, light += pixels[31 * 192 + x] > 128;
        for (size_t y = 0; y < 32; y++)
            light += pixels[192 * y] > 128, light += pixels[192 * y + 191] > 128;
    }
    assert_in_range(light, 0, 250); /* of 224,000 pixels of the borders */
    vit_dataset_close(&d);
}

static void test_strips_in_words(void **state) {
    vit_dataset digits = open_set("drawn-strips", VIT_PART_TEST);
    vit_dataset words = open_set("drawn-strips:fr", VIT_PART_TEST);
    assert_string_not_equal(digits.checksum, words.checksum);
    for (size_t i = 0; i < 100; i++) {
        char *number = target(&digits, &digits.test, i), *said = target(&words, &words.test, i);
        vit_string expected = {0};
        vit_number_words(&expected, VIT_LANGUAGE_FR, (uint32_t)strtoul(number, NULL, 10));
        assert_string_equal(said, expected.text);
        vit_string_free(&expected);
        vit_free(number);
        vit_free(said);
    }
    vit_dataset_close(&digits);
    vit_dataset_close(&words);
}

/* All of one length; those that have it anyway are the same strips. */
static void test_strips_of_five(void **state) {
    vit_dataset all = open_set("drawn-strips", VIT_PART_TEST);
    vit_dataset five = open_set("drawn-strips:5", VIT_PART_TEST);
    size_t same = 0;
    assert_string_not_equal(all.checksum, five.checksum);
    for (size_t i = 0; i < 100; i++) {
        char *any = target(&all, &all.test, i), *text = target(&five, &five.test, i);
        assert_int_equal(strlen(text), 5);
        if (strlen(any) == 5)
            same += strcmp(any, text) == 0;
        else
            assert_memory_equal(any, text, strlen(any) < 5 ? strlen(any) : 5);
        vit_free(any);
        vit_free(text);
    }
    assert_in_range(same, 10, 40);
    vit_dataset_close(&all);
    vit_dataset_close(&five);
}

static void test_strips_of_mnist(void **state) {
    vit_dataset d;
    vit_error error;
    uint8_t a[32 * 192], b[32 * 192];
    const vit_dataset_options options = {.need = BOTH, .want = BOTH};
    if (vit_dataset_open(&d, "strips", &options, &error) != VIT_OK) {
        print_message("%s\n", error.message);
        skip();
    }
    assert_int_equal(d.train.count, 200000);
    assert_int_equal(d.test.count, 10000);
    vit_record_read(&d, &d.train, 0, a, NULL);
    vit_record_read(&d, &d.test, 0, b, NULL);
    assert_memory_not_equal(a, b, sizeof a);
    vit_dataset_close(&d);
}

static int compare_ids(const vit_ids *a, const vit_ids *b) {
    return a->count != b->count || memcmp(a->ids, b->ids, a->count * sizeof *a->ids) != 0;
}

/* No number of the test is trained on; small ones are. */
static void test_numbers(void **state) {
    vit_dataset d = open_set("numbers:en-fil", BOTH);
    size_t same = 0, short_ones = 0;
    assert_int_equal(d.height, 0);
    assert_null(d.train.pixels);
    assert_in_range(d.test.count, 9500, 10500);
    for (size_t i = 0; i < d.train.count; i++) {
        const vit_ids a = vit_texts_get(&d.train.source, i);
        short_ones += a.count <= 4;
        for (size_t k = 0; k < d.test.count; k += 97) {
            const vit_ids b = vit_texts_get(&d.test.source, k);
            same += compare_ids(&a, &b) == 0;
        }
    }
    assert_int_equal(same, 0);
    assert_in_range(short_ones, 40000, 70000);
    vit_dataset_close(&d);
}

static void test_one_language(void **state) {
    vit_dataset d = open_set("numbers:de", VIT_PART_TEST);
    assert_int_equal(d.source_vocabulary.count, 0);
    assert_null(d.test.source.at);
    char *text = target(&d, &d.test, 0);
    assert_non_null(text);
    vit_free(text);
    vit_dataset_close(&d);
}

/* The share of each number of digits, and how likely each of its numbers is, written down once
 * more: what 200,000 numbers say is near their entropy, and would be above it were the law another.
 */
static void test_entropy(void **state) {
    vit_dataset d = open_set("numbers:en", VIT_PART_TRAIN);
    double entropy = 0, tokens = 0, sum = 0, size = 10;
    for (int digits = 1; digits <= 6; digits++) {
        const double share = size / 1e6 * 7 / 12 + (digits < 6 ? 1.0 / 12 : 0);
        entropy -= share * log(share / size);
        sum += share;
        size = digits == 1 ? 90 : size * 10;
    }
    assert_true(fabs(sum - 1) < 1e-12);
    for (size_t i = 0; i < d.train.count; i++)
        tokens += (double)vit_texts_get(&d.train.target, i).count + 1;
    assert_true(fabs(d.train.entropy * tokens / (double)d.train.count / entropy - 1) < 0.004);
    vit_dataset_close(&d);
}

static void test_names(void **state) {
    static const char *const wrong[] = {"numbers:",     "numbers:xx", "numbers:en-", "numbers:-en",
                                        "numbers:en-x", "strips:",    "strips:xx",   "strips:7",
                                        "strips:1",     "strips:55",  "stripes"};
    const vit_dataset_options options = {.need = VIT_PART_TEST};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        vit_dataset d;
        vit_error error;
        assert_int_equal(vit_dataset_open(&d, wrong[i], &options, &error), VIT_ERROR_IO);
        assert_non_null(strstr(error.message, wrong[i]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),           cmocka_unit_test(test_all_words),
        cmocka_unit_test(test_drawn_strips),    cmocka_unit_test(test_ink_is_inside),
        cmocka_unit_test(test_strips_in_words), cmocka_unit_test(test_strips_of_mnist),
        cmocka_unit_test(test_numbers),         cmocka_unit_test(test_one_language),
        cmocka_unit_test(test_strips_of_five),  cmocka_unit_test(test_names),
        cmocka_unit_test(test_entropy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
