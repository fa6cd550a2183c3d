/* For test_modes.c alone: the modes, what a function is called with, and what it gave. */
#ifndef VIT_TESTS_API_MODES_H
#define VIT_TESTS_API_MODES_H

#define _GNU_SOURCE /* feenableexcept */

#include "tests/support/folders.h"
#include "tests/support/scratch.h"
#include "tests/support/small_model.h"
#include "tests/support/unit.h"
#include "vit/few_shot.h"
#include "vit/formats/sha256.h"
#include "vit/labels.h"
#include "vit/maps.h"
#include "vit/reports.h"
#include "vit/texts.h"
#include "vit/zero_shot.h"
#include <fenv.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

/* ---- modes ---- */

typedef struct mode {
    const char *name;
    int rounding;
    bool flushes, traps;
} mode;

static const mode modes[] = {
    {"the usual mode", FE_TONEAREST, false, false},
    {"rounding upward", FE_UPWARD, false, false},
    {"rounding downward", FE_DOWNWARD, false, false},
    {"rounding to zero", FE_TOWARDZERO, false, false},
    {"denormals flushed to zero", FE_TONEAREST, true, false},
    {"all exceptions trapped", FE_TONEAREST, false, true},
};
#define MODES (sizeof modes / sizeof *modes)

static const mode *current;
static const char *function; /* that is tried */

/* What a host can see of its mode. */
typedef struct seen {
    int rounding, raised, traps;
    unsigned csr;
} seen;

static seen look(void) {
    seen s = {.rounding = fegetround(), .raised = fetestexcept(FE_ALL_EXCEPT)};
#if defined(__GLIBC__)
    s.traps = fegetexcept();
#endif
#if defined(__SSE__)
    s.csr = _mm_getcsr();
#endif
    return s;
}

static seen enter(void) {
    fesetround(current->rounding);
#if defined(__SSE__)
    if (current->flushes) _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
#if defined(__GLIBC__)
    if (current->traps) feenableexcept(FE_ALL_EXCEPT);
#endif
    return look();
}

static void leave(const seen *before) {
    const seen after = look();
    fesetenv(FE_DFL_ENV);
#if defined(__SSE__)
    _mm_setcsr(0x1f80);
#endif
    if (memcmp(&after, before, sizeof after) != 0)
        fail_msg(
            "%s, %s: the host's mode is another one afterwards: rounding %d, was %d; MXCSR %#x, "
            "was %#x; raised %#x; traps %#x, were %#x",
            function, current->name, after.rounding, before->rounding, after.csr, before->csr,
            (unsigned)after.raised, (unsigned)after.traps, (unsigned)before->traps);
}

#define TRY(statement)                \
    do {                              \
        const seen before_ = enter(); \
        statement;                    \
        leave(&before_);              \
    } while (0)

/* ---- what a function gave ---- */

static vit_sha256 given;
static vit_error error;

static void add(const void *bytes, size_t size) {
    vit_sha256_add(&given, bytes, size);
}

static void add_number(double number) {
    add(&number, sizeof number);
}

static void add_text(const char *text) {
    add(text ? text : "NULL", text ? strlen(text) + 1 : 5);
}

static void add_file(const char *path) {
    vit_bytes bytes;
    assert_int_equal(vit_read_file(&bytes, path, 1 << 26, NULL), VIT_OK);
    add(bytes.data, bytes.size);
    vit_free(bytes.data);
}

static void works(vit_status status) {
    if (status != VIT_OK) fail_msg("%s, %s: %s", function, current->name, error.message);
}

#define TEXT(name, arguments)       \
    static void try_##name(void) {  \
        const char *text;           \
        TRY(text = name arguments); \
        add_text(text);             \
    }
#define NUMBER(name, arguments)               \
    static void try_##name(void) {            \
        size_t number;                        \
        TRY(number = (size_t)name arguments); \
        add(&number, sizeof number);          \
    }
/* `count` floats in `out`, and VIT_OK. */
#define FLOATS(name, arguments, count) \
    static void try_##name(void) {     \
        float out[count] = {0};        \
        vit_status status;             \
        TRY(status = name arguments);  \
        works(status);                 \
        add(out, sizeof out);          \
    }
/* Makes one by `call`, and takes it back. */
#define GONE(name, type, call)     \
    static void try_##name(void) { \
        type *one;                 \
        works(call);               \
        TRY(name(one));            \
    }

/* ---- what they are given ---- */

#define CLASSES 10
#define PIXELS (28 * 28)
#define FEATURES 96
#define TOKENS 50
#define WORDS 20

static char root[512], mnist[600], clip[600], nine[600], published[600];
static vit_model *model, *writer, *sigmoid;
static vit_session *session;
static vit_text_session *text_session;
static vit_embedder *words;
static vit_few_shot *teaching, *tested;
static vit_tensor_list *list;
static uint8_t digits[20][PIXELS];
static int64_t labels[20];
static const vit_arrays few = {.height = 28,
                               .width = 28,
                               .channels = 1,
                               .classes = 10,
                               .train = {digits[0], labels, 14},
                               .val = {digits[10], labels + 10, 4},
                               .test = {digits[14], labels + 14, 6}};
static vit_picture pictures[20];
static vit_bytes nine_bytes, mnist_bytes;
static const char *const small[] = {"dim=16", "depth=1", "heads=2", "mlp=16", "batch=16"};
static const char *const texts[] = {"a photo of a cat", "dog"};
static const char *warning;
static const vit_picture shown = {.name = nine};
static vit_answer answers[2];

static const vit_few_shot_options quick = {.no_curve = true};

/* Ten drawn pictures each of two classes, whatever they show. */
static vit_few_shot *teach(bool learns) {
    vit_few_shot *t;
    works(vit_few_shot_new(&t, model, &quick, &error));
    works(vit_few_shot_add(t, "one", pictures, 10, NULL, &error));
    works(vit_few_shot_add(t, "other", pictures + 10, 10, NULL, &error));
    if (learns) works(vit_few_shot_learn(t, NULL, &error));
    return t;
}

/* Answers show whatever was computed when a model or a session was made. */
static void add_answers(vit_session *s, size_t classes) {
    float logits[2 * CLASSES] = {0}, scores[CLASSES] = {0};
    const vit_picture asked[] = {{.name = nine}, pictures[0]};
    works(vit_classify_many(s, asked, 2, logits, NULL, answers, &error));
    add(logits, 2 * classes * sizeof *logits);
    vit_probabilities(logits, classes, scores);
    add(scores, classes * sizeof *scores);
}

/* Also clears it. */
static void add_model(vit_model *m) {
    vit_session *s;
    works(vit_session_new(&s, m, NULL, &error));
    add_text(vit_model_describe(m).config);
    add_number(vit_model_describe(m).temperature);
    add_answers(s, vit_model_describe(m).classes);
    vit_session_free(s);
    vit_model_free(m);
}

/* ---- the room ---- */

/* The process ends by it; so it says where. */
static void say_where(int number) {
    static const char text[] = ": SIGFPE\n";
    if (write(2, function, strlen(function)) >= 0 && write(2, text, sizeof text - 1) >= 0)
        signal(number, SIG_DFL);
}

static void make_pictures(void) {
    char path[64];
    put_file("labels/metadata.csv", "file,labels\n0.png,red\n1.png,blue\n2.png,red;blue\n3.png,\n");
    for (uint8_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "labels/%d.png", i);
        put_png(path, 16, 16, i == 0 || i == 2 ? 200 : 0, i, i == 1 || i == 2 ? 200 : 0);
    }
    for (uint32_t i = 0; i < 20; i++) {
        labels[i] = vit_draw_digit(digits[i], 9, i);
        pictures[i] = (vit_picture){.name = "drawn",
                                    .pixels = digits[i],
                                    .width = 28,
                                    .height = 28,
                                    .channels = 1,
                                    .stride = 28};
    }
    works(vit_read_file(&nine_bytes, nine, 1 << 20, &error));
    works(vit_read_file(&mnist_bytes, mnist, 1 << 26, &error));
    put_file("log", "{\"event\": \"start\", \"preset\": \"digits\", \"data\": \"digits\", "
                    "\"train_images\": 190, \"val_images\": 10, \"batch\": 8, \"step\": 0, "
                    "\"steps\": 2}\n{\"event\": \"epoch\", \"epoch\": 1, \"epochs\": 1, \"step\": "
                    "2, \"steps\": 2, \"loss\": 2.1, \"grad_norm\": 1.7, \"lr\": 0.002, "
                    "\"val_top1\": 0.097, \"val_loss\": 2.3}\n{\"event\": \"done\", \"step\": 2, "
                    "\"test_top1\": 0.101}\n");
}

/* Its weights are random. */
static void make_writer(void) {
    static const char *const numbers[] = {"0123456789"};
    vit_model_file f = small_model(
        "{\"image\": [8, 16], \"channels\": 1, \"patch\": 4, \"dim\": 12, \"depth\": 1, \"heads\": "
        "2, \"mlp\": 16, \"pool\": \"tokens\", \"head\": \"none\", \"decoder\": {\"dim\": 12, "
        "\"depth\": 2, \"heads\": 2, \"mlp\": 16, \"vocabulary\": 12, \"length\": 7}}",
        "{}",
        "[{\"op\": \"grey\"}, {\"op\": \"resize\", \"height\": 8, \"width\": 16, "
        "\"filter\": \"bilinear\", \"arithmetic\": \"pillow\"}, "
        "{\"op\": \"normalize\", \"mean\": [0.5], \"std\": [0.3]}]",
        NULL, "{}");
    works(vit_vocabulary_new(&f.vocabulary, VIT_SIGNS_CHARACTERS, numbers, 1, &error));
    works(vit_model_file_save("writer.safetensors", &f, &error));
    vit_model_file_clear(&f);
    works(vit_model_load(&writer, "writer.safetensors", &error));
}

static void open_all(void) {
    static const char *const several[] = {"dim=16", "depth=1",  "heads=2",
                                          "mlp=16", "batch=16", "multi_label=true"};
    const vit_train_options options = {
        .data = "labels", .set = several, .set_count = 6, .steps = 2, .val = vit_given(0)};
    function = "the room";
    current = &modes[0];
    make_pictures();
    make_writer();
    works(vit_model_load(&model, mnist, &error));
    works(vit_session_new(&session, model, NULL, &error));
    works(vit_text_session_new(&text_session, writer, NULL, &error));
    works(vit_train(&sigmoid, &options, &error));
    works(vit_embedder_load(&words, clip, NULL, &error));
    works(vit_tensor_list_load(&list, mnist, &error));
    teaching = teach(true);
    works(vit_few_shot_new(&tested, model, &quick, &error));
    works(vit_few_shot_add_data(tested, NULL, &few, NULL, NULL, &error));
    works(vit_few_shot_learn(tested, NULL, &error));
    assert_int_equal(vit_model_describe(model).features, FEATURES);
    assert_int_equal(vit_model_describe(model).tokens, TOKENS);
    assert_int_equal(vit_embedder_describe(words).features, WORDS);
}

static void close_all(void) {
    vit_few_shot_free(tested);
    vit_few_shot_free(teaching);
    vit_tensor_list_free(list);
    vit_embedder_free(words);
    vit_text_session_free(text_session);
    vit_session_free(session);
    vit_model_free(sigmoid);
    vit_model_free(writer);
    vit_model_free(model);
    vit_free(nine_bytes.data);
    vit_free(mnist_bytes.data);
}

#endif
