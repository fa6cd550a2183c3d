/* A semaphore: a limited number of threads are between enter and leave; others wait. */
#ifndef VIT_CLI_SERVE_WORK_GATE_H
#define VIT_CLI_SERVE_WORK_GATE_H

#include <pthread.h>

typedef struct serve_gate {
    pthread_mutex_t lock;
    pthread_cond_t left;
    size_t free;
} serve_gate;

static inline void serve_gate_init(serve_gate *gate, size_t most) {
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->left, NULL);
    gate->free = most;
}

/* Enters with up to `most` threads, as many as there is room for, at least one; returns how many.
 */
static inline size_t serve_gate_enter_some(serve_gate *gate, size_t most) {
    pthread_mutex_lock(&gate->lock);
    while (gate->free == 0) pthread_cond_wait(&gate->left, &gate->lock);
    const size_t some = most < gate->free ? most : gate->free;
    gate->free -= some;
    pthread_mutex_unlock(&gate->lock);
    return some;
}

static inline void serve_gate_leave_some(serve_gate *gate, size_t some) {
    pthread_mutex_lock(&gate->lock);
    gate->free += some;
    pthread_cond_broadcast(&gate->left);
    pthread_mutex_unlock(&gate->lock);
}

static inline void serve_gate_enter(serve_gate *gate) {
    serve_gate_enter_some(gate, 1);
}

static inline void serve_gate_leave(serve_gate *gate) {
    serve_gate_leave_some(gate, 1);
}

static inline void serve_gate_destroy(serve_gate *gate) {
    pthread_mutex_destroy(&gate->lock);
    pthread_cond_destroy(&gate->left);
}

#endif
