/* vit/vit.h as a user of the library meets it, on a network trained for a few steps on drawn
 * digits. */
#include "tests/support/few_digits.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/formats/sha256.h"
#include "vit/vit.h"
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLASSES 10
#define PIXELS (28 * 28)

static vit_model *model; /* of the whole group */

static vit_train_options few_steps(void) {
    return (vit_train_options){
        .data = "digits", .preset = "digits", .steps = 6, .batch = 64, .val = vit_given(.1)};
}

static int train_once(void **unused) {
    vit_error error = {0};
    const vit_train_options o = few_steps();
    if (vit_train(&model, &o, &error) != VIT_OK) print_error("%s\n", error.message);
    return model ? 0 : -1;
}

static vit_train_options few_steps_of_few(void) {
    vit_train_options o = few_steps();
    o.data = NULL;
    o.arrays = few_digits();
    return o;
}

static int free_once(void **unused) {
    vit_model_free(model);
    return 0;
}

static vit_session *session_with(int threads, const char *cpu) {
    const vit_session_options o = {.threads = threads, .cpu = cpu};
    vit_session *s;
    assert_int_equal(vit_session_new(&s, model, &o, NULL), VIT_OK);
    return s;
}

/* ---- models ---- */

static void a_model_tells_what_it_is(void **unused) {
    const vit_model_info i = vit_model_describe(model);
    assert_int_equal(i.height, 28);
    assert_int_equal(i.channels, 1);
    assert_int_equal(i.classes, CLASSES);
    assert_string_equal(vit_model_label(model, 7), "7");
    assert_null(vit_model_label(model, 10));
    assert_non_null(strstr(i.config, "\"patch\": 7"));
    assert_non_null(strstr(i.preprocessing, "normalize"));
    assert_non_null(strstr(i.recipe, "\"data\": \"digits\""));
    assert_non_null(strstr(i.recipe, "\"steps\": 6"));
}

static uint8_t *read_whole(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    uint8_t *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, f), *size);
    fclose(f);
    return bytes;
}

static void assert_same_files(const char *a, const char *b) {
    size_t a_size, b_size;
    uint8_t *x = read_whole(a, &a_size), *y = read_whole(b, &b_size);
    assert_int_equal(a_size, b_size);
    assert_memory_equal(x, y, a_size);
    free(x);
    free(y);
}

static void a_file_answers_as_its_bytes_do(void **unused) {
    vit_train_options o = few_steps_of_few();
    vit_model *trained, *from_file, *from_memory, *by_scalar;
    const vit_model_options scalar = {.cpu = "scalar"};
    uint8_t digits[3 * PIXELS];
    float want[3 * CLASSES], got[3 * CLASSES];
    size_t size;
    o.out = "m.safetensors";
    assert_int_equal(vit_train(&trained, &o, NULL), VIT_OK);
    assert_int_equal(vit_model_load(&from_file, o.out, NULL), VIT_OK);
    assert_int_equal(vit_model_load_with(&by_scalar, o.out, &scalar, NULL), VIT_OK);
    uint8_t *bytes = read_whole(o.out, &size);
    assert_int_equal(vit_model_load_memory(&from_memory, bytes, size, "bytes", NULL, NULL), VIT_OK);
    free(bytes);
    for (uint32_t i = 0; i < 3; i++) vit_draw_digit(digits + i * PIXELS, 5, i);
    vit_model *const models[] = {trained, from_file, from_memory, by_scalar};
    for (size_t i = 0; i < 4; i++) {
        vit_session *s;
        assert_int_equal(vit_session_new(&s, models[i], NULL, NULL), VIT_OK);
        assert_int_equal(vit_classify_prepared(s, digits, 3, i ? got : want, NULL), VIT_OK);
        if (i) assert_memory_equal(got, want, sizeof want);
        vit_session_free(s);
    }
    vit_model_free(trained);
    vit_model_free(from_file);
    vit_model_free(from_memory);
    vit_model_free(by_scalar);
}

static void bad_files_are_refused_by_name(void **unused) {
    vit_model *m;
    vit_error e;
    assert_int_equal(vit_model_load(&m, "absent.safetensors", &e), VIT_ERROR_IO);
    assert_non_null(strstr(e.message, "absent.safetensors"));
    assert_null(m);
    static const char tensorless[] = "\x02\0\0\0\0\0\0\0{}";
    assert_int_equal(vit_model_load_memory(&m, tensorless, 10, "empty", NULL, &e),
                     VIT_ERROR_MISMATCH);
    assert_non_null(strstr(e.message, "empty: the file holds no tensors"));
    assert_int_equal(vit_model_load_memory(&m, "abc", 3, "short", NULL, NULL), VIT_ERROR_FORMAT);
}

/* ---- sessions ---- */

static void alone_or_in_a_batch_the_same(void **unused) {
    uint8_t digits[64 * PIXELS];
    float batch[64 * CLASSES], alone[CLASSES];
    static const char *const cpus[] = {"scalar", "avx2", "avx512"};
    for (uint32_t i = 0; i < 64; i++) vit_draw_digit(digits + i * PIXELS, 9, i);
    vit_session *s = session_with(2, NULL);
    assert_int_equal(vit_classify_prepared(s, digits, 64, batch, NULL), VIT_OK);
    vit_session_free(s);
    for (int threads = 1; threads <= 3; threads++) {
        s = session_with(threads, cpus[threads - 1]);
        for (size_t i = 0; i < 64; i += 9) {
            assert_int_equal(vit_classify_prepared(s, digits + i * PIXELS, 1, alone, NULL), VIT_OK);
            assert_memory_equal(alone, batch + i * CLASSES, sizeof alone);
        }
        vit_session_free(s);
    }
}

/* What one of several callers at the same time does, with a session of its own. */
typedef struct caller {
    const uint8_t *digits;
    const float *want;
    size_t wrong; /* of its answers */
} caller;

static void *answer_again_and_again(void *context) {
    caller *c = context;
    float got[64 * CLASSES];
    vit_session *s = session_with(2, NULL);
    for (size_t i = 0; i < 64; i++) {
        const size_t first = i % 2 ? i : 0, count = i % 2 ? 1 : 64; /* a team, then regions */
        if (vit_classify_prepared(s, c->digits + first * PIXELS, count, got, NULL) != VIT_OK ||
            memcmp(got, c->want + first * CLASSES, count * CLASSES * sizeof *got) != 0)
            c->wrong++;
    }
    vit_session_free(s);
    return NULL;
}

static void threads_of_the_host_do_not_meet(void **unused) {
    uint8_t digits[64 * PIXELS];
    float want[64 * CLASSES];
    for (uint32_t i = 0; i < 64; i++) vit_draw_digit(digits + i * PIXELS, 9, i);
    vit_session *s = session_with(1, NULL);
    assert_int_equal(vit_classify_prepared(s, digits, 64, want, NULL), VIT_OK);
    vit_session_free(s);
    caller callers[3] = {{digits, want, 0}, {digits, want, 0}, {digits, want, 0}};
    pthread_t threads[3];
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, answer_again_and_again, &callers[i]), 0);
    for (size_t i = 0; i < 3; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (size_t i = 0; i < 3; i++) assert_int_equal(callers[i].wrong, 0);
#pragma omp parallel for num_threads(3)
    for (size_t i = 0; i < 3; i++) answer_again_and_again(&callers[i]);
    for (size_t i = 0; i < 3; i++) assert_int_equal(callers[i].wrong, 0);
}

/* Six training steps and 64 answers, as bytes, are the same for every compiler and processor: this
 * is their SHA-256. It changes when the arithmetic, the drawn digits or the preset do, and then
 * only with a reason. */
static void the_same_bytes_everywhere(void **unused) {
    uint8_t digits[64 * PIXELS];
    float logits[64 * CLASSES];
    char hex[65];
    vit_sha256 hash;
    for (uint32_t i = 0; i < 64; i++) vit_draw_digit(digits + i * PIXELS, 9, i);
    vit_session *s = session_with(0, NULL);
    assert_int_equal(vit_classify_prepared(s, digits, 64, logits, NULL), VIT_OK);
    vit_session_free(s);
    vit_sha256_start(&hash);
    vit_sha256_add(&hash, logits, sizeof logits);
    vit_sha256_hex(&hash, hex);
    assert_string_equal(hex, "0d1bb8486b21d37347552dc8781fd988ae8a7b2d2979d1a0470237134a2b338d");
}

static void pixels_of_any_kind(void **unused) {
    uint8_t digit[PIXELS], strided[28 * 40], rgba[PIXELS * 4];
    float want[CLASSES], got[CLASSES];
    vit_draw_digit(digit, 3, 14);
    for (size_t i = 0; i < PIXELS; i++) {
        strided[i / 28 * 40 + i % 28] = digit[i];
        memset(rgba + 4 * i, digit[i], 3);
        rgba[4 * i + 3] = 255;
    }
    vit_session *s = session_with(1, NULL);
    assert_int_equal(vit_classify_pixels(s, digit, 28, 28, 1, 28, want, NULL), VIT_OK);
    assert_int_equal(vit_classify_pixels(s, strided, 28, 28, 1, 40, got, NULL), VIT_OK);
    assert_memory_equal(got, want, sizeof want);
    assert_int_equal(vit_classify_pixels(s, rgba, 28, 28, 4, 28 * 4, got, NULL), VIT_OK);
    assert_memory_equal(got, want, sizeof want);
    assert_int_equal(vit_classify_pixels(s, digit, 0, 28, 1, 28, got, NULL), VIT_ERROR_ARGUMENT);
    assert_int_equal(vit_classify_pixels(s, digit, 28, 28, 5, 140, got, NULL), VIT_ERROR_ARGUMENT);
    assert_int_equal(vit_classify_pixels(s, digit, 28, 28, 1, 27, got, NULL), VIT_ERROR_ARGUMENT);
    vit_session_free(s);
}

/* Pixels among files: the bytes that they get alone, and an error of their own. */
static void pixels_among_many(void **unused) {
    uint8_t digit[PIXELS];
    float want[CLASSES], many[3 * CLASSES];
    vit_answer answers[3];
    vit_draw_digit(digit, 3, 14);
    vit_session *s = session_with(2, NULL);
    const vit_picture given = {
        .name = "drawn", .pixels = digit, .width = 28, .height = 28, .channels = 1, .stride = 28};
    vit_picture pictures[] = {given, given, {.name = "tests/fixtures/image_grey.jpg"}};
    pictures[1].stride = 27;
    assert_int_equal(vit_classify_pixels(s, digit, 28, 28, 1, 28, want, NULL), VIT_OK);
    assert_int_equal(vit_classify_many(s, pictures, 3, many, NULL, answers, NULL), VIT_OK);
    assert_memory_equal(many, want, sizeof want);
    assert_int_equal(answers[1].error.status, VIT_ERROR_ARGUMENT);
    assert_non_null(strstr(answers[1].error.message, "drawn: pixels: rows are 27 bytes apart"));
    assert_int_equal(vit_classify_file(s, pictures[2].name, want, NULL), VIT_OK);
    assert_memory_equal(many + 2 * CLASSES, want, sizeof want);
    vit_session_free(s);
}

static void a_warning_is_about_the_last_picture(void **unused) {
    uint8_t digit[PIXELS], blank[50 * 40];
    float logits[CLASSES];
    vit_draw_digit(digit, 3, 14);
    memset(blank, 200, sizeof blank);
    vit_session *s = session_with(1, NULL);
    assert_null(vit_session_warning(s));
    assert_int_equal(vit_classify_pixels(s, blank, 50, 40, 1, 50, logits, NULL), VIT_OK);
    assert_non_null(vit_session_warning(s));
    assert_non_null(strstr(vit_session_warning(s), "no ink"));
    assert_int_equal(vit_classify_pixels(s, digit, 28, 28, 1, 28, logits, NULL), VIT_OK);
    assert_null(vit_session_warning(s));
    assert_int_equal(vit_classify_pixels(s, blank, 50, 40, 1, 50, logits, NULL), VIT_OK);
    assert_int_equal(vit_classify_prepared(s, digit, 1, logits, NULL), VIT_OK);
    assert_null(vit_session_warning(s));
    vit_session_free(s);
}

static void options_out_of_range(void **unused) {
    vit_session *s;
    vit_error e;
    vit_session_options o = {.threads = -1};
    assert_int_equal(vit_session_new(&s, model, &o, &e), VIT_ERROR_ARGUMENT);
    o = (vit_session_options){.cpu = "sse9"};
    assert_int_equal(vit_session_new(&s, model, &o, &e), VIT_ERROR_ARGUMENT);
    assert_non_null(strstr(e.message, "sse9"));
    assert_null(s);
}

static void features_are_of_the_last_picture(void **unused) {
    uint8_t digits[2 * PIXELS];
    float logits[2 * CLASSES], of_two[64], of_last[64];
    vit_session *s = session_with(1, NULL);
    assert_int_equal(vit_session_features(s, of_two, NULL), VIT_ERROR_ARGUMENT);
    for (uint32_t i = 0; i < 2; i++) vit_draw_digit(digits + i * PIXELS, 4, i);
    assert_int_equal(vit_classify_prepared(s, digits, 2, logits, NULL), VIT_OK);
    assert_int_equal(vit_session_features(s, of_two, NULL), VIT_OK);
    assert_int_equal(vit_classify_prepared(s, digits + PIXELS, 1, logits, NULL), VIT_OK);
    assert_int_equal(vit_session_features(s, of_last, NULL), VIT_OK);
    assert_memory_equal(of_two, of_last, sizeof of_last);
    vit_session_free(s);
}

/* A picture among many, files and bytes, gets the bytes it gets alone; one that is none gets NaN.
 */
static void many_are_answered_as_one_by_one(void **unused) {
    static const char *const files[] = {"tests/fixtures/published/picture.png", "absent.png",
                                        "tests/fixtures/image_grey.jpg"};
    size_t size, features = vit_model_describe(model).features;
    uint8_t *bytes = read_whole(files[0], &size);
    vit_picture pictures[6] = {{.name = files[0]},
                               {.name = files[1]},
                               {.name = files[2]},
                               {.name = "these bytes", .bytes = bytes, .size = size},
                               {.name = "half of them", .bytes = bytes, .size = size / 2},
                               {.name = NULL}};
    for (int threads = 1; threads <= 3; threads++) {
        float many[6 * CLASSES], wide[6 * 64], one[CLASSES], embedding[64];
        vit_answer answers[6];
        vit_session *s = session_with(threads, NULL);
        assert_int_equal(vit_classify_many(s, pictures, 6, many, wide, answers, NULL), VIT_OK);
        for (size_t i = 0; i < 3; i += 2) {
            assert_int_equal(vit_classify_file(s, files[i], one, NULL), VIT_OK);
            assert_memory_equal(many + i * CLASSES, one, sizeof one);
            assert_true(answers[i].warning == vit_session_warning(s));
            assert_int_equal(vit_embed_file(s, files[i], embedding, NULL), VIT_OK);
            assert_memory_equal(wide + i * features, embedding, features * sizeof(float));
        }
        assert_memory_equal(many + 3 * CLASSES, many, sizeof one);
        assert_int_equal(answers[1].error.status, VIT_ERROR_IO);
        assert_non_null(strstr(answers[1].error.message, "absent.png"));
        assert_int_equal(answers[4].error.status, VIT_ERROR_FORMAT);
        assert_non_null(strstr(answers[4].error.message, "half of them"));
        assert_int_equal(answers[5].error.status, VIT_ERROR_ARGUMENT);
        assert_true(isnan(many[CLASSES]) && isnan(wide[5 * features - 1]));
        assert_int_equal(vit_classify_many(s, pictures + 1, 1, many, NULL, answers, NULL), VIT_OK);
        assert_int_equal(vit_embed_file(s, files[1], embedding, NULL), VIT_ERROR_IO);
        vit_session_free(s);
    }
    free(bytes);
}

static void prepared_apart_is_the_same(void **unused) {
    enum { COUNT = 3 };
    static const char *const files[COUNT] = {"tests/fixtures/image_grey.jpg",
                                             "tests/fixtures/image_exif_6.png",
                                             "tests/fixtures/image_grey.jpg"};
    uint8_t images[COUNT][PIXELS];
    float together[COUNT][CLASSES], one[CLASSES];
    const size_t width = vit_model_describe(model).features;
    float *features = calloc(COUNT * width, sizeof *features);
    vit_session *s = session_with(1, NULL);
    vit_bytes file;
    vit_error error;
    const char *warning;
    for (size_t i = 0; i < COUNT; i++) {
        if (vit_read_file(&file, files[i], 1 << 20, &error)) fail_msg("%s", error.message);
        assert_int_equal(
            vit_prepare_memory(s, file.data, file.size, files[i], 0, images[i], &warning, &error),
            VIT_OK);
        if (i + 1 < COUNT) vit_free(file.data);
    }
    assert_int_equal(vit_embed_prepared(s, images[0], COUNT, together[0], features, NULL), VIT_OK);
    for (size_t i = 0; i < COUNT; i++) {
        float embedding[512];
        assert_in_range(width, 1, 512);
        assert_int_equal(vit_classify_file(s, files[i], one, NULL), VIT_OK);
        assert_memory_equal(one, together[i], sizeof one);
        assert_int_equal(vit_session_features(s, embedding, NULL), VIT_OK);
        assert_memory_equal(embedding, features + i * width, width * sizeof *features);
    }
    float values[PIXELS]; /* with mean and std of the drawn digits */
    for (size_t i = 0; i < PIXELS; i++)
        values[i] = ((float)images[0][i] / 255.0F - 0.1271F) / 0.3023F;
    assert_int_equal(vit_embed_normalized(s, values, 1, one, NULL, NULL), VIT_OK);
    assert_memory_equal(one, together[0], sizeof one);
    assert_int_equal(
        vit_prepare_memory(s, file.data, file.size, "it", 100, images[0], &warning, &error),
        VIT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "expected at most 100 altogether"));
    assert_int_equal(vit_prepare_memory(s, file.data, 40, "it", 0, images[0], &warning, &error),
                     VIT_ERROR_FORMAT);
    vit_free(file.data);
    free(features);
    vit_session_free(s);
}

static void the_host_keeps_its_floating_point_mode(void **unused) {
    uint8_t digit[PIXELS];
    float want[CLASSES], got[CLASSES];
    vit_draw_digit(digit, 8, 1);
    vit_session *s = session_with(2, NULL);
    assert_int_equal(vit_classify_prepared(s, digit, 1, want, NULL), VIT_OK);
    fesetround(FE_UPWARD);
    const vit_status status = vit_classify_prepared(s, digit, 1, got, NULL);
    const int mode = fegetround();
    fesetround(FE_TONEAREST);
    assert_int_equal(status, VIT_OK);
    assert_int_equal(mode, FE_UPWARD);
    assert_memory_equal(got, want, sizeof want);
    vit_session_free(s);
}

/* ---- answers ---- */

static void probabilities_and_the_best(void **unused) {
    float values[5] = {1, 3, 2, 3, -1}, p[5];
    size_t best[5];
    vit_top_k(values, 5, 3, best);
    assert_true(best[0] == 1 && best[1] == 3 && best[2] == 2);
    values[1] = NAN;
    vit_top_k(values, 5, 5, best);
    assert_true(best[0] == 3 && best[1] == 2 && best[2] == 0 && best[3] == 4 && best[4] == 1);
    values[1] = 3;
    vit_probabilities(values, 5, p);
    const double sum = exp(1) + 2 * exp(3) + exp(2) + exp(-1);
    for (size_t i = 0; i < 5; i++) assert_true(fabs(p[i] - exp(values[i]) / sum) < 1e-7);
    const double t = vit_model_describe(model).temperature;
    float logits[CLASSES], q[CLASSES], cold[CLASSES];
    for (size_t i = 0; i < CLASSES; i++) {
        logits[i] = (float)(i % 4);
        cold[i] = (float)(logits[i] / t);
    }
    vit_model_probabilities(model, logits, q);
    vit_probabilities(cold, CLASSES, cold);
    for (size_t i = 0; i < CLASSES; i++) assert_true(fabs(q[i] - cold[i]) < 1e-6);
}

/* ---- evaluation ---- */

static void figures_do_not_depend_on_batch_or_threads(void **unused) {
    vit_evaluate_options o = {.data = "digits", .batch = 7, .threads = 1};
    vit_evaluation a, b;
    assert_int_equal(vit_evaluate(model, &o, &a, NULL), VIT_OK);
    o.batch = 0;
    o.threads = 3;
    o.cpu = "avx2";
    assert_int_equal(vit_evaluate(model, &o, &b, NULL), VIT_OK);
    assert_true(a.images == 2000 && a.correct == b.correct && a.loss == b.loss && a.top5 == b.top5);
    assert_memory_equal(a.confusion, b.confusion, CLASSES * CLASSES * sizeof *a.confusion);
    size_t images = 0, correct = 0;
    for (size_t i = 0; i < CLASSES * CLASSES; i++) images += a.confusion[i];
    for (size_t i = 0; i < CLASSES; i++) correct += a.confusion[i * (CLASSES + 1)];
    assert_true(images == a.images && correct == a.correct);
    assert_true(a.top1 == (double)a.correct / 2000 && a.top5 >= a.top1 && a.loss > 0);
    double gap = 0;
    size_t binned = 0;
    for (size_t i = 0; i < VIT_BINS; i++) {
        if (a.bins[i].images == 0) continue;
        binned += a.bins[i].images;
        gap += fabs(a.bins[i].accuracy - a.bins[i].confidence) * (double)a.bins[i].images / 2000;
    }
    assert_true(binned == 2000 && fabs(a.ece - gap) < 1e-12 && a.brier > 0 && a.brier < 2);
    assert_true(a.ece == b.ece && a.brier == b.brier);
    assert_true(a.temperature == vit_model_describe(model).temperature && a.temperature != 1);
    vit_evaluation_clear(&a);
    vit_evaluation_clear(&b);
}

static void a_split_that_is_none_is_refused(void **unused) {
    vit_evaluation result;
    vit_error error;
    for (int split = 3; split > -2; split -= 4) {
        const vit_evaluate_options o = {.data = "digits", .split = (vit_split)split};
        assert_int_equal(vit_evaluate(model, &o, &result, &error), VIT_ERROR_ARGUMENT);
        assert_non_null(strstr(error.message, "expected test, train or val"));
        assert_null(result.confusion);
    }
}

/* ---- training ---- */

typedef struct heard {
    uint64_t stop_at; /* step; 0: never */
    int starts, epochs, checkpoints, done;
    double test;
} heard;

static bool listen(const vit_event *e, void *user) {
    heard *h = user;
    h->starts += e->kind == VIT_EVENT_START;
    h->epochs += e->kind == VIT_EVENT_EPOCH;
    h->checkpoints += e->kind == VIT_EVENT_CHECKPOINT;
    h->done += e->kind == VIT_EVENT_DONE;
    if (e->kind == VIT_EVENT_DONE) h->test = e->test_top1;
    return h->stop_at == 0 || e->step < h->stop_at;
}

static void events_tell_the_story(void **unused) {
    heard h = {0};
    vit_train_options o = few_steps_of_few();
    o.callback = listen;
    o.user = &h;
    o.checkpoint = "c";
    assert_int_equal(vit_train(NULL, &o, NULL), VIT_OK);
    assert_true(h.starts == 1 && h.epochs == 1 && h.checkpoints == 1 && h.done == 1);
    assert_true(h.test > 0 && h.test <= 1);
}

static void resumed_training_ends_in_the_same_bytes(void **unused) {
    vit_train_options o = few_steps_of_few();
    o.out = "whole.safetensors";
    assert_int_equal(vit_train(NULL, &o, NULL), VIT_OK);
    o.checkpoint = "c";
    o.steps = 4;
    o.schedule_steps = 6;
    o.out = NULL;
    o.threads = 1;
    assert_int_equal(vit_train(NULL, &o, NULL), VIT_OK);
    o.steps = 6;
    o.resume = true;
    o.out = "resumed.safetensors";
    o.threads = 3;
    o.cpu = "avx2";
    assert_int_equal(vit_train(NULL, &o, NULL), VIT_OK);
    assert_same_files("whole.safetensors", "resumed.safetensors");
}

static void another_training_is_not_resumed(void **unused) {
    vit_error e;
    vit_train_options o = few_steps_of_few();
    o.checkpoint = "c";
    assert_int_equal(vit_train(NULL, &o, NULL), VIT_OK);
    o.resume = true;
    o.seed = 5;
    assert_int_equal(vit_train(NULL, &o, &e), VIT_ERROR_MISMATCH);
    assert_non_null(strstr(e.message, "its seed is 0, this command's is 5"));
}

static void a_callback_can_stop(void **unused) {
    heard h = {.stop_at = 1};
    vit_error e;
    vit_train_options o = few_steps_of_few();
    o.steps = 100000;
    o.callback = listen;
    o.user = &h;
    assert_int_equal(vit_train(NULL, &o, &e), VIT_ERROR_CANCELLED);
    assert_true(h.done == 0);
}

static void contradictions_are_refused(void **unused) {
    vit_error e;
    vit_train_options o = few_steps_of_few();
    o.minutes = 1;
    assert_int_equal(vit_train(NULL, &o, &e), VIT_ERROR_ARGUMENT);
    o = few_steps_of_few();
    o.resume = true;
    assert_int_equal(vit_train(NULL, &o, &e), VIT_ERROR_ARGUMENT);
    o = few_steps_of_few();
    o.preset = "digitz";
    assert_int_equal(vit_train(NULL, &o, &e), VIT_ERROR_ARGUMENT);
    assert_non_null(strstr(e.message, "did you mean \"digits\""));
    o = few_steps_of_few();
    o.lr = NAN;
    assert_int_equal(vit_train(NULL, &o, &e), VIT_ERROR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_tells_what_it_is),
        cmocka_unit_test(many_are_answered_as_one_by_one),
        cmocka_unit_test(pixels_among_many),
        cmocka_unit_test(prepared_apart_is_the_same),
        IN_DIRECTORY(a_file_answers_as_its_bytes_do),
        cmocka_unit_test(bad_files_are_refused_by_name),
        cmocka_unit_test(alone_or_in_a_batch_the_same),
        cmocka_unit_test(threads_of_the_host_do_not_meet),
        cmocka_unit_test(the_same_bytes_everywhere),
        cmocka_unit_test(pixels_of_any_kind),
        cmocka_unit_test(a_warning_is_about_the_last_picture),
        cmocka_unit_test(options_out_of_range),
        cmocka_unit_test(features_are_of_the_last_picture),
        cmocka_unit_test(the_host_keeps_its_floating_point_mode),
        cmocka_unit_test(probabilities_and_the_best),
        cmocka_unit_test(figures_do_not_depend_on_batch_or_threads),
        cmocka_unit_test(a_split_that_is_none_is_refused),
        IN_DIRECTORY(events_tell_the_story),
        IN_DIRECTORY(resumed_training_ends_in_the_same_bytes),
        IN_DIRECTORY(another_training_is_not_resumed),
        cmocka_unit_test(a_callback_can_stop),
        cmocka_unit_test(contradictions_are_refused),
    };
    return cmocka_run_group_tests(tests, train_once, free_once);
}
