/* A team: every task once, whatever the threads; many callers; threads that cannot be had. */
#include "tests/fault.h"
#include "vit/base/team.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define TASKS 1000

typedef struct tally {
    atomic_int done[TASKS];
    atomic_int inside[8]; /* tasks that a thread is in */
    atomic_int clashes;   /* two threads of one number, or a number too large */
    int threads;
} tally;

static void count(size_t index, int thread, void *context) {
    tally *t = context;
    if (thread < 0 || thread >= t->threads || atomic_fetch_add(&t->inside[thread], 1) != 0)
        atomic_fetch_add(&t->clashes, 1);
    atomic_fetch_add(&t->done[index], 1);
    if (thread >= 0 && thread < t->threads) atomic_fetch_sub(&t->inside[thread], 1);
}

static bool all_once(vit_team *team, int threads, size_t tasks) {
    static _Thread_local tally t;
    memset(&t, 0, sizeof t);
    t.threads = threads;
    vit_team_run(team, threads, tasks, count, &t);
    for (size_t i = 0; i < TASKS; i++)
        if (t.done[i] != (i < tasks)) return false;
    return t.clashes == 0;
}

static void test_every_task_once(void **state) {
    (void)state;
    for (int threads = 1; threads <= 8; threads++) {
        vit_team *team;
        assert_int_equal(vit_team_new(&team, threads, NULL), VIT_OK);
        for (int run = 0; run < 300; run++) {
            const int wanted = 1 + run % threads;
            assert_true(all_once(team, wanted, (size_t)(run * 37 % TASKS)));
        }
        vit_team_free(team);
    }
    vit_team_free(NULL);
}

/* Work that comes when the threads sleep. */
static void test_sleepers(void **state) {
    (void)state;
    vit_team *team;
    assert_int_equal(vit_team_new(&team, 4, NULL), VIT_OK);
    for (int run = 0; run < 20; run++) {
        nanosleep(&(struct timespec){0, 2000000}, NULL);
        assert_true(all_once(team, 4, TASKS));
    }
    vit_team_free(team);
}

static void *caller(void *context) {
    vit_team *team;
    bool *ok = context;
    *ok = vit_team_new(&team, 3, NULL) == VIT_OK;
    for (int run = 0; run < 100 && *ok; run++) *ok = all_once(team, 3, 100);
    vit_team_free(team);
    return NULL;
}

static void test_callers_beside_each_other(void **state) {
    (void)state;
    pthread_t threads[4];
    bool ok[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, caller, &ok[i]), 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++) assert_true(ok[i]);
}

static void test_no_room(void **state) {
    (void)state;
    for (long n = 1;; n++) {
        vit_team *team;
        vit_error error;
        fault_arm(n);
        const vit_status status = vit_team_new(&team, 4, &error);
        fault_disarm();
        if (fault_call() == NULL) {
            assert_int_equal(status, VIT_OK);
            assert_int_equal(n, 6); /* two allocations, three threads */
            vit_team_free(team);
            return;
        }
        assert_int_equal(status, VIT_ERROR_MEMORY);
        assert_null(team);
        if (n > 2)
            assert_string_equal(error.message, "there is no room for 4 threads: choose fewer, or "
                                               "raise the limit on processes (ulimit -u)");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_task_once),
        cmocka_unit_test(test_sleepers),
        cmocka_unit_test(test_callers_beside_each_other),
        cmocka_unit_test(test_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
