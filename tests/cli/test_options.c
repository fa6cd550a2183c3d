/* The option parser and --help. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/unit.h"
#include "vit/cli/parts/options.h"

typedef struct settings {
    const char *data;
    uint64_t batch, seed;
    double lr, minutes;
    int split;
    vit_steps steps;
    vit_size size;
    bool json;
    vit_optional layer, share, part;
    vit_option_keys keys;
} settings;

static const char *const splits[] = {"test", "train", "val", NULL};

#define OPTION(member, what, ...) \
    { .name = #member, .kind = what, .offset = offsetof(settings, member), __VA_ARGS__ }

#define KEYS .offset = offsetof(settings, keys)

static const vit_option options[] = {
    {.kind = VIT_OPTION_GROUP, .help = "What"},
    OPTION(data, VIT_OPTION_TEXT, .argument = "DATA", .help = "the pictures\nor more"),
    OPTION(split, VIT_OPTION_CHOICE, .argument = "S", .help = "which", .choices = splits),
    {.kind = VIT_OPTION_GROUP, .help = "How"},
    OPTION(batch, VIT_OPTION_COUNT, .argument = "N", .help = "at once", .min = 1, .max = 1000),
    OPTION(seed, VIT_OPTION_COUNT, .argument = "N", .help = "any"),
    OPTION(lr, VIT_OPTION_NUMBER, .argument = "X", .help = "rate", .max = 10),
    OPTION(minutes, VIT_OPTION_NUMBER, .argument = "M", .help = "long", .exclusive = 1),
    OPTION(steps, VIT_OPTION_STEPS, .argument = "N|n/N", .help = "long", .exclusive = 1),
    OPTION(size, VIT_OPTION_SIZE, .argument = "N|HxW", .help = "large"),
    OPTION(json, VIT_OPTION_FLAG, .help = "JSON"),
};

static const vit_command command = {
    .name = "vit-test",
    .usage = "usage: vit-test [OPTION...] THING...\n",
    .operands = "THING",
    .notes = "The end.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
};

/* Room for the arguments of a command line without spaces in them. */
typedef struct line {
    char text[512];
    char *argv[32];
    int argc;
    settings settings;
    vit_error error;
} line;

static vit_request parse_with(const vit_command *with, line *l, const char *text) {
    memset(l, 0, sizeof *l);
    l->argv[l->argc++] = "vit-test";
    memcpy(l->text, text, strlen(text) + 1);
    char *rest;
    for (char *word = strtok_r(l->text, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        l->argv[l->argc++] = word;
    }
    return vit_options_parse(with, &l->settings, &l->argc, l->argv, &l->error);
}

static vit_request parse(line *l, const char *text) {
    return parse_with(&command, l, text);
}

static void test_both_ways_to_give_a_value(void **state) {
    static const char *const texts[] = {
        "--data d --batch 7 --seed 18446744073709551615 --lr 0.5 --split val --steps 3/9 --json",
        "--data=d --batch=7 --seed=18446744073709551615 --lr=.5 --split=val --steps=3/9 --json"};
    for (size_t i = 0; i < 2; i++) {
        line l;
        assert_int_equal(parse(&l, texts[i]), VIT_REQUEST_RUN);
        assert_string_equal(l.settings.data, "d");
        assert_int_equal(l.settings.batch, 7);
        assert_true(l.settings.seed == UINT64_MAX);
        assert_true(l.settings.lr == 0.5);
        assert_int_equal(l.settings.split, 2);
        assert_int_equal(l.settings.steps.steps, 3);
        assert_int_equal(l.settings.steps.schedule, 9);
        assert_true(l.settings.json);
        assert_int_equal(l.argc, 1);
    }
}

static void test_what_is_not_given_stays(void **state) {
    settings s = {.batch = 5, .lr = 2, .data = "before"};
    char *argv[] = {"vit-test", NULL};
    int argc = 1;
    assert_int_equal(vit_options_parse(&command, &s, &argc, argv, NULL), VIT_REQUEST_RUN);
    assert_int_equal(s.batch, 5);
    assert_true(s.lr == 2);
    assert_string_equal(s.data, "before");
}

static void test_steps_without_a_schedule(void **state) {
    line l;
    assert_int_equal(parse(&l, "--steps 12"), VIT_REQUEST_RUN);
    assert_int_equal(l.settings.steps.steps, 12);
    assert_int_equal(l.settings.steps.schedule, 0);
}

static void test_sizes(void **state) {
    line l;
    assert_int_equal(parse(&l, "--size 192x320"), VIT_REQUEST_RUN);
    assert_true(l.settings.size.height == 192 && l.settings.size.width == 320);
    assert_int_equal(parse(&l, "--size=384"), VIT_REQUEST_RUN);
    assert_true(l.settings.size.height == 384 && l.settings.size.width == 384);
}

static void test_operands_keep_their_order(void **state) {
    line l;
    assert_int_equal(parse(&l, "a --json b - --batch 3 -- --c -d"), VIT_REQUEST_RUN);
    static const char *const expected[] = {"vit-test", "a", "b", "-", "--c", "-d"};
    assert_int_equal(l.argc, 6);
    for (int i = 0; i < 6; i++) assert_string_equal(l.argv[i], expected[i]);
    assert_int_equal(l.settings.batch, 3);
}

static void test_values_that_look_like_options(void **state) {
    line l;
    assert_int_equal(parse(&l, "--data=--json"), VIT_REQUEST_RUN);
    assert_string_equal(l.settings.data, "--json");
    assert_false(l.settings.json);
    assert_int_equal(parse(&l, "--data -"), VIT_REQUEST_RUN);
    assert_string_equal(l.settings.data, "-");
    assert_int_equal(parse(&l, "--data a=b"), VIT_REQUEST_RUN);
    assert_string_equal(l.settings.data, "a=b");
}

static void test_refusals(void **state) {
    static const char *const cases[][2] = {
        {"--batch 12x", "--batch: \"12x\" is not a whole number"},
        {"--batch=-3", "--batch: \"-3\" is not a whole number"},
        {"--batch 1.5", "--batch: \"1.5\" is not a whole number"},
        {"--batch=", "--batch: \"\" is not a whole number"},
        {"--batch 18446744073709551616", "is not a whole number"},
        {"--batch 0", "--batch: 0 is out of range, expected at least 1 and at most 1000"},
        {"--batch 1001", "--batch: 1001 is out of range"},
        {"--lr fast", "--lr: \"fast\" is not a number"},
        {"--lr nan", "--lr: \"nan\" is not a number"},
        {"--lr 0,5", "--lr: \"0,5\" is not a number"},
        {"--lr 0", "--lr: 0 is out of range, expected more than 0 and at most 10"},
        {"--lr -1", "--lr: -1 is out of range"},
        {"--lr 10.5", "--lr: 10.5 is out of range"},
        {"--minutes 0", "--minutes: 0 is out of range, expected more than 0"},
        {"--data=", "--data: the value is empty, expected DATA"},
        {"--split tset", "--split: \"tset\" is not test, train or val"},
        {"--steps 0", "--steps: 0 is out of range, expected at least 1"},
        {"--steps 12x", "--steps: \"12x\" is not a whole number"},
        {"--steps 5/4", "--steps: 5/4 is out of range, expected n/N"},
        {"--steps 0/4", "--steps: 0/4 is out of range"},
        {"--steps 5/", "--steps: \"5/\" is not a whole number"},
        {"--steps /5", "--steps: \"/5\" is not a whole number"},
        {"--steps 5/6/7", "--steps: \"5/6/7\" is not a whole number"},
        {"--steps 00000000000000000000000000000000000000001", "is not a whole number"},
        {"--size 12y", "--size: \"12y\" is not a size in pixels such as 384, or 192x320"},
        {"--size 12x", "--size: \"12x\" is not a size"},
        {"--size x12", "--size: \"x12\" is not a size"},
        {"--size 1x2x3", "--size: \"1x2x3\" is not a size"},
        {"--size 0", "--size: 0 is out of range, expected 1 to 65535"},
        {"--size 7x65536", "--size: 7x65536 is out of range"},
        {"--json=yes", "--json takes no value, got \"yes\""},
        {"--json=", "--json takes no value, got \"\""},
        {"--json --json", "--json is given twice"},
        {"--batch 3 --batch=3", "--batch is given twice"},
        {"--minutes 1 --steps 2", "--minutes and --steps exclude each other"},
        {"--steps 2 --minutes 1", "--steps and --minutes exclude each other"},
        {"--data", "--data: the value is missing, expected --data DATA"},
        {"--data --json", "--data: the value is missing, expected --data DATA"},
        {"--bacth 3", "unknown option --bacth; did you mean --batch?"},
        {"--bacth=3", "unknown option --bacth; did you mean --batch?"},
        {"--hlep", "did you mean --help?"},
        {"--What 3", "unknown option --What"},
        {"--batc 3", "did you mean --batch?"},
        {"-x", "unknown option -x: options begin with two dashes"},
        {"--=3", "unknown option --"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        line l;
        assert_int_equal(parse(&l, cases[i][0]), VIT_REQUEST_REFUSED);
        assert_int_equal(l.error.status, VIT_ERROR_ARGUMENT);
        if (strstr(l.error.message, cases[i][1]) == NULL)
            fail_msg("%s: \"%s\", expected \"%s\"", cases[i][0], l.error.message, cases[i][1]);
    }
}

static void test_far_names_are_not_suggested(void **state) {
    line l;
    assert_int_equal(parse(&l, "--quantization 3"), VIT_REQUEST_REFUSED);
    assert_string_equal(l.error.message, "unknown option --quantization");
    /* exactly that of another program: no guess at its spelling */
    assert_int_equal(parse(&l, "--beams 3"), VIT_REQUEST_REFUSED);
    assert_string_equal(l.error.message,
                        "unknown option --beams; it is an option of vit-bench, vit-read");
    assert_int_equal(parse(&l, "--beamz 3"), VIT_REQUEST_REFUSED);
    assert_string_equal(l.error.message,
                        "unknown option --beamz; did you mean --beams of vit-bench, vit-read?");
    assert_int_equal(parse(&l, "--batch_size 3"), VIT_REQUEST_REFUSED);
    assert_string_equal(l.error.message, "unknown option --batch_size; did you mean --batch?");
}

static void test_help_and_version_win(void **state) {
    line l;
    assert_int_equal(parse(&l, "--batch 3 --help --nonsense"), VIT_REQUEST_HELP);
    assert_int_equal(parse(&l, "--version --batch x"), VIT_REQUEST_VERSION);
    assert_int_equal(parse(&l, "--nonsense --help"), VIT_REQUEST_REFUSED);
    assert_int_equal(parse(&l, "-- --help"), VIT_REQUEST_RUN);
}

static void test_required_and_no_operands(void **state) {
    static const vit_option needed[] = {
        OPTION(data, VIT_OPTION_TEXT, .argument = "DATA", .help = "", .required = true)};
    static const vit_command strict = {.name = "vit-strict", .options = needed, .option_count = 1};
    line l;
    assert_int_equal(parse_with(&strict, &l, ""), VIT_REQUEST_REFUSED);
    assert_string_equal(l.error.message, "--data DATA is missing");
    assert_int_equal(parse_with(&strict, &l, "--data d more"), VIT_REQUEST_REFUSED);
    assert_string_equal(l.error.message,
                        "unexpected argument \"more\": vit-strict takes only options");
    assert_int_equal(parse_with(&strict, &l, "--data d"), VIT_REQUEST_RUN);
}

static void test_help_is_aligned(void **state) {
    static const char expected[] = "usage: vit-test [OPTION...] THING...\n"
                                   "\n"
                                   "What:\n"
                                   "  --data DATA    the pictures\n"
                                   "                 or more\n"
                                   "  --split S      which\n"
                                   "\n"
                                   "How:\n"
                                   "  --batch N      at once\n"
                                   "  --seed N       any\n"
                                   "  --lr X         rate\n"
                                   "  --minutes M    long\n"
                                   "  --steps N|n/N  long\n"
                                   "  --size N|HxW   large\n"
                                   "  --json         JSON\n"
                                   "\n"
                                   "Help:\n"
                                   "  --help         this text; also -h\n"
                                   "  --version      the version\n"
                                   "\n"
                                   "The end.\n";
    vit_string text = {0};
    vit_options_help(&text, &command);
    assert_string_equal(text.text, expected);
    vit_string_free(&text);
}

/* A label beside which the widest text has no room stands alone; it does not move the others. */
static void test_wide_labels_stand_alone(void **state) {
    static const vit_option wide[] = {
        OPTION(json, VIT_OPTION_FLAG,
               .help = "JSON\n"
                       "of a line that is as long as a line of text may be"),
        OPTION(batch, VIT_OPTION_COUNT, .argument = "N|a-number-that-is-long", .help = "at once"),
    };
    static const vit_command command_of_wide = {
        .usage = "", .notes = "", .options = wide, .option_count = 2};
    static const char expected[] =
        "  --json     JSON\n"
        "             of a line that is as long as a line of text may be\n"
        "  --batch N|a-number-that-is-long\n"
        "             at once\n";
    vit_string text = {0};
    vit_options_help(&text, &command_of_wide);
    assert_memory_equal(text.text, expected, strlen(expected));
    vit_string_free(&text);
}

static const vit_option forms[] = {
    OPTION(layer, VIT_OPTION_COUNT, .argument = "N", .help = "which", .max = 9, .optional = true),
    OPTION(share, VIT_OPTION_NUMBER, .argument = "X", .help = "part", .optional = true,
           .from_min = true, .max = 1),
    OPTION(part, VIT_OPTION_CHOICE, .argument = "S", .help = "which", .choices = splits,
           .optional = true),
    {.name = "decay",
     .kind = VIT_OPTION_NUMBER,
     .key = "weight_decay",
     KEYS,
     .argument = "X",
     .help = "of weights",
     .from_min = true,
     .max = 100},
    {.name = "freeze",
     .kind = VIT_OPTION_COUNT,
     .key = "freeze",
     KEYS,
     .argument = "N",
     .help = "blocks"},
    {.name = "balance", .kind = VIT_OPTION_FLAG, .key = "balance", KEYS, .help = "classes"},
    {.name = "how",
     .kind = VIT_OPTION_CHOICE,
     .key = "split",
     KEYS,
     .argument = "S",
     .help = "which",
     .choices = splits},
};

static const vit_command with_forms = {
    .name = "vit-test",
    .usage = "usage\n",
    .operands = "THING",
    .notes = "",
    .options = forms,
    .option_count = sizeof forms / sizeof forms[0],
};

static vit_request parse_forms(line *l, const char *text) {
    return parse_with(&with_forms, l, text);
}

/* 0 that is given is not the same as nothing. */
static void test_optional(void **state) {
    line l;
    assert_int_equal(parse_forms(&l, ""), VIT_REQUEST_RUN);
    assert_false(l.settings.layer.given || l.settings.share.given || l.settings.part.given);
    assert_int_equal(parse_forms(&l, "--layer 0 --share 0 --part test"), VIT_REQUEST_RUN);
    assert_true(l.settings.layer.given && l.settings.share.given && l.settings.part.given);
    assert_true(l.settings.layer.value == 0 && l.settings.share.value == 0 &&
                l.settings.part.value == 0);
    assert_int_equal(parse_forms(&l, "--layer 9 --share 0.25 --part val"), VIT_REQUEST_RUN);
    assert_true(l.settings.layer.value == 9 && l.settings.share.value == .25 &&
                l.settings.part.value == 2);
    assert_int_equal(parse_forms(&l, "--layer 10"), VIT_REQUEST_REFUSED);
    assert_int_equal(parse_forms(&l, "--part x"), VIT_REQUEST_REFUSED);
}

static void test_keys(void **state) {
    line l;
    assert_int_equal(
        parse_forms(&l, "--how val --decay .05 --balance --freeze 18446744073709551615"),
        VIT_REQUEST_RUN);
    assert_int_equal(l.settings.keys.count, 4);
    assert_string_equal(l.settings.keys.values[0], "split=val");
    assert_string_equal(l.settings.keys.values[1], "weight_decay=0.05");
    assert_string_equal(l.settings.keys.values[2], "balance=true");
    assert_string_equal(l.settings.keys.values[3], "freeze=18446744073709551615");
    assert_int_equal(parse_forms(&l, "--decay 0"), VIT_REQUEST_RUN);
    assert_string_equal(l.settings.keys.values[0], "weight_decay=0");
    assert_int_equal(parse_forms(&l, "--decay -1"), VIT_REQUEST_REFUSED);
    assert_int_equal(parse_forms(&l, "--decay 1 --decay 2"), VIT_REQUEST_REFUSED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_ways_to_give_a_value),
        cmocka_unit_test(test_what_is_not_given_stays),
        cmocka_unit_test(test_steps_without_a_schedule),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_operands_keep_their_order),
        cmocka_unit_test(test_values_that_look_like_options),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_far_names_are_not_suggested),
        cmocka_unit_test(test_help_and_version_win),
        cmocka_unit_test(test_required_and_no_operands),
        cmocka_unit_test(test_help_is_aligned),
        cmocka_unit_test(test_wide_labels_stand_alone),
        cmocka_unit_test(test_optional),
        cmocka_unit_test(test_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
