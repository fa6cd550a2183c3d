#include "vit/base/parallel.h"

#include "vit/base/cpu.h"
#include "vit/base/fpmode.h"
#include "vit/base/helpers.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"

#ifdef _OPENMP
#include <omp.h>
#include <sys/resource.h>
#endif
#include <pthread.h>
#include <stdatomic.h>

/* A thread begins with its share of the indices, so that consecutive operators find the same rows
 * in its cache, and then helps with the shares of the others. */
typedef struct share {
    _Alignas(64) atomic_size_t next; /* a cache line each */
} share;

#define MOST_SHARES 64

typedef struct work {
    share shares[MOST_SHARES];
    size_t share_count, count, threads;
    vit_task *task;
    vit_region_part *part; /* what each thread does instead, if it is not NULL */
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
        if (w->part) w->part(w->context, thread, (int)w->threads);
        for (size_t s = 0; s < w->share_count; s++)
            run_share(w, ((size_t)thread + s) % w->share_count, thread);
        vit_fpmode_leave(&host);
    }
    atomic_fetch_add_explicit(&w->arrived, 1, memory_order_release);
}

/* ---- regions: some threads that do a part of something at the same time ---- */

#ifdef _OPENMP
/* OpenMP ends the process if it cannot start a thread or has no memory, and in a child of fork it
 * waits for threads that only the parent has. Where that could happen, threads are our own: as many
 * as can be started. */

/* Set in the children of fork: the pool of OpenMP is the parent's. */
static atomic_bool is_forked;

/* Waits until it is true: all threads that can be started have been. */
static void *wait_for_all(void *context) {
    for (const atomic_bool *all = context; !atomic_load(all);) vit_yield();
    return NULL;
}

#define MOST_TRIED 1024

int vit_threads_to_be_had(int wanted) {
    pthread_t others[MOST_TRIED];
    atomic_bool all = false;
    int size = 1;
    while (size < wanted && size <= MOST_TRIED &&
           vit_start_thread(&others[size - 1], wait_for_all, &all) == 0)
        size++;
    atomic_store(&all, true);
    for (int i = 1; i < size; i++) pthread_join(others[i - 1], NULL);
    return size;
}

/* The threads that OpenMP keeps for this one after its last region. */
static _Thread_local int kept_by_openmp;

/* Between a trial and OpenMP's own start of its threads others may start some, too, such as a
 * server its connections: as many must be left. */
#define LEFT_FOR_OTHERS 8

/* Whether OpenMP can have `threads` threads, and the little memory that it needs. */
static bool openmp_is_safe(int threads) {
    struct rlimit memory;
    if (atomic_load_explicit(&is_forked, memory_order_relaxed)) return false;
    if (getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur != RLIM_INFINITY) return false;
    const int kept = omp_in_parallel() ? 1 : kept_by_openmp; /* it keeps none between inner ones */
    if (threads <= kept) return true;
    const int tried = threads + LEFT_FOR_OTHERS;
    return vit_threads_to_be_had(tried) == tried;
}

/* The processors of the places that OpenMP binds threads to; 0: it does not bind them. The affinity
 * that the system tells is then that of this thread only. */
static int bound_processors(void) {
    if (omp_get_proc_bind() == omp_proc_bind_false) return 0;
    int count = 0;
    for (int place = 0; place < omp_get_num_places(); place++)
        count += omp_get_place_num_procs(place);
    return count < omp_get_num_procs() ? count : omp_get_num_procs();
}

static int wanted_threads(void) {
    return omp_get_max_threads();
}

/* Does the parts of at most `threads` threads, and returns when all have ended. */
static void run_region(int threads, vit_region_part *part, void *context) {
    if (omp_get_active_level() >= omp_get_max_active_levels()) {
        part(context, 0, 1); /* in a region of the host, which has no regions within */
    } else if (openmp_is_safe(threads)) {
#pragma omp parallel num_threads(threads) proc_bind(spread)
        {
            const int thread = omp_get_thread_num(), size = omp_get_num_threads();
            if (thread == 0) kept_by_openmp = size;
            part(context, thread, size);
        }
    } else {
        vit_helpers_run(threads, part, context);
    }
}

static void forget_openmp(void) {
    atomic_store(&is_forked, true);
}
#else /* a compiler without OpenMP, as Emscripten */
static void tell_size(void *context, int thread, int size) {
    if (thread == 0) *(int *)context = size;
}

int vit_threads_to_be_had(int wanted) {
    int size = 1;
    vit_helpers_run(wanted, tell_size, &size);
    return size;
}

static int bound_processors(void) {
    return 0;
}

static int wanted_threads(void) {
    return vit_threads_most();
}

static void run_region(int threads, vit_region_part *part, void *context) {
    vit_helpers_run(threads, part, context);
}

static void forget_openmp(void) {
}
#endif

/* ---- teams ---- */

/* The threads of a team stay in one parallel region, where they wait for work from its leader. */
typedef struct team {
    size_t size;
    work *work;                           /* NULL: there will be no more */
    _Alignas(64) atomic_size_t given_out; /* how many works were given out */
} team;

/* The team that this thread leads, while the team waits for work. */
static _Thread_local team *idle_team;

static void forget_threads(void) {
    forget_openmp();
    idle_team = NULL;
}

/* When the library is loaded, as the host may use the same OpenMP, and fork, before it calls us. */
__attribute__((constructor)) static void watch_forks(void) {
    pthread_atfork(NULL, NULL, forget_threads);
}

static void give_out(team *t, work *w) {
    t->work = w;
    atomic_fetch_add_explicit(&t->given_out, 1, memory_order_release);
}

static void follow(team *t, int thread) {
    for (size_t next = 1;; next++) {
        vit_wait_for(&t->given_out, next);
        if (!t->work) return;
        run_work(t->work, thread);
    }
}

static void lead(team *t, work *w) {
    idle_team = NULL; /* while it works */
    give_out(t, w);
    run_work(w, 0);
    vit_wait_for(&w->arrived, t->size);
    idle_team = t;
}

typedef struct team_call {
    team team;
    vit_team_body *body;
    void *context;
} team_call;

static void team_part(void *context, int thread, int size) {
    team_call *c = context;
    if (thread > 0) {
        follow(&c->team, thread);
        return;
    }
    c->team.size = (size_t)size;
    idle_team = &c->team;
    c->body(c->context);
    idle_team = NULL;
    give_out(&c->team, NULL);
}

void vit_with_team(int threads, vit_team_body *body, void *context) {
    if (threads <= 1 || idle_team) {
        body(context);
        return;
    }
    team_call c = {.body = body, .context = context};
    run_region(threads, team_part, &c);
}

typedef struct beside_call {
    team_call others;
    vit_team_body *beside;
} beside_call;

static void beside_part(void *context, int thread, int size) {
    beside_call *c = context;
    if (thread == 0)
        c->beside(c->others.context);
    else
        team_part(&c->others, thread - 1, size - 1);
}

void vit_beside(vit_team_body *body, vit_team_body *beside, void *context) {
    team *t = idle_team;
    if (!t || t->size < 2) {
        body(context);
        beside(context);
        return;
    }
    beside_call c = {.others = {.body = body, .context = context}, .beside = beside};
    work w = {.threads = t->size, .part = beside_part, .context = &c};
    lead(t, &w);
}

static void work_part(void *context, int thread, int size) {
    work *w = context;
    run_work(w, thread);
    vit_wait_for(&w->arrived, (size_t)size);
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
    run_region(threads, work_part, &w);
}

/* ---- how many ---- */

int vit_threads_most(void) {
    const int bound = bound_processors();
    if (bound <= 0) return vit_cpu_count();
    const int quota = vit_cpu_quota("");
    return quota > 0 && quota < bound ? quota : bound;
}

int vit_threads_default(void) {
    const int most = vit_threads_most(), wanted = wanted_threads();
    return wanted < most ? wanted : most;
}
