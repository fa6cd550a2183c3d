/* Lessons that are kept: a picture that was forgotten, relabelled or added later gives the bytes of
 * a teaching that was begun so; a file that was changed is refused. */
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/few_shot.h"
#include "vit/formats/sha256.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIDE = 28, HEAD = 16 };

static vit_model *model;
static const vit_few_shot_options keeping = {.keep_lessons = true, .no_curve = true};
static vit_error error;

static void works(vit_status status) {
    if (status != VIT_OK) fail_msg("%s", error.message);
}

static vit_few_shot *begin(const vit_few_shot_options *options) {
    vit_few_shot *t;
    works(vit_few_shot_new(&t, model, options, &error));
    return t;
}

/* Adds a bar at this place, thin if it is even, under this name. */
static void add(vit_few_shot *t, const char *class_name, const char *name, size_t bar) {
    char bytes[SIDE * SIDE + HEAD];
    const int head = snprintf(bytes, sizeof bytes, "P5 %d %d 255\n", SIDE, SIDE);
    memset(bytes + head, 0, SIDE * SIDE);
    for (size_t row = 4; row < 24; row++)
        memset(bytes + head + row * SIDE + 2 + bar, 255, 3 + bar % 2 * 9);
    const vit_picture picture = {.name = name, .bytes = bytes, .size = (size_t)head + SIDE * SIDE};
    works(vit_few_shot_add(t, class_name, &picture, 1, NULL, &error));
}

static vit_bytes read_all(const char *path) {
    vit_bytes bytes;
    works(vit_read_file(&bytes, path, 1 << 28, &error));
    return bytes;
}

/* Learns, writes model and lessons of both, and ends them. */
static void expect_same(vit_few_shot *a, vit_few_shot *b) {
    vit_few_shot *const both[] = {a, b};
    vit_bytes models[2], lessons[2];
    for (size_t i = 0; i < 2; i++) {
        works(vit_few_shot_learn(both[i], NULL, &error));
        works(vit_few_shot_save(both[i], "model", &error));
        works(vit_few_shot_save_lessons(both[i], "lessons", &error));
        models[i] = read_all("model");
        lessons[i] = read_all("lessons");
        vit_few_shot_free(both[i]);
    }
    unlink("model");
    unlink("lessons");
    assert_int_equal(models[0].size, models[1].size);
    assert_memory_equal(models[0].data, models[1].data, models[0].size);
    assert_int_equal(lessons[0].size, lessons[1].size);
    assert_memory_equal(lessons[0].data, lessons[1].data, lessons[0].size);
    for (size_t i = 0; i < 2; i++) {
        vit_free(models[i].data);
        vit_free(lessons[i].data);
    }
}

/* Thin bars and thick ones, of which the names in `without` are left out; copy.pgm is b.pgm. */
static void add_bars(vit_few_shot *t, const char *without) {
    static const struct {
        const char *class_name, *name;
        size_t bar;
    } bars[] = {{"thin", "a.pgm", 0},    {"thin", "b.pgm", 2},    {"thick", "k/c.pgm", 1},
                {"thin", "copy.pgm", 2}, {"thick", "k/d.pgm", 3}, {"thick", "e.pgm", 5},
                {"thin", "f.pgm", 4}};
    for (size_t i = 0; i < sizeof bars / sizeof *bars; i++)
        if (!strstr(without, bars[i].name)) add(t, bars[i].class_name, bars[i].name, bars[i].bar);
}

static void forget(vit_few_shot *t, const char *name) {
    size_t index;
    works(vit_few_shot_find(&index, t, name, &error));
    works(vit_few_shot_forget(t, index, &error));
}

/* All bars, by way of a file. */
static vit_few_shot *load_bars(void) {
    vit_few_shot *t = begin(&keeping);
    add_bars(t, "");
    works(vit_few_shot_save_lessons(t, "kept", &error));
    vit_few_shot_free(t);
    t = begin(&keeping);
    works(vit_few_shot_load_lessons(t, "kept", &error));
    unlink("kept");
    assert_int_equal(vit_few_shot_count(t), 7);
    return t;
}

static void test_forgotten(void **state) {
    static const char *const names[] = {"a.pgm", "b.pgm", "copy.pgm", "thick/d.pgm"};
    for (size_t i = 0; i < 4; i++) {
        vit_few_shot *t = load_bars(), *never = begin(&keeping);
        add_bars(never, i == 3 ? "k/d.pgm" : names[i]);
        works(vit_few_shot_learn(t, NULL, &error));
        forget(t, names[i]);
        expect_same(t, never);
    }
}

static void test_changed(void **state) {
    vit_few_shot *t = load_bars(), *other = begin(&keeping);
    size_t index;
    works(vit_few_shot_find(&index, t, "thin/f.pgm", &error));
    works(vit_few_shot_correct(t, index, "a class before", &error));
    add(t, "between", "g.pgm", 6);
    add(other, "between", "g.pgm", 6);
    add(other, "a class before", "f.pgm", 4);
    add_bars(other, "f.pgm");
    expect_same(t, other);
    t = load_bars();
    other = begin(&keeping);
    for (const char *const *name = (const char *const[]){"c.pgm", "d.pgm", "e.pgm", NULL}; *name;
         name++)
        forget(t, *name);
    add(t, "rest", "h.pgm", 7);
    add_bars(other, "k/c.pgm k/d.pgm e.pgm");
    add(other, "rest", "h.pgm", 7);
    expect_same(t, other);
}

static void test_names(void **state) {
    vit_few_shot *t = load_bars();
    size_t index;
    add(t, "thick", "a.pgm", 7);
    assert_int_equal(vit_few_shot_find(&index, t, "a.pgm", &error), VIT_ERROR_MISMATCH);
    assert_non_null(strstr(error.message, "thick/a.pgm"));
    works(vit_few_shot_find(&index, t, "photos/thick/a.pgm", &error));
    assert_string_equal(vit_few_shot_class(t, vit_few_shot_at(t, index).label), "thick");
    assert_int_equal(vit_few_shot_find(&index, t, "ick/a.pgm", &error), VIT_ERROR_MISMATCH);
    assert_int_equal(vit_few_shot_correct(t, 0, "", &error), VIT_ERROR_ARGUMENT);
    works(vit_few_shot_learn(t, NULL, &error));
    vit_few_shot_free(t);
}

static void test_refused(void **state) {
    const vit_few_shot_options views = {.keep_lessons = true, .views = 2},
                               plain = {.no_curve = true};
    vit_few_shot *t;
    assert_int_equal(vit_few_shot_new(&t, model, &views, &error), VIT_ERROR_ARGUMENT);
    t = begin(&plain);
    add_bars(t, "");
    assert_int_equal(vit_few_shot_save_lessons(t, "lessons", &error), VIT_ERROR_ARGUMENT);
    vit_few_shot_free(t);
    t = begin(&keeping);
    assert_int_equal(vit_few_shot_save_lessons(t, "lessons", &error), VIT_ERROR_ARGUMENT);
    add(t, "thin", NULL, 0);
    assert_int_equal(vit_few_shot_save_lessons(t, "lessons", &error), VIT_ERROR_UNSUPPORTED);
    vit_few_shot_free(t);
    t = load_bars();
    works(vit_write_file("foreign", "IDX1 lessons", 12, &error));
    assert_int_equal(vit_few_shot_save_lessons(t, "foreign", &error), VIT_ERROR_MISMATCH);
    unlink("foreign");
    assert_int_equal(vit_few_shot_load_lessons(t, "kept", &error), VIT_ERROR_ARGUMENT);
    vit_few_shot_free(t);
}

static void expect_refused(const void *bytes, size_t size) {
    vit_few_shot *t = begin(&keeping);
    works(vit_write_file("spoiled", bytes, size, &error));
    assert_int_not_equal(vit_few_shot_load_lessons(t, "spoiled", &error), VIT_OK);
    assert_int_equal(vit_few_shot_count(t), 0);
    assert_int_equal(vit_few_shot_classes(t), 0);
    vit_few_shot_free(t);
}

/* The checksum of bytes that were changed on purpose. */
static void sign(vit_bytes *b) {
    static const char key[] = "\"vit.sha256\":\"";
    char hex[65];
    size_t at = 0;
    while (memcmp(b->data + at, key, sizeof key - 1) != 0) at++;
    at += sizeof key - 1;
    memset(b->data + at, '0', 64);
    vit_sha256_of(hex, b->data, b->size);
    memcpy(b->data + at, hex, 64);
}

static void test_spoiled(void **state) {
    vit_few_shot *t = load_bars();
    works(vit_few_shot_save_lessons(t, "spoiled", &error));
    vit_bytes b = read_all("spoiled");
    size_t head, features;
    memcpy(&head, b.data, sizeof head);
    for (size_t bit = 0; bit < b.size * 8; bit += bit < 8 * head ? 67 : 2003) {
        b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        expect_refused(b.data, b.size);
        b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t size = 0; size < b.size; size += b.size / 20) expect_refused(b.data, size);
    expect_refused(b.data, b.size - 1);
    features = 8 + head;
    sign(&b);
    works(vit_write_file("spoiled", b.data, b.size, &error));
    vit_few_shot_free(t);
    t = begin(&keeping);
    works(vit_few_shot_load_lessons(t, "spoiled", &error));
    vit_few_shot_free(t);
    memset(b.data + features, 255, 4); /* NaN */
    sign(&b);
    expect_refused(b.data, b.size);
    unlink("spoiled");
    vit_free(b.data);
}

/* The numbers of a file whose checksum is right. */
static void test_impossible(void **state) {
    vit_few_shot *t = load_bars();
    const size_t width = vit_model_describe(model).features, n = vit_few_shot_count(t);
    works(vit_few_shot_save_lessons(t, "spoiled", &error));
    vit_bytes b = read_all("spoiled");
    size_t head;
    memcpy(&head, b.data, sizeof head);
    uint8_t *labels =
        b.data + 8 + head + n * width * 4; /* features and labels, the widest, first */
    assert_int_equal(labels[4 * (n - 1)], 1);
    labels[4 * (n - 1)] = 2;
    sign(&b);
    expect_refused(b.data, b.size);
    assert_non_null(strstr(error.message, "class"));
    memset(labels + 4 * (n - 1), 255, 4);
    sign(&b);
    expect_refused(b.data, b.size);
    memset(labels + 4 * (n - 1), 0, 4);
    labels[4 * n] = 0; /* the first letter of a class */
    sign(&b);
    expect_refused(b.data, b.size);
    unlink("spoiled");
    vit_free(b.data);
    vit_few_shot_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_forgotten), cmocka_unit_test(test_changed),
        IN_DIRECTORY(test_names),     cmocka_unit_test(test_refused),
        IN_DIRECTORY(test_spoiled),   cmocka_unit_test(test_impossible),
    };
    works(vit_model_load(&model, "models/mnist.safetensors", &error));
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    vit_model_free(model);
    return failed;
}
