/* The parts of the programs: JSON lines, the progress line, text for terminals, lists of names, the
 * search for a model. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/cli/models/models.h"
#include "vit/cli/parts/name_list.h"
#include "vit/cli/parts/program.h"
#include "vit/cli/parts/progress.h"
#include "vit/formats/json_out.h"

/* ---- JSON ---- */

static void write_line(FILE *file) {
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "file", "a\"b\n\xff.png");
    vit_json_text(&json, "none", NULL);
    vit_json_count(&json, "count", UINT64_MAX);
    vit_json_number(&json, "loss", 0.1);
    vit_json_number(&json, "nan", (double)NAN);
    vit_json_number(&json, "inf", -(double)INFINITY);
    vit_json_open(&json, "list", '[');
    vit_json_float(&json, NULL, 0.1f);
    vit_json_g9(&json, NULL, 0.1f);
    vit_json_float(&json, NULL, NAN);
    vit_json_open(&json, NULL, '{');
    vit_json_close(&json, '}');
    vit_json_close(&json, ']');
    vit_json_open(&json, "empty", '[');
    vit_json_close(&json, ']');
    vit_json_close(&json, '}');
    assert_true(vit_json_end_line(&json, file));
    assert_null(json.text.text);
}

static void test_json_line(void **state) {
    FILE *file = fopen("json", "w");
    assert_non_null(file);
    write_line(file);
    fclose(file);
    assert_content("json", "{\"file\": \"a\\\"b\\n\xef\xbf\xbd.png\", \"none\": null, "
                           "\"count\": 18446744073709551615, \"loss\": 0.1, \"nan\": null, "
                           "\"inf\": null, \"list\": [0.1, 0.100000001, null, {}], "
                           "\"empty\": []}\n");
}

static void test_json_line_that_cannot_be_written(void **state) {
    FILE *full = fopen("/dev/full", "w");
    if (full == NULL) skip();
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_close(&json, '}');
    assert_false(vit_json_end_line(&json, full));
    fclose(full);
}

/* ---- the progress line ---- */

static void assert_line(const vit_event *event, double val_top1, size_t width,
                        const char *expected) {
    vit_string line = {0};
    vit_progress_line(&line, event, val_top1, width);
    assert_string_equal(line.text == NULL ? "" : line.text, expected);
    vit_string_free(&line);
}

static void test_progress_line_fits(void **state) {
    const vit_event event = {.epoch = 1.5,
                             .epochs = 10,
                             .loss = 0.25,
                             .from_pictures = true,
                             .images_per_second = 12345.4,
                             .seconds_left = 92};
    const char whole[] = "epoch 1.50 of 10   loss 0.2500   validation 97.12 %   1:32 left   "
                         "12,345 images/s";
    assert_line(&event, 0.9712, SIZE_MAX, whole);
    assert_line(&event, 0.9712, strlen(whole), whole);
    for (size_t width = 0; width < strlen(whole); width++) {
        vit_string line = {0};
        vit_progress_line(&line, &event, 0.9712, width);
        assert_true(line.length <= width);
        assert_true(line.length == 0 || strncmp(line.text, whole, line.length) == 0);
        vit_string_free(&line);
    }
    assert_line(&event, 0.9712, strlen(whole) - 1,
                "epoch 1.50 of 10   loss 0.2500   validation 97.12 %   1:32 left");
    assert_line(&event, 0.9712, 20, "epoch 1.50 of 10");
}

static void test_progress_line_leaves_out_the_unknown(void **state) {
    const vit_event event = {.epoch = 2,
                             .epochs = 2,
                             .loss = (double)NAN,
                             .images_per_second = (double)NAN,
                             .seconds_left = (double)NAN};
    assert_line(&event, (double)NAN, SIZE_MAX, "epoch 2 of 2");
}

/* Where no line can be redrawn, a long epoch writes lines of its own, now and then. */
static void test_progress_within_an_epoch(void **state) {
    vit_event event = {.kind = VIT_EVENT_STEP,
                       .epoch = 0.5,
                       .epochs = 2,
                       .step = 25,
                       .steps = 100,
                       .loss = 0.25,
                       .images_per_second = (double)NAN,
                       .seconds_left = 92};
    static const char expected[] = "epoch 0.50 of 2   25 %   loss 0.2500   1:32 left\n";
    char text[256];
    FILE *file = tmpfile();
    const int saved = dup(STDERR_FILENO);
    (void)state;
    assert_non_null(file);
    dup2(fileno(file), STDERR_FILENO);
    vit_progress progress = vit_progress_start(true);
    vit_progress_show(&progress, &event); /* too soon */
    progress.every = 0;
    vit_progress_show(&progress, &event);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    const size_t size = fread(text, 1, sizeof text - 1, file);
    text[size] = '\0';
    fclose(file);
    assert_string_equal(text, expected);
}

static void test_durations_and_counts(void **state) {
    char text[32];
    assert_string_equal(vit_format_duration(text, 0), "0:00");
    assert_string_equal(vit_format_duration(text, 59.6), "1:00");
    assert_string_equal(vit_format_duration(text, 725), "12:05");
    assert_string_equal(vit_format_duration(text, 11045), "3:04:05");
    assert_string_equal(vit_format_duration(text, -5), "0:00");
    assert_string_equal(vit_format_duration(text, (double)NAN), "0:00");
    assert_string_equal(vit_format_duration(text, 1e300), "1000000:00:00");
    assert_string_equal(vit_format_count(text, 0), "0");
    assert_string_equal(vit_format_count(text, 999), "999");
    assert_string_equal(vit_format_count(text, 1000), "1,000");
    assert_string_equal(vit_format_count(text, UINT64_MAX), "18,446,744,073,709,551,615");
}

/* ---- text for terminals ---- */

static void assert_visible(const char *text, size_t width, const char *expected) {
    vit_string out = {0};
    vit_string_add_visible(&out, text, width);
    assert_string_equal(out.text, expected);
    assert_true(vit_display_columns(expected) >= width);
    vit_string_free(&out);
}

static void test_nothing_steers_the_terminal(void **state) {
    assert_visible("cat", 5, "cat  ");
    assert_visible("cats", 2, "cats");
    assert_visible("\x1b[31mred\n\r\x7f", 0, "?[31mred???");
    assert_visible("\xc3\xa4\xc2\x9b", 4, "\xc3\xa4?  ");
    assert_visible("\xff\xfe", 3, "?? ");
}

/* ---- lists of names ---- */

static void test_names(void **state) {
    static const char *const expected[] = {"a.png", "b c.png", "-", "d\r", "last"};
    put_file("list", "\na.png\r\nb c.png\n\r\n\n-\nd\r\r\nlast");
    vit_name_list list;
    vit_error error;
    const char *name;
    assert_int_equal(vit_name_list_open(&list, "list", false, &error), VIT_OK);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(vit_name_list_next(&list, &name, &error), VIT_OK);
        assert_string_equal(name, expected[i]);
    }
    assert_int_equal(vit_name_list_next(&list, &name, &error), VIT_OK);
    assert_null(name);
    vit_name_list_close(&list);
}

static void assert_list_refused(const char *path, vit_status status, const char *message) {
    vit_name_list list;
    vit_error error;
    const char *name = "";
    vit_status got = vit_name_list_open(&list, path, false, &error);
    while (got == VIT_OK && name != NULL) got = vit_name_list_next(&list, &name, &error);
    assert_int_equal(got, status);
    assert_says(&error, status, path, message);
    vit_name_list_close(&list);
}

static void test_lists_that_are_none(void **state) {
    put_bytes("binary", "a\nb\0c\n", 6);
    assert_list_refused("binary", VIT_ERROR_FORMAT, "line 2 holds a zero byte");
    static char longest[4098];
    memset(longest, 'x', sizeof longest);
    longest[4096] = '\n';
    put_bytes("longest", longest, 4097);
    vit_name_list list;
    vit_error error;
    const char *name;
    assert_int_equal(vit_name_list_open(&list, "longest", false, &error), VIT_OK);
    assert_int_equal(vit_name_list_next(&list, &name, &error), VIT_OK);
    assert_int_equal(strlen(name), 4096);
    vit_name_list_close(&list);
    longest[4096] = 'x';
    put_bytes("too-long", longest, 4098);
    assert_list_refused("too-long", VIT_ERROR_FORMAT, "line 1 is longer than 4096 bytes");
    assert_list_refused("absent", VIT_ERROR_IO, "No such file");
    assert_list_refused(".", VIT_ERROR_IO, "directory");
}

/* ---- the search for a model ---- */

static void assert_found(const char *name, const char *expected) {
    char *path;
    vit_error error = {0};
    if (vit_find_model(&path, name, &error) != VIT_OK) fail_msg("%s", error.message);
    assert_string_equal(path, expected);
    vit_free(path);
}

static void test_find_model(void **state) {
    assert_int_equal(mkdir("shipped", 0700), 0);
    assert_int_equal(mkdir("folder", 0700), 0);
    assert_int_equal(mkdir("empty", 0700), 0);
    put_file("shipped/cats.safetensors", "");
    put_file("shipped/empty.safetensors", "");
    put_file("folder/model.safetensors", "");
    put_file("file", "");
    setenv("VIT_MODELS", "shipped", 1);
    assert_found("file", "file");
    assert_found("folder", "folder");
    assert_found("cats", "shipped/cats.safetensors");
    /* A directory without a model does not stand in the way of a name. */
    assert_found("empty", "shipped/empty.safetensors");
    /* What can only be a path is left as it is, for the reader to say what is wrong. */
    assert_found("./absent", "./absent");
    assert_found("absent.safetensors", "absent.safetensors");
    assert_found("./empty", "./empty");
}

static void test_find_no_model(void **state) {
    char *path;
    vit_error error;
    setenv("VIT_MODELS", "shipped", 1);
    assert_int_equal(vit_find_model(&path, "dogs", &error), VIT_ERROR_IO);
    assert_null(path);
    assert_says(&error, VIT_ERROR_IO, "no model \"dogs\"", "dogs.safetensors in shipped, ");
    assert_says(&error, VIT_ERROR_IO, "vit-train --data DATA --out dogs.safetensors", "/models;");
    unsetenv("VIT_MODELS");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_json_line),
        cmocka_unit_test(test_json_line_that_cannot_be_written),
        cmocka_unit_test(test_progress_line_fits),
        cmocka_unit_test(test_progress_line_leaves_out_the_unknown),
        cmocka_unit_test(test_progress_within_an_epoch),
        cmocka_unit_test(test_durations_and_counts),
        cmocka_unit_test(test_nothing_steers_the_terminal),
        IN_DIRECTORY(test_names),
        IN_DIRECTORY(test_lists_that_are_none),
        IN_DIRECTORY(test_find_model),
        IN_DIRECTORY(test_find_no_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
