#include "vit/base/team.h"
#include "vit/base/fpmode.h"
#include "vit/base/sys.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

/* How often a thread looks for work before it sleeps: a look takes about 0.2 microseconds. */
#define LOOKS 300

struct vit_team {
    pthread_t *workers;
    int count; /* of workers: started */
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    atomic_uint runs;   /* begun so far */
    atomic_int working; /* workers inside the run; changed under the lock */
    bool stop;
    int joined, room; /* workers of this run: so far, and how many more may come */
    vit_task *task;
    void *context;
    size_t tasks;
    atomic_size_t next;
};

static void take_tasks(vit_team *t, int thread) {
    const vit_fpmode host = vit_fpmode_enter();
    for (;;) {
        const size_t index = atomic_fetch_add(&t->next, 1);
        if (index >= t->tasks) break;
        t->task(index, thread, t->context);
    }
    vit_fpmode_leave(host);
}

/* Waits for a run after number `seen`, and takes part if there is room; false: the team ends. */
static bool next_run(vit_team *t, unsigned *seen) {
    int thread = 0;
    for (int i = 0; i < LOOKS && atomic_load(&t->runs) == *seen; i++) sched_yield();
    pthread_mutex_lock(&t->lock);
    while (atomic_load(&t->runs) == *seen && !t->stop) pthread_cond_wait(&t->work, &t->lock);
    const bool stop = t->stop;
    *seen = atomic_load(&t->runs);
    if (!stop && t->room > 0) {
        t->room--;
        atomic_fetch_add(&t->working, 1);
        thread = ++t->joined;
    }
    pthread_mutex_unlock(&t->lock);
    if (thread == 0) return !stop;
    take_tasks(t, thread);
    pthread_mutex_lock(&t->lock);
    if (atomic_fetch_sub(&t->working, 1) == 1) pthread_cond_signal(&t->done);
    pthread_mutex_unlock(&t->lock);
    return true;
}

static void *worker(void *context) {
    vit_team *t = context;
    unsigned seen = 0;
    while (next_run(t, &seen)) continue;
    return NULL;
}

vit_status vit_team_new(vit_team **out, int threads, vit_error *error) {
    vit_team *t = *out = vit_alloc(1, sizeof *t);
    if (!t) return vit_fail_memory(error, "a team of threads", sizeof *t);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->work, NULL);
    pthread_cond_init(&t->done, NULL);
    t->workers = vit_alloc((size_t)threads, sizeof *t->workers);
    while (t->workers && t->count < threads - 1 &&
           pthread_create(&t->workers[t->count], NULL, worker, t) == 0)
        t->count++;
    if (t->workers && t->count == threads - 1) return VIT_OK;
    vit_team_free(t);
    *out = NULL;
    return vit_fail(error, VIT_ERROR_MEMORY,
                    "there is no room for %d threads: choose fewer, or raise the limit on "
                    "processes (ulimit -u)",
                    threads);
}

void vit_team_free(vit_team *t) {
    if (!t) return;
    pthread_mutex_lock(&t->lock);
    t->stop = true;
    pthread_cond_broadcast(&t->work);
    pthread_mutex_unlock(&t->lock);
    /* One that still looks for work sees `stop` when it wants to sleep. */
    for (int i = 0; i < t->count; i++) pthread_join(t->workers[i], NULL);
    pthread_cond_destroy(&t->done);
    pthread_cond_destroy(&t->work);
    pthread_mutex_destroy(&t->lock);
    vit_free(t->workers);
    vit_free(t);
}

static void begin(vit_team *t, int threads, size_t count, vit_task *task, void *context) {
    pthread_mutex_lock(&t->lock);
    t->task = task;
    t->context = context;
    t->tasks = count;
    t->joined = 0;
    t->room = threads - 1;
    atomic_store(&t->next, 0);
    atomic_fetch_add(&t->runs, 1);
    pthread_cond_broadcast(&t->work);
    pthread_mutex_unlock(&t->lock);
}

/* Closes the run to threads that have not come, and waits for those that have. */
static void end(vit_team *t) {
    pthread_mutex_lock(&t->lock);
    t->room = 0;
    pthread_mutex_unlock(&t->lock);
    for (int i = 0; i < LOOKS && atomic_load(&t->working) > 0; i++) sched_yield();
    pthread_mutex_lock(&t->lock);
    while (atomic_load(&t->working) > 0) pthread_cond_wait(&t->done, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

void vit_team_run(vit_team *t, int threads, size_t count, vit_task *task, void *context) {
    begin(t, threads, count, task, context);
    take_tasks(t, 0);
    end(t);
}
