/* Inputs that failed once, or are of a kind that did: tests/corpus/TARGET/NAME, each given to
 * tests/fuzz/fuzz_TARGET.c as libFuzzer gives it. A target that finds a fault ends the process, so
 * each has one of its own. */
#define _DEFAULT_SOURCE /* fork in <unistd.h> */
#include "tests/support/unit.h"
#include "vit/base/sys.h"

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
#include "corpus.inc"
#undef TARGET

typedef struct target {
    const char *name;
    fuzz_input *input;
    fuzz_begin *begin; /* NULL: none */
} target;

static target targets[] = {
#define TARGET(name) {#name, fuzz_##name##_input, fuzz_##name##_begin},
#include "corpus.inc"
};

/* libFuzzer's, for targets that mutate inputs in a way of their own. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t limit);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t limit) {
    (void)data;
    (void)limit;
    return size;
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
        _exit(give_inputs(t, directory) > 0 ? 0 : 2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail_msg("status %d", status);
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

/* With the name of a target its inputs are given in this process, for a debugger. */
int main(int argc, char **argv) {
    enum { COUNT = sizeof targets / sizeof *targets };
    for (size_t i = 0; i < COUNT && argc > 1; i++) {
        char directory[100];
        snprintf(directory, sizeof directory, "tests/corpus/%s", targets[i].name);
        if (strcmp(targets[i].name, argv[1]) == 0) return give_inputs(&targets[i], directory) == 0;
    }
    struct CMUnitTest tests[COUNT + 1] = {cmocka_unit_test(test_names)};
    for (size_t i = 0; i < COUNT; i++)
        tests[i + 1] = (struct CMUnitTest){targets[i].name, test_target, NULL, NULL, &targets[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
