/* How many threads work, whatever OpenMP is told in the environment. It reads that once, when a
 * process starts: so this program starts itself again, and says then what it would use. And that
 * work is done where no thread can be started, and in children of fork. */
#define _GNU_SOURCE /* sched_getcpu, setgroups */
#include "tests/support/unit.h"
#include "vit/base/helpers.h"
#include "vit/base/parallel.h"
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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
    char affinity[256];
    name_processors(affinity, sizeof affinity);
    const char *const settings[] = {"OMP_PROC_BIND=true",
                                    "OMP_PROC_BIND=close",
                                    "OMP_PROC_BIND=spread",
                                    "OMP_PROC_BIND=master",
                                    "OMP_PLACES=threads",
                                    "OMP_PLACES=cores",
                                    affinity};
    /* without the files that name the cores, as some roots are, OpenMP knows the last one only */
    const bool known = access("/sys/devices/system/cpu/cpu0/topology", R_OK) == 0;
    const int most = ask("", "default");
    assert_int_equal(most, vit_threads_most());
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (ask(settings[i], "default") != most) fail_msg("%s: not %d threads", settings[i], most);
        /* and each of them runs where no other does */
        if ((known || settings[i] == affinity) && ask(settings[i], "places") != most)
            fail_msg("%s: threads share", settings[i]);
    }
}

static void test_omp_num_threads_is_the_default(void **state) {
    assert_int_equal(ask("OMP_NUM_THREADS=1", "default"), 1);
    assert_int_equal(ask("OMP_NUM_THREADS=1", "most"), ask("", "most"));
    assert_int_equal(ask("OMP_NUM_THREADS=1000", "default"), ask("", "most"));
}

static void remember_place(size_t index, int thread, void *context) {
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

/* ---- no threads ---- */

enum { TASKS = 100 };

static void count_task(size_t index, int thread, void *context) {
    ((int *)context)[index]++;
}

static void count_twice(void *context) {
    vit_parallel(4, TASKS, count_task, context);
    vit_parallel(3, TASKS, count_task, context);
}

/* Whether each task of 4 threads is done once, in a team and without one. */
static bool all_is_done(void) {
    int done[TASKS] = {0};
    vit_parallel(4, TASKS, count_task, done);
    vit_with_team(4, count_twice, done);
    for (size_t i = 0; i < TASKS; i++)
        if (done[i] != 3) return false;
    return true;
}

/* Sets a limit of this process. That of processes does not hold for root, who becomes nobody. */
static bool limit(int resource, rlim_t most) {
    const struct rlimit limits = {most, most};
    if (setrlimit((__rlimit_resource_t)resource, &limits) != 0) return false;
    if (getuid() != 0) return true;
    return setgroups(0, NULL) == 0 && setgid(65534) == 0 && setuid(65534) == 0;
}

/* What a process without room for a thread answers: the threads it can have, or 0 if its work was
 * not done. */
static int limited(int resource, rlim_t most) {
    if (!limit(resource, most)) return -1;
    const int had = vit_threads_to_be_had(4);
    return all_is_done() ? had : 0;
}

static void test_no_process_to_be_had(void **state) {
    assert_int_equal(ask("", "processes"), 1);
}

static void test_no_memory_for_a_thread(void **state) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* sanitizers need terabytes of addresses */
#endif
    assert_int_equal(ask("", "memory"), 1);
}

/* The exit status of a child that computes; it may take as long as the alarm. */
static int child_computes(void) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        _exit(vit_threads_to_be_had(4) == 4 && all_is_done() ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void fork_in_a_team(void *context) {
    *(int *)context = child_computes();
}

static void test_children_of_fork_compute(void **state) {
    int status = -1;
    assert_int_equal(child_computes(), 0);
    assert_true(all_is_done());
    assert_int_equal(child_computes(), 0);
    vit_with_team(4, fork_in_a_team, &status);
    assert_int_equal(status, 0);
    assert_true(all_is_done());
}

/* The host's OpenMP is ours, too. */
static void test_children_of_a_host_with_openmp_compute(void **state) {
    assert_int_equal(ask("", "host"), 0);
}

static int host_computes(void) {
    int counts[4] = {0};
#pragma omp parallel for num_threads(4)
    for (int i = 0; i < 4; i++) counts[i]++;
    return counts[0] == 1 ? child_computes() : -1;
}

/* ---- threads of our own ---- */

typedef struct crew {
    pthread_t ids[4];
    int size, within;
    bool takes_signals[4], takes_faults[4];
} crew;

static void tell_size(void *context, int thread, int size) {
    if (thread == 0) *(int *)context = size;
}

static void enlist(void *context, int thread, int size) {
    crew *c = context;
    sigset_t blocked;
    c->ids[thread] = pthread_self();
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    c->takes_signals[thread] = !sigismember(&blocked, SIGHUP) || !sigismember(&blocked, SIGTERM);
    c->takes_faults[thread] = !sigismember(&blocked, SIGSEGV);
    if (thread == 1) vit_helpers_run(4, tell_size, &c->within);
    if (thread == 0) c->size = size;
}

static void test_helpers_stay(void **state) {
    crew first = {0}, second = {0};
    vit_helpers_run(4, enlist, &first);
    vit_helpers_run(4, enlist, &second);
    assert_int_equal(first.size, 4);
    assert_int_equal(first.within, 1);
    assert_int_equal(second.size, 4);
    for (int i = 1; i < 4; i++) {
        int found = 0;
        for (int j = 1; j < 4; j++) found += pthread_equal(first.ids[i], second.ids[j]) != 0;
        assert_int_equal(found, 1);
    }
}

/* A server waits for SIGHUP in a thread of its own: in another it would end the process. */
static void test_helpers_take_no_signals(void **state) {
    crew c = {0};
    vit_helpers_run(4, enlist, &c);
    assert_true(c.takes_signals[0] && c.takes_faults[0]);
    for (int i = 1; i < 4; i++) assert_true(!c.takes_signals[i] && c.takes_faults[i]);
}

static void *count_alone(void *context) {
    for (int i = 0; i < 50; i++) {
        int size = 0;
        vit_helpers_run(3, tell_size, &size);
        if (size == 0) return NULL;
    }
    return context;
}

static void test_several_threads_have_helpers(void **state) {
    pthread_t callers[4];
    int done;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, count_alone, &done), 0);
    for (int i = 0; i < 4; i++) {
        void *result = NULL;
        assert_int_equal(pthread_join(callers[i], &result), 0);
        assert_ptr_equal(result, &done);
    }
}

static int answer(const char *question) {
    if (strcmp(question, "most") == 0) return vit_threads_most();
    if (strcmp(question, "places") == 0) return places_used();
    if (strcmp(question, "processes") == 0) return limited(RLIMIT_NPROC, 1);
    if (strcmp(question, "memory") == 0) return limited(RLIMIT_AS, 1 << 20); /* less than it has */
    if (strcmp(question, "host") == 0) return host_computes();
    return vit_threads_default();
}

int main(int argc, char **argv) {
    if (argc > 1) {
        printf("%d\n", answer(argv[1]));
        return 0;
    }
    self = argv[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound_threads_are_as_many),
        cmocka_unit_test(test_omp_num_threads_is_the_default),
        cmocka_unit_test(test_no_process_to_be_had),
        cmocka_unit_test(test_no_memory_for_a_thread),
        cmocka_unit_test(test_children_of_fork_compute),
        cmocka_unit_test(test_children_of_a_host_with_openmp_compute),
        cmocka_unit_test(test_helpers_stay),
        cmocka_unit_test(test_helpers_take_no_signals),
        cmocka_unit_test(test_several_threads_have_helpers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
