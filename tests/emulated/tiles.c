/* What a process does whom Linux refuses or permits the tiles of AMX: with vit/base/cpu_tiles.c as
 * it is, on a processor whose instructions are emulated (tests/emulated/cpu.c). A filter of system
 * calls answers the request in place of Linux, and counts it. Each case is a process of its own. */
#define _GNU_SOURCE /* REG_RAX, syscall */
#include "tests/support/few_digits.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/cpu.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define REQUEST 0x1023 /* ARCH_REQ_XCOMP_PERM */
#define THREADS 300

static char program[4096];
static int given; /* the request's error; 0: permitted */
static atomic_int requests;

/* In place of the system call that the filter caught. */
static void answer_request(int number, siginfo_t *info, void *context) {
    ucontext_t *machine = context;
    (void)number, (void)info;
    atomic_fetch_add(&requests, 1);
    machine->uc_mcontext.gregs[REG_RAX] = -given;
}

static void catch_requests(int error) {
    struct sigaction action = {.sa_sigaction = answer_request, .sa_flags = SA_SIGINFO};
    given = error;
    if (sigaction(SIGSYS, &action, NULL) != 0) _exit(90);
}

/* From now on this process, its children and what they execute: the request is caught; where tiles
 * are emulated their trial, the only clone without flags, cannot begin. */
static void filter_calls(int error, bool tries) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, REQUEST, 0, 5),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, tries ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
    catch_requests(error);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        _exit(91);
}

static void must(bool fine, int line) {
    if (fine) return;
    fprintf(stderr, "%s:%d is not so\n", __FILE__, line);
    _exit(92);
}
#define MUST(condition) must(condition, __LINE__)

/* ---- a model and its answers ---- */

typedef float logits[10];

static void answer_in(logits out, vit_precision precision, vit_bf16 bf16, int threads) {
    uint8_t picture[28 * 28];
    const vit_session_options o = {.threads = threads, .precision = precision, .bf16 = bf16};
    vit_model *model;
    vit_session *session;
    for (size_t i = 0; i < sizeof picture; i++) picture[i] = (uint8_t)(i * i % 251);
    MUST(vit_model_load(&model, "m.safetensors", NULL) == VIT_OK);
    MUST(vit_session_new(&session, model, &o, NULL) == VIT_OK);
    MUST(vit_classify_prepared(session, picture, 1, out, NULL) == VIT_OK);
    vit_session_free(session);
    vit_model_free(model);
}

static bool answers_by_tiles(void) {
    logits any, pairs;
    answer_in(any, VIT_PRECISION_BF16, VIT_BF16_ANY, 2);
    answer_in(pairs, VIT_PRECISION_BF16, VIT_BF16_PAIRS, 1);
    return memcmp(any, pairs, sizeof any) != 0;
}

/* ---- cases: each is a child process ---- */

static void run_case(void (*body)(void)) {
    int status;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        body();
        _exit(0);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail_msg("ended with %#x", status);
}

static const struct refusal {
    int error;
    const char *said;
} * refused;

static void be_refused(void) {
    filter_calls(refused->error, true);
    MUST(!answers_by_tiles());
    MUST(atomic_load(&requests) == 1);
    MUST(strstr(vit_cpu_tiles_missing(), refused->said) != NULL);
}

/* By a policy, an old system, another system that knows no such request, small signal stacks. */
static void test_refused(void **state) {
    static const struct refusal all[] = {{EPERM, "the system refuses them"},
                                         {ENOSYS, "the system refuses them"},
                                         {EINVAL, "the system refuses them"},
                                         {EOPNOTSUPP, "the system refuses them"},
                                         {ENOSPC, "alternate signal stack"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        refused = &all[i];
        run_case(be_refused);
    }
}

/* Linux gives its word, and the instructions end the trial: here they are not emulated. */
static void be_deceived(void) {
    filter_calls(0, true);
    MUST(!answers_by_tiles());
    MUST(strstr(vit_cpu_tiles_missing(), "a trial of their instructions failed") != NULL);
}

static void test_a_processor_that_faults(void **state) {
    run_case(be_deceived);
}

static void ask_late(void) {
    logits out;
    filter_calls(0, false);
    answer_in(out, VIT_PRECISION_F32, VIT_BF16_ANY, 2);
    answer_in(out, VIT_PRECISION_BF16, VIT_BF16_PAIRS, 1);
    MUST(atomic_load(&requests) == 0);
    answer_in(out, VIT_PRECISION_INT8, VIT_BF16_ANY, 1);
    MUST(atomic_load(&requests) == 1);
    MUST(answers_by_tiles());
    MUST(atomic_load(&requests) == 1);
}

static void test_asked_only_when_needed(void **state) {
    run_case(ask_late);
}

/* After fork the permission is there; another program has to ask. */
static void fork_and_execute(void) {
    int status;
    filter_calls(0, false);
    MUST(answers_by_tiles());
    const pid_t child = fork();
    if (child == 0) {
        MUST(answers_by_tiles());
        MUST(atomic_load(&requests) == 1);
        execl(program, program, "again", (char *)NULL);
        _exit(93);
    }
    MUST(child > 0 && waitpid(child, &status, 0) == child);
    MUST(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    MUST(answers_by_tiles());
}

static int execute_again(void) {
    catch_requests(EPERM);
    MUST(!answers_by_tiles());
    MUST(atomic_load(&requests) == 1);
    return 0;
}

static void test_fork_and_exec(void **state) {
    run_case(fork_and_execute);
}

/* Threads that were there before wait, and then all ask at once. */
static pthread_barrier_t begin;

static void *answer_on_thread(void *out) {
    pthread_barrier_wait(&begin);
    answer_in(*(logits *)out, VIT_PRECISION_BF16, VIT_BF16_ANY, 1);
    return NULL;
}

static void start_threads(void) {
    static logits out[THREADS];
    pthread_t threads[THREADS];
    logits want;
    filter_calls(0, false);
    MUST(pthread_barrier_init(&begin, NULL, THREADS) == 0);
    for (int i = 0; i < THREADS; i++)
        MUST(pthread_create(&threads[i], NULL, answer_on_thread, &out[i]) == 0);
    for (int i = 0; i < THREADS; i++) MUST(pthread_join(threads[i], NULL) == 0);
    answer_in(want, VIT_PRECISION_BF16, VIT_BF16_TILES, 1);
    for (int i = 0; i < THREADS; i++) MUST(memcmp(out[i], want, sizeof want) == 0);
    MUST(atomic_load(&requests) == 1);
}

static void test_threads_made_before(void **state) {
    run_case(start_threads);
}

static int train_model(void **state) {
    const char *const set[] = {"dim=48", "depth=2", "heads=2", "mlp=64", "patch=14"};
    const vit_train_options o = {.arrays = few_digits(),
                                 .set = set,
                                 .set_count = 5,
                                 .steps = 2,
                                 .batch = 16,
                                 .cpu = "avx2",
                                 .out = "m.safetensors"};
    vit_error e = {0};
    if (enter_directory(state) != 0) return 1;
    if (vit_train(NULL, &o, &e) == VIT_OK) return 0;
    fprintf(stderr, "%s\n", e.message);
    return 1;
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "again") == 0) return execute_again();
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_a_processor_that_faults),
        cmocka_unit_test(test_asked_only_when_needed),
        cmocka_unit_test(test_fork_and_exec),
        cmocka_unit_test(test_threads_made_before),
    };
    return cmocka_run_group_tests(tests, train_model, leave_directory);
}
