#include "vit/base/helpers.h"

#include "vit/base/sys.h"

#include <signal.h>
#include <stdbool.h>

typedef struct region {
    vit_region_part *part;
    void *context;
    int size;
    atomic_size_t ended; /* helpers that have done their part */
} region;

typedef struct helper {
    struct helper *next; /* in a list */
    region *region;      /* NULL: it waits to be called */
    int thread;
    pthread_cond_t called;
} helper;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all helpers, and of: */
static helper *waiting;

/* Whether this thread does a part. */
static _Thread_local bool is_in_region;

static void *help(void *context) {
    helper *h = context;
    is_in_region = true;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!h->region) pthread_cond_wait(&h->called, &lock);
        region *r = h->region;
        pthread_mutex_unlock(&lock);
        r->part(r->context, h->thread, r->size);
        pthread_mutex_lock(&lock);
        h->region = NULL;
        h->next = waiting;
        waiting = h;
        atomic_fetch_add_explicit(&r->ended, 1, memory_order_release); /* *r may be gone now */
    }
    return NULL;
}

#ifdef _WIN32 /* where a signal comes in a thread of its own */
int vit_start_thread(pthread_t *id, void *(*body)(void *), void *context) {
    return pthread_create(id, NULL, body, context);
}
#else
int vit_start_thread(pthread_t *id, void *(*body)(void *), void *context) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigset_t others, before;
    sigfillset(&others);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&others, faults[i]);
    pthread_sigmask(SIG_BLOCK, &others, &before);
    const int number = pthread_create(id, NULL, body, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return number;
}
#endif

/* A new helper, or NULL if there can be none. */
static helper *start(void) {
    pthread_t id;
    helper *h = vit_alloc(1, sizeof *h);
    if (!h) return NULL;
    if (pthread_cond_init(&h->called, NULL) == 0) {
        if (vit_start_thread(&id, help, h) == 0) {
            pthread_detach(id);
            return h;
        }
        pthread_cond_destroy(&h->called);
    }
    vit_free(h);
    return NULL;
}

/* A list of at most `wanted` helpers: first those that wait, then new ones. */
static helper *gather(int wanted, int *count) {
    helper *list = NULL;
    for (*count = 0; *count < wanted; ++*count) {
        helper *h = waiting;
        if (h)
            waiting = h->next;
        else
            h = start();
        if (!h) break;
        h->next = list;
        list = h;
    }
    return list;
}

void vit_helpers_run(int threads, vit_region_part *part, void *context) {
    if (threads <= 1 || is_in_region) {
        part(context, 0, 1);
        return;
    }
    region r = {.part = part, .context = context};
    pthread_mutex_lock(&lock);
    helper *list = gather(threads - 1, &r.size);
    r.size++;
    for (int thread = 1; list; thread++) {
        helper *h = list;
        list = h->next;
        h->region = &r;
        h->thread = thread;
        pthread_cond_signal(&h->called);
    }
    pthread_mutex_unlock(&lock);
    is_in_region = true;
    part(context, 0, r.size);
    is_in_region = false;
    vit_wait_for(&r.ended, (size_t)r.size - 1);
}

/* ---- fork: the helpers are the parent's ---- */

static void before_fork(void) {
    pthread_mutex_lock(&lock);
}

static void after_fork(void) {
    pthread_mutex_unlock(&lock);
}

static void in_child(void) {
    waiting = NULL;
    is_in_region = false;
    pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void watch_forks(void) {
    pthread_atfork(before_fork, after_fork, in_child);
}

/* ---- waiting ---- */

/* A thread that waits polls: first SPINS times without a pause (some ten microseconds), then YIELDS
 * times with its processor offered to others in between (some hundred microseconds), then with a
 * NAP in between. */
#define SPINS 10000
#ifdef __EMSCRIPTEN__ /* where offering does nothing, and a nap below 0.1 ms polls */
#define YIELDS 10000
#define NAP 1.5e-4
#else
#define YIELDS 300
#define NAP 5e-5 /* seconds */
#endif

void vit_wait_for(const atomic_size_t *place, size_t value) {
    for (size_t polls = 0; atomic_load_explicit(place, memory_order_acquire) != value; polls++) {
        if (polls < SPINS) continue;
        if (polls < SPINS + YIELDS)
            vit_yield();
        else
            vit_nap(NAP);
    }
}
