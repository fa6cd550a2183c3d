/* The table of switches, and what is written by hand beside it: the table of keys in
 * docs/presets.md, and the class for PyTorch. */
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/model/switches.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char *const vit_pytorch_model[];

/* Whether it is a key of a config. */
static bool is_key(const vit_switch *row) {
    return row->of != VIT_OF_NOTHING && !row->label;
}

/* Whether it is one of encoders of pictures. */
static bool is_of_pictures(const vit_switch *row) {
    return is_key(row) && row->of != VIT_OF_DECODERS && row->of != VIT_OF_TEXTS &&
           row != &vit_switches[VIT_KEY_position_offset] &&
           row != &vit_switches[VIT_KEY_scale_embedding];
}

/* Whether a value must be given, since there is no default. */
static bool is_needed(const vit_switch *row) {
    return row->kind == VIT_FIELD_SIZE && row->low > 0;
}

/* The default as JSON or, with `python`, as Python has it. */
static const char *usual(char text[64], const vit_switch *row, bool python) {
    char number[32];
    switch (row->kind) {
    case VIT_FIELD_BOOL:
        snprintf(text, 64, "%s",
                 python ? (row->usual > 0 ? "True" : "False")
                        : (row->usual > 0 ? "true" : "false"));
        break;
    case VIT_FIELD_ENUM:
        snprintf(text, 64, "\"%s\"", vit_switch_name(row, (size_t)row->usual));
        break;
    case VIT_FIELD_SIZE:
    case VIT_FIELD_DOUBLE:
    case VIT_FIELD_OTHER:
        snprintf(text, 64, "%s", vit_format_double(number, row->usual));
    }
    return text;
}

static void test_defaults(void **state) {
    const vit_config c = vit_config_default();
    for (size_t i = 0; i < VIT_KEYS; i++) {
        const vit_switch *row = &vit_switches[i];
        assert_true(vit_switch_get(row, &c.encoder) == row->usual);
        assert_true(vit_switch_get(row, &c.decoder) == row->usual);
        vit_stack stack = c.encoder;
        vit_switch_set(row, &stack, 1);
        assert_true(vit_switch_get(row, &stack) == 1);
        if (row->usual != 1) assert_memory_not_equal(&stack, &c.encoder, sizeof stack);
        vit_switch_set(row, &stack, row->usual);
        assert_memory_equal(&stack, &c.encoder, sizeof stack);
    }
}

/* ---- docs/presets.md ---- */

/* What is said in "- `key` (values; default): meaning". */
static bool find_line(char values[1024], char stands[64], const char *document, const char *key) {
    char start[64];
    snprintf(start, sizeof start, "\n- `%s` (", key);
    const char *at = strstr(document, start);
    return at && sscanf(at + strlen(start), "%1023[^;]; %63[^)])", values, stands) == 2;
}

/* "1,000,000" */
static size_t with_commas(const char *text) {
    size_t number = 0;
    for (; *text >= '0' && *text <= '9'; text += 1 + (text[1] == ','))
        number = 10 * number + (size_t)(*text - '0');
    return number;
}

static void check_line(const char *document, const vit_switch *row) {
    char values[1024], stands[64], want[64];
    if (!find_line(values, stands, document, row->key))
        fail_msg("docs/presets.md has no line for \"%s\"", row->key);
    for (size_t i = 0; i < row->count; i++) {
        snprintf(want, sizeof want, "`\"%s\"`", vit_switch_name(row, i));
        if (!strstr(values, want)) fail_msg("\"%s\": no value %s", row->key, want);
    }
    const char *to = strstr(values, " to ");
    if (row->kind == VIT_FIELD_SIZE && to && with_commas(to + 4) != row->high)
        fail_msg("\"%s\": %s, expected to %zu", row->key, values, row->high);
    if (is_needed(row) || row == &vit_switches[VIT_KEY_class_token]) return;
    usual(want, row, false);
    double number;
    const size_t length = strcspn(stands, " ");
    stands[length] = '\0';
    if (row->kind == VIT_FIELD_DOUBLE || row->kind == VIT_FIELD_SIZE) {
        assert_true(vit_parse_double(stands, &number));
        assert_true(number == row->usual);
    } else if (row->kind == VIT_FIELD_ENUM) {
        char quoted[72];
        snprintf(quoted, sizeof quoted, "`%s`", want);
        assert_string_equal(stands, quoted);
    } else {
        assert_string_equal(stands, want);
    }
}

/* Every key in the section of the document is one. */
static void check_keys(const char *section) {
    char key[64];
    for (const char *at = section; (at = strstr(at, "\n- `")); at++) {
        if (sscanf(at, "\n- `%63[a-z_]`", key) != 1) continue; /* a value, in quotes */
        bool known = strcmp(key, "image") == 0;
        for (size_t i = 0; i < VIT_KEYS; i++)
            known |= is_key(&vit_switches[i]) && strcmp(vit_switches[i].key, key) == 0;
        if (!known) fail_msg("docs/presets.md has a key \"%s\", which no row is about", key);
    }
}

static void test_document(void **state) {
    vit_bytes bytes;
    assert_int_equal(vit_read_file(&bytes, "docs/presets.md", 1 << 20, NULL), VIT_OK);
    char *document = vit_alloc(bytes.size + 1, 1);
    assert_non_null(document);
    memcpy(document, bytes.data, bytes.size);
    document[bytes.size] = '\0';
    char *section = strstr(document, "## \"model\""), *end = strstr(document, "## \"train\"");
    assert_true(section && end);
    *end = '\0';
    for (size_t i = 0; i < VIT_KEYS; i++) /* "start" and "end" have one line together */
        if (is_key(&vit_switches[i]) && i != VIT_KEY_start && i != VIT_KEY_end)
            check_line(section, &vit_switches[i]);
    check_keys(section);
    vit_free(document);
    vit_free(bytes.data);
}

/* ---- vit/weights/export/pytorch_model.py ---- */

static char *pytorch_model(void) {
    vit_string t = {0};
    for (size_t i = 0; vit_pytorch_model[i]; i++) vit_string_add(&t, "%s", vit_pytorch_model[i]);
    assert_false(t.failed);
    return t.text;
}

static void assert_has(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("vit/weights/export/pytorch_model.py has no %s", part);
}

static void test_pytorch_defaults(void **state) {
    char *text = pytorch_model(), *end = strstr(text, "sizes = (");
    assert_non_null(end);
    char *names = vit_strdup(end);
    *strchr(names, ')') = *end = '\0'; /* the defaults stand before it */
    for (size_t i = 0; i < VIT_KEYS; i++) {
        const vit_switch *row = &vit_switches[i];
        char want[160], value[64];
        if (!is_of_pictures(row) || i == VIT_KEY_class_token) continue;
        snprintf(want, sizeof want, "\"%s\": %s", row->key, usual(value, row, true));
        if (is_needed(row)) snprintf(want, sizeof want, "\"%s\"", row->key);
        assert_has(is_needed(row) ? names : text, want);
    }
    vit_free(names);
    vit_free(text);
}

/* Every value that a network of pictures may have is a method named after it. */
static void test_pytorch_values(void **state) {
    char *text = pytorch_model();
    for (size_t i = 0; i < VIT_KEYS; i++) {
        const vit_switch *row = &vit_switches[i];
        if (i == VIT_KEY_init || i == VIT_KEY_activation)
            continue; /* tests/ops/test_activation.c */
        for (size_t value = 0; value < row->count; value++) {
            char want[80];
            if (i == VIT_KEY_stem && !vit_stems[value].pictures) continue;
            if (i == VIT_KEY_pool && vit_pools[value].tokens) continue;
            snprintf(want, sizeof want, "%s_%s(", row->key, vit_switch_name(row, value));
            assert_has(text, want);
        }
    }
    vit_free(text);
}

/* The list ("mean", "map") of poolings that have a property. */
static const char *pools_list(char text[128], bool (*has)(const vit_pool_row *pool)) {
    size_t used = 0;
    for (size_t i = 0; i < VIT_POOL_COUNT; i++)
        if (has(&vit_pools[i]) && !vit_pools[i].tokens)
            used += (size_t)snprintf(text + used, 128 - used, "%s\"%s\"", used ? ", " : "in (",
                                     vit_pools[i].name);
    snprintf(text + used, 128 - used, ")");
    return text;
}

static bool reads_no_class(const vit_pool_row *pool) {
    return pool->patches;
}

static bool is_double(const vit_pool_row *pool) {
    return pool->two;
}

static bool has_choice(const vit_pool_row *pool) {
    return pool->choice;
}

static void test_pytorch_pools(void **state) {
    char *text = pytorch_model(), list[128];
    assert_has(text, pools_list(list, reads_no_class));
    assert_has(text, pools_list(list, is_double));
    assert_has(text, pools_list(list, has_choice));
    vit_free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),         cmocka_unit_test(test_document),
        cmocka_unit_test(test_pytorch_defaults), cmocka_unit_test(test_pytorch_values),
        cmocka_unit_test(test_pytorch_pools),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
