/* A training that is stopped and resumed ends in the same bytes, at any step, with every
 * augmentation; what it does when checkpoints or places are missing, when its loss explodes. */
#include "tests/support/check.h"
#include "tests/support/folders.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/formats/npy.h"
#include "vit/kernels/kernels.h"
#include "vit/tensors/tensors.h"
#include "vit/vit.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a small training ---- */

#define MODEL                                                              \
    "{\"model\": {\"patch\": 16, \"dim\": 8, \"depth\": 2, \"heads\": 2, " \
    "\"mlp\": 8}, "

/* All that a training can be asked for, in two recipes, as some exclude each other. */
static const char *const presets[] = {
    MODEL "\"train\": {\"batch\": 6, \"shift\": 2, \"flip\": true, \"rotate\": 10, \"scale\": 0.1, "
          "\"shear\": 0.1, \"elastic\": 8, \"edges\": \"reflect\", \"policy\": \"rand_augment\", "
          "\"jitter\": 0.2, \"erase\": 0.3, \"mixup\": 0.2, \"cutmix\": 1, \"mix_share\": 0.9, "
          "\"mix_until\": 0.8, \"repeats\": 2, \"ema\": 0.9, \"drop_path\": 0.3, "
          "\"label_smoothing\": 0.1, \"clip\": 1, \"schedule\": \"one_cycle\"}}",
    MODEL "\"train\": {\"batch\": 5, \"crop\": 0.4, \"flip\": true, \"flip_alternates\": true, "
          "\"policy\": \"trivial_augment\", \"cutmix\": 1, \"schedule\": \"wsd\"}}",
};

static void make_data(void) {
    put_class("d/a", 12, 32, 10);
    put_class("d/b", 12, 32, 120);
    put_class("d/c", 12, 32, 230);
    put_file("0.json", presets[0]);
    put_file("1.json", presets[1]);
}

/* What the training said: its notes one after another, and the steps of its checkpoints. */
typedef struct heard {
    char notes[4096], saved[256];
    uint64_t stop_at; /* 0: never */
    double top1;      /* of the validation set, at the end */
    void (*at_epoch)(uint64_t step);
} heard;

static bool listen(const vit_event *e, void *user) {
    heard *h = user;
    if (e->kind == VIT_EVENT_NOTE)
        snprintf(h->notes + strlen(h->notes), sizeof h->notes - strlen(h->notes), "%s\n", e->text);
    if (e->kind == VIT_EVENT_CHECKPOINT)
        snprintf(h->saved + strlen(h->saved), sizeof h->saved - strlen(h->saved), " %d",
                 (int)e->step);
    if (e->kind == VIT_EVENT_DONE) h->top1 = e->val_top1;
    if (e->kind == VIT_EVENT_EPOCH && h->at_epoch) h->at_epoch(e->step);
    return h->stop_at == 0 || e->step < h->stop_at;
}

static vit_train_options training(heard *h, const char *preset) {
    *h = (heard){0};
    return (vit_train_options){.data = "d",
                               .preset = preset,
                               .steps = 12,
                               .val = vit_given(6),
                               .threads = 1,
                               .out = "out",
                               .checkpoint = "c",
                               .callback = listen,
                               .user = h};
}

static void train(const vit_train_options *o) {
    vit_error error;
    if (vit_train(NULL, o, &error) != VIT_OK) fail_msg("%s", error.message);
}

static void refuse(const vit_train_options *o, vit_status status, const char *a, const char *b) {
    vit_error error;
    assert_int_equal(vit_train(NULL, o, &error), status);
    assert_says(&error, status, a, b);
}

static void assert_heard(const heard *h, const char *text) {
    if (!strstr(h->notes, text)) fail_msg("\"%s\" lacks \"%s\"", h->notes, text);
}

static void assert_same_files(const char *a, const char *b) {
    vit_bytes one, two;
    assert_int_equal(vit_read_file(&one, a, SIZE_MAX, NULL), VIT_OK);
    assert_int_equal(vit_read_file(&two, b, SIZE_MAX, NULL), VIT_OK);
    assert_int_equal(one.size, two.size);
    assert_memory_equal(one.data, two.data, one.size);
    vit_free(one.data);
    vit_free(two.data);
}

static bool exists(const char *path) {
    return access(path, F_OK) == 0;
}

static void remove_directory(void) {
    assert_int_equal(system("rm -rf c"), 0);
}

/* ---- the same bytes ---- */

/* The first k of 12 steps; else, resuming, all of them or up to k. */
static void train_up_to(uint64_t k, bool resume, vit_train_options o) {
    heard h = {0};
    o.user = &h;
    o.steps = k;
    o.schedule_steps = 12;
    o.resume = resume;
    train(&o);
    if (resume) assert_heard(&h, "resuming after step");
}

/* Whatever else is said of the trainings, their weights differ by so much at most. */
static double difference(const char *a, const char *b) {
    vit_tensors *one, *two;
    double most = 0;
    assert_int_equal(vit_tensors_open(&one, a, NULL), VIT_OK);
    assert_int_equal(vit_tensors_open(&two, b, NULL), VIT_OK);
    for (size_t i = 0; i < vit_tensors_count(one); i++) {
        const vit_tensor *x = vit_tensors_at(one, i);
        const vit_tensor *y = vit_tensors_find(two, x->name);
        assert_non_null(y);
        float *u = check_floats(x->count), *v = check_floats(y->count);
        assert_int_equal(vit_tensor_floats(x, u, NULL), VIT_OK);
        assert_int_equal(vit_tensor_floats(y, v, NULL), VIT_OK);
        for (size_t k = 0; k < x->count; k++) most = fmax(most, fabs((double)(u[k] - v[k])));
        vit_free(u);
        vit_free(v);
    }
    vit_tensors_close(one);
    vit_tensors_close(two);
    return most;
}

/* Ended after each step, and once more after another, with other threads each time. */
static void same_from_every_step(const char *preset, const char *bf16_cpu, bool keep_best) {
    heard h;
    vit_train_options o = training(&h, preset);
    o.precision = bf16_cpu ? VIT_PRECISION_BF16 : VIT_PRECISION_F32;
    o.cpu = bf16_cpu;
    o.keep_best = keep_best;
    o.checkpoint = NULL;
    o.overwrite = true;
    o.out = "whole";
    train(&o);
    o.out = "out";
    o.checkpoint = "c";
    for (uint64_t k = 1; k < 12; k += bf16_cpu ? 2 : 1) { /* bf16 in plain C is slow */
        o.threads = 1 + (int)(k % 3);
        train_up_to(k, false, o);
        o.threads = 2;
        o.activation_checkpointing = k % 2 == 0;
        if (k + 1 + k % 4 < 12) train_up_to(k + 1 + k % 4, true, o);
        o.threads = 1 + (int)((k + 1) % 3);
        train_up_to(12, true, o);
        assert_same_files("out", "whole");
    }
}

static void test_the_same_bytes_from_every_step(void **state) {
    make_data();
    same_from_every_step("./0.json", NULL, false);
    same_from_every_step("./1.json", NULL, true);
}

static void keep_logits(const vit_evaluated *e, void *user) {
    memcpy((float *)user + 3 * e->index, e->logits, 3 * sizeof(float));
}

/* Pictures that are as they are get the same answers from the model and from its stored logits. */
static void test_a_teacher_and_its_logits_teach_the_same(void **state) {
    static const size_t shape[] = {30, 3};
    heard h;
    vit_model *model;
    vit_evaluation result;
    float logits[90] = {0};
    make_data();
    put_file("plain.json", MODEL "\"train\": {\"batch\": 6}}");
    vit_train_options o = training(&h, "./plain.json");
    o.checkpoint = NULL;
    o.out = "teacher";
    o.steps = 100;
    train(&o);
    assert_int_equal(vit_model_load(&model, "teacher", NULL), VIT_OK);
    const vit_evaluate_options whole = {
        .data = "d", .split = VIT_SPLIT_TRAIN, .picture = keep_logits, .user = logits};
    assert_int_equal(vit_evaluate(model, &whole, &result, NULL), VIT_OK);
    vit_evaluation_clear(&result);
    vit_model_free(model);
    assert_int_equal(vit_npy_write("logits.npy", logits, shape, 2, NULL), VIT_OK);
    const char *const teachers[] = {NULL, "teacher", "logits.npy"};
    static const char *const outs[] = {"alone", "by-model", "by-logits"};
    for (size_t i = 0; i < 3; i++) {
        o.seed = 1;
        o.steps = 12;
        o.teacher = teachers[i];
        o.out = outs[i];
        train(&o);
    }
    assert_true(difference("by-model", "by-logits") <= 0);
    assert_true(difference("by-model", "alone") > 1e-3);
}

/* The bytes are the same from any step, of mixed pictures too; the directory is the training's with
 * that teacher alone. */
static void test_a_teacher_when_resumed(void **state) {
    static const size_t shape[] = {30, 3};
    heard h;
    float logits[90];
    make_data();
    for (size_t i = 0; i < 90; i++) logits[i] = (float)(i * 7 % 11) - 5;
    assert_int_equal(vit_npy_write("logits.npy", logits, shape, 2, NULL), VIT_OK);
    vit_train_options o = training(&h, "./1.json");
    o.out = "teacher";
    o.checkpoint = NULL;
    train(&o);
    static const char *const teachers[] = {"logits.npy", "teacher"};
    for (size_t i = 0; i < 2; i++) {
        o = training(&h, "./0.json");
        o.teacher = teachers[i];
        o.overwrite = true;
        o.out = "whole";
        o.checkpoint = NULL;
        train(&o);
        o.out = "out";
        o.checkpoint = "c";
        o.threads = 3;
        train_up_to(5, false, o);
        o.threads = 2;
        train_up_to(12, true, o);
        assert_same_files("out", "whole");
    }
    o.resume = true;
    o.teacher = NULL;
    refuse(&o, VIT_ERROR_MISMATCH, "--teacher is ", "none");
}

static void test_teachers_that_cannot_teach(void **state) {
    static const size_t few[] = {29, 3};
    heard h;
    float logits[87] = {0};
    make_data();
    vit_train_options o = training(&h, "./1.json");
    o.checkpoint = NULL;
    o.out = "teacher";
    train(&o);
    assert_int_equal(vit_npy_write("few.npy", logits, few, 2, NULL), VIT_OK);
    o.out = "out";
    o.teacher = "few.npy";
    refuse(&o, VIT_ERROR_MISMATCH, "few.npy: logits of shape [29, 3]", "expected [30, 3]");
    o.teacher = "missing";
    refuse(&o, VIT_ERROR_IO, "missing", "");
    o.teacher = "teacher";
    o.height = o.width = 48;
    refuse(&o, VIT_ERROR_MISMATCH, "takes pictures of 32 x 32", "48 x 48");
    o.height = o.width = 0;
    assert_int_equal(rename("d/a", "d/other"), 0);
    refuse(&o, VIT_ERROR_MISMATCH, "it does not know the class other of d", "classes are a, b, c");
    put_class("d/more", 12, 32, 60);
    refuse(&o, VIT_ERROR_MISMATCH, "it does not know the class more of d", "");
}

static void test_the_same_bytes_in_bfloat16(void **state) {
    const char *cpu = check_bf16_cpu(); /* plain C where the processor has no instruction for it */
    if (!cpu) skip();
    make_data();
    same_from_every_step("./1.json", cpu, true);
}

/* ---- when it saves ---- */

static void test_between_epochs(void **state) {
    heard h;
    make_data();
    vit_train_options o = training(&h, "./1.json");
    train(&o);
    assert_string_equal(h.saved, " 5 10 12"); /* 23 pictures by fives */
    remove_directory();
    h.saved[0] = 0;
    o.save_minutes = 1e-9;
    train(&o);
    assert_string_equal(h.saved, " 1 2 3 4 5 6 7 8 9 10 11 12");
}

/* ---- what is missing ---- */

static void test_the_best_is_lost(void **state) {
    heard h;
    make_data();
    vit_train_options o = training(&h, "./1.json");
    o.keep_best = true;
    o.steps = 52;
    o.schedule_steps = 60;
    o.save_minutes = 1e-9;
    train(&o);
    char **names;
    size_t count;
    assert_int_equal(vit_list_directory(&names, &count, "c", NULL), VIT_OK);
    assert_int_equal(count, 4); /* the best, two late ones, the lock */
    char best[64];
    snprintf(best, sizeof best, "c/%s", names[0]);
    vit_free(names);
    o.steps = 60;
    o.resume = true;
    put_file(best, "damaged");
    train(&o);
    assert_heard(&h, "the state that was best on the validation set");
    assert_heard(&h, "is lost");
}

static void test_fewer_steps_than_there_are(void **state) {
    heard h;
    make_data();
    vit_train_options o = training(&h, "./1.json");
    o.val.value = 0; /* so there is no best */
    o.steps = 18;
    train(&o);
    o.resume = true;
    o.steps = 15;
    o.schedule_steps = 18;
    train(&o);
    assert_heard(&h, "step 18, beyond the 15 steps");
    assert_heard(&h, "resuming after step 12 of 18"); /* 29 pictures by fives */
    h.notes[0] = 0;
    o.out = "late";
    o.steps = 9; /* both are beyond */
    train(&o);
    assert_heard(&h, "resuming after step 18 of 18");
    assert_heard(&h, "beyond the 9 steps");
}

/* ---- places ---- */

static void block_out(uint64_t step) {
    if (step < 6) assert_int_equal(mkdir("out", 0777), 0);
}

static void test_a_model_is_written_elsewhere(void **state) {
    heard h;
    make_data();
    vit_train_options o = training(&h, "./1.json");
    o.out = "whole";
    train(&o);
    remove_directory();
    o = training(&h, "./1.json");
    h.at_epoch = block_out;
    refuse(&o, VIT_ERROR_IO, "cannot write out: it is a directory",
           "the model is in c/out instead");
    assert_same_files("c/out", "whole");
    assert_int_equal(rmdir("out"), 0);
    o.resume = true;
    h.at_epoch = NULL;
    train(&o); /* and what lies in c is in nobody's way */
    assert_same_files("out", "whole");
    assert_int_equal(unlink("out"), 0);
    o.resume = false;
    o.checkpoint = NULL;
    h.at_epoch = block_out;
    put_file("/tmp/out", "");
    assert_int_equal(setenv("TMPDIR", "/tmp/nowhere", 1), 0);
    refuse(&o, VIT_ERROR_IO, "it is a directory", "the model is in ./2-out instead");
    assert_same_files("2-out", "whole");
}

static void put_stranger(uint64_t step) {
    if (step < 6) put_file("out", "a letter");
}

/* As scripts/reproduce compares seeds of which some were trained to their end before. */
static void test_accuracy_of_a_training_that_has_ended(void **state) {
    heard h;
    make_data();
    vit_train_options o = training(&h, "./0.json");
    train(&o);
    const double top1 = h.top1;
    h.top1 = NAN;
    o.resume = o.overwrite = true;
    train(&o);
    assert_true(h.top1 >= top1 && h.top1 <= top1);
}

static void test_what_came_in_the_meantime_stays(void **state) {
    heard h;
    make_data();
    vit_train_options o = training(&h, "./1.json");
    h.at_epoch = put_stranger;
    refuse(&o, VIT_ERROR_IO, "out exists and is no model", "the model is in c/out instead");
    assert_content("out", "a letter");
}

static void test_nothing_is_replaced_unasked(void **state) {
    heard h;
    make_data();
    vit_train_options o = training(&h, "./1.json");
    train(&o);
    o.seed = 5;
    refuse(&o, VIT_ERROR_MISMATCH, "its seed is 0, this command's is 5", "--overwrite");
    o.overwrite = true;
    o.steps = 7;
    train(&o);
    assert_false(exists("c/checkpoint-000000000012.safetensors"));
    assert_true(exists("c/checkpoint-000000000007.safetensors"));
    o.overwrite = false;
    o.checkpoint = "c2";
    o.seed = 6;
    refuse(&o, VIT_ERROR_MISMATCH, "out exists and was not made by this same training",
           "--overwrite");
    assert_false(exists("c2/checkpoint-000000000007.safetensors"));
}

static void take_the_directory_away(uint64_t step) {
    remove_directory();
}

static void test_a_directory_that_vanishes_comes_again(void **state) {
    heard h;
    make_data();
    vit_train_options o = training(&h, "./1.json");
    h.at_epoch = take_the_directory_away;
    train(&o);
    assert_true(exists("c/lock") && exists("c/checkpoint-000000000012.safetensors"));
}

static void test_leftovers_of_dead_processes(void **state) {
    heard h;
    make_data();
    vit_train_options o = training(&h, "./1.json");
    h.stop_at = 6;
    refuse(&o, VIT_ERROR_CANCELLED, "", "");
    /* Names as the writer makes them, of c/checkpoint.new and of out, and of another target. */
    put_file("c/checkpoint.new", "x");
    put_file("c/.vit-2892db2b-1-0.tmp", "x");
    put_file("c/.vit-00000000-1-0.tmp", "x");
    put_file(".vit-b9ea6d99-1-0.tmp", "x");
    h.stop_at = 0;
    o.seed = 9; /* another training removes nothing */
    refuse(&o, VIT_ERROR_MISMATCH, "seed", "");
    assert_true(exists("c/checkpoint.new") && exists("c/.vit-2892db2b-1-0.tmp"));
    o.seed = 0;
    o.resume = true;
    train(&o);
    assert_false(exists("c/checkpoint.new"));
    assert_false(exists("c/.vit-2892db2b-1-0.tmp"));
    assert_false(exists(".vit-b9ea6d99-1-0.tmp"));
    assert_true(exists("c/.vit-00000000-1-0.tmp"));
}

static void test_a_rescue_takes_a_free_place(void **state) {
    heard h;
    make_data();
    vit_train_options o = training(&h, "./1.json");
    o.checkpoint = NULL;
    o.rescue = "r";
    h.stop_at = 1;
    for (int i = 0; i < 3; i++) refuse(&o, VIT_ERROR_CANCELLED, "stopped", "");
    assert_true(exists("r/checkpoint-000000000001.safetensors"));
    assert_true(exists("r-2/checkpoint-000000000001.safetensors"));
    assert_true(exists("r-3/checkpoint-000000000001.safetensors"));
}

/* ---- trainings that go wrong ---- */

static void test_a_loss_that_explodes(void **state) {
    heard h;
    make_data();
    vit_train_options o = training(&h, "./1.json");
    o.lr = 100;
    o.steps = 600;
    refuse(&o, VIT_ERROR_ARGUMENT, "lower the learning rate (now 100 at most)",
           "no model is written");
    assert_false(exists("out"));
    o.lr = 1e-3; /* the good states stay, and are not taken for another training's */
    o.checkpoint = "c2";
    train(&o);
}

static void test_the_best_is_left_where_it_is_kept(void **state) {
    heard h;
    make_data();
    put_file("late.json",
             MODEL "\"train\": {\"batch\": 5, \"warmup\": 1, \"lr\": 100, \"clip\": 0}}");
    vit_train_options o = training(&h, "./late.json");
    o.steps = 100000; /* so slowly does the rate rise that some epochs are fine */
    o.keep_best = true;
    refuse(&o, VIT_ERROR_ARGUMENT, "lower the learning rate", "the best so far");
    assert_true(exists("out"));
    vit_model *model;
    assert_int_equal(vit_model_load(&model, "out", NULL), VIT_OK);
    vit_model_free(model);
}

static void test_held_back_answers_that_are_no_numbers(void **state) {
    heard h;
    make_data();
    put_file("wild.json", "{\"model\": {\"patch\": 16, \"dim\": 8, \"depth\": 40, "
                          "\"heads\": 2, \"mlp\": 8}, \"train\": {\"batch\": 30, \"lr\": 100, "
                          "\"warmup\": 0, \"weight_decay\": 100}}");
    vit_train_options o = training(&h, "./wild.json");
    o.steps = 12;
    refuse(&o, VIT_ERROR_ARGUMENT, "lower the learning rate", "");
    assert_false(exists("out"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_MEMORY(test_the_same_bytes_from_every_step),
        IN_MEMORY(test_a_teacher_and_its_logits_teach_the_same),
        IN_MEMORY(test_a_teacher_when_resumed),
        IN_MEMORY(test_teachers_that_cannot_teach),
        IN_MEMORY(test_the_same_bytes_in_bfloat16),
        IN_MEMORY(test_between_epochs),
        IN_MEMORY(test_the_best_is_lost),
        IN_MEMORY(test_fewer_steps_than_there_are),
        IN_MEMORY(test_a_model_is_written_elsewhere),
        IN_MEMORY(test_accuracy_of_a_training_that_has_ended),
        IN_MEMORY(test_what_came_in_the_meantime_stays),
        IN_MEMORY(test_nothing_is_replaced_unasked),
        IN_MEMORY(test_a_directory_that_vanishes_comes_again),
        IN_MEMORY(test_leftovers_of_dead_processes),
        IN_MEMORY(test_a_rescue_takes_a_free_place),
        IN_MEMORY(test_a_loss_that_explodes),
        IN_MEMORY(test_the_best_is_left_where_it_is_kept),
        IN_MEMORY(test_held_back_answers_that_are_no_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
