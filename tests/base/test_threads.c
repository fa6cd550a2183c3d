/* How many threads work, whatever OpenMP is told in the environment. It reads that once, when a
 * process starts: so this program starts itself again, and says then what it would use. */
#define _GNU_SOURCE /* sched_getcpu */
#include "vit/base/parallel.h"
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *self;

/* What a new process with `setting`, "" or "NAME=VALUE", answers to `question`. */
static int ask(const char *setting, const char *question) {
    char command[512], line[64] = "";
    snprintf(command, sizeof command, "env %s '%s' %s 2>/dev/null", setting, self, question);
    FILE *answer = popen(command, "r");
    assert_non_null(answer);
    if (!fgets(line, sizeof line, answer)) fail_msg("no answer to: %s", command);
    assert_int_equal(pclose(answer), 0);
    int answer_read;
    if (sscanf(line, "%d", &answer_read) != 1) fail_msg("not a number: %s", line);
    return answer_read;
}

/* "GOMP_CPU_AFFINITY=0,1", of the processors that this process may use; without blanks. */
static void name_processors(char *text, size_t size) {
    cpu_set_t set;
    size_t length = (size_t)snprintf(text, size, "GOMP_CPU_AFFINITY=");
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    for (size_t i = 0; i < CPU_SETSIZE && length + 8 < size; i++)
        if (CPU_ISSET(i, &set)) length += (size_t)snprintf(text + length, size - length, "%zu,", i);
    text[length - 1] = '\0';
}

static void test_bound_threads_are_as_many(void **state) {
    (void)state;
    char affinity[256];
    name_processors(affinity, sizeof affinity);
    const char *const settings[] = {"OMP_PROC_BIND=true",
                                    "OMP_PROC_BIND=close",
                                    "OMP_PROC_BIND=spread",
                                    "OMP_PROC_BIND=master",
                                    "OMP_PLACES=threads",
                                    "OMP_PLACES=cores",
                                    affinity};
    const int most = ask("", "default");
    assert_int_equal(most, vit_threads_most());
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (ask(settings[i], "default") != most) fail_msg("%s: not %d threads", settings[i], most);
        /* and each of them runs where no other does */
        if (ask(settings[i], "places") != most) fail_msg("%s: threads share", settings[i]);
    }
}

static void test_omp_num_threads_is_the_default(void **state) {
    (void)state;
    assert_int_equal(ask("OMP_NUM_THREADS=1", "default"), 1);
    assert_int_equal(ask("OMP_NUM_THREADS=1", "most"), ask("", "most"));
    assert_int_equal(ask("OMP_NUM_THREADS=1000", "default"), ask("", "most"));
}

static void remember_place(size_t index, int thread, void *context) {
    (void)index;
    for (volatile int i = 0; i < 20000000; i++) continue; /* so long that each has its turn */
    ((int *)context)[thread] = sched_getcpu() + 1;
}

/* The processors that as many threads as there may be ran on. */
static int places_used(void) {
    int places[64] = {0}, count = 0;
    const int threads = vit_threads_most() < 64 ? vit_threads_most() : 64;
    vit_parallel(threads, (size_t)threads * 4, remember_place, places);
    for (int i = 0; i < threads; i++) {
        int before = 0;
        while (before < i && places[before] != places[i]) before++;
        count += before == i && places[i] > 0;
    }
    return count;
}

int main(int argc, char **argv) {
    if (argc > 1) {
        printf("%d\n", strcmp(argv[1], "most") == 0     ? vit_threads_most()
                       : strcmp(argv[1], "places") == 0 ? places_used()
                                                        : vit_threads_default());
        return 0;
    }
    self = argv[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound_threads_are_as_many),
        cmocka_unit_test(test_omp_num_threads_is_the_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
