#include "vit/base/parallel.h"

#include "vit/base/cpu.h"
#include "vit/base/fpmode.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"

#include <omp.h>
#include <stdatomic.h>

/* A thread begins with its share of the indices, so that consecutive operators find the same rows
 * in its cache, and then helps with the shares of the others. */
typedef struct share {
    _Alignas(64) atomic_size_t next; /* a cache line each */
} share;

#define MOST_SHARES 64

/* A thread that waits polls: first SPINS times without a pause (some ten microseconds), then YIELDS
 * times with its processor offered to others in between (some hundred microseconds), then with a
 * NAP in between. */
#define SPINS 10000
#define YIELDS 300
#define NAP 5e-5 /* seconds */

typedef struct work {
    share shares[MOST_SHARES];
    size_t share_count, count, threads;
    vit_task *task;
    void *context;
    _Alignas(64) atomic_size_t arrived; /* threads with nothing left to do */
} work;

/* The first index of share s, which ends where share s + 1 begins. */
static size_t first_index(const work *w, size_t s) {
    return s * w->count / w->share_count;
}

static void run_share(work *w, size_t s, int thread) {
    for (;;) {
        const size_t index = atomic_fetch_add_explicit(&w->shares[s].next, 1, memory_order_relaxed);
        if (index >= first_index(w, s + 1)) return;
        w->task(index, thread, w->context);
    }
}

/* A thread's part of the work. It does not access *w after it has counted itself as arrived. */
static void run_work(work *w, int thread) {
    if ((size_t)thread < w->threads) {
        const vit_fpmode host = vit_fpmode_enter();
        for (size_t s = 0; s < w->share_count; s++)
            run_share(w, ((size_t)thread + s) % w->share_count, thread);
        vit_fpmode_leave(host);
    }
    atomic_fetch_add_explicit(&w->arrived, 1, memory_order_release);
}

/* Waits until *place is `value`. */
static void wait_for(const atomic_size_t *place, size_t value) {
    for (size_t polls = 0; atomic_load_explicit(place, memory_order_acquire) != value; polls++) {
        if (polls < SPINS) continue;
        if (polls < SPINS + YIELDS)
            vit_yield();
        else
            vit_nap(NAP);
    }
}

/* ---- teams ---- */

/* The threads of a team stay in one parallel region, where they wait for work from its leader. */
typedef struct team {
    size_t size;
    work *work;                           /* NULL: there will be no more */
    _Alignas(64) atomic_size_t given_out; /* how many works were given out */
} team;

/* The team that this thread leads, while the team waits for work. */
static _Thread_local team *idle_team;

static void give_out(team *t, work *w) {
    t->work = w;
    atomic_fetch_add_explicit(&t->given_out, 1, memory_order_release);
}

static void follow(team *t, int thread) {
    for (size_t next = 1;; next++) {
        wait_for(&t->given_out, next);
        if (!t->work) return;
        run_work(t->work, thread);
    }
}

static void lead(team *t, work *w) {
    idle_team = NULL; /* while it works */
    give_out(t, w);
    run_work(w, 0);
    wait_for(&w->arrived, t->size);
    idle_team = t;
}

void vit_with_team(int threads, vit_team_body *body, void *context) {
    if (threads <= 1 || idle_team) {
        body(context);
        return;
    }
    team t = {0};
#pragma omp parallel num_threads(threads) proc_bind(spread)
    {
        const int thread = omp_get_thread_num();
        if (thread > 0) {
            follow(&t, thread);
        } else {
            t.size = (size_t)omp_get_num_threads();
            idle_team = &t;
            body(context);
            idle_team = NULL;
            give_out(&t, NULL);
        }
    }
}

void vit_parallel(int threads, size_t count, vit_task *task, void *context) {
    team *t = idle_team;
    if (threads > 1 && (size_t)threads > count) threads = (int)count;
    if (t && (size_t)threads > t->size) threads = (int)t->size;
    if (threads <= 1) {
        for (size_t i = 0; i < count; i++) task(i, 0, context);
        return;
    }
    work w = {.count = count, .threads = (size_t)threads, .task = task, .context = context};
    w.share_count = vit_min(w.threads, MOST_SHARES);
    for (size_t s = 0; s < w.share_count; s++) atomic_init(&w.shares[s].next, first_index(&w, s));
    if (t) {
        lead(t, &w);
        return;
    }
#pragma omp parallel num_threads(threads) proc_bind(spread)
    {
        run_work(&w, omp_get_thread_num());
        wait_for(&w.arrived, (size_t)omp_get_num_threads());
    }
}

/* ---- how many ---- */

/* The processors of the places that OpenMP binds threads to; 0: it does not bind them. The affinity
 * that the system tells is then that of this thread only. */
static int bound_processors(void) {
    if (omp_get_proc_bind() == omp_proc_bind_false) return 0;
    int count = 0;
    for (int place = 0; place < omp_get_num_places(); place++)
        count += omp_get_place_num_procs(place);
    return count < omp_get_num_procs() ? count : omp_get_num_procs();
}

int vit_threads_most(void) {
    const int bound = bound_processors();
    if (bound <= 0) return vit_cpu_count();
    const int quota = vit_cpu_quota("");
    return quota > 0 && quota < bound ? quota : bound;
}

int vit_threads_default(void) {
    const int most = vit_threads_most(), wanted = omp_get_max_threads();
    return wanted < most ? wanted : most;
}
