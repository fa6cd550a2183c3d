/* Inputs that failed once, or are of a kind that did: tests/corpus/TARGET/NAME, each given to
 * tests/fuzz/fuzz_TARGET.c as libFuzzer gives it. A target that finds a fault ends the process, so
 * each has one of its own. */
#define _DEFAULT_SOURCE /* fork in <unistd.h> */
#include "tests/support/fault.h"
#include "tests/support/replaced.h"
#include "tests/support/unit.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int fuzz_input(const uint8_t *data, size_t size);
typedef int fuzz_begin(int *argc, char ***argv);

/* Most targets have nothing to begin with. */
#define TARGET(name)                \
    fuzz_input fuzz_##name##_input; \
    __attribute__((weak)) fuzz_begin fuzz_##name##_begin;
#include "tests/fuzz/corpus.inc"
#undef TARGET

__attribute__((weak)) void __gcov_dump(void);

typedef struct target {
    const char *name;
    fuzz_input *input;
    fuzz_begin *begin; /* NULL: none */
} target;

static target targets[] = {
#define TARGET(name) {#name, fuzz_##name##_input, fuzz_##name##_begin},
#include "tests/fuzz/corpus.inc"
};

/* libFuzzer's, for targets that mutate inputs in a way of their own. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t limit);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t limit) {
    (void)data;
    (void)limit;
    return size;
}

/* The first call of the system that the target makes fails, then the second, ...; of targets that
 * expect nothing of what fails. */
static void give_failing(const target *t, const vit_bytes *file) {
    static const char any[] = " idx npy pickle requests serve tar tensors ";
    for (long n = strstr(any, t->name) ? 1 : LONG_MAX;; n++) {
        fault_arm(n);
        t->input(file->data, file->size);
        fault_disarm();
        if (!fault_call()) return;
        if (getenv("SHOW")) fprintf(stderr, "%ld %s\n", n, fault_call());
    }
}

typedef struct sent {
    const target *t;
    const vit_bytes *file;
    json_t *json; /* what begins at `from` */
    size_t from;
} sent;

static bool give_json(void *context, const char *path, const char *value) {
    const sent *s = context;
    char *json = json_dumps(s->json, 0), *text = malloc(s->from + (json ? strlen(json) : 0) + 1);
    if (!json || !text) abort();
    memcpy(text, s->file->data, s->from);
    memcpy(text + s->from, json, strlen(json) + 1);
    if (value) s->t->input((const uint8_t *)text, strlen(text));
    free(json);
    free(text);
    return true;
}

/* Each value of the JSON that the input ends with is of every other kind. */
static void give_replaced(const target *t, const vit_bytes *file) {
    sent s = {.t = t, .file = file};
    while (s.from < file->size && file->data[s.from] != '{') s.from++;
    s.json = json_loadb((const char *)file->data + s.from, file->size - s.from, 0, NULL);
    if (s.json) replace_each(s.json, give_json, &s);
    json_decref(s.json);
}

/* Gives the target every file of its directory, and each cut to half; counts them. */
static size_t give_inputs(const target *t, const char *directory) {
    char **names;
    size_t count;
    if (vit_list_directory(&names, &count, directory, NULL) != VIT_OK) return 0;
    if (t->begin) t->begin(&(int){0}, &(char **){NULL});
    for (size_t i = 0; i < count; i++) {
        char *path = vit_path_join(directory, names[i]);
        vit_bytes file;
        if (!path || vit_read_file(&file, path, 1 << 24, NULL) != VIT_OK) abort();
        fprintf(stderr, "%s\n", path); /* the last one is it, if this ends here */
        t->input(file.data, file.size);
        t->input(file.data, file.size / 2);
        give_failing(t, &file);
        give_replaced(t, &file);
        vit_free(file.data);
        vit_free(path);
    }
    vit_free(names);
    return count;
}

/* Every directory of the corpus is a target's. */
static void test_names(void **state) {
    char **names, path[100];
    size_t count;
    assert_int_equal(vit_list_directory(&names, &count, "tests/corpus", NULL), VIT_OK);
    assert_true(count > 5);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "tests/fuzz/fuzz_%.60s.c", names[i]);
        if (vit_path_look(path) != VIT_PATH_FILE) fail_msg("there is no %s", path);
    }
    vit_free(names);
}

/* ---- by hand: for a debugger, and mutations where there is no clang ---- */

static uint32_t draw(uint32_t *state) {
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* Turns bits, overwrites with bytes from elsewhere in the input, cuts, or repeats. */
static size_t mutate(uint8_t *out, const vit_bytes *file, uint32_t *state) {
    size_t size = file->size;
    if (size > 0) memcpy(out, file->data, size);
    for (uint32_t n = 1 + draw(state) % 6; n > 0 && size > 0; n--) {
        const size_t at = draw(state) % size, from = draw(state) % file->size;
        const size_t length = vit_min(1 + draw(state) % 16, vit_min(size - at, file->size - from));
        static const uint8_t edges[] = {0, 1, 0x7f, 0x80, 0xff};
        switch (draw(state) % 8) {
        case 0:
            size = at + 1;
            break;
        case 1:
        case 2:
            memcpy(out + at, file->data + from, length);
            break;
        case 3:
            memset(out + at, edges[draw(state) % sizeof edges], length);
            break;
        default:
            out[at] ^= (uint8_t)(1 << draw(state) % 8);
        }
    }
    return size;
}

/* Gives so many mutations of the target's inputs. */
static size_t give_mutations(const target *t, const char *directory, size_t count, uint32_t state) {
    char **names;
    size_t files;
    if (vit_list_directory(&names, &files, directory, NULL) != VIT_OK) return 0;
    if (t->begin) t->begin(&(int){0}, &(char **){NULL});
    for (size_t i = 0; i < files; i++) {
        char *path = vit_path_join(directory, names[i]);
        vit_bytes file;
        if (!path || vit_read_file(&file, path, 1 << 24, NULL) != VIT_OK) abort();
        for (size_t k = i; k < count; k += files) {
            const uint32_t before = state;
            uint8_t *data = malloc(file.size + 1);
            if (!data) abort();
            const size_t size = mutate(data, &file, &state);
            if (getenv("SHOW")) fprintf(stderr, "%s %u\n", path, before);
            t->input(data, size);
            free(data);
        }
        vit_free(file.data);
        vit_free(path);
    }
    vit_free(names);
    return count;
}

static void test_target(void **state) {
    const target *t = *state;
    char directory[100];
    int status;
    snprintf(directory, sizeof directory, "tests/corpus/%s", t->name);
    if (vit_path_look(directory) != VIT_PATH_DIRECTORY) return; /* nothing failed yet */
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}; /* by cmocka */
        for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) signal(caught[i], SIG_DFL);
        alarm(120);
        const char *more = getenv("MUTATIONS"); /* so many besides: make coverage */
        const bool given = give_inputs(t, directory) > 0 &&
                           (!more || give_mutations(t, directory, strtoul(more, NULL, 10), 1) > 0);
        if (__gcov_dump) __gcov_dump(); /* make coverage: _exit does not */
        _exit(given ? 0 : 2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail_msg("status %d", status);
}

/* With TARGET its inputs are given in this process; with TARGET COUNT SEED mutations of them. */
int main(int argc, char **argv) {
    enum { COUNT = sizeof targets / sizeof *targets };
    for (size_t i = 0; i < COUNT && argc > 1; i++) {
        char directory[100];
        snprintf(directory, sizeof directory, "tests/corpus/%s", targets[i].name);
        if (strcmp(targets[i].name, argv[1]) != 0) continue;
        return argc < 4 ? give_inputs(&targets[i], directory) == 0
                        : give_mutations(&targets[i], directory, strtoul(argv[2], NULL, 10),
                                         (uint32_t)strtoul(argv[3], NULL, 10)) == 0;
    }
    struct CMUnitTest tests[COUNT + 1] = {cmocka_unit_test(test_names)};
    for (size_t i = 0; i < COUNT; i++)
        tests[i + 1] = (struct CMUnitTest){targets[i].name, test_target, NULL, NULL, &targets[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
