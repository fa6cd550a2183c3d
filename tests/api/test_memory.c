/* Memory while a model is loaded: one copy of the weights, and hardly more. And while it answers:
 * as much for many pictures as for few. */
#define _DEFAULT_SOURCE /* madvise */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/check.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/weights/file/backbone.h"
#include "vit/weights/file/model_file.h"

/* A line of /proc/self/status in bytes; 0 where the system has none. */
static size_t status_bytes(const char *key) {
    char line[256];
    unsigned long kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0) sscanf(line + strlen(key), "%lu", &kilobytes);
    if (file) fclose(file);
    return (size_t)kilobytes * 1024;
}

/* What is resident now becomes the peak so far. */
static bool reset_peak(void) {
    FILE *file = fopen("/proc/self/clear_refs", "w");
    const bool done = file && fputs("5", file) >= 0;
    return file && fclose(file) == 0 && done;
}

#define FILE_NAME "model.safetensors"

static size_t save_model(const char *path, vit_dtype dtype, const char *backbone) {
    vit_model_file m = {.config = vit_config_default()};
    vit_error error;
    const char *sizes = "{\"image\": [32, 32], \"channels\": 3, \"patch\": 16, \"dim\": 512, "
                        "\"depth\": 6, \"heads\": 8, \"mlp\": 2048, \"classes\": 10}";
    const char *list = "[{\"op\": \"normalize\", \"mean\": [0.5, 0.5, 0.5], \"std\": [0.5, 0.5, "
                       "0.5]}]";
    if (vit_config_read(&m.config, sizes, "sizes", &error) != VIT_OK ||
        vit_preprocessing_read(&m.preprocessing, list, "list", &error) != VIT_OK ||
        vit_table_new(&m.table, &m.config, &error) != VIT_OK)
        fail_msg("%s", error.message);
    const size_t bytes = m.table.parameters * sizeof(float);
    m.values = vit_alloc(m.table.size, sizeof(float));
    m.recipe = vit_strdup("{}");
    assert_non_null(m.values);
    if (backbone && vit_backbone_refer(&m.backbone, backbone, &error) != VIT_OK)
        fail_msg("%s", error.message);
    if (vit_model_file_save_as(path, &m, dtype, &error) != VIT_OK) fail_msg("%s", error.message);
    vit_model_file_clear(&m);
    return bytes;
}

/* A picture answered in one session of a model; what that took more than there was. */
static size_t answer_one(const vit_model *model, const vit_session_options *options,
                         size_t before) {
    static uint8_t pixels[32 * 32 * 3];
    float logits[10];
    vit_session *session;
    assert_int_equal(vit_session_new(&session, model, options, NULL), VIT_OK);
    assert_int_equal(vit_classify_prepared(session, pixels, 1, logits, NULL), VIT_OK);
    vit_session_free(session);
    return status_bytes("VmHWM:") - before;
}

/* The peak while a model is opened and answers; freed again. `sessions`: in this precision. */
static size_t peak_of_file(const char *path, const vit_model_options *opening,
                           vit_precision sessions) {
    const vit_session_options options = {.threads = 1, .cpu = opening->cpu, .precision = sessions};
    vit_model *model;
    const size_t before = status_bytes("VmRSS:");
    if (before == 0 || !reset_peak()) skip();
    assert_int_equal(vit_model_load_with(&model, path, opening, NULL), VIT_OK);
    const size_t first = answer_one(model, &options, before);
    const size_t second = answer_one(model, &options, before);
    vit_model_free(model);
#if !defined(__SANITIZE_ADDRESS__) /* which keeps what was freed, the first session */
    if (second > first + (1u << 20)) fail_msg("a second session took %zu more", second - first);
#endif
    return first < second ? first : second;
}

static size_t peak_of(const vit_model_options *opening, vit_precision sessions) {
    return peak_of_file(FILE_NAME, opening, sessions);
}

static void check_peak(size_t peak, size_t weights, double copies) {
    const size_t most = (size_t)((double)weights * copies) + (8u << 20);
    if (peak > most) fail_msg("%zu bytes of weights took %zu, more than %zu", weights, peak, most);
}

/* Of the floats; a tensor has 4 MiB, and so have its pages of the file. */
static void test_one_copy(void **state) {
    const size_t weights = save_model(FILE_NAME, VIT_F32, NULL);
    check_peak(peak_of(&(vit_model_options){0}, VIT_PRECISION_F32), weights, 1.125);
}

static void test_half_a_copy(void **state) {
#if defined(__SANITIZE_ADDRESS__)
    skip(); /* keeps what was freed */
#endif
    vit_model_options opening = {.cpu = check_bf16_cpu()};
    if (!opening.cpu) skip();
    const size_t weights = save_model(FILE_NAME, VIT_F32, NULL);
    const size_t f32 = peak_of(&opening, VIT_PRECISION_F32);
    check_peak(peak_of(&opening, VIT_PRECISION_BF16), weights, 1.125 + .5);
    opening.precision = VIT_PRECISION_BF16;
    const size_t bf16 = peak_of(&opening, VIT_PRECISION_BF16);
    check_peak(bf16, weights, .5);
    if ((double)bf16 > .6 * (double)f32) fail_msg("bf16 took %zu, f32 %zu", bf16, f32);
}

/* Of the numbers of 16 bits in the file, which answer in f32. */
static void test_halves_stay(void **state) {
    const vit_dtype dtypes[] = {VIT_BF16, VIT_F16};
    for (size_t i = 0; i < 2; i++) {
        const size_t weights = save_model(FILE_NAME, dtypes[i], NULL);
        check_peak(peak_of(&(vit_model_options){0}, VIT_PRECISION_F32), weights, .5 * 1.125);
    }
}

/* Of a head whose backbone is another file: its numbers stay as they are there. */
static void test_backbone_stays(void **state) {
    const vit_dtype dtypes[] = {VIT_F32, VIT_BF16, VIT_I8};
    const double parts[] = {1, .5, .25};
    for (size_t i = 0; i < 3; i++) {
        const size_t weights = save_model("backbone.safetensors", dtypes[i], NULL);
        save_model(FILE_NAME, VIT_F32, "backbone.safetensors");
        check_peak(peak_of(&(vit_model_options){0}, VIT_PRECISION_F32), weights, parts[i] * 1.125);
    }
}

/* What was given back is not made whole again by huge pages, which Linux does by itself in time, or
 * at once when it is asked. */
static void test_given_back_for_good(void **state) {
    const size_t size = (size_t)16 << 20, kept = (size_t)64 << 10, collapse = 25;
    uint8_t *memory = vit_alloc(1, size);
    assert_non_null(memory);
    if (status_bytes("VmRSS:") == 0) skip();
    vit_clear(memory + kept, size - kept);
    const size_t before = status_bytes("VmRSS:");
    madvise(memory, size, (int)collapse); /* MADV_COLLAPSE, since Linux 6.1 */
    const size_t after = status_bytes("VmRSS:");
    if (after > before + (1u << 20)) fail_msg("%zu bytes came back", after - before);
    vit_free(memory);
}

/* What is given back is 0, and nothing beside it changes, however it lies in its pages. */
static void test_given_back(void **state) {
    const size_t size = (size_t)5 << 20, places[] = {0, 1, 4095, 4096, 4097, 3 << 20, 5 << 20};
    uint8_t *memory = vit_alloc_unset(1, size), *want = vit_alloc(1, size);
    assert_true(memory && want);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (size_t j = i; j < sizeof places / sizeof *places; j++) {
            memset(memory, 1, size);
            memset(want, 1, size);
            memset(want + places[i], 0, places[j] - places[i]);
            vit_clear(memory + places[i], places[j] - places[i]);
            assert_memory_equal(memory, want, size);
        }
    vit_free(memory);
    vit_free(want);
}

/* Builds that look for it find a read of what was given back or never set: as NaN, which an answer
 * cannot hide, or as AddressSanitizer's report. */
static void test_reads_are_found(void **state) {
    float *memory = vit_alloc(100, sizeof *memory), *unset = vit_alloc_unset(1, sizeof *unset);
    assert_true(memory && unset);
    vit_discard(memory + 40, 20 * sizeof *memory);
    assert_true(memory[39] == 0 && memory[60] == 0);
#if defined(__SANITIZE_ADDRESS__)
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr)) _exit(0);
        const float read = *(volatile float *)(memory + 50);
        _exit(read != read);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(!WIFEXITED(status) || WEXITSTATUS(status) != 0);
#elif defined(VIT_POISON)
    assert_true(isnan(memory[40]) && isnan(memory[59]) && isnan(*unset));
#else
    vit_free(memory);
    vit_free(unset);
    skip();
#endif
    vit_free(memory);
    vit_free(unset);
}

/* Answers `count` pictures in one process, every tenth of them absent; the most memory in KiB that
 * a process of this test has taken so far, 0 where the program does not run here. */
static long answer(size_t count) {
    char command[512];
    struct rusage usage;
    const char *build = getenv("BUILD");
    snprintf(command, sizeof command,
             "%s/bin/vit-classify --json --threads 2 --model tests/fixtures/published/timm_gap "
             "--files-from - >/dev/null 2>&1",
             build ? build : "build");
    signal(SIGPIPE, SIG_IGN); /* of a program that ends before its list does */
    FILE *list = popen(command, "w");
    assert_non_null(list);
    for (size_t i = 0; i < count; i++)
        fputs(i % 10 == 0 ? "absent.png\n" : "tests/fixtures/published/picture.png\n", list);
    const int status = pclose(list), code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == 126 || code == 127) return 0; /* the shell's, where there is no such program */
    assert_int_equal(code, 1);
    assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
    return usage.ru_maxrss;
}

/* A kilobyte lost for each picture would be 4 MiB. */
static void test_pictures_leave_nothing(void **state) {
#if defined(__SANITIZE_ADDRESS__)
    skip(); /* keeps what was freed */
#endif
    const long few = answer(1000), many = answer(5000);
    if (few == 0 || many == 0) skip();
    if (many - few >= 2048) fail_msg("4,000 pictures more took %ld KiB more", many - few);
}

int main(void) {
    /* The first while this process is small: a new one counts as large as the one it comes from. */
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pictures_leave_nothing),
                                       cmocka_unit_test(test_given_back),
                                       cmocka_unit_test(test_reads_are_found),
                                       cmocka_unit_test(test_given_back_for_good),
                                       IN_DIRECTORY(test_one_copy),
                                       IN_DIRECTORY(test_half_a_copy),
                                       IN_DIRECTORY(test_halves_stay),
                                       IN_DIRECTORY(test_backbone_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
