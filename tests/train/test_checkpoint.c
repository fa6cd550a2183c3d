/* Checkpoints as files: which are kept, that no bit of one can turn unnoticed, that nothing that
 * fails, or a power failure, loses the state before. Exactness of a resumed training:
 * tests/train/test_resume.c. */
#include "tests/support/fault.h"
#include "tests/support/noise.h"
#include "tests/support/power.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/formats/sha256.h"
#include "vit/train/checkpoint.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCHEDULE 100

/* ---- a small training ---- */

static vit_preset preset;
static vit_trainer *trainer;

static int make_trainer(void **state) {
    static const char config[] = "{\"image\": [2, 2], \"channels\": 1, \"patch\": 2, \"dim\": 2, "
                                 "\"depth\": 1, \"heads\": 1, \"mlp\": 2, \"classes\": 2}";
    preset = (vit_preset){.config = vit_config_default(), .recipe = vit_recipe_default()};
    preset.recipe.batch = 3;
    preset.recipe.ema = .9;
    return vit_config_read(&preset.config, config, "model", NULL) != VIT_OK ||
           vit_trainer_new(&trainer, &preset.config, &preset.recipe,
                           &(vit_trainer_options){.kernels = vit_kernels_scalar(), .threads = 1}, 7,
                           NULL) != VIT_OK;
}

static int free_trainer(void **state) {
    vit_trainer_free(trainer);
    return 0;
}

static vit_identity identity(void) {
    return (vit_identity){
        .preset = &preset, .data = "data", .init = "", .seed = 7, .schedule = SCHEDULE};
}

/* Steps until `step` are done, from the first on. */
static void train_to(uint64_t step) {
    double loss;
    if (vit_trainer_steps(trainer) > step) vit_trainer_reset(trainer, 7);
    while (vit_trainer_steps(trainer) < step)
        assert_int_equal(vit_trainer_step(trainer, &loss, .01, noise_batch, &preset.config, NULL),
                         VIT_OK);
}

static vit_status try_save(vit_checkpoints *c, uint64_t step, size_t best, vit_error *error) {
    const vit_identity i = identity();
    const vit_history history = {.best_step = best, .best_top1 = .5, .recent_loss = 1. / 3};
    char *path;
    train_to(step);
    const vit_status status = vit_checkpoints_save(&path, c, trainer, &i, &history, error);
    assert_true((status == VIT_OK) == (path != NULL));
    vit_free(path);
    return status;
}

static void save(vit_checkpoints *c, uint64_t step, size_t best) {
    vit_error error;
    if (try_save(c, step, best, &error) != VIT_OK) fail_msg("%s", error.message);
}

static vit_checkpoints open_directory(void) {
    vit_checkpoints c;
    vit_error error;
    if (vit_checkpoints_open(&c, "c", &error) != VIT_OK) fail_msg("%s", error.message);
    return c;
}

static void path_of(char path[64], uint64_t step) {
    snprintf(path, 64, "c/checkpoint-%012llu.safetensors", (unsigned long long)step);
}

/* The directory has a lock, and checkpoints of these steps alone. */
static void assert_steps(const char *steps) {
    char **names, found[512] = "";
    size_t count;
    assert_int_equal(vit_list_directory(&names, &count, "c", NULL), VIT_OK);
    for (size_t i = 0; i < count; i++) {
        unsigned long long step;
        if (sscanf(names[i], "checkpoint-%llu.", &step) == 1)
            snprintf(found + strlen(found), sizeof found - strlen(found), " %llu", step);
        else if (strcmp(names[i], "lock") != 0)
            snprintf(found + strlen(found), sizeof found - strlen(found), " %s", names[i]);
    }
    vit_free(names);
    assert_string_equal(found, steps);
}

/* The newest that verifies; 0: none. It can be loaded. */
static uint64_t newest(vit_checkpoints *c) {
    vit_checkpoint found;
    vit_error error;
    vit_history history;
    const vit_identity i = identity();
    if (vit_checkpoints_newest(&found, c, UINT64_MAX, NULL, NULL, &error) != VIT_OK)
        fail_msg("%s", error.message);
    if (!found.file) return 0;
    assert_int_equal(vit_checkpoint_compare(&found, &i, NULL), VIT_OK);
    assert_int_equal(vit_checkpoint_load(trainer, &history, &found, NULL), VIT_OK);
    assert_true(history.best_top1 == .5 && history.recent_loss == 1. / 3);
    const uint64_t step = found.step;
    vit_checkpoint_close(&found);
    return step;
}

/* ---- which are kept ---- */

static void test_the_last_two_and_the_best_are_kept(void **state) {
    vit_checkpoints c = open_directory();
    static const char *const kept[] = {" 1", " 1 2", " 2 3", " 2 3 4", " 2 4 5", " 5 6"};
    static const size_t best[] = {1, 2, 2, 2, 2, 6};
    for (size_t i = 0; i < 6; i++) {
        save(&c, i + 1, best[i]);
        assert_steps(kept[i]);
    }
    assert_int_equal(newest(&c), 6);
    vit_checkpoints_close(&c);
}

/* What an earlier run of the same training left stays until this one has come as far, and takes no
 * place of its own checkpoints. */
static void test_an_earlier_run_is_not_lost(void **state) {
    vit_checkpoints c = open_directory();
    for (uint64_t s = 10; s <= 40; s += 10) save(&c, s, 10);
    assert_steps(" 10 30 40");
    vit_checkpoints_close(&c);
    c = open_directory();
    static const char *const kept[] = {" 5 10 30 40", " 10 15 30 40", " 15 25 30 40", " 30 35 40",
                                       " 40 45"};
    for (size_t i = 0; i < 5; i++) {
        save(&c, 5 + 10 * i, i == 1 ? 10 : 0);
        assert_steps(kept[i]);
    }
    vit_checkpoints_close(&c);
}

static void test_what_is_replaced_goes_only_then(void **state) {
    vit_error error;
    vit_checkpoints c = open_directory();
    save(&c, 20, 0);
    save(&c, 30, 0);
    vit_checkpoints_close(&c);
    c = open_directory();
    vit_checkpoints_replace(&c);
    assert_int_equal(mkdir("c/checkpoint.new", 0777), 0);
    assert_int_equal(try_save(&c, 5, 0, &error), VIT_ERROR_IO);
    assert_steps(" 20 30 checkpoint.new");
    assert_int_equal(rmdir("c/checkpoint.new"), 0);
    save(&c, 6, 0);
    assert_steps(" 6");
    vit_checkpoints_close(&c);
}

/* ---- looking ---- */

static void refuse_directory(const char *directory, const char *a, const char *b) {
    vit_checkpoints c;
    vit_error error;
    const vit_status status = vit_checkpoints_open(&c, directory, &error);
    vit_checkpoints_close(&c);
    assert_int_not_equal(status, VIT_OK);
    assert_says(&error, VIT_ERROR_IO, a, b);
}

static void test_directories_that_cannot_be_looked_into(void **state) {
    vit_checkpoint found;
    vit_error error;
    put_file("file", "x");
    assert_int_equal(symlink("nowhere", "link"), 0);
    refuse_directory("file", "file", "there is a file of that name");
    refuse_directory("link", "link", "a link that leads nowhere");
    refuse_directory("file/c", "file/c", "Not a directory");
    vit_checkpoints made;
    assert_int_equal(vit_checkpoints_open(&made, "absent/c", &error), VIT_OK);
    vit_checkpoints_close(&made);
    vit_checkpoints c = open_directory();
    refuse_directory("c", "c/lock", "another process");
    save(&c, 1, 0);
    assert_int_equal(mkdir("c/checkpoint-000000000002.safetensors", 0777), 0);
    vit_checkpoints_close(&c);
    c = open_directory();
    assert_int_equal(vit_checkpoints_newest(&found, &c, UINT64_MAX, NULL, NULL, &error),
                     VIT_ERROR_IO); /* which could be looked at is not known: no going back */
    assert_says(&error, VIT_ERROR_IO, "000002", "move it away");
    vit_checkpoints_close(&c);
}

/* ---- damage ---- */

static vit_bytes read_checkpoint(uint64_t step) {
    char path[64];
    vit_bytes b;
    path_of(path, step);
    assert_int_equal(vit_read_file(&b, path, SIZE_MAX, NULL), VIT_OK);
    return b;
}

static void write_checkpoint(uint64_t step, const uint8_t *data, size_t size) {
    char path[64];
    path_of(path, step);
    put_bytes(path, data, size);
}

static size_t said;

static void hear(const char *why, void *context) {
    assert_non_null(strstr(why, context));
    said++;
}

/* Checkpoint 2, which is as `data` are, is not used, and why is said. */
static void refuse(vit_checkpoints *c, const uint8_t *data, size_t size) {
    vit_checkpoint found;
    write_checkpoint(2, data, size);
    said = 0;
    assert_int_equal(vit_checkpoints_newest(&found, c, UINT64_MAX, hear, "000002", NULL),
                     VIT_ERROR_FORMAT);
    assert_null(found.file);
    assert_int_equal(said, 1);
}

static void test_every_byte_and_every_length(void **state) {
    vit_checkpoints c = open_directory();
    save(&c, 2, 0);
    vit_bytes b = read_checkpoint(2);
    for (size_t i = 0; i < b.size; i++) {
        b.data[i] ^= (uint8_t)(1 << i % 8);
        refuse(&c, b.data, b.size);
        b.data[i] ^= (uint8_t)(1 << i % 8);
    }
    for (size_t size = 0; size < b.size; size++) refuse(&c, b.data, size);
    uint8_t *longer = vit_alloc(b.size + 1, 1);
    memcpy(longer, b.data, b.size);
    refuse(&c, longer, b.size + 1);
    write_checkpoint(2, b.data, b.size);
    assert_int_equal(newest(&c), 2);
    vit_free(longer);
    vit_free(b.data);
    vit_checkpoints_close(&c);
}

/* What is damaged is skipped, goes when a new one is there, and does not count as one of the two.
 */
static void test_an_older_one_takes_its_place(void **state) {
    vit_checkpoint found;
    vit_checkpoints c = open_directory();
    for (uint64_t step = 1; step <= 4; step++) save(&c, step, 2);
    write_checkpoint(4, (const uint8_t *)"x", 1);
    said = 0;
    assert_int_equal(vit_checkpoints_newest(&found, &c, UINT64_MAX, hear, "000004", NULL), VIT_OK);
    assert_int_equal(found.step, 3);
    assert_int_equal(said, 1);
    vit_checkpoint_close(&found);
    assert_int_equal(vit_checkpoints_newest(&found, &c, 2, NULL, NULL, NULL), VIT_OK);
    assert_int_equal(found.step, 2);
    vit_checkpoint_close(&found);
    assert_int_equal(vit_checkpoints_newest(&found, &c, 1, NULL, NULL, NULL), VIT_OK);
    assert_null(found.file);
    save(&c, 5, 3);
    assert_steps(" 3 5");
    save(&c, 6, 3);
    write_checkpoint(3, (const uint8_t *)"x", 1);
    assert_int_equal(vit_checkpoints_newest(&found, &c, 3, NULL, NULL, NULL), VIT_ERROR_FORMAT);
    save(&c, 7, 0);
    assert_steps(" 6 7");
    vit_checkpoints_close(&c);
}

/* Names of checkpoints that no program gives, one of version 0.1, and none that can be used. */
static void test_what_is_none(void **state) {
    vit_checkpoint found;
    vit_error error;
    char path[240] = "c/checkpoint-";
    vit_checkpoints c;
    assert_int_equal(mkdir("c", 0777), 0);
    memset(path + strlen(path), '7', 200);
    strcpy(path + strlen(path), ".safetensors");
    put_file(path, "");
    put_file("c/checkpoint-7.safetensors", "");
    put_file("c/checkpoint.safetensors", "");
    c = open_directory();
    assert_int_equal(vit_checkpoints_newest(&found, &c, UINT64_MAX, NULL, NULL, &error),
                     VIT_ERROR_FORMAT);
    assert_says(&error, VIT_ERROR_FORMAT, "c/checkpoint.safetensors", "of version 0.1");
    save(&c, 1, 0);
    save(&c, 2, 0);
    for (uint64_t step = 1; step <= 2; step++) write_checkpoint(step, (const uint8_t *)"x", 1);
    assert_int_equal(vit_checkpoints_newest(&found, &c, UINT64_MAX, NULL, NULL, &error),
                     VIT_ERROR_FORMAT);
    assert_says(&error, VIT_ERROR_FORMAT, "none of its 2 checkpoints", "checkpoint-000000000001");
    vit_checkpoints_close(&c);
}

/* The last step of a training can be read, is the trainer's then, and takes the room that was said.
 * Second moments may be 0. */
static void test_the_last_step(void **state) {
    vit_checkpoint found;
    vit_history history;
    vit_checkpoints c = open_directory();
    const vit_trainer_state s = vit_trainer_get(trainer);
    train_to(SCHEDULE);
    s.v[s.trained->rows[0].offset] = 0;
    save(&c, SCHEDULE, 0);
    vit_bytes file = read_checkpoint(SCHEDULE);
    size_t room = 65536; /* of values and averages, and of both moments */
    for (size_t i = 0; i < s.table->count; i++) room += 2 * (4 * s.table->rows[i].count + 256);
    for (size_t i = 0; i < s.trained->count; i++) room += 2 * (4 * s.trained->rows[i].count + 256);
    assert_true(vit_checkpoint_size(trainer) == room && file.size < room);
    vit_free(file.data);
    train_to(3);
    assert_int_equal(vit_checkpoints_newest(&found, &c, UINT64_MAX, NULL, NULL, NULL), VIT_OK);
    assert_int_equal(vit_checkpoint_load(trainer, &history, &found, NULL), VIT_OK);
    assert_int_equal(vit_trainer_steps(trainer), SCHEDULE);
    vit_checkpoint_close(&found);
    vit_checkpoints_close(&c);
}

/* ---- what has the right checksum and is wrong all the same ---- */

static uint8_t *find(const vit_bytes *b, const char *text) {
    for (size_t i = 0; i + strlen(text) <= b->size; i++)
        if (memcmp(b->data + i, text, strlen(text)) == 0) return b->data + i;
    fail_msg("no %s", text);
    return NULL;
}

static void sign(vit_bytes *b) {
    uint8_t *digits = find(b, "\"vit.sha256\":\"") + 14;
    char hex[65];
    vit_sha256 hash;
    memset(digits, '0', 64);
    vit_sha256_start(&hash);
    vit_sha256_add(&hash, b->data, b->size);
    vit_sha256_hex(&hash, hex);
    memcpy(digits, hex, 64);
}

/* Signed and as checkpoint 3, the bytes are refused; a message says so. Frees them. */
static void refuse_signed(vit_bytes *bytes, vit_status wanted, const char *a, const char *b) {
    vit_checkpoints c = open_directory();
    vit_checkpoint found;
    vit_error error;
    vit_history history;
    const vit_identity i = identity();
    bool missing;
    sign(bytes);
    write_checkpoint(3, bytes->data, bytes->size);
    vit_status status = vit_checkpoints_at(&found, &c, 3, &missing, &error);
    if (status == VIT_OK) status = vit_checkpoint_compare(&found, &i, &error);
    if (status == VIT_OK) status = vit_checkpoint_load(trainer, &history, &found, &error);
    assert_int_equal(status, wanted);
    assert_says(&error, wanted, a, b);
    vit_checkpoint_close(&found);
    vit_checkpoints_close(&c);
    vit_free(bytes->data);
}

/* In checkpoint 2 `from` becomes `to`, of the same length. */
static void refuse_text(const char *from, const char *to, vit_status wanted, const char *a,
                        const char *b) {
    vit_bytes bytes = read_checkpoint(2);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(find(&bytes, from), to, strlen(to));
    refuse_signed(&bytes, wanted, a, b);
}

/* Of a tensor of checkpoint 2 the last element becomes `value`. */
static void refuse_value(const char *name, float value, const char *b) {
    vit_bytes bytes = read_checkpoint(2);
    vit_tensors *file;
    assert_int_equal(vit_tensors_parse(&file, bytes.data, bytes.size, "2", NULL), VIT_OK);
    const vit_tensor *t = vit_tensors_find(file, name);
    assert_non_null(t);
    memcpy((uint8_t *)(uintptr_t)t->data + (t->count - 1) * sizeof value, &value, sizeof value);
    vit_tensors_close(file);
    refuse_signed(&bytes, VIT_ERROR_FORMAT, name, b);
}

static void test_what_cannot_be(void **state) {
    vit_checkpoints c = open_directory();
    save(&c, 2, 0);
    vit_checkpoints_close(&c);
    const vit_status format = VIT_ERROR_FORMAT;
    refuse_text("\"vit.schedule\":\"100\"", "\"vit.schedule\":\"001\"", format, "step 2",
                "schedule of 1");
    refuse_text("\"vit.step\":\"2\"", "\"vit.step\":\"x\"", format, "vit.step", "whole number");
    refuse_text("\"vit.step\":", "\"vit.stop\":", format, "vit.step", "missing");
    refuse_text("\\\"best_top1\\\": 0.5", "\\\"best_top1\\\": nil", format, "000003", "");
    refuse_text("\\\"stale\\\"", "\\\"stile\\\"", format, "stile", "stale");
    refuse_text("\"vit.history\"", "\"vit.hostory\"", format, "vit.history", "missing");
    refuse_text("\"adamw.m.head.bias\"", "\"adamw.m.head.pias\"", VIT_ERROR_MISMATCH,
                "adamw.m.head.bias", "");
    refuse_text("\"vit.config\":", "\"vit.konfig\":", VIT_ERROR_MISMATCH, "its network is missing",
                "");
    refuse_text("\"vit.seed\":", "\"vit.seat\":", VIT_ERROR_MISMATCH, "its seed is missing",
                "is 7");
    const float infinite = (float)(1e30 * 1e30);
    static const char *const groups[] = {"", "adamw.m.", "adamw.v.", "ema."};
    for (size_t i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "%shead.weight", groups[i]);
        refuse_value(name, infinite - infinite, "");
        refuse_value(name, infinite, "");
    }
    refuse_value("adamw.v.head.weight", -1e-30F, "negative");
}

static void test_no_nan_is_written(void **state) {
    vit_error error;
    vit_checkpoints c = open_directory();
    save(&c, 1, 0);
    train_to(2);
    const vit_trainer_state s = vit_trainer_get(trainer);
    const vit_parameter *first = s.trained->rows, *last = first + s.trained->count - 1;
    float *const values[] = {s.m + first->offset, s.m + last->offset + last->count - 1};
    for (size_t i = 0; i < 2; i++) {
        const float before = *values[i];
        *values[i] = (float)(1e30 * 1e30);
        assert_int_equal(try_save(&c, 2, 0, &error), VIT_ERROR_ARGUMENT);
        assert_says(&error, VIT_ERROR_ARGUMENT, "first moments", "not finite");
        *values[i] = before;
    }
    assert_steps(" 1");
    vit_checkpoints_close(&c);
}

/* ---- whose it is ---- */

static void test_what_differs_is_named(void **state) {
    vit_checkpoint found;
    vit_error error;
    vit_checkpoints c = open_directory();
    save(&c, 1, 0);
    assert_int_equal(vit_checkpoints_newest(&found, &c, UINT64_MAX, NULL, NULL, NULL), VIT_OK);
    vit_preset other = preset;
    vit_identity i = identity();
    i.preset = &other;
    other.recipe.lr = .5;
    assert_int_equal(vit_checkpoint_compare(&found, &i, &error), VIT_ERROR_MISMATCH);
    assert_says(&error, VIT_ERROR_MISMATCH, "in its recipe \"lr\" is ", "this command's is 0.5");
    assert_true(strlen(error.message) < 160); /* the key that differs, not the whole recipe */
    assert_null(strstr(error.message, "weight_decay"));
    other = preset;
    other.config.depth = 9;
    assert_int_equal(vit_checkpoint_compare(&found, &i, &error), VIT_ERROR_MISMATCH);
    assert_says(&error, VIT_ERROR_MISMATCH, "network \"depth\" is 1", "command's is 9");
    i = identity();
    i.seed = 8;
    assert_int_equal(vit_checkpoint_compare(&found, &i, &error), VIT_ERROR_MISMATCH);
    assert_says(&error, VIT_ERROR_MISMATCH, "seed is 7", "this command's is 8");
    i = identity();
    i.data = "others";
    assert_int_equal(vit_checkpoint_compare(&found, &i, &error), VIT_ERROR_MISMATCH);
    assert_says(&error, VIT_ERROR_MISMATCH, "data (checksum) is data", "is others");
    vit_checkpoint_close(&found);
    vit_checkpoints_close(&c);
}

/* With a teacher, and a model with names of classes and without: it is its own. */
static void test_it_is_its_own(void **state) {
    char *labels[] = {"a", "b"}, recipe[] = "recipe", *path;
    vit_model_file model = {.config = preset.config, .recipe = recipe};
    const vit_history history = {0};
    vit_checkpoints c = open_directory();
    for (int named = 0; named < 2; named++) {
        vit_checkpoint found;
        vit_error error;
        vit_identity i = identity();
        i.teacher = "teacher";
        i.model = &model;
        model.labels = named ? labels : NULL;
        if (named) i.classes = (vit_classes){.names = (const char *const *)labels, .count = 2};
        train_to(1 + (uint64_t)named);
        if (vit_checkpoints_save(&path, &c, trainer, &i, &history, &error) != VIT_OK)
            fail_msg("%s", error.message);
        vit_free(path);
        assert_int_equal(vit_checkpoints_newest(&found, &c, UINT64_MAX, NULL, NULL, NULL), VIT_OK);
        if (vit_checkpoint_compare(&found, &i, &error) != VIT_OK) fail_msg("%s", error.message);
        i.teacher = "other";
        assert_int_equal(vit_checkpoint_compare(&found, &i, &error), VIT_ERROR_MISMATCH);
        assert_says(&error, VIT_ERROR_MISMATCH, "--teacher is teacher", "is other");
        vit_checkpoint_close(&found);
    }
    vit_checkpoints_close(&c);
}

/* ---- calls that fail ---- */

/* Whatever fails while checkpoint 2 is written: it is there and said to be, or 1 is; nothing else
 * is left; and 3 can be written. Returns whether a call failed. */
static bool save_with_fault(long n, bool *lost) {
    vit_error error;
    vit_checkpoints c = open_directory();
    save(&c, 1, 0);
    train_to(2);
    fault_arm(n);
    const vit_status status = try_save(&c, 2, 0, &error);
    fault_disarm();
    const bool failed = fault_call() != NULL;
    assert_true(failed || status == VIT_OK);
    vit_checkpoints_close(&c);
    c = open_directory();
    const uint64_t step = newest(&c);
    assert_true(step == 2 || (step == 1 && status != VIT_OK));
    *lost = status != VIT_OK;
    save(&c, 3, 0);
    assert_int_equal(newest(&c), 3);
    vit_checkpoints_close(&c);
    assert_steps(step == 2 ? " 2 3" : " 1 3"); /* no temporary file stays */
    assert_int_equal(system("rm -r c"), 0);
    return failed;
}

static void test_every_call_may_fail(void **state) {
    size_t failures = 0, lost = 0;
    bool this_lost;
    for (long n = 1; save_with_fault(n, &this_lost); n++) {
        failures++;
        lost += this_lost;
    }
    assert_true(failures > 20 && lost > 10);
}

static void test_signals_and_short_writes(void **state) {
    vit_checkpoints c = open_directory();
    fault_trickle(true);
    save(&c, 1, 0);
    fault_trickle(false);
    assert_int_equal(newest(&c), 1);
    vit_checkpoints_close(&c);
}

/* ---- power failures ---- */

/* Power fails at the n-th change of the disk while checkpoints 3 and 4 are written. What was said
 * to be saved is there after that, or what was there before. Returns whether it failed. */
static bool save_until_power_fails(long n, power_loss loss) {
    vit_error error;
    uint64_t saved = 2;
    vit_checkpoints c = open_directory();
    save(&c, 1, 1);
    save(&c, 2, 1);
    power_watch(n);
    for (uint64_t step = 3; step <= 4; step++)
        if (try_save(&c, step, 1, &error) == VIT_OK) saved = step;
    const bool failed = power_failed();
    power_restore(loss);
    vit_checkpoints_close(&c);
    c = open_directory();
    const uint64_t step = newest(&c);
    if (step < saved) fail_msg("change %ld: %d was saved, %d is there", n, (int)saved, (int)step);
    bool missing; /* and the best */
    vit_checkpoint best;
    assert_int_equal(vit_checkpoints_at(&best, &c, 1, &missing, NULL), VIT_OK);
    vit_checkpoint_close(&best);
    save(&c, 5, 5);
    vit_checkpoints_close(&c);
    assert_int_equal(system("rm -r c"), 0);
    return failed;
}

static void test_power_may_fail_at_any_time(void **state) {
    for (int loss = 0; loss < POWER_LOSSES; loss++) {
        long n = 1;
        while (save_until_power_fails(n, (power_loss)loss)) n++;
        assert_true(n > 20);
        save_until_power_fails(0, (power_loss)loss); /* and right after the last */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_MEMORY(test_the_last_two_and_the_best_are_kept),
        IN_MEMORY(test_an_earlier_run_is_not_lost),
        IN_MEMORY(test_what_is_replaced_goes_only_then),
        IN_MEMORY(test_directories_that_cannot_be_looked_into),
        IN_MEMORY(test_every_byte_and_every_length),
        IN_MEMORY(test_an_older_one_takes_its_place),
        IN_MEMORY(test_what_is_none),
        IN_MEMORY(test_the_last_step),
        IN_MEMORY(test_what_cannot_be),
        IN_MEMORY(test_no_nan_is_written),
        IN_MEMORY(test_what_differs_is_named),
        IN_MEMORY(test_it_is_its_own),
        IN_MEMORY(test_every_call_may_fail),
        IN_MEMORY(test_signals_and_short_writes),
        IN_MEMORY(test_power_may_fail_at_any_time),
    };
    return cmocka_run_group_tests(tests, make_trainer, free_trainer);
}
